//! skipHours and skipDays of RSS 2.0: hours and days in GMT in which a feed need not be read.

use curlew_model::{Millis, PollHints, Timestamp};

const HOUR: i64 = 3_600_000;
const ALL_HOURS: u32 = (1 << 24) - 1;
const ALL_DAYS: u8 = (1 << 7) - 1;

/// Returns hours (0 to 24) and days (0 is Monday) as the masks of [`PollHints`]; all hours, or all days, mean none.
pub fn skips(hours: &[u8], days: &[u8]) -> (u32, u8) {
    let hours = hours.iter().filter(|h| **h <= 24).fold(0_u32, |mask, h| mask | 1 << (h % 24));
    let days = days.iter().filter(|d| **d < 7).fold(0_u8, |mask, d| mask | 1 << d);
    (if hours == ALL_HOURS { 0 } else { hours }, if days == ALL_DAYS { 0 } else { days })
}

/// The earliest instant from `at` on that the feed's skipHours and skipDays allow.
pub fn after_skips(at: Timestamp, hints: &PollHints) -> Timestamp {
    let mut at = at;
    // A week of hours covers every combination of day and hour.
    for _ in 0..24 * 7 {
        let skipped = hints.skip_hours >> at.hour() & 1 == 1 || hints.skip_days >> at.weekday() & 1 == 1;
        if !skipped {
            return at;
        }
        let into_hour = at.as_millis().rem_euclid(HOUR).unsigned_abs();
        at = at + Millis(HOUR.unsigned_abs() - into_hour);
    }
    at
}
