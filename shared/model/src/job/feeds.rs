//! Jobs that read feeds and sites.

use crate::{SourceKey, Timestamp};
use serde::{Deserialize, Serialize};

/// Job that finds the feeds of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoverJob {
    /// Key of the site's row.
    pub site: SourceKey,
    /// Start URL of the site.
    pub url: String,
    /// Address of the home page after all redirects, once the page was read. It is not fetched again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// Feeds that the home page names and that have not been tried yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<String>,
    /// Index of the next common feed path to try, once the home page is known to name no working feed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_guess: Option<u8>,
}

impl DiscoverJob {
    /// Creates the job for the first examination of a site.
    pub fn new(site: SourceKey, url: String) -> DiscoverJob {
        DiscoverJob { site, url, home: None, links: vec![], next_guess: None }
    }
}

/// Job that reads a feed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollJob {
    /// Key of the feed's row.
    pub feed: SourceKey,
    /// URL of the feed.
    pub url: String,
    /// True if a person requested the poll, so that the feed's schedule does not apply.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_request: bool,
    /// Time at which the poll is due by the feed's schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
}

impl PollJob {
    /// Creates the job for a scheduled poll.
    pub fn new(feed: SourceKey, url: String) -> PollJob {
        PollJob { feed, url, on_request: false, due: None }
    }
}

/// Polls that are due at about the same time, in one message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollsJob {
    /// Creation time of the message; distinguishes a redelivery from the next message with the same first feed.
    pub made_at: Timestamp,
    /// The polls.
    pub polls: Vec<PollJob>,
}

/// Job that requests a subscription from a feed's hub, or ends one.
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

/// Job that does one step of a backfill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackfillJob {
    /// Key of the backfill's row.
    pub backfill: SourceKey,
    /// Address of the site or feed whose back catalogue is read.
    pub url: String,
    /// Number of the step. The job is void if the row is at a later step.
    pub step: u32,
}
