//! The time of a feed's next poll, and the reason for it: a failure, the hints of the feed and its server, skipHours
//! and skipDays of RSS 2.0 (in GMT), or the feed's history.
//!
//! The history is a decaying mean of the times between arrivals; all entries within one hour are one arrival.

use crate::rules::Rules;
use curlew_model::{Habit, Millis, PollHints, Timestamp, Why};
use std::collections::BTreeSet;

/// Weight of the previous mean, where each new arrival has the weight one.
const MEMORY: u64 = 3;
/// Maximum ratio of a counted time to the mean, so that a weekend does not undo a week.
const MOST_GROWTH: u64 = 3;
/// Divisor of the time since the last arrival, so that a night does not count.
const SILENCE: u64 = 2;
const MOST_DATES: usize = 50;
/// Intervals, longest first, each with the minimum time between arrivals for which it applies, in hours.
const INTERVALS: [(u64, u64); 6] = [(168, 16 * 168), (72, 48 * 24), (24, 60), (8, 16), (4, 12), (2, 8)];

const ALL_HOURS: u32 = (1 << 24) - 1;
const ALL_DAYS: u8 = (1 << 7) - 1;

/// Facts that determine a feed's next poll.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inputs {
    /// Hints of the feed and its server, from this and earlier answers.
    pub hints: PollHints,
    /// The feed's own history.
    pub habit: Habit,
    /// Age of the answer on arrival (`Age`, RFC 9111 §5.1), which shortens its freshness.
    pub age: Millis,
    /// Instant named by `Retry-After`.
    pub retry_after: Option<Timestamp>,
    /// True if a hub sends notifications until well after the next poll.
    pub pushed: bool,
    /// True if the next poll can be conditional and its answer trusted.
    pub conditional: bool,
    /// Wait demanded by the feed's failure.
    pub wrong: Option<(Millis, Why)>,
}

/// The next poll of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Time from poll to poll while nothing changes.
    pub interval: Millis,
    /// Earliest time of the next poll.
    pub not_before: Timestamp,
    /// The decisive reason.
    pub why: Why,
}

/// Returns a feed's next poll; hints only lengthen the interval, between [`Rules::poll_floor`] and [`Rules::poll_cap`].
pub fn plan(inputs: &Inputs, rules: &Rules, now: Timestamp) -> Plan {
    let fresh = inputs.hints.fresh_for.map(|whole| whole.saturating_sub(inputs.age));
    let hints = [
        (inputs.hints.ttl, Why::Ttl),
        (inputs.hints.update_period, Why::UpdatePeriod),
        (fresh, Why::Fresh),
        (inputs.hints.crawl_delay, Why::CrawlDelay),
    ];
    let mut ruling = own_interval(inputs, rules, now);
    for (hint, why) in hints {
        if let Some(hint) = hint.filter(|hint| *hint > ruling.0) {
            ruling = (hint, why);
        }
    }
    let (interval, mut why) = (ruling.0.clamp(rules.poll_floor, rules.poll_cap), ruling.1);
    let mut wait = fresh.unwrap_or_default().min(rules.poll_cap);
    if let Some((longer, wrong)) = inputs.wrong {
        (wait, why) = (wait.max(longer), wrong);
    }
    let asked = inputs.retry_after.map_or(Millis::ZERO, |at| at.since(now)).min(rules.retry_after_cap);
    if asked > wait.max(interval) {
        why = Why::RetryAfter;
    }
    let earliest = now + wait.max(asked);
    let not_before = after_skips(earliest, &inputs.hints);
    if not_before > earliest && not_before > now + interval {
        why = Why::Skips;
    }
    Plan { interval, not_before, why }
}

/// Returns the interval without hints; it is longer if each poll transfers the whole feed, or while a hub sends news.
fn own_interval(inputs: &Inputs, rules: &Rules, now: Timestamp) -> (Millis, Why) {
    let learned = if rules.adaptive { estimate(&inputs.habit, rules, now) } else { None };
    let own = learned.map_or((rules.poll_interval, Why::Usual), |interval| (interval, Why::History));
    let floors = [
        (!inputs.conditional, rules.poll_interval_blind, Why::Blind),
        (inputs.pushed, rules.poll_interval_pushed, Why::Pushed),
    ];
    floors.into_iter().filter(|(holds, ..)| *holds).fold(own, |ruling, (_, floor, why)| {
        if ruling.0 < floor || ruling == (floor, Why::History) { (floor, why) } else { ruling }
    })
}

/// Returns hours (0 to 24) and days (0 is Monday) as the masks of [`PollHints`]; all hours or all days count as none.
pub fn skips(hours: &[u8], days: &[u8]) -> (u32, u8) {
    let hours = hours.iter().filter(|h| **h <= 24).fold(0_u32, |mask, h| mask | 1 << (h % 24));
    let days = days.iter().filter(|d| **d < 7).fold(0_u8, |mask, d| mask | 1 << d);
    (if hours == ALL_HOURS { 0 } else { hours }, if days == ALL_DAYS { 0 } else { days })
}

/// Returns the earliest instant from `at` on that the feed's skipHours and skipDays allow.
pub fn after_skips(mut at: Timestamp, hints: &PollHints) -> Timestamp {
    // A week of hours covers every combination of day and hour.
    for _ in 0..24 * 7 {
        let skipped = hints.skip_hours >> at.hour() & 1 == 1 || hints.skip_days >> at.weekday() & 1 == 1;
        if !skipped {
            return at;
        }
        at = Timestamp::from_millis(3_600_000 * (hour(at) + 1));
    }
    at
}

/// Returns the history according to the dates in a feed's first document. Dates in the future are ignored.
pub fn start(dates: impl Iterator<Item = Timestamp>, now: Timestamp) -> Habit {
    let mut dates: Vec<Timestamp> = dates.filter(|at| *at <= now).collect();
    dates.sort_unstable_by(|a, b| b.cmp(a));
    dates.truncate(MOST_DATES);
    let (Some(newest), Some(oldest)) = (dates.first(), dates.last()) else { return Habit::default() };
    let hours: BTreeSet<i64> = dates.iter().map(|at| hour(*at)).collect();
    let gaps = hours.len().saturating_sub(1) as u64;
    let gap = newest.since(*oldest).0.checked_div(gaps).map(Millis);
    Habit { gap, news_at: Some(*newest) }
}

/// Returns the number of different hours of these dates since the last arrival; missing or impossible dates count once.
pub fn arrivals(habit: Habit, dates: impl IntoIterator<Item = Option<Timestamp>>, now: Timestamp) -> u64 {
    let since = habit.news_at.unwrap_or(Timestamp::MIN);
    let hours = dates.into_iter().map(|at| at.filter(|at| (since..=now).contains(at)).map(hour));
    hours.collect::<BTreeSet<_>>().len() as u64
}

/// Returns the history after this number of arrivals at `now`.
pub fn news(habit: Habit, arrivals: u64, now: Timestamp) -> Habit {
    if arrivals == 0 {
        return habit;
    }
    let passed = habit.news_at.map(|before| now.since(before));
    let gap = match (habit.gap, passed) {
        (Some(mean), Some(passed)) => {
            let mean = mean.max(Millis::from_hours(1));
            let passed = passed.min(mean.saturating_mul(MOST_GROWTH).saturating_mul(arrivals));
            Some(Millis((mean.saturating_mul(MEMORY) + passed).0 / MEMORY.saturating_add(arrivals)))
        }
        (mean, passed) => mean.or(passed.map(|passed| Millis(passed.0 / arrivals))),
    };
    Habit { gap, news_at: Some(now) }
}

/// Returns the interval for the mean time between arrivals, or half the time since the last one if that is longer.
pub fn estimate(habit: &Habit, rules: &Rules, now: Timestamp) -> Option<Millis> {
    let silence = habit.news_at.map_or(Millis::ZERO, |at| now.since(at));
    let gap = habit.gap?.max(Millis(silence.0 / SILENCE));
    let interval = INTERVALS.iter().find(|(_, from)| gap >= Millis::from_hours(*from)).map_or(1, |(hours, _)| *hours);
    Some(Millis::from_hours(interval).clamp(rules.poll_floor, rules.poll_cap))
}

fn hour(at: Timestamp) -> i64 {
    at.minute().div_euclid(60)
}
