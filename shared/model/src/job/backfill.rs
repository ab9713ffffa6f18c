//! Steps of back catalogues.

use crate::ids::SourceKey;
use crate::kind::Kind;
use crate::queue_name::QueueName;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Job that does one step of a backfill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackfillJob {
    /// Key of the backfill's row.
    pub backfill: SourceKey,
    /// Address of the site or feed.
    pub url: String,
    /// Number of the step; void if the row has come further.
    pub step: u32,
}

impl Kind for BackfillJob {
    const NAME: &'static str = "backfill";
    const QUEUE: QueueName = QueueName::Poll;

    fn chain(&self) -> (String, Timestamp) {
        (format!("{} {}", self.backfill, self.step), Timestamp::EPOCH)
    }
}
