//! Who may call a host key, and what its answers mean for the next call.
//!
//! `admit` before the first call of a visit, `settle` after each call, `close` at the end; `block` and
//! `unblock` for operators and owners. All of them map a state to the next one and nothing else.

use crate::Rules;
use crate::chance::{between, mix};
use crate::pace;
use curlew_model::{Circuit, Hold, HoldReason, HostKey, HostState, Lease, Millis, Timestamp, Window};

/// What a visit that asks for a host key is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It may call, from [`HostState::not_before`] on, until the lease ends.
    Granted(Lease),
    /// Another visit holds the lease, or the next call is too far away to wait for.
    Busy {
        /// When to ask again.
        until: Timestamp,
    },
    /// The host key is left alone.
    Held {
        /// Until when.
        until: Timestamp,
        /// Why.
        reason: HoldReason,
    },
    /// The whole host key is blocked.
    Blocked,
}

/// What a call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The server answered.
    Answered {
        /// The status code.
        status: u16,
        /// The instant that Retry-After names, if it names one.
        retry_after: Option<Timestamp>,
    },
    /// DNS, connection, TLS, time-out, or an answer cut short.
    Network,
    /// The answer broke a limit or was no HTTP.
    Broken,
}

/// Asks for the right to call a host key.
pub fn admit(
    mut state: HostState,
    host: &HostKey,
    rules: &Rules,
    owner: &str,
    now: Timestamp,
    seed: u64,
) -> (HostState, Admission) {
    if state.is_blocked(host.as_str()) {
        return (state, Admission::Blocked);
    }
    if let Some(hold) = &state.hold {
        if hold.until > now {
            let answer = Admission::Held { until: hold.until, reason: hold.reason };
            return (state, answer);
        }
        state.hold = None;
    }
    if let Some(lease) = &state.lease {
        if lease.until > now {
            let soon = now + Millis(between(seed, rules.busy_retry.0, rules.busy_retry.0.saturating_mul(3)));
            let until = soon.min(lease.until);
            return (state, Admission::Busy { until });
        }
        state = break_lease(state, rules, now, seed);
    }
    if state.window.began + rules.window <= now {
        state.window = Window { began: now, spent: Millis::ZERO };
    }
    if state.window.spent >= rules.window_limit {
        let until = state.window.began + rules.window;
        return (state, Admission::Held { until, reason: HoldReason::WindowSpent });
    }
    let first_call = pace::next_call_at(&state, rules, now);
    if first_call > now + rules.patience {
        return (state, Admission::Busy { until: first_call });
    }
    state.last_token = state.last_token.saturating_add(1);
    let lease = Lease { owner: owner.to_owned(), until: now + rules.lease_length(), token: state.last_token };
    state.lease = Some(lease.clone());
    (state, Admission::Granted(lease))
}

/// Ends a lease whose holder is known to be dead: nobody knows when it called last, so one full pause
/// passes before the next call.
pub fn break_lease(mut state: HostState, rules: &Rules, now: Timestamp, seed: u64) -> HostState {
    if state.lease.take().is_some() {
        state.not_before = state.not_before.max(now + pace::pause(&state, rules, mix(seed)));
    }
    state
}

/// Takes in what a call came to. `took` is from its start to its end, which was `now`.
pub fn settle(
    mut state: HostState,
    rules: &Rules,
    outcome: Outcome,
    took: Millis,
    now: Timestamp,
    seed: u64,
) -> HostState {
    state.last_response = took;
    state.bucket = Some(pace::spend(state.bucket, rules, now));
    state.not_before = state.not_before.max(now + pace::pause(&state, rules, seed));
    let trouble = match outcome {
        Outcome::Answered { status: 403, .. } => Some((HoldReason::Forbidden, rules.hold_refused)),
        Outcome::Answered { status: 429, .. } => Some((HoldReason::TooManyRequests, rules.hold_refused)),
        Outcome::Answered { status: 500.., .. } => Some((HoldReason::ServerError, rules.hold_server_error)),
        Outcome::Network => Some((HoldReason::Network, rules.hold_network)),
        Outcome::Broken => {
            state.failures = state.failures.saturating_add(1);
            (state.failures >= rules.broken_limit).then_some((HoldReason::Hostile, rules.hold_hostile))
        }
        Outcome::Answered { .. } => {
            state.failures = 0;
            state.holds_in_a_row = 0;
            state.circuit = Circuit::Closed;
            None
        }
    };
    if let Some((reason, base)) = trouble {
        let asked = match outcome {
            Outcome::Answered { retry_after: Some(at), .. } => at.since(now).min(rules.retry_after_cap),
            _ => Millis::ZERO,
        };
        state.failures = state.failures.saturating_add(1);
        state.circuit = Circuit::Probe;
        let length = hold_length(base, asked, state.holds_in_a_row, rules, seed);
        state.holds_in_a_row = state.holds_in_a_row.saturating_add(1);
        state.hold = Some(Hold { until: now + length, reason, since: now });
    }
    state
}

/// Nothing is at the address of a site's home page: the host key is left alone, and nothing is guessed.
pub fn hold_not_found(mut state: HostState, rules: &Rules, now: Timestamp, seed: u64) -> HostState {
    let length = hold_length(rules.hold_not_found, Millis::ZERO, 0, rules, seed);
    state.hold = longer(state.hold, Some(Hold { until: now + length, reason: HoldReason::NotFound, since: now }));
    state
}

/// The base doubled for each hold in a row, or what Retry-After asks if that is longer; up to a tenth
/// longer by chance, so that hosts held together do not return together.
fn hold_length(base: Millis, asked: Millis, in_a_row: u32, rules: &Rules, seed: u64) -> Millis {
    let doubled = base.saturating_mul(1u64 << in_a_row.min(16)).max(asked).min(rules.hold_cap);
    (doubled + Millis(between(mix(seed), 0, doubled.0 / 10))).min(rules.hold_cap)
}

/// The state to write at the end of a visit: what the visit learned, and what others changed meanwhile.
///
/// `latest` is what the ledger holds now, `mine` what the visit made of the state that it was given.
/// If the lease is no longer the visit's own, only what slows things down is carried over.
pub fn close(latest: HostState, mine: HostState, rules: &Rules, token: u64, now: Timestamp) -> HostState {
    let Some(lease) = latest.lease.as_ref().filter(|l| l.token == token) else {
        return HostState {
            not_before: latest.not_before.max(mine.not_before),
            hold: longer(latest.hold.clone(), mine.hold),
            ..latest
        };
    };
    let began = lease.until - rules.lease_length();
    HostState {
        lease: None,
        last_token: latest.last_token,
        blocked: latest.blocked,
        window: Window { began: mine.window.began, spent: mine.window.spent + now.since(began) },
        ..mine
    }
}

fn longer(a: Option<Hold>, b: Option<Hold>) -> Option<Hold> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if a.until >= b.until { a } else { b }),
        (a, b) => a.or(b),
    }
}

/// Adds a host name to the block list of its host key.
pub fn block(mut state: HostState, host: &str) -> HostState {
    state.blocked.insert(host.to_owned());
    state
}

/// Takes a host name off the block list of its host key; says whether it was on it.
pub fn unblock(mut state: HostState, host: &str) -> (HostState, bool) {
    let was = state.blocked.remove(host);
    (state, was)
}

/// Whether waiting for this reason counts against a job. That our own hour on a site is used up is no fault of the
/// site: whatever queues behind it gets its turn.
pub fn counts(reason: HoldReason) -> bool {
    reason != HoldReason::WindowSpent
}

/// Whether a job that was put off so often is given up.
pub fn given_up(deferrals: u32, rules: &Rules) -> bool {
    deferrals >= rules.max_deferrals
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_missing_home_page_rests_the_host_key_for_a_day() {
        let rules = Rules::default();
        let now = Timestamp::from_millis(1_000_000);
        let held = hold_not_found(HostState::default(), &rules, now, 7);
        let hold = held.hold.clone().unwrap_or_else(|| panic!("{held:?}"));
        assert_eq!(hold.reason, HoldReason::NotFound);
        assert!(hold.until >= now + rules.hold_not_found && hold.until <= now + rules.hold_not_found.saturating_mul(2));
        let longer = Hold { until: now + Millis::from_days(3), reason: HoldReason::Forbidden, since: now };
        let state = HostState { hold: Some(longer.clone()), ..HostState::default() };
        assert_eq!(hold_not_found(state, &rules, now, 7).hold, Some(longer));
    }

    fn host() -> HostKey {
        HostKey::new("example.org").unwrap_or_else(|e| panic!("{e}"))
    }

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000 + ms)
    }

    fn granted(state: HostState, now: Timestamp) -> (HostState, Lease) {
        match admit(state, &host(), &Rules::default(), "t", now, 1) {
            (s, Admission::Granted(lease)) => (s, lease),
            other => panic!("not granted: {other:?}"),
        }
    }

    fn answered(status: u16) -> Outcome {
        Outcome::Answered { status, retry_after: None }
    }

    #[test]
    fn a_lease_keeps_others_out_until_it_is_closed() {
        let rules = Rules::default();
        let (state, lease) = granted(HostState::default(), at(0));
        let (_, second) = admit(state.clone(), &host(), &rules, "u", at(1), 2);
        assert!(matches!(second, Admission::Busy { until } if until > at(1) && until <= lease.until));
        let closed = close(state.clone(), state, &rules, lease.token, at(5_000));
        assert_eq!(closed.lease, None);
        assert_eq!(closed.window.spent, Millis(5_000));
        granted(closed, at(6_000));
    }

    #[test]
    fn a_lease_found_expired_costs_one_full_pause() {
        let (state, lease) = granted(HostState::default(), at(0));
        let after = lease.until + Millis(1);
        let (state, _) = granted(state, after);
        assert!(state.not_before >= after + Rules::default().min_pause);
    }

    #[test]
    fn refusals_hold_for_three_days_and_double() {
        let rules = Rules::default();
        for (status, reason) in [(403, HoldReason::Forbidden), (429, HoldReason::TooManyRequests)] {
            let state = settle(HostState::default(), &rules, answered(status), Millis(9), at(0), 1);
            let hold = state.hold.clone().expect("a hold");
            assert_eq!(hold.reason, reason);
            assert!(hold.until.since(at(0)) >= Millis::from_hours(72));
            assert!(hold.until.since(at(0)) <= Millis::from_hours(80));
            let again = settle(state, &rules, answered(status), Millis(9), hold.until, 2);
            let next = again.hold.expect("a hold");
            assert!(next.until.since(hold.until) >= Millis::from_hours(144));
        }
        let mut state = HostState::default();
        for n in 0..40 {
            state = settle(state, &rules, answered(503), Millis(9), at(n), n as u64);
            let hold = state.hold.clone().expect("a hold");
            assert!(hold.until.since(at(n)) <= rules.hold_cap);
        }
    }

    #[test]
    fn retry_after_lengthens_and_is_capped() {
        let rules = Rules { hold_server_error: Millis::from_mins(1), ..Rules::default() };
        let hold = |retry: Millis| {
            let outcome = Outcome::Answered { status: 503, retry_after: Some(at(0) + retry) };
            settle(HostState::default(), &rules, outcome, Millis(1), at(0), 3).hold.expect("a hold").until.since(at(0))
        };
        assert!(hold(Millis::from_hours(2)) >= Millis::from_hours(2));
        assert!(hold(Millis::from_days(4_000)) <= Millis(rules.retry_after_cap.0 / 10 * 11));
    }

    #[test]
    fn a_good_answer_forgives() {
        let rules = Rules::default();
        let state = settle(HostState::default(), &rules, Outcome::Network, Millis(1), at(0), 1);
        assert_eq!(state.circuit, Circuit::Probe);
        let state = settle(state, &rules, answered(200), Millis(1), at(1), 1);
        assert_eq!((state.failures, state.holds_in_a_row, state.circuit), (0, 0, Circuit::Closed));
    }

    #[test]
    fn a_deck_of_bombs_ends_in_a_hold() {
        let rules = Rules::default();
        let mut state = HostState::default();
        for n in 1..=rules.broken_limit {
            state = settle(state, &rules, Outcome::Broken, Millis(1), at(0), 1);
            assert_eq!(state.hold.is_some(), n == rules.broken_limit);
        }
    }

    #[test]
    fn the_window_ends_after_an_hour_on_the_site() {
        let rules = Rules::default();
        let window = Window { began: at(0), spent: rules.window_limit };
        let state = HostState { window, ..HostState::default() };
        let (state, answer) = admit(state, &host(), &rules, "t", at(10), 1);
        assert_eq!(answer, Admission::Held { until: at(0) + rules.window, reason: HoldReason::WindowSpent });
        granted(state, at(0) + rules.window);
    }

    #[test]
    fn a_block_made_during_a_visit_outlives_it() {
        let rules = Rules::default();
        let (state, lease) = granted(HostState::default(), at(0));
        let blocked = block(state.clone(), "example.org");
        let closed = close(blocked, state, &rules, lease.token, at(9));
        assert!(closed.is_blocked("example.org"));
        let (closed, answer) = admit(closed, &host(), &rules, "t", at(99_999), 1);
        assert_eq!(answer, Admission::Blocked);
        let (open, was) = unblock(closed, "example.org");
        assert!(was && !open.is_blocked("example.org"));
    }

    proptest! {
        #[test]
        fn after_any_call_the_next_is_at_least_a_pause_away(status in 100u16..600, took in 0u64..40_000, seed: u64) {
            let rules = Rules::default();
            let state = settle(HostState::default(), &rules, answered(status), Millis(took), at(0), seed);
            prop_assert!(pace::next_call_at(&state, &rules, at(0)) >= at(0) + rules.min_pause.max(Millis(took)));
        }
    }
}
