//! A web that stores only a few numbers for each host. The answer of a URL follows from these numbers and the time.

use crate::bad_time::{BadTime, HOUR, MINUTE, Moment, WebFailure, document, failure_at, status};
use curlew_model::Millis;
use curlew_policy::address::PLATFORMS;
use curlew_policy::chance::mix;
use curlew_ports::{Call, CallKind, FetchError, Reply};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use url::Url;

pub(super) const DAY: Moment = 24 * HOUR;
const LISTED: u64 = 15;
/// Number of entries that a feed lists from the start.
const FIRST: u64 = 3;
/// Percentage of hosts that are blogs on a platform, all of which share one host key.
const BLOGS_PERCENT: usize = 2;
/// On a host that is not healthy, one of this many pages is for members only and answers 403.
const MEMBERS_ONLY: u64 = 11;
/// One of this many pages is always cut short.
const CUT_SHORT: u64 = 101;
/// One of this many pages asks not to be indexed, so the crawler looks at the home page.
const NOT_INDEXED: u64 = 13;
/// One of this many pages lies where robots.txt forbids it.
const PRIVATE: u64 = 20;

#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) key: String,
    pub(super) delay: Millis,
    took: u64,
    pub(super) bad_times: Vec<BadTime>,
}

/// The part of the web that one shard crawls.
pub(super) struct Web {
    pub(super) places: Vec<Place>,
    /// Indices of places by host name.
    pub(super) names: BTreeMap<String, usize>,
    pub(super) feeds: Vec<Feed>,
    feed_at: BTreeMap<String, usize>,
    /// Start and end of the outage of our own network.
    pub(super) outage: (Moment, Moment),
}

pub(super) struct Feed {
    pub(super) url: String,
    pub(super) place: usize,
    name: String,
    every: Moment,
}

pub(super) fn make(seed: u64, shard: usize, hosts: usize, days: u64) -> Web {
    let middle = days * DAY / 2;
    let mut web = Web {
        places: vec![],
        names: BTreeMap::new(),
        feeds: vec![],
        feed_at: BTreeMap::new(),
        outage: (middle, middle + 6 * HOUR),
    };
    for n in 0..hosts {
        let luck = mix(mix(seed ^ shard as u64) ^ n as u64);
        let name = format!("h{n}-{shard}.example");
        web.place(name.clone(), luck, days);
        let feeds = if luck.is_multiple_of(50) { 8 } else { 1 + u64::from(luck.is_multiple_of(5)) };
        for feed in 0..feeds {
            web.feed(&name, feed, mix(luck ^ feed));
        }
    }
    let platform = PLATFORMS[shard % PLATFORMS.len()];
    let blogs = hosts * BLOGS_PERCENT / 100;
    if blogs > 0 {
        web.place(platform.to_owned(), 7, 0);
    }
    for blog in 0..blogs {
        let name = format!("blog{blog}-{shard}.{platform}");
        web.names.insert(name.clone(), web.places.len() - 1);
        web.feed(&name, 0, mix(seed ^ mix(blog as u64)));
    }
    web
}

impl Web {
    fn place(&mut self, key: String, luck: u64, days: u64) {
        let delay = [0, 0, 0, 0, 0, 0, 2, 5, 10, 45][(mix(luck ^ 1) % 10) as usize];
        let took = [50, 120, 200, 400, 2_500][(mix(luck ^ 2) % 5) as usize];
        let bad = if mix(luck ^ 3) % 100 < 15 && days > 0 { 1 + mix(luck ^ 4) % 3 } else { 0 };
        let bad_times = (0..bad).map(|n| bad_time(mix(luck ^ (5 + n)), days)).collect();
        self.names.insert(key.clone(), self.places.len());
        self.places.push(Place { key, delay: Millis::from_secs(delay), took, bad_times });
    }

    fn feed(&mut self, name: &str, number: u64, luck: u64) {
        let every = match luck % 100 {
            0..=1 => 5 * HOUR,
            2..=11 => DAY,
            12..=61 => 7 * DAY,
            _ => 30 * DAY,
        };
        let url = format!("https://{name}/feed/{number}");
        let place = self.names.get(name).copied().unwrap_or_default();
        self.feed_at.insert(url.clone(), self.feeds.len());
        self.feeds.push(Feed { url, place, name: name.to_owned(), every });
    }

    /// Returns true if a place is a platform of many sites, where the time of visits has no limit.
    pub(super) fn is_platform(&self, place: usize) -> bool {
        PLATFORMS.contains(&self.places[place].key.as_str())
    }

    /// Returns true if a place has no bad times. Our own outage does not count.
    pub(super) fn is_well(&self, place: usize) -> bool {
        self.places[place].bad_times.is_empty()
    }

    pub(super) fn is_down(&self, now: Moment) -> bool {
        self.outage.0 <= now && now < self.outage.1
    }

    pub(super) fn feed_of(&self, url: &str) -> Option<usize> {
        self.feed_at.get(url).copied()
    }

    /// Returns the time since the entry of a page appeared in its feed, or `None` for entries that were there from the
    /// start.
    pub(super) fn age_of(&self, url: &Url, now: Moment) -> Option<Moment> {
        let mut path = url.path_segments()?.skip(1);
        let (number, entry) = (path.next()?, path.next()?.parse::<u64>().ok()?);
        let feed = self.feed_of(&format!("https://{}/feed/{number}", url.host_str()?))?;
        Some(now.saturating_sub((entry + 1).checked_sub(FIRST).filter(|n| *n > 0)? * self.feeds[feed].every))
    }

    /// Returns the answer to a call at `now`, and the duration of the call.
    pub(super) fn answer(
        &self,
        place: usize,
        url: &Url,
        call: &Call,
        now: Moment,
    ) -> (Result<Reply, FetchError>, Millis) {
        let place = &self.places[place];
        let network = || Err(FetchError::Network("no connection in time".into()));
        if self.is_down(now) {
            return (network(), Millis::from_secs(10));
        }
        let took = Millis(place.took + mix(now) % 50);
        match failure_at(&place.bad_times, now) {
            Some(failure @ WebFailure::Network) => (failure.answer(), Millis::from_secs(10)),
            Some(failure) => (failure.answer(), took),
            None => (self.calm(place, url, call, now), took),
        }
    }

    fn calm(&self, place: &Place, url: &Url, call: &Call, now: Moment) -> Result<Reply, FetchError> {
        match call.kind {
            CallKind::Robots => Ok(document("text/plain", robots(place))),
            CallKind::Feed => Ok(self.feed_of(url.as_str()).map_or(status(404), |n| self.feeds[n].reply(call, now))),
            CallKind::Page => page(url, place.bad_times.is_empty()),
            CallKind::Home
            | CallKind::Proof
            | CallKind::Hub
            | CallKind::Receiver
            | CallKind::Engine
            | CallKind::Sitemap
            | CallKind::Image => Ok(status(404)),
        }
    }
}

fn bad_time(luck: u64, days: u64) -> BadTime {
    let from = mix(luck ^ 1) % (days * DAY);
    let length = [20 * MINUTE, 3 * HOUR, 30 * HOUR, 5 * DAY][(mix(luck ^ 2) % 4) as usize];
    let failure = [
        WebFailure::Status(403),
        WebFailure::Status(429),
        WebFailure::RetryAfter(429, 10 * 86_400),
        WebFailure::Status(500),
        WebFailure::RetryAfter(503, 600),
        WebFailure::RetryAfter(503, 4 * 86_400),
        WebFailure::Network,
        WebFailure::Network,
    ][(mix(luck ^ 3) % 8) as usize];
    BadTime { from, to: from + length, failure }
}

impl Feed {
    fn reply(&self, call: &Call, now: Moment) -> Reply {
        let count = FIRST + now / self.every;
        let etag = format!("\"{count}\"");
        if call.validators.etag.as_deref() == Some(etag.as_str()) {
            return status(304);
        }
        let mut text = "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>News</title>\
                        <link>https://example.org/</link><description>What is new</description>"
            .to_owned();
        let number = self.url.rsplit('/').next().unwrap_or_default();
        for entry in count.saturating_sub(LISTED)..count {
            let folder = if mix(entry ^ self.every).is_multiple_of(PRIVATE) { "private" } else { "p" };
            let link = format!("https://{}/{folder}/{number}/{entry}", self.name);
            let _ = write!(text, "<item><title>Entry {entry}</title><link>{link}</link><guid>{link}</guid></item>");
        }
        text.push_str("</channel></rss>");
        let mut reply = document("application/rss+xml", text);
        reply.headers.validators.etag = Some(etag);
        reply
    }
}

pub(super) fn is_private(url: &Url) -> bool {
    url.path().starts_with("/private/")
}

fn robots(place: &Place) -> String {
    let delay = place.delay.0 / 1_000;
    let delay = if delay > 0 { format!("Crawl-delay: {delay}\n") } else { String::new() };
    format!("User-agent: *\nDisallow: /private/\n{delay}")
}

fn page(url: &Url, is_well: bool) -> Result<Reply, FetchError> {
    let luck = url.as_str().bytes().fold(17, |luck, byte| mix(luck ^ u64::from(byte)));
    if luck.is_multiple_of(MEMBERS_ONLY) && !is_well {
        return Ok(status(403));
    }
    if luck.is_multiple_of(CUT_SHORT) {
        return Err(FetchError::Cut("the answer was cut short".into()));
    }
    let image = if luck.is_multiple_of(2) { "" } else { "<meta property=\"og:image\" content=\"/i.png\">" };
    let asks = if luck.is_multiple_of(NOT_INDEXED) { "<meta name=\"robots\" content=\"noindex\">" } else { "" };
    let text = "The curlew walks along the water and probes the mud. ".repeat(6);
    Ok(document(
        "text/html",
        format!("<html><head><title>{url}</title>{image}{asks}</head><body><p>{text}</p></body></html>"),
    ))
}
