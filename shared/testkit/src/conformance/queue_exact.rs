//! Behaviours of [`Queue`](curlew_ports::Queue) and [`Inbox`](curlew_ports::Inbox) with one table and one clock, which
//! distributed queues cannot guarantee. Standard queues of SQS do not:
//!
//! - hand out the oldest first,
//! - show jobs that wait for less than a quarter of an hour, and tell when the first of them is due,
//! - count for an instant that has not come,
//! - hand out each job exactly once.

use super::queue::{QueuePorts, SHARED, VISIBILITY, share_out};
use super::samples::extract;
use crate::sample::poll;
use curlew_model::{Job, Millis, QueueName, Timestamp};
use curlew_ports::{Delivery, QueueCount};
use std::collections::BTreeSet;

fn in_order(received: Vec<Delivery>) -> Vec<Job> {
    received.into_iter().map(|d| d.job.expect("a job")).collect()
}

/// Returns the instants of a test, as a function of milliseconds after its start.
fn instants(ports: &QueuePorts) -> impl Fn(u64) -> Timestamp + use<> {
    let start = ports.now();
    move |ms| start + Millis(ms)
}

/// The order is that of the due times.
pub async fn the_oldest_come_first(ports: &QueuePorts) {
    let at = instants(ports);
    ports.send(&[(poll(3), at(3)), (poll(1), at(1)), (poll(4), at(4)), (poll(2), at(2))]).await;
    ports.time.until(at(9)).await;
    assert_eq!(in_order(ports.receive(QueueName::Poll, 3).await), [poll(1), poll(2), poll(3)]);
    assert_eq!(in_order(ports.receive(QueueName::Poll, 3).await), [poll(4)]);
}

/// The earliest due time tells a runner how long it may sleep.
pub async fn next_due_is_the_earliest_that_is_not_handed_out(ports: &QueuePorts) {
    let at = instants(ports);
    ports.send(&[(poll(1), at(30)), (extract(2, 1), at(20)), (poll(3), at(40))]).await;
    assert_eq!(ports.inbox.next_due().await.expect("reads"), Some(at(20)));
    ports.time.until(at(20)).await;
    let first = ports.receive_one(QueueName::Extract).await;
    assert_eq!(ports.inbox.next_due().await.expect("reads"), Some(at(30)));
    ports.inbox.put_back(&first.receipt, at(25)).await.expect("puts back");
    assert_eq!(ports.inbox.next_due().await.expect("reads"), Some(at(25)));
    ports.time.until(at(25)).await;
    let first = ports.receive_one(QueueName::Extract).await;
    ports.ack(&first.receipt).await;
    ports.time.until(at(40)).await;
    for delivery in ports.receive(QueueName::Poll, 10).await {
        ports.ack(&delivery.receipt).await;
    }
    assert_eq!(ports.inbox.next_due().await.expect("reads"), None);
}

/// The list has the jobs of all queues that are due later and not in flight, with millisecond precision.
pub async fn waiting_jobs_are_listed_earliest_first(ports: &QueuePorts) {
    let at = instants(ports);
    ports.send(&[(poll(3), at(30)), (poll(1), at(10)), (extract(2, 1), at(20)), (poll(9), at(0))]).await;
    ports.receive_one(QueueName::Poll).await;
    let listed = |waiting: Vec<curlew_ports::Waiting>| {
        waiting.into_iter().map(|w| (w.job.expect("a job"), w.due)).collect::<Vec<_>>()
    };
    let all = [(poll(1), at(10)), (extract(2, 1), at(20)), (poll(3), at(30))];
    assert_eq!(listed(ports.inbox.waiting(at(0), 10).await.expect("lists")), all);
    assert_eq!(listed(ports.inbox.waiting(at(10), 10).await.expect("lists")), all[1..]);
    assert_eq!(listed(ports.inbox.waiting(at(30), 10).await.expect("lists")), []);
}

/// Jobs count as ready when they are due or their visibility timeout has ended.
pub async fn what_has_run_out_is_counted_as_ready(ports: &QueuePorts) {
    let at = instants(ports);
    let due: Vec<_> = (0..10).map(|n| (poll(n), at(if n < 6 { 0 } else { 1_000 }))).collect();
    ports.send(&due).await;
    ports.receive(QueueName::Poll, 3).await;
    assert_eq!(ports.count(QueueName::Poll).await, QueueCount { ready: 3, waiting: 4, in_flight: 3, dead: 0 });
    ports.time.until(at(1_000) + VISIBILITY).await;
    assert_eq!(ports.count(QueueName::Poll).await, QueueCount { ready: 10, ..QueueCount::default() });
}

/// With several senders and receivers, no job is lost or received twice.
pub async fn each_job_is_handed_out_once(ports: &QueuePorts) {
    let received = share_out(ports).await;
    assert_eq!((received.len(), received.iter().collect::<BTreeSet<_>>().len()), (SHARED, SHARED));
}
