//! The audit log: one object per operator action, with the operator's name. It is written before the action and again
//! after it, so that an interrupted action is logged too.

use crate::objects::readable;
use curlew_catalog::listing::all_keys;
use curlew_catalog::object;
use curlew_catalog::removal::AUDIT_PREFIX;
use curlew_catalog::segment::key_day;
use curlew_model::{Millis, Timestamp};
use curlew_policy::address::hash_hex;
use curlew_ports::stage::{Result, StageError};
use curlew_ports::{Blobs, Clock};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Operator name for actions on the command line.
pub const COMMAND_LINE: &str = "command line";
/// Number of days that are searched for the latest entries.
const DAYS: u64 = 92;
/// Maximum length of each text in an entry, in bytes.
const MAX_TEXT: usize = 2_048;
/// Detail of an action that is under way or was interrupted.
const UNENDED: &str = "its end is not recorded";

/// The audit log.
#[derive(Clone)]
pub struct AuditLog {
    /// Store of the entries.
    pub blobs: Arc<dyn Blobs>,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

/// An action of an operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Act {
    /// The kind of action, such as `block` or `override`.
    pub what: String,
    /// Subject of the action: a host, an address, or the name of a message or job.
    #[serde(rename = "url")]
    pub about: String,
    /// Detail of the action, such as `allow`; contains a remark while the end of the action is not recorded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The operator's note, and the error if the action failed midway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Act {
    /// Returns an action without detail and note.
    pub fn new(what: &str, about: &str) -> Act {
        Act { what: what.to_owned(), about: about.to_owned(), ..Act::default() }
    }
}

/// An entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Time of the action.
    pub at: Timestamp,
    /// The action.
    #[serde(flatten)]
    pub act: Act,
    /// The operator's name, from the session or the proxy, or [`COMMAND_LINE`].
    pub by: String,
}

/// The entry of an action that has begun. Until [`OpenEntry::end`] it says that the end is not recorded.
#[must_use]
pub(crate) struct OpenEntry<'a> {
    log: &'a AuditLog,
    key: String,
    entry: AuditEntry,
}

impl AuditLog {
    /// Adds the entry of a completed action.
    pub async fn add(&self, by: &str, act: Act) -> Result<()> {
        self.act(by, act, async { Ok(()) }, |()| true).await
    }

    /// Awaits `work` between the two writes of its entry; see [`OpenEntry::end`].
    pub(crate) async fn act<T>(
        &self,
        by: &str,
        act: Act,
        work: impl Future<Output = Result<T>>,
        has_changed: impl FnOnce(&T) -> bool,
    ) -> Result<T> {
        let entry = self.begin(by, act).await?;
        entry.end(work.await, has_changed).await
    }

    /// Adds the entry of an action that is about to begin. After an error the action must not be carried out.
    pub(crate) async fn begin(&self, by: &str, mut act: Act) -> Result<OpenEntry<'_>> {
        for text in [&mut act.about, &mut act.reason].into_iter().chain(&mut act.note) {
            text.truncate(text.floor_char_boundary(MAX_TEXT));
        }
        let mut entry = AuditEntry { at: self.clock.now(), act, by: by.to_owned() };
        loop {
            let reason = joined(&entry.act.reason, UNENDED);
            let json = object::json(&AuditEntry { act: Act { reason, ..entry.act.clone() }, ..entry.clone() })?;
            let key = format!("{}{:015}-{}.json", prefix(entry.at), entry.at.as_millis(), &hash_hex(&json)[..16]);
            if self.blobs.put_if_absent(&key, json.into()).await? {
                return Ok(OpenEntry { log: self, key, entry });
            }
            // An equal action in the same millisecond needs a separate entry, since it may end differently.
            entry.at = entry.at + Millis(1);
        }
    }

    /// Returns at most `most` entries of the last 92 days, newest first.
    pub async fn latest(&self, most: usize) -> Result<Vec<AuditEntry>> {
        let (now, mut latest) = (self.clock.now(), Vec::new());
        for day in 0..DAYS {
            let keys = all_keys(self.blobs.as_ref(), &prefix(now - Millis::from_days(day)), None).await?;
            let newest = keys.into_iter().rev().take(most - latest.len());
            latest.extend(readable(self.blobs.as_ref(), newest).await?.into_iter().map(|(_, entry)| entry));
            if latest.len() >= most {
                break;
            }
        }
        Ok(latest)
    }
}

impl OpenEntry<'_> {
    pub(crate) fn set_reason(&mut self, reason: String) {
        self.entry.act.reason = reason;
    }

    /// Completes the entry according to the outcome of its action, and returns that outcome. A failed action may have
    /// changed something, so its error is added; the entry of a refused action, or one without effect, is removed.
    pub(crate) async fn end<T>(mut self, outcome: Result<T>, has_changed: impl FnOnce(&T) -> bool) -> Result<T> {
        let is_act = match &outcome {
            Ok(value) => has_changed(value),
            // The action was refused before it changed anything.
            Err(StageError::Job(_)) => false,
            Err(error) => {
                let note = self.entry.act.note.take().unwrap_or_default();
                self.entry.act.note = Some(joined(&note, &format!("failed: {error}")));
                true
            }
        };
        match (self.close(is_act).await, outcome) {
            (Err(second), Err(error)) => {
                tracing::error!(error = %second, by = self.entry.by, "how an act failed could not be logged");
                Err(error)
            }
            (closed, outcome) => closed.and(outcome),
        }
    }

    async fn close(&self, is_act: bool) -> Result<()> {
        let blobs = &self.log.blobs;
        if is_act {
            blobs.put(&self.key, object::json(&self.entry)?.into()).await?;
        } else {
            blobs.delete(&self.key).await?;
        }
        Ok(())
    }
}

fn joined(text: &str, more: &str) -> String {
    if text.is_empty() { more.to_owned() } else { format!("{text}; {more}") }
}

fn prefix(at: Timestamp) -> String {
    format!("{AUDIT_PREFIX}acts/{}/", key_day(at))
}
