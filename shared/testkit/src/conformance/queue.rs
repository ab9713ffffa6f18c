//! Behaviours of all adapters of [`Queue`] and [`Inbox`]. Those of only some adapters are in [`super::queue_exact`].

use super::samples::{at, extract, race};
use crate::sample::{poll, poll_number};
use async_trait::async_trait;
use curlew_model::{Job, Millis, QueueName, Timestamp};
use curlew_ports::{Dead, Delivery, Inbox, PortError, Queue, QueueCount, Receipt};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Visibility timeout for tests that do not wait for its end.
pub(super) const VISIBILITY: Millis = Millis(30_000);
/// Maximum length in bytes of a message that every adapter must accept.
const LARGE: usize = 1 << 20;
/// Longer than the maximum delay of any queue service.
const HOUR: Millis = Millis::from_hours(1);

/// Sends a raw text, such as an earlier or later version of the program might have sent.
#[async_trait]
pub trait SendRaw: Send + Sync {
    /// Sends `message`, which is not empty, to the queue of `stage`, due at `due`.
    ///
    /// # Errors
    /// Transport errors.
    async fn send_raw(&self, stage: QueueName, message: &str, due: Timestamp) -> Result<(), PortError>;
}

/// The time of an adapter, and how to let it pass.
#[async_trait]
pub trait Pass: Send + Sync {
    /// Returns the adapter's current time.
    fn now(&self) -> Timestamp;

    /// Returns the shortest measurable time, including delays and rounding.
    fn step(&self) -> Millis;

    /// Lets time pass until a job due at `due` is certainly due.
    async fn until(&self, due: Timestamp);

    /// Lets time pass until shortly before `due`; does nothing if the adapter's clock is too coarse for that.
    async fn until_before(&self, due: Timestamp);
}

/// Time for adapters that take `now` from their caller: it passes only on request, with millisecond precision.
#[derive(Debug)]
pub struct ManualTime(AtomicI64);

impl Default for ManualTime {
    fn default() -> ManualTime {
        ManualTime(AtomicI64::new(at(0).as_millis()))
    }
}

#[async_trait]
impl Pass for ManualTime {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed))
    }

    fn step(&self) -> Millis {
        Millis(2)
    }

    async fn until(&self, due: Timestamp) {
        self.0.fetch_max(due.as_millis(), Ordering::Relaxed);
    }

    async fn until_before(&self, due: Timestamp) {
        self.until(due - Millis(1)).await;
    }
}

/// All ports of one adapter, a way to send raw messages, and its time.
#[derive(Clone)]
pub struct QueuePorts {
    /// Port that sends jobs.
    pub queue: Arc<dyn Queue>,
    /// Port that receives jobs.
    pub inbox: Arc<dyn Inbox>,
    /// Sends messages that are not jobs.
    pub raw: Arc<dyn SendRaw>,
    /// Time of the adapter.
    pub time: Arc<dyn Pass>,
}

impl QueuePorts {
    /// Returns the ports of an adapter of all three traits that takes `now` from its caller.
    pub fn new<T: Queue + Inbox + SendRaw + 'static>(adapter: Arc<T>) -> QueuePorts {
        QueuePorts::in_time(adapter, Arc::new(ManualTime::default()))
    }

    /// Returns the ports of an adapter of all three traits that has a clock of its own.
    pub fn in_time<T: Queue + Inbox + SendRaw + 'static>(adapter: Arc<T>, time: Arc<dyn Pass>) -> QueuePorts {
        QueuePorts { queue: adapter.clone(), inbox: adapter.clone(), raw: adapter, time }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.time.now()
    }

    /// Returns the time `steps` steps from now.
    fn in_steps(&self, steps: u64) -> Timestamp {
        self.now() + self.time.step().saturating_mul(steps)
    }

    pub(super) async fn send(&self, jobs: &[(Job, Timestamp)]) {
        self.queue.send(jobs).await.expect("sends");
    }

    /// Receives jobs that are due now, and hides them for longer than the test lasts.
    pub(super) async fn receive(&self, stage: QueueName, max: usize) -> Vec<Delivery> {
        self.receive_for(stage, max, VISIBILITY).await
    }

    pub(super) async fn receive_for(&self, stage: QueueName, max: usize, visibility: Millis) -> Vec<Delivery> {
        self.inbox.receive(stage, max, visibility, self.now()).await.expect("receives")
    }

    pub(super) async fn receive_one(&self, stage: QueueName) -> Delivery {
        self.receive_one_for(stage, VISIBILITY).await
    }

    async fn receive_one_for(&self, stage: QueueName, visibility: Millis) -> Delivery {
        let mut received = self.receive_for(stage, 10, visibility).await;
        assert_eq!(received.len(), 1, "{received:?}");
        received.remove(0)
    }

    pub(super) async fn ack(&self, receipt: &Receipt) {
        self.inbox.ack(receipt).await.expect("acknowledges");
    }

    /// Sends jobs with these numbers, due now.
    async fn send_polls(&self, numbers: impl IntoIterator<Item = u64>) {
        let now = self.now();
        self.send(&numbers.into_iter().map(|n| (poll(n), now)).collect::<Vec<_>>()).await;
    }

    /// Sends and gives up `count` jobs; returns them in the order of their numbers.
    async fn give_up(&self, count: u64) -> Vec<Dead> {
        self.send_polls(1..=count).await;
        for delivery in self.receive(QueueName::Poll, 10).await {
            self.dead_letter(&delivery.receipt, "why", at(1)).await;
        }
        let mut dead = self.inbox.dead(10).await.expect("lists");
        dead.sort_by_key(|dead| poll_number(&Job::from_message(&dead.message)));
        dead
    }

    async fn dead_letter(&self, receipt: &Receipt, why: &str, at: Timestamp) {
        self.inbox.dead_letter(receipt, why, at).await.expect("is dead-lettered, or harmless");
    }

    pub(super) async fn count(&self, stage: QueueName) -> QueueCount {
        self.inbox.counts(self.now()).await.expect("counts")[&stage]
    }
}

/// Returns the jobs of deliveries, sorted by their texts: most queues guarantee no order.
pub(super) fn jobs(received: Vec<Delivery>) -> Vec<Job> {
    let mut jobs: Vec<Job> = received.into_iter().map(|d| d.job.expect("a job")).collect();
    jobs.sort_by_key(|job| job.to_message().expect("a message"));
    jobs
}

/// A queue to which no jobs were sent is empty.
pub async fn an_empty_queue_gives_nothing(ports: &QueuePorts) {
    ports.send(&[]).await;
    for stage in QueueName::ALL {
        assert_eq!(ports.receive(stage, 10).await, []);
        assert_eq!(ports.count(stage).await, QueueCount::default());
    }
    assert_eq!(ports.inbox.next_due().await.expect("reads"), None);
    assert_eq!(ports.inbox.waiting(Timestamp::MIN, 10).await.expect("lists"), []);
    assert_eq!(ports.inbox.dead(10).await.expect("lists"), []);
}

/// A job is not received before its due time, within the precision of the adapter's clock.
pub async fn a_job_comes_when_it_is_due_and_not_before(ports: &QueuePorts) {
    let due = ports.in_steps(1);
    ports.send(&[(poll(1), due)]).await;
    ports.time.until_before(due).await;
    assert_eq!(ports.receive(QueueName::Poll, 10).await, []);
    ports.time.until(due).await;
    let delivery = ports.receive_one(QueueName::Poll).await;
    assert_eq!((delivery.job, delivery.receives), (Ok(poll(1)), 1));
    ports.send(&[(poll(2), Timestamp::MIN)]).await;
    assert_eq!(jobs(ports.receive(QueueName::Poll, 10).await), [poll(2)]);
}

/// A receive returns at most `max` jobs, and the next one returns the rest.
pub async fn no_more_come_than_asked_for(ports: &QueuePorts) {
    ports.send_polls(1..=14).await;
    assert_eq!(ports.receive(QueueName::Poll, 0).await, []);
    let mut received = ports.receive(QueueName::Poll, 12).await;
    assert_eq!(received.len(), 12);
    received.extend(ports.receive(QueueName::Poll, 12).await);
    assert_eq!(jobs(received), (1..=14).map(poll).collect::<Vec<_>>());
}

/// Jobs for one stage are never received for another.
pub async fn every_stage_has_its_own_queue(ports: &QueuePorts) {
    ports.send(&[(poll(1), ports.now()), (extract(2, 10), ports.now())]).await;
    assert_eq!(ports.receive(QueueName::Discover, 10).await, []);
    assert_eq!(ports.receive(QueueName::Fetch, 10).await, []);
    assert_eq!(jobs(ports.receive(QueueName::Extract, 10).await), [extract(2, 10)]);
    assert_eq!(jobs(ports.receive(QueueName::Poll, 10).await), [poll(1)]);
}

/// A job is hidden from other receivers until its visibility timeout ends; each delivery is counted.
pub async fn a_job_comes_again_when_its_visibility_ends(ports: &QueuePorts) {
    ports.send_polls([1]).await;
    let mut receipts = Vec::new();
    for receives in 1..=3 {
        let ends = ports.in_steps(1);
        let delivery = ports.receive_one_for(QueueName::Poll, ports.time.step()).await;
        assert_eq!((delivery.job, delivery.receives), (Ok(poll(1)), receives));
        assert!(!receipts.contains(&delivery.receipt), "each delivery has its own receipt");
        receipts.push(delivery.receipt);
        ports.time.until_before(ends).await;
        assert_eq!(ports.receive(QueueName::Poll, 10).await, []);
        ports.time.until(ends).await;
    }
}

/// An acknowledged job does not come back, neither at once nor when its visibility timeout would have ended.
pub async fn an_acknowledged_job_never_comes_again(ports: &QueuePorts) {
    ports.send_polls([1, 2]).await;
    let received = ports.receive_for(QueueName::Poll, 10, ports.time.step()).await;
    let ends = ports.in_steps(1);
    let first = received.iter().find(|d| d.job == Ok(poll(1))).expect("was received");
    ports.ack(&first.receipt).await;
    ports.time.until(ends).await;
    assert_eq!(jobs(ports.receive(QueueName::Poll, 10).await), [poll(2)]);
    assert_eq!(ports.count(QueueName::Poll).await.in_flight, 1);
}

/// A used, invented or expired receipt causes no error, and affects no other job.
pub async fn receipts_that_have_run_out_are_harmless(ports: &QueuePorts) {
    ports.send_polls([1]).await;
    let delivery = ports.receive_one(QueueName::Poll).await;
    ports.ack(&delivery.receipt).await;
    ports.send_polls([2]).await;
    let made_up = ["", "-", "1", "1-1", "0-0", "99999999999999999999-1", "x'; --", "dead-1", "poll/", "poll/x", "שלום"];
    for receipt in made_up.map(|text| Receipt(text.into())).iter().chain([&delivery.receipt]) {
        // No job is in flight, so no receipt names a delivery.
        ports.ack(receipt).await;
        ports.inbox.put_back(receipt, ports.in_steps(10)).await.expect("puts back");
        ports.dead_letter(receipt, "why", ports.now()).await;
    }
    assert_eq!(ports.inbox.dead(10).await.expect("lists"), []);
    let second = ports.receive_one(QueueName::Poll).await;
    assert_eq!(second.job, Ok(poll(2)));
    // An acknowledgement after the timeout may delete the job or not, but is not an error.
    ports.ack(&second.receipt).await;
    ports.ack(&second.receipt).await;
}

/// Only the last receiver of a job can settle it.
pub async fn a_late_receipt_leaves_the_next_delivery_alone(ports: &QueuePorts) {
    ports.send_polls([1]).await;
    let late = ports.receive_one_for(QueueName::Poll, ports.time.step()).await;
    ports.time.until(ports.in_steps(1)).await;
    let present = ports.receive_one(QueueName::Poll).await;
    ports.inbox.put_back(&late.receipt, ports.now()).await.expect("puts back");
    ports.dead_letter(&late.receipt, "late", ports.now()).await;
    assert_eq!(ports.receive(QueueName::Poll, 10).await, []);
    assert_eq!(ports.inbox.dead(10).await.expect("lists"), []);
    ports.ack(&present.receipt).await;
    ports.ack(&late.receipt).await;
    assert_eq!(ports.count(QueueName::Poll).await, QueueCount::default());
}

/// A job can be put back for a shorter or a longer time than its visibility timeout, with the same message.
pub async fn a_job_put_back_comes_at_its_new_time(ports: &QueuePorts) {
    ports.send_polls([1]).await;
    let first = ports.receive_one(QueueName::Poll).await;
    let soon = ports.in_steps(1);
    ports.inbox.put_back(&first.receipt, soon).await.expect("puts back");
    ports.time.until_before(soon).await;
    assert_eq!(ports.receive(QueueName::Poll, 10).await, []);
    ports.time.until(soon).await;
    let second = ports.receive_one_for(QueueName::Poll, ports.time.step()).await;
    assert_eq!((second.job, second.receives), (Ok(poll(1)), 2));
    let late = ports.in_steps(4);
    ports.inbox.put_back(&second.receipt, late).await.expect("puts back");
    ports.time.until(ports.in_steps(2)).await;
    ports.time.until_before(late).await;
    assert_eq!(ports.receive(QueueName::Poll, 10).await, []);
    ports.time.until(late).await;
    let third = ports.receive_one(QueueName::Poll).await;
    ports.ack(&third.receipt).await;
    assert_eq!(ports.count(QueueName::Poll).await, QueueCount::default());
}

/// A job can be put back for any time: it is not received before, but is counted as waiting.
pub async fn a_job_put_back_for_a_day_waits(ports: &QueuePorts) {
    ports.send_polls([1]).await;
    let delivery = ports.receive_one(QueueName::Poll).await;
    let due = ports.now() + HOUR.saturating_mul(24);
    ports.inbox.put_back(&delivery.receipt, due).await.expect("puts back");
    assert_eq!(ports.receive(QueueName::Poll, 10).await, []);
    assert_eq!(ports.count(QueueName::Poll).await, QueueCount { waiting: 1, ..QueueCount::default() });
    assert_eq!(ports.inbox.next_due().await.expect("reads"), Some(due));
}

/// The text of a dead-lettered job, the time and the reason can be read.
pub async fn a_dead_lettered_job_is_kept_with_its_reason(ports: &QueuePorts) {
    ports.send_polls([1]).await;
    let delivery = ports.receive_one(QueueName::Poll).await;
    ports.dead_letter(&delivery.receipt, "it's \"broken\"\n", at(7)).await;
    ports.dead_letter(&delivery.receipt, "again", at(8)).await;
    ports.ack(&delivery.receipt).await;
    assert_eq!(ports.count(QueueName::Poll).await, QueueCount { dead: 1, ..QueueCount::default() });
    let dead = ports.inbox.dead(10).await.expect("lists");
    assert_eq!(dead.len(), 1, "{dead:?}");
    assert_eq!((dead[0].stage, dead[0].error.as_str(), dead[0].at), (QueueName::Poll, "it's \"broken\"\n", at(7)));
    assert_eq!(Job::from_message(&dead[0].message), Ok(poll(1)));
    assert_eq!(ports.inbox.next_due().await.expect("reads"), None);
}

/// The newest dead job is the first in the list.
pub async fn the_dead_are_listed_newest_first(ports: &QueuePorts) {
    for (n, at) in [(1, at(10)), (2, at(30)), (3, at(20))] {
        ports.send_polls([n]).await;
        let delivery = ports.receive_one(QueueName::Poll).await;
        ports.dead_letter(&delivery.receipt, &n.to_string(), at).await;
    }
    let errors = |dead: Vec<Dead>| dead.into_iter().map(|d| d.error).collect::<Vec<_>>();
    assert_eq!(errors(ports.inbox.dead(10).await.expect("lists")), ["2", "3", "1"]);
    assert_eq!(errors(ports.inbox.dead(2).await.expect("lists")), ["2", "3"]);
    assert_eq!(errors(ports.inbox.dead(0).await.expect("lists")), [""; 0]);
}

/// A redriven job is like a new one.
pub async fn a_redriven_job_comes_again(ports: &QueuePorts) {
    let dead = ports.give_up(2).await;
    let due = ports.in_steps(1);
    ports.inbox.redrive(&dead[0].receipt, due).await.expect("redrives");
    ports.time.until_before(due).await;
    assert_eq!(ports.receive(QueueName::Poll, 10).await, []);
    ports.time.until(due).await;
    let again = ports.receive_one(QueueName::Poll).await;
    assert_eq!((again.job, again.receives), (Ok(poll(1)), 1));
    assert_eq!(ports.inbox.dead(10).await.expect("lists"), dead[1..]);
}

/// A receipt never names another delivery.
pub async fn a_receipt_from_before_a_redrive_is_harmless(ports: &QueuePorts) {
    ports.send_polls([1]).await;
    let old = ports.receive_one(QueueName::Poll).await;
    ports.dead_letter(&old.receipt, "why", at(1)).await;
    let dead = ports.inbox.dead(10).await.expect("lists");
    ports.inbox.redrive(&dead[0].receipt, ports.now()).await.expect("redrives");
    let new = ports.receive_one(QueueName::Poll).await;
    assert_ne!(new.receipt, old.receipt);
    ports.ack(&old.receipt).await;
    ports.inbox.put_back(&old.receipt, ports.now()).await.expect("puts back");
    assert_eq!(ports.count(QueueName::Poll).await, QueueCount { in_flight: 1, ..QueueCount::default() });
}

/// Discarding deletes only the named job, and finds nothing a second time.
pub async fn a_discarded_job_is_gone(ports: &QueuePorts) {
    let dead = ports.give_up(2).await;
    ports.inbox.discard(&dead[0].receipt).await.expect("discards");
    assert_eq!(ports.inbox.dead(10).await.expect("lists"), dead[1..]);
    for receipt in [&dead[0].receipt, &Receipt("no such job".into()), &Receipt("".into())] {
        let refused = ports.inbox.discard(receipt).await;
        assert!(matches!(refused, Err(PortError::NotFound(_))), "{receipt:?}: {refused:?}");
        let redriven = ports.inbox.redrive(receipt, ports.now()).await;
        assert!(matches!(redriven, Err(PortError::NotFound(_))), "{receipt:?}: {redriven:?}");
    }
}

/// Redriving with an invalid or used receipt returns `NotFound`.
pub async fn redriving_nothing_is_not_found(ports: &QueuePorts) {
    let dead = ports.give_up(1).await;
    ports.inbox.redrive(&dead[0].receipt, ports.now()).await.expect("redrives");
    for receipt in
        [&dead[0].receipt, &Receipt("no such job".into()), &Receipt("dead/poll/x".into()), &Receipt("".into())]
    {
        let refused = ports.inbox.redrive(receipt, ports.now()).await;
        assert!(matches!(refused, Err(PortError::NotFound(_))), "{receipt:?}: {refused:?}");
    }
    assert_eq!(ports.receive(QueueName::Poll, 10).await.len(), 1);
}

/// The list covers all queues; a runner learns from it how long it may sleep.
pub async fn jobs_that_wait_for_hours_are_listed_earliest_first(ports: &QueuePorts) {
    let now = ports.now();
    let hours = |n| now + HOUR.saturating_mul(n);
    ports.send(&[(poll(3), hours(3)), (poll(1), hours(1)), (extract(2, 50_000), hours(2))]).await;
    let listed = |waiting: Vec<curlew_ports::Waiting>| {
        waiting.into_iter().map(|w| (w.job.expect("a job"), w.due)).collect::<Vec<_>>()
    };
    let all = [(poll(1), hours(1)), (extract(2, 50_000), hours(2)), (poll(3), hours(3))];
    assert_eq!(listed(ports.inbox.waiting(now, 10).await.expect("lists")), all);
    assert_eq!(listed(ports.inbox.waiting(now, 2).await.expect("lists")), all[..2]);
    assert_eq!(listed(ports.inbox.waiting(hours(1), 10).await.expect("lists")), all[1..]);
    assert_eq!(listed(ports.inbox.waiting(hours(3), 10).await.expect("lists")), []);
    assert_eq!(ports.inbox.next_due().await.expect("reads"), Some(hours(1)));
}

/// Each job is in exactly one of the four counts.
pub async fn counts_tell_ready_waiting_in_flight_and_dead_apart(ports: &QueuePorts) {
    let now = ports.now();
    let due: Vec<_> = (0..10).map(|n| (poll(n), if n < 6 { now } else { now + HOUR })).collect();
    ports.send(&due).await;
    ports.send(&[(extract(1, 1), now)]).await;
    let received = ports.receive(QueueName::Poll, 3).await;
    ports.dead_letter(&received[0].receipt, "why", now).await;
    let expected = QueueCount { ready: 3, waiting: 4, in_flight: 2, dead: 1 };
    assert_eq!(ports.count(QueueName::Poll).await, expected);
    assert_eq!(ports.count(QueueName::Extract).await, QueueCount { ready: 1, ..QueueCount::default() });
}

/// An unreadable message does not stop the queue, and a person can see it.
pub async fn an_unreadable_message_is_delivered_as_such(ports: &QueuePorts) {
    let now = ports.now();
    let of_tomorrow = r#"{"v":255,"job":"poll"}"#;
    for (message, due) in [(" ", now), ("not JSON", now), (of_tomorrow, now), (of_tomorrow, now + HOUR)] {
        ports.raw.send_raw(QueueName::Poll, message, due).await.expect("sends");
    }
    ports.send(&[(poll(1), now)]).await;
    let waiting = ports.inbox.waiting(now, 10).await.expect("lists");
    assert_eq!(waiting.iter().map(|w| w.job.is_err()).collect::<Vec<_>>(), [true]);
    let received = ports.receive(QueueName::Poll, 10).await;
    assert_eq!(received.iter().filter(|d| d.job.is_ok()).count(), 1);
    assert_eq!(received.len(), 4);
    let says = |d: &&Delivery| d.job.as_ref().is_err_and(|why| why.contains("255"));
    let found = received.iter().find(says).expect("the reason names the version");
    let why = found.job.clone().expect_err("is no job of this version");
    ports.dead_letter(&found.receipt, &why, now).await;
    assert_eq!(ports.inbox.dead(1).await.expect("lists")[0].message, of_tomorrow);
}

/// A message may contain a whole page.
pub async fn a_message_of_a_megabyte_comes_back_whole(ports: &QueuePorts) {
    // Base64 makes the body a third longer.
    let job = extract(1, LARGE * 3 / 4);
    assert!(job.to_message().expect("a message").len() > LARGE);
    ports.send(&[(job.clone(), ports.now())]).await;
    let first = ports.receive_one(QueueName::Extract).await;
    ports.inbox.put_back(&first.receipt, ports.now()).await.expect("puts back");
    let second = ports.receive_one(QueueName::Extract).await;
    assert!(second.job == Ok(job), "the message has changed");
    ports.ack(&second.receipt).await;
}

/// With several senders and receivers, no job is lost.
pub async fn a_batch_is_shared_out_without_loss(ports: &QueuePorts) {
    let received = share_out(ports).await;
    assert_eq!(received.iter().collect::<BTreeSet<_>>().len(), SHARED);
    assert_eq!(ports.count(QueueName::Poll).await, QueueCount::default());
}

pub(super) const SHARED: usize = 1_000;

/// Sends jobs from several senders to several receivers; returns the messages of all deliveries.
pub(super) async fn share_out(ports: &QueuePorts) -> Vec<String> {
    race((0..4).map(|sender| {
        let ports = ports.clone();
        async move {
            let batch: Vec<_> = (0..250).map(|n| (poll(sender * 250 + n), ports.now())).collect();
            ports.send(&batch).await;
        }
    }))
    .await;
    let received = race((0..8).map(|_| {
        let ports = ports.clone();
        async move {
            let mut mine = Vec::new();
            loop {
                let batch = ports.receive(QueueName::Poll, 17).await;
                if batch.is_empty() {
                    return mine;
                }
                for delivery in batch {
                    ports.ack(&delivery.receipt).await;
                    mine.push(delivery.job.expect("a job").to_message().expect("a message"));
                }
            }
        }
    }))
    .await;
    received.concat()
}
