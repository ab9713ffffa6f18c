//! Requests to hubs.

use crate::ids::SourceKey;
use crate::kind::Kind;
use crate::queue_name::QueueName;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Job that asks a feed's hub for a subscription, or ends one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscribeJob {
    /// Key of the feed's row.
    pub feed: SourceKey,
    /// The hub's address.
    pub url: String,
    /// True to end the subscription.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub end: bool,
}

impl Kind for SubscribeJob {
    const NAME: &'static str = "subscribe";
    const QUEUE: QueueName = QueueName::Poll;

    fn chain(&self) -> (String, Timestamp) {
        (self.feed.to_string(), Timestamp::EPOCH)
    }
}
