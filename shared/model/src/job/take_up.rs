//! Pages that are fetched again once a block of their host is lifted.

use crate::ids::PageId;
use crate::kind::Kind;
use crate::queue_name::QueueName;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Job that sends visits to the pages that a block of their host has kept out, a bounded number in each step. Each step
/// is a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeUpJob {
    /// The name that is not blocked any more.
    pub host: String,
    /// The last row of a page that was read; `None` in the first step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<PageId>,
}

impl Kind for TakeUpJob {
    const NAME: &'static str = "take_up";
    const QUEUE: QueueName = QueueName::Remove;

    fn chain(&self) -> (String, Timestamp) {
        (self.host.clone(), Timestamp::EPOCH)
    }
}
