//! The pollers of an event source mapping.
//!
//! A mapping has five pollers (Lambda's guide, scaling of SQS mappings). Each uses long polls and gathers a batch of
//! its own, until the batch is full or its window is over. The pollers of a mapping that is off do not poll. This is a
//! **model**: nobody outside AWS can see what AWS does here.

use super::access::list;
use super::cloud::Cloud;
use super::functions::DeployedFunction;
use super::mappings::MappingSwitch;
use super::queues::{MemoryQueue, Message, RECEIVE};
use super::template::MappingSize;
use crate::aws::call::Service;
use crate::aws::mapping::attributes_for_function;
use crate::aws::meter::{Line, Source};
use crate::aws::sqs::of_attributes;
use crate::aws::unit::{SQS_STEP, Unit, steps};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::spawn_local;
use tokio::time::Instant;

/// Number of pollers of a mapping.
const POLLERS: usize = 5;
/// Length of a long poll.
const LONG_POLL: Duration = Duration::from_secs(20);
/// Maximum number of bytes of all messages of an invocation, as JSON (Lambda's guide, quotas: 6 MB of payload).
const PAYLOAD: usize = 6_000_000;
/// Time after which a message that a function reported as failed becomes visible again, if the function did not set
/// one.
const VISIBILITY: Duration = Duration::from_secs(5_700);

/// The mapping of a queue to its function.
#[derive(Clone)]
pub(super) struct Mapping {
    pub(super) cloud: Arc<Cloud>,
    pub(super) queue: Arc<MemoryQueue>,
    pub(super) switch: Arc<MappingSwitch>,
    pub(super) name: String,
    pub(super) function: Arc<DeployedFunction>,
    pub(super) size: MappingSize,
}

impl Mapping {
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

    /// Gathers a batch of records; messages that did not fit stay in `held`.
    async fn gather(&self, held: &mut Vec<Value>) -> Vec<Value> {
        let mut batch = std::mem::take(held);
        let mut bytes: usize = batch.iter().map(length).sum();
        let mut began = (!batch.is_empty()).then(Instant::now);
        while batch.len() < self.size.batch && held.is_empty() {
            // A batch that was begun is gathered and handed over even if the mapping is switched off.
            if batch.is_empty() {
                self.switch.until_on().await;
            }
            let left = began.map_or(LONG_POLL, |began| self.size.window.saturating_sub(began.elapsed()));
            if left.is_zero() {
                break;
            }
            let got = self.queue.receive(self.size.batch - batch.len(), left.min(LONG_POLL)).await;
            let size = got.iter().map(|(_, message)| message.body.len() + of_attributes(&message.attributes)).sum();
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
            chunk.iter().for_each(|handle| self.queue.delete(handle));
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

/// Converts a message to the record that Lambda passes to a function. The message's handle serves as its id.
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
        "messageAttributes": attributes_for_function(&message.attributes),
        "md5OfBody": "00000000000000000000000000000000",
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:curlew-extract",
        "awsRegion": "us-east-1",
    })
}

fn length(record: &Value) -> usize {
    record.to_string().len()
}
