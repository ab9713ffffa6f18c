//! The status of this machine's program, counted live.

use crate::status;
use crate::world::World;
use async_trait::async_trait;
use curlew_people::activity::last_days;
use curlew_ports::PortError;
use curlew_ports::stage::StageError;
use curlew_web::{StatusSource, SystemStatus};
use std::sync::Arc;

/// Counts the rows and activity of this machine's program, row by row.
pub(crate) struct LiveStatus(pub(crate) Arc<World>);

#[async_trait]
impl StatusSource for LiveStatus {
    async fn status(&self) -> Result<SystemStatus, StageError> {
        let failed = |e| PortError::Unavailable { what: format!("the status cannot be read: {e:#}"), source: None };
        let counted = status::Status::gather(&self.0).await.map_err(failed)?;
        let due_since = self.0.ports.inbox.next_due().await?.filter(|due| *due <= self.0.clock.now());
        let activity = last_days(self.0.ports.blobs.as_ref(), self.0.clock.now()).await?;
        Ok(SystemStatus { due_since, activity, ..counted.for_public() })
    }
}
