//! The audit log of what operators do: one small object for each act, with the operator's name.
//!
//! The objects of a day are listed in the order of time, so the latest acts are found without reading the removals,
//! which are audited beside them.

use crate::catalog::listing::all_keys;
use crate::catalog::object;
use crate::catalog::removal::AUDIT_PREFIX;
use crate::catalog::segment::key_day;
use crate::stage::StageError;
use curlew_model::{Millis, Timestamp};
use curlew_policy::address::hash_hex;
use curlew_ports::{Blobs, Clock};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Name of whoever uses the command line.
pub const COMMAND_LINE: &str = "command line";
/// Maximum number of days back in which the latest acts are looked for.
const DAYS: u64 = 92;
/// Maximum length of each text of an entry, in bytes.
const MAX_TEXT: usize = 2_048;

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
    /// Its subject: a host, an address, the name of a message or of a job.
    #[serde(rename = "url")]
    pub about: String,
    /// Detail of the act, such as `allow`.
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

impl AuditLog {
    /// Adds an entry.
    ///
    /// # Errors
    /// The object store's error.
    pub async fn add(&self, by: &str, mut act: Act) -> Result<(), StageError> {
        for text in [&mut act.about, &mut act.reason].into_iter().chain(&mut act.note) {
            text.truncate(text.floor_char_boundary(MAX_TEXT));
        }
        let at = self.clock.now();
        let json = object::json(&AuditEntry { at, act, by: by.to_owned() })?;
        let key = format!("{}{:015}-{}.json", prefix(at), at.as_millis(), &hash_hex(&json)[..16]);
        self.blobs.put_if_absent(&key, json.into()).await?;
        Ok(())
    }

    /// Adds an entry for an act that ended thus. One that failed midway may have changed something, so it is logged
    /// with its error.
    ///
    /// # Errors
    /// The act's error, or the object store's.
    pub async fn ended<T>(&self, by: &str, act: Act, outcome: Result<T, StageError>) -> Result<T, StageError> {
        match outcome {
            Ok(value) => self.add(by, act).await.map(|()| value),
            // It was refused before anything was done.
            Err(error @ StageError::Job(_)) => Err(error),
            Err(error) => {
                let note = Some(format!("failed: {error}"));
                if let Err(second) = self.add(by, Act { note, ..act }).await {
                    tracing::error!(error = %second, by, "an act that failed could not be logged");
                }
                Err(error)
            }
        }
    }

    /// Returns the latest entries, newest first, at most `most`; of the last 92 days.
    ///
    /// # Errors
    /// The object store's error.
    pub async fn latest(&self, most: usize) -> Result<Vec<AuditEntry>, StageError> {
        let (now, mut latest) = (self.clock.now(), Vec::new());
        for day in 0..DAYS {
            let keys = all_keys(self.blobs.as_ref(), &prefix(now - Millis::from_days(day)), None).await?;
            for key in keys.iter().rev().take(most - latest.len()) {
                let Some(blob) = self.blobs.get(key).await? else { continue };
                // One that cannot be read says nothing; the others still do.
                latest.extend(serde_json::from_slice::<AuditEntry>(&blob.bytes).ok());
            }
            if latest.len() >= most {
                break;
            }
        }
        Ok(latest)
    }
}

fn prefix(at: Timestamp) -> String {
    format!("{AUDIT_PREFIX}acts/{}/", key_day(at))
}
