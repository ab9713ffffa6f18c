//! What the search page sees of a deployed stack.

use async_trait::async_trait;
use curlew_model::Stage;
use curlew_ports::{PortError, QueueStatus, Status};
use curlew_stages::{indexed_years, kept_census};
use curlew_wiring::{Program, Served};

/// A stack, whose pages are served.
pub(crate) struct Stack(pub(crate) Program);

#[async_trait]
impl Served for Stack {
    fn program(&self) -> &Program {
        &self.0
    }

    /// What the manifests and the queues say, and the last census: counting rows would read whole tables each time that
    /// anybody asks.
    async fn status(&self) -> Result<Status, PortError> {
        let ports = &self.0.ports;
        let (counted_at, counted) = kept_census(ports.blobs.as_ref()).await?.unzip();
        let mut queues = Vec::with_capacity(Stage::ALL.len());
        for stage in Stage::ALL {
            queues.push(QueueStatus { stage, count: ports.inbox.glance(stage, self.0.clock.now()).await? });
        }
        Ok(Status { index: indexed_years(ports.blobs.as_ref()).await?, counted, counted_at, queues, due_since: None })
    }
}
