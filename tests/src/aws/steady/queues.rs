//! SQS, and the pollers of an event source mapping.
//!
//! A mapping has five pollers (Lambda's guide, scaling of SQS mappings). Each asks with long polls and gathers a batch of its
//! own, until the batch is full or its window is over. This is a **model**: what AWS does here nobody outside can see.

use super::cloud::{Cloud, list, lock};
use super::functions::Function;
use super::template::MappingSize;
use crate::aws::call::Service;
use crate::aws::meter::{Line, Source};
use crate::aws::unit::{SQS_STEP, Unit, steps};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};
use tokio::task::spawn_local;
use tokio::time::{Instant, sleep, timeout};

/// Number of pollers of a mapping.
const POLLERS: usize = 5;
/// Length of a long poll.
const LONG_POLL: Duration = Duration::from_secs(20);
/// Maximum number of messages of one receive, and of one deletion.
const RECEIVE: usize = 10;
/// Maximum number of messages of a receive that had to wait for them: what arrives together goes to several of those who
/// wait, since a queue is on several servers.
const RECEIVE_AT_ARRIVAL: usize = 5;
/// Maximum number of bytes of the messages of one invocation, as JSON (Lambda's guide, quotas: 6 MB of payload).
const PAYLOAD: usize = 6_000_000;
/// Time after which a message that a function reported as failed comes again, if the function did not say when.
const VISIBILITY: Duration = Duration::from_secs(5_700);

/// A message.
#[derive(Clone, Debug)]
struct Message {
    id: u64,
    body: String,
    receives: u32,
}

/// A queue.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<QueueState>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct QueueState {
    ready: VecDeque<Message>,
    in_flight: BTreeMap<String, Message>,
    last: u64,
}

/// All queues, by name.
#[derive(Debug, Default)]
pub(super) struct Queues(Mutex<BTreeMap<String, Arc<Queue>>>);

impl Queues {
    /// Returns the queue of a name.
    pub(super) fn named(&self, name: &str) -> Arc<Queue> {
        Arc::clone(lock(&self.0).entry(name.to_owned()).or_default())
    }

    /// Answers a request of a function.
    pub(super) fn call(&self, operation: &str, request: &Value) -> Value {
        let address = request["QueueUrl"].as_str().or_else(|| request["QueueName"].as_str()).unwrap_or_default();
        let queue = self.named(address.rsplit('/').next().unwrap_or_default());
        let handle = request["ReceiptHandle"].as_str().unwrap_or_default();
        match operation {
            "GetQueueUrl" => json!({"QueueUrl": format!("http://endpoint.test/0/{address}")}),
            "SendMessageBatch" => {
                let taken = list(&request["Entries"]).map(|entry| {
                    queue.send(entry["MessageBody"].as_str().unwrap_or_default(), delay(&entry["DelaySeconds"]));
                    json!({"Id": entry["Id"], "MessageId": "0", "MD5OfMessageBody": "0"})
                });
                json!({"Successful": taken.collect::<Vec<_>>(), "Failed": []})
            }
            "SendMessage" => {
                queue.send(request["MessageBody"].as_str().unwrap_or_default(), delay(&request["DelaySeconds"]));
                json!({"MessageId": "0", "MD5OfMessageBody": "0"})
            }
            "DeleteMessage" => {
                lock(&queue.state).in_flight.remove(handle);
                json!({})
            }
            "ChangeMessageVisibility" => {
                queue.again(handle, delay(&request["VisibilityTimeout"]));
                json!({})
            }
            _ => panic!("the endpoint in memory does not know {operation}: {request}"),
        }
    }
}

fn delay(seconds: &Value) -> Duration {
    Duration::from_secs(seconds.as_u64().unwrap_or(0))
}

impl Queue {
    fn send(self: &Arc<Self>, body: &str, delay: Duration) {
        let id = {
            let mut state = lock(&self.state);
            state.last += 1;
            state.last
        };
        self.push(Message { id, body: body.to_owned(), receives: 0 }, delay);
    }

    fn push(self: &Arc<Self>, message: Message, delay: Duration) {
        let queue = Arc::clone(self);
        let arrive = move || {
            lock(&queue.state).ready.push_back(message);
            queue.arrived.notify_one();
        };
        if delay.is_zero() {
            return arrive();
        }
        tokio::spawn(async move {
            sleep(delay).await;
            arrive();
        });
    }

    /// Hands out a message that is in flight again.
    fn again(self: &Arc<Self>, handle: &str, delay: Duration) {
        let message = lock(&self.state).in_flight.remove(handle);
        if let Some(message) = message {
            self.push(message, delay);
        }
    }

    /// Drops everything that is there.
    pub(super) fn clear(&self) {
        lock(&self.state).ready.clear();
    }

    /// Returns the number of messages that are available or in flight.
    pub(super) fn length(&self) -> usize {
        let state = lock(&self.state);
        state.ready.len() + state.in_flight.len()
    }

    async fn receive(&self, most: usize, wait: Duration) -> Vec<(String, Message)> {
        let mut most = most.min(RECEIVE);
        let waits_until = Instant::now() + wait;
        loop {
            let got = self.take(most);
            if !got.is_empty() {
                return got;
            }
            most = most.min(RECEIVE_AT_ARRIVAL);
            let left = waits_until.saturating_duration_since(Instant::now());
            if timeout(left, self.arrived.notified()).await.is_err() {
                return Vec::new();
            }
        }
    }

    fn take(&self, most: usize) -> Vec<(String, Message)> {
        let mut state = lock(&self.state);
        let count = most.min(state.ready.len());
        let taken: Vec<Message> = state.ready.drain(..count).collect();
        let taken = taken.into_iter().map(|message| {
            let message = Message { receives: message.receives + 1, ..message };
            (format!("{}-{}", message.id, message.receives), message)
        });
        let taken: Vec<(String, Message)> = taken.collect();
        state.in_flight.extend(taken.iter().cloned());
        if !state.ready.is_empty() {
            self.arrived.notify_one();
        }
        taken
    }
}

/// The mapping of a queue to its function.
#[derive(Clone)]
pub(super) struct Mapping {
    pub(super) cloud: Arc<Cloud>,
    pub(super) queue: Arc<Queue>,
    pub(super) name: String,
    pub(super) function: Arc<Function>,
    pub(super) size: MappingSize,
}

impl Mapping {
    /// Begins to poll.
    pub(super) fn start(self) {
        let free = Arc::new(Semaphore::new(self.size.at_once));
        for _ in 0..POLLERS {
            spawn_local(self.clone().poll(Arc::clone(&free)));
        }
    }

    async fn poll(self, free: Arc<Semaphore>) {
        let mut held = Vec::new();
        loop {
            let batch = self.gather(&mut held).await;
            let permit = Arc::clone(&free).acquire_owned().await;
            let mapping = self.clone();
            spawn_local(async move {
                mapping.wake(batch).await;
                drop(permit);
            });
        }
    }

    /// Gathers a batch, as its records; those that did not fit stay in `held`.
    async fn gather(&self, held: &mut Vec<Value>) -> Vec<Value> {
        let mut batch = std::mem::take(held);
        let mut bytes: usize = batch.iter().map(length).sum();
        let mut began = (!batch.is_empty()).then(Instant::now);
        while batch.len() < self.size.batch && held.is_empty() {
            let left = began.map_or(LONG_POLL, |began| self.size.window.saturating_sub(began.elapsed()));
            if left.is_zero() {
                break;
            }
            let got = self.queue.receive(self.size.batch - batch.len(), left.min(LONG_POLL)).await;
            let size = got.iter().map(|(_, message)| message.body.len()).sum();
            self.bill(if got.is_empty() { "receive, empty" } else { "receive" }, steps(size, SQS_STEP));
            for (handle, message) in got {
                began.get_or_insert_with(Instant::now);
                let record = record(&handle, &message);
                bytes += length(&record);
                if bytes > PAYLOAD { held.push(record) } else { batch.push(record) }
            }
        }
        batch
    }

    async fn wake(&self, batch: Vec<Value>) {
        let handles: Vec<String> =
            batch.iter().map(|record| record["receiptHandle"].as_str().unwrap_or_default().to_owned()).collect();
        let answer = self.function.invoke(json!({"Records": batch}), handles.len()).await;
        let failed: BTreeSet<&str> =
            list(&answer["batchItemFailures"]).filter_map(|failure| failure["itemIdentifier"].as_str()).collect();
        let done: Vec<&String> = handles.iter().filter(|handle| !failed.contains(handle.as_str())).collect();
        for chunk in done.chunks(RECEIVE) {
            self.bill("delete", 1.0);
            chunk.iter().for_each(|handle| drop(lock(&self.queue.state).in_flight.remove(*handle)));
        }
        failed.iter().for_each(|handle| self.queue.again(handle, VISIBILITY));
    }

    fn bill(&self, operation: &str, units: f64) {
        let line = Line {
            service: Service::Sqs,
            target: self.name.clone(),
            operation: operation.to_owned(),
            caller: "mapping".to_owned(),
            unit: Unit::SqsRequest,
            source: Source::Modelled,
        };
        self.cloud.meter.count(line, units);
    }
}

/// Returns a message as Lambda hands it to a function. Its id is its handle.
fn record(handle: &str, message: &Message) -> Value {
    json!({
        "messageId": handle,
        "receiptHandle": handle,
        "body": message.body,
        "attributes": {
            "ApproximateReceiveCount": message.receives.to_string(),
            "SentTimestamp": "1795000000000", "SenderId": "AROA00000000000000000:curlew-dispatch",
            "ApproximateFirstReceiveTimestamp": "1795000000000"
        },
        "messageAttributes": {},
        "md5OfBody": "00000000000000000000000000000000",
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:curlew-extract",
        "awsRegion": "us-east-1",
    })
}

fn length(record: &Value) -> usize {
    record.to_string().len()
}
