//! Deferral of jobs: when a job is tried again, and when it is given up.

use crate::rules::{BUSY_DOUBLINGS, BUSY_RETRY, BUSY_RETRY_MAX, Rules};
use crate::{politeness::admission::NotNow, robots::UNREACHABLE_RETRY};
use curlew_model::{HoldReason, Millis, Timestamp};

/// Decision about work that could not be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deferral {
    /// The job is tried again.
    Again {
        /// Time of the next attempt.
        at: Timestamp,
        /// Number of deferrals, including this one.
        deferrals: u32,
    },
    /// The job has been put off too often.
    GivenUp,
}

/// Reason why one item of a visit waits while the others proceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemWait {
    /// The item waits because of its own trouble or another host's; the wait counts against the item.
    Own,
    /// The host refuses the crawler, or a bot wall covers its pages; the wait does not count.
    Refused,
    /// The item's text may be an interstitial's; [`crate::politeness::interstitial`] limits the number of looks.
    Doubt,
}

impl ItemWait {
    /// Returns why an item waits if its host is on hold for the reason `held`, or must not be called for another.
    pub fn of_host(held: Option<HoldReason>) -> ItemWait {
        if held.is_some_and(|reason| !counts_against_page(reason)) { ItemWait::Refused } else { ItemWait::Own }
    }
}

/// The rest of a visit that ended before its last item.
#[derive(Clone, Copy, Debug)]
pub struct Remainder {
    /// Number of items that are done.
    pub done: usize,
    /// Number of calls that the visit made.
    pub calls: u32,
    /// The reason why the visit ended.
    pub not_now: NotNow,
}

/// True if waiting for this reason counts against a job. The crawler's own limits, the operator's hold and a rest after
/// another URL say nothing about the site, and pages behind a bot wall wait until the wall is gone.
pub fn counts(reason: HoldReason) -> bool {
    !matches!(reason, HoldReason::WindowSpent | HoldReason::Interstitial | HoldReason::Operator | HoldReason::Rest)
}

/// True if a hold counts against a page that waits; a refusal does not, since it is aimed at the crawler.
fn counts_against_page(reason: HoldReason) -> bool {
    counts(reason) && !matches!(reason, HoldReason::Forbidden | HoldReason::TooManyRequests)
}

/// True if a job with this number of deferrals is given up.
pub fn is_given_up(deferrals: u32, rules: &Rules) -> bool {
    deferrals >= rules.max_deferrals
}

/// Returns the minimum wait of a job that made no progress in a visit, after this number of deferrals.
pub fn least_wait(deferrals: u32) -> Millis {
    // Short at first, over an hour in the end: no job is given up because a host was busy for some minutes.
    BUSY_RETRY.saturating_mul(2 << (2 * deferrals.min(5)))
}

/// Returns when a job retries a host key that is in use until about `until`; the delay doubles with each of `waits`.
pub fn of_busy_host(waits: u8, until: Timestamp, now: Timestamp) -> Timestamp {
    let longer = until.since(now).min(BUSY_RETRY_MAX).saturating_mul(1 << waits.min(BUSY_DOUBLINGS));
    until.max(now + longer)
}

/// Returns the deferral of a whole job whose host is on hold until `until` for `reason`.
pub fn of_held_host(deferrals: u32, until: Timestamp, reason: HoldReason, rules: &Rules) -> Deferral {
    match counts_against_page(reason) {
        true if is_given_up(deferrals, rules) => Deferral::GivenUp,
        true => Deferral::Again { at: until, deferrals: deferrals.saturating_add(1) },
        false => Deferral::Again { at: until, deferrals },
    }
}

/// Returns the deferral of items that wait while others of their visit proceed; waits that count grow each time.
pub fn of_items_apart(wait: ItemWait, deferrals: u32, until: Timestamp, rules: &Rules, now: Timestamp) -> Deferral {
    match wait {
        ItemWait::Refused => Deferral::Again { at: until, deferrals },
        ItemWait::Doubt => Deferral::Again { at: until, deferrals: deferrals.saturating_add(1) },
        ItemWait::Own if is_given_up(deferrals, rules) => Deferral::GivenUp,
        ItemWait::Own => {
            let soonest = now + UNREACHABLE_RETRY.saturating_mul(1 << deferrals.min(10));
            Deferral::Again { at: until.max(soonest), deferrals: deferrals.saturating_add(1) }
        }
    }
}

/// Returns the deferral of the rest of a visit.
pub fn of_remainder(deferrals: u32, rest: Remainder, rules: &Rules, now: Timestamp) -> Deferral {
    if rest.not_now.why.is_some_and(|reason| !counts_against_page(reason)) {
        return Deferral::Again { at: rest.not_now.until, deferrals };
    }
    // Without this, an item that never ends within a visit would start over forever.
    let held = rest.not_now.why.is_some() || (rest.done == 0 && rest.calls > 0);
    if rest.done > 0 {
        // Progress resets the count: a job is given up only if its host lets nothing through.
        return Deferral::Again { at: rest.not_now.until, deferrals: if held { 1 } else { deferrals } };
    }
    if held && is_given_up(deferrals, rules) {
        return Deferral::GivenUp;
    }
    let at = rest.not_now.until.max(now + least_wait(deferrals));
    Deferral::Again { at, deferrals: deferrals.saturating_add(u32::from(held)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::BUSY_LONGEST;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    #[test]
    fn a_job_that_never_ends_waits_longer_each_time_and_is_given_up() {
        let rules = Rules::default();
        let (mut deferrals, mut waits) = (0, vec![]);
        let nothing_done = Remainder { done: 0, calls: 1, not_now: NotNow::busy(NOW) };
        while let Deferral::Again { at, deferrals: next } = of_remainder(deferrals, nothing_done, &rules, NOW) {
            assert_eq!(next, deferrals + 1);
            waits.push(at.since(NOW));
            deferrals = next;
        }
        assert_eq!(deferrals, rules.max_deferrals);
        assert!(waits.is_sorted() && waits.last() > Some(&Millis::from_hours(1)), "{waits:?}");
    }

    #[test]
    fn a_busy_host_is_asked_for_less_often_up_to_a_bound() {
        let soon = NOW + BUSY_RETRY;
        let waits: Vec<_> = (0..6).map(|waits| of_busy_host(waits, soon, NOW).since(NOW).0 / BUSY_RETRY.0).collect();
        assert_eq!(waits, [1, 2, 4, 8, 8, 8]);
        assert_eq!(of_busy_host(u8::MAX, NOW + BUSY_RETRY_MAX, NOW), NOW + BUSY_LONGEST);
        let far = NOW + Millis::from_hours(1);
        assert_eq!(of_busy_host(9, far, NOW), far, "a time that is known is kept");
    }

    #[test]
    fn progress_starts_the_count_anew() {
        let rules = Rules::default();
        let rest = Remainder { done: 1, calls: 3, not_now: NotNow::held(NOW + Millis(5), HoldReason::ServerError) };
        let again = Deferral::Again { at: NOW + Millis(5), deferrals: 1 };
        assert_eq!(of_remainder(rules.max_deferrals, rest, &rules, NOW), again);
        let busy = Remainder { done: 0, calls: 0, not_now: NotNow::busy(NOW + Millis(5)) };
        let never_begun = of_remainder(rules.max_deferrals, busy, &rules, NOW);
        assert!(matches!(never_begun, Deferral::Again { deferrals, .. } if deferrals == rules.max_deferrals));
    }

    #[test]
    fn what_waits_behind_a_wall_or_for_the_crawlers_own_hour_waits_as_long_as_it_stands() {
        let rules = Rules::default();
        let (at, many) = (NOW + Millis::from_days(14), rules.max_deferrals);
        let again = Deferral::Again { at, deferrals: many };
        use HoldReason::{Forbidden, Interstitial, TooManyRequests, WindowSpent};
        for reason in [Interstitial, Forbidden, TooManyRequests, WindowSpent] {
            assert_eq!(of_held_host(many, at, reason, &rules), again);
            let rest = Remainder { done: 0, calls: 2, not_now: NotNow::held(at, reason) };
            assert_eq!(of_remainder(many, rest, &rules, NOW), again);
        }
        assert_eq!(of_items_apart(ItemWait::Refused, many, at, &rules, NOW), again);
        assert_eq!(of_held_host(many, at, HoldReason::ServerError, &rules), Deferral::GivenUp);
        assert_eq!(of_held_host(0, at, HoldReason::Network, &rules), Deferral::Again { at, deferrals: 1 });
    }

    #[test]
    fn items_that_wait_apart_wait_an_hour_at_least_and_twice_as_long_each_time() {
        let rules = Rules::default();
        for deferrals in 0..rules.max_deferrals {
            let at = NOW + UNREACHABLE_RETRY.saturating_mul(1 << deferrals.min(10));
            let again = Deferral::Again { at, deferrals: deferrals + 1 };
            assert_eq!(of_items_apart(ItemWait::Own, deferrals, NOW, &rules, NOW), again);
        }
        assert_eq!(of_items_apart(ItemWait::Own, rules.max_deferrals, NOW, &rules, NOW), Deferral::GivenUp);
        let doubt = of_items_apart(ItemWait::Doubt, 2, NOW + Millis(7), &rules, NOW);
        assert_eq!(doubt, Deferral::Again { at: NOW + Millis(7), deferrals: 3 });
    }
}
