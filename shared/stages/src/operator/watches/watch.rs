//! A watch as it is stored, and the matches that wait in its outbox.

use curlew_model::{Millis, PageId, Timestamp};
use serde::{Deserialize, Serialize};

/// Maximum number of delivered pages that a watch remembers, so that none is delivered twice because a job ran twice.
const REMEMBERED: usize = 500;

/// Time within which a subscriber has to confirm a request for a new subscription.
pub const CONFIRM_WITHIN: Millis = Millis::from_hours(1);

/// A stored query and the receiver of its new matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// Name of the watch.
    pub name: String,
    /// The query. Pages that have all of its words match.
    pub query: String,
    /// Address that matches are posted to.
    pub to: String,
    /// Key of the signatures, if deliveries are signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Time at which it was added; of a subscription that is not confirmed, the time of its last request.
    pub added: Timestamp,
    /// The subscription that it serves; without one it is a webhook of the operator's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscription: Option<TopicSubscription>,
    /// Fate of its deliveries.
    #[serde(default)]
    pub receiver: ReceiverState,
}

impl Watch {
    /// Returns the end of a subscription: that of its lease, or of the time for its confirmation.
    pub(crate) fn ends_at(&self) -> Option<Timestamp> {
        let subscription = self.subscription.as_ref()?;
        Some(subscription.until.unwrap_or(self.added + CONFIRM_WITHIN))
    }
}

/// A feed reader's subscription to one of our search feeds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicSubscription {
    /// Address of the feed.
    pub topic: String,
    /// End of its lease; `None` until the subscriber has confirmed it.
    pub until: Option<Timestamp>,
    /// The request that the subscriber has still to confirm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<SubscriptionRequest>,
}

/// A subscriber's request (WebSub §5.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscriptionRequest {
    /// True to end the subscription.
    pub ends: bool,
    /// Length of the lease.
    pub lease: Millis,
    /// The secret, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
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
