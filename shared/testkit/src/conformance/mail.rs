//! [`Queue`] and [`Inbox`].

use super::samples::{at, extract, poll, race};
use async_trait::async_trait;
use curlew_model::{Job, Millis, Stage, Timestamp};
use curlew_ports::{Delivery, Inbox, PortError, Queue, QueueCount, Receipt};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How long a delivery is kept from others in these tests.
const VISIBILITY: Millis = Millis(30_000);
/// Longest message that an adapter has to take.
const LARGE: usize = 1 << 20;

/// Puts a text into a queue as it is, as an earlier or later program might have.
#[async_trait]
pub trait SendRaw: Send + Sync {
    /// `message` into the queue of `stage`, due at `due`.
    ///
    /// # Errors
    /// Transport errors.
    async fn send_raw(&self, stage: Stage, message: &str, due: Timestamp) -> Result<(), PortError>;
}

/// One adapter seen through both traits, and its back door.
#[derive(Clone)]
pub struct MailPorts {
    /// Sends.
    pub queue: Arc<dyn Queue>,
    /// Receives.
    pub inbox: Arc<dyn Inbox>,
    /// Sends what is no job.
    pub raw: Arc<dyn SendRaw>,
}

impl MailPorts {
    /// From an adapter of all three traits.
    pub fn of<T: Queue + Inbox + SendRaw + 'static>(adapter: Arc<T>) -> MailPorts {
        MailPorts { queue: adapter.clone(), inbox: adapter.clone(), raw: adapter }
    }

    async fn send(&self, jobs: &[(Job, Timestamp)]) {
        self.queue.send(jobs).await.expect("sends");
    }

    async fn receive(&self, stage: Stage, max: usize, now: Timestamp) -> Vec<Delivery> {
        self.inbox.receive(stage, max, VISIBILITY, now).await.expect("receives")
    }

    async fn receive_one(&self, stage: Stage, now: Timestamp) -> Delivery {
        let mut received = self.receive(stage, 10, now).await;
        assert_eq!(received.len(), 1, "{received:?}");
        received.remove(0)
    }

    async fn ack(&self, receipt: &Receipt) {
        self.inbox.ack(receipt).await.expect("acknowledges");
    }

    async fn count(&self, stage: Stage, now: Timestamp) -> QueueCount {
        self.inbox.count(stage, now).await.expect("counts")
    }
}

fn jobs(received: Vec<Delivery>) -> Vec<Job> {
    received.into_iter().map(|d| d.job.expect("a job")).collect()
}

/// Nothing was sent, or nothing was in what was sent.
pub async fn an_empty_queue_gives_nothing(mail: &MailPorts) {
    mail.send(&[]).await;
    for stage in Stage::ALL {
        assert_eq!(mail.receive(stage, 10, Timestamp::MAX).await, []);
        assert_eq!(mail.count(stage, at(0)).await, QueueCount::default());
    }
    assert_eq!(mail.inbox.next_due().await.expect("reads"), None);
    assert_eq!(mail.inbox.waiting(Timestamp::MIN, 10).await.expect("lists"), []);
    assert_eq!(mail.inbox.dead(10).await.expect("lists"), []);
}

/// On the millisecond.
pub async fn a_job_comes_when_it_is_due_and_not_before(mail: &MailPorts) {
    mail.send(&[(poll(1), at(1_000))]).await;
    assert_eq!(mail.receive(Stage::Poll, 10, at(999)).await, []);
    let delivery = mail.receive_one(Stage::Poll, at(1_000)).await;
    assert_eq!((delivery.job, delivery.receives), (Ok(poll(1)), 1));
    mail.send(&[(poll(2), Timestamp::MIN)]).await;
    assert_eq!(jobs(mail.receive(Stage::Poll, 10, at(1_000)).await), [poll(2)]);
}

/// Oldest by the time they are due.
pub async fn the_oldest_come_first_and_no_more_than_asked_for(mail: &MailPorts) {
    mail.send(&[(poll(3), at(3)), (poll(1), at(1)), (poll(4), at(4)), (poll(2), at(2))]).await;
    assert_eq!(mail.receive(Stage::Poll, 0, at(9)).await, []);
    assert_eq!(jobs(mail.receive(Stage::Poll, 3, at(9)).await), [poll(1), poll(2), poll(3)]);
    assert_eq!(jobs(mail.receive(Stage::Poll, 3, at(9)).await), [poll(4)]);
}

/// What is sent for one stage is never received for another.
pub async fn every_stage_has_its_own_queue(mail: &MailPorts) {
    mail.send(&[(poll(1), at(0)), (extract(2, 10), at(0))]).await;
    assert_eq!(mail.receive(Stage::Discover, 10, at(0)).await, []);
    assert_eq!(mail.receive(Stage::Fetch, 10, at(0)).await, []);
    assert_eq!(jobs(mail.receive(Stage::Extract, 10, at(0)).await), [extract(2, 10)]);
    assert_eq!(jobs(mail.receive(Stage::Poll, 10, at(0)).await), [poll(1)]);
}

/// Nobody else gets it before, somebody does after; each time it is counted.
pub async fn a_job_comes_again_when_its_visibility_ends(mail: &MailPorts) {
    mail.send(&[(poll(1), at(0))]).await;
    let mut now = at(0);
    let mut receipts = Vec::new();
    for receives in 1..=4 {
        let delivery = mail.receive_one(Stage::Poll, now).await;
        assert_eq!((delivery.job, delivery.receives), (Ok(poll(1)), receives));
        assert!(!receipts.contains(&delivery.receipt), "each delivery has its own receipt");
        receipts.push(delivery.receipt);
        now = now + VISIBILITY;
        assert_eq!(mail.receive(Stage::Poll, 10, now - Millis(1)).await, []);
    }
}

/// Not then, and not when its visibility would have ended.
pub async fn an_acknowledged_job_never_comes_again(mail: &MailPorts) {
    mail.send(&[(poll(1), at(0)), (poll(2), at(0))]).await;
    let received = mail.receive(Stage::Poll, 10, at(0)).await;
    let first = received.iter().find(|d| d.job == Ok(poll(1))).expect("was received");
    mail.ack(&first.receipt).await;
    assert_eq!(jobs(mail.receive(Stage::Poll, 10, Timestamp::MAX).await), [poll(2)]);
    assert_eq!(mail.count(Stage::Poll, at(0)).await.in_flight, 1);
}

/// Twice, made up, after the visibility: no error, and no other job is touched.
pub async fn receipts_that_have_run_out_are_harmless(mail: &MailPorts) {
    mail.send(&[(poll(1), at(0))]).await;
    let delivery = mail.receive_one(Stage::Poll, at(0)).await;
    mail.ack(&delivery.receipt).await;
    mail.send(&[(poll(2), at(0))]).await;
    let made_up = ["", "-", "1", "1-1", "0-0", "99999999999999999999-1", "x'; --", "dead-1", "שלום"];
    for receipt in made_up.map(|text| Receipt(text.into())).iter().chain([&delivery.receipt]) {
        // Nothing is handed out: no receipt names anything.
        mail.ack(receipt).await;
        mail.inbox.put_back(receipt, at(500)).await.expect("is harmless");
        mail.inbox.bury(receipt, "why", at(0)).await.expect("is harmless");
    }
    assert_eq!(mail.inbox.dead(10).await.expect("lists"), []);
    let second = mail.receive_one(Stage::Poll, at(0)).await;
    assert_eq!(second.job, Ok(poll(2)));
    // Late, but before anybody else got it: done is done, or it comes again; an error it is not.
    mail.ack(&second.receipt).await;
    mail.ack(&second.receipt).await;
}

/// The job belongs to who received it last.
pub async fn a_late_receipt_leaves_the_next_delivery_alone(mail: &MailPorts) {
    mail.send(&[(poll(1), at(0))]).await;
    let late = mail.receive_one(Stage::Poll, at(0)).await;
    let now = at(0) + VISIBILITY;
    let present = mail.receive_one(Stage::Poll, now).await;
    mail.inbox.put_back(&late.receipt, now).await.expect("is harmless");
    mail.inbox.bury(&late.receipt, "late", now).await.expect("is harmless");
    assert_eq!(mail.receive(Stage::Poll, 10, now).await, []);
    assert_eq!(mail.inbox.dead(10).await.expect("lists"), []);
    mail.ack(&present.receipt).await;
    mail.ack(&late.receipt).await;
    assert_eq!(mail.receive(Stage::Poll, 10, Timestamp::MAX).await, []);
}

/// Sooner or later than its visibility would have ended; and it is still the same message.
pub async fn a_job_put_back_comes_at_its_new_time(mail: &MailPorts) {
    mail.send(&[(poll(1), at(0))]).await;
    let first = mail.receive_one(Stage::Poll, at(0)).await;
    mail.inbox.put_back(&first.receipt, at(10)).await.expect("puts back");
    assert_eq!(mail.receive(Stage::Poll, 10, at(9)).await, []);
    let second = mail.receive_one(Stage::Poll, at(10)).await;
    assert_eq!((second.job, second.receives), (Ok(poll(1)), 2));
    let late = at(20) + VISIBILITY;
    mail.inbox.put_back(&second.receipt, late).await.expect("puts back");
    assert_eq!(mail.receive(Stage::Poll, 10, late - Millis(1)).await, []);
    let third = mail.receive_one(Stage::Poll, late).await;
    mail.ack(&third.receipt).await;
    assert_eq!(mail.count(Stage::Poll, late).await, QueueCount::default());
}

/// A person can read what was given up, when and why.
pub async fn a_buried_job_is_kept_with_its_reason(mail: &MailPorts) {
    mail.send(&[(poll(1), at(0))]).await;
    let delivery = mail.receive_one(Stage::Poll, at(0)).await;
    mail.inbox.bury(&delivery.receipt, "it's \"broken\"\n", at(7)).await.expect("buries");
    mail.inbox.bury(&delivery.receipt, "again", at(8)).await.expect("is harmless");
    mail.ack(&delivery.receipt).await;
    assert_eq!(mail.receive(Stage::Poll, 10, Timestamp::MAX).await, []);
    let dead = mail.inbox.dead(10).await.expect("lists");
    assert_eq!(dead.len(), 1, "{dead:?}");
    assert_eq!((dead[0].stage, dead[0].error.as_str(), dead[0].at), (Stage::Poll, "it's \"broken\"\n", at(7)));
    assert_eq!(Job::from_message(&dead[0].message), Ok(poll(1)));
    assert_eq!(mail.inbox.next_due().await.expect("reads"), None);
}

/// The newest is what a person looks for.
pub async fn the_dead_are_listed_newest_first(mail: &MailPorts) {
    for (n, buried) in [(1, at(10)), (2, at(30)), (3, at(20))] {
        mail.send(&[(poll(n), at(0))]).await;
        let delivery = mail.receive_one(Stage::Poll, at(0)).await;
        mail.inbox.bury(&delivery.receipt, &n.to_string(), buried).await.expect("buries");
    }
    let errors = |dead: Vec<curlew_ports::Dead>| dead.into_iter().map(|d| d.error).collect::<Vec<_>>();
    assert_eq!(errors(mail.inbox.dead(10).await.expect("lists")), ["2", "3", "1"]);
    assert_eq!(errors(mail.inbox.dead(2).await.expect("lists")), ["2", "3"]);
    assert_eq!(errors(mail.inbox.dead(0).await.expect("lists")), [""; 0]);
}

/// As if it had just been sent.
pub async fn a_redriven_job_comes_again(mail: &MailPorts) {
    mail.send(&[(poll(1), at(0)), (poll(2), at(0))]).await;
    for delivery in mail.receive(Stage::Poll, 10, at(0)).await {
        mail.inbox.bury(&delivery.receipt, "why", at(1)).await.expect("buries");
    }
    let dead = mail.inbox.dead(10).await.expect("lists");
    let first = dead.iter().find(|d| Job::from_message(&d.message) == Ok(poll(1))).expect("is dead");
    mail.inbox.redrive(&first.receipt, at(50)).await.expect("redrives");
    assert_eq!(mail.receive(Stage::Poll, 10, at(49)).await, []);
    let again = mail.receive_one(Stage::Poll, at(50)).await;
    assert_eq!((again.job, again.receives), (Ok(poll(1)), 1));
    let left = mail.inbox.dead(10).await.expect("lists");
    assert_eq!(left.iter().map(|d| Job::from_message(&d.message)).collect::<Vec<_>>(), [Ok(poll(2))]);
}

/// A receipt must never come to name another delivery.
pub async fn a_receipt_from_before_a_redrive_is_harmless(mail: &MailPorts) {
    mail.send(&[(poll(1), at(0))]).await;
    let old = mail.receive_one(Stage::Poll, at(0)).await;
    mail.inbox.bury(&old.receipt, "why", at(1)).await.expect("buries");
    let dead = mail.inbox.dead(1).await.expect("lists");
    mail.inbox.redrive(&dead[0].receipt, at(2)).await.expect("redrives");
    let new = mail.receive_one(Stage::Poll, at(2)).await;
    assert_ne!(new.receipt, old.receipt);
    mail.ack(&old.receipt).await;
    mail.inbox.put_back(&old.receipt, at(2)).await.expect("is harmless");
    assert_eq!(mail.count(Stage::Poll, at(2)).await, QueueCount { in_flight: 1, ..QueueCount::default() });
}

/// A typing error, or somebody else was faster.
pub async fn redriving_nothing_is_not_found(mail: &MailPorts) {
    mail.send(&[(poll(1), at(0))]).await;
    let delivery = mail.receive_one(Stage::Poll, at(0)).await;
    mail.inbox.bury(&delivery.receipt, "why", at(1)).await.expect("buries");
    let dead = mail.inbox.dead(1).await.expect("lists");
    mail.inbox.redrive(&dead[0].receipt, at(2)).await.expect("redrives");
    for receipt in [&dead[0].receipt, &Receipt("no such job".into()), &Receipt(String::new())] {
        let refused = mail.inbox.redrive(receipt, at(2)).await;
        assert!(matches!(refused, Err(PortError::NotFound(_))), "{receipt:?}: {refused:?}");
    }
    assert_eq!(mail.receive(Stage::Poll, 10, at(2)).await.len(), 1);
}

/// It tells a runner how long it may sleep.
pub async fn next_due_is_the_earliest_that_is_not_handed_out(mail: &MailPorts) {
    mail.send(&[(poll(1), at(30)), (extract(2, 1), at(20)), (poll(3), at(40))]).await;
    assert_eq!(mail.inbox.next_due().await.expect("reads"), Some(at(20)));
    let first = mail.receive_one(Stage::Extract, at(20)).await;
    assert_eq!(mail.inbox.next_due().await.expect("reads"), Some(at(30)));
    mail.inbox.put_back(&first.receipt, at(25)).await.expect("puts back");
    assert_eq!(mail.inbox.next_due().await.expect("reads"), Some(at(25)));
    let first = mail.receive_one(Stage::Extract, at(25)).await;
    mail.ack(&first.receipt).await;
    for delivery in mail.receive(Stage::Poll, 10, at(40)).await {
        mail.ack(&delivery.receipt).await;
    }
    assert_eq!(mail.inbox.next_due().await.expect("reads"), None);
}

/// What a person sees as parked: due later, not handed out, over all queues.
pub async fn waiting_jobs_are_listed_earliest_first(mail: &MailPorts) {
    mail.send(&[(poll(3), at(30)), (poll(1), at(10)), (extract(2, 1), at(20)), (poll(9), at(0))]).await;
    mail.receive_one(Stage::Poll, at(0)).await;
    let listed = |waiting: Vec<curlew_ports::Waiting>| {
        waiting.into_iter().map(|w| (w.job.expect("a job"), w.due)).collect::<Vec<_>>()
    };
    let all = [(poll(1), at(10)), (extract(2, 1), at(20)), (poll(3), at(30))];
    assert_eq!(listed(mail.inbox.waiting(at(0), 10).await.expect("lists")), all);
    assert_eq!(listed(mail.inbox.waiting(at(0), 2).await.expect("lists")), all[..2]);
    assert_eq!(listed(mail.inbox.waiting(at(10), 10).await.expect("lists")), all[1..]);
    assert_eq!(listed(mail.inbox.waiting(at(30), 10).await.expect("lists")), []);
}

/// Each job is in exactly one of the four.
pub async fn counts_tell_ready_waiting_in_flight_and_dead_apart(mail: &MailPorts) {
    let due: Vec<_> = (0..10).map(|n| (poll(n), at(if n < 6 { 0 } else { 1_000 }))).collect();
    mail.send(&due).await;
    mail.send(&[(extract(1, 1), at(0))]).await;
    let received = mail.receive(Stage::Poll, 3, at(0)).await;
    mail.inbox.bury(&received[0].receipt, "why", at(0)).await.expect("buries");
    let expected = QueueCount { ready: 3, waiting: 4, in_flight: 2, dead: 1 };
    assert_eq!(mail.count(Stage::Poll, at(0)).await, expected);
    assert_eq!(mail.count(Stage::Extract, at(0)).await, QueueCount { ready: 1, ..QueueCount::default() });
    // Later on all are due, and those whose visibility has ended are no longer in flight.
    let later = QueueCount { ready: 9, dead: 1, ..QueueCount::default() };
    assert_eq!(mail.count(Stage::Poll, at(1_000) + VISIBILITY).await, later);
}

/// It must not stop the queue, and a person must be able to see it.
pub async fn an_unreadable_message_is_delivered_as_such(mail: &MailPorts) {
    let of_tomorrow = r#"{"v":255,"job":"poll"}"#;
    for (message, due) in [("", at(1)), ("not JSON", at(2)), (of_tomorrow, at(3))] {
        mail.raw.send_raw(Stage::Poll, message, due).await.expect("sends");
    }
    mail.send(&[(poll(1), at(4))]).await;
    let waiting = mail.inbox.waiting(at(0), 10).await.expect("lists");
    assert_eq!(waiting.iter().filter(|w| w.job.is_err()).count(), 3);
    let received = mail.receive(Stage::Poll, 10, at(4)).await;
    assert_eq!(received.iter().map(|d| d.job.is_ok()).collect::<Vec<_>>(), [false, false, false, true]);
    let why = received[2].job.clone().expect_err("is no job of this version");
    assert!(why.contains("255"), "{why}");
    mail.inbox.bury(&received[2].receipt, &why, at(5)).await.expect("buries");
    assert_eq!(mail.inbox.dead(1).await.expect("lists")[0].message, of_tomorrow);
}

/// A page travels inside its message.
pub async fn a_message_of_a_megabyte_comes_back_whole(mail: &MailPorts) {
    // Base64 makes a third more of a body.
    let job = extract(1, LARGE * 3 / 4);
    assert!(job.to_message().expect("a message").len() > LARGE);
    mail.send(&[(job.clone(), at(0))]).await;
    let first = mail.receive_one(Stage::Extract, at(0)).await;
    mail.inbox.put_back(&first.receipt, at(1)).await.expect("puts back");
    let second = mail.receive_one(Stage::Extract, at(1)).await;
    assert!(second.job == Ok(job), "the message has changed");
    mail.ack(&second.receipt).await;
}

/// Many senders, many receivers: each job is handed out to exactly one.
pub async fn a_batch_is_shared_out_without_loss(mail: &MailPorts) {
    race((0..4).map(|sender| {
        let mail = mail.clone();
        async move {
            let batch: Vec<_> = (0..250).map(|n| (poll(sender * 250 + n), at(0))).collect();
            mail.send(&batch).await;
        }
    }))
    .await;
    assert_eq!(mail.count(Stage::Poll, at(0)).await.ready, 1_000);
    let received = race((0..8).map(|_| {
        let mail = mail.clone();
        async move {
            let mut mine = Vec::new();
            loop {
                let batch = mail.receive(Stage::Poll, 17, at(0)).await;
                if batch.is_empty() {
                    return mine;
                }
                for delivery in batch {
                    mail.ack(&delivery.receipt).await;
                    mine.push(delivery.job.expect("a job"));
                }
            }
        }
    }))
    .await;
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for job in received.iter().flatten() {
        *times.entry(job.to_message().expect("a message")).or_default() += 1;
    }
    assert_eq!(times.len(), 1_000);
    assert!(times.values().all(|n| *n == 1));
    assert_eq!(mail.count(Stage::Poll, Timestamp::MAX).await, QueueCount::default());
}
