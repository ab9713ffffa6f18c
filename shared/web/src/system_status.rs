//! The status of the whole program, as the status page and its JSON show it. It is cached: anybody may request it at
//! any time, and gathering it may take seconds.

use crate::services::StatusSource;
use curlew_catalog::indexed_years::IndexedYear;
use curlew_model::{Millis, QueueName, Timestamp};
use curlew_people::activity::DayCounts;
use curlew_people::stats::PublicCounts;
use curlew_ports::stage::StageError;
use curlew_ports::{Clock, QueueCount};
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

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

/// Time for which a status is reused.
const KEPT: Millis = Millis::from_mins(1);
/// Maximum time that a visitor waits for a new status if one younger than [`EARLIER`] is cached.
const PATIENCE: Millis = Millis::from_secs(2);
const EARLIER: Millis = Millis::from_hours(1);

pub(crate) struct KeptStatus {
    source: Arc<dyn StatusSource>,
    clock: Arc<dyn Clock>,
    /// The last status, and the monotonic time at which it was gathered.
    last: Mutex<Option<(Millis, Arc<SystemStatus>)>>,
    /// Held by the task that gathers the next status.
    gathering: tokio::sync::Mutex<()>,
}

impl KeptStatus {
    pub(crate) fn new(source: Arc<dyn StatusSource>, clock: Arc<dyn Clock>) -> Arc<KeptStatus> {
        Arc::new(KeptStatus { source, clock, last: Mutex::default(), gathering: tokio::sync::Mutex::default() })
    }

    /// Returns a status less than a minute old, or up to an hour old if gathering takes longer than [`PATIENCE`].
    pub(crate) async fn get(self: &Arc<Self>) -> Result<Arc<SystemStatus>, StageError> {
        if let Some(status) = self.within(KEPT) {
            return Ok(status);
        }
        let asked = self.clone();
        // A separate task, which continues after the visitor disconnects and fills the cache for the next one.
        let gathered = tokio::spawn(async move { asked.gather().await });
        let gathered = async { gathered.await.unwrap_or_else(|error| Err(StageError::Job(error.to_string()))) };
        let Some(earlier) = self.within(EARLIER) else { return gathered.await };
        tokio::select! {
            status = gathered => status,
            () = self.clock.sleep(PATIENCE) => Ok(earlier),
        }
    }

    async fn gather(&self) -> Result<Arc<SystemStatus>, StageError> {
        let _one_at_a_time = self.gathering.lock().await;
        if let Some(status) = self.within(KEPT) {
            return Ok(status);
        }
        let status = Arc::new(self.source.status().await?);
        let kept = Some((self.clock.monotonic(), status.clone()));
        *self.last.lock() = kept;
        Ok(status)
    }

    /// Returns the last status if it is younger than `age`.
    fn within(&self, age: Millis) -> Option<Arc<SystemStatus>> {
        let last = self.last.lock();
        let is_new = |at: Millis| self.clock.monotonic().saturating_sub(at) < age;
        last.as_ref().filter(|(at, _)| is_new(*at)).map(|(_, status)| status.clone())
    }
}
