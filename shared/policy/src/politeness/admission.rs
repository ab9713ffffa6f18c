//! Admission of visits to a host key: maps from one state to the next.
//!
//! A lease is no longer than what is left of the time that visits may spend on the host key, and is charged in full
//! when it is granted; giving it back refunds the rest.

use crate::chance::{between, mix};
use crate::politeness::{longer, pace, window};
use crate::rules::{BUSY_RETRY, BUSY_RETRY_MAX, MAX_FIRST_WAIT, Rules};
use crate::skew;
use curlew_model::{HoldReason, HostKey, HostState, Lease, Millis, Timestamp};

/// Calls from which a visit gives its lease back; a lease that was not given back costs this number of calls.
const CALLS_UNTOLD: u32 = 2;
/// Maximum difference between the clocks of two machines.
const CLOCKS_DIFFER: Millis = Millis::from_mins(1);

/// Interval at which work asks again for a host key that the operator holds, so that it goes on soon after that.
const OPERATOR_HOLD_RETRY: Millis = Millis::from_hours(1);

/// A refusal to call now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotNow {
    /// Time to ask again.
    pub until: Timestamp,
    /// Reason of the hold in force; `None` if a lease, or the time of the next call, is in the way.
    pub why: Option<HoldReason>,
}

impl NotNow {
    /// Returns the refusal of a host key that is in use.
    pub fn busy(until: Timestamp) -> NotNow {
        NotNow { until, why: None }
    }

    /// Returns the refusal of a host key that is held.
    pub fn held(until: Timestamp, why: HoldReason) -> NotNow {
        NotNow { until, why: Some(why) }
    }

    /// True if the host key is neither held nor refuses us: it is in use, or rests for an hour.
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

/// Asks for the right to call a host key for this long, or as long as the time lasts that visits may spend on it.
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

/// Ends a lease whose holder is dead, or let it run out: one full pause passes from its end on.
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

/// Lengthens a lease in force, within the time for visits to the host key, and charges for it; returns its end.
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

/// True if a host key was never called, as far as its state tells; others may have written its row.
pub fn is_new(state: &HostState) -> bool {
    state.bucket.is_none()
}

/// Returns when a host key was last in use, as far as its state tells.
pub fn last_use(state: &HostState) -> Timestamp {
    let lease = state.lease.as_ref().map_or(Timestamp::MIN, |lease| lease.until);
    state.not_before.max(lease)
}

/// Returns when a host key was called last, at the latest, as far as its state tells: no call outlasts a lease.
pub fn last_call(state: &HostState) -> Timestamp {
    let lease = state.lease.as_ref().map_or(Timestamp::MIN, |lease| lease.until);
    state.bucket.map_or(Timestamp::MIN, |bucket| bucket.at).max(lease)
}

/// True if the last visit had the same owner and let its lease run out only just: a job that was delivered twice is at
/// work again. A visit that dies is not followed so soon, or its lease is broken first.
pub fn repeats(state: &HostState, owner: &str, now: Timestamp) -> bool {
    state.lease.as_ref().is_some_and(|lease| lease.owner == owner && lease.until + CLOCKS_DIFFER > now)
}

/// True if a visit may end without a write, so that its lease runs out: it learned nothing that others must know, made
/// few calls, nobody is likely to want the host key meanwhile, and every pause has passed by then, whatever the clocks.
/// `granted` is the state at `began`, `mine` what the visit made of it, `used` the [`last_use`] before it.
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

/// Returns the state to write at the end of a visit: what the visit learned (`mine`), and what others changed meanwhile
/// (`latest`). Once the lease is another's, only what slows things down is carried over.
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
        // After a lost lease `admit` may have removed the earlier value.
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

/// Takes a host name off the block list of its host key; says whether it was on it.
pub fn unblock(mut state: HostState, host: &str) -> (HostState, bool) {
    let was = state.blocked.remove(host);
    (state, was)
}

/// Leaves a host key alone until an instant, for the operator; a longer hold of the operator's stays.
pub fn leave_alone(mut state: HostState, until: Timestamp) -> HostState {
    state.left_alone_until = state.left_alone_until.max(Some(until));
    state
}

/// Ends the operator's own hold; an operator cannot waive a hold that the host's answers have laid down.
pub fn end_leaving_alone(mut state: HostState, now: Timestamp) -> (HostState, bool) {
    let was = state.left_alone_until.take().is_some_and(|until| until > now);
    (state, was)
}

#[cfg(test)]
mod tests;
