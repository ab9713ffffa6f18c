//! The table of sites for operators: each site with its feeds, the outcomes of their pages, and its next poll.

use crate::descriptions::{feed_state, site_state};
use crate::lookup::{Lookup, host_of};
use crate::outcomes::{self, PageOutcomes};
use curlew_catalog::listing::sources_from;
use curlew_model::{FeedSource, Source, SourceKey, Timestamp};
use curlew_policy::polling::schedule;
use curlew_policy::rules::Rules;
use curlew_ports::stage::Result;
use std::cmp::Reverse;
use std::collections::BTreeMap;

const SOURCES: usize = 20_000;
/// Maximum number of rows of pages that are read; if there are more, no pages are counted.
const PAGES: usize = 50_000;

/// The table of sites.
#[derive(Clone, Debug, Default)]
pub struct SiteTable {
    /// Lines of the table, in the requested order.
    pub lines: Vec<SiteLine>,
    /// True if some rows of sites and feeds were not read, because there are too many.
    pub is_cut: bool,
    /// False if pages were not counted, because there are too many.
    pub is_counted: bool,
}

/// A site with its feeds. A feed that belongs to no named site is listed under the host of its home page.
#[derive(Clone, Debug, Default)]
pub struct SiteLine {
    /// Host name of the site, without `www.`.
    pub host: String,
    /// Title of one of the site's feeds.
    pub title: Option<String>,
    /// Number of the site's feeds.
    pub feeds: usize,
    /// Outcomes of the pages of the site's feeds.
    pub pages: PageOutcomes,
    /// Time of the latest new entry in any of the feeds.
    pub last_news: Option<Timestamp>,
    /// Time of the next poll of any of the feeds.
    pub next_poll: Option<Timestamp>,
    /// State of the site if it has no feed, or of a feed that cannot be read; otherwise empty.
    pub state: String,
}

/// Order of the lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SiteOrder {
    /// By host name.
    #[default]
    Host,
    /// By time of the latest new entry, latest first.
    News,
    /// By time of the next poll, earliest first.
    Poll,
    /// By number of accepted pages, largest first.
    Accepted,
    /// By number of rejected pages, largest first.
    Rejected,
}

/// The parts of a feed's row that the table needs; the whole row is much longer.
struct FeedFacts {
    key: SourceKey,
    site: Option<SourceKey>,
    host: String,
    title: Option<String>,
    last_news: Option<Timestamp>,
    next_poll: Option<Timestamp>,
    trouble: Option<String>,
}

impl FeedFacts {
    fn new(feed: FeedSource, rules: &Rules, now: Timestamp) -> FeedFacts {
        let is_well = feed.trouble.is_none() && !feed.gone;
        FeedFacts {
            host: feed.link.as_deref().and_then(site_of).or_else(|| site_of(&feed.url)).unwrap_or_default(),
            last_news: feed.polling.habit.news_at,
            next_poll: schedule::next_poll(&feed, rules, now),
            trouble: (!is_well).then(|| feed_state(&feed)),
            key: feed.key,
            site: feed.site,
            title: feed.title,
        }
    }
}

impl SiteLine {
    fn add(&mut self, feed: FeedFacts, pages: Option<&PageOutcomes>) {
        // The state of a site with feeds only repeats their number.
        if self.feeds == 0 {
            self.state.clear();
        }
        self.feeds += 1;
        self.title = self.title.take().or(feed.title);
        self.last_news = self.last_news.max(feed.last_news);
        self.next_poll = self.next_poll.into_iter().chain(feed.next_poll).min();
        if let Some(trouble) = feed.trouble.filter(|_| self.state.is_empty()) {
            self.state = trouble;
        }
        if let Some(pages) = pages {
            self.pages.add_all(pages);
        }
    }
}

impl Lookup {
    /// Returns the table of sites whose host or title contains a text, ignoring case.
    pub async fn site_table(&self, text: &str, order: SiteOrder) -> Result<SiteTable> {
        let (now, rules) = (self.politeness.clock.now(), &self.politeness.rules);
        let (mut hosts, mut lines, mut feeds) = (BTreeMap::new(), BTreeMap::<String, SiteLine>::new(), Vec::new());
        let left = sources_from(self.sources.as_ref(), None, SOURCES, |source| match source {
            Source::Site(site) => {
                let host = site_of(&site.url).unwrap_or_default();
                lines.entry(host.clone()).or_default().state = site_state(&site);
                hosts.insert(site.key, host);
            }
            Source::Feed(feed) => feeds.push(FeedFacts::new(feed, rules, now)),
            Source::Extra(_) | Source::Backfill(_) => {}
        });
        let is_cut = left.await?.is_some();
        let outcomes = outcomes::by_feed(self.pages.as_ref(), PAGES).await?;
        let is_counted = outcomes.is_some();
        let outcomes = outcomes.unwrap_or_default();
        for feed in feeds {
            let host = feed.site.as_ref().and_then(|site| hosts.get(site)).unwrap_or(&feed.host).clone();
            let pages = outcomes.get(&feed.key);
            lines.entry(host).or_default().add(feed, pages);
        }
        let text = text.to_lowercase();
        let lines = lines.into_iter().map(|(host, line)| SiteLine { host, ..line });
        let is_titled = |line: &SiteLine| line.title.as_ref().is_some_and(|title| title.to_lowercase().contains(&text));
        let mut lines: Vec<SiteLine> = lines.filter(|line| line.host.contains(&text) || is_titled(line)).collect();
        match order {
            SiteOrder::Host => {}
            SiteOrder::News => lines.sort_by_key(|line| Reverse(line.last_news)),
            SiteOrder::Poll => lines.sort_by_key(|line| (line.next_poll.is_none(), line.next_poll)),
            SiteOrder::Accepted => lines.sort_by_key(|line| Reverse(line.pages.accepted)),
            SiteOrder::Rejected => lines.sort_by_key(|line| Reverse(line.pages.rejected.values().sum::<u64>())),
        }
        Ok(SiteTable { lines, is_cut, is_counted })
    }
}

/// Returns the host of an address, without `www.`.
fn site_of(url: &str) -> Option<String> {
    let host = host_of(url)?;
    Some(host.strip_prefix("www.").map(str::to_owned).unwrap_or(host))
}
