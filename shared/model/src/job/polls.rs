//! Polls of many feeds in one message.

use super::poll::PollJob;
use crate::kind::Kind;
use crate::queue_name::QueueName;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Polls that fell due at about the same time, in one message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollsJob {
    /// Instant at which the message was made. No two messages with the same first feed have the same one, so it tells a
    /// second delivery from the next message.
    pub made_at: Timestamp,
    /// The polls.
    pub polls: Vec<PollJob>,
}

impl Kind for PollsJob {
    const NAME: &'static str = "polls";
    const QUEUE: QueueName = QueueName::Poll;

    fn chain(&self) -> (String, Timestamp) {
        (self.polls.first().map(|poll| poll.feed.to_string()).unwrap_or_default(), self.made_at)
    }
}
