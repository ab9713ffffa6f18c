//! What a feed's own history says of how often to look: a decaying mean of the times between two new entries.

use crate::rules::Rules;
use curlew_model::{Habit, Millis, Timestamp};

/// The newest gap counts for one part in so many of the mean.
const DECAY: u64 = 4;
/// Dates of a first document that are looked at.
const MOST_DATES: usize = 50;
/// Milliseconds of an hour.
const HOUR: u64 = 3_600_000;

/// The history that the dates in a feed's first document tell. Dates in the future are none.
pub fn start(dates: impl Iterator<Item = Timestamp>, now: Timestamp) -> Habit {
    let mut dates: Vec<Timestamp> = dates.filter(|at| *at <= now).collect();
    dates.sort_unstable_by(|a, b| b.cmp(a));
    dates.truncate(MOST_DATES);
    let (Some(newest), Some(oldest)) = (dates.first(), dates.last()) else { return Habit::default() };
    let gaps = u64::try_from(dates.len() - 1).unwrap_or(0);
    let gap = newest.since(*oldest).0.checked_div(gaps).map(Millis);
    Habit { gap, news_at: Some(*newest) }
}

/// The history after `new` entries were seen for the first time.
pub fn news(habit: Habit, new: u64, now: Timestamp) -> Habit {
    if new == 0 {
        return habit;
    }
    let sample = habit.news_at.map(|before| now.since(before).0 / new);
    let gap = match (habit.gap, sample) {
        (Some(mean), Some(sample)) => Some(Millis(mean.0 / DECAY * (DECAY - 1) + sample / DECAY)),
        (mean, sample) => mean.or(sample.map(Millis)),
    };
    Habit { gap, news_at: Some(now) }
}

/// The interval that the history speaks for: half of the mean gap, so that an entry waits for a quarter of a gap on
/// average. A silence longer than the mean counts in its place. Rounded down to a power of two in hours or to the cap, so
/// that it seldom changes; within floor and cap.
pub fn estimate(habit: &Habit, rules: &Rules, now: Timestamp) -> Option<Millis> {
    let silence = habit.news_at.map_or(Millis::ZERO, |at| now.since(at));
    let half = Millis(habit.gap?.max(silence).0 / 2);
    if half >= rules.poll_cap {
        return Some(rules.poll_cap);
    }
    let hours = (half.0 / HOUR).max(1);
    Some(Millis::from_hours(1 << hours.ilog2()).clamp(rules.poll_floor, rules.poll_cap))
}
