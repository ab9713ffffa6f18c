//! The addresses of queues, requested once and only when they are needed.

use super::{Jobs, place};
use curlew_model::QueueName;
use curlew_ports::PortError;
use tokio::sync::OnceCell;

/// Addresses of the queues and of the dead queues, in the order of [`QueueName::ALL`].
#[derive(Debug, Default)]
pub(super) struct Addresses {
    live: [OnceCell<String>; QueueName::ALL.len()],
    dead: [OnceCell<String>; QueueName::ALL.len()],
}

impl Jobs {
    /// Returns the address of a stage's queue.
    pub(super) async fn address(&self, stage: QueueName) -> Result<&str, PortError> {
        self.ask(&self.addresses.live[place(stage)], self.names.queue(stage)).await
    }

    /// Returns the address of a stage's dead-letter queue.
    pub(super) async fn dead_address(&self, stage: QueueName) -> Result<&str, PortError> {
        self.ask(&self.addresses.dead[place(stage)], self.names.dead_queue(stage)).await
    }

    async fn ask<'a>(&self, known: &'a OnceCell<String>, name: String) -> Result<&'a str, PortError> {
        let ask = || async {
            let found = self.sqs.get_queue_url().queue_name(&name).send().await;
            let found = found.map_err(|e| self.context("find a queue", &name).failed(e))?;
            Ok(found.queue_url.unwrap_or_default())
        };
        known.get_or_try_init(ask).await.map(String::as_str)
    }
}
