//! Admission of visits to a host key: functions from one state to the next.
//!
//! A lease lasts at most as long as the remaining time that visits may spend on the host key. Its full length is
//! charged when it is granted; giving it back refunds the rest.

use crate::chance::{between, mix};
use crate::politeness::{longer, pace, window};
use crate::rules::{BUSY_RETRY, BUSY_RETRY_MAX, MAX_FIRST_WAIT, Rules};
use crate::skew;
use curlew_model::{HoldReason, HostKey, HostState, Lease, Millis, Timestamp};

/// Maximum number of calls of a visit that lets its lease run out; such a lease is charged with this number of calls.
const CALLS_UNTOLD: u32 = 2;
/// Maximum difference between the clocks of two machines.
const CLOCKS_DIFFER: Millis = Millis::from_mins(1);

/// Interval at which jobs retry a host key that the operator holds, so that they resume soon after the hold ends.
const OPERATOR_HOLD_RETRY: Millis = Millis::from_hours(1);

/// A refusal to call now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotNow {
    /// Time to ask again.
    pub until: Timestamp,
    /// Reason of the hold in force; `None` if another lease or the pause before the next call is in the way.
    pub why: Option<HoldReason>,
}

impl NotNow {
    /// Returns the refusal for a host key that is in use.
    pub fn busy(until: Timestamp) -> NotNow {
        NotNow { until, why: None }
    }

    /// Returns the refusal for a host key that is on hold.
    pub fn held(until: Timestamp, why: HoldReason) -> NotNow {
        NotNow { until, why: Some(why) }
    }

    /// True if the host key is only in use or resting for an hour, and not on any other hold.
    pub fn is_brief(self) -> bool {
        matches!(self.why, None | Some(HoldReason::Rest))
    }
}

/// Answer to a visit that asks for a host key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The visit may call, from [`HostState::not_before`] on, until the lease ends.
    Granted(Lease),
    /// The host key must not be called now.
    NotNow(NotNow),
    /// The whole host key is blocked.
    Blocked,
}

/// Requests a lease of a host key for `length`, or for the remaining time that visits may spend on it if that is less.
pub fn admit(
    mut state: HostState,
    host: &HostKey,
    rules: &Rules,
    owner: &str,
    length: Millis,
    now: Timestamp,
    seed: u64,
) -> (HostState, Admission) {
    if state.is_blocked(host.as_str()) {
        return (state, Admission::Blocked);
    }
    state = skew::host(state, rules, now);
    if let Some(hold) = &state.hold {
        if hold.until > now {
            let held = NotNow::held(hold.until, hold.reason);
            return (state, Admission::NotNow(held));
        }
        state.hold = None;
    }
    if let Some(until) = state.left_alone_until {
        if until > now {
            let until = until.min(now + OPERATOR_HOLD_RETRY);
            return (state, Admission::NotNow(NotNow::held(until, HoldReason::Operator)));
        }
        state.left_alone_until = None;
    }
    if let Some(lease) = &state.lease {
        if lease.until > now {
            let wait = Millis(between(seed, BUSY_RETRY.0, BUSY_RETRY_MAX.0));
            let busy = NotNow::busy(lease.until.min(now + wait));
            return (state, Admission::NotNow(busy));
        }
        state = break_lease(state, rules, now, seed);
    }
    window::forget(&mut state.visited, rules, now);
    if let Some(until) = window::free_at(&state.visited, rules, rules.least_lease(), now) {
        return (state, Admission::NotNow(NotNow::held(until, HoldReason::WindowSpent)));
    }
    let first_call = pace::next_call_at(&state, rules, now);
    if first_call > now + MAX_FIRST_WAIT {
        return (state, Admission::NotNow(NotNow::busy(first_call)));
    }
    state.last_token = state.last_token.saturating_add(1);
    let length = length.min(window::left(&state.visited, rules, now));
    let lease = Lease { owner: owner.to_owned(), until: now + length, token: state.last_token };
    window::charge(&mut state.visited, lease.until, length, rules);
    state.lease = Some(lease.clone());
    (state, Admission::Granted(lease))
}

/// Ends a lease whose holder died or let it run out. The next call comes at least a full pause after the lease's end.
pub fn break_lease(mut state: HostState, rules: &Rules, now: Timestamp, seed: u64) -> HostState {
    if let Some(lease) = state.lease.take() {
        window::refund(&mut state.visited, lease.until.since(now));
        let from = now.min(lease.until + CLOCKS_DIFFER);
        state.not_before = state.not_before.max(from + pace::pause(&state, rules, mix(seed)));
        for _ in 0..CALLS_UNTOLD {
            state.bucket = Some(pace::spend(state.bucket, rules, now));
        }
    }
    state
}

/// Lengthens a lease in force within the remaining time for visits, and charges for it; returns its new end.
pub fn lengthen(
    mut state: HostState,
    token: u64,
    by: Millis,
    rules: &Rules,
    now: Timestamp,
) -> (HostState, Option<Timestamp>) {
    let by = by.min(window::left(&state.visited, rules, now));
    let Some(lease) = state.lease.as_mut().filter(|lease| lease.token == token && lease.until > now) else {
        return (state, None);
    };
    lease.until = lease.until + by;
    let until = lease.until;
    window::charge(&mut state.visited, until, by, rules);
    (state, Some(until))
}

/// True if a host key was never called according to its state; its row may exist for other reasons.
pub fn is_new(state: &HostState) -> bool {
    state.bucket.is_none()
}

/// Returns when a host key was last in use according to its state.
pub fn last_use(state: &HostState) -> Timestamp {
    let lease = state.lease.as_ref().map_or(Timestamp::MIN, |lease| lease.until);
    state.not_before.max(lease)
}

/// Returns the latest possible time of the last call according to a host key's state: no call outlasts a lease.
pub fn last_call(state: &HostState) -> Timestamp {
    let lease = state.lease.as_ref().map_or(Timestamp::MIN, |lease| lease.until);
    state.bucket.map_or(Timestamp::MIN, |bucket| bucket.at).max(lease)
}

/// True if the last visit had the same owner and its lease ended within the last minute: a job was delivered twice. A
/// visit that died is not followed so soon, or its lease is broken first.
pub fn repeats(state: &HostState, owner: &str, now: Timestamp) -> bool {
    state.lease.as_ref().is_some_and(|lease| lease.owner == owner && lease.until + CLOCKS_DIFFER > now)
}

/// True if a visit may end without a write and let its lease run out: it learned nothing that others must know and made
/// few calls, nobody is likely to want the host key meanwhile, and every pause ends before the lease does on any clock.
/// `granted` is the state at `began`, `mine` the state at the end, `used` the [`last_use`] before the visit.
pub fn may_run_out(
    granted: &HostState,
    mine: &HostState,
    rules: &Rules,
    calls: u32,
    used: Timestamp,
    began: Timestamp,
) -> bool {
    let Some(lease) = &granted.lease else { return false };
    let learned = HostState {
        not_before: granted.not_before,
        bucket: granted.bucket,
        last_response: granted.last_response,
        ..mine.clone()
    };
    learned == *granted
        && calls <= CALLS_UNTOLD
        // The next visit waits a full pause, which must not be too long for a visit.
        && granted.crawl_delay <= MAX_FIRST_WAIT
        && granted.last_response <= MAX_FIRST_WAIT
        && began.since(used) >= rules.return_lease_within
        && mine.not_before + rules.lease_margin <= lease.until
}

/// Returns the state to write at the end of a visit: `mine`, with changes that others made meanwhile (`latest`). If
/// another visit holds the lease by now, only a later next call or a longer hold of `mine` is kept.
pub fn close(latest: HostState, mine: HostState, token: u64, now: Timestamp) -> HostState {
    let Some(lease) = latest.lease.as_ref().filter(|l| l.token == token) else {
        return HostState {
            not_before: latest.not_before.max(mine.not_before),
            hold: longer(latest.hold.clone(), mine.hold),
            ..latest
        };
    };
    // The unused rest of the lease was charged to the window; time beyond its end was not.
    let mut visited = mine.visited;
    window::refund(&mut visited, lease.until.since(now));
    if let Some(last) = visited.last_mut() {
        last.spent = last.spent + now.since(lease.until);
    }
    HostState {
        lease: None,
        last_token: latest.last_token,
        blocked: latest.blocked,
        left_alone_until: latest.left_alone_until,
        backfilled: latest.backfilled,
        has_imports: latest.has_imports,
        visited,
        // A visit that had lost its lease may have written a later next call or a hold meanwhile.
        not_before: latest.not_before.max(mine.not_before),
        hold: longer(latest.hold, mine.hold),
        ..mine
    }
}

/// Adds a host name to the block list of its host key.
pub fn block(mut state: HostState, host: &str) -> HostState {
    state.blocked.insert(host.to_owned());
    state
}

/// Removes a host name from the block list of its host key; returns whether it was on the list.
pub fn unblock(mut state: HostState, host: &str) -> (HostState, bool) {
    let was = state.blocked.remove(host);
    (state, was)
}

/// Sets the operator's hold of a host key until an instant, unless it already lasts longer.
pub fn leave_alone(mut state: HostState, until: Timestamp) -> HostState {
    state.left_alone_until = state.left_alone_until.max(Some(until));
    state
}

/// Ends the operator's hold, and returns whether it was in force. Holds caused by the host's answers stay.
pub fn end_leaving_alone(mut state: HostState, now: Timestamp) -> (HostState, bool) {
    let was = state.left_alone_until.take().is_some_and(|until| until > now);
    (state, was)
}

#[cfg(test)]
mod tests;
