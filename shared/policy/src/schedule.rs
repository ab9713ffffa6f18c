//! When feeds are polled and sites are looked at.

use crate::Rules;
use crate::chance::between;
use curlew_model::{FeedSource, Millis, SiteSource, SiteState, Slot, Timestamp};

/// Minutes in a cycle.
const CYCLE: i64 = Slot::COUNT as i64;
/// Minutes after its slot within which a poll counts as on time: as long as a batch of polls may be gathered and run.
const ON_TIME_MINUTES: i64 = 15;
/// Failed polls in a row after which a feed counts as dormant: it is then tried at the longest interval.
const DORMANT_AFTER: u32 = 10;

/// The slots that have come due after the minute of `last` up to the minute of `now`; each at most once,
/// however long ago `last` is. Without a `last`, all of them.
pub fn slots_due(last: Option<Timestamp>, now: Timestamp) -> Vec<Slot> {
    let to = now.minute();
    let from = last.map_or(to - CYCLE, |l| l.minute().max(to - CYCLE));
    (from + 1..=to).map(|minute| Slot::of(minute.rem_euclid(CYCLE).unsigned_abs())).collect()
}

/// Whether a feed whose slot has come is polled in this cycle.
pub fn feed_is_due(feed: &FeedSource, rules: &Rules, now: Timestamp) -> bool {
    if feed.gone || now < feed.not_before || now < feed.polled_at + rules.poll_floor {
        return false;
    }
    let every = cycles(feed.interval);
    let cycle = now.minute().div_euclid(CYCLE);
    // The slot shifts the cycle, so that feeds polled once a day do not all fall into the same one.
    (cycle + i64::from(feed.slot.index())).rem_euclid(every) == 0
}

/// Whether a poll at `now` is the one that its slot has just sent.
pub fn is_on_time(slot: Slot, now: Timestamp) -> bool {
    (now.minute() - i64::from(slot.index())).rem_euclid(CYCLE) <= ON_TIME_MINUTES
}

/// Whether a site whose slot has come is given to discovery.
pub fn site_is_due(site: &SiteSource, now: Timestamp) -> bool {
    matches!(site.state, SiteState::Waiting | SiteState::Feedless { .. }) && now >= site.not_before
}

/// Cycles between two polls, at least one.
fn cycles(interval: Millis) -> i64 {
    let cycle = Millis::from_mins(CYCLE as u64).0;
    i64::try_from(interval.0.div_ceil(cycle)).unwrap_or(i64::MAX).max(1)
}

/// What a feed and its server say of how often it changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// `ttl` of RSS 2.0.
    pub ttl: Option<Millis>,
    /// `sy:updatePeriod` divided by `sy:updateFrequency`.
    pub update_period: Option<Millis>,
    /// Freshness by `Cache-Control` or `Expires`.
    pub fresh_for: Option<Millis>,
    /// Whether it gave an ETag or a Last-Modified.
    pub has_validators: bool,
}

/// The time between two polls: the longest of all wishes within the floor and the cap. Wishes only lengthen.
pub fn interval(rules: &Rules, wishes: Wishes) -> Millis {
    let base = if wishes.has_validators { rules.poll_interval } else { rules.poll_interval_blind };
    [wishes.ttl, wishes.update_period, wishes.fresh_for]
        .into_iter()
        .flatten()
        .fold(base, Millis::max)
        .clamp(rules.poll_floor, rules.poll_cap)
}

/// The earliest poll after `now` that the feed's skipHours and skipDays (GMT) allow; all hours or all days
/// listed means none.
pub fn after_skips(at: Timestamp, skip_hours: &[u8], skip_days: &[u8]) -> Timestamp {
    let hour_skipped = |h: u8| skip_hours.iter().any(|s| s % 24 == h);
    let day_skipped = |d: u8| skip_days.contains(&d);
    let hours_useless = (0..24).all(hour_skipped);
    let days_useless = (0..7).all(day_skipped);
    let mut at = at;
    // A week of hours covers every combination of day and hour.
    for _ in 0..24 * 7 {
        let skipped = (!hours_useless && hour_skipped(at.hour())) || (!days_useless && day_skipped(at.weekday()));
        if !skipped {
            return at;
        }
        let into_hour = at.as_millis().rem_euclid(3_600_000).unsigned_abs();
        at = at + Millis(3_600_000 - into_hour);
    }
    at
}

/// When a feed is tried again after `failures` failed polls in a row: later each time, dormant in the end.
pub fn after_failure(rules: &Rules, failures: u32, now: Timestamp, seed: u64) -> Timestamp {
    let wait = if failures >= DORMANT_AFTER {
        rules.poll_cap
    } else {
        rules.poll_interval.saturating_mul(u64::from(failures.max(1))).min(rules.poll_cap)
    };
    now + wait + Millis(between(seed, 0, wait.0 / 10))
}

#[cfg(test)]
mod tests {
    use super::*;
    use curlew_model::SourceKey;

    fn t(minute: i64) -> Timestamp {
        Timestamp::from_millis(minute * 60_000)
    }

    fn feed(slot: Slot, interval: Millis) -> FeedSource {
        let key = SourceKey::new("0123456789abcdef0123456789abcdef").unwrap_or_else(|e| panic!("{e}"));
        FeedSource { interval, ..FeedSource::new(key, slot, "https://example.org/feed") }
    }

    #[test]
    fn each_slot_comes_once_a_cycle_whatever_the_ticks() {
        let mut seen = vec![0; usize::from(Slot::COUNT)];
        let mut last = t(1_000_000);
        for step in [1, 1, 2, 5, 60, 100, 311] {
            let now = t(last.minute() + step);
            for slot in slots_due(Some(last), now) {
                seen[usize::from(slot.index())] += 1;
            }
            assert!(slots_due(Some(now), now).is_empty(), "a tick that fires twice does nothing");
            last = now;
        }
        assert!(seen.iter().all(|n| *n == 1));
        assert_eq!(slots_due(Some(t(0)), t(10_000_000)).len(), 480, "what was missed is caught up once");
        assert_eq!(slots_due(None, t(5)).len(), 480);
    }

    #[test]
    fn a_feed_is_polled_three_times_a_day_or_as_often_as_its_interval_says() {
        let rules = Rules::default();
        for (interval, polls) in [(Millis::from_hours(8), 21), (Millis::from_hours(24), 7), (Millis::from_days(7), 1)] {
            for slot in [Slot::of(0), Slot::of(7), Slot::of(479)] {
                let f = feed(slot, interval);
                let start = 3_000_000 * 480;
                let due = (0..7 * 1_440)
                    .map(|m| t(start + m))
                    .filter(|now| slots_due(Some(*now - Millis::from_mins(1)), *now).contains(&slot))
                    .filter(|now| feed_is_due(&f, &rules, *now))
                    .count();
                assert_eq!(due, polls, "{interval:?} {slot:?}");
            }
        }
    }

    #[test]
    fn a_poll_is_on_time_in_its_minute_and_shortly_after() {
        for (slot, minute, on_time) in [(5, 5, true), (5, 500, true), (5, 21, false), (5, 4, false), (479, 480, true)] {
            assert_eq!(is_on_time(Slot::of(slot), t(minute)), on_time, "{slot} {minute}");
        }
    }

    #[test]
    fn h07_no_burst_after_an_import_or_restart() {
        let rules = Rules::default();
        let mut f = feed(Slot::of(3), rules.poll_interval);
        f.polled_at = t(480_003);
        assert!(!feed_is_due(&f, &rules, t(480_003 + 59)));
        f.polled_at = Timestamp::MIN;
        f.not_before = t(480_004);
        assert!(!feed_is_due(&f, &rules, t(480_003)));
        f.gone = true;
        assert!(!feed_is_due(&f, &rules, t(990_003)));
    }

    #[test]
    fn f05_f08_wishes_only_lengthen_and_are_clamped() {
        let rules = Rules::default();
        let with = |ttl: Option<Millis>| interval(&rules, Wishes { ttl, has_validators: true, ..Wishes::default() });
        assert_eq!(with(None), rules.poll_interval);
        assert_eq!(with(Some(Millis::ZERO)), rules.poll_interval);
        assert_eq!(with(Some(Millis::from_days(2))), Millis::from_days(2));
        assert_eq!(with(Some(Millis(u64::MAX))), rules.poll_cap);
        assert_eq!(interval(&rules, Wishes::default()), rules.poll_interval_blind);
    }

    #[test]
    fn f06_skips_are_stepped_over_unless_they_cover_everything() {
        let monday_ten: Timestamp = "2026-11-23T10:20:00Z".parse().unwrap_or_default();
        assert_eq!(after_skips(monday_ten, &[], &[]), monday_ten);
        assert_eq!(after_skips(monday_ten, &[10, 11], &[]).to_string(), "2026-11-23T12:00:00Z");
        assert_eq!(after_skips(monday_ten, &[], &[0]).to_string(), "2026-11-24T00:00:00Z");
        assert_eq!(after_skips(monday_ten, &(1..=24).collect::<Vec<_>>(), &[]), monday_ten);
        assert_eq!(after_skips(monday_ten, &[], &[0, 1, 2, 3, 4, 5, 6]), monday_ten);
    }

    #[test]
    fn h18_failures_slow_down_to_dormant() {
        let rules = Rules::default();
        let waits: Vec<u64> = (1..15).map(|n| after_failure(&rules, n, t(0), 7).since(t(0)).0).collect();
        assert!(waits.iter().all(|w| *w >= rules.poll_interval.0 && *w <= rules.poll_cap.0 / 10 * 11));
        assert!(waits[13] >= rules.poll_cap.0);
    }
}
