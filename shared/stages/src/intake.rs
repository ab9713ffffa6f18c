//! From the entries of a feed to visits: what is new, and to whom it belongs.

use crate::{Manners, StageError};
use curlew_feed::{Entry, Feed};
use curlew_model::{
    EntryHints, FeedSource, HostKey, Job, Page, PageId, PageState, Purpose, Rejection, Timestamp, VisitItem, VisitJob,
};
use curlew_policy::address;
use curlew_ports::{Event, Pages, Queue};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use url::Url;

/// Keys of older entries that the row of a feed keeps at least.
const REMEMBERED_AT_LEAST: usize = 32;

/// Takes in feeds: sends visits for what is new and brings the feed's row up to date.
pub(crate) struct Intake {
    pub(crate) manners: Arc<Manners>,
    pub(crate) pages: Arc<dyn Pages>,
    pub(crate) queue: Arc<dyn Queue>,
}

impl Intake {
    /// Sends visits for the entries that are new. The caller writes `source` afterwards: entries are
    /// remembered as seen only once their visits are in the queue.
    pub(crate) async fn take(&self, source: &mut FeedSource, feed: &Feed) -> Result<(), StageError> {
        let now = self.manners.clock.now();
        let rules = &self.manners.rules;
        let seen: BTreeSet<u64> = source.seen.iter().copied().collect();
        let mut fresh: BTreeSet<u64> = BTreeSet::new();
        let mut visits: BTreeMap<HostKey, Vec<VisitItem>> = BTreeMap::new();
        let mut taken: BTreeSet<PageId> = BTreeSet::new();
        let mut now_listed = Vec::new();
        for entry in feed.entries.iter().take(rules.entries_per_poll) {
            let key = entry.key();
            now_listed.push(key);
            if seen.contains(&key) || !fresh.insert(key) {
                continue;
            }
            match self.item(source, entry, now).await? {
                Some((host, item)) if taken.insert(item.page.clone()) => visits.entry(host).or_default().push(item),
                _ => {}
            }
        }
        let jobs: Vec<(Job, Timestamp)> =
            visits.into_iter().flat_map(|(h, i)| jobs(source, h, i)).map(|j| (j, now)).collect();
        if !jobs.is_empty() {
            self.queue.send(&jobs).await?;
        }
        self.manners.events.note(&Event::EntriesSeen(fresh.len() as u64));
        remember(source, now_listed, rules.seen_ring);
        Ok(())
    }

    /// The visit item of an entry, or nothing if its page is known or it has no usable link.
    async fn item(
        &self,
        source: &FeedSource,
        entry: &Entry,
        now: Timestamp,
    ) -> Result<Option<(HostKey, VisitItem)>, StageError> {
        let linked = match entry.link.as_deref() {
            None => Err("the entry has no usable link".to_owned()),
            Some(link) => address::parse(link, Url::parse(&source.url).ok().as_ref()).map_err(|e| e.to_string()),
        };
        let located = linked.and_then(|url| {
            let url = address::canonical(&url);
            self.manners.key_of(&url).map(|host| (host, url)).map_err(|e| e.to_string())
        });
        let (host, url) = match located {
            Ok(found) => found,
            Err(why) => {
                self.no_link(source, entry, why, now).await?;
                return Ok(None);
            }
        };
        let page = address::page_id(&url);
        // Whether it is known is asked once more before the page is called; here a late answer costs only a message.
        if self.pages.glimpse(&page).await?.is_some() {
            return Ok(None);
        }
        let hints = EntryHints {
            title: entry.title.clone(),
            // A date in the future is a mistake or an attempt to stay on top.
            published: entry.published.or(entry.updated).map(|at| at.min(now)),
            author: entry.author.clone(),
        };
        Ok(Some((host, VisitItem { url: url.into(), page, purpose: Purpose::New { hints } })))
    }

    /// An entry without a usable link has no page, but nothing vanishes: it gets a row that says why.
    async fn no_link(&self, source: &FeedSource, entry: &Entry, why: String, now: Timestamp) -> Result<(), StageError> {
        let Ok(mut url) = Url::parse(&source.url) else { return Ok(()) };
        let Ok(host) = self.manners.key_of(&url) else { return Ok(()) };
        url.set_fragment(Some(&format!("entry-{:016x}", entry.key())));
        let reason = Rejection::Address(why);
        let page = Page {
            id: address::page_id(&url),
            url: url.into(),
            host,
            feed: Some(source.key.clone()),
            state: PageState::Rejected { reason: reason.clone() },
            at: now,
            checked_at: None,
        };
        if self.pages.insert(&page).await? {
            self.manners.events.note(&Event::Rejected(&reason));
        }
        Ok(())
    }
}

fn jobs(source: &FeedSource, host: HostKey, items: Vec<VisitItem>) -> Vec<Job> {
    items
        .chunks(VisitJob::MAX_ITEMS)
        .map(|chunk| {
            Job::Fetch(VisitJob {
                host: host.clone(),
                feed: Some(source.key.clone()),
                site_image: source.image.clone(),
                items: chunk.to_vec(),
                deferrals: 0,
            })
        })
        .collect()
}

/// What the feed lists now stays in the ring whatever its size; of older keys as many follow, since entries come and go
/// at a feed's end. What is forgotten is looked up among the pages when it comes again, so a short ring costs little,
/// while a long one is written with each new entry.
fn remember(source: &mut FeedSource, listed: Vec<u64>, ring: usize) {
    let ring = ring.min(listed.len() + listed.len().max(REMEMBERED_AT_LEAST));
    let mut keys: Vec<u64> = Vec::with_capacity(ring);
    let mut known = BTreeSet::new();
    for key in listed.into_iter().chain(source.seen.iter().copied()) {
        if keys.len() == ring {
            break;
        }
        if known.insert(key) {
            keys.push(key);
        }
    }
    source.seen = keys;
}
