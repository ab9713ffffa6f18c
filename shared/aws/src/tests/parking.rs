//! Parking, release and repeated release of jobs.

use super::Stack;
use crate::jobs::wall_clock;
use curlew_model::{Job, Millis, PollJob, QueueName, SourceKey, Timestamp};
use curlew_ports::{Inbox, Marks, Queue, QueueCount, Version};
use curlew_testkit::sample::poll;
use futures::future::join_all;
use std::collections::BTreeSet;

const HOUR: Millis = Millis::from_hours(1);

impl Stack {
    /// Parks `count` jobs that were due `ago` before now.
    async fn park_overdue(&self, count: u64, ago: Millis) {
        let due = wall_clock() - ago;
        let rows = (0..count).map(|n| (QueueName::Poll, poll(n).to_message().expect("a message"), due)).collect();
        self.store.jobs().park(rows).await.expect("parks");
    }

    async fn release(&self, now: Timestamp) -> usize {
        self.store.jobs().release_parked(&*self.store.hosts, now).await.expect("releases")
    }

    async fn count(&self, now: Timestamp) -> QueueCount {
        self.store.jobs().counts(now).await.expect("counts")[&QueueName::Poll]
    }

    async fn parked(&self) -> usize {
        self.store.jobs().all_parked(100).await.expect("lists").len()
    }

    /// Returns the minute up to which rows have been released.
    async fn released_until(&self) -> Option<i64> {
        self.store.hosts.load("parked").await.expect("loads").0.map(Timestamp::minute)
    }

    /// Returns all distinct messages in the queue, and the number of deliveries.
    async fn received(&self) -> (BTreeSet<String>, usize) {
        let received = self.store.jobs().receive(QueueName::Poll, 10_000, HOUR, Timestamp::EPOCH).await;
        let received = received.expect("receives");
        let count = received.len();
        (received.into_iter().filter_map(|d| d.job.ok().and_then(|job| job.to_message().ok())).collect(), count)
    }
}

#[tokio::test]
async fn parked_jobs_come_when_they_are_due() {
    let stack = Stack::new().await;
    let due = wall_clock() + HOUR;
    stack.store.jobs().send(&(0..60).map(|n| (poll(n), due)).collect::<Vec<_>>()).await.expect("parks");
    let now = wall_clock();
    assert_eq!(stack.release(now).await, 0);
    assert_eq!(stack.count(now).await.waiting, 60);
    // Release as if an hour had passed. SQS uses the real time, so it delays the messages for as long as it can.
    let later = now + HOUR;
    assert_eq!(stack.release(later).await, 60);
    assert_eq!((stack.count(later).await.waiting, stack.parked().await), (60, 0));
    assert_eq!(stack.released_until().await, Some(later.minute()));
}

#[tokio::test]
async fn an_outage_of_days_is_caught_up() {
    let stack = Stack::new().await;
    let now = wall_clock();
    stack.store.hosts.swap("parked", Version::ABSENT, now - Millis::from_days(3)).await.expect("marks");
    stack.park_overdue(30, Millis::from_days(2)).await;
    stack.park_overdue(7, HOUR).await;
    let mut released = 0;
    for _ in 0..7 {
        released += stack.release(now).await;
    }
    assert_eq!(released, 37);
    assert_eq!(stack.received().await.0.len(), 30);
    assert_eq!(stack.released_until().await, Some(now.minute()));
}

#[tokio::test]
async fn rows_from_before_the_first_call_are_found() {
    let stack = Stack::new().await;
    stack.park_overdue(5, Millis::from_days(2)).await;
    let (now, mut released) = (wall_clock(), 0);
    // Each call covers half a day of the two days.
    for _ in 0..5 {
        released += stack.release(now).await;
    }
    assert_eq!((released, stack.received().await.1), (5, 5));
}

#[tokio::test]
async fn a_minute_of_many_is_released_as_a_whole_and_a_second_call_finds_nothing_more() {
    let stack = Stack::new().await;
    stack.park_overdue(600, Millis::from_mins(3)).await;
    let now = wall_clock();
    assert_eq!((stack.release(now).await, stack.release(now).await), (600, 0));
    let (messages, deliveries) = stack.received().await;
    assert_eq!((messages.len(), deliveries), (600, 600));
}

#[tokio::test]
async fn calls_at_once_lose_nothing() {
    let stack = Stack::new().await;
    stack.park_overdue(40, Millis::from_mins(3)).await;
    let now = wall_clock();
    let released = join_all((0..4).map(|_| stack.release(now))).await;
    assert!(released.iter().all(|released| *released <= 40), "{released:?}");
    let (messages, deliveries) = stack.received().await;
    assert_eq!((messages.len(), stack.parked().await), (40, 0));
    assert!(deliveries <= 160, "{deliveries}");
}

#[tokio::test]
async fn a_crash_between_sending_and_deleting_only_sends_twice() {
    let stack = Stack::new().await;
    stack.park_overdue(20, Millis::from_mins(3)).await;
    // Simulate a call that was interrupted after it sent the messages: the rows and the mark are unchanged.
    let due: Vec<_> = (0..20).map(|n| (poll(n), Timestamp::MIN)).collect();
    stack.store.jobs().send(&due).await.expect("sends");
    assert_eq!((stack.parked().await, stack.release(wall_clock()).await), (20, 20));
    let (messages, deliveries) = stack.received().await;
    assert_eq!((messages.len(), deliveries), (20, 40));
}

/// Returns the message of a job of more than a mebibyte that compresses to almost nothing.
fn very_long() -> String {
    let feed = SourceKey::new(&format!("{:032x}", 1)).expect("a key");
    let job = Job::new(PollJob::new(feed, format!("https://example.org/{}", "\\".repeat(600_000))));
    job.to_message().expect("a message")
}

#[tokio::test]
async fn a_job_longer_than_a_message_is_released_though_it_compresses_to_almost_nothing() {
    let stack = Stack::new().await;
    stack.park_overdue(3, Millis::from_mins(2)).await;
    let due = wall_clock() - Millis::from_mins(2);
    stack.store.jobs().park(vec![(QueueName::Poll, very_long(), due)]).await.expect("parks");
    assert_eq!((stack.release(wall_clock()).await, stack.parked().await), (4, 0));
    let (messages, _) = stack.received().await;
    assert!(messages.len() == 4 && messages.contains(&very_long()), "{}", messages.len());
}

#[tokio::test]
async fn a_row_that_cannot_be_read_or_sent_stays_and_stops_nobody() {
    let stack = Stack::new().await;
    stack.park_overdue(3, Millis::from_mins(2)).await;
    let due = wall_clock() - Millis::from_mins(2);
    let row = |id: &str| {
        let put = stack.connection.dynamodb().put_item().table_name(stack.names.part("parked"));
        put.item("due", crate::item::text(due.minute().to_string())).item("id", crate::item::text(id))
    };
    row("broken").send().await.expect("writes");
    // A row that an earlier version of the program might have written: compressed, it is short, but too long for SQS.
    let long = row("long").item("at", crate::item::number(due.as_millis())).item("q", crate::item::text("poll"));
    long.item(crate::item::STATE, crate::pack::pack_text(very_long())).send().await.expect("writes");
    assert_eq!((stack.release(wall_clock()).await, stack.parked().await), (3, 2));
    let expected = QueueCount { ready: 3, waiting: 1, ..QueueCount::default() };
    assert_eq!(stack.count(wall_clock()).await, expected);
}
