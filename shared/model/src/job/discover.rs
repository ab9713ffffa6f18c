//! Discovery: finds the feeds of a site.

use crate::ids::SourceKey;
use crate::kind::Kind;
use crate::queue_name::QueueName;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Job that finds the feeds of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoverJob {
    /// Key of the site's row.
    pub site: SourceKey,
    /// Start URL of the site.
    pub url: String,
    /// Address of the home page after all redirects, once it was read. It is not called again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// Feeds named by the home page that are still to be tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<String>,
    /// Index of the usual address to try next, once the home page is known to name no working feed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_guess: Option<u8>,
}

impl DiscoverJob {
    /// Creates the job for the first examination of a site.
    pub fn new(site: SourceKey, url: String) -> DiscoverJob {
        DiscoverJob { site, url, home: None, links: vec![], next_guess: None }
    }
}

impl Kind for DiscoverJob {
    const NAME: &'static str = "discover";
    const QUEUE: QueueName = QueueName::Discover;

    fn chain(&self) -> (String, Timestamp) {
        (self.site.to_string(), Timestamp::EPOCH)
    }
}
