//! The deadline of an invocation. Pure.

use crate::failure::Failure;
use curlew_model::{Millis, Timestamp};

/// Maximum duration of a function by Lambda's quotas, with a margin for clock differences.
const LONGEST: Millis = Millis::from_mins(16);
/// Smaller deadlines are not instants: local runtimes without a time limit give a small number.
const FIRST_DEADLINE: Timestamp = Timestamp::from_millis(1_000_000_000_000);
/// Assumed duration of an invocation without a stated deadline.
const UNKNOWN: Millis = Millis::from_mins(5);

/// Converts the deadline to monotonic time, since the wall clock may jump later. Fails if the clocks of this machine
/// and of Lambda disagree: visits would be killed, or never start.
pub(crate) fn deadline(given: u64, now: Timestamp, monotonic: Millis) -> Result<Millis, Failure> {
    let given = Timestamp::from_millis(i64::try_from(given).unwrap_or(i64::MAX));
    if given < FIRST_DEADLINE {
        return Ok(monotonic + UNKNOWN);
    }
    let left = given.since(now);
    if left == Millis::ZERO || left > LONGEST {
        return Err(Failure::Settings(format!(
            "the invocation is said to end at {given}, but the clock of this machine shows {now}: one of them is off"
        )));
    }
    Ok(monotonic + left)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn a_clock_that_is_off_by_an_hour_is_named() {
        let now: Timestamp = "2026-11-21T12:00:00Z".parse().unwrap();
        let at = |ms: i64| u64::try_from(now.as_millis() + ms).unwrap();
        assert_eq!(deadline(at(900_000), now, Millis(5)).unwrap(), Millis(900_005));
        for ms in [3_600_000, -3_600_000] {
            let failure = deadline(at(ms), now, Millis::ZERO).unwrap_err().to_string();
            assert!(failure.contains("clock") && failure.contains("2026-11-21T12:00:00"), "{failure}");
        }
        assert_eq!(deadline(0, now, Millis(5)).unwrap(), UNKNOWN + Millis(5));
    }
}
