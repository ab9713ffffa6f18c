//! The part of a feed's row that decides when it is polled next, and how.

use crate::time::{Millis, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Everything about polling that a feed's row keeps from one poll to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Polling {
    /// The requests of the feed and its server; kept across answers that do not repeat them.
    #[serde(rename = "wishes", skip_serializing_if = "is_default")]
    pub hints: PollHints,
    /// The rate at which new entries came.
    #[serde(skip_serializing_if = "is_default")]
    pub habit: Habit,
    /// The input that gave the feed's interval or deferred its next poll.
    #[serde(skip_serializing_if = "is_default")]
    pub why: Why,
    /// The instant that the last answer named by `Retry-After`, within its cap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
    /// Failures of one kind in a row, if the last poll failed.
    #[serde(rename = "ailment", skip_serializing_if = "Option::is_none")]
    pub streak: Option<FailureStreak>,
    /// Trust in the server's 304s.
    #[serde(skip_serializing_if = "is_default")]
    pub trust: Trust,
    /// When a permanent redirect was counted last (the count is in [`crate::FeedSource::moved`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_at: Option<Timestamp>,
    /// Discovery of its site was opened again for this feed; that happens once.
    #[serde(skip_serializing_if = "is_default")]
    pub reopened: bool,
    /// Number of rows that list the feed under further slots (see [`crate::ExtraSlot`]).
    #[serde(skip_serializing_if = "is_default")]
    pub extra_slots: u8,
    /// The hub that would tell of news.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hub: Option<Hub>,
    /// The state of a subscription to that hub.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscription: Option<Subscription>,
    /// New entries that were taken on the day that began then.
    #[serde(skip_serializing_if = "is_default")]
    pub taken: Taken,
}

impl Polling {
    /// True if there is nothing to keep.
    pub fn is_default(&self) -> bool {
        is_default(self)
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The intervals and skipped hours that a feed and its server ask of those who poll it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PollHints {
    /// `ttl` of RSS 2.0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Millis>,
    /// `sy:updatePeriod` divided by `sy:updateFrequency`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_period: Option<Millis>,
    /// Time for which an answer is fresh by `Cache-Control: max-age` or `Expires`, counted from when it was made
    /// (RFC 9111 §4.2.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh_for: Option<Millis>,
    /// `skipHours`: bit 0 is the hour from midnight UTC.
    #[serde(skip_serializing_if = "is_default")]
    pub skip_hours: u32,
    /// `skipDays`: bit 0 is Monday.
    #[serde(skip_serializing_if = "is_default")]
    pub skip_days: u8,
}

/// The rate at which a feed brings new entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Habit {
    /// The decaying mean of the times between two new entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<Millis>,
    /// When the last new entry was seen or, at first, published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub news_at: Option<Timestamp>,
}

/// The input that decided when a feed is polled next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The interval that the rules give to every feed.
    #[default]
    Usual,
    /// There is nothing to ask a conditional question with, or the answers to one cannot be believed.
    Blind,
    /// A hub tells of news, so polls only make sure.
    Pushed,
    /// The feed's own history.
    History,
    /// `ttl` of RSS 2.0.
    Ttl,
    /// `sy:updatePeriod` and `sy:updateFrequency`.
    UpdatePeriod,
    /// `Cache-Control: max-age` less `Age`, or `Expires`.
    Fresh,
    /// `Retry-After`.
    RetryAfter,
    /// `skipHours` or `skipDays`.
    Skips,
    /// Its host is left alone.
    Held,
    /// It failed.
    Failing,
    /// It is not found (404).
    Lost,
    /// It is refused (401, 403).
    Refused,
    /// An answer came that is no feed, or an empty one.
    Suspect,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Usual => "this is the usual interval",
            Why::Blind => "the server gives nothing by which an unchanged feed is known, or cannot be believed in it",
            Why::Pushed => "its hub tells of news (WebSub) and this is only to make sure",
            Why::History => "so often something new has come",
            Why::Ttl => "the feed says so (ttl)",
            Why::UpdatePeriod => "the feed says so (sy:updatePeriod)",
            Why::Fresh => "the server says that its answer is fresh so long (max-age or Expires)",
            Why::RetryAfter => "the server says so (Retry-After)",
            Why::Skips => "the feed asks to be left alone before (skipHours, skipDays)",
            Why::Held => "the host is left alone until then",
            Why::Failing => "the last polls failed",
            Why::Lost => "the feed is not found (404)",
            Why::Refused => "the server refuses the feed (401 or 403)",
            Why::Suspect => "something else came in place of the feed",
        })
    }
}

/// Polls of a feed that failed in a row in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureStreak {
    /// Their common kind.
    pub kind: FailureKind,
    /// When the first of them failed.
    pub since: Timestamp,
    /// Their number.
    pub times: u32,
}

/// Kind of a failure that outlasts single polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// 404 Not Found.
    Lost,
    /// 401 Unauthorized or 403 Forbidden.
    Refused,
    /// An empty document, a web page, a feed that lost all its entries.
    Suspect,
    /// 304 Not Modified to an unconditional request.
    Unasked,
}

/// Trust in a server's 304s, and the time of the next check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trust {
    /// Hash of what the last whole answer said.
    #[serde(skip_serializing_if = "is_default")]
    pub content: u64,
    /// From then on, a poll asks unconditionally to see whether the 304s told the truth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify_at: Option<Timestamp>,
    /// Checks in a row that found the 304s true; each doubles the time to the next one.
    #[serde(skip_serializing_if = "is_default")]
    pub proofs: u8,
    /// Signs that the 304s are false: a check that found other content than they had made believe, and each 304 to the
    /// validators of the older document since then. Until it is decided, these validators are kept.
    #[serde(skip_serializing_if = "is_default")]
    pub doubts: u8,
    /// Whole answers in a row to conditional requests that brought the same document under the same validators.
    #[serde(skip_serializing_if = "is_default")]
    pub ignored: u8,
    /// The server's 304s are false: it is asked unconditionally from then on, and less often.
    #[serde(skip_serializing_if = "is_default")]
    pub distrusted: bool,
}

/// A WebSub hub, and the name by which it knows the feed (WebSub §4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hub {
    /// The hub's address (`rel="hub"`).
    pub url: String,
    /// The topic: the feed's address as it gives it itself (`rel="self"`).
    pub topic: String,
}

/// A subscription to a feed's hub, as far as it has come (WebSub §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Subscription {
    /// Hash of the hub's address and the topic: under another hub or topic it is another subscription.
    pub of: u64,
    /// When it was begun; with the feed's key and the page's secret this names the callback.
    pub begun: Timestamp,
    /// The hub was asked then, and its question whether that was us is awaited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<Timestamp>,
    /// Until when the hub tells of news.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// From when on it is renewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renew_at: Option<Timestamp>,
    /// Requests in a row that came to nothing.
    #[serde(skip_serializing_if = "is_default")]
    pub refusals: u32,
    /// No further request before this.
    #[serde(skip_serializing_if = "is_default")]
    pub not_before: Timestamp,
    /// It is being ended: the hub's question about that is answered with yes.
    #[serde(skip_serializing_if = "is_default")]
    pub ending: bool,
    /// The hub told of news, and a poll was sent for this instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early: Option<Timestamp>,
}

impl Subscription {
    /// True if its lease is in force.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.until.is_some_and(|until| until > now)
    }
}

/// New entries taken on one day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// Days since 1970.
    pub day: i64,
    /// Their number.
    pub entries: u32,
}
