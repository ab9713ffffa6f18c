//! Sending messages: number of requests, failed entries, and long messages.

use super::Stack;
use super::server::{Answer, Asked, Server, store};
use crate::jobs::{Jobs, ReadError};
use bytes::Bytes;
use curlew_model::{EntryHints, ExtractJob, Job, Millis, PageBody, QueueName, Timestamp};
use curlew_ports::{Blobs, Inbox, PortError, Queue};
use curlew_testkit::sample::{page, poll};
use futures::future::join_all;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const LONG: Millis = Millis::from_mins(5);

/// Returns a job with a length of about `bytes` bytes.
fn extract(n: u64, bytes: usize, title: &str) -> Job {
    let body = PageBody::Inline(Bytes::from(vec![7; bytes / 4 * 3]));
    let hints = EntryHints { title: Some(title.into()), ..EntryHints::default() };
    Job::new(ExtractJob { hints, ..page(&format!("https://example.org/{n}"), body) })
}

async fn jobs_at(server: &Server) -> Arc<Jobs> {
    store(server).await.jobs()
}

/// Returns the bodies of the entries of a batch request.
fn entries(asked: &Asked) -> Vec<Value> {
    let body: Value = serde_json::from_str(&asked.body).expect("JSON");
    body["Entries"].as_array().cloned().unwrap_or_default()
}

/// Returns a server that accepts the entries that `takes` accepts, and fails the others with its reason.
async fn queue(takes: impl Fn(&Value) -> Result<(), (&'static str, bool)> + Send + Sync + 'static) -> Server {
    Server::by(move |asked| {
        if asked.operation == "GetQueueUrl" {
            return Answer::json(200, r#"{"QueueUrl":"http://queue/1/s-poll"}"#);
        }
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for entry in entries(asked) {
            match takes(&entry) {
                Ok(()) => good.push(json!({"Id": entry["Id"], "MessageId": "m", "MD5OfMessageBody": "x"})),
                Err((code, own)) => bad.push(json!({"Id": entry["Id"], "Code": code, "SenderFault": own})),
            }
        }
        Answer::json(200, json!({"Successful": good, "Failed": bad}).to_string())
    })
    .await
}

fn batches(server: &Server) -> Vec<usize> {
    server.asked().iter().filter(|a| a.operation == "SendMessageBatch").map(|a| entries(a).len()).collect()
}

#[tokio::test]
async fn a_long_list_takes_as_few_requests_as_possible() {
    let server = queue(|_| Ok(())).await;
    let list: Vec<_> = (0..25).map(|n| (poll(n), Timestamp::MIN)).collect();
    jobs_at(&server).await.send(&list).await.expect("sends");
    let mut sizes = batches(&server);
    sizes.sort_unstable();
    assert_eq!(sizes, [5, 10, 10]);
    // The queue's address is requested only once.
    assert_eq!(server.asked().len(), 4);
}

#[tokio::test]
async fn senders_at_once_share_requests() {
    let server = queue(|_| Ok(())).await;
    let jobs = jobs_at(&server).await;
    let sends = (0..100).map(|n| {
        let jobs = Arc::clone(&jobs);
        tokio::spawn(async move { jobs.send(&[(poll(n), Timestamp::MIN)]).await })
    });
    for sent in join_all(sends).await {
        sent.expect("ends").expect("sends");
    }
    let sizes = batches(&server);
    assert_eq!(sizes.iter().sum::<usize>(), 100);
    assert!(sizes.len() <= 30, "{sizes:?}");
}

/// Returns the length of a message's page.
fn page_of(entry: &Value) -> usize {
    let page = entry["MessageAttributes"]["inline"]["BinaryValue"].as_str().unwrap_or_default();
    page.trim_end_matches('=').len() * 3 / 4
}

#[tokio::test]
async fn no_request_is_larger_than_allowed() {
    let server = queue(|_| Ok(())).await;
    let list: Vec<_> = (0..8).map(|n| (extract(n, 300_000, ""), Timestamp::MIN)).collect();
    jobs_at(&server).await.send(&list).await.expect("sends");
    assert_eq!(batches(&server).iter().sum::<usize>(), 8);
    for asked in server.asked().iter().filter(|a| a.operation == "SendMessageBatch") {
        let bytes: usize = entries(asked).iter().filter_map(|e| e["MessageBody"].as_str()).map(str::len).sum();
        let pages: Vec<usize> = entries(asked).iter().map(page_of).collect();
        assert!(bytes + pages.iter().sum::<usize>() <= 1 << 20, "{bytes} {pages:?}");
        assert!(
            bytes < 8_000 && pages.iter().all(|page| *page == 225_000),
            "a page is an attribute: {bytes} {pages:?}"
        );
    }
}

#[tokio::test]
async fn what_was_left_unprocessed_is_sent_again() {
    let refusals = AtomicUsize::new(0);
    // The first entry fails twice; the second one succeeds.
    let server = queue(move |entry| {
        let odd = entry["MessageBody"].as_str().is_some_and(|body| body.contains("feed/1\""));
        if odd && refusals.fetch_add(1, Ordering::Relaxed) < 2 { Err(("InternalError", false)) } else { Ok(()) }
    })
    .await;
    jobs_at(&server).await.send(&[(poll(1), Timestamp::MIN), (poll(2), Timestamp::MIN)]).await.expect("sends at last");
    assert_eq!(batches(&server), [2, 1, 1]);
}

#[tokio::test]
async fn who_sent_what_failed_is_told_and_nobody_else() {
    let server = queue(|entry| {
        let bad = entry["MessageBody"].as_str().is_some_and(|body| body.contains("feed/3\""));
        if bad { Err(("InvalidMessageContents", true)) } else { Ok(()) }
    })
    .await;
    let jobs = jobs_at(&server).await;
    let sent = join_all((0..6).map(|n| {
        let jobs = Arc::clone(&jobs);
        async move { jobs.send(&[(poll(n), Timestamp::MIN)]).await }
    }))
    .await;
    for (result, n) in sent.iter().zip(0..) {
        assert_eq!(result.is_err(), n == 3, "{n}: {result:?}");
    }
    assert!(matches!(sent[3], Err(PortError::Corrupt { .. })), "{:?}", sent[3]);
}

#[tokio::test]
async fn a_queue_that_stays_busy_is_throttling() {
    let server = queue(|_| Err(("RequestThrottled", false))).await;
    let refused = jobs_at(&server).await.send(&[(poll(1), Timestamp::MIN)]).await;
    assert!(matches!(refused, Err(PortError::Throttled { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_sender_that_goes_away_takes_nobody_with_it() {
    let server = queue(|_| Ok(())).await;
    let jobs = jobs_at(&server).await;
    for _ in 0..5 {
        let send = |n| {
            let jobs = Arc::clone(&jobs);
            tokio::spawn(async move { jobs.send(&[(poll(n), Timestamp::MIN)]).await })
        };
        let first = send(1);
        tokio::task::yield_now().await;
        let second = send(2);
        tokio::task::yield_now().await;
        first.abort();
        second.await.expect("ends").expect("sends for itself");
    }
    let all: String = server.asked().iter().map(|asked| asked.body.clone()).collect();
    assert!(all.contains("feed/2"));
}

#[tokio::test]
async fn characters_that_queues_refuse_arrive() {
    let stack = Stack::new().await;
    let jobs = stack.store.jobs();
    let job = extract(1, 10, "a \u{fffe} b \u{ffff} c \u{1}");
    jobs.send(&[(job.clone(), Timestamp::MIN)]).await.expect("sends");
    let received = jobs.receive(QueueName::Extract, 1, LONG, Timestamp::EPOCH).await.expect("receives");
    assert_eq!(received[0].job, Ok(job));
}

#[tokio::test]
async fn a_message_that_is_too_long_goes_through_the_bucket() {
    let stack = Stack::new().await;
    let (jobs, objects) = (stack.store.jobs(), stack.store.objects());
    let long = extract(1, 3 << 20, "");
    jobs.send(&[(long.clone(), Timestamp::MIN)]).await.expect("sends");
    let claims = objects.list("claims/", None, 10).await.expect("lists");
    assert_eq!(claims.len(), 1);
    let message = format!(r#"{{"claim":"{}"}}"#, claims[0]);
    assert!(jobs.read_message(&message).await.expect("reads") == long);
    let received = jobs.receive(QueueName::Extract, 1, LONG, Timestamp::EPOCH).await.expect("receives");
    assert!(received[0].job == Ok(long.clone()));

    // After dead-lettering and redrive, the job is unchanged.
    jobs.dead_letter(&received[0].receipt, "why", Timestamp::EPOCH).await.expect("is dead-lettered");
    let dead = jobs.dead(1).await.expect("lists");
    assert_eq!(dead[0].message, message);
    jobs.redrive(&dead[0].receipt, Timestamp::EPOCH).await.expect("redrives");
    let received = jobs.receive(QueueName::Extract, 1, LONG, Timestamp::EPOCH).await.expect("receives");
    assert!(received[0].job == Ok(long));

    objects.delete(&claims[0]).await.expect("deletes");
    let gone = jobs.read_message(&message).await;
    assert!(matches!(&gone, Err(ReadError::Unreadable(why)) if why.contains("no longer in the bucket")), "{gone:?}");
}

#[tokio::test]
async fn a_message_that_is_none_is_unreadable_and_a_bucket_out_of_reach_is_not() {
    let server = Server::saying([Answer::xml(500, "InternalError", "oh")]).await;
    let jobs = jobs_at(&server).await;
    for bad in ["", "x", "{}", r#"{"v":9}"#, r#"{"claim":7}"#, r#"{"claim":"../x"}"#, r#"{"claim":""}"#] {
        let read = jobs.read_message(bad).await;
        assert!(matches!(read, Err(ReadError::Unreadable(_))), "{bad}: {read:?}");
    }
    let read = jobs.read_message(r#"{"claim":"claims/poll/1"}"#).await;
    assert!(matches!(read, Err(ReadError::Port(_))), "{read:?}");
}

#[tokio::test]
async fn what_is_given_up_keeps_any_message_and_any_reason() {
    let stack = Stack::new().await;
    let jobs = stack.store.jobs();
    for reason in ["", "\0\u{1}", "a\0b", &"é".repeat(20_000)] {
        jobs.give_up(QueueName::Fetch, "not JSON", reason, Timestamp::EPOCH).await.expect("gives up");
    }
    let dead = jobs.dead(10).await.expect("lists");
    assert_eq!(dead.len(), 4);
    assert!(dead.iter().all(|dead| dead.message == "not JSON" && !dead.error.is_empty() && dead.error.len() <= 4_096));
    assert!(dead.iter().any(|dead| dead.error == "ab"));
}
