//! The audit log: an object for each act, with the operator's name, written before the act and again at its end, so an
//! act that is cut off is named, too.

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

/// Name of whoever uses the command line.
pub const COMMAND_LINE: &str = "command line";
/// Maximum number of days back in which the latest acts are looked for.
const DAYS: u64 = 92;
/// Maximum length of each text of an entry, in bytes.
const MAX_TEXT: usize = 2_048;
/// Detail of an act that is under way, or was cut off.
const UNENDED: &str = "its end is not recorded";

/// The audit log.
#[derive(Clone)]
pub struct AuditLog {
    /// Store of the entries.
    pub blobs: Arc<dyn Blobs>,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

/// An act of an operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Act {
    /// The kind of act, such as `block` or `override`.
    pub what: String,
    /// Subject of the act: a host, an address, the name of a message or of a job.
    #[serde(rename = "url")]
    pub about: String,
    /// Detail of the act, such as `allow`; says so if the end of the act is not recorded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The operator's note, or the error that ended the act midway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Act {
    /// Returns an act without detail or note.
    pub fn new(what: &str, about: &str) -> Act {
        Act { what: what.to_owned(), about: about.to_owned(), ..Act::default() }
    }
}

/// An entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Time of the act.
    pub at: Timestamp,
    /// The act.
    #[serde(flatten)]
    pub act: Act,
    /// The operator: a name from the session or the proxy, or [`COMMAND_LINE`].
    pub by: String,
}

/// The entry of an act that has begun; it says that the act has not ended until [`OpenEntry::end`].
#[must_use]
pub(crate) struct OpenEntry<'a> {
    log: &'a AuditLog,
    key: String,
    entry: AuditEntry,
}

impl AuditLog {
    /// Adds an entry of an act that is done.
    pub async fn add(&self, by: &str, act: Act) -> Result<()> {
        self.act(by, act, async { Ok(()) }, |()| true).await
    }

    /// Does an act between the two writings of its entry; see [`OpenEntry::end`].
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

    /// Adds the entry of an act that is about to be done. After an error the act must not be done.
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
            // The same act in the same millisecond has an entry of its own, which must not end as this one does.
            entry.at = entry.at + Millis(1);
        }
    }

    /// Returns the latest entries, newest first, at most `most`; of the last 92 days.
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

    /// Ends the entry as its act ended. A failed act may have changed something, so its error is added; the entry of a
    /// refusal, or of an act that has changed nothing, is removed.
    pub(crate) async fn end<T>(mut self, outcome: Result<T>, has_changed: impl FnOnce(&T) -> bool) -> Result<T> {
        let is_act = match &outcome {
            Ok(value) => has_changed(value),
            // The act was refused before anything was done.
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
