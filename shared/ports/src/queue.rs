use crate::PortError;
use async_trait::async_trait;
use curlew_model::{Job, Millis, QueueName, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Queue that stages send jobs to. Delivery is at least once and in no promised order.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Puts jobs into the queues of their stages, each to be delivered no earlier than its instant. After an error some
    /// may be in; send all again, since every job may run twice.
    async fn send(&self, jobs: &[(Job, Timestamp)]) -> Result<(), PortError>;
}

/// Names one delivery.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Receipt(pub String);

/// A job handed out for a while.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// For [`Inbox::ack`] and its like.
    pub receipt: Receipt,
    /// The job, or why the message is none.
    pub job: Result<Job, String>,
    /// Number of times that this message was handed out, this one included.
    pub receives: u32,
}

/// A job that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// The job, or why the message is none.
    pub job: Result<Job, String>,
    /// Time at which it is due.
    pub due: Timestamp,
}

/// A job that was given up.
#[derive(Clone, Debug, PartialEq)]
pub struct Dead {
    /// Names it for [`Inbox::redrive`].
    pub receipt: Receipt,
    /// The queue it was in.
    pub stage: QueueName,
    /// The message itself.
    pub message: String,
    /// The reason for giving it up.
    pub error: String,
    /// Time at which it was given up.
    pub at: Timestamp,
}

/// Counts of one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QueueCount {
    /// Due now.
    pub ready: u64,
    /// Due later.
    pub waiting: u64,
    /// Handed out.
    pub in_flight: u64,
    /// Given up.
    pub dead: u64,
}

/// Queue that a runner takes jobs from; on AWS the event source mapping does, and operators look through this. An
/// adapter with a clock of its own may go by that instead of `now`.
#[async_trait]
pub trait Inbox: Send + Sync {
    /// Hands out at most `max` jobs of one stage that are due at `now`, oldest first if the adapter knows order. A job
    /// that is neither acknowledged nor put back within `visibility` is handed out again.
    async fn receive(
        &self,
        stage: QueueName,
        max: usize,
        visibility: Millis,
        now: Timestamp,
    ) -> Result<Vec<Delivery>, PortError>;

    /// Ends a job; after an error the job runs again. A receipt that has run out is no error.
    async fn ack(&self, receipt: &Receipt) -> Result<(), PortError>;

    /// Hands a job out again at `due`; after an error, when its visibility ends.
    async fn put_back(&self, receipt: &Receipt, due: Timestamp) -> Result<(), PortError>;

    /// Moves a job to the dead letters with the reason; after an error it is handed out again later.
    async fn dead_letter(&self, receipt: &Receipt, error: &str, now: Timestamp) -> Result<(), PortError>;

    /// Returns the earliest instant at which a job is due, as far as the adapter can see.
    async fn next_due(&self) -> Result<Option<Timestamp>, PortError>;

    /// Returns the counts of every queue, which may mean to read all waiting jobs.
    async fn counts(&self, now: Timestamp) -> Result<BTreeMap<QueueName, QueueCount>, PortError>;

    /// Returns the counts of one queue cheaply, perhaps without waiting jobs.
    async fn glance(&self, stage: QueueName, now: Timestamp) -> Result<QueueCount, PortError> {
        Ok(self.counts(now).await?.remove(&stage).unwrap_or_default())
    }

    /// Returns jobs that wait for a time after `now`, earliest first, as far as the adapter can see them.
    async fn waiting(&self, now: Timestamp, limit: usize) -> Result<Vec<Waiting>, PortError>;

    /// Returns jobs that were given up, newest first.
    async fn dead(&self, limit: usize) -> Result<Vec<Dead>, PortError>;

    /// Puts a job that was given up back into its queue, due at `now`; [`PortError::NotFound`] if there is none.
    async fn redrive(&self, receipt: &Receipt, now: Timestamp) -> Result<(), PortError>;

    /// Deletes a job that was given up; [`PortError::NotFound`] if there is none.
    async fn discard(&self, receipt: &Receipt) -> Result<(), PortError>;
}
