//! The state of the whole program, as the status page and its JSON show it.

use curlew_model::{Stage, Timestamp};
use curlew_ports::QueueCount;
use curlew_stages::catalog::indexed_years::IndexedYear;
use curlew_stages::operator::stats::PublicCounts;
use serde::Serialize;

/// What the program has and does, for anybody who asks: numbers and times, and never a host, a page or a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SystemStatus {
    /// The index, a year at a time, the newest first.
    pub index: Vec<IndexedYear>,
    /// What has to be counted row by row; none where that was not done yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<PublicCounts>,
    /// When they were counted, if not just now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_at: Option<Timestamp>,
    /// What is to be done; empty where that is not counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<QueueStatus>,
    /// Since when the job that is due the longest has been due, if any is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_since: Option<Timestamp>,
}

/// One queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct QueueStatus {
    /// Whose jobs are in it.
    pub stage: Stage,
    /// How many.
    #[serde(flatten)]
    pub count: QueueCount,
}
