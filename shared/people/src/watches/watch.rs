//! A watch as it is stored, and the matches that wait in its outbox.

use curlew_model::{PageId, Timestamp};
use serde::{Deserialize, Serialize};

/// Maximum number of delivered pages that a watch remembers, so that none is delivered twice because a job ran twice.
const REMEMBERED: usize = 500;

/// A stored query and the receiver of its new matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// Name of the watch.
    pub name: String,
    /// The query. Pages that have all of its words match.
    pub query: String,
    /// Address that matches are posted to.
    pub to: String,
    /// Key of the signatures; `None` in lists, since it is shown once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Time at which it was added.
    pub added: Timestamp,
    /// Fate of its deliveries.
    #[serde(default)]
    pub receiver: ReceiverState,
}

/// Fate of the deliveries to a receiver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiverState {
    /// Matches that were taken.
    pub delivered: u64,
    /// Time of the last delivery that was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<Timestamp>,
    /// Tries in a row that failed.
    pub failures: u32,
    /// Time of the first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<Timestamp>,
    /// Time of the next try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
    /// Reason of the last failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// True if it was given up: matches wait until its job is put back into its queue.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub given_up: bool,
    /// Pages that were delivered last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) recent: Vec<PageId>,
}

impl ReceiverState {
    /// Remembers that these pages were taken.
    pub(crate) fn took(&mut self, pages: impl IntoIterator<Item = PageId>, now: Timestamp) {
        let before = self.recent.len();
        self.recent.extend(pages);
        self.delivered += (self.recent.len() - before) as u64;
        self.recent.drain(..self.recent.len().saturating_sub(REMEMBERED));
        let (delivered, recent) = (self.delivered, std::mem::take(&mut self.recent));
        *self = ReceiverState { delivered, delivered_at: Some(now), recent, ..ReceiverState::default() };
    }
}

/// A new match, as it waits in an outbox. Nothing of the page itself is kept here, so that a page that is removed
/// meanwhile leaves nothing behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Match {
    pub(crate) page: PageId,
    /// Time of the fetch, by which matches are ordered.
    pub(crate) at: Timestamp,
}
