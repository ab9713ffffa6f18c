use crate::PortError;
use async_trait::async_trait;
use curlew_model::{Job, Millis, QueueName, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Queue to which stages send jobs. Delivery is at least once and in no guaranteed order.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Puts jobs into the queues of their stages, each to be delivered no earlier than its instant. After an error some
    /// jobs may have been sent; send all again, since every job may run twice.
    async fn send(&self, jobs: &[(Job, Timestamp)]) -> Result<(), PortError>;
}

/// Identifies one delivery.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Receipt(pub String);

/// A job that is handed out for a limited time.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// Identifies the delivery for [`Inbox::ack`], [`Inbox::put_back`] and [`Inbox::dead_letter`].
    pub receipt: Receipt,
    /// The job, or the reason why the message is not a job.
    pub job: Result<Job, String>,
    /// Number of times that this message was handed out, including this one.
    pub receives: u32,
}

/// A job that is not due yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// The job, or the reason why the message is not a job.
    pub job: Result<Job, String>,
    /// Time at which the job is due.
    pub due: Timestamp,
}

/// A job that was given up.
#[derive(Clone, Debug, PartialEq)]
pub struct Dead {
    /// Identifies the job for [`Inbox::redrive`] and [`Inbox::discard`].
    pub receipt: Receipt,
    /// The queue of the job.
    pub stage: QueueName,
    /// The message itself.
    pub message: String,
    /// The reason for giving up.
    pub error: String,
    /// Time at which the job was given up.
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

/// Queue from which a runner receives jobs. On AWS the event source mapping receives them, and only operators use this
/// trait. An adapter with its own clock may ignore `now`.
#[async_trait]
pub trait Inbox: Send + Sync {
    /// Hands out at most `max` jobs of one stage that are due at `now`, oldest first if the adapter keeps an order. A
    /// job that is neither acknowledged nor put back within `visibility` is handed out again.
    async fn receive(
        &self,
        stage: QueueName,
        max: usize,
        visibility: Millis,
        now: Timestamp,
    ) -> Result<Vec<Delivery>, PortError>;

    /// Acknowledges a job; after an error the job runs again. An expired receipt is no error.
    async fn ack(&self, receipt: &Receipt) -> Result<(), PortError>;

    /// Hands out a job again at `due`; after an error, at the end of its visibility.
    async fn put_back(&self, receipt: &Receipt, due: Timestamp) -> Result<(), PortError>;

    /// Moves a job to the dead letters with the reason; after an error it is handed out again later.
    async fn dead_letter(&self, receipt: &Receipt, error: &str, now: Timestamp) -> Result<(), PortError>;

    /// Returns the earliest instant at which a job is due, if the adapter knows it.
    async fn next_due(&self) -> Result<Option<Timestamp>, PortError>;

    /// Returns the counts of every queue, which may require reading all waiting jobs.
    async fn counts(&self, now: Timestamp) -> Result<BTreeMap<QueueName, QueueCount>, PortError>;

    /// Returns the counts of one queue at low cost, perhaps without waiting jobs.
    async fn glance(&self, stage: QueueName, now: Timestamp) -> Result<QueueCount, PortError> {
        Ok(self.counts(now).await?.remove(&stage).unwrap_or_default())
    }

    /// Returns at most `limit` jobs that are due after `now`, earliest first, as far as the adapter knows them.
    async fn waiting(&self, now: Timestamp, limit: usize) -> Result<Vec<Waiting>, PortError>;

    /// Returns at most `limit` jobs that were given up, newest first.
    async fn dead(&self, limit: usize) -> Result<Vec<Dead>, PortError>;

    /// Puts a job that was given up back into its queue, due at `now`; [`PortError::NotFound`] if there is none.
    async fn redrive(&self, receipt: &Receipt, now: Timestamp) -> Result<(), PortError>;

    /// Deletes a job that was given up; [`PortError::NotFound`] if there is none.
    async fn discard(&self, receipt: &Receipt) -> Result<(), PortError>;
}
