//! Monitoring of the queues by dispatch for problems that no other part sees: dead letters, including those that SQS
//! itself has moved, and a queue from which nothing is received.

use crate::meter::{Meter, Trouble};
use curlew_aws::Jobs;
use curlew_model::{Millis, QueueName, Timestamp};
use curlew_ports::stage::with_causes;
use curlew_ports::{Inbox, PortError, QueueCount};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Interval of the checks; each takes eleven billed requests.
const BETWEEN: Millis = Millis::from_mins(30);
/// Time after which a queue counts as stalled if it has ready jobs but none in flight.
const STANDS_STILL: Millis = Millis::from_mins(60);

/// The state in a process of dispatch: the last check, and the queues that look stalled.
#[derive(Debug, Default)]
struct Looks {
    last: Option<Timestamp>,
    /// When each of these queues was first seen with ready jobs but none in flight.
    untouched_since: BTreeMap<QueueName, Timestamp>,
}

impl Looks {
    /// True if a check is due, which is then recorded as begun.
    fn begin(&mut self, now: Timestamp) -> bool {
        let is_due = self.last.is_none_or(|last| now.since(last) >= BETWEEN);
        if is_due {
            self.last = Some(now);
        }
        is_due
    }

    /// Records the counts of a queue; true if the queue is stalled.
    fn stands_still(&mut self, queue: QueueName, count: QueueCount, now: Timestamp) -> bool {
        if count.ready == 0 || count.in_flight > 0 {
            self.untouched_since.remove(&queue);
            return false;
        }
        now.since(*self.untouched_since.entry(queue).or_insert(now)) >= STANDS_STILL
    }
}

#[derive(Debug, Default)]
pub(crate) struct QueueWatch(Mutex<Looks>);

impl QueueWatch {
    /// Checks all queues if half an hour has passed, and records problems. A queue that cannot be read is checked the
    /// next time.
    pub(crate) async fn look(&self, jobs: &Jobs, meter: &Meter, now: Timestamp) {
        if !self.remember(|looks| looks.begin(now)) {
            return;
        }
        for queue in QueueName::ALL {
            match jobs.glance(queue, now).await {
                Ok(count) => self.judge(queue, count, meter, now),
                Err(error) => unseen(queue.as_str(), &error),
            }
        }
        match jobs.dead_events().await {
            Ok(dead) => meter.note_trouble(Trouble::DeadEvents, dead),
            Err(error) => unseen("schedules-dead", &error),
        }
    }

    fn judge(&self, queue: QueueName, count: QueueCount, meter: &Meter, now: Timestamp) {
        let name = queue.as_str();
        if count.dead > 0 {
            tracing::warn!(queue = name, dead = count.dead, "the dead-letter queue holds jobs that were given up");
            meter.note_trouble(Trouble::DeadLetters, count.dead);
        }
        if self.remember(|looks| looks.stands_still(queue, count, now)) {
            tracing::warn!(queue = name, ready = count.ready, "jobs are ready, and nobody takes them");
            meter.note_trouble(Trouble::QueueStandsStill, 1);
        }
    }

    fn remember<T>(&self, act: impl FnOnce(&mut Looks) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn unseen(queue: &str, error: &PortError) {
    tracing::warn!(queue, error = with_causes(error), "the queue could not be looked at; a later tick looks again");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: u64) -> Timestamp {
        Timestamp::from_millis(1_795_392_000_000) + Millis::from_mins(minute)
    }

    #[test]
    fn a_look_is_due_each_half_hour() {
        let mut looks = Looks::default();
        let looked: Vec<u64> = (0..70).step_by(3).filter(|minute| looks.begin(at(*minute))).collect();
        assert_eq!(looked, [0, 30, 60]);
    }

    #[test]
    fn a_queue_stands_still_when_its_jobs_were_ready_and_untouched_in_every_look() {
        let untouched = QueueCount { ready: 3, ..QueueCount::default() };
        let in_work = QueueCount { ready: 3, in_flight: 1, ..QueueCount::default() };
        let later = QueueCount { waiting: 9, ..QueueCount::default() };
        let mut looks = Looks::default();
        for (minute, count, stands_still) in [
            (0, untouched, false),
            (30, untouched, false),
            (60, in_work, false),
            (90, untouched, false),
            (120, later, false),
            (150, untouched, false),
            (180, untouched, false),
            (210, untouched, true),
            (240, untouched, true),
        ] {
            assert_eq!(looks.stands_still(QueueName::Fetch, count, at(minute)), stands_still, "minute {minute}");
        }
        assert!(!looks.stands_still(QueueName::Poll, untouched, at(240)), "each queue by itself");
    }
}
