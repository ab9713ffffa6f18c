//! The end of an invocation. Pure.

use crate::failure::Failure;
use curlew_model::{Millis, Timestamp};

/// The longest that a function may run, by Lambda's quotas, and a little for clocks that differ.
const LONGEST: Millis = Millis::from_mins(16);
/// Deadlines before this are no instants: local runtimes without a limit of time give a small number.
const FIRST_DEADLINE: Timestamp = Timestamp::from_millis(1_000_000_000_000);
/// Assumed duration of an invocation whose end nobody states.
const UNKNOWN: Millis = Millis::from_mins(5);

/// The deadline by the monotonic clock. From here on the wall clock may jump.
///
/// # Errors
/// If this machine's clock and Lambda's disagree: by a wrong clock visits would be ended from outside, or never begun.
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
