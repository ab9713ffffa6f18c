//! State of a host key between visits: one small item, replaced as a whole by compare-and-swap.

use crate::{Millis, PageId, Taken, Timestamp, polling::is_default, words};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// State of one host key. About 1 KB at most when serialized.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[must_use]
pub struct HostState {
    /// Lease of the visit that may currently call the host key.
    pub lease: Option<Lease>,
    /// Number of the newest lease; distinguishes a late holder from the current one.
    pub last_token: u64,
    /// Instant before which no call is allowed.
    pub not_before: Timestamp,
    /// Remaining burst allowance; `None` if it was never used.
    pub bucket: Option<TokenBucket>,
    /// Number of consecutive calls that did not reach the server.
    pub failures: u32,
    /// URLs on hold after a refusal or a failure, oldest first. Several of them put the host key on hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub url_holds: Vec<UrlHold>,
    /// State of the circuit breaker.
    pub circuit: Circuit,
    /// Hold on calls to the host key.
    pub hold: Option<Hold>,
    /// End of the operator's hold. It is separate from `hold`, so that either can be lifted without the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_alone_until: Option<Timestamp>,
    /// Number of consecutive holds; each doubles the next.
    pub holds_in_a_row: u32,
    /// Time spent on the host key in recent parts of the visit window, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub visited: Vec<WindowPart>,
    /// Host names below this key that an operator or owner has blocked. The key itself blocks all its hosts.
    pub blocked: BTreeSet<String>,
    /// Duration of the host's last response.
    pub last_response: Millis,
    /// Crawl-delay in the robots.txt read last, already capped.
    pub crawl_delay: Millis,
    /// Pages recently sent to extraction that are remembered here instead of in their own rows.
    #[serde(skip_serializing_if = "is_default")]
    pub sent: SentPages,
    /// Texts recently served in place of pages.
    #[serde(skip_serializing_if = "is_default")]
    pub substitutes: Substitutes,
    /// Last look at a home page, which shows whether other pages were replaced by the home page's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home_look: Option<HomeLook>,
    /// True if the host refused a request and asked for signed ones (`Accept-Signature`, RFC 9421 §5.1).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub signs: bool,
    /// Chain of redirects whose next call has to wait for another visit, because the pause is too long for this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_redirect: Option<PendingRedirect>,
    /// True if pages of the host key were imported. Rows of its pages then exist even if it was never called.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_imports: bool,
    /// Number of back catalogue pages and documents granted on one day.
    #[serde(skip_serializing_if = "is_default")]
    pub backfilled: Taken,
    /// robots.txt files that were found unchanged.
    #[serde(skip_serializing_if = "is_default")]
    pub robots: RobotsNotes,
    /// Feeds polled within the minimum interval, if their own rows do not record the poll.
    #[serde(skip_serializing_if = "is_default")]
    pub polled: PollNotes,
}

impl HostState {
    /// True if calls to `host` are blocked: `blocked` contains the host or a parent domain.
    pub fn is_blocked(&self, host: &str) -> bool {
        self.blocked.iter().any(|blocked| is_at_or_below(host, blocked))
    }

    /// Returns the hold in force: the one caused by answers or the operator's, whichever ends later.
    pub fn hold_at(&self, now: Timestamp) -> Option<Hold> {
        let own = self.left_alone_until.map(|until| Hold { until, reason: HoldReason::Operator, since: now });
        let holds = self.hold.clone().into_iter().chain(own);
        holds.filter(|hold| hold.until > now).max_by_key(|hold| hold.until)
    }
}

/// True if a host name equals `name` or is a subdomain of it. Both are in canonical form: lower case, A-labels.
pub fn is_at_or_below(host: &str, name: &str) -> bool {
    host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// The pages most recently sent to extraction, oldest first. Only the first [`SentPages::DIGITS`] digits of an id are
/// kept, so that dozens fit into the state. Two ids collide with a probability of 2^-40.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SentPages(String);

impl SentPages {
    /// Number of hexadecimal digits kept per id.
    pub const DIGITS: usize = 10;

    /// True if the list contains the page.
    pub fn contains(&self, page: &PageId) -> bool {
        let wanted = Self::digits(page);
        self.0.as_bytes().chunks(Self::DIGITS).any(|digits| digits == wanted.as_bytes())
    }

    /// Appends a page, and drops the oldest pages beyond `most`.
    pub fn add(&mut self, page: &PageId, most: usize) {
        self.0.push_str(Self::digits(page));
        let above = self.0.len().saturating_sub(most.saturating_mul(Self::DIGITS));
        self.0.drain(..above);
    }

    fn digits(page: &PageId) -> &str {
        page.as_str().get(..Self::DIGITS).unwrap_or_default()
    }
}

/// Minutes since 1970 at which robots.txt files equalled their stored copies, keyed by a hash of the origin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RobotsNotes(pub BTreeMap<u64, i64>);

/// Instants by which the last calls of feeds had ended, keyed by a hash of the feed's key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PollNotes(pub BTreeMap<u64, Timestamp>);

/// Texts that pages of a host key have shown in place of their own content since a page last showed its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Substitutes {
    /// A few texts, most recent last.
    #[serde(rename = "t", skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<Substitute>,
    /// Number of consecutive holds that such a text caused.
    #[serde(rename = "n")]
    pub holds: u32,
    /// Start of the first of these holds.
    #[serde(rename = "s", skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Vendor of the interstitial, if it contains a known vendor's mark.
    #[serde(rename = "v", skip_serializing_if = "String::is_empty")]
    pub vendor: String,
    /// Short hashes of a few pages that recently showed their own text with a `noindex`.
    #[serde(rename = "x", skip_serializing_if = "Vec::is_empty")]
    pub noindexed: Vec<u32>,
}

/// Result of fetching a home page for comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HomeLook {
    /// Short hash of the home page's URL.
    #[serde(rename = "u")]
    pub url: u32,
    /// Short hash of its text, if it had one.
    #[serde(rename = "h")]
    pub text: Option<u32>,
    /// Time of the fetch.
    #[serde(rename = "t")]
    pub at: Timestamp,
}

/// A chain of redirects that one visit has begun and another continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingRedirect {
    /// Short hash of the URL at the start of the chain.
    #[serde(rename = "u")]
    pub url: u32,
    /// Targets of the redirects, hop by hop; the last one has not been called yet.
    #[serde(rename = "h")]
    pub targets: Vec<String>,
    /// True if all redirects so far were permanent.
    #[serde(rename = "p")]
    pub is_permanent: bool,
    /// Instant after which the chain is forgotten.
    #[serde(rename = "t")]
    pub until: Timestamp,
}

/// A text shown in place of the content of pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Substitute {
    /// Short hash of the text.
    #[serde(rename = "h")]
    pub text: u32,
    /// Short hashes of a few pages that showed it.
    #[serde(rename = "p")]
    pub pages: Vec<u32>,
}

/// The right to call a host key, held by one visit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Name of the visit, for people who read the state.
    pub owner: String,
    /// Instant at which every call of this lease must have ended.
    pub until: Timestamp,
    /// Number of the lease; equal to [`HostState::last_token`] while it is the newest.
    pub token: u64,
}

/// Burst allowance: calls that may be made at once before the refill rate applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenBucket {
    /// Remaining tokens, in thousandths of a call.
    pub milli_tokens: u64,
    /// Time at which the tokens were counted.
    pub at: Timestamp,
}

/// A hold on one URL, whose last answer was a refusal or a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlHold {
    /// Short hash of the URL.
    #[serde(rename = "u")]
    pub url: u32,
    /// Reason for the hold.
    #[serde(rename = "w")]
    pub what: HoldReason,
    /// Instant until which the URL is not called and counts against its host.
    #[serde(rename = "t")]
    pub until: Timestamp,
    /// Number of consecutive holds before this one; each doubles the next.
    #[serde(rename = "n", default)]
    pub before: u32,
}

/// State of the circuit breaker of a host key. It is open while a hold is in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Circuit {
    /// Calls are allowed.
    #[default]
    Closed,
    /// The host failed: one call after the hold closes the circuit, or opens it again for twice as long.
    Probe,
}

/// A suspension of calls to a host key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Instant before which no call is allowed.
    pub until: Timestamp,
    /// Reason for the hold.
    pub reason: HoldReason,
    /// Time at which the hold began.
    pub since: Timestamp,
}

words! {
    /// Reason for a hold on a host key.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum HoldReason {
        /// 403 Forbidden, 402 Payment Required, or 451 Unavailable For Legal Reasons.
        Forbidden = "forbidden",
        /// 429 Too Many Requests (RFC 6585 §4).
        TooManyRequests = "too_many_requests",
        /// Any 5xx.
        ServerError = "server_error",
        /// Failures of DNS, connection or TLS, and missing or truncated answers.
        Network = "network",
        /// The address given to discovery does not exist.
        NotFound = "not_found",
        /// Repeated answers over a limit: decompression bombs, endless bodies.
        Hostile = "hostile",
        /// All pages show the same text, or an answer carries the mark of a bot wall: a challenge or a login.
        Interstitial = "interstitial",
        /// The hour of visits that one visit window allows is used up.
        WindowSpent = "window_spent",
        /// The operator has suspended calls for a while.
        Operator = "operator",
        /// A single URL was refused or had a server error, which is no evidence against the host.
        Rest = "rest",
    }
}

/// Time spent on visits to a host key during one part of the visit window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowPart {
    /// Start of the part.
    #[serde(rename = "t")]
    pub began: Timestamp,
    /// Time spent under leases that end in this part.
    #[serde(rename = "s")]
    pub spent: Millis,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_covers_the_name_and_what_is_below_it() {
        let state = HostState { blocked: ["blog.example.org".to_owned()].into(), ..HostState::default() };
        assert!(state.is_blocked("blog.example.org"));
        assert!(state.is_blocked("old.blog.example.org"));
        assert!(!state.is_blocked("example.org"));
        assert!(!state.is_blocked("myblog.example.org"));
    }

    #[test]
    fn of_the_pages_sent_on_the_last_ones_are_remembered() {
        let page = |n: u32| PageId::new(&format!("{n:010x}{n:022x}")).expect("an id");
        let mut sent = SentPages::default();
        assert!(!sent.contains(&page(0)));
        (0..5).for_each(|n| sent.add(&page(n), 3));
        assert_eq!(
            (0..6).map(|n| sent.contains(&page(n))).collect::<Vec<_>>(),
            [false, false, true, true, true, false]
        );
        // The concatenated digits of two adjacent ids must not match a third id.
        let (left, right) = ("ffffff0000", "1111aaaaaa");
        let id = |digits: &str| PageId::new(&format!("{digits}{:022x}", 0)).expect("an id");
        let mut sent = SentPages::default();
        sent.add(&id(left), 2);
        sent.add(&id(right), 2);
        assert!(!sent.contains(&id("00001111aa")) && sent.contains(&id(left)) && sent.contains(&id(right)));
        let state = HostState { sent, ..HostState::default() };
        let written = serde_json::to_string(&state).expect("it is written");
        assert_eq!(serde_json::from_str::<HostState>(&written).expect("it is read"), state);
    }

    #[test]
    fn a_full_state_stays_below_a_kilobyte() {
        let state = HostState {
            lease: Some(Lease { owner: "fetch-0123456789abcdef".into(), until: Timestamp::MAX, token: u64::MAX }),
            hold: Some(Hold { until: Timestamp::MAX, reason: HoldReason::TooManyRequests, since: Timestamp::MAX }),
            bucket: Some(TokenBucket { milli_tokens: u64::MAX, at: Timestamp::MAX }),
            blocked: ["example.org".to_owned()].into(),
            ..HostState::default()
        };
        // A host either sends pages to extraction or fails, and rarely does much of both at once.
        let busy = HostState { sent: SentPages("0123456789".repeat(24)), ..state.clone() };
        let text = Substitute { text: u32::MAX, pages: vec![u32::MAX; 3] };
        let (since, vendor) = (Some(Timestamp::MAX), "ParkingCrew".to_owned());
        let substitutes = Substitutes { texts: vec![text; 3], holds: 9, since, vendor, noindexed: vec![] };
        let walled = HostState { substitutes, ..state.clone() };
        let held = UrlHold { url: u32::MAX, what: HoldReason::ServerError, until: Timestamp::MAX, before: 9 };
        for state in [busy, walled, HostState { url_holds: vec![held; 5], ..state }] {
            let bytes = serde_json::to_vec(&state).expect("it is written").len();
            assert!(bytes < 1024, "{bytes}");
        }
    }
}
