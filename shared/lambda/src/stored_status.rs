//! The status of a deployed stack, without scans of whole tables.

use async_trait::async_trait;
use curlew_catalog::indexed_years::indexed_years;
use curlew_model::QueueName;
use curlew_people::stats::stored_stats;
use curlew_ports::stage::{StageError, with_causes};
use curlew_ports::{Blobs, Clock, Inbox, PortError};
use curlew_web::{QueueStatus, StatusSource, SystemStatus};
use std::sync::Arc;

/// Reads the status from the manifests, the queues and the stored counts: counting rows would scan whole tables for
/// each request. A part that cannot be read is left out, except for the index.
pub(crate) struct StoredStatus {
    pub(crate) blobs: Arc<dyn Blobs>,
    pub(crate) inbox: Arc<dyn Inbox>,
    pub(crate) clock: Arc<dyn Clock>,
}

#[async_trait]
impl StatusSource for StoredStatus {
    async fn status(&self) -> Result<SystemStatus, StageError> {
        let blobs = self.blobs.as_ref();
        let index = indexed_years(blobs).await?;
        let (counted_at, counted) = or_nothing(stored_stats(blobs).await).unzip();
        Ok(SystemStatus {
            index,
            counted,
            counted_at,
            queues: or_nothing(self.queues().await),
            ..SystemStatus::default()
        })
    }
}

impl StoredStatus {
    async fn queues(&self) -> Result<Vec<QueueStatus>, PortError> {
        let mut queues = Vec::with_capacity(QueueName::ALL.len());
        for stage in QueueName::ALL {
            queues.push(QueueStatus { stage, count: self.inbox.glance(stage, self.clock.now()).await? });
        }
        Ok(queues)
    }
}

fn or_nothing<T: Default>(answer: Result<T, PortError>) -> T {
    answer.unwrap_or_else(|error| {
        tracing::warn!(error = with_causes(&error), "a part of the status cannot be had");
        T::default()
    })
}
