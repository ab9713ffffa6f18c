//! Conversion between jobs and messages.
//!
//! A message is the job's own text. If the text is too long, it is stored as an object, and the message is a *claim
//! check* with the object's key: `{"claim":"claims/…"}`. The bucket's lifecycle rule deletes such objects, since a
//! message may be delivered more than once and nobody knows which delivery is the last.

use super::Jobs;
use super::attachments::{self, Attachments};
use crate::chance::long_name;
use crate::error::corrupt;
use curlew_model::{Job, QueueName, Timestamp};
use curlew_ports::{Blobs, PortError};
use serde::{Deserialize, Serialize};

/// Maximum total length in bytes of the messages in one request, and thus of one message: 1 MiB (SQS quota).
pub(super) const REQUEST_LIMIT: usize = 1 << 20;
/// Maximum length in bytes of a text that is sent directly. The rest of the limit is for the attributes that a message
/// gets when it is given up.
pub(super) const MESSAGE_LIMIT: usize = REQUEST_LIMIT - (16 << 10);
/// Beginning of every claim check, and of no job.
const CLAIM: &str = "{\"claim\":";

/// Reasons why a message yields no job.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The message is not a job that this program knows, or its claim check names no object. Retrying does not help:
    /// give the message up with this sentence as the reason.
    #[error("{0}")]
    Unreadable(String),
    /// The message's object cannot be read at present.
    #[error(transparent)]
    Port(#[from] PortError),
}

/// A message on its way to a queue.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OutgoingMessage {
    pub(super) body: String,
    pub(super) attachments: Attachments,
    /// Earliest delivery time.
    pub(super) due: Timestamp,
}

impl OutgoingMessage {
    pub(super) fn new(text: String, due: Timestamp) -> OutgoingMessage {
        let (body, attachments) = attachments::cut_out(text);
        OutgoingMessage { body, attachments, due }
    }

    /// Returns the billed length in bytes.
    pub(super) fn length(&self) -> usize {
        self.body.len() + attachments::length(&self.attachments)
    }
}

#[derive(Serialize, Deserialize)]
struct Claim {
    claim: String,
}

impl Jobs {
    /// Returns the job of a message, and resolves a claim check.
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

    /// Returns a message with `text`, or with a claim check if it is too long for SQS.
    pub(super) async fn outgoing(
        &self,
        stage: QueueName,
        text: String,
        due: Timestamp,
    ) -> Result<OutgoingMessage, PortError> {
        Ok(OutgoingMessage::new(self.claimed(stage, text, MESSAGE_LIMIT).await?, due))
    }

    /// Returns the text, or a claim check for it if it is longer than `most` bytes.
    pub(super) async fn claimed(&self, stage: QueueName, text: String, most: usize) -> Result<String, PortError> {
        if text.len() <= most || text.starts_with(CLAIM) {
            return Ok(text);
        }
        let claim = format!("claims/{}/{}", stage.as_str(), long_name());
        self.objects.put(&claim, text.into()).await?;
        serde_json::to_string(&Claim { claim }).map_err(|e| corrupt("a claim check", e))
    }
}

/// Returns a job's text. Escapes two characters that JSON allows but SQS rejects; they occur only inside strings, so
/// the meaning is the same.
pub(super) fn text(job: &Job) -> Result<String, PortError> {
    let text = job.to_message().map_err(|e| corrupt("a job", e))?;
    if text.contains(['\u{fffe}', '\u{ffff}']) {
        return Ok(text.replace('\u{fffe}', "\\ufffe").replace('\u{ffff}', "\\uffff"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::LONGEST_DELAY;
    use async_trait::async_trait;
    use curlew_testkit::conformance::queue::SendRaw;

    #[async_trait]
    impl SendRaw for Jobs {
        async fn send_raw(&self, stage: QueueName, text: &str, due: Timestamp) -> Result<(), PortError> {
            if due > (self.now)() + LONGEST_DELAY {
                return self.park(vec![(stage, text.to_owned(), due)]).await;
            }
            let outgoing = OutgoingMessage::new(text.to_owned(), due);
            self.send_messages(stage, &[outgoing]).await.into_iter().collect()
        }
    }
}
