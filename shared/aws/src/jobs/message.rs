//! Jobs as messages.
//!
//! A message is the job's own text. A text that is too long becomes an object, and the message is a *claim check* that
//! names it: `{"claim":"claims/…"}`. The bucket's lifecycle rule deletes such objects, since a message may be delivered
//! more than once and nobody knows which delivery is the last.

use super::Jobs;
use super::attachments::{self, Attachments};
use crate::chance::long_name;
use crate::error::corrupt;
use curlew_model::{Job, QueueName, Timestamp};
use curlew_ports::{Blobs, PortError};
use serde::{Deserialize, Serialize};

/// Maximum number of bytes of a message, and of all messages of one request together: 1 MiB, by SQS's quotas.
pub(super) const REQUEST_LIMIT: usize = 1 << 20;
/// Maximum length of a text that is sent as it is. The rest of the limit is for the attributes that a message gets when
/// it is given up.
pub(super) const MESSAGE_LIMIT: usize = REQUEST_LIMIT - (16 << 10);
/// Claim checks begin with this, and no job does.
const CLAIM: &str = "{\"claim\":";

/// Reasons why a message gives no job.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The message is no job that this program knows, or its claim check names no object. Trying again does not help:
    /// give it up, with this sentence.
    #[error("{0}")]
    Unreadable(String),
    /// The message's object is unreachable at present.
    #[error(transparent)]
    Port(#[from] PortError),
}

/// A message on its way to a queue.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OutgoingMessage {
    pub(super) body: String,
    pub(super) attachments: Attachments,
    /// Earliest time of its delivery.
    pub(super) due: Timestamp,
}

impl OutgoingMessage {
    pub(super) fn new(text: String, due: Timestamp) -> OutgoingMessage {
        let (body, attachments) = attachments::cut_out(text);
        OutgoingMessage { body, attachments, due }
    }

    /// Returns the number of bytes that it counts for.
    pub(super) fn length(&self) -> usize {
        self.body.len() + attachments::length(&self.attachments)
    }
}

#[derive(Serialize, Deserialize)]
struct Claim {
    claim: String,
}

impl Jobs {
    /// Returns the job of a message; follows a claim check.
    ///
    /// # Errors
    /// [`ReadError::Unreadable`] if there is no such job and never will be, [`ReadError::Port`] if trying again may
    /// help.
    pub async fn read_message(&self, body: &str) -> Result<Job, ReadError> {
        if !body.starts_with(CLAIM) {
            return Job::from_message(body).map_err(ReadError::Unreadable);
        }
        let Claim { claim } =
            serde_json::from_str(body).map_err(|e| ReadError::Unreadable(format!("not a claim check: {e}")))?;
        let found = match self.objects.get(&claim).await {
            Err(PortError::Corrupt { what, why }) => {
                return Err(ReadError::Unreadable(format!("{what} cannot be read: {why}")));
            }
            other => other?,
        };
        let Some(found) = found else {
            return Err(ReadError::Unreadable(format!("the message's text is no longer in the bucket: {claim}")));
        };
        let text = std::str::from_utf8(&found.bytes).map_err(|e| ReadError::Unreadable(format!("{claim}: {e}")))?;
        Job::from_message(text).map_err(ReadError::Unreadable)
    }

    /// Puts a text into a queue as it is.
    #[cfg(test)]
    pub(crate) async fn send_text(&self, stage: QueueName, text: &str, due: Timestamp) -> Result<(), PortError> {
        if due > (self.now)() + super::LONGEST_DELAY {
            return self.park(vec![(stage, text.to_owned(), due)]).await;
        }
        let outgoing = OutgoingMessage::new(text.to_owned(), due);
        self.send_messages(stage, &[outgoing]).await.into_iter().collect()
    }

    /// Returns a message of a length that SQS accepts.
    pub(super) async fn outgoing(
        &self,
        stage: QueueName,
        text: String,
        due: Timestamp,
    ) -> Result<OutgoingMessage, PortError> {
        Ok(OutgoingMessage::new(self.claimed(stage, text, MESSAGE_LIMIT).await?, due))
    }

    /// Returns the text, or a claim check for it if it is longer than `most`.
    pub(super) async fn claimed(&self, stage: QueueName, text: String, most: usize) -> Result<String, PortError> {
        if text.len() <= most || text.starts_with(CLAIM) {
            return Ok(text);
        }
        let claim = format!("claims/{}/{}", stage.as_str(), long_name());
        self.objects.put(&claim, text.into()).await?;
        serde_json::to_string(&Claim { claim }).map_err(|e| corrupt("a claim check", e))
    }
}

/// Returns a job's text. SQS refuses two characters that JSON allows; they occur only inside strings, where their
/// escapes mean the same.
pub(super) fn text(job: &Job) -> Result<String, PortError> {
    let text = job.to_message().map_err(|e| corrupt("a job", e))?;
    if text.contains(['\u{fffe}', '\u{ffff}']) {
        return Ok(text.replace('\u{fffe}', "\\ufffe").replace('\u{ffff}', "\\uffff"));
    }
    Ok(text)
}
