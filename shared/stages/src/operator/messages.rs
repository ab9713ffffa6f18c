//! Messages: what people write to the operator by the form. StoredMessage as they were sent and with nothing else of their senders,
//! for a month, or until the operator has done with them.

use crate::catalog::listing::all_keys;
use crate::stage::StageError;
use curlew_model::{Millis, Timestamp};
use curlew_policy::address::hash_hex;
use curlew_ports::{Blobs, Clock, PortError};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Where they are kept: `messages/2026-11-21/….json`.
const PREFIX: &str = "messages/";
/// Messages that are taken in a day (UTC).
pub const MESSAGES_A_DAY: usize = 200;
/// How long they are kept.
pub const MESSAGES_KEPT: Millis = Millis::from_days(30);
/// Digits of the hash that a message is named by.
const DIGITS: usize = 16;

/// Takes messages, and shows them to the operator.
#[derive(Clone)]
pub struct Messages {
    /// Where they are kept.
    pub blobs: Arc<dyn Blobs>,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

/// A message for the operator. Nothing else of its sender is kept, and it is deleted after a while.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct Message {
    /// What it is about.
    pub about: About,
    /// The address that it is about, as it was typed; may be empty.
    pub address: String,
    /// The message itself.
    pub text: String,
    /// Where an answer may be sent, as it was typed; may be empty.
    pub reply_to: String,
}

/// What a message is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// A question, or anything else.
    #[default]
    Question,
    /// The crawler behaves badly.
    Crawler,
    /// Something that can be found should not be.
    Abuse,
    /// A site is to be removed whose owner cannot give a proof.
    Removal,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageOutcome {
    /// The operator will find it.
    Taken,
    /// There are as many messages of today as are taken.
    Full,
}

/// A message as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredMessage {
    /// When it came.
    pub at: Timestamp,
    /// What it says.
    #[serde(flatten)]
    pub message: Message,
}

impl Messages {
    /// Takes a message. The same one on the same day is kept once.
    ///
    /// # Errors
    /// What the object store says.
    pub async fn take(&self, message: &Message) -> Result<MessageOutcome, StageError> {
        let at = self.clock.now();
        let today = format!("{PREFIX}{}/", at.day());
        let there = self.blobs.list(&today, None, MESSAGES_A_DAY).await?;
        let text = serde_json::to_vec(message).map_err(|e| StageError::Job(e.to_string()))?;
        let key = format!("{today}{}.json", &hash_hex(&text)[..DIGITS]);
        if there.contains(&key) {
            return Ok(MessageOutcome::Taken);
        }
        if there.len() >= MESSAGES_A_DAY {
            tracing::warn!(limit = MESSAGES_A_DAY, "no further message is taken today");
            return Ok(MessageOutcome::Full);
        }
        let kept = StoredMessage { at, message: message.clone() };
        let json = serde_json::to_vec(&kept).map_err(|e| StageError::Job(e.to_string()))?;
        self.blobs.put_if_absent(&key, json.into()).await?;
        Ok(MessageOutcome::Taken)
    }

    /// All messages with the names that they are shown and closed by, the oldest first.
    ///
    /// # Errors
    /// What the object store says.
    pub async fn list(&self) -> Result<Vec<(String, StoredMessage)>, StageError> {
        let mut messages = vec![];
        for key in self.keys().await? {
            if let Some(kept) = self.read(&key).await? {
                messages.push((name(&key), kept));
            }
        }
        Ok(messages)
    }

    /// One message by its name.
    ///
    /// # Errors
    /// What the object store says.
    pub async fn get(&self, name: &str) -> Result<Option<StoredMessage>, StageError> {
        match self.key_of(name).await? {
            Some(key) => self.read(&key).await,
            None => Ok(None),
        }
    }

    /// The operator has done with a message; says whether there was one of this name.
    ///
    /// # Errors
    /// What the object store says.
    pub async fn close(&self, name: &str) -> Result<bool, StageError> {
        let Some(key) = self.key_of(name).await? else { return Ok(false) };
        self.blobs.delete(&key).await?;
        Ok(true)
    }

    /// Deletes those whose time is over; says how many.
    ///
    /// # Errors
    /// What the object store says; the next time does it.
    pub async fn expire(&self) -> Result<usize, StageError> {
        let oldest = format!("{PREFIX}{}", (self.clock.now() - MESSAGES_KEPT).day());
        let mut over = 0;
        for key in self.keys().await?.into_iter().filter(|key| *key < oldest) {
            self.blobs.delete(&key).await?;
            over += 1;
        }
        Ok(over)
    }

    async fn keys(&self) -> Result<Vec<String>, StageError> {
        Ok(all_keys(self.blobs.as_ref(), PREFIX, None).await?)
    }

    async fn key_of(&self, wanted: &str) -> Result<Option<String>, StageError> {
        Ok(self.keys().await?.into_iter().find(|key| name(key) == wanted))
    }

    async fn read(&self, key: &str) -> Result<Option<StoredMessage>, StageError> {
        let Some(blob) = self.blobs.get(key).await? else { return Ok(None) };
        let kept = serde_json::from_slice(&blob.bytes);
        Ok(Some(kept.map_err(|e| PortError::Corrupt { what: key.to_owned(), why: e.to_string() })?))
    }
}

fn name(key: &str) -> String {
    key.rsplit('/').next().and_then(|name| name.strip_suffix(".json")).unwrap_or_default().to_owned()
}
