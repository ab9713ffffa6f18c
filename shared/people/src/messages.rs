//! Messages: texts that people send to the operator through the form. A message is stored as it was sent, with no other
//! data about its sender, for a month or until the operator closes it.

use crate::lookup::ListPart;
use crate::objects::readable;
use curlew_catalog::listing::all_keys;
use curlew_model::{Millis, Timestamp};
use curlew_policy::address::hash_hex;
use curlew_ports::stage::StageError;
use curlew_ports::{Blobs, Clock, PortError};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Prefix of the keys of messages: `messages/2026-11-21/….json`.
const PREFIX: &str = "messages/";
/// Maximum number of messages that are taken in a day (UTC).
pub const MESSAGES_A_DAY: usize = 200;
/// Time for which messages are kept.
pub const MESSAGES_KEPT: Millis = Millis::from_days(30);
/// Number of hexadecimal digits of the hash in a message's name.
const DIGITS: usize = 16;

/// Takes messages, and shows them to the operator.
#[derive(Clone)]
pub struct Messages {
    /// Store of the messages.
    pub blobs: Arc<dyn Blobs>,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

/// A message for the operator. No other data about its sender is stored, and it is deleted after [`MESSAGES_KEPT`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct Message {
    /// Subject of the message.
    pub about: About,
    /// The address that it is about, as typed; may be empty.
    pub address: String,
    /// The message itself.
    pub text: String,
    /// Address for an answer, as typed; may be empty.
    pub reply_to: String,
}

/// Subject of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// A question, or anything else.
    #[default]
    Question,
    /// The crawler behaves badly.
    Crawler,
    /// A page that can be found should not be.
    Abuse,
    /// A site is to be removed and its owner cannot prove the ownership.
    Removal,
}

/// Outcome of sending a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageOutcome {
    /// The message is stored for the operator.
    Taken,
    /// The limit of messages for today is reached.
    Full,
}

/// Messages that the operator has not closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenMessages {
    /// Number of messages.
    pub count: usize,
    /// Time at which the oldest was received, if there is one that can be read.
    pub oldest: Option<Timestamp>,
}

/// A stored message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredMessage {
    /// Time at which it was received.
    pub at: Timestamp,
    /// The message itself.
    #[serde(flatten)]
    pub message: Message,
}

impl Messages {
    /// Takes a message. The same text on the same day is stored once.
    ///
    /// # Errors
    /// The object store's error.
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
        // Nothing is sent to the operator, so the log says it. It does not repeat what a stranger wrote.
        let (name, about) = (name(&key), message.about);
        tracing::warn!(%name, ?about, "a message for the operator was left at /contact; `curlew messages` shows it");
        Ok(MessageOutcome::Taken)
    }

    /// Returns the number of messages.
    ///
    /// # Errors
    /// The object store's error.
    pub async fn count(&self) -> Result<usize, StageError> {
        Ok(self.keys().await?.len())
    }

    /// Returns the number and the age of the messages that are not closed, with one listing, and one read for each
    /// message of the oldest day.
    ///
    /// # Errors
    /// The object store's error.
    pub async fn open(&self) -> Result<OpenMessages, StageError> {
        let keys = self.keys().await?;
        let count = keys.len();
        let day_of = |key: &str| key.rsplit_once('/').map(|(day, _)| day.to_owned());
        let first = keys.first().and_then(|key| day_of(key));
        let oldest_day =
            self.named(keys.into_iter().take_while(|key| day_of(key) == first).collect::<Vec<_>>()).await?;
        Ok(OpenMessages { count, oldest: oldest_day.iter().map(|(_, kept)| kept.at).min() })
    }

    /// Returns all messages with the names by which they are shown and closed, oldest day first. A damaged one is left
    /// out; it can be closed.
    ///
    /// # Errors
    /// The object store's error.
    pub async fn list(&self) -> Result<Vec<(String, StoredMessage)>, StageError> {
        self.named(self.keys().await?).await
    }

    /// Returns at most `most` messages, as [`Messages::list`] does, but newest day first, after the key `after`.
    ///
    /// # Errors
    /// As there.
    pub async fn part(
        &self,
        after: Option<&str>,
        most: usize,
    ) -> Result<ListPart<(String, StoredMessage), String>, StageError> {
        let mut keys = self.keys().await?;
        keys.retain(|key| after.is_none_or(|after| key.as_str() < after));
        let left = keys.len().saturating_sub(most);
        let next = if left > 0 { keys.get(left).cloned() } else { None };
        let rows = self.named(keys.into_iter().skip(left).rev()).await?;
        Ok(ListPart { rows, next })
    }

    /// Returns one message by its name.
    ///
    /// # Errors
    /// The object store's error.
    pub async fn get(&self, name: &str) -> Result<Option<StoredMessage>, StageError> {
        let Some(key) = self.key_of(name).await? else { return Ok(None) };
        let Some(blob) = self.blobs.get(&key).await? else { return Ok(None) };
        let message = serde_json::from_slice(&blob.bytes);
        Ok(Some(message.map_err(|e| PortError::Corrupt { what: key, why: e.to_string() })?))
    }

    /// Deletes a message that the operator has dealt with; returns true if there was one of this name.
    ///
    /// # Errors
    /// The object store's error.
    pub async fn close(&self, name: &str) -> Result<bool, StageError> {
        let Some(key) = self.key_of(name).await? else { return Ok(false) };
        self.blobs.delete(&key).await?;
        Ok(true)
    }

    /// Deletes the messages older than [`MESSAGES_KEPT`]; returns their number.
    ///
    /// # Errors
    /// The object store's error; the next run deletes the rest.
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

    async fn named(
        &self,
        keys: impl IntoIterator<Item = String, IntoIter: Send>,
    ) -> Result<Vec<(String, StoredMessage)>, StageError> {
        let messages = readable(self.blobs.as_ref(), keys).await?;
        Ok(messages.into_iter().map(|(key, message)| (name(&key), message)).collect())
    }

    async fn key_of(&self, wanted: &str) -> Result<Option<String>, StageError> {
        Ok(self.keys().await?.into_iter().find(|key| name(key) == wanted))
    }
}

fn name(key: &str) -> String {
    key.rsplit('/').next().and_then(|name| name.strip_suffix(".json")).unwrap_or_default().to_owned()
}
