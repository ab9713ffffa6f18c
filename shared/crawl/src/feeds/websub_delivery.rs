//! Requests of WebSub hubs to our callbacks. A notification fetches nothing; it only causes a poll.

use crate::feeds::websub::Callbacks;
use curlew_model::{FeedSource, Job, Millis, PollJob, Source, SourceKey, Subscription, Timestamp, unhex};
use curlew_policy::polling::subscription::{self, HubReply, Mode, News, Question};
use curlew_policy::rules::Rules;
use curlew_policy::trace;
use curlew_ports::{Clock, PortError, Queue, Sources, swapped};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Sha256, Sha384, Sha512};
use std::sync::Arc;

/// Number of attempts to write a row while polls write to it too.
const TRIES: u32 = 3;

/// A hub's verification request, as stated in its query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HubAsks<'a> {
    /// `hub.mode`.
    pub mode: &'a str,
    /// `hub.topic`.
    pub topic: &'a str,
    /// `hub.lease_seconds`.
    pub lease_seconds: Option<u64>,
}

/// Answer to a hub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HubAnswer {
    /// Confirms a verification or acknowledges a notification, whether or not it was believed.
    Yes,
    /// Refuses a verification of a request that was not made.
    No,
    /// This callback has no subscription, or none any more.
    Unknown,
}

/// How the body of a notification is processed.
pub enum HubDelivery {
    /// The callback has no subscription, or none any more.
    Unknown,
    /// The notification is not read, since it has no acceptable signature.
    Unsigned,
    /// The notification is read, and passed to this body piece by piece.
    Signed(Box<dyn SignedBody>),
}

/// Checks the signature of a body while it is read, so that the body is not kept.
pub trait SignedBody: Send {
    /// Processes the next piece.
    fn take(&mut self, piece: &[u8]);

    /// Returns true if the pieces together match the signature.
    fn is_genuine(self: Box<Self>) -> bool;
}

/// Processes the requests of hubs.
#[derive(Clone)]
pub struct Pushes {
    /// Store of the feeds with their subscriptions.
    pub sources: Arc<dyn Sources>,
    /// Queue of the polls that notifications cause.
    pub queue: Arc<dyn Queue>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// The politeness rules.
    pub rules: Arc<Rules>,
    /// Checks callbacks.
    pub callbacks: Arc<Callbacks>,
}

impl Pushes {
    /// Answers a hub that verifies a subscription (WebSub §5.3). A confirmation is stored before it is returned.
    pub async fn verify_intent(&self, callback: &str, asked: &HubAsks<'_>) -> Result<HubAnswer, PortError> {
        let Some((key, begun, _)) = self.callbacks.read(callback).await? else { return Ok(HubAnswer::Unknown) };
        let mode = match asked.mode {
            "subscribe" => Mode::Subscribe,
            "unsubscribe" => Mode::Unsubscribe,
            "denied" => Mode::Denied,
            _ => return Ok(HubAnswer::No),
        };
        let lease = asked.lease_seconds.map(|seconds| Millis(seconds.saturating_mul(1_000)));
        let question = Question { mode, topic: asked.topic, lease };
        self.change(&key, |feed, now| match subscription::verified(feed, begun, &question, &self.rules, now) {
            HubReply::No => (HubAnswer::No, None),
            HubReply::Declined(next) => (HubAnswer::No, Some(Some(next))),
            HubReply::Yes(next) => {
                tracing::info!(
                    feed = %feed.url,
                    mode = asked.mode,
                    until = ?next.and_then(|next| next.until),
                    "a hub was answered"
                );
                (HubAnswer::Yes, Some(next))
            }
        })
        .await
    }

    /// Decides whether the body of a notification is read; an unsigned one is not answered with an error (WebSub §8).
    pub async fn delivers(&self, callback: &str, signature: Option<&str>) -> Result<HubDelivery, PortError> {
        let Some((feed, _, secret)) = self.callbacks.read(callback).await? else { return Ok(HubDelivery::Unknown) };
        let Some(body) = signature.and_then(|signature| signed_body(signature, secret.as_bytes())) else {
            tracing::info!(%feed, "a delivery without a signature was dropped");
            return Ok(HubDelivery::Unsigned);
        };
        Ok(HubDelivery::Signed(body))
    }

    /// Processes a notification with a valid signature: sends one poll, due as soon as the feed's politeness allows.
    pub async fn delivered(&self, callback: &str) -> Result<HubAnswer, PortError> {
        let Some((key, begun, _)) = self.callbacks.read(callback).await? else { return Ok(HubAnswer::Unknown) };
        let now = self.clock.now();
        let Some((Source::Feed(feed), _)) = self.sources.get(&key).await? else { return Ok(HubAnswer::Unknown) };
        let at = match subscription::news(&feed, begun, &self.rules, now) {
            News::Unknown => return Ok(HubAnswer::Unknown),
            News::Nothing => return Ok(HubAnswer::Yes),
            News::Poll(at, _) => at,
        };
        // The job is sent first: the poll stage drops a job too many, but a lost one would delay the news by a day.
        let trace = Some(trace::begin("poll", feed.key.as_str(), at));
        let job = Job::new(PollJob::new(feed.key, feed.url)).traced(trace);
        self.queue.send(&[(job, at)]).await?;
        self.change(&key, |feed, now| match subscription::news(feed, begun, &self.rules, now) {
            News::Poll(_, next) => (HubAnswer::Yes, Some(Some(next))),
            News::Unknown | News::Nothing => (HubAnswer::Yes, None),
        })
        .await
    }

    async fn change(
        &self,
        key: &SourceKey,
        decide: impl Fn(&FeedSource, Timestamp) -> (HubAnswer, Option<Option<Subscription>>),
    ) -> Result<HubAnswer, PortError> {
        for _ in 0..TRIES {
            let Some((Source::Feed(mut feed), seen)) = self.sources.get(key).await? else {
                return Ok(HubAnswer::Unknown);
            };
            let (answer, next) = decide(&feed, self.clock.now());
            let Some(next) = next else { return Ok(answer) };
            feed.polling.subscription = next;
            if swapped(self.sources.swap(seen, &Source::Feed(feed)).await)? {
                return Ok(answer);
            }
        }
        Err(PortError::Conflict)
    }
}

/// Begins to check a body (`X-Hub-Signature: method=hex`, WebSub §8); `None` without a method, or for SHA-1.
fn signed_body(signature: &str, secret: &[u8]) -> Option<Box<dyn SignedBody>> {
    let (method, digits) = signature.split_once('=')?;
    let claimed = unhex(digits.trim())?;
    match method.trim() {
        "sha256" => Some(Box::new(Signed::new(Hmac::<Sha256>::new_from_slice(secret).ok()?, claimed)?)),
        "sha384" => Some(Box::new(Signed::new(Hmac::<Sha384>::new_from_slice(secret).ok()?, claimed)?)),
        "sha512" => Some(Box::new(Signed::new(Hmac::<Sha512>::new_from_slice(secret).ok()?, claimed)?)),
        _ => None,
    }
}

struct Signed<M> {
    mac: M,
    claimed: Vec<u8>,
}

impl<M: Mac> Signed<M> {
    fn new(mac: M, claimed: Vec<u8>) -> Option<Signed<M>> {
        (claimed.len() == M::output_size()).then_some(Signed { mac, claimed })
    }
}

impl<M: Mac + Send> SignedBody for Signed<M> {
    fn take(&mut self, piece: &[u8]) {
        self.mac.update(piece);
    }

    /// Compares the signatures in constant time.
    fn is_genuine(self: Box<Self>) -> bool {
        self.mac.verify_slice(&self.claimed).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::signed_body;

    fn is_signed(signature: &str, secret: &[u8], body: &[u8]) -> bool {
        let Some(mut reading) = signed_body(signature, secret) else { return false };
        body.chunks(5).for_each(|piece| reading.take(piece));
        reading.is_genuine()
    }

    #[test]
    fn f12_a_delivery_is_signed_by_the_method_that_it_names_and_sha1_is_none() {
        // RFC 4231, test case 2.
        let body = b"what do ya want for nothing?";
        let good = [
            "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            "sha384=af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649",
            "sha512=164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
            "sha256=5BDCC146BF60754E6A042426089575C75A003F089D2739839DEC58B964EC3843",
        ];
        for signature in good {
            assert!(is_signed(signature, b"Jefe", body), "{signature}");
            assert!(!is_signed(signature, b"jefe", body));
            assert!(!is_signed(signature, b"Jefe", b"something else"));
        }
        for bad in [
            "sha1=effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
            "sha512=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            "sha256=5bdcc146",
            "sha256=",
            "sha256",
            "",
            "md5=00",
            "sha256=zz",
            "sha256=é",
        ] {
            assert!(signed_body(bad, b"Jefe").is_none() || bad.starts_with("sha512"), "{bad}: no body has it");
            assert!(!is_signed(bad, b"Jefe", body), "{bad}");
        }
    }
}
