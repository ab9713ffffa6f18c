//! Names of the queues.

use serde::{Deserialize, Serialize};

/// The queues, in the order in which a page passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueName {
    /// Finds the feeds of a site.
    Discover,
    /// Reads a feed.
    Poll,
    /// Visits a host.
    Fetch,
    /// Makes a record of a page.
    Extract,
    /// Takes a page out of the index, and does what owners ask for.
    Remove,
}

impl QueueName {
    /// All queues.
    pub const ALL: [QueueName; 5] =
        [QueueName::Discover, QueueName::Poll, QueueName::Fetch, QueueName::Extract, QueueName::Remove];

    /// Returns the queue's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            QueueName::Discover => "discover",
            QueueName::Poll => "poll",
            QueueName::Fetch => "fetch",
            QueueName::Extract => "extract",
            QueueName::Remove => "remove",
        }
    }
}
