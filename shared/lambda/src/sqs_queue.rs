//! The stack's queues for a batch, and a count of processes that died while they ran a message's job alone. A process
//! cannot report its own death, so the count goes up before the job starts and down after it returns.

use async_trait::async_trait;
use bytes::Bytes;
use curlew_aws::{Jobs, ReadError};
use curlew_model::{Job, QueueName, Timestamp};
use curlew_ports::stage::with_causes;
use curlew_ports::{Blobs, PortError, Queue};
use std::sync::Arc;

/// Prefix of the keys. It is below the claims, which all queue functions may read and write, and which a lifecycle rule
/// deletes once no message can be that old.
const PREFIX: &str = "claims/deaths/";

/// A message as SQS passes it to the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// Id of the message in the response.
    pub(crate) id: String,
    /// SQS receipt handle of this delivery.
    pub(crate) handle: String,
    /// Text of the job, or a claim check for it.
    pub(crate) body: String,
    /// Number of deliveries, including this one.
    pub(crate) receives: u32,
}

impl Message {
    /// Returns the result of an operation on this message; logs an error, with its consequence.
    pub(crate) fn done_or_warn<T>(&self, result: Result<T, PortError>, consequence: &str) -> Option<T> {
        let warn = |error: &PortError| tracing::warn!(message = %self.id, error = with_causes(error), "{consequence}");
        result.inspect_err(warn).ok()
    }
}

/// Operations on the queue that a batch needs.
#[async_trait]
pub(crate) trait MessageQueue: Send + Sync {
    /// Returns the job of a message.
    async fn read(&self, message: &Message) -> Result<Job, ReadError>;
    /// Sends jobs, each for delivery at its instant or later.
    async fn send(&self, jobs: &[(Job, Timestamp)]) -> Result<(), PortError>;
    /// Makes a message that is going to be reported as failed available again at `due`.
    async fn put_back(&self, message: &Message, due: Timestamp) -> Result<(), PortError>;
    /// Hides a message until `until` at most, even if this process dies.
    async fn hide(&self, message: &Message, until: Timestamp) -> Result<(), PortError>;
    /// Returns the number of processes that died while they ran only this message's job.
    async fn deaths(&self, message: &Message) -> Result<u32, PortError>;
    /// Stores the number that [`MessageQueue::deaths`] returns.
    async fn note_deaths(&self, message: &Message, deaths: u32) -> Result<(), PortError>;
    /// Deletes a message with a finished job before the invocation ends.
    async fn delete(&self, message: &Message) -> Result<(), PortError>;
    /// Copies a message to the dead-letter queue, with the reason.
    async fn give_up(&self, message: &Message, why: &str, now: Timestamp) -> Result<(), PortError>;
}

/// The queue that invokes a function.
pub(crate) struct SqsQueue {
    pub(crate) stage: QueueName,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) deaths: Deaths,
}

#[async_trait]
impl MessageQueue for SqsQueue {
    async fn read(&self, message: &Message) -> Result<Job, ReadError> {
        self.jobs.read_message(&message.body).await
    }

    async fn send(&self, jobs: &[(Job, Timestamp)]) -> Result<(), PortError> {
        self.jobs.send(jobs).await
    }

    async fn put_back(&self, message: &Message, due: Timestamp) -> Result<(), PortError> {
        self.jobs.put_back_message(self.stage, &message.handle, due).await
    }

    async fn hide(&self, message: &Message, until: Timestamp) -> Result<(), PortError> {
        self.jobs.put_back_message(self.stage, &message.handle, until).await
    }

    async fn deaths(&self, message: &Message) -> Result<u32, PortError> {
        self.deaths.count(&message.id).await
    }

    async fn note_deaths(&self, message: &Message, deaths: u32) -> Result<(), PortError> {
        self.deaths.note(&message.id, deaths).await
    }

    async fn delete(&self, message: &Message) -> Result<(), PortError> {
        self.jobs.delete_message(self.stage, &message.handle).await
    }

    async fn give_up(&self, message: &Message, why: &str, now: Timestamp) -> Result<(), PortError> {
        self.jobs.give_up(self.stage, &message.body, why, now).await
    }
}

#[derive(Clone)]
pub(crate) struct Deaths(pub(crate) Arc<dyn Blobs>);

impl Deaths {
    /// Returns the count of a message; 0 if its object is invalid.
    pub(crate) async fn count(&self, message: &str) -> Result<u32, PortError> {
        let count = self.0.get(&format!("{PREFIX}{message}")).await?;
        Ok(count.and_then(|count| std::str::from_utf8(&count.bytes).ok()?.parse().ok()).unwrap_or(0))
    }

    pub(crate) async fn note(&self, message: &str, deaths: u32) -> Result<(), PortError> {
        self.0.put(&format!("{PREFIX}{message}"), Bytes::from(deaths.to_string())).await
    }
}
