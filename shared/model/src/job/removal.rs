//! Changes of what the index knows of a page.

use crate::ids::PageId;
use crate::kind::Kind;
use crate::page::Gone;
use crate::queue_name::QueueName;
use crate::source::Validators;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Job that changes what the index knows of a page. It is sent by stages that read documents of strangers, which may
/// not write index and records themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemovalJob {
    /// The page.
    pub page: PageId,
    /// URL of the page, for people.
    pub url: String,
    /// The change.
    #[serde(flatten)]
    pub change: IndexChange,
    /// Time of the judgement. The job is void if the page was accepted, or found present, after it.
    pub judged_at: Timestamp,
}

impl RemovalJob {
    /// Creates the job that takes a page out of the index, as was judged at this time.
    pub fn remove(page: PageId, url: String, reason: Gone, judged_at: Timestamp) -> RemovalJob {
        RemovalJob { page, url, change: IndexChange::Remove { reason }, judged_at }
    }
}

/// Change of what the index knows of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum IndexChange {
    /// The page leaves the index for good.
    Remove {
        /// Reason.
        reason: Gone,
    },
    /// The page stays, and names another time at which it becomes unavailable.
    Expire {
        /// The time that the page names; `None` if it names none any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Timestamp>,
        /// Validators of the document, if its content is that of the record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        validators: Option<Validators>,
    },
}

impl Kind for RemovalJob {
    const NAME: &'static str = "remove";
    const QUEUE: QueueName = QueueName::Remove;

    fn chain(&self) -> (String, Timestamp) {
        (self.page.to_string(), self.judged_at)
    }
}
