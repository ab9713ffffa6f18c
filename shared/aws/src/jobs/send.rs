//! Requests that send messages to SQS.

use super::message::{OutgoingMessage, REQUEST_LIMIT};
use super::{Jobs, LONGEST_DELAY, attachments};
use crate::error::{again, corrupt};
use aws_sdk_sqs::types::SendMessageBatchRequestEntry;
use curlew_model::QueueName;
use curlew_ports::PortError;
use futures::StreamExt;
use std::time::Duration;

/// Maximum number of entries in one request (SQS quota).
pub(super) const BATCH: usize = 10;
/// Maximum number of concurrent requests of one call.
const AT_ONCE: usize = 8;
/// Maximum number of attempts for entries that a request left unprocessed, including the first.
const TRIES: u32 = 5;
/// Pause before the second attempt; it doubles with each further one.
const PAUSE: Duration = Duration::from_millis(100);

/// A message in a request, and its index among all messages.
type Entry<'a> = (usize, &'a OutgoingMessage);

impl Jobs {
    /// Sends the messages in as few requests as possible; returns the outcome of each message.
    pub(super) async fn send_messages(
        &self,
        stage: QueueName,
        messages: &[OutgoingMessage],
    ) -> Vec<Result<(), PortError>> {
        if messages.is_empty() {
            return Vec::new();
        }
        let address = match self.address(stage).await {
            Ok(address) => address,
            Err(error) => return messages.iter().map(|_| Err(again(&error))).collect(),
        };
        let mut results: Vec<_> = messages.iter().map(|_| Ok(())).collect();
        let requests: Vec<_> =
            batches(messages).into_iter().map(|entries| self.request(stage, address, entries)).collect();
        let mut done = futures::stream::iter(requests).buffer_unordered(AT_ONCE);
        while let Some(failed) = done.next().await {
            for (place, error) in failed {
                results[place] = Err(error);
            }
        }
        results
    }

    /// Sends one request, and retries unprocessed entries; returns the entries that failed for good.
    async fn request(&self, stage: QueueName, address: &str, entries: Vec<Entry<'_>>) -> Vec<(usize, PortError)> {
        let name = self.names.queue(stage);
        let asked = self.context("send jobs", &name);
        let mut failed = Vec::new();
        let mut left = entries;
        for tries in 1.. {
            let mut unprocessed = Vec::new();
            let send = async {
                let entries = Some(self.batch_entries(&left)?);
                let request = self.sqs.send_message_batch().queue_url(address).set_entries(entries);
                request.send().await.map_err(|e| asked.failed(e))
            };
            let answer = match send.await {
                Ok(answer) => answer,
                Err(error) => {
                    failed.extend(left.iter().map(|(place, _)| (*place, again(&error))));
                    return failed;
                }
            };
            for refused in answer.failed {
                let entry = refused.id.parse::<usize>().ok().and_then(|n| left.get(n));
                let Some(entry) = entry else { continue };
                let error = asked.refused(&refused.code, refused.message.as_deref().unwrap_or_default());
                if refused.sender_fault || tries >= TRIES {
                    failed.push((entry.0, error));
                } else {
                    unprocessed.push(*entry);
                }
            }
            if unprocessed.is_empty() {
                return failed;
            }
            left = unprocessed;
            tokio::time::sleep(PAUSE * (1 << (tries - 1))).await;
        }
        failed
    }

    /// Converts entries to SQS's format; the id of each is its index in the request.
    fn batch_entries(&self, entries: &[Entry<'_>]) -> Result<Vec<SendMessageBatchRequestEntry>, PortError> {
        let entry = |(place, (_, message)): (usize, &Entry<'_>)| {
            let entry = SendMessageBatchRequestEntry::builder().id(place.to_string()).message_body(&message.body);
            let delay = self.seconds_until(message.due, LONGEST_DELAY);
            let attributes = attachments::attributes(&message.attachments)?;
            let entry = entry.set_message_attributes(Some(attributes).filter(|attributes| !attributes.is_empty()));
            entry.delay_seconds(delay).build().map_err(|e| corrupt("a message", e))
        };
        entries.iter().enumerate().map(entry).collect()
    }
}

/// Splits messages into requests, in order.
fn batches(messages: &[OutgoingMessage]) -> Vec<Vec<Entry<'_>>> {
    let mut batches: Vec<Vec<Entry<'_>>> = Vec::new();
    let mut bytes = 0;
    for entry in messages.iter().enumerate() {
        let length = entry.1.length();
        match batches.last_mut() {
            Some(batch) if batch.len() < BATCH && bytes + length <= REQUEST_LIMIT => {
                batch.push(entry);
                bytes += length;
            }
            _ => {
                batches.push(vec![entry]);
                bytes = length;
            }
        }
    }
    batches
}
