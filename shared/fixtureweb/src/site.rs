//! A site as plain data: its answers, how it behaves, and what a right crawler makes of it.

use crate::log::Kind;
use crate::publisher::Publisher;
use crate::reply::Reply;
use crate::uniform::UniformSite;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// One site: a home page, feeds, pages, and how it behaves.
#[derive(Clone, Debug)]
pub struct Site {
    /// Its main host name.
    pub host: String,
    /// What a person would give the crawler.
    pub start_url: String,
    /// In one line, what is special about it and why the expectation is what it is.
    pub about: &'static str,
    /// What a right crawler makes of it.
    pub expect: Expect,
    /// The `Crawl-delay` that its robots.txt asks of us.
    pub crawl_delay: Option<Duration>,
    pub(crate) entries: Vec<(String, Outcome)>,
    pub(crate) hosts: Vec<String>,
    pub(crate) routes: HashMap<String, Route>,
    pub(crate) off_limits: Vec<String>,
    pub(crate) delay: Duration,
    pub(crate) rate_limit: RateLimit,
    pub(crate) publisher: Option<Publisher>,
    pub(crate) uniform: Option<UniformSite>,
}

/// What a right crawler makes of a site in one crawl until idle.
///
/// Counts go by the feed that names an entry, wherever its page lies. An entry is a distinct address, once fragment and
/// tracking parameters (`utm_*`, `fbclid`) are removed; entries without an `http` or `https` address are not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    /// Pages that end in the index.
    pub accepted: usize,
    /// Pages that do not, by the code of `curlew_model::Rejection`.
    pub rejected: BTreeMap<&'static str, usize>,
    /// Entries left for later, because the host came under a hold before they were reached.
    pub parked: usize,
    /// Entries whose page is one that another entry names too, under another address.
    pub duplicates: usize,
    /// The hold that the host key is under at the end, as `curlew_model::HoldReason` names it.
    pub held: Option<&'static str>,
    /// Working feeds that are found.
    pub feeds: usize,
    /// Further feeds that a crawler may take or leave, such as comments; they name no page of their own.
    pub optional_feeds: usize,
}

impl Expect {
    /// Distinct entries of all feeds: each ends in exactly one of the counts.
    pub fn entries(&self) -> usize {
        self.accepted + self.rejected.values().sum::<usize>() + self.parked + self.duplicates
    }

    /// All rejections.
    pub fn rejections(&self) -> usize {
        self.rejected.values().sum()
    }
}

/// What a right crawler makes of one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// Its page ends in the index.
    Accepted,
    /// Its page does not, with this code of `curlew_model::Rejection`.
    Rejected(&'static str),
    /// It is left for later, since the host comes under a hold before its page is had.
    Parked,
    /// Its page is one that another entry names too, under another address.
    Duplicate,
    /// It names the same address as another entry, once fragment and tracking parameters are gone.
    Repeat,
    /// It names nothing that could be called, so it is not counted at all.
    Ignored,
}

/// What is answered at one address, and what once [`crate::Mode::Later`] is set.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) now: Reply,
    pub(crate) later: Option<Reply>,
}

/// How a site defends itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RateLimit {
    /// It does not.
    None,
    /// After so many pages every further call is answered 429 with this Retry-After, in seconds.
    PageLimit { pages: usize, retry_after: u32 },
    /// A call that comes sooner than this after the one before is answered 429.
    MinGap(Duration),
}

impl Site {
    /// All host names that this site answers for.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// The addresses of its feeds, comments included, whether they answer well or not; sorted.
    pub fn feed_urls(&self) -> Vec<String> {
        if self.uniform.is_some() {
            return vec![format!("http://{}/feed.xml", self.host)];
        }
        let is_feed = |(_, route): &(&String, &Route)| route.now.kind == Kind::Feed;
        let mut urls: Vec<String> =
            self.routes.iter().filter(is_feed).map(|(address, _)| format!("http://{address}")).collect();
        urls.sort();
        urls
    }

    /// The addresses that its feeds name, and what a right crawler makes of each, in the order of the feed. Those of
    /// comments and the tracking parameters that a feed adds are left out; sites whose feeds cannot be had list what
    /// would be there. Empty for the sites of [`Farm::uniform`].
    pub fn entries(&self) -> &[(String, Outcome)] {
        &self.entries
    }

    /// True if the site's robots.txt, as it stands at the start, forbids our crawler this path (with query).
    ///
    /// Written down beside the robots.txt by hand, so that it can judge a matcher. `/robots.txt` is always allowed
    /// (RFC 9309 §2.2.2).
    pub fn forbids(&self, host: &str, path: &str) -> bool {
        let address = format!("{host}{path}");
        path != "/robots.txt" && self.off_limits.iter().any(|beginning| address.starts_with(beginning.as_str()))
    }

    /// True if the site has pages that change once [`crate::Mode::Later`] is set.
    pub fn changes_later(&self) -> bool {
        self.routes.values().any(|route| route.later.is_some())
    }

    /// The route at a host and path: with its query if there is one for it, else without.
    pub(crate) fn route(&self, host: &str, path: &str) -> Option<&Route> {
        let whole = format!("{host}{path}");
        self.routes.get(&whole).or_else(|| {
            let (bare, _) = whole.split_once('?')?;
            self.routes.get(bare)
        })
    }
}
