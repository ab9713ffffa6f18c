//! The stack's queues behind a batch.

use crate::batch::{Message, MessageQueue, Unread};
use crate::deaths::Deaths;
use async_trait::async_trait;
use curlew_aws::{Jobs, ReadError};
use curlew_model::{Job, QueueName, Timestamp};
use curlew_ports::{PortError, Queue};
use std::sync::Arc;

/// The queue that wakes a function.
pub(crate) struct SqsQueue {
    pub(crate) stage: QueueName,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) deaths: Deaths,
}

#[async_trait]
impl MessageQueue for SqsQueue {
    async fn read(&self, message: &Message) -> Result<Job, Unread> {
        self.jobs.read_message(&message.body).await.map_err(|error| match error {
            ReadError::Unreadable(why) => Unread::Never(why),
            ReadError::Port(error) => Unread::NotNow(error),
        })
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
