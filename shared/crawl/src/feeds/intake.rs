//! Turns the entries of a feed into visits of its pages, and its deletions into removals.

use crate::bulk::Bulk;
use crate::feeds::feed_row;
use crate::politeness::access::Politeness;
use curlew_feed::{DeletedEntry, Entry, Feed, speaks_of_comments};
use curlew_model::{
    EntryHints, Envelope, FeedSource, Gone, HostKey, Job, NamedBy, Page, PageId, PageState, Purpose, Rejection,
    RemovalJob, SubscribeJob, Timestamp, TraceId, VisitItem, VisitJob, with_defaults,
};
use curlew_policy::address;
use curlew_policy::page::{dates, sampling};
use curlew_policy::polling::schedule;
use curlew_policy::polling::subscription::{self, HubRequest};
use curlew_policy::rules::SEEN_RING;
use curlew_ports::stage::Result;
use curlew_ports::{Event, Pages, Ports, Queue, Sources};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use url::Url;

/// Minimum number of keys of older entries that a feed's row keeps.
const REMEMBERED_AT_LEAST: usize = 32;
/// Maximum number of deletions in one document that are processed.
const DELETED_PER_POLL: usize = 100;

pub(crate) struct Taken {
    /// Number of arrivals of new entries since the last poll ([`schedule::arrivals`]).
    pub(crate) arrivals: u64,
    /// Visits of new and changed pages, to be made or sent before the feed's row is written.
    pub(crate) visits: Vec<Envelope<VisitJob>>,
}

with_defaults! {
    /// Processes the entries of feeds that were discovered or polled.
    #[derive(Clone)]
    pub struct Intake {
        pub(crate) politeness: Arc<Politeness>,
        pub(crate) sources: Arc<dyn Sources> = ports.sources.clone(),
        pub(crate) pages: Arc<dyn Pages> = ports.pages.clone(),
        pub(crate) queue: Arc<dyn Queue> = ports.queue.clone(),
        /// True if hubs can reach our callbacks.
        listening: bool = false,
    }

    /// Creates an intake over these ports.
    new(politeness: Arc<Politeness>, ports: &Ports)
}

impl Intake {
    /// Returns an intake that subscribes to the hubs that feeds name.
    #[must_use]
    pub fn listening(&self) -> Intake {
        Intake { listening: true, ..self.clone() }
    }

    /// Returns a job for the feed's hub if one is due, and records it in the row. The caller sends the job once the row
    /// is written, since it does nothing without the row. A lost job is repeated after `WEBSUB_RETRY`.
    pub(crate) fn for_the_hub(&self, feed: &mut FeedSource, blocked: bool) -> Option<Job> {
        let (rules, now) = (&self.politeness.rules, self.politeness.clock.now());
        let step = if self.listening { subscription::step(feed, blocked, rules, now) } else { HubRequest::Nothing };
        if step == HubRequest::Nothing {
            return None;
        }
        let url = feed.polling.hub.as_ref()?.url.clone();
        feed.polling.subscription = subscription::sent(feed, step, rules, now, self.politeness.seeds.next());
        let job = SubscribeJob { feed: feed.key.clone(), url, end: step == HubRequest::End };
        Some(Job::new(job))
    }

    pub(crate) async fn send_to_hub(&self, job: Option<Job>) -> Result<()> {
        let Some(job) = job else { return Ok(()) };
        Ok(self.queue.send(&[(job, self.politeness.clock.now())]).await?)
    }

    /// Returns visits for new entries, and sends the removal of pages that the feed lists as deleted. The caller writes
    /// `source` last: entries count as seen only once their visits are made or queued. New entries above the daily
    /// limit stay unseen until a later day. Pages of the host key `unvisited` are not looked up.
    pub(crate) async fn take(
        &self,
        source: &mut FeedSource,
        feed: &Feed,
        unvisited: Option<&HostKey>,
        trace: Option<&TraceId>,
    ) -> Result<Taken> {
        let now = self.politeness.clock.now();
        let rules = &self.politeness.rules;
        let seen: BTreeSet<u64> = source.seen.iter().copied().collect();
        let mut taken_today = source.polling.taken.on(now);
        let mut fresh: BTreeSet<u64> = BTreeSet::new();
        let mut visits: BTreeMap<HostKey, Vec<VisitItem>> = BTreeMap::new();
        let mut taken: BTreeSet<PageId> = BTreeSet::new();
        let mut now_listed = Vec::new();
        let before: BTreeMap<u64, u16> = source.seen.iter().copied().zip(source.stamps.iter().copied()).collect();
        let (mut stamps, mut known, mut changed) = (BTreeMap::new(), 0, Vec::new());
        let mut dates = Vec::new();
        for entry in feed_row::newest(feed, rules.entries_per_poll) {
            let key = entry.key();
            let is_known = seen.contains(&key) || fresh.contains(&key);
            if !is_known && taken_today.entries >= rules.entries_per_day {
                continue;
            }
            now_listed.push(key);
            let stamp = feed_row::stamp(entry);
            if is_known {
                if let Some(old) = before.get(&key).filter(|old| **old > 0 && !stamps.contains_key(&key)) {
                    known += 1;
                    if *old != stamp {
                        changed.push((entry, *old));
                    }
                }
                stamps.entry(key).or_insert(stamp);
                continue;
            }
            stamps.insert(key, stamp);
            fresh.insert(key);
            taken_today.entries += 1;
            match self.item(source, entry, unvisited, now).await? {
                Some((host, item)) if taken.insert(item.page.clone()) => {
                    visits.entry(host).or_default().push(item);
                    dates.push(entry.published.or(entry.updated));
                }
                _ => {}
            }
        }
        self.look_into(source, changed, known, &mut stamps, &mut visits).await?;
        let named_by = named_by(source, feed);
        let mut visits: Vec<_> =
            visits.into_iter().flat_map(|(host, items)| visit_jobs(source, host, items, trace)).collect();
        visits.iter_mut().for_each(|visit| visit.work.named_by.clone_from(&named_by));
        now_listed.extend(self.remove(source, &feed.deleted, trace).await?);
        let new = fresh.len() as u64;
        self.politeness.events.note(&Event::EntriesSeen(new));
        if new > 0 {
            source.polling.taken = taken_today;
        }
        let listed = now_listed.len();
        remember(source, now_listed, SEEN_RING);
        let stamp = |key| stamps.get(key).or(before.get(key)).copied().unwrap_or_default();
        source.stamps = source.seen.iter().take(listed).map(stamp).collect();
        Ok(Taken { arrivals: schedule::arrivals(source.polling.habit, dates, now), visits })
    }

    pub(crate) async fn send(&self, visits: Vec<Envelope<VisitJob>>) -> Result<()> {
        let now = self.politeness.clock.now();
        let jobs: Vec<(Job, Timestamp)> = visits.into_iter().map(|visit| (visit.into_job(), now)).collect();
        if jobs.is_empty() { Ok(()) } else { Ok(self.queue.send(&jobs).await?) }
    }

    /// Adds re-checks and second looks for changed entries, within a budget; the other entries keep their stamp.
    async fn look_into(
        &self,
        source: &FeedSource,
        changed: Vec<(&Entry, u16)>,
        known: usize,
        stamps: &mut BTreeMap<u64, u16>,
        visits: &mut BTreeMap<HostKey, Vec<VisitItem>>,
    ) -> Result<()> {
        let (rules, now) = (&self.politeness.rules, self.politeness.clock.now());
        let budget = sampling::to_look_into(changed.len(), known);
        if budget == 0 {
            return Ok(());
        }
        let base = Url::parse(&source.url).ok();
        for (n, (entry, old)) in changed.into_iter().enumerate() {
            let url = entry.link.as_deref().and_then(|link| address::parse(link, base.as_ref()).ok());
            let Some(url) = url else { continue };
            if n >= budget {
                stamps.insert(entry.key(), old);
                continue;
            }
            match self.page_itself(&address::page_id(&page_of(&url))).await? {
                Some(page) if sampling::may_recheck(&page, rules, now) => {
                    let item = VisitItem { url: page.url, page: page.id, purpose: Purpose::Recheck };
                    visits.entry(page.host).or_default().push(item);
                }
                Some(page) if sampling::may_look_again(&page, now) => {
                    let purpose = Purpose::New { hints: hints(source, entry, now) };
                    visits.entry(page.host).or_default().push(VisitItem { url: page.url, page: page.id, purpose });
                }
                // The page was fetched recently or is being fetched, so a later poll decides.
                Some(Page { state, .. })
                    if matches!(state, PageState::Accepted { .. } | PageState::Pending)
                        || state.has_second_chance() =>
                {
                    stamps.insert(entry.key(), old);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Sends the removal of pages of the feed's host that it lists as deleted (RFC 6721); returns the keys to remember.
    async fn remove(&self, source: &FeedSource, deleted: &[DeletedEntry], trace: Option<&TraceId>) -> Result<Vec<u64>> {
        let now = self.politeness.clock.now();
        let own = Url::parse(&source.url).ok().and_then(|url| self.politeness.key_of(&url).ok());
        let (mut done, mut removals) = (vec![], Bulk::new(self.queue.as_ref()));
        for entry in deleted.iter().take(DELETED_PER_POLL) {
            // A key that marks the deletion as processed, among the keys of seen entries.
            let key = address::hash64(&format!("deleted {}", entry.id));
            if source.seen.contains(&key) {
                done.push(key);
                continue;
            }
            let Some(url) = entry.url.as_deref().and_then(|url| address::parse(url, None).ok()) else { continue };
            let Some(page) = self.page_itself(&address::page_id(&address::canonical(&url))).await? else { continue };
            match page.state {
                // The page is still being fetched, so a later poll decides.
                PageState::Pending => continue,
                PageState::Accepted { .. } if own.as_ref() == Some(&page.host) => {
                    let job = RemovalJob::remove(page.id, page.url, Gone::Deleted, now);
                    removals.push(Job::new(job).traced(trace.cloned()), now).await?;
                }
                _ => {}
            }
            done.push(key);
        }
        removals.send().await?;
        Ok(done)
    }

    /// Returns the row of a page, or of the page that it is an alias of.
    async fn page_itself(&self, id: &PageId) -> Result<Option<Page>> {
        let Some((page, _)) = self.pages.load_eventual(id).await? else { return Ok(None) };
        let PageState::Alias { of } = &page.state else { return Ok(Some(page)) };
        Ok(self.pages.load_eventual(of).await?.map(|(page, _)| page))
    }

    /// Returns the visit item of an entry; `None` if its page is known or excluded, or its link is unusable.
    pub(crate) async fn item(
        &self,
        source: &FeedSource,
        entry: &Entry,
        unvisited: Option<&HostKey>,
        now: Timestamp,
    ) -> Result<Option<(HostKey, VisitItem)>> {
        let linked = match entry.link.as_deref() {
            None => Err("the entry has no usable link".to_owned()),
            Some(link) => address::parse(link, Url::parse(&source.url).ok().as_ref()).map_err(|e| e.to_string()),
        };
        let located = linked.and_then(|url| {
            let url = page_of(&url);
            self.politeness.key_of(&url).map(|host| (host, url)).map_err(|e| e.to_string())
        });
        let (host, url) = match located {
            Ok(found) => found,
            Err(why) => {
                // An entry without a usable link has no page, but it must not vanish: it gets a row with the reason.
                if let Ok(mut url) = Url::parse(&source.url)
                    && let Ok(host) = self.politeness.key_of(&url)
                {
                    url.set_fragment(Some(&format!("entry-{:016x}", entry.key())));
                    self.reject(source, host, url, Rejection::Address(why)).await?;
                }
                return Ok(None);
            }
        };
        let page = address::page_id(&url);
        if let Some(rule) = self.politeness.scope.excludes(&url) {
            self.reject(source, host, url, Rejection::Excluded(rule.to_string())).await?;
            return Ok(None);
        }
        // An eventually consistent read is good enough, since the page is looked up again before it is called.
        if unvisited != Some(&host)
            && let Some((row, _)) = self.pages.load_eventual(&page).await?
            && !row.state.may_be_taken_up()
        {
            return Ok(None);
        }
        let purpose = Purpose::New { hints: hints(source, entry, now) };
        Ok(Some((host, VisitItem { url: url.into(), page, purpose })))
    }

    async fn reject(&self, source: &FeedSource, host: HostKey, url: Url, reason: Rejection) -> Result<()> {
        let (id, now) = (address::page_id(&url), self.politeness.clock.now());
        let state = PageState::Rejected { reason: reason.clone() };
        let page = Page { feed: Some(source.key.clone()), ..Page::new(id, url.into(), host, state, now) };
        if self.pages.insert(&page).await? {
            self.politeness.events.note(&Event::Rejected(&reason));
        }
        Ok(())
    }
}

fn page_of(link: &Url) -> Url {
    address::canonical(&address::current_version(link))
}

fn hints(source: &FeedSource, entry: &Entry, now: Timestamp) -> EntryHints {
    let stated = [entry.published, entry.updated];
    let published = stated.into_iter().flatten().find_map(|stated| dates::plausible(stated, now));
    let (title, author, tags) = (entry.title.clone(), entry.author.clone(), entry.tags.clone());
    EntryHints { title, published, author, tags, folder: source.folder.clone() }
}

/// Returns the feed's details for records; `None` for a comment feed, which is named after its site's feed.
fn named_by(source: &FeedSource, feed: &Feed) -> Option<NamedBy> {
    let title = feed.title.clone();
    let is_of_comments = Url::parse(&source.url).is_ok_and(|url| speaks_of_comments(&url, title.as_deref()));
    let image = feed.image.clone().or_else(|| source.image.clone());
    let named_by = NamedBy { url: source.url.clone(), title, image, language: feed.language.clone() };
    (!is_of_comments).then_some(named_by)
}

pub(crate) fn visit_jobs(
    source: &FeedSource,
    host: HostKey,
    items: Vec<VisitItem>,
    trace: Option<&TraceId>,
) -> Vec<Envelope<VisitJob>> {
    VisitJob::several(&host, Some(&source.key), &items)
        .map(|visit| Envelope::new(VisitJob { site_image: source.image.clone(), ..visit }).traced(trace.cloned()))
        .collect()
}

/// Updates the ring of known keys: all keys that are listed now, then as many older ones as fit.
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
