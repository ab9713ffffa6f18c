//! Failures of a feed: the wait until the next poll, and the end of polling.

use crate::chance::between;
use crate::rules::{MOVES_APART, MOVES_BELIEVED, Rules, SUSPECT_AFTER};
use curlew_model::{FailureKind, FailureStreak, FeedSource, Millis, Timestamp, Why, words};
use url::Url;

/// Number of failed polls in a row after which a feed is polled at the longest interval.
const DORMANT_AFTER: u32 = 10;

/// Kind of a poll's failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// 410 Gone of the feed itself (RFC 9110 §15.5.11).
    Gone,
    /// 404 Not Found.
    Lost,
    /// A 401, 402, 403 or 451 of the feed alone.
    Refused,
    /// An empty document, a web page, a feed that has lost all its entries.
    Suspect,
    /// 304 to an unconditional request (RFC 9110 §15.4.5).
    Unasked,
    /// A 5xx of the feed alone.
    ServerError,
    /// Anything else.
    Failed,
}

/// Decision after a failed poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFailedPoll {
    /// The feed is tried again after this time.
    Again {
        /// The failures to remember until a poll succeeds.
        streak: Option<FailureStreak>,
        /// Time until the next poll.
        wait: Millis,
        /// The reason.
        why: Why,
    },
    /// Polling ends for good.
    Retired(Retired),
}

words! {
    /// Reason for the end of polling.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Retired {
        /// 410.
        Gone = "the server says that the feed is gone (410)",
        /// 404 for too long.
        Lost = "the feed was not found for too long (404)",
        /// 401, 402, 403 or 451 for too long.
        Refused = "the server refused the feed for too long (401, 403)",
    }
}

/// Decides what follows a failed poll of a feed, whose `failures` include this poll, and whose streak does not.
pub fn judge(feed: &FeedSource, wrong: Wrong, rules: &Rules, now: Timestamp, seed: u64) -> AfterFailedPoll {
    let (known, failures) = (feed.polling.streak, feed.failures);
    let kind = match wrong {
        Wrong::Gone => return AfterFailedPoll::Retired(Retired::Gone),
        // A lost feed that fails in another way in between is still lost.
        Wrong::Failed | Wrong::ServerError => {
            let least = if wrong == Wrong::ServerError { rules.hold_server_error } else { Millis::ZERO };
            let wait = match failures {
                DORMANT_AFTER.. => rules.poll_cap,
                _ => rules.poll_interval.saturating_mul(u64::from(failures.max(1))).min(rules.poll_cap),
            };
            let wait = with_jitter(wait.max(least), seed);
            return AfterFailedPoll::Again { streak: known, wait, why: Why::Failing };
        }
        Wrong::Lost => FailureKind::Lost,
        Wrong::Refused => FailureKind::Refused,
        Wrong::Suspect => FailureKind::Suspect,
        Wrong::Unasked => FailureKind::Unasked,
    };
    let before = known.filter(|streak| streak.kind == kind);
    let since = before.map_or(now, |streak| streak.since);
    let times = before.map_or(0, |streak| streak.times).saturating_add(1);
    let is_long = now.since(since) >= rules.lost_after;
    let (wait, why) = match kind {
        FailureKind::Lost if is_long => return AfterFailedPoll::Retired(Retired::Lost),
        FailureKind::Refused if is_long => return AfterFailedPoll::Retired(Retired::Refused),
        FailureKind::Lost => (doubled(rules.lost_interval, times), Why::Lost),
        FailureKind::Refused => (doubled(rules.hold_refused, times), Why::Refused),
        FailureKind::Suspect if times < SUSPECT_AFTER => (rules.poll_interval, Why::Suspect),
        FailureKind::Suspect => (doubled(rules.lost_interval, times + 1 - SUSPECT_AFTER), Why::Suspect),
        // The feed is requested unconditionally once more, and rarely after that.
        FailureKind::Unasked if times == 1 => (rules.poll_interval_blind, Why::Failing),
        FailureKind::Unasked => (rules.poll_cap, Why::Failing),
    };
    let wait = with_jitter(wait.min(rules.poll_cap), seed);
    AfterFailedPoll::Again { streak: Some(FailureStreak { kind, since, times }), wait, why }
}

/// True if discovery may call a feed that its site names; a retired feed first waits for the maximum poll interval.
pub fn may_try_again(feed: &FeedSource, rules: &Rules, now: Timestamp) -> bool {
    !feed.gone || feed.polled_at + rules.poll_cap <= now
}

fn doubled(first: Millis, times: u32) -> Millis {
    first.saturating_mul(1 << times.saturating_sub(1).min(16))
}

fn with_jitter(wait: Millis, seed: u64) -> Millis {
    wait + Millis(between(seed, 0, wait.0 / 10))
}

/// Permanent redirects of a feed that are not accepted yet: target, number of sightings, and time of the last one.
pub type Sightings = (Option<(String, u32)>, Option<Timestamp>);

/// Records the redirect target of a feed; returns the sightings to keep, and whether the target is its new address.
///
/// `permanently` means that every hop was permanent (301 or 308, RFC 9110 §15.4.2). The target has answered as a feed.
/// A move is accepted after [`MOVES_BELIEVED`] polls in a row at least [`MOVES_APART`] apart, since misconfigured
/// servers redirect for a day or two; a move from http to https on the same host is accepted at once.
pub fn moved(feed: &FeedSource, to: &Url, permanently: bool, now: Timestamp) -> (Sightings, bool) {
    if !permanently {
        return ((None, None), false);
    }
    let is_plain = |from: Url| from.scheme() == "http" && from.host_str() == to.host_str();
    if to.scheme() == "https" && Url::parse(&feed.url).is_ok_and(is_plain) {
        return ((None, None), true);
    }
    let before = feed.moved.as_ref().filter(|(target, _)| target == to.as_str()).map(|(_, times)| *times);
    let counted_at = feed.polling.moved_at.filter(|_| before.is_some());
    if counted_at.is_some_and(|at| now < at + MOVES_APART) {
        // Seen, but too soon to count.
        return ((feed.moved.clone(), counted_at), false);
    }
    let times = before.unwrap_or(0).saturating_add(1);
    ((Some((to.as_str().to_owned(), times)), Some(now)), times >= MOVES_BELIEVED)
}

#[cfg(test)]
mod tests;
