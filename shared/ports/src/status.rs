use crate::QueueCount;
use curlew_model::{HoldReason, Stage, Timestamp, Year};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the program has and does, for anybody who asks: numbers and times, and never a host, a page or a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Status {
    /// The index, a year at a time, the newest first.
    pub index: Vec<IndexedYear>,
    /// What has to be counted row by row; none where that was not done yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<Counted>,
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

/// A year of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct IndexedYear {
    /// The year.
    pub year: Year,
    /// Its pages that can be found.
    pub pages: u64,
    /// When something of it was published last.
    pub published: Option<Timestamp>,
}

/// What there is, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Sites that were named.
    pub sites: u64,
    /// Feeds that are known.
    pub feeds: u64,
    /// Pages that were taken in.
    pub accepted: u64,
    /// Pages that are fetched and not judged yet.
    pub pending: u64,
    /// Pages that were not taken in.
    pub rejected: u64,
    /// Pages that were taken in and are gone again.
    pub gone: u64,
    /// Host keys that are left alone now, by the reason.
    pub held: BTreeMap<HoldReason, u64>,
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
