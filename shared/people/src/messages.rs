//! Messages to the operator. They are stored for at most 30 days, without any other data about their senders.

use crate::lookup::ListPart;
use crate::objects::{load, readable};
use curlew_catalog::listing::all_keys;
use curlew_catalog::object;
use curlew_model::{Millis, Timestamp};
use curlew_policy::address::hash_hex;
use curlew_ports::stage::Result;
use curlew_ports::{Blobs, Clock};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Prefix of the keys of messages: `messages/2026-11-21/….json`.
const PREFIX: &str = "messages/";
/// Maximum number of messages that are accepted in a day (UTC).
pub const MESSAGES_A_DAY: usize = 200;
/// Maximum time for which messages are kept.
pub const MESSAGES_KEPT: Millis = Millis::from_days(30);
const DIGITS: usize = 16;

/// Stores messages, and lists them for the operator.
#[derive(Clone)]
pub struct Messages {
    pub(crate) blobs: Arc<dyn Blobs>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// A message for the operator. No other data about its sender is stored, and it is deleted after [`MESSAGES_KEPT`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Subject of the message.
    pub about: About,
    /// Address that the message is about, as typed; may be empty.
    pub address: String,
    /// Text of the message.
    pub text: String,
    /// Address for a reply, as typed; may be empty.
    pub reply_to: String,
}

/// Subject of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// A question, or anything else.
    #[default]
    Question,
    /// The crawler behaves badly.
    Crawler,
    /// An indexed page should not be in the index.
    Abuse,
    /// A site should be removed, and its owner cannot prove ownership.
    Removal,
}

/// Outcome of sending a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageOutcome {
    /// The message is stored for the operator.
    Taken,
    /// The limit of messages for today is reached; the message is not stored.
    Full,
}

/// Messages that the operator has not closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenMessages {
    /// Number of messages.
    pub count: usize,
    /// Time at which the oldest readable message was received, if there is one.
    pub oldest: Option<Timestamp>,
}

/// A stored message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredMessage {
    /// Time at which the message was received.
    pub at: Timestamp,
    /// The message.
    #[serde(flatten)]
    pub message: Message,
}

impl Messages {
    /// Stores a message. An equal message on the same day is stored once.
    pub async fn take(&self, message: &Message) -> Result<MessageOutcome> {
        let at = self.clock.now();
        let today = format!("{PREFIX}{}/", at.day());
        let there = self.blobs.list(&today, None, MESSAGES_A_DAY).await?;
        let text = object::json(message)?;
        let key = format!("{today}{}.json", &hash_hex(&text)[..DIGITS]);
        if there.contains(&key) {
            return Ok(MessageOutcome::Taken);
        }
        if there.len() >= MESSAGES_A_DAY {
            tracing::warn!(limit = MESSAGES_A_DAY, "no further message is taken today");
            return Ok(MessageOutcome::Full);
        }
        let json = object::json(&StoredMessage { at, message: message.clone() })?;
        self.blobs.put_if_absent(&key, json.into()).await?;
        // Nothing is sent to the operator, so the log reports the message, but without the stranger's text.
        let (name, about) = (name(&key), message.about);
        tracing::warn!(%name, ?about, "a message for the operator was left at /contact; `curlew messages` shows it");
        Ok(MessageOutcome::Taken)
    }

    /// Returns the number of open messages.
    pub async fn count(&self) -> Result<usize> {
        Ok(self.keys().await?.len())
    }

    /// Returns the number of open messages and the time of the oldest. Reads only the messages of the oldest day.
    pub async fn open(&self) -> Result<OpenMessages> {
        let keys = self.keys().await?;
        let count = keys.len();
        let day_of = |key: &str| key.rsplit_once('/').map(|(day, _)| day.to_owned());
        let first = keys.first().and_then(|key| day_of(key));
        let of_first_day: Vec<String> = keys.into_iter().take_while(|key| day_of(key) == first).collect();
        let oldest_day = self.named(of_first_day).await?;
        Ok(OpenMessages { count, oldest: oldest_day.iter().map(|(_, kept)| kept.at).min() })
    }

    /// Returns all readable messages with their names, oldest day first.
    pub async fn list(&self) -> Result<Vec<(String, StoredMessage)>> {
        self.named(self.keys().await?).await
    }

    /// Returns a part of the list of messages, newest day first: at most `most` messages, after the key `after`.
    pub async fn part(&self, after: Option<&str>, most: usize) -> Result<ListPart<(String, StoredMessage), String>> {
        let mut keys = self.keys().await?;
        keys.retain(|key| after.is_none_or(|after| key.as_str() < after));
        let left = keys.len().saturating_sub(most);
        let next = keys.get(left).filter(|_| left > 0).cloned();
        let rows = self.named(keys.into_iter().skip(left).rev()).await?;
        Ok(ListPart { rows, next })
    }

    /// Returns the message of this name.
    pub async fn get(&self, name: &str) -> Result<Option<StoredMessage>> {
        let Some(key) = self.key_of(name).await? else { return Ok(None) };
        load(self.blobs.as_ref(), &key).await
    }

    /// Deletes a message that the operator has handled; returns true if there was one of this name.
    pub async fn close(&self, name: &str) -> Result<bool> {
        let Some(key) = self.key_of(name).await? else { return Ok(false) };
        self.blobs.delete(&key).await?;
        Ok(true)
    }

    /// Deletes the messages older than [`MESSAGES_KEPT`]; returns their number.
    pub async fn expire(&self) -> Result<usize> {
        let oldest = format!("{PREFIX}{}", (self.clock.now() - MESSAGES_KEPT).day());
        let mut over = 0;
        for key in self.keys().await?.into_iter().filter(|key| *key < oldest) {
            self.blobs.delete(&key).await?;
            over += 1;
        }
        Ok(over)
    }

    async fn keys(&self) -> Result<Vec<String>> {
        Ok(all_keys(self.blobs.as_ref(), PREFIX, None).await?)
    }

    async fn named(
        &self,
        keys: impl IntoIterator<Item = String, IntoIter: Send>,
    ) -> Result<Vec<(String, StoredMessage)>> {
        let messages = readable(self.blobs.as_ref(), keys).await?;
        Ok(messages.into_iter().map(|(key, message)| (name(&key), message)).collect())
    }

    async fn key_of(&self, wanted: &str) -> Result<Option<String>> {
        Ok(self.keys().await?.into_iter().find(|key| name(key) == wanted))
    }
}

fn name(key: &str) -> String {
    key.rsplit('/').next().and_then(|name| name.strip_suffix(".json")).unwrap_or_default().to_owned()
}
