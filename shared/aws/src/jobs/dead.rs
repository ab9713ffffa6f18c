//! Dead-letter queues.

use super::receive::BATCH;
use super::{Jobs, attachments, queue_named, wall_clock};
use crate::error::corrupt;
use aws_sdk_sqs::types::{
    ChangeMessageVisibilityBatchRequestEntry, Message, MessageAttributeValue, MessageSystemAttributeName,
};
use curlew_model::{QueueName, Timestamp};
use curlew_ports::{Dead, PortError, Receipt};
use std::collections::BTreeSet;

/// Attribute with the reason for giving up.
const ERROR: &str = "error";
/// Attribute with the time in RFC 3339 format.
const AT: &str = "at";
/// Maximum length of a reason, in bytes.
const MOST_ERROR: usize = 4 << 10;
/// Reason for a message that SQS itself has moved.
const NO_REASON: &str = "it was received too often, and nobody said why it failed";
/// Maximum number of messages that are read from one dead-letter queue.
const MOST: usize = 1_000;
/// Visibility timeout while reading, in seconds.
const HIDDEN: i32 = 30;
/// Wait time of a receive request, in seconds.
const LOOK: i32 = 1;
/// Prefix of the receipts of dead jobs.
const DEAD: &str = "dead/";

impl Jobs {
    /// Sends a message to the dead-letter queue of its stage, with the reason and the time. The caller then deletes it
    /// from the stage's queue, or lets the event source mapping delete it; after an error it must do neither.
    pub async fn give_up(&self, stage: QueueName, body: &str, error: &str, now: Timestamp) -> Result<(), PortError> {
        let name = self.names.dead_queue(stage);
        let message = self.outgoing(stage, body.to_owned(), now).await?;
        let send = self
            .sqs
            .send_message()
            .queue_url(self.dead_address(stage).await?)
            .set_message_attributes(Some(attachments::attributes(&message.attachments)?))
            .message_body(message.body)
            .message_attributes(ERROR, attribute(&reason(error))?)
            .message_attributes(AT, attribute(&now.to_string())?);
        send.send().await.map(drop).map_err(|e| self.context("give a job up", &name).failed(e))
    }

    /// Receives the message with this receipt from its dead-letter queue.
    pub(super) async fn find_dead(&self, receipt: &Receipt) -> Result<(QueueName, Message), PortError> {
        let missing = || PortError::NotFound(format!("the job {}", receipt.0));
        let (stage, id) = name(receipt).ok_or_else(missing)?;
        let (seen, found) = self.look(stage, |message| message.message_id() == Some(id)).await?;
        self.show_again(stage, &seen).await?;
        Ok((stage, found.ok_or_else(missing)?))
    }

    /// Receives from a dead-letter queue until the wanted message is found or all are read. Returns the other messages,
    /// and the wanted one.
    pub(super) async fn look(
        &self,
        stage: QueueName,
        wanted: impl Fn(&Message) -> bool,
    ) -> Result<(Vec<Message>, Option<Message>), PortError> {
        let address = self.dead_address(stage).await?;
        let mut known = BTreeSet::new();
        let mut seen = Vec::new();
        while seen.len() < MOST {
            // Only an empty response after a wait proves that there are no more messages.
            let look = if seen.is_empty() { LOOK } else { 0 };
            let messages = self.some(stage, address, BATCH, HIDDEN, look).await?;
            let before = known.len();
            let mut found = None;
            for message in messages {
                if found.is_none() && wanted(&message) {
                    found = Some(message);
                } else if known.insert(message.message_id.clone()) {
                    seen.push(message);
                }
            }
            if found.is_some() {
                return Ok((seen, found));
            }
            if known.len() == before {
                break;
            }
        }
        Ok((seen, None))
    }

    /// Makes messages visible again after reading. If that fails, they become visible when their timeout ends.
    pub(super) async fn show_again(&self, stage: QueueName, seen: &[Message]) -> Result<(), PortError> {
        let address = self.dead_address(stage).await?;
        let name = self.names.dead_queue(stage);
        for batch in seen.chunks(BATCH) {
            let entry = |(n, message): (usize, &Message)| {
                ChangeMessageVisibilityBatchRequestEntry::builder()
                    .id(n.to_string())
                    .receipt_handle(message.receipt_handle().unwrap_or_default())
                    .visibility_timeout(0)
                    .build()
                    .map_err(|e| corrupt("a message", e))
            };
            let entries: Vec<_> = batch.iter().enumerate().map(entry).collect::<Result<_, _>>()?;
            let show = self.sqs.change_message_visibility_batch().queue_url(address).set_entries(Some(entries));
            show.send().await.map_err(|e| self.context("put jobs back", &name).failed(e))?;
        }
        Ok(())
    }
}

fn attribute(text: &str) -> Result<MessageAttributeValue, PortError> {
    let attribute = MessageAttributeValue::builder().data_type("String").string_value(text);
    attribute.build().map_err(|e| corrupt("a message", e))
}

/// Returns a valid attribute for SQS: not empty, not too long, and without the characters that SQS rejects.
fn reason(error: &str) -> String {
    let allowed = |c: &char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
    let mut reason: String = error.chars().filter(allowed).collect();
    if reason.len() > MOST_ERROR {
        reason.truncate(reason.floor_char_boundary(MOST_ERROR));
    }
    if reason.is_empty() { NO_REASON.to_owned() } else { reason }
}

/// Parses a receipt into the stage and the message's id.
fn name(receipt: &Receipt) -> Option<(QueueName, &str)> {
    let (name, id) = receipt.0.strip_prefix(DEAD)?.split_once('/')?;
    Some((queue_named(name)?, id))
}

/// Returns the job's text in a message.
pub(super) fn text_of(message: &Message) -> String {
    attachments::text_of(message.body().unwrap_or_default().to_owned(), message.message_attributes())
}

pub(super) fn read(stage: QueueName, message: &Message) -> Dead {
    let attribute = |name| message.message_attributes()?.get(name)?.string_value();
    let sent = message.attributes().and_then(|a| a.get(&MessageSystemAttributeName::SentTimestamp));
    let sent = sent.and_then(|ms| ms.parse().ok()).map(Timestamp::from_millis);
    Dead {
        receipt: Receipt(format!("{DEAD}{}/{}", stage.as_str(), message.message_id().unwrap_or_default())),
        stage,
        message: text_of(message),
        error: attribute(ERROR).unwrap_or(NO_REASON).to_owned(),
        at: attribute(AT).and_then(|at| at.parse().ok()).or(sent).unwrap_or_else(wall_clock),
    }
}
