//! A site as plain data: its answers, its behaviour, and the expected result of a correct crawl.

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
    /// Address that a person would give the crawler.
    pub start_url: String,
    /// A line on what is special about the site, and why the expectation is as it is.
    pub about: &'static str,
    /// Expected result of a correct crawl.
    pub expect: Expect,
    /// `Crawl-delay` that its robots.txt sets for the crawler.
    pub crawl_delay: Option<Duration>,
    pub(crate) entries: Vec<(String, Outcome)>,
    pub(crate) hosts: Vec<String>,
    pub(crate) routes: HashMap<String, Route>,
    pub(crate) off_limits: Vec<String>,
    pub(crate) delay: Duration,
    pub(crate) rate_limit: RateLimit,
    pub(crate) publisher: Option<Publisher>,
    pub(crate) uniform: Option<UniformSite>,
    /// Kind of a site whose articles are not all in its feed; only together with `uniform`.
    pub(crate) catalogue: Option<Catalogue>,
}

/// Expected result of one crawl of a site until idle.
///
/// An entry counts for the site whose feed names it, wherever its page is. An entry is a distinct address, after
/// removal of fragment and tracking parameters (`utm_*`, `fbclid`); entries without an `http` or `https` address are
/// not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    /// Pages that end in the index.
    pub accepted: usize,
    /// Rejected pages, by the code of `curlew_model::Rejection`.
    pub rejected: BTreeMap<&'static str, usize>,
    /// Entries left for later, because the host was held before they were reached.
    pub parked: usize,
    /// Entries whose page another entry names too, under another address.
    pub duplicates: usize,
    /// Final hold of the host key, as `curlew_model::HoldReason` names it.
    pub held: Option<&'static str>,
    /// Number of working feeds that are found.
    pub feeds: usize,
    /// Further feeds that a crawler may skip, such as comments; they name no page of their own.
    pub optional_feeds: usize,
}

impl Expect {
    /// Returns the number of distinct entries of all feeds: each is in exactly one of the counts.
    pub fn entries(&self) -> usize {
        self.accepted + self.rejected.values().sum::<usize>() + self.parked + self.duplicates
    }
}

/// Expected outcome of one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// The entry's page ends in the index.
    Accepted,
    /// The entry's page is rejected, with this code of `curlew_model::Rejection`.
    Rejected(&'static str),
    /// The entry is left for later, since the host is held before its page is fetched.
    Parked,
    /// The entry's page is named by another entry too, under another address.
    Duplicate,
    /// The entry has the same address as another one, after removal of fragment and tracking parameters.
    Repeat,
    /// The entry names nothing callable, so it is not counted at all.
    Ignored,
}

/// Answer at one address, and the answer once [`crate::Mode::Later`] is set.
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
    /// After this number of pages every further call is answered 429 with this Retry-After, in seconds.
    PageLimit { pages: usize, retry_after: u32 },
    /// A call that comes sooner than this after the previous one is answered 429.
    MinGap(Duration),
}

impl Site {
    /// Returns all host names that this site answers for.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Returns the addresses of its feeds, including comments and broken ones; sorted.
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

    /// Returns the addresses that its feeds name, with the expected outcome of each, in the order of the feed. Entries
    /// of comment feeds and tracking parameters added by a feed are omitted; sites with unavailable feeds list the
    /// intended entries. Empty for the sites of [`Farm::uniform`].
    pub fn entries(&self) -> &[(String, Outcome)] {
        &self.entries
    }

    /// True if the site's robots.txt, in its initial form, forbids the crawler this path (with query).
    ///
    /// Written by hand, independently of the robots.txt text, so that it can test a matcher. `/robots.txt` is always
    /// allowed (RFC 9309 §2.2.2).
    pub fn forbids(&self, host: &str, path: &str) -> bool {
        let address = format!("{host}{path}");
        path != "/robots.txt" && self.off_limits.iter().any(|beginning| address.starts_with(beginning.as_str()))
    }

    /// True if the site has pages that change once [`crate::Mode::Later`] is set.
    pub fn changes_later(&self) -> bool {
        self.routes.values().any(|route| route.later.is_some())
    }

    /// Returns the answer at a path of a site whose documents are made on request.
    pub(crate) fn made(&self, path: &str) -> Option<Reply> {
        let site = self.uniform.as_ref()?;
        self.catalogue.map_or_else(|| site.reply(path), |kind| kind.reply(site, path))
    }

    /// Returns the route at a host and path: with its query if there is one for it, else without.
    pub(crate) fn route(&self, host: &str, path: &str) -> Option<&Route> {
        let whole = format!("{host}{path}");
        self.routes.get(&whole).or_else(|| {
            let (bare, _) = whole.split_once('?')?;
            self.routes.get(bare)
        })
    }
}
