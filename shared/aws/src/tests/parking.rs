//! Jobs that wait for long: parked, released, and released again.

use super::{Stack, poll};
use crate::jobs::{Jobs, wall_clock};
use curlew_model::{Job, Millis, PollJob, QueueName, SourceKey, Timestamp};
use curlew_ports::{Inbox, Marks, Queue, QueueCount, Version};
use futures::future::join_all;
use std::collections::BTreeSet;

const HOUR: Millis = Millis::from_hours(1);

/// Sends `count` jobs, due after `wait`.
async fn park(jobs: &Jobs, count: u64, wait: Millis) {
    let due = wall_clock() + wait;
    let list: Vec<_> = (0..count).map(|n| (poll(n), due)).collect();
    jobs.send(&list).await.expect("parks");
}

/// Returns all messages that are in the queue now, and the number of deliveries.
async fn received(jobs: &Jobs) -> (BTreeSet<String>, usize) {
    let received = jobs.receive(QueueName::Poll, 10_000, HOUR, Timestamp::EPOCH).await.expect("receives");
    let count = received.len();
    (received.into_iter().filter_map(|d| d.job.ok().and_then(|job: Job| job.to_message().ok())).collect(), count)
}

#[tokio::test]
async fn parked_jobs_come_when_they_are_due() {
    let stack = Stack::new().await;
    let (jobs, marks) = (stack.store.jobs(), stack.store.marks.clone());
    park(&jobs, 60, HOUR).await;
    let now = wall_clock();
    assert_eq!(jobs.release_parked(&*marks, now).await.expect("releases"), 0);
    assert_eq!(jobs.counts(now).await.expect("counts")[&QueueName::Poll].waiting, 60);
    // An hour later; SQS goes by the true clock and delays them until then, as long as it can.
    let later = now + HOUR;
    assert_eq!(jobs.release_parked(&*marks, later).await.expect("releases"), 60);
    let count = jobs.counts(later).await.expect("counts")[&QueueName::Poll];
    assert_eq!((count.waiting, jobs.all_parked(100).await.expect("lists").len()), (60, 0));
    assert_eq!(marks.load("parked").await.expect("loads").0.map(Timestamp::minute), Some(later.minute()));
}

/// Writes a row as an earlier call has written it, due a while ago.
async fn overdue(jobs: &Jobs, count: u64, ago: Millis) {
    let due = wall_clock() - ago;
    let rows = (0..count).map(|n| (QueueName::Poll, poll(n).to_message().expect("a message"), due)).collect();
    jobs.park(rows).await.expect("parks");
}

#[tokio::test]
async fn an_outage_of_days_is_caught_up() {
    let stack = Stack::new().await;
    let (jobs, marks) = (stack.store.jobs(), stack.store.marks.clone());
    let now = wall_clock();
    marks.swap("parked", Version::ABSENT, now - Millis::from_days(3)).await.expect("marks");
    overdue(&jobs, 30, Millis::from_days(2)).await;
    overdue(&jobs, 7, HOUR).await;
    let mut released = 0;
    for _ in 0..7 {
        released += jobs.release_parked(&*marks, now).await.expect("releases");
    }
    assert_eq!(released, 37);
    assert_eq!(received(&jobs).await.0.len(), 30);
    assert_eq!(marks.load("parked").await.expect("loads").0.map(Timestamp::minute), Some(now.minute()));
}

#[tokio::test]
async fn rows_from_before_the_first_call_are_found() {
    let stack = Stack::new().await;
    let (jobs, marks) = (stack.store.jobs(), stack.store.marks.clone());
    overdue(&jobs, 5, Millis::from_days(2)).await;
    let now = wall_clock();
    let mut released = 0;
    // Two days, half a day with each call.
    for _ in 0..5 {
        released += jobs.release_parked(&*marks, now).await.expect("releases");
    }
    assert_eq!((released, received(&jobs).await.1), (5, 5));
}

#[tokio::test]
async fn a_minute_of_many_is_released_as_a_whole() {
    let stack = Stack::new().await;
    let (jobs, marks) = (stack.store.jobs(), stack.store.marks.clone());
    overdue(&jobs, 600, Millis::from_mins(3)).await;
    assert_eq!(jobs.release_parked(&*marks, wall_clock()).await.expect("releases"), 600);
    let (messages, deliveries) = received(&jobs).await;
    assert_eq!((messages.len(), deliveries), (600, 600));
}

#[tokio::test]
async fn a_second_call_finds_nothing_more() {
    let stack = Stack::new().await;
    let (jobs, marks) = (stack.store.jobs(), stack.store.marks.clone());
    overdue(&jobs, 40, Millis::from_mins(3)).await;
    let now = wall_clock();
    assert_eq!(jobs.release_parked(&*marks, now).await.expect("releases"), 40);
    assert_eq!(jobs.release_parked(&*marks, now).await.expect("releases"), 0);
    let (messages, deliveries) = received(&jobs).await;
    assert_eq!((messages.len(), deliveries), (40, 40));
}

#[tokio::test]
async fn calls_at_once_lose_nothing() {
    let stack = Stack::new().await;
    let (jobs, marks) = (stack.store.jobs(), stack.store.marks.clone());
    overdue(&jobs, 40, Millis::from_mins(3)).await;
    let now = wall_clock();
    for released in join_all((0..4).map(|_| jobs.release_parked(&*marks, now))).await {
        assert!(released.expect("releases") <= 40);
    }
    let (messages, deliveries) = received(&jobs).await;
    assert_eq!(messages.len(), 40);
    assert!(deliveries <= 160, "{deliveries}");
    assert_eq!(jobs.all_parked(100).await.expect("lists").len(), 0);
}

#[tokio::test]
async fn a_crash_between_sending_and_deleting_only_sends_twice() {
    let stack = Stack::new().await;
    let (jobs, marks) = (stack.store.jobs(), stack.store.marks.clone());
    overdue(&jobs, 20, Millis::from_mins(3)).await;
    // As after a call that was cut short: it sent, and neither deleted the row nor moved the mark.
    let rows = jobs.all_parked(100).await.expect("lists");
    let due: Vec<_> = (0..20).map(|n| (poll(n), Timestamp::MIN)).collect();
    jobs.send(&due).await.expect("sends");
    assert_eq!(rows.len(), 20);
    assert_eq!(jobs.release_parked(&*marks, wall_clock()).await.expect("releases"), 20);
    let (messages, deliveries) = received(&jobs).await;
    assert_eq!((messages.len(), deliveries), (20, 40));
}

/// Returns a job of more than a mebibyte, which compresses to almost nothing.
fn very_long() -> Job {
    let feed = SourceKey::new(&format!("{:032x}", 1)).expect("a key");
    Job::new(PollJob::new(feed, format!("https://example.org/{}", "\\".repeat(600_000))))
}

#[tokio::test]
async fn a_job_longer_than_a_message_is_released_though_it_compresses_to_almost_nothing() {
    let stack = Stack::new().await;
    let (jobs, marks) = (stack.store.jobs(), stack.store.marks.clone());
    overdue(&jobs, 3, Millis::from_mins(2)).await;
    let due = wall_clock() - Millis::from_mins(2);
    jobs.park(vec![(QueueName::Poll, very_long().to_message().expect("a message"), due)]).await.expect("parks");
    assert_eq!(jobs.release_parked(&*marks, wall_clock()).await.expect("releases"), 4);
    assert_eq!(jobs.all_parked(100).await.expect("lists").len(), 0);
    let (messages, _) = received(&jobs).await;
    assert_eq!(messages.len(), 4);
    assert!(messages.contains(&very_long().to_message().expect("a message")));
}

#[tokio::test]
async fn a_row_that_cannot_be_read_or_sent_stays_and_stops_nobody() {
    let stack = Stack::new().await;
    let (jobs, marks) = (stack.store.jobs(), stack.store.marks.clone());
    overdue(&jobs, 3, Millis::from_mins(2)).await;
    let due = wall_clock() - Millis::from_mins(2);
    let row = |id: &str| {
        let put = stack.connection.dynamodb().put_item().table_name(stack.names.part("parked"));
        put.item("due", crate::item::text(due.minute().to_string())).item("id", crate::item::text(id))
    };
    row("broken").send().await.expect("writes");
    // As a program of before wrote it: short in its row, and longer than SQS takes.
    let long = row("long").item("at", crate::item::number(due.as_millis())).item("q", crate::item::text("poll"));
    long.item(crate::item::STATE, crate::pack::pack_text(very_long().to_message().expect("a message")))
        .send()
        .await
        .expect("writes");
    assert_eq!(jobs.release_parked(&*marks, wall_clock()).await.expect("releases"), 3);
    assert_eq!(jobs.all_parked(100).await.expect("lists").len(), 2);
    let count = jobs.counts(wall_clock()).await.expect("counts")[&QueueName::Poll];
    assert_eq!(count, QueueCount { ready: 3, waiting: 1, ..QueueCount::default() });
}
