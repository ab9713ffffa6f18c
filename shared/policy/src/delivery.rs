//! Delivery of jobs: when a job that failed is handed out again, and when it is given up.

use curlew_model::{Millis, Timestamp};

/// A job that failed this often is given up.
pub const MAX_RECEIVES: u32 = 5;
/// A job that was handed out this often is given up before it is run again. Higher than [`MAX_RECEIVES`], since a process may
/// die for reasons that are none of its jobs', and lower than the `maxReceiveCount` of the queues on AWS, which know no reason.
pub const MAX_HANDOUTS: u32 = 8;
/// First wait after a failure. Each wait is three times as long as the one before, so that the last try is over six minutes
/// after the first.
pub const RETRY: Millis = Millis::from_secs(10);

/// What follows from a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFailure {
    /// The job is handed out again at this instant.
    Retry(Timestamp),
    /// The job is given up.
    DeadLetter,
}

/// Decides what follows from a failure of a job that was handed out `receives` times. `asked` is how long a port asked to be
/// left alone.
pub fn after_failure(receives: u32, is_transient: bool, asked: Millis, now: Timestamp) -> AfterFailure {
    if !is_transient || receives >= MAX_RECEIVES {
        return AfterFailure::DeadLetter;
    }
    let wait = RETRY.saturating_mul(3u64.saturating_pow(receives.saturating_sub(1)));
    AfterFailure::Retry(now + wait.max(asked))
}

/// Why a job that is handed out for the `receives`-th time is given up instead of being run: whoever had it before did not
/// even come to say how it failed.
pub fn never_ends(receives: u32) -> Option<String> {
    (receives >= MAX_HANDOUTS).then(|| {
        format!("handed out {} times without an end; the last process died or was killed", receives.saturating_sub(1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_tried_five_times_within_seven_minutes() {
        let mut now = Timestamp::EPOCH;
        for receives in 1..MAX_RECEIVES {
            match after_failure(receives, true, Millis::ZERO, now) {
                AfterFailure::Retry(at) => now = at,
                AfterFailure::DeadLetter => panic!("given up after {receives} tries"),
            }
        }
        assert_eq!(now, Timestamp::EPOCH + Millis::from_secs(400));
        assert_eq!(after_failure(MAX_RECEIVES, true, Millis::ZERO, now), AfterFailure::DeadLetter);
        assert_eq!(after_failure(1, false, Millis::ZERO, now), AfterFailure::DeadLetter);
        assert_eq!(after_failure(u32::MAX, true, Millis::ZERO, now), AfterFailure::DeadLetter);
    }

    #[test]
    fn a_port_that_asks_for_time_is_given_it() {
        let (now, hour) = (Timestamp::EPOCH, Millis::from_hours(1));
        assert_eq!(after_failure(1, true, hour, now), AfterFailure::Retry(now + hour));
        assert_eq!(after_failure(1, true, Millis(1), now), AfterFailure::Retry(now + RETRY));
    }

    #[test]
    fn what_never_ends_is_given_up_before_it_is_run() {
        assert_eq!(never_ends(MAX_HANDOUTS - 1), None);
        assert!(never_ends(MAX_HANDOUTS).is_some_and(|why| why.starts_with("handed out 7 times without an end")));
    }
}
