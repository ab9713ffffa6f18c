//! The status of the whole program, as the status page and its JSON show it.

use curlew_catalog::indexed_years::IndexedYear;
use curlew_model::{QueueName, Timestamp};
use curlew_people::activity::DayCounts;
use curlew_people::stats::PublicCounts;
use curlew_ports::QueueCount;
use schemars::JsonSchema;
use serde::Serialize;

/// Public status: counts and times, and never a host, a page or a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SystemStatus {
    /// The index by year, newest first.
    pub index: Vec<IndexedYear>,
    /// Counts that need a scan of all rows; `None` if that was not done yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<PublicCounts>,
    /// Time at which they were counted, if not just now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub counted_at: Option<Timestamp>,
    /// Jobs by queue; empty if they are not counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<QueueStatus>,
    /// Due time of the job that has been due for longest, if any is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub due_since: Option<Timestamp>,
    /// Counts of the last days, the oldest first; empty if they are not kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub activity: Vec<DayCounts>,
}

/// One queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QueueStatus {
    /// The stage that takes its jobs.
    #[schemars(with = "String")]
    pub stage: QueueName,
    /// Number of its jobs.
    #[serde(flatten)]
    pub count: QueueCount,
}
