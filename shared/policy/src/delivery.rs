//! Redelivery of jobs: when a failed job is handed out again, and when it is given up.

use curlew_model::{JobFailure, Millis, Timestamp};

/// Number of failures after which a job is given up.
pub const MAX_RECEIVES: u32 = 5;
/// Number of handouts at which a job is given up without a run; below `maxReceiveCount` of the queues on AWS.
pub const MAX_HANDOUTS: u32 = 8;
/// Number of processes that died running only this job, at which it is given up; a machine may end one by chance.
pub const MAX_DEATHS: u32 = 3;
/// Wait after the first failure. Each later wait is three times as long; all together take over six minutes.
pub const RETRY: Millis = Millis::from_secs(10);

/// First wait of a message that an older version of the program cannot read; each later wait is three times as long.
pub const REFUSED_RETRY: Millis = Millis::from_mins(10);
/// Longest wait of an unreadable message, below the 12 hours for which SQS hides one. The last try is after 1.5 days.
pub const REFUSED_LONGEST: Millis = Millis::from_hours(11);

/// First wait after a webhook receiver refused a post. Each later wait is twice as long.
pub const RECEIVER_RETRY: Millis = Millis::from_mins(1);
/// Longest wait between two posts to a receiver that refuses.
pub const RECEIVER_LONGEST: Millis = Millis::from_hours(1);
/// Time after which a receiver that accepted nothing is given up; longer than any weekend.
pub const RECEIVER_GIVEN_UP: Millis = Millis::from_days(7);

/// Decision after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFailure {
    /// The job waits until this instant, and the failure is not counted.
    Defer(Timestamp),
    /// The job is handed out again at this instant.
    Retry(Timestamp),
    /// The job is given up.
    DeadLetter,
}

/// Decides the next step after a failure of a job that was handed out `receives` times.
pub fn after_failure(receives: u32, kind: JobFailure, now: Timestamp) -> AfterFailure {
    match kind {
        JobFailure::Throttled(asked) => AfterFailure::Defer(now + asked),
        JobFailure::Transient if receives < MAX_RECEIVES => {
            AfterFailure::Retry(now + RETRY.saturating_mul(3u64.saturating_pow(receives.saturating_sub(1))))
        }
        JobFailure::Transient | JobFailure::Permanent => AfterFailure::DeadLetter,
    }
}

/// Returns when a message that could not be read at its `receives`-th delivery is handed out again.
pub fn after_refused_delivery(receives: u32, now: Timestamp) -> Timestamp {
    let wait = REFUSED_RETRY.saturating_mul(3u64.saturating_pow(receives.saturating_sub(1)));
    now + wait.min(REFUSED_LONGEST)
}

/// Returns when to post again to a receiver that has refused `failures` times since `since`; `None` if it is given up.
pub fn after_refusal(failures: u32, since: Timestamp, earliest: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let wait = RECEIVER_RETRY.saturating_mul(1 << failures.saturating_sub(1).min(10)).min(RECEIVER_LONGEST);
    (now.since(since) < RECEIVER_GIVEN_UP).then(|| earliest.max(now + wait))
}

/// Returns when a job that was cut off at `now` is handed out again: after its host's lease, at most `lease` long, has
/// expired. Until then the job would find its host busy, and its deferral would lose the note that it was cut off.
pub fn after_cut_off(lease: Millis, now: Timestamp) -> Timestamp {
    now + lease + RETRY
}

/// Returns the reason to give up a job at its `receives`-th delivery, if any; `deaths` processes died running it alone.
pub fn never_ends(receives: u32, deaths: u32) -> Option<String> {
    if deaths >= MAX_DEATHS || (deaths > 0 && receives >= MAX_HANDOUTS) {
        return Some(format!("the process died while this job ran, {deaths} times"));
    }
    (receives >= MAX_HANDOUTS).then(|| {
        format!("delivered {} times without finishing; the last process died or was killed", receives.saturating_sub(1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_tried_five_times_within_seven_minutes() {
        let mut now = Timestamp::EPOCH;
        for receives in 1..MAX_RECEIVES {
            match after_failure(receives, JobFailure::Transient, now) {
                AfterFailure::Retry(at) => now = at,
                other => panic!("{other:?} after {receives} tries"),
            }
        }
        assert_eq!(now, Timestamp::EPOCH + Millis::from_secs(400));
        let hour = Millis::from_hours(1);
        for receives in [MAX_RECEIVES, u32::MAX] {
            assert_eq!(after_failure(receives, JobFailure::Transient, now), AfterFailure::DeadLetter);
            assert_eq!(after_failure(receives, JobFailure::Throttled(hour), now), AfterFailure::Defer(now + hour));
        }
        assert_eq!(after_failure(1, JobFailure::Permanent, now), AfterFailure::DeadLetter);
        assert_eq!(after_failure(1, JobFailure::Throttled(hour), now), AfterFailure::Defer(now + hour));
    }

    #[test]
    fn what_was_cut_off_comes_once_its_lease_has_run_out() {
        let lease = Millis::from_mins(5);
        assert!(after_cut_off(lease, Timestamp::EPOCH) > Timestamp::EPOCH + lease);
        assert!(after_cut_off(lease, Timestamp::EPOCH) < Timestamp::EPOCH + lease + Millis::from_mins(1));
    }

    #[test]
    fn what_never_ends_is_given_up_before_it_is_run() {
        assert_eq!(never_ends(MAX_HANDOUTS - 1, 0), None);
        assert_eq!(never_ends(MAX_HANDOUTS - 1, MAX_DEATHS - 1), None);
        assert!(never_ends(MAX_HANDOUTS, 0).is_some_and(|why| why.starts_with("delivered 7 times without finishing")));
        for (receives, deaths, says) in [(MAX_DEATHS + 2, MAX_DEATHS, "3 times"), (MAX_HANDOUTS, 1, "1 times")] {
            let why = never_ends(receives, deaths);
            assert!(why.is_some_and(|why| why.contains("died while this job ran") && why.ends_with(says)), "{says}");
        }
    }

    #[test]
    fn what_is_refused_comes_after_a_release_and_is_not_given_up_for_a_day_and_a_half() {
        let waits: Vec<Millis> = (1..MAX_HANDOUTS)
            .map(|receives| after_refused_delivery(receives, Timestamp::EPOCH).since(Timestamp::EPOCH))
            .collect();
        assert_eq!(waits[..3], [Millis::from_mins(10), Millis::from_mins(30), Millis::from_mins(90)]);
        assert!(waits.is_sorted() && waits.last() == Some(&REFUSED_LONGEST));
        assert!(waits.iter().map(|wait| wait.0).sum::<u64>() > Millis::from_hours(36).0);
        assert_eq!(after_refused_delivery(u32::MAX, Timestamp::EPOCH), Timestamp::EPOCH + REFUSED_LONGEST);
        assert_eq!(after_refused_delivery(0, Timestamp::EPOCH), Timestamp::EPOCH + REFUSED_RETRY);
    }

    #[test]
    fn a_receiver_is_tried_for_a_week_at_least_every_hour() {
        let began = Timestamp::from_millis(1_800_000_000_000);
        let (mut now, mut failures, mut waits) = (began, 0, vec![]);
        loop {
            failures += 1;
            let Some(next) = after_refusal(failures, began, now, now) else { break };
            waits.push(next.since(now));
            now = next;
        }
        assert_eq!(waits[..3], [Millis::from_mins(1), Millis::from_mins(2), Millis::from_mins(4)]);
        assert!(waits.is_sorted() && waits.last() == Some(&RECEIVER_LONGEST));
        assert!(now.since(began) >= RECEIVER_GIVEN_UP);
        let later = began + Millis::from_days(2);
        assert_eq!(after_refusal(1, began, later, began), Some(later), "a hold is waited for");
    }
}
