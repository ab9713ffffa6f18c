//! The interval that a feed's history speaks for, by a decaying mean of the times between arrivals. Entries of one hour
//! arrive together, so a batch is not taken for news all day.

use crate::rules::Rules;
use curlew_model::{Habit, Millis, Timestamp};
use std::collections::BTreeSet;

/// Weight of the mean so far in arrivals, beside one of the newest.
const MEMORY: u64 = 3;
/// Maximum ratio to the mean of a time that counts, so that a weekend does not undo a week.
const MOST_GROWTH: u64 = 3;
/// Divisor of the length of a silence, so that a night does not count.
const SILENCE: u64 = 2;
const MOST_DATES: usize = 50;
const HOUR: Millis = Millis::from_hours(1);
/// The longest intervals first, each with the time between arrivals from which it applies, in hours; below the last,
/// one.
const INTERVALS: [(u64, u64); 6] = [(168, 16 * 168), (72, 48 * 24), (24, 60), (8, 16), (4, 12), (2, 8)];

/// The history that the dates in a feed's first document tell. Dates in the future are none.
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

/// Returns the number of different hours after the last arrival in which entries with these dates arrive; those without
/// a believable date arrive together.
pub fn arrivals(habit: Habit, dates: impl IntoIterator<Item = Option<Timestamp>>, now: Timestamp) -> u64 {
    let since = habit.news_at.unwrap_or(Timestamp::MIN);
    let hours = dates.into_iter().map(|at| at.filter(|at| (since..=now).contains(at)).map(hour));
    hours.collect::<BTreeSet<_>>().len() as u64
}

/// Returns the history after this number of arrivals was seen at `now`.
pub fn news(habit: Habit, arrivals: u64, now: Timestamp) -> Habit {
    if arrivals == 0 {
        return habit;
    }
    let passed = habit.news_at.map(|before| now.since(before));
    let gap = match (habit.gap, passed) {
        (Some(mean), Some(passed)) => {
            let mean = mean.max(HOUR);
            let passed = passed.min(mean.saturating_mul(MOST_GROWTH).saturating_mul(arrivals));
            Some(Millis((mean.saturating_mul(MEMORY) + passed).0 / MEMORY.saturating_add(arrivals)))
        }
        (mean, passed) => mean.or(passed.map(|passed| Millis(passed.0 / arrivals))),
    };
    Habit { gap, news_at: Some(now) }
}

/// Returns the interval within floor and cap that is below half of the mean time between arrivals, or of a longer
/// silence: three polls a day for daily news, one for rarer news, fewer after months.
pub fn estimate(habit: &Habit, rules: &Rules, now: Timestamp) -> Option<Millis> {
    let silence = habit.news_at.map_or(Millis::ZERO, |at| now.since(at));
    let gap = habit.gap?.max(Millis(silence.0 / SILENCE));
    let interval = INTERVALS.iter().find(|(_, from)| gap >= Millis::from_hours(*from)).map_or(1, |(hours, _)| *hours);
    Some(Millis::from_hours(interval).clamp(rules.poll_floor, rules.poll_cap))
}

fn hour(at: Timestamp) -> i64 {
    at.minute().div_euclid(60)
}
