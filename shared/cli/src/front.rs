//! What the search page sees of the program.

use crate::status;
use crate::world::World;
use async_trait::async_trait;
use curlew_ports::{PortError, Status};
use curlew_wiring::{Program, Served};
use std::sync::Arc;

/// The embedded program, whose pages are served.
pub(crate) struct Here(pub(crate) Arc<World>);

#[async_trait]
impl Served for Here {
    fn program(&self) -> &Program {
        &self.0
    }

    async fn status(&self) -> Result<Status, PortError> {
        let failed = |e| PortError::Unavailable { what: format!("the status cannot be read: {e:#}"), source: None };
        let counted = status::Status::gather(&self.0).await.map_err(failed)?;
        let due_since = self.0.ports.inbox.next_due().await?.filter(|due| *due <= self.0.clock.now());
        Ok(Status { due_since, ..counted.for_anybody() })
    }
}
