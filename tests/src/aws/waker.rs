//! Invokes functions with their queues' messages, as AWS's event source mappings do, in batches as full as the template
//! allows.
//!
//! The emulator's own mappings hand out 10 messages at once, whatever the template says, so a bill would count many
//! small invocations. The waker stops and replaces them. It omits concurrent batches, and also the batching window,
//! since it finds all messages that the previous stage has sent.

use super::api::REGION;
use super::mapping::attributes_for_function;
use super::stack::Stack;
use curlew_model::QueueName;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Maximum number of bytes of all messages of an invocation, as JSON (Lambda's guide, quotas: 6 MB of payload).
const MAX_PAYLOAD: usize = 6_000_000;
/// Maximum number of messages of one call to SQS.
const MAX_CALL: usize = 10;
/// Interval at which queues that have only delayed messages are examined.
const LOOK: Duration = Duration::from_millis(500);

/// Replacement for the mappings of a stack.
#[derive(Debug)]
pub struct Waker {
    queues: Vec<Queue>,
}

#[derive(Debug)]
struct Queue {
    stage: QueueName,
    url: String,
    arn: String,
    batch_size: usize,
}

/// Received records that did not fit into the last batch.
type Held = Vec<Value>;

impl Waker {
    /// Stops the mappings of a stack and replaces them.
    #[track_caller]
    pub fn instead_of_mappings(stack: &Stack) -> Waker {
        let all = stack.api().lambda("GET", "/2015-03-31/event-source-mappings/", None);
        let queue = |stage: QueueName| {
            stack.map(stage, false);
            let name = stack.called(stage.as_str());
            let of_stage = |mapping: &&Value| {
                mapping["EventSourceArn"].as_str().and_then(|arn| arn.rsplit(':').next()) == Some(name.as_str())
            };
            let mapping = all["EventSourceMappings"].as_array().unwrap().iter().find(of_stage).expect("a mapping");
            let url = stack.api().call("AmazonSQS.GetQueueUrl", &json!({"QueueName": name}))["QueueUrl"].clone();
            Queue {
                stage,
                url: url.as_str().unwrap().to_owned(),
                arn: mapping["EventSourceArn"].as_str().unwrap().to_owned(),
                batch_size: usize::try_from(mapping["BatchSize"].as_u64().unwrap()).unwrap(),
            }
        };
        Waker { queues: QueueName::ALL.into_iter().map(queue).collect() }
    }

    /// Invokes functions until all queues are empty, including delayed messages. Returns the number of invocations of
    /// each function.
    #[track_caller]
    pub fn until_rest(&self, stack: &Stack, limit: Duration) -> BTreeMap<&'static str, usize> {
        let began = Instant::now();
        let mut woken = BTreeMap::new();
        while self.queues.iter().map(|queue| stack.waiting(queue.stage)).sum::<usize>() > 0 {
            assert!(began.elapsed() < limit, "the queues do not become empty: {}", stack.told());
            let before: usize = woken.values().sum();
            for queue in &self.queues {
                *woken.entry(queue.stage.as_str()).or_default() += queue.drain(stack);
            }
            if woken.values().sum::<usize>() == before {
                std::thread::sleep(LOOK);
            }
        }
        woken
    }
}

impl Queue {
    /// Invokes the function until the queue has no message available. Returns the number of invocations.
    #[track_caller]
    fn drain(&self, stack: &Stack) -> usize {
        let mut held = Held::new();
        let mut invocations = 0;
        loop {
            let batch = self.batch(stack, &mut held);
            if batch.is_empty() {
                return invocations;
            }
            self.wake(stack, &batch);
            invocations += 1;
        }
    }

    /// Returns the next batch, as the records of an event.
    #[track_caller]
    fn batch(&self, stack: &Stack, held: &mut Held) -> Vec<Value> {
        let mut batch = std::mem::take(held);
        let mut bytes: usize = batch.iter().map(length).sum();
        while batch.len() < self.batch_size && held.is_empty() {
            // Near the limit of bytes, messages are received one by one, so that few are left over.
            let wanted = if bytes < MAX_PAYLOAD / 2 { MAX_CALL.min(self.batch_size - batch.len()) } else { 1 };
            let ask = json!({"QueueUrl": self.url, "MaxNumberOfMessages": wanted, "AttributeNames": ["All"], "MessageAttributeNames": ["All"],
                // A request without this value would wait as long as the queue's default, which suits an idle mapping.
                "WaitTimeSeconds": 0});
            let got = stack.api().call("AmazonSQS.ReceiveMessage", &ask);
            let Some(messages) = got["Messages"].as_array().filter(|messages| !messages.is_empty()) else { break };
            for record in messages.iter().map(|message| self.record(message)) {
                bytes += length(&record);
                if bytes > MAX_PAYLOAD {
                    held.push(record);
                } else {
                    batch.push(record);
                }
            }
        }
        batch
    }

    fn record(&self, message: &Value) -> Value {
        json!({
            "messageId": message["MessageId"],
            "receiptHandle": message["ReceiptHandle"],
            "body": message["Body"],
            "attributes": message["Attributes"],
            "messageAttributes": attributes_for_function(&message["MessageAttributes"]),
            "md5OfBody": message["MD5OfBody"],
            "eventSource": "aws:sqs",
            "eventSourceARN": self.arn,
            "awsRegion": REGION,
        })
    }

    /// Calls the function and deletes the messages that it did not report as failed.
    #[track_caller]
    fn wake(&self, stack: &Stack, batch: &[Value]) {
        let answer = stack.invoked(self.stage.as_str(), &json!({"Records": batch}));
        let failures = answer["batchItemFailures"].as_array().into_iter().flatten();
        let failed: BTreeSet<&str> = failures.filter_map(|failure| failure["itemIdentifier"].as_str()).collect();
        let done: Vec<&Value> =
            batch.iter().filter(|record| !failed.contains(record["messageId"].as_str().unwrap_or_default())).collect();
        for chunk in done.chunks(MAX_CALL) {
            let entries: Vec<Value> = (0..)
                .zip(chunk)
                .map(|(n, record): (u32, _)| json!({"Id": n.to_string(), "ReceiptHandle": record["receiptHandle"]}))
                .collect();
            stack.api().call("AmazonSQS.DeleteMessageBatch", &json!({"QueueUrl": self.url, "Entries": entries}));
        }
    }
}

fn length(record: &Value) -> usize {
    record.to_string().len()
}
