//! Posts to the receivers of watches.

use crate::kind::Kind;
use crate::queue_name::QueueName;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Job that posts the new matches of a watch to its receiver, or verifies a subscription to them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliverJob {
    /// Name of the watch.
    pub watch: String,
    /// Address of the receiver.
    pub url: String,
    /// Instant of the try that it was sent for, after the receiver had failed; `None` if it was sent for something new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
}

impl Kind for DeliverJob {
    const NAME: &'static str = "deliver";
    const QUEUE: QueueName = QueueName::Poll;

    fn chain(&self) -> (String, Timestamp) {
        (self.watch.clone(), Timestamp::EPOCH)
    }
}
