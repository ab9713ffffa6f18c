//! The state of a host key between two visits: one small item, swapped as a whole.

use crate::ids::PageId;
use crate::time::{Millis, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The state of one host key. At most about 1 KB when serialised.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostState {
    /// The lease of the visit that may call this host key.
    pub lease: Option<Lease>,
    /// Grows by one with every lease, so that a late holder can be told from the present one.
    pub last_token: u64,
    /// No call before this instant.
    pub not_before: Timestamp,
    /// Rest of the burst allowance; `None` while it was never used.
    pub bucket: Option<TokenBucket>,
    /// Calls in a row that did not reach the server.
    pub failures: u32,
    /// URLs that are held since their last call was refused or failed, the oldest first; several of them hold the host key.
    #[serde(rename = "troubles", skip_serializing_if = "Vec::is_empty")]
    pub url_holds: Vec<UrlHold>,
    /// State of the circuit breaker.
    pub circuit: Circuit,
    /// The host key is left alone until a time.
    pub hold: Option<Hold>,
    /// Number of holds in a row; each doubles the next.
    pub holds_in_a_row: u32,
    /// Time spent on this host key in the present visit window.
    pub window: Window,
    /// Host names below this key that an operator or owner has blocked; the key itself blocks all.
    pub blocked: BTreeSet<String>,
    /// Duration of the host's last response.
    pub last_response: Millis,
    /// Crawl-delay of the robots.txt read last, already within its cap.
    pub crawl_delay: Millis,
    /// Pages that were sent to extraction lately, where that is remembered here and not in rows of their own.
    #[serde(skip_serializing_if = "SentPages::is_empty")]
    pub sent: SentPages,
    /// Texts that stood in place of pages lately.
    #[serde(skip_serializing_if = "Substitutes::is_empty")]
    pub substitutes: Substitutes,
}

impl HostState {
    /// True if calls to `host` are blocked: it, or a name that it is below, is on the list.
    pub fn is_blocked(&self, host: &str) -> bool {
        self.blocked.iter().any(|blocked| is_at_or_below(host, blocked))
    }
}

/// True if a host name is `name` itself or lies below it. Both are in canonical form: lower case, A-labels.
pub fn is_at_or_below(host: &str, name: &str) -> bool {
    host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// The pages of a host key that were sent to extraction last, in the order in which they were. Each is known by the first
/// [`SentPages::DIGITS`] digits of its id, so that dozens fit into the state: of 2^40 pages, one is taken for another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SentPages(String);

impl SentPages {
    /// Hexadecimal digits that are kept of an id.
    pub const DIGITS: usize = 10;

    /// True if none is remembered.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if this page is among them.
    pub fn contains(&self, page: &PageId) -> bool {
        let wanted = Self::digits(page);
        self.0.as_bytes().chunks(Self::DIGITS).any(|digits| digits == wanted.as_bytes())
    }

    /// Adds a page as the last one; of more than `most` the first ones are forgotten.
    pub fn add(&mut self, page: &PageId, most: usize) {
        self.0.push_str(Self::digits(page));
        let above = self.0.len().saturating_sub(most.saturating_mul(Self::DIGITS));
        self.0.drain(..above);
    }

    fn digits(page: &PageId) -> &str {
        page.as_str().get(..Self::DIGITS).unwrap_or_default()
    }
}

/// Texts that pages of a host key showed lately in place of their own, since a page last showed its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Substitutes {
    /// A few, the one seen last at the end.
    #[serde(rename = "t", skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<Substitute>,
    /// Number of holds in a row that were laid down for one of them.
    #[serde(rename = "n")]
    pub holds: u32,
}

impl Substitutes {
    /// True if none is remembered.
    pub fn is_empty(&self) -> bool {
        *self == Substitutes::default()
    }
}

/// A text that stood in place of pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Substitute {
    /// A short hash of the text.
    #[serde(rename = "h")]
    pub text: u32,
    /// Short hashes of the pages that showed it; a few are enough.
    #[serde(rename = "p")]
    pub pages: Vec<u32>,
}

/// The right to call a host key, held by one visit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Names the visit, for people who read the state.
    pub owner: String,
    /// No call of this lease may end after this instant.
    pub until: Timestamp,
    /// Equal to [`HostState::last_token`] while this lease is the newest.
    pub token: u64,
}

/// Calls that may be made at once before the refill rate rules; in thousandths of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenBucket {
    /// Thousandths of a call that are left.
    pub milli_tokens: u64,
    /// When that was counted.
    pub at: Timestamp,
}

/// A URL whose last answer was a refusal or a failure, and which is left alone for a while. It says little about its host
/// as long as it is the only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlHold {
    /// A short hash of the URL.
    #[serde(rename = "u")]
    pub url: u32,
    /// Why it is held.
    #[serde(rename = "w")]
    pub what: HoldReason,
    /// Until when the URL is left alone, and counts against its host.
    #[serde(rename = "t")]
    pub until: Timestamp,
    /// Number of holds in a row before this one; each doubles the next.
    #[serde(rename = "n", default)]
    pub before: u32,
}

/// The state of the circuit breaker of a host key. It is open while a hold is in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Circuit {
    /// Calls go through.
    #[default]
    Closed,
    /// The host was in trouble. Once the hold is over, one call decides: it closes the circuit, or opens it again for
    /// twice as long.
    Probe,
}

/// A host key is left alone until a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// No call before this instant.
    pub until: Timestamp,
    /// Why.
    pub reason: HoldReason,
    /// When it was laid down.
    pub since: Timestamp,
}

/// Why a host key is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldReason {
    /// 403 Forbidden, 402 Payment Required, or 451 Unavailable For Legal Reasons.
    Forbidden,
    /// 429 Too Many Requests (RFC 6585 §4).
    TooManyRequests,
    /// Any 5xx.
    ServerError,
    /// DNS, connection, TLS, answers that do not come or are cut short.
    Network,
    /// Nothing was found at the address that discovery was given.
    NotFound,
    /// Repeated answers that break limits: bombs, endless bodies.
    Hostile,
    /// One text stands in place of all pages: a bot wall, a challenge, a login.
    Interstitial,
    /// The hour for one visit window is used up.
    WindowSpent,
}

impl HoldReason {
    /// The word that summaries and lists use.
    pub const fn as_str(self) -> &'static str {
        match self {
            HoldReason::Forbidden => "forbidden",
            HoldReason::TooManyRequests => "too_many_requests",
            HoldReason::ServerError => "server_error",
            HoldReason::Network => "network",
            HoldReason::NotFound => "not_found",
            HoldReason::Hostile => "hostile",
            HoldReason::Interstitial => "interstitial",
            HoldReason::WindowSpent => "window_spent",
        }
    }
}

/// Time spent on visits to a host key in the present window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// When the window began.
    pub began: Timestamp,
    /// Time under lease since then.
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
        assert!(sent.is_empty() && !sent.contains(&page(0)));
        (0..5).for_each(|n| sent.add(&page(n), 3));
        assert_eq!(
            (0..6).map(|n| sent.contains(&page(n))).collect::<Vec<_>>(),
            [false, false, true, true, true, false]
        );
        // Digits of two neighbours do not make a third one.
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
        // A host either sends pages on or is in trouble; hardly ever much of both at once.
        let busy = HostState { sent: SentPages("0123456789".repeat(24)), ..state.clone() };
        let text = Substitute { text: u32::MAX, pages: vec![u32::MAX; 3] };
        let substitutes = Substitutes { texts: vec![text; 3], holds: 9 };
        let walled = HostState { substitutes, ..state.clone() };
        let held = UrlHold { url: u32::MAX, what: HoldReason::ServerError, until: Timestamp::MAX, before: 9 };
        for state in [busy, walled, HostState { url_holds: vec![held; 5], ..state }] {
            let bytes = serde_json::to_vec(&state).expect("it is written").len();
            assert!(bytes < 1024, "{bytes}");
        }
    }
}
