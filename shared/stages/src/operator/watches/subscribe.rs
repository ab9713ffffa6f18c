//! Requests of feed readers that subscribe to our search feeds (WebSub §5.1).

use super::{
    MAX_WATCHES, ReceiverState, SubscriptionRequest, TopicSubscription, WATCHES, Watch, WatchError, Watches, load,
    must_find, refused, short_hash,
};
use curlew_model::Millis;
use curlew_policy::address;

/// Maximum number of watches that subscriptions may bring it to; the rest is kept for the operator's.
pub const MAX_SUBSCRIPTIONS: usize = MAX_WATCHES - 200;
/// Maximum number of subscriptions whose receivers are on one host key.
pub const SUBSCRIPTIONS_PER_HOST: usize = 50;
/// Maximum length of a subscriber's secret, in bytes (WebSub §5.1).
pub const MAX_HUB_SECRET: usize = 199;
/// Shortest and longest lease of a subscription, and the one for subscribers who name none.
const LEASES: (Millis, Millis, Millis) = (Millis::from_hours(1), Millis::from_days(30), Millis::from_days(10));

/// A request of a subscriber, as it came.
#[derive(Clone, Copy, Debug)]
pub struct HubRequest<'a> {
    /// `hub.mode`.
    pub mode: &'a str,
    /// `hub.topic`.
    pub topic: &'a str,
    /// `hub.callback`.
    pub callback: &'a str,
    /// `hub.lease_seconds`.
    pub lease_seconds: Option<u64>,
    /// `hub.secret`.
    pub secret: Option<&'a str>,
}

impl Watches {
    /// Takes the request of a subscriber to one of our feeds, whose query is `query`; a job then asks the subscriber to
    /// confirm it (WebSub §5.3). The end of a subscription that is not known is nothing to ask about.
    ///
    /// # Errors
    /// [`WatchError::Refused`] if it is not a right request, or if a new subscription would be one too many.
    pub async fn subscribe(&self, asked: &HubRequest<'_>, query: &str) -> Result<(), WatchError> {
        let ends = match asked.mode {
            "subscribe" => false,
            "unsubscribe" => true,
            _ => return refused("hub.mode is neither subscribe nor unsubscribe"),
        };
        if asked.secret.is_some_and(|secret| secret.len() > MAX_HUB_SECRET) {
            return refused(format!("hub.secret is longer than {MAX_HUB_SECRET} bytes"));
        }
        let to = self.receiver(asked.callback)?;
        let host = short_hash(&self.receiver_host(&to));
        let name = format!("{host}{}", short_hash(&format!("{}\n{to}", asked.topic)));
        if load(self.blobs.as_ref(), &name).await?.is_none() {
            if ends {
                return Ok(());
            }
            must_find(query)?;
            let others = self.blobs.list(&format!("{WATCHES}{host}"), None, SUBSCRIPTIONS_PER_HOST).await?;
            if others.len() >= SUBSCRIPTIONS_PER_HOST {
                return refused(format!("there are {SUBSCRIPTIONS_PER_HOST} subscriptions of this host already"));
            }
            self.make_room(MAX_SUBSCRIPTIONS).await?;
        }
        let (shortest, longest, usual) = LEASES;
        let lease = asked.lease_seconds.map_or(usual, |s| Millis(s.saturating_mul(1_000))).clamp(shortest, longest);
        let request = SubscriptionRequest { ends, lease, secret: asked.secret.map(str::to_owned) };
        let now = self.clock.now();
        let watch = self
            .change(&name, |known| {
                let subscription = TopicSubscription { topic: asked.topic.to_owned(), until: None, request: None };
                let new = || Watch {
                    name: name.clone(),
                    query: query.to_owned(),
                    to: to.clone(),
                    secret: None,
                    added: now,
                    subscription: Some(subscription),
                    receiver: ReceiverState::default(),
                };
                let mut watch = known.unwrap_or_else(new);
                if let Some(subscription) = &mut watch.subscription {
                    subscription.request = Some(request.clone());
                    if subscription.until.is_none() {
                        watch.added = now;
                    }
                }
                Ok(watch)
            })
            .await?;
        Ok(self.send(&[watch]).await?)
    }

    /// Returns the name under which the subscriptions of a receiver's host are counted: its host key. Receivers without a
    /// name count as one host, since whoever has one address may have any number of them.
    pub fn receiver_host(&self, callback: &str) -> String {
        let url = address::parse(callback, None).ok().filter(|url| url.domain().is_some());
        url.and_then(|url| address::host_key(&url, &self.groups).ok()).map(|key| key.to_string()).unwrap_or_default()
    }
}
