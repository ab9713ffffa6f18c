//! Lookup: what operators are shown of rows and jobs, in parts of bounded work.

use crate::descriptions::{feed_state, site_state};
use curlew_catalog::listing::choose_from;
use curlew_crawl::politeness::access::Politeness;
use curlew_model::{Hold, HostKey, HostState, Page, PageId, PageState, Rejection, Source, SourceKey, Timestamp};
use curlew_model::{Screened, is_at_or_below};
use curlew_policy::address;
use curlew_policy::polling::schedule;
use curlew_ports::stage::StageError;
use curlew_ports::{Hosts, Inbox, Pages, Sources};
use std::sync::Arc;
use url::Url;

/// Number of rows of sites, feeds and hosts that are read at a time.
const LIST: usize = 500;
/// Maximum number of rows that one part of a list reads to find those that are wanted.
const MOST_READ: usize = 20_000;

/// Reads rows and jobs for operators.
#[derive(Clone)]
pub struct Lookup {
    /// Host states, copies of robots.txt, rules and time.
    pub politeness: Arc<Politeness>,
    /// Host states, for listing.
    pub hosts: Arc<dyn Hosts>,
    /// Rows of pages.
    pub pages: Arc<dyn Pages>,
    /// Rows of sites and feeds.
    pub sources: Arc<dyn Sources>,
    /// Jobs.
    pub inbox: Arc<dyn Inbox>,
}

/// A part of a list.
#[derive(Clone, Debug)]
pub struct ListPart<T, K> {
    /// Rows of the part.
    pub rows: Vec<T>,
    /// Key after which the next part begins, if rows are left.
    pub next: Option<K>,
}

/// A site or feed, for a list.
#[derive(Clone, Debug)]
pub struct SourceLine {
    /// Key of the source.
    pub key: SourceKey,
    /// True for a feed, false for a site.
    pub is_feed: bool,
    /// Address of the source.
    pub url: String,
    /// The feed's title.
    pub title: Option<String>,
    /// State of the source in words.
    pub state: String,
    /// The next poll of a feed.
    pub next_poll: Option<Timestamp>,
    /// The hold of its host key, if there is one.
    pub hold: Option<Hold>,
    /// True if its host is blocked.
    pub is_blocked: bool,
}

/// A host key that is held or blocked.
#[derive(Clone, Debug)]
pub struct HeldHost {
    /// The host key.
    pub host: HostKey,
    /// State of the host key.
    pub state: HostState,
}

/// A page that content screening rejected.
#[derive(Clone, Debug)]
pub struct ScreenedPage {
    /// Address of the page.
    pub url: String,
    /// Time of the verdict.
    pub at: Timestamp,
    /// Topics, and the words and scores that decided.
    pub why: Screened,
}

impl Lookup {
    /// Returns sites and feeds after `after`, at most `most`; those at or below this host only, if one is given.
    ///
    /// # Errors
    /// Any error of the ports.
    pub async fn sources(
        &self,
        host: Option<&str>,
        after: Option<SourceKey>,
        most: usize,
    ) -> Result<ListPart<SourceLine, SourceKey>, StageError> {
        let is_wanted = |source: &Source| {
            matches!(source, Source::Site(_) | Source::Feed(_))
                && host.is_none_or(|name| host_of(source.url()).is_some_and(|host| is_at_or_below(&host, name)))
        };
        let (mut wanted, mut last, mut read) = (Vec::new(), after, 0);
        let next = 'read: loop {
            let rows = self.sources.list(last.as_ref(), LIST).await?;
            if rows.is_empty() {
                break None;
            }
            for row in rows {
                if wanted.len() == most || read == MOST_READ {
                    break 'read last;
                }
                read += 1;
                last = Some(row.key().clone());
                wanted.extend(Some(row).filter(is_wanted));
            }
        };
        let mut rows = Vec::with_capacity(wanted.len());
        for source in wanted {
            rows.extend(self.source_line(source).await?);
        }
        Ok(ListPart { rows, next })
    }

    async fn source_line(&self, source: Source) -> Result<Option<SourceLine>, StageError> {
        let (now, rules) = (self.politeness.clock.now(), &self.politeness.rules);
        let (is_feed, title, state, next_poll) = match &source {
            Source::Site(site) => (false, None, site_state(site), None),
            Source::Feed(feed) => (true, feed.title.clone(), feed_state(feed), schedule::next_poll(feed, rules, now)),
            Source::Extra(_) | Source::Backfill(_) => return Ok(None),
        };
        let key = Url::parse(source.url()).ok().and_then(|url| self.politeness.key_of(&url).ok());
        let known = match &key {
            Some(key) => self.politeness.ledger.load_eventual(key).await?.0,
            None => HostState::default(),
        };
        let is_blocked = host_of(source.url()).is_some_and(|host| known.is_blocked(&host));
        Ok(Some(SourceLine {
            key: source.key().clone(),
            is_feed,
            url: source.url().to_owned(),
            title,
            state,
            next_poll,
            hold: known.hold_at(now),
            is_blocked,
        }))
    }

    /// Returns host keys after `after` that are held or blocked, at most `most`.
    ///
    /// # Errors
    /// Any error of the ports.
    pub async fn held(&self, after: Option<HostKey>, most: usize) -> Result<ListPart<HeldHost, HostKey>, StageError> {
        let now = self.politeness.clock.now();
        let (mut found, mut last, mut read) = (Vec::new(), after, 0);
        loop {
            let rows = self.hosts.list(last.as_ref(), LIST).await?;
            if rows.is_empty() {
                return Ok(ListPart { rows: found, next: None });
            }
            for (host, state) in rows {
                if found.len() == most || read == MOST_READ {
                    return Ok(ListPart { rows: found, next: last });
                }
                read += 1;
                last = Some(host.clone());
                if state.hold_at(now).is_some() || !state.blocked.is_empty() {
                    found.push(HeldHost { host, state });
                }
            }
        }
    }

    /// Returns pages after `after` that content screening rejected and no operator has allowed since, at most `most`;
    /// those at or below this host only, if one is given.
    ///
    /// # Errors
    /// Any error of the ports.
    pub async fn screened(
        &self,
        host: Option<&str>,
        after: Option<PageId>,
        most: usize,
    ) -> Result<ListPart<ScreenedPage, PageId>, StageError> {
        let pages = self.pages.as_ref();
        let (rows, next) = choose_from(pages, after, MOST_READ, most, |page| screened(page, host)).await?;
        Ok(ListPart { rows, next })
    }
}

fn screened(page: Page, host: Option<&str>) -> Option<ScreenedPage> {
    let PageState::Rejected { reason: Rejection::Screened(why) } = page.state else { return None };
    let is_wanted = host.is_none_or(|name| host_of(&page.url).is_some_and(|host| is_at_or_below(&host, name)));
    (is_wanted && !why.lifted).then_some(ScreenedPage { url: page.url, at: page.at, why })
}

fn host_of(url: &str) -> Option<String> {
    Url::parse(url).ok()?.host_str().map(str::to_owned)
}

/// Returns the host that a person types to choose what is listed, in canonical form; `None` if it is none.
pub fn typed_host(text: &str) -> Option<String> {
    address::parse_typed(text).ok()?.host_str().map(str::to_owned)
}
