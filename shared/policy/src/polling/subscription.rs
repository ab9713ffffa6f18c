//! WebSub subscriptions (W3C Recommendation, 23 January 2018, §5 to §8): requests to a hub, and answers to its
//! requests. A hub only reduces polls: if it falls silent, new entries are found later.

use crate::chance::{between, mix};
use crate::rules::{Rules, WEBSUB_LEAST_LEASE, WEBSUB_REFUSALS, WEBSUB_RETRY};
use crate::{address::hash64, polling::schedule};
use curlew_model::{FeedSource, Hub, Millis, Subscription, Timestamp};
use url::Url;

/// Maximum ratio of the accepted lease to the requested one.
const MOST_LEASE: u64 = 3;
/// Time after which a poll sent because of a notification, but not run, is sent again at the next notification.
const EARLY_LATE: Millis = Millis::from_hours(1);

/// Request to send to a feed's hub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HubRequest {
    /// No request now.
    Nothing,
    /// Subscribe, or renew the subscription.
    Ask,
    /// Unsubscribe.
    End,
}

/// Mode of a hub's request to the callback (WebSub §5.2, §5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The hub verifies that we subscribed.
    Subscribe,
    /// The hub verifies that we unsubscribed.
    Unsubscribe,
    /// The hub denies the subscription, at first or later.
    Denied,
}

/// A request of a hub to verify or deny a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question<'a> {
    /// The mode.
    pub mode: Mode,
    /// `hub.topic`.
    pub topic: &'a str,
    /// `hub.lease_seconds`.
    pub lease: Option<Millis>,
}

/// Answer to a hub, with the subscription to keep in the feed's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HubReply {
    /// No (404): there is no such request or subscription.
    No,
    /// No, since the granted lease is too short.
    Declined(Subscription),
    /// Yes: the challenge is sent back.
    Yes(Option<Subscription>),
}

/// Decision about a hub's notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// There is no such subscription, or no longer (410).
    Unknown,
    /// A poll has been sent already, or is scheduled soon enough.
    Nothing,
    /// A poll must be sent for this instant; then the subscription must be kept.
    Poll(Timestamp, Subscription),
}

/// Returns a hash of a pair of hub and topic.
pub fn name(hub: &Hub) -> u64 {
    hash64(&format!("{}\0{}", hub.url, hub.topic))
}

/// Returns the subscription of a feed, if it is for the hub and topic that the feed names.
pub fn current(feed: &FeedSource) -> Option<&Subscription> {
    let of = name(feed.polling.hub.as_ref()?);
    feed.polling.subscription.as_ref().filter(|known| known.of == of)
}

/// True if a feed needs few polls: its hub sends notifications until after the next poll.
pub fn slows(feed: &FeedSource, rules: &Rules, now: Timestamp) -> bool {
    rules.websub && current(feed).is_some_and(|known| known.is_live(now + rules.poll_interval_pushed))
}

/// Returns the request to send to the hub after a feed was polled, or was found `blocked`.
pub fn step(feed: &FeedSource, blocked: bool, rules: &Rules, now: Timestamp) -> HubRequest {
    let known = current(feed);
    if feed.gone || blocked {
        let is_live = known.is_some_and(|known| known.is_live(now) && !known.ending);
        return if is_live { HubRequest::End } else { HubRequest::Nothing };
    }
    let is_fit = feed.polling.hub.as_ref().is_some_and(|hub| is_private_enough(&hub.url, rules));
    if !rules.websub || !is_fit || feed.failures > 0 {
        return HubRequest::Nothing;
    }
    match known {
        None => HubRequest::Ask,
        Some(known) if now < known.not_before || known.refusals >= WEBSUB_REFUSALS => HubRequest::Nothing,
        Some(known) if known.is_live(now) && known.renew_at.is_some_and(|at| now < at) => HubRequest::Nothing,
        Some(_) => HubRequest::Ask,
    }
}

/// True if a secret may be sent to or received at this address (WebSub §5.1: only over https).
pub fn is_private_enough(url: &str, rules: &Rules) -> bool {
    Url::parse(url).is_ok_and(|url| url.scheme() == "https" || (rules.websub_without_tls && url.scheme() == "http"))
}

/// Returns the subscription after the request was queued; it prevents another request before the next retry is due.
pub fn sent(feed: &FeedSource, step: HubRequest, rules: &Rules, now: Timestamp, seed: u64) -> Option<Subscription> {
    let known = current(feed).copied();
    match step {
        HubRequest::Nothing => feed.polling.subscription,
        HubRequest::End => known.map(|known| Subscription { until: None, renew_at: None, ending: true, ..known }),
        HubRequest::Ask => {
            let of = name(feed.polling.hub.as_ref()?);
            // A renewed lease keeps its callback, so that no notification is lost.
            let begun = known.filter(|known| known.is_live(now) && !known.ending).map_or(now, |known| known.begun);
            let mut next = Subscription { of, begun, ending: false, ..known.unwrap_or_default() };
            // The hub never verified the last request.
            next.refusals = next.refusals.saturating_add(u32::from(next.pending.take().is_some()));
            next.not_before = now + wait(next.refusals, rules, seed);
            Some(next)
        }
    }
}

/// Returns the subscription when a request is about to be sent to the hub.
pub fn asking(known: Subscription, now: Timestamp) -> Subscription {
    Subscription { pending: Some(now), ..known }
}

/// Returns the subscription after a hub has refused, was not reached, or must not be called.
pub fn refused(known: Subscription, rules: &Rules, now: Timestamp, seed: u64) -> Subscription {
    let refusals = known.refusals.saturating_add(1);
    Subscription { pending: None, refusals, not_before: now + wait(refusals, rules, seed), ..known }
}

fn wait(refusals: u32, rules: &Rules, seed: u64) -> Millis {
    let wait = WEBSUB_RETRY.saturating_mul(1 << refusals.min(16)).min(rules.hold_cap);
    wait + Millis(between(seed, 0, wait.0 / 10))
}

/// Answers a hub's verification at the callback that `begun` names (WebSub §5.3): yes, once, for a pending request.
pub fn verified(feed: &FeedSource, begun: Timestamp, asked: &Question<'_>, rules: &Rules, now: Timestamp) -> HubReply {
    let is_topic = feed.polling.hub.as_ref().is_some_and(|hub| hub.topic == asked.topic);
    let Some(known) = current(feed).copied().filter(|known| known.begun == begun && is_topic) else {
        return HubReply::No;
    };
    let seed = mix(begun.as_millis().unsigned_abs());
    match asked.mode {
        Mode::Unsubscribe if known.ending => HubReply::Yes(None),
        Mode::Denied if known.pending.is_some() || known.is_live(now) => {
            let over = Subscription { until: None, renew_at: None, ..known };
            HubReply::Yes(Some(refused(over, rules, now, seed)))
        }
        Mode::Subscribe if known.pending.is_some() && !known.ending && !feed.gone => {
            let lease = asked.lease.unwrap_or(rules.websub_lease);
            if lease < WEBSUB_LEAST_LEASE {
                return HubReply::Declined(refused(known, rules, now, seed));
            }
            let lease = lease.min(rules.websub_lease.saturating_mul(MOST_LEASE));
            // The random time separates leases that began together, and leaves some polls for retries.
            let renew_at = Some(now + Millis(between(seed, lease.0 / 2, lease.0 / 3 * 2)));
            let until = Some(now + lease);
            HubReply::Yes(Some(Subscription { pending: None, until, renew_at, refusals: 0, ..known }))
        }
        Mode::Subscribe | Mode::Unsubscribe | Mode::Denied => HubReply::No,
    }
}

/// Decides what follows a signed notification of a hub at the callback that `begun` names. Any number of notifications
/// lead to one poll, at least [`Rules::poll_floor`] after the last one.
pub fn news(feed: &FeedSource, begun: Timestamp, rules: &Rules, now: Timestamp) -> News {
    let Some(known) = current(feed).copied().filter(|known| known.begun == begun && !known.ending) else {
        return News::Unknown;
    };
    if feed.gone || !known.is_live(now) {
        return News::Unknown;
    }
    if known.early.is_some_and(|at| now < at + EARLY_LATE) {
        return News::Nothing;
    }
    match schedule::early(feed, rules, now) {
        Some(at) => News::Poll(at, Subscription { early: Some(at), ..known }),
        None => News::Nothing,
    }
}

#[cfg(test)]
mod tests;
