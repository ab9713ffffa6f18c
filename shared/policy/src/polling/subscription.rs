//! WebSub subscriptions (W3C Recommendation, 23 January 2018, §5 to §8): requests to a hub, answers to its questions,
//! and what its news lead to. A hub only makes polls fewer: one that falls silent costs a feed some hours.

use crate::chance::{between, mix};
use crate::rules::{Rules, WEBSUB_LEAST_LEASE, WEBSUB_REFUSALS, WEBSUB_RETRY};
use crate::{address::hash64, polling::schedule};
use curlew_model::{FeedSource, Hub, Millis, Subscription, Timestamp};
use url::Url;

/// Maximum ratio of the lease that counts to the one asked for.
const MOST_LEASE: u64 = 3;
/// Time after which a poll that was sent because of news, and did not come about, is sent with the next news.
const EARLY_LATE: Millis = Millis::from_hours(1);

/// Request to send to a feed's hub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HubRequest {
    /// Nothing now.
    Nothing,
    /// The hub is asked to tell of news, for the first time or on.
    Ask,
    /// The hub is told that nobody listens any more.
    End,
}

/// Mode of a hub's request (WebSub §5.2, §5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The hub verifies that we subscribed.
    Subscribe,
    /// The hub verifies that we unsubscribed.
    Unsubscribe,
    /// The hub does not announce this topic, or no longer does.
    Denied,
}

/// A question of a hub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question<'a> {
    /// The mode.
    pub mode: Mode,
    /// `hub.topic`.
    pub topic: &'a str,
    /// `hub.lease_seconds`.
    pub lease: Option<Millis>,
}

/// Answer to a hub, and the part of it that is kept in the feed's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HubReply {
    /// No (404): nobody asked for this.
    No,
    /// No, since too little is granted; to be kept.
    Declined(Subscription),
    /// Yes: its challenge is sent back; to be kept.
    Yes(Option<Subscription>),
}

/// Decision about a hub's notice of news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// Nobody subscribed to this, or no more (410).
    Unknown,
    /// A poll is on its way already, or comes in time by itself.
    Nothing,
    /// A poll is sent for this instant; to be kept once it is.
    Poll(Timestamp, Subscription),
}

/// Returns a hash of a pair of hub and topic.
pub fn name(hub: &Hub) -> u64 {
    hash64(&format!("{}\0{}", hub.url, hub.topic))
}

/// The subscription of a feed, if it is one to the hub and topic that the feed names.
pub fn current(feed: &FeedSource) -> Option<&Subscription> {
    let of = name(feed.polling.hub.as_ref()?);
    feed.polling.subscription.as_ref().filter(|known| known.of == of)
}

/// Returns true if a feed needs few polls: its hub tells of news until after the next one.
pub fn slows(feed: &FeedSource, rules: &Rules, now: Timestamp) -> bool {
    rules.websub && current(feed).is_some_and(|known| known.is_live(now + rules.poll_interval_pushed))
}

/// Decides what to request of the hub once a feed was polled, or was found `blocked`.
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

/// Returns true if a secret may be sent to, or asked for under, this address (WebSub §5.1: only over https).
pub fn is_private_enough(url: &str, rules: &Rules) -> bool {
    Url::parse(url).is_ok_and(|url| url.scheme() == "https" || (rules.websub_without_tls && url.scheme() == "http"))
}

/// The subscription once a request for that step was put into the queue: none other follows before its time.
pub fn sent(feed: &FeedSource, step: HubRequest, rules: &Rules, now: Timestamp, seed: u64) -> Option<Subscription> {
    let known = current(feed).copied();
    match step {
        HubRequest::Nothing => feed.polling.subscription,
        HubRequest::End => known.map(|known| Subscription { until: None, renew_at: None, ending: true, ..known }),
        HubRequest::Ask => {
            let of = name(feed.polling.hub.as_ref()?);
            // A lease that goes on keeps its callback, so that no news is lost.
            let begun = known.filter(|known| known.is_live(now) && !known.ending).map_or(now, |known| known.begun);
            let mut next = Subscription { of, begun, ending: false, ..known.unwrap_or_default() };
            // The hub never asked back.
            next.refusals = next.refusals.saturating_add(u32::from(next.pending.take().is_some()));
            next.not_before = now + wait(next.refusals, rules, seed);
            Some(next)
        }
    }
}

/// The subscription once a hub is about to be asked.
pub fn asking(known: Subscription, now: Timestamp) -> Subscription {
    Subscription { pending: Some(now), ..known }
}

/// The subscription once a hub has said no, could not be reached, or must not be called.
pub fn refused(known: Subscription, rules: &Rules, now: Timestamp, seed: u64) -> Subscription {
    let refusals = known.refusals.saturating_add(1);
    Subscription { pending: None, refusals, not_before: now + wait(refusals, rules, seed), ..known }
}

fn wait(refusals: u32, rules: &Rules, seed: u64) -> Millis {
    let wait = WEBSUB_RETRY.saturating_mul(1 << refusals.min(16)).min(rules.hold_cap);
    wait + Millis(between(seed, 0, wait.0 / 10))
}

/// Answers a hub that verifies under the callback named by `begun` (WebSub §5.3): yes, once, to a pending request.
pub fn verified(
    feed: &FeedSource,
    begun: Timestamp,
    question: &Question<'_>,
    rules: &Rules,
    now: Timestamp,
) -> HubReply {
    let is_topic = feed.polling.hub.as_ref().is_some_and(|hub| hub.topic == question.topic);
    let Some(known) = current(feed).copied().filter(|known| known.begun == begun && is_topic) else {
        return HubReply::No;
    };
    let seed = mix(begun.as_millis().unsigned_abs());
    match question.mode {
        Mode::Unsubscribe if known.ending => HubReply::Yes(None),
        Mode::Denied if known.pending.is_some() || known.is_live(now) => {
            let over = Subscription { until: None, renew_at: None, ..known };
            HubReply::Yes(Some(refused(over, rules, now, seed)))
        }
        Mode::Subscribe if known.pending.is_some() && !known.ending && !feed.gone => {
            let lease = question.lease.unwrap_or(rules.websub_lease);
            if lease < WEBSUB_LEAST_LEASE {
                return HubReply::Declined(refused(known, rules, now, seed));
            }
            let lease = lease.min(rules.websub_lease.saturating_mul(MOST_LEASE));
            // The spread keeps leases that began together apart, and leaves some polls for further tries.
            let renew_at = Some(now + Millis(between(seed, lease.0 / 2, lease.0 / 3 * 2)));
            let until = Some(now + lease);
            HubReply::Yes(Some(Subscription { pending: None, until, renew_at, refusals: 0, ..known }))
        }
        Mode::Subscribe | Mode::Unsubscribe | Mode::Denied => HubReply::No,
    }
}

/// Decides what follows from signed news of a hub under the callback named by `begun`: however many there are, one
/// poll, and none sooner after the last than [`Rules::poll_floor`].
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
