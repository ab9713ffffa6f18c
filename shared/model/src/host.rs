//! What is remembered of a host key between two visits: one small item, swapped as a whole.

use crate::{Millis, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The state of one host key. At most about 1 KB when serialised.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostState {
    /// Who may call this host key at present.
    pub lease: Option<Lease>,
    /// Grows by one with every lease, so that a late holder can be told from the present one.
    pub last_token: u64,
    /// No call before this instant.
    pub not_before: Timestamp,
    /// What is left of the burst allowance; `None` while it was never used.
    pub bucket: Option<TokenBucket>,
    /// Calls that failed in a row (network trouble, 5xx, 403, 429).
    pub failures: u32,
    /// Whether ordinary calls are let through.
    pub circuit: Circuit,
    /// The host key is left alone until a time.
    pub hold: Option<Hold>,
    /// How many holds came one after another; each doubles the next.
    pub holds_in_a_row: u32,
    /// Time spent on this host key in the present visit window.
    pub window: Window,
    /// Host names below this key that an operator or owner has blocked; the key itself blocks all.
    pub blocked: BTreeSet<String>,
    /// How long the host's last response took.
    pub last_response: Millis,
    /// Crawl-delay of the robots.txt read last, already within its cap.
    pub crawl_delay: Millis,
}

impl HostState {
    /// Whether calls to `host` are blocked: it, or a name that it is below, is on the list.
    pub fn is_blocked(&self, host: &str) -> bool {
        self.blocked.iter().any(|blocked| is_at_or_below(host, blocked))
    }
}

/// Whether a host name is `name` itself or lies below it. Both are in canonical form: lower case, A-labels.
pub fn is_at_or_below(host: &str, name: &str) -> bool {
    host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
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

/// The state of the circuit breaker of a host key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Circuit {
    /// Calls go through.
    #[default]
    Closed,
    /// The host was in trouble: after the hold one probe call decides.
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
    /// 403 Forbidden.
    Forbidden,
    /// 429 Too Many Requests (RFC 6585 §4).
    TooManyRequests,
    /// Any 5xx.
    ServerError,
    /// DNS, connection, TLS or time-out.
    Network,
    /// Nothing was found at the address that discovery was given.
    NotFound,
    /// Repeated answers that break limits: bombs, endless bodies.
    Hostile,
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
            HoldReason::WindowSpent => "window_spent",
        }
    }
}

/// How long one host key has been visited in the present window.
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
    fn a_full_state_stays_below_a_kilobyte() {
        let state = HostState {
            lease: Some(Lease { owner: "fetch-0123456789abcdef".into(), until: Timestamp::MAX, token: u64::MAX }),
            hold: Some(Hold { until: Timestamp::MAX, reason: HoldReason::TooManyRequests, since: Timestamp::MAX }),
            bucket: Some(TokenBucket { milli_tokens: u64::MAX, at: Timestamp::MAX }),
            blocked: ["example.org".to_owned()].into(),
            ..HostState::default()
        };
        assert!(serde_json::to_vec(&state).is_ok_and(|bytes| bytes.len() < 1024));
    }
}
