//! What the search page sees of a deployed stack.

use async_trait::async_trait;
use curlew_model::Stage;
use curlew_ports::{PortError, QueueStatus, Status};
use curlew_stages::catalog::indexed_years::indexed_years;
use curlew_stages::operator::stats::kept_census;
use curlew_wiring::{Program, Served, with_causes};

/// A stack, whose pages are served.
pub(crate) struct Stack(pub(crate) Program);

#[async_trait]
impl Served for Stack {
    fn program(&self) -> &Program {
        &self.0
    }

    /// What the manifests and the queues say, and the last census: counting rows would read whole tables each time that
    /// anybody asks. What cannot be had is left out, but for the index.
    async fn status(&self) -> Result<Status, PortError> {
        let blobs = self.0.ports.blobs.as_ref();
        let index = indexed_years(blobs).await?;
        let (counted_at, counted) = or_nothing(kept_census(blobs).await).unzip();
        Ok(Status { index, counted, counted_at, queues: or_nothing(self.queues().await), due_since: None })
    }
}

impl Stack {
    async fn queues(&self) -> Result<Vec<QueueStatus>, PortError> {
        let mut queues = Vec::with_capacity(Stage::ALL.len());
        for stage in Stage::ALL {
            queues.push(QueueStatus { stage, count: self.0.ports.inbox.glance(stage, self.0.clock.now()).await? });
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
