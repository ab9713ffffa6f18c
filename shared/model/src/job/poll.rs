//! Polls of feeds.

use crate::ids::SourceKey;
use crate::kind::Kind;
use crate::queue_name::QueueName;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Job that reads a feed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollJob {
    /// Key of the feed's row.
    pub feed: SourceKey,
    /// URL of the feed.
    pub url: String,
    /// True if a person requested it, so that the feed's schedule does not apply.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_request: bool,
    /// Time at which the feed's schedule asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
}

impl PollJob {
    /// Creates the job that a feed's schedule sends.
    pub fn new(feed: SourceKey, url: String) -> PollJob {
        PollJob { feed, url, on_request: false, due: None }
    }
}

impl Kind for PollJob {
    const NAME: &'static str = "poll";
    const QUEUE: QueueName = QueueName::Poll;

    fn chain(&self) -> (String, Timestamp) {
        (self.feed.to_string(), self.due.unwrap_or(Timestamp::EPOCH))
    }
}
