//! Subscribe: asks a feed's hub to begin or to end notifications (WebSub §5.1), under all rules of a visit.

use crate::feeds::websub::{Callback, Callbacks};
use crate::politeness::access::Politeness;
use crate::politeness::visit::{CallEnd, LeaseOutcome};
use curlew_model::{Envelope, FeedSource, Source, SourceKey, SubscribeJob, Subscription, Timestamp};
use curlew_policy::address;
use curlew_policy::politeness::deferral;
use curlew_policy::polling::subscription::{self, is_private_enough};
use curlew_ports::stage::{Result, StageError, Verdict};
use curlew_ports::{PortError, Queue, Sources, Version};
use std::sync::Arc;
use url::form_urlencoded::Serializer;

/// The stage that sends requests to hubs.
pub struct Subscribe {
    /// The context of visits.
    pub politeness: Arc<Politeness>,
    /// Store of the feeds with their subscriptions.
    pub sources: Arc<dyn Sources>,
    /// Queue of jobs that have to wait.
    pub queue: Arc<dyn Queue>,
    /// The callbacks that hubs call.
    pub callbacks: Arc<Callbacks>,
}

impl Subscribe {
    /// Runs the job, which may have run before.
    pub async fn run(&self, job: &Envelope<SubscribeJob>) -> Result<Verdict> {
        let (rules, drop) = (&self.politeness.rules, |why: &str| Ok(Verdict::Drop(why.into())));
        let Some((feed, known, seen)) = self.row(&job.work.feed).await? else {
            return drop("the feed is not known, or names another hub by now");
        };
        if known.ending != job.work.end || (feed.gone && !job.work.end) {
            return drop("the subscription is wanted no more, or again");
        }
        let hub = feed.polling.hub.as_ref().filter(|hub| hub.url == job.work.url && is_private_enough(&hub.url, rules));
        let Some(url) = hub.and_then(|hub| address::parse(&hub.url, None).ok()) else {
            return drop("the hub's address is invalid or has changed");
        };
        let Some(callback) = self.callbacks.for_feed(&feed.key, known.begun).await? else {
            return drop("nobody listens for hubs here");
        };
        let host = self.politeness.key_of(&url).map_err(|e| StageError::Job(e.to_string()))?;
        let mut visit = match self.politeness.open(&host, &format!("subscribe {}", feed.key)).await? {
            LeaseOutcome::Granted(visit) => visit,
            LeaseOutcome::NotNow(not_now) if not_now.is_brief() => return Ok(Verdict::Defer(not_now.until)),
            LeaseOutcome::NotNow(not_now) => return self.put_off(job, not_now.until).await,
            LeaseOutcome::Blocked => return self.refused(job, "the hub is blocked").await,
        };
        let form = self.form(&feed, job.work.end, &callback);
        // The row is written before the call, since a hub may verify the request before it answers.
        let kept =
            if job.work.end { Ok(()) } else { self.keep(feed, subscription::asking(known, self.now()), seen).await };
        let end = match kept {
            Ok(()) => visit.post(&url, form).await,
            Err(error) => Err(error),
        };
        visit.give_back().await;
        match end? {
            CallEnd::Reply(reply) if matches!(reply.status, 200..300) => {
                tracing::info!(feed = %job.work.feed, hub = %job.work.url, end = job.work.end, "a hub was asked");
                Ok(Verdict::Done)
            }
            CallEnd::Reply(reply) => self.refused(job, &format!("it answered {}", reply.status)).await,
            CallEnd::Rejected(why) => self.refused(job, &why.to_string()).await,
            CallEnd::Later(until) | CallEnd::Elsewhere(until) | CallEnd::Refused(until) | CallEnd::Held(until, _) => {
                self.put_off(job, until).await
            }
        }
    }

    fn now(&self) -> Timestamp {
        self.politeness.clock.now()
    }

    async fn row(&self, key: &SourceKey) -> Result<Option<(FeedSource, Subscription, Version)>> {
        let Some((Source::Feed(feed), seen)) = self.sources.get(key).await? else { return Ok(None) };
        Ok(subscription::current(&feed).copied().map(|known| (feed, known, seen)))
    }

    /// Returns the request (WebSub §5.1). The secret has 64 characters; fewer than 200 bytes are allowed.
    fn form(&self, feed: &FeedSource, end: bool, callback: &Callback) -> String {
        let topic = feed.polling.hub.as_ref().map(|hub| hub.topic.as_str()).unwrap_or_default();
        let mut form = Serializer::new(String::new());
        form.append_pair("hub.mode", if end { "unsubscribe" } else { "subscribe" });
        form.append_pair("hub.topic", topic).append_pair("hub.callback", &callback.url);
        if !end {
            let lease = self.politeness.rules.websub_lease.0 / 1_000;
            form.append_pair("hub.lease_seconds", &lease.to_string()).append_pair("hub.secret", &callback.secret);
        }
        form.finish()
    }

    async fn keep(&self, mut feed: FeedSource, next: Subscription, seen: Version) -> Result<()> {
        feed.polling.subscription = Some(next);
        self.sources.swap(seen, &Source::Feed(feed)).await?;
        Ok(())
    }

    /// Delays the next request to the hub. A hub that misses an end gets a 410 for its next notification.
    async fn refused(&self, job: &Envelope<SubscribeJob>, why: &str) -> Result<Verdict> {
        tracing::info!(feed = %job.work.feed, hub = %job.work.url, reason = why, "a hub could not be asked");
        let Some((feed, known, seen)) = self.row(&job.work.feed).await?.filter(|_| !job.work.end) else {
            return Ok(Verdict::Drop(format!("the hub could not be asked: {why}")));
        };
        let next = subscription::refused(known, &self.politeness.rules, self.now(), self.politeness.seeds.next());
        match self.keep(feed, next, seen).await {
            // Another writer has changed the feed's row; the request counts as one that was never confirmed.
            Ok(()) | Err(StageError::Port(PortError::Conflict)) => Ok(Verdict::Done),
            Err(error) => Err(error),
        }
    }

    async fn put_off(&self, job: &Envelope<SubscribeJob>, until: Timestamp) -> Result<Verdict> {
        if deferral::is_given_up(job.deferrals, &self.politeness.rules) {
            return self.refused(job, "its host is left alone").await;
        }
        self.queue.send(&[(job.clone().deferred().into_job(), until)]).await?;
        Ok(Verdict::Done)
    }
}
