//! Polling state of a feed: when and how the feed is polled next.

use crate::{Millis, Timestamp, words};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Polling state that a feed's row keeps between polls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Polling {
    /// Polling hints of the feed and its server. A hint is kept when later answers do not repeat it.
    #[serde(skip_serializing_if = "is_default")]
    pub hints: PollHints,
    /// Rate at which new entries arrived.
    #[serde(skip_serializing_if = "is_default")]
    pub habit: Habit,
    /// Reason for the feed's interval, or for a deferral of its next poll.
    #[serde(skip_serializing_if = "is_default")]
    pub why: Why,
    /// Instant given by the last answer's `Retry-After`, capped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
    /// Consecutive failures of one kind, if the last poll failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streak: Option<FailureStreak>,
    /// Trust in the server's 304s.
    #[serde(skip_serializing_if = "is_default")]
    pub trust: Trust,
    /// Time at which a permanent redirect was last counted (the count is in [`crate::FeedSource::moved`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_at: Option<Timestamp>,
    /// True if the site's discovery was restarted because of this feed, which happens once.
    #[serde(skip_serializing_if = "is_default")]
    pub reopened: bool,
    /// Number of rows that list the feed under additional slots (see [`crate::ExtraSlot`]).
    #[serde(skip_serializing_if = "is_default")]
    pub extra_slots: u8,
    /// WebSub hub that the feed names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hub: Option<Hub>,
    /// State of the subscription to that hub.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscription: Option<Subscription>,
    /// Number of new entries accepted on the current day.
    #[serde(skip_serializing_if = "is_default")]
    pub taken: Taken,
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Intervals and skipped hours that a feed and its server request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PollHints {
    /// `ttl` of RSS 2.0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Millis>,
    /// `sy:updatePeriod` divided by `sy:updateFrequency`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_period: Option<Millis>,
    /// Freshness lifetime of the feed's last answer, from `max-age` or `Expires` (RFC 9111 §4.2.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh_for: Option<Millis>,
    /// Crawl-delay of the feed's robots.txt, if it exceeds the longest pause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crawl_delay: Option<Millis>,
    /// `skipHours` as a bit set: bit 0 is the hour that begins at midnight UTC.
    #[serde(skip_serializing_if = "is_default")]
    pub skip_hours: u32,
    /// `skipDays` as a bit set: bit 0 is Monday.
    #[serde(skip_serializing_if = "is_default")]
    pub skip_days: u8,
}

/// Rate at which a feed publishes new entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Habit {
    /// Decaying mean of the time between two new entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<Millis>,
    /// Time at which the last new entry was seen or, at the first poll, its publication date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub news_at: Option<Timestamp>,
}

words! {
    /// Reason for the time of the next poll.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Why {
        /// The default interval.
        #[default]
        Usual = "this is the usual interval: the feed has given no reason for another",
        /// Conditional requests are impossible, or the server's answers to them cannot be trusted.
        Blind = "the server gives nothing by which an unchanged feed is known, or cannot be believed in it",
        /// A hub announces new entries, so polls only verify that none was missed.
        Pushed = "its hub tells of news (WebSub) and this is only to make sure",
        /// The feed's publishing rate.
        History = "so often something new comes in this feed",
        /// `ttl` of RSS 2.0.
        Ttl = "the feed says so (ttl)",
        /// `sy:updatePeriod` and `sy:updateFrequency`.
        UpdatePeriod = "the feed says so (sy:updatePeriod)",
        /// `Cache-Control: max-age` less `Age`, or `Expires`.
        Fresh = "the server says that its answer is fresh so long (max-age or Expires)",
        /// A Crawl-delay that exceeds the longest pause.
        CrawlDelay = "its robots.txt says so (Crawl-delay)",
        /// `Retry-After`.
        RetryAfter = "the server says so (Retry-After)",
        /// `skipHours` or `skipDays`.
        Skips = "the feed asks to be left alone before (skipHours, skipDays)",
        /// The feed's host is on hold.
        Held = "the host is left alone until then",
        /// The feed's polls fail.
        Failing = "the last polls failed",
        /// The feed is not found (404).
        Lost = "the feed is not found (404)",
        /// The server refuses the feed (401, 403).
        Refused = "the server refuses the feed (401 or 403)",
        /// The last answer was empty or not a feed.
        Suspect = "something else came in place of the feed",
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Consecutive failed polls of a feed with the same kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureStreak {
    /// Kind of failure.
    pub kind: FailureKind,
    /// Time of the first failure.
    pub since: Timestamp,
    /// Number of failures.
    pub times: u32,
}

/// Kind of a failure that persists beyond a single poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// 404 Not Found.
    Lost,
    /// 401 Unauthorized or 403 Forbidden.
    Refused,
    /// An empty document, a web page, or a feed that lost all its entries.
    Suspect,
    /// 304 Not Modified to an unconditional request.
    Unasked,
}

/// Trust in a server's 304 answers, and the time of the next check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trust {
    /// Hash of the content of the last complete answer; zero if unknown.
    #[serde(skip_serializing_if = "is_default")]
    pub content: u64,
    /// Time from which a poll is unconditional, to verify the server's 304s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify_at: Option<Timestamp>,
    /// Number of consecutive checks that confirmed the 304s; each doubles the time until the next check.
    #[serde(skip_serializing_if = "is_default")]
    pub proofs: u8,
    /// Number of signs that the 304s are false; the older document's validators are kept until the question is settled.
    #[serde(skip_serializing_if = "is_default")]
    pub doubts: u8,
    /// Number of consecutive complete answers to conditional requests that repeated both document and validators.
    #[serde(skip_serializing_if = "is_default")]
    pub ignored: u8,
    /// True if the server's 304s are false. Polls are then unconditional, and rarer.
    #[serde(skip_serializing_if = "is_default")]
    pub distrusted: bool,
}

/// A WebSub hub, and the topic under which it knows the feed (WebSub §4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hub {
    /// The hub's address (`rel="hub"`).
    pub url: String,
    /// Topic: the feed's canonical address (`rel="self"`).
    pub topic: String,
}

/// State of a subscription to a feed's hub (WebSub §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Subscription {
    /// Hash of the hub's address and the topic. A change of either needs a new subscription.
    pub of: u64,
    /// Start time. The callback is identified by this time, the feed's key and the page's secret.
    pub begun: Timestamp,
    /// Time of the request to the hub whose verification is pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<Timestamp>,
    /// Instant until which the hub's lease is in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Instant from which the subscription is renewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renew_at: Option<Timestamp>,
    /// Number of consecutive failed requests.
    #[serde(skip_serializing_if = "is_default")]
    pub refusals: u32,
    /// Instant before which no further request is sent.
    #[serde(skip_serializing_if = "is_default")]
    pub not_before: Timestamp,
    /// True if the subscription is being ended: the hub's verification of the unsubscription is then confirmed.
    #[serde(skip_serializing_if = "is_default")]
    pub ending: bool,
    /// Instant of the poll that was sent when the hub last announced new entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early: Option<Timestamp>,
}

impl Subscription {
    /// True if the hub's lease is in force at `now`.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.until.is_some_and(|until| until > now)
    }
}

/// Number of entries or pages accepted on one day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// Day number, counted from 1970-01-01.
    pub day: i64,
    /// Number of entries.
    pub entries: u32,
}

impl Taken {
    /// Returns the count for the day of `now`: zero if the stored count belongs to another day.
    pub fn on(self, now: Timestamp) -> Taken {
        let day = now.minute().div_euclid(1_440);
        if self.day == day { self } else { Taken { day, entries: 0 } }
    }
}
