//! A site as plain data: its answers, its behaviour, and the result of a correct crawl.

use crate::catalogue::Catalogue;
use crate::log::Kind;
use crate::publisher::Publisher;
use crate::reply::Reply;
use crate::uniform::UniformSite;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// A site: a home page, feeds, pages, and its behaviour.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// Main host name of the site.
    pub host: String,
    /// Address that a person would enter in the crawler.
    pub start_url: String,
    /// One line about the site's special property, and the reason for the expectation.
    pub about: &'static str,
    /// Expected result of a correct crawl.
    pub expect: Expect,
    /// `Crawl-delay` in its robots.txt for the crawler.
    pub crawl_delay: Option<Duration>,
    pub(crate) entries: Vec<(String, Outcome)>,
    pub(crate) hosts: Vec<String>,
    pub(crate) routes: HashMap<String, Route>,
    pub(crate) off_limits: Vec<String>,
    pub(crate) delay: Duration,
    pub(crate) rate_limit: RateLimit,
    pub(crate) publisher: Option<Publisher>,
    pub(crate) uniform: Option<UniformSite>,
    /// Kind of a site whose feed has only some of its articles; requires `uniform`.
    pub(crate) catalogue: Option<Catalogue>,
}

/// Expected result of a crawl of a site until nothing is left to do.
///
/// An entry counts for the site whose feed names it, wherever its page is. Entries are distinguished by address,
/// without fragment and tracking parameters (`utm_*`, `fbclid`); entries without an `http` or `https` address are not
/// counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    /// Number of pages that are indexed.
    pub accepted: usize,
    /// Number of rejected pages, by the code of `curlew_model::Rejection`.
    pub rejected: BTreeMap<&'static str, usize>,
    /// Number of entries left for later, because the host was put on hold before their pages were fetched.
    pub parked: usize,
    /// Number of entries whose page another entry names under another address.
    pub duplicates: usize,
    /// Final hold of the host key, by the name of `curlew_model::HoldReason`.
    pub held: Option<&'static str>,
    /// Number of working feeds.
    pub feeds: usize,
    /// Number of other feeds that a crawler may skip, such as comments; they add no pages.
    pub optional_feeds: usize,
}

impl Expect {
    /// Returns the number of distinct entries of all feeds; each is in exactly one of the counts.
    pub fn entries(&self) -> usize {
        self.accepted + self.rejected.values().sum::<usize>() + self.parked + self.duplicates
    }
}

/// Expected outcome of one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// The entry's page is indexed.
    Accepted,
    /// The entry's page is rejected with this code of `curlew_model::Rejection`.
    Rejected(&'static str),
    /// The entry is left for later, because the host is put on hold before its page is fetched.
    Parked,
    /// Another entry names the same page under another address.
    Duplicate,
    /// Another entry has the same address, after removal of fragment and tracking parameters.
    Repeat,
    /// The entry has no `http` or `https` address, and is not counted.
    Ignored,
}

/// Answer at one address, and its answer after [`crate::Mode::Later`] is set.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) now: Reply,
    pub(crate) later: Option<Reply>,
}

/// Rate limit of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RateLimit {
    /// No limit.
    #[default]
    None,
    /// After this number of pages, every further call gets 429 with this Retry-After, in seconds.
    PageLimit { pages: usize, retry_after: u32 },
    /// A call that starts sooner than this after the previous one gets 429.
    MinGap(Duration),
}

impl Site {
    /// Returns all host names that this site answers for.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Returns the sorted addresses of the site's feeds, including comments and broken ones.
    pub fn feed_urls(&self) -> Vec<String> {
        if self.uniform.is_some() {
            let feed = self.catalogue.map_or(Some("/feed.xml"), |kind| kind.feed().map(|(path, _)| path));
            return feed.map(|path| format!("http://{}{path}", self.host)).into_iter().collect();
        }
        let is_feed = |(_, route): &(&String, &Route)| route.now.kind == Kind::Feed;
        let mut urls: Vec<String> =
            self.routes.iter().filter(is_feed).map(|(address, _)| format!("http://{address}")).collect();
        urls.sort();
        urls
    }

    /// Returns the addresses that the site's feeds name, with their expected outcomes, in the order of the feed. Omits
    /// entries of comment feeds, and tracking parameters; sites with unavailable feeds list the intended entries. Empty
    /// for the sites of [`Farm::uniform`].
    pub fn entries(&self) -> &[(String, Outcome)] {
        &self.entries
    }

    /// True if the site's initial robots.txt disallows this path (with query) for the crawler.
    ///
    /// Written by hand, independently of the text of robots.txt, so that tests can compare a matcher with it.
    /// `/robots.txt` is always allowed (RFC 9309 §2.2.2).
    pub fn forbids(&self, host: &str, path: &str) -> bool {
        let address = format!("{host}{path}");
        path != "/robots.txt" && self.off_limits.iter().any(|beginning| address.starts_with(beginning.as_str()))
    }

    /// True if the site has pages that change after [`crate::Mode::Later`] is set.
    pub fn changes_later(&self) -> bool {
        self.routes.values().any(|route| route.later.is_some())
    }

    /// Returns the answer at a path of a site whose documents are generated on request.
    pub(crate) fn made(&self, path: &str) -> Option<Reply> {
        let site = self.uniform.as_ref()?;
        self.catalogue.map_or_else(|| site.reply(path), |kind| kind.reply(site, path))
    }

    /// Returns the route of a host and path: the one with the path's query if it exists, else the one without.
    pub(crate) fn route(&self, host: &str, path: &str) -> Option<&Route> {
        let whole = format!("{host}{path}");
        self.routes.get(&whole).or_else(|| {
            let (bare, _) = whole.split_once('?')?;
            self.routes.get(bare)
        })
    }
}
