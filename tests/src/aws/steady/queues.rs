//! The operations of SQS that Curlew uses, over messages in memory.

use super::access::{list, lock};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

/// Maximum number of messages of a receive and of a deletion.
pub(super) const RECEIVE: usize = 10;
/// Maximum number of messages of a receive that had to wait for them. A queue is spread over several servers, so
/// messages that arrive together go to several waiting receivers.
const RECEIVE_AT_ARRIVAL: usize = 5;

/// A message.
#[derive(Clone, Debug)]
pub(super) struct Message {
    id: u64,
    pub(super) body: String,
    /// Attributes in the form of SQS.
    pub(super) attributes: Value,
    pub(super) receives: u32,
}

/// A queue.
#[derive(Debug, Default)]
pub(super) struct MemoryQueue {
    state: Mutex<QueueState>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct QueueState {
    ready: VecDeque<Message>,
    in_flight: BTreeMap<String, Message>,
    delayed: usize,
    last: u64,
}

/// All queues, by name.
#[derive(Debug, Default)]
pub(super) struct Queues(Mutex<BTreeMap<String, Arc<MemoryQueue>>>);

impl Queues {
    pub(super) fn named(&self, name: &str) -> Arc<MemoryQueue> {
        Arc::clone(lock(&self.0).entry(name.to_owned()).or_default())
    }

    pub(super) fn call(&self, operation: &str, request: &Value) -> Value {
        let address = request["QueueUrl"].as_str().or_else(|| request["QueueName"].as_str()).unwrap_or_default();
        let queue = self.named(address.rsplit('/').next().unwrap_or_default());
        let handle = request["ReceiptHandle"].as_str().unwrap_or_default();
        match operation {
            "GetQueueUrl" => json!({"QueueUrl": format!("http://endpoint.test/0/{address}")}),
            "SendMessageBatch" => {
                let taken = list(&request["Entries"]).map(|entry| {
                    queue.send(entry);
                    json!({"Id": entry["Id"], "MessageId": "0", "MD5OfMessageBody": "0"})
                });
                json!({"Successful": taken.collect::<Vec<_>>(), "Failed": []})
            }
            "SendMessage" => {
                queue.send(request);
                json!({"MessageId": "0", "MD5OfMessageBody": "0"})
            }
            "GetQueueAttributes" => queue.attributes(),
            "DeleteMessage" => {
                queue.delete(handle);
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

impl MemoryQueue {
    fn send(self: &Arc<Self>, entry: &Value) {
        let body = entry["MessageBody"].as_str().unwrap_or_default().to_owned();
        let id = {
            let mut state = lock(&self.state);
            state.last += 1;
            state.last
        };
        let attributes = entry["MessageAttributes"].clone();
        self.push(Message { id, body, attributes, receives: 0 }, delay(&entry["DelaySeconds"]));
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
        lock(&self.state).delayed += 1;
        let queue = Arc::clone(self);
        tokio::spawn(async move {
            sleep(delay).await;
            lock(&queue.state).delayed -= 1;
            arrive();
        });
    }

    /// Makes a message that is in flight visible again after `delay`.
    pub(super) fn again(self: &Arc<Self>, handle: &str, delay: Duration) {
        let message = lock(&self.state).in_flight.remove(handle);
        if let Some(message) = message {
            self.push(message, delay);
        }
    }

    /// Returns the approximate counts, which are exact here.
    fn attributes(&self) -> Value {
        let state = lock(&self.state);
        json!({"Attributes": {
            "ApproximateNumberOfMessages": state.ready.len().to_string(),
            "ApproximateNumberOfMessagesNotVisible": state.in_flight.len().to_string(),
            "ApproximateNumberOfMessagesDelayed": state.delayed.to_string(),
        }})
    }

    /// Drops all available messages.
    pub(super) fn clear(&self) {
        lock(&self.state).ready.clear();
    }

    /// Returns the number of messages that are available or in flight.
    pub(super) fn length(&self) -> usize {
        let state = lock(&self.state);
        state.ready.len() + state.in_flight.len()
    }

    /// Receives messages with their handles; waits if there are none.
    pub(super) async fn receive(&self, most: usize, wait: Duration) -> Vec<(String, Message)> {
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

    pub(super) fn delete(&self, handle: &str) {
        lock(&self.state).in_flight.remove(handle);
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
