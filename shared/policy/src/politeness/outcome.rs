//! The effect of an answer on the next call: the pause, holds, the circuit.
//!
//! 429, 503, an unreachable server and the mark of a bot wall put the host key on hold. 202, 402, 403, 451, other 5xx,
//! and answers that are cut short or break limits hold only their URL, until several URLs give such answers; a refusal
//! or server error also lets the host key rest for [`VISIT_REST`]. robots.txt has separate rules ([`crate::robots`]). A
//! refused image never holds its host key: some sites serve images only to their own pages.

use crate::address::hash32;
use crate::chance::{between, mix};
use crate::politeness::{hold_length, interstitial::hold_interstitial, longer, pace};
use crate::rules::{
    BROKEN_LIMIT, CIRCUIT_FAILURES, CUT_LIMIT, FORBIDDEN_LIMIT, MAX_URL_HOLDS, NETWORK_BACKOFF, Rules,
    SERVER_ERROR_LIMIT, VISIT_REST,
};
use curlew_model::{Circuit, Hold, HoldReason, HostState, Millis, Timestamp, UrlHold};

const BACKOFF_GROWS: u64 = 4;

/// The target of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallTarget {
    /// A short hash of the URL.
    pub url: u32,
    /// Role of the call.
    pub role: Role,
}

/// Role of a URL in the crawl, which affects the meaning of its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A page, a home page or a feed.
    Document,
    /// A robots.txt, which is often served even when all else fails, so its success clears no hold.
    Robots,
    /// An image.
    Image,
    /// A WebSub hub.
    Hub,
    /// A webhook receiver, which asked for the call; its answer says nothing about the pages of its host.
    Receiver,
}

impl CallTarget {
    /// Returns the target for a call to a URL.
    pub fn new(url: &str, role: Role) -> CallTarget {
        CallTarget { url: hash32(url.bytes()), role }
    }

    fn is_robots(self) -> bool {
        self.role == Role::Robots
    }
}

/// Outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The server answered.
    Answered {
        /// The status code.
        status: u16,
        /// The instant that Retry-After names, if it names one.
        retry_after: Option<Timestamp>,
    },
    /// An answer with the mark of a bot wall, of this vendor.
    Challenge(&'static str),
    /// The server was not reached: DNS, connection, TLS.
    Network,
    /// The server was not reached because our own network is down.
    Outage,
    /// The server was reached, but no answer came in time, or it was cut short.
    Cut,
    /// The answer broke a limit or was not HTTP.
    Broken,
    /// The call is repeated after its pause: signed, or over a new connection since the old one was closed as idle.
    Repeated,
    /// Any answer of a webhook receiver.
    OfReceiver,
}

enum HoldScope {
    /// A hold on the host key.
    Host(HoldReason),
    /// A hold on the URL, and on the host key after this number of URLs.
    Url(HoldReason, u32),
}

impl Outcome {
    /// Returns the outcome for a URL of this role. For a robots.txt, 402 and 451 mean that there is none (RFC 9309
    /// §2.3.1.3), and 202 is a challenge; a hub's 202 is its consent (WebSub §5.2).
    #[must_use]
    pub fn of(self, role: Role) -> Outcome {
        match (self, role) {
            (Outcome::Outage, _) => Outcome::Outage,
            (_, Role::Receiver) => Outcome::OfReceiver,
            (Outcome::Answered { status: 202, .. }, Role::Robots) => Outcome::Challenge(""),
            (Outcome::Answered { status: 402 | 451, retry_after }, Role::Robots)
            | (Outcome::Answered { status: 202, retry_after }, Role::Hub) => {
                Outcome::Answered { status: 404, retry_after }
            }
            (other, _) => other,
        }
    }

    fn scope(self) -> Option<HoldScope> {
        match self {
            Outcome::Answered { status: 429, .. } => Some(HoldScope::Host(HoldReason::TooManyRequests)),
            // RFC 9110 §15.6.4: the server as a whole is unable to handle requests.
            Outcome::Answered { status: 503, .. } => Some(HoldScope::Host(HoldReason::ServerError)),
            Outcome::Answered { status, .. } if is_refusal(status) => {
                Some(HoldScope::Url(HoldReason::Forbidden, FORBIDDEN_LIMIT))
            }
            Outcome::Answered { status: 500.., .. } => {
                Some(HoldScope::Url(HoldReason::ServerError, SERVER_ERROR_LIMIT))
            }
            Outcome::Cut => Some(HoldScope::Url(HoldReason::Network, CUT_LIMIT)),
            Outcome::Broken => Some(HoldScope::Url(HoldReason::Hostile, BROKEN_LIMIT)),
            Outcome::Answered { .. }
            | Outcome::Challenge(_)
            | Outcome::Network
            | Outcome::Outage
            | Outcome::Repeated
            | Outcome::OfReceiver => None,
        }
    }

    fn asked(self, rules: &Rules, now: Timestamp) -> Millis {
        match self {
            Outcome::Answered { retry_after: Some(at), .. } => at.since(now).min(rules.retry_after_cap),
            _ => Millis::ZERO,
        }
    }

    fn hold_length(self, reason: HoldReason, in_a_row: u32, rules: &Rules, now: Timestamp, seed: u64) -> Millis {
        hold_length(base(rules, reason), self.asked(rules, now), in_a_row, rules, seed)
    }
}

/// Returns the state after a call that took `took` and ended at `now`.
pub fn record_outcome(
    mut state: HostState,
    rules: &Rules,
    asked: CallTarget,
    outcome: Outcome,
    took: Millis,
    now: Timestamp,
    seed: u64,
) -> HostState {
    state.bucket = Some(pace::spend(state.bucket, rules, now));
    if outcome != Outcome::Outage {
        state.last_response = took;
    }
    state.not_before = state.not_before.max(now + pace::pause(&state, rules, seed));
    let length = |reason, in_a_row| outcome.hold_length(reason, in_a_row, rules, now, seed);
    match (outcome.scope(), outcome) {
        (Some(HoldScope::Host(reason)), _) => {
            let length = length(reason, state.holds_in_a_row);
            hold(state, reason, length, now)
        }
        (Some(HoldScope::Url(reason, limit)), _) => {
            // The server answered, so the network works.
            state.failures = 0;
            remember(&mut state, asked.url, reason, now, |in_a_row| length(reason, in_a_row));
            let urls = state.url_holds.iter().filter(|held| held.what == reason && held.until > now).count();
            let is_host = state.circuit == Circuit::Probe || urls >= limit as usize;
            let is_image = asked.role == Role::Image && reason == HoldReason::Forbidden;
            if is_host && !is_image {
                let length = length(reason, state.holds_in_a_row);
                return hold(state, reason, length, now);
            }
            let rests = matches!(reason, HoldReason::Forbidden | HoldReason::ServerError) && !asked.is_robots();
            let rest = rests.then(|| Hold { until: now + VISIT_REST, reason: HoldReason::Rest, since: now });
            HostState { hold: longer(state.hold.take(), rest), ..state }
        }
        (None, Outcome::Challenge(vendor)) => hold_interstitial(state, vendor, rules, now, seed),
        (None, Outcome::Network) => unreached(state, rules, now, seed),
        (None, Outcome::Outage | Outcome::Repeated | Outcome::OfReceiver) => state,
        (None, _) => {
            // RFC 9110 §10.2.3 also defines Retry-After for redirects.
            if matches!(outcome, Outcome::Answered { status: 300..=399, .. }) {
                state.not_before = state.not_before.max(now + outcome.asked(rules, now));
            }
            answered_well(state, asked)
        }
    }
}

/// Applies a call that did not reach the host: a short wait at first, a hold after too many failures.
fn unreached(mut state: HostState, rules: &Rules, now: Timestamp, seed: u64) -> HostState {
    state.failures = state.failures.saturating_add(1);
    if state.circuit == Circuit::Probe || state.failures >= CIRCUIT_FAILURES {
        let length = Outcome::Network.hold_length(HoldReason::Network, state.holds_in_a_row, rules, now, seed);
        return hold(state, HoldReason::Network, length, now);
    }
    let wait = NETWORK_BACKOFF.saturating_mul(BACKOFF_GROWS.saturating_pow(state.failures - 1));
    let wait = wait + Millis(between(mix(seed), 0, wait.0 / 10));
    state.not_before = state.not_before.max(now + wait.min(rules.hold_network));
    state
}

/// Clears the holds that a good answer contradicts. 403 and 5xx holds of other URLs stay.
fn answered_well(mut state: HostState, asked: CallTarget) -> HostState {
    state.url_holds.retain(|held| {
        let is_refusal = matches!(held.what, HoldReason::Forbidden | HoldReason::ServerError);
        held.url != asked.url && (is_refusal || asked.is_robots())
    });
    // Any answer proves that a host is reachable; a host that refused pages must answer more than its robots.txt.
    if !asked.is_robots() || state.failures > 0 {
        state.circuit = Circuit::Closed;
        state.holds_in_a_row = 0;
    }
    state.failures = 0;
    state
}

fn remember(state: &mut HostState, url: u32, what: HoldReason, now: Timestamp, length: impl Fn(u32) -> Millis) {
    let known = state.url_holds.iter().position(|held| held.url == url).map(|n| state.url_holds.remove(n));
    let before = known.map_or(0, |held| held.before.saturating_add(1));
    let until = now + length(before);
    if state.url_holds.len() >= MAX_URL_HOLDS {
        let over = state.url_holds.iter().position(|held| held.until <= now).unwrap_or(0);
        state.url_holds.remove(over);
    }
    state.url_holds.push(UrlHold { url, what, until, before });
}

/// True if a status refuses a page as 403 does: 402, 451 (RFC 9110 §15.5.3, RFC 7725 §3), and 202 of challenges.
pub const fn is_refusal(status: u16) -> bool {
    matches!(status, 202 | 402 | 403 | 451)
}

/// Returns until when a URL is on hold, if it is. A robots.txt never is; it has separate rules for retries.
pub fn url_held(state: &HostState, asked: CallTarget, now: Timestamp) -> Option<Timestamp> {
    let held = state.url_holds.iter().find(|held| held.url == asked.url && held.until > now);
    held.filter(|_| !asked.is_robots()).map(|held| held.until)
}

fn hold(mut state: HostState, reason: HoldReason, length: Millis, now: Timestamp) -> HostState {
    state.circuit = Circuit::Probe;
    state.holds_in_a_row = state.holds_in_a_row.saturating_add(1);
    let hold = Hold { until: now + length, reason, since: now };
    // URL holds that end before the host's hold have been counted and are dropped: one probe decides. Broken URLs wait
    // an hour longer, so that the probe is for another URL; otherwise three permanently broken pages would block a
    // working feed.
    let after_others = hold.until + VISIT_REST;
    for held in &mut state.url_holds {
        if matches!(held.what, HoldReason::Network | HoldReason::Hostile) {
            held.until = held.until.max(after_others);
        }
    }
    state.url_holds.retain(|held| held.until > hold.until);
    state.hold = longer(state.hold, Some(hold));
    state
}

fn base(rules: &Rules, reason: HoldReason) -> Millis {
    match reason {
        HoldReason::Forbidden | HoldReason::TooManyRequests | HoldReason::Interstitial => rules.hold_refused,
        HoldReason::ServerError => rules.hold_server_error,
        HoldReason::Network => rules.hold_network,
        HoldReason::Hostile => rules.hold_hostile,
        HoldReason::NotFound => rules.hold_not_found,
        HoldReason::WindowSpent | HoldReason::Operator => rules.window,
        HoldReason::Rest => VISIT_REST,
    }
}

/// Returns until when a URL is on hold for an answer about the URL or its whole host, after `in_a_row` deferrals.
pub fn url_held_until(rules: &Rules, outcome: Outcome, in_a_row: u32, now: Timestamp, seed: u64) -> Option<Timestamp> {
    let (HoldScope::Host(reason) | HoldScope::Url(reason, _)) = outcome.scope()?;
    Some(now + outcome.hold_length(reason, in_a_row, rules, now, seed))
}

/// Puts a host key on hold because the home page of its site does not exist.
pub fn hold_not_found(mut state: HostState, rules: &Rules, now: Timestamp, seed: u64) -> HostState {
    let length = hold_length(rules.hold_not_found, Millis::ZERO, 0, rules, seed);
    state.hold = longer(state.hold, Some(Hold { until: now + length, reason: HoldReason::NotFound, since: now }));
    state
}

#[cfg(test)]
mod tests;
