//! Judges of the log: pure functions over calls, for tests and measurements.
//!
//! The caller defines the unit of politeness with a function from host to key; [`registrable`] is the rule for the
//! bundled web.

use crate::farm::Farm;
use crate::log::{Call, Kind};
use std::collections::{BTreeMap, BTreeSet};

/// Two consecutive calls to one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Key of both calls.
    pub key: String,
    /// Microseconds from the start of the earlier call to the start of the later one.
    pub start_to_start: u64,
    /// Microseconds from the end of the earlier call to the start of the later one; 0 if they overlap.
    pub end_to_start: u64,
    /// The earlier call's address.
    pub earlier: String,
    /// The later call's address.
    pub later: String,
}

/// Two calls to one key of which the later one started before the earlier one ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// Key of both calls.
    pub key: String,
    /// The earlier call's address.
    pub earlier: String,
    /// The later call's address.
    pub later: String,
    /// Duration of the overlap in microseconds.
    pub micros: u64,
}

/// A call to a key that should not have been called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intrusion {
    /// Address of the answer that demanded a wait.
    pub refused: String,
    /// Status of that answer.
    pub status: u16,
    /// The later call's address.
    pub later: String,
    /// Microseconds from that answer to the later call.
    pub after: u64,
}

/// Number of calls by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Calls to robots.txt.
    pub robots: usize,
    /// Calls to home pages.
    pub home: usize,
    /// Calls to feeds.
    pub feeds: usize,
    /// Calls to sitemaps.
    pub sitemaps: usize,
    /// Calls to pages.
    pub pages: usize,
    /// Calls to pictures.
    pub images: usize,
    /// Calls to addresses without a document.
    pub other: usize,
    /// Number of distinct pages with status 200.
    pub distinct_pages: usize,
}

impl Tally {
    /// Returns the number of calls to pages and pictures per distinct page with status 200; 0 if there is no such page.
    /// A crawler of new pages stays below 2 if there are no redirects or refusals.
    pub fn calls_per_page(&self) -> f64 {
        if self.distinct_pages == 0 {
            return 0.0;
        }
        (self.pages + self.images) as f64 / self.distinct_pages as f64
    }
}

/// An address that was called more than once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Host, path and query.
    pub address: String,
    /// Kind of the document.
    pub kind: Kind,
    /// Number of calls.
    pub times: usize,
}

/// Returns the last two labels of a host name: the registrable domain under `.test`.
pub fn registrable(host: &str) -> String {
    let mut labels: Vec<&str> = host.rsplit('.').take(2).collect();
    labels.reverse();
    labels.join(".")
}

/// Returns the calls sorted by start time.
fn ordered(calls: &[Call]) -> Vec<&Call> {
    let mut ordered: Vec<&Call> = calls.iter().collect();
    ordered.sort_by_key(|call| call.start);
    ordered
}

/// Returns all gaps between consecutive calls to one key, in the order of the later call.
fn gaps(calls: &[Call], key_of_host: impl Fn(&str) -> String) -> Vec<Gap> {
    let mut last: BTreeMap<String, &Call> = BTreeMap::new();
    let mut gaps = Vec::new();
    for call in ordered(calls) {
        let key = key_of_host(&call.host);
        if let Some(earlier) = last.get(&key) {
            gaps.push(Gap {
                key: key.clone(),
                start_to_start: call.start - earlier.start,
                end_to_start: call.start.saturating_sub(earlier.end),
                earlier: address(earlier),
                later: address(call),
            });
        }
        // A short call during a long one must not hide the end of the long one.
        if last.get(&key).is_none_or(|earlier| call.end >= earlier.end) {
            last.insert(key, call);
        }
    }
    gaps
}

/// Returns the smallest gap between consecutive calls to one key, from the end of one call to the start of the next.
pub fn closest_gap(calls: &[Call], key_of_host: impl Fn(&str) -> String) -> Option<Gap> {
    gaps(calls, key_of_host).into_iter().min_by_key(|gap| (gap.end_to_start, gap.start_to_start))
}

/// Returns the gaps of less than `micros` microseconds from the end of one call to the start of the next.
pub fn closer_than(calls: &[Call], key_of_host: impl Fn(&str) -> String, micros: u64) -> Vec<Gap> {
    gaps(calls, key_of_host).into_iter().filter(|gap| gap.end_to_start < micros).collect()
}

/// Returns the overlapping calls to one key. A polite crawler has none.
pub fn overlaps(calls: &[Call], key_of_host: impl Fn(&str) -> String) -> Vec<Overlap> {
    let mut open: BTreeMap<String, Vec<&Call>> = BTreeMap::new();
    let mut found = Vec::new();
    for call in ordered(calls) {
        let under_way = open.entry(key_of_host(&call.host)).or_default();
        under_way.retain(|earlier| earlier.end > call.start);
        found.extend(under_way.iter().map(|earlier| Overlap {
            key: key_of_host(&call.host),
            earlier: address(earlier),
            later: address(call),
            micros: earlier.end.min(call.end).saturating_sub(call.start),
        }));
        under_way.push(call);
    }
    found
}

/// Microseconds in an hour.
const HOUR: u64 = 3_600_000_000;

/// Returns the time without further calls that a key requires after a call: three days after a 429, two after a 503, an
/// hour after another refusal or server error. Other rules apply to robots.txt and to POST requests.
fn quiet_after(call: &Call) -> u64 {
    match call.status {
        429 => 72 * HOUR,
        503 => 48 * HOUR,
        202 | 402 | 403 | 451 | 500.. if call.kind != Kind::Robots && call.method != "POST" => HOUR,
        _ => 0,
    }
}

/// Returns the calls to a key before the required time had passed, each with the earlier answer that required the
/// longest time.
pub fn intrusions(calls: &[Call], key_of_host: impl Fn(&str) -> String) -> Vec<Intrusion> {
    let mut quiet: BTreeMap<String, (u64, &Call)> = BTreeMap::new();
    let mut found = Vec::new();
    for call in ordered(calls) {
        let key = key_of_host(&call.host);
        if let Some((_, refused)) = quiet.get(&key).filter(|(until, _)| call.start < *until) {
            let after = call.start.saturating_sub(refused.end);
            found.push(Intrusion { refused: address(refused), status: refused.status, later: address(call), after });
        }
        let until = call.end + quiet_after(call);
        if until > call.end && quiet.get(&key).is_none_or(|(known, _)| until > *known) {
            quiet.insert(key, (until, call));
        }
    }
    found
}

/// Returns the keys whose home pages were called more than twice within a day. Two calls are needed: for discovery, and
/// for comparison with other pages.
pub fn homes_asked_again(calls: &[Call], key_of_host: impl Fn(&str) -> String) -> BTreeSet<String> {
    let mut homes: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for call in ordered(calls).into_iter().filter(|call| call.kind == Kind::Home) {
        homes.entry(key_of_host(&call.host)).or_default().push(call.start);
    }
    let is_asked_again = |starts: &[u64]| starts.windows(3).any(|three| three[2] - three[0] < 24 * HOUR);
    homes.into_iter().filter(|(_, starts)| is_asked_again(starts)).map(|(key, _)| key).collect()
}

/// Returns the gaps that are shorter than the site's Crawl-delay. The directive applies once robots.txt has been
/// fetched, so the gap after the first call to robots.txt counts and the gap before that call does not.
pub fn impatient(calls: &[Call], farm: &Farm) -> Vec<Gap> {
    let delay = |host: &str| farm.site(host).and_then(|site| site.crawl_delay);
    let relevant: Vec<Call> = calls.iter().filter(|call| delay(&call.host).is_some()).cloned().collect();
    gaps(&relevant, registrable)
        .into_iter()
        .filter(|gap| {
            let host = gap.later.split('/').next().unwrap_or("");
            delay(host).is_some_and(|delay| u128::from(gap.start_to_start) < delay.as_micros())
        })
        .collect()
}

/// Returns the calls that the site's initial robots.txt disallows.
pub fn forbidden(calls: &[Call], farm: &Farm) -> Vec<Call> {
    let is_forbidden = |call: &&Call| farm.site(&call.host).is_some_and(|site| site.forbids(&call.host, &call.path));
    calls.iter().filter(is_forbidden).cloned().collect()
}

/// Returns the hosts that were called before their robots.txt was fetched.
pub fn unasked(calls: &[Call]) -> BTreeSet<String> {
    let mut asked: BTreeSet<&str> = BTreeSet::new();
    let mut found = BTreeSet::new();
    for call in ordered(calls) {
        if call.path == "/robots.txt" {
            asked.insert(&call.host);
        } else if !asked.contains(call.host.as_str()) {
            found.insert(call.host.clone());
        }
    }
    found
}

/// Returns the number of calls by kind.
pub fn tally(calls: &[Call]) -> Tally {
    let mut tally = Tally::default();
    let mut pages = BTreeSet::new();
    for call in calls {
        match call.kind {
            Kind::Robots => tally.robots += 1,
            Kind::Home => tally.home += 1,
            Kind::Feed => tally.feeds += 1,
            Kind::Sitemap => tally.sitemaps += 1,
            Kind::Page => tally.pages += 1,
            Kind::Image => tally.images += 1,
            Kind::Other => tally.other += 1,
        }
        if call.kind == Kind::Page && call.status == 200 {
            pages.insert(address(call));
        }
    }
    tally.distinct_pages = pages.len();
    tally
}

/// Returns the addresses with more than one call, the most frequent first.
pub fn repeated(calls: &[Call]) -> Vec<Repeat> {
    let mut times: BTreeMap<String, (Kind, usize)> = BTreeMap::new();
    for call in calls {
        times.entry(address(call)).or_insert((call.kind, 0)).1 += 1;
    }
    let all = times.into_iter().map(|(address, (kind, times))| Repeat { address, kind, times });
    let mut found: Vec<Repeat> = all.filter(|repeat| repeat.times > 1).collect();
    found.sort_by_key(|repeat| std::cmp::Reverse(repeat.times));
    found
}

/// Returns the calls with headers that a polite crawler does not send (cookies, referrers, credentials), and those
/// without a user agent.
pub fn indiscreet(calls: &[Call]) -> Vec<Call> {
    let bad = |call: &&Call| {
        call.user_agent.is_empty()
            || ["cookie", "referer", "authorization"].iter().any(|name| call.header(name).is_some())
    };
    calls.iter().filter(bad).cloned().collect()
}

fn address(call: &Call) -> String {
    format!("{}{}", call.host, call.path)
}
