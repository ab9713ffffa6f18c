//! Poll: reads a feed, politely and conditionally, and sends visits for what is new.

use crate::feeds::feed_row::{self, parse};
use crate::feeds::intake::Intake;
use crate::feeds::relocation;
use crate::politeness::access::Politeness;
use crate::politeness::visit::LeaseOutcome;
use crate::politeness::visit::{CallEnd, Fetched};
use crate::stage::{Stage, StageError, Verdict};
use curlew_feed::{Feed, FeedError};
use curlew_model::{ExtraSlot, Failure, FeedSource, HoldReason, Job, PollJob, Source, Timestamp, Validators, Why};
use curlew_policy::address;
use curlew_policy::politeness::deferral;
use curlew_policy::polling::failure::{self, Wrong};
use curlew_policy::polling::{conditional, schedule};
use curlew_ports::{CallKind, CpuPool, Event, Reply, Version};
use std::sync::Arc;
use url::Url;

/// The stage that reads feeds.
pub struct Poll {
    /// Where new entries go.
    pub intake: Arc<Intake>,
}

/// How the feed was asked for.
struct Asked {
    validators: Validators,
    /// Unconditionally, to look into the 304s that came before.
    is_check: bool,
}

impl Poll {
    /// Why a feed is not polled now, if it is not.
    fn not_now(&self, feed: &FeedSource, job: &PollJob) -> Option<Verdict> {
        let (rules, now) = (&self.intake.politeness.rules, self.intake.politeness.clock.now());
        if job.on_request {
            let is_now = !feed.gone && schedule::on_request(feed, rules, now) <= now;
            return (!is_now)
                .then(|| Verdict::Drop("the feed was polled a moment ago, or asks to be left alone".into()));
        }
        if feed.gone || !schedule::is_soon(feed, rules, now) {
            return Some(Verdict::Drop("the feed was polled already, or polling it has stopped".into()));
        }
        match schedule::postponed(feed, rules, now) {
            Some(at) if at > now => Some(Verdict::Defer(at)),
            Some(_) => None,
            None => Some(Verdict::Drop("the feed asks to be left alone until after its next slot".into())),
        }
    }

    /// The job is parked, and the row says until when: without that, each cycle until then would park one more. One that a
    /// person asked for is not: the feed's schedule brings the next one.
    async fn put_off(
        &self,
        job: &PollJob,
        (mut feed, seen): (FeedSource, Version),
        until: Timestamp,
        why: &str,
    ) -> Result<Verdict, StageError> {
        self.intake.politeness.events.note(&Event::PutOff);
        if !job.on_request && !deferral::is_given_up(job.deferrals, &self.intake.politeness.rules) {
            self.intake.queue.send(&[(Job::Poll(job.clone()).deferred(), until)]).await?;
        }
        feed.not_before = until;
        feed.trouble = Some(format!("the host is left alone: {why}"));
        feed.polling.why = Why::Held;
        self.intake.sources.swap(seen, &Source::Feed(feed)).await?;
        Ok(Verdict::Done)
    }

    /// Brings the feed's row up to date with how the visit ended.
    async fn finish(
        &self,
        job: &PollJob,
        (feed, seen): (FeedSource, Version),
        (asked, got): (&Asked, &Fetched),
        read: Option<&Read<'_>>,
        (calls, failure): (u32, Option<Failure>),
    ) -> Result<Verdict, StageError> {
        let politeness = self.intake.politeness.as_ref();
        let before = feed.clone();
        let or_else = |words: &str| failure.as_ref().map_or_else(|| words.to_owned(), Failure::to_string);
        let next = match (&got.end, read) {
            // What began and did not end within a visit may never do so, so it counts.
            (CallEnd::Later(until), _) if calls > 0 => {
                let again = politeness.clock.now() + deferral::least_wait(job.deferrals, &politeness.rules);
                return self.put_off(job, (feed, seen), again.max(*until), &or_else("its answers take too long")).await;
            }
            (CallEnd::Later(until), _) => return Ok(Verdict::Defer(*until)),
            (CallEnd::Elsewhere(until), _) => {
                let why = or_else("the feed, its robots.txt or the target of its redirect could not be fetched");
                return self.put_off(job, (feed, seen), *until, &why).await;
            }
            // The feed itself was refused, and its schedule brings it again: nothing is parked.
            (CallEnd::Held(until, HoldReason::Forbidden), _) if calls > 0 => {
                let mut feed = self.failed(feed, Wrong::Refused, "the server answered 403", None).await?;
                feed.not_before = feed.not_before.max(*until);
                feed
            }
            (CallEnd::Held(until, why), _) => {
                let detail = failure.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
                return self.put_off(job, (feed, seen), *until, &format!("{}{detail}", why.as_str())).await;
            }
            (CallEnd::Rejected(why), _) => self.failed(feed, Wrong::Failed, &why.to_string(), None).await?,
            (CallEnd::Reply(_), Some(read)) => self.taken_in(feed, asked, got, read).await?,
            (CallEnd::Reply(_), None) => feed,
        };
        self.keep(job, before, next, seen).await
    }

    /// Writes the feed's row, if anything in it has changed that matters.
    async fn keep(
        &self,
        job: &PollJob,
        before: FeedSource,
        mut next: FeedSource,
        seen: Version,
    ) -> Result<Verdict, StageError> {
        let (rules, now) = (&self.intake.politeness.rules, self.intake.politeness.clock.now());
        if let Some(subscription) = &mut next.polling.subscription {
            // The poll that its news asked for has taken place.
            subscription.early = None;
        }
        let for_the_hub = self.intake.for_the_hub(&mut next, false);
        let is_often = schedule::times_a_cycle(before.interval, rules) > 1;
        let was_put_off = job.deferrals > 0 || before.polling.why == Why::Held;
        if job.on_request || is_often || was_put_off || !schedule::is_on_time(&before, rules, now) {
            // Off its minute, or after a job was parked: another one may be on its way, and must not call again at once.
            next.polled_at = now;
        } else if says_the_same(&before, &next, rules, now) {
            // In its minute, what changes nothing is not written: three polls a day cost no write.
            return Ok(Verdict::Done);
        }
        if !next.gone {
            self.list_often(&mut next).await?;
        }
        if next != before {
            self.intake.sources.swap(seen, &Source::Feed(next)).await?;
        }
        self.intake.send_to_hub(for_the_hub).await?;
        Ok(Verdict::Done)
    }

    /// Nothing is called any more; only the feed's hub is told to be silent.
    async fn blocked(&self, mut feed: FeedSource, seen: Version) -> Result<Verdict, StageError> {
        if let Some(job) = self.intake.for_the_hub(&mut feed, true) {
            self.intake.sources.swap(seen, &Source::Feed(feed)).await?;
            self.intake.send_to_hub(Some(job)).await?;
        }
        Ok(Verdict::Drop("the host is blocked".into()))
    }

    /// Lists a feed under further slots, if its interval is shorter than the cycle. Rows that are there stay.
    async fn list_often(&self, feed: &mut FeedSource) -> Result<(), StageError> {
        let times = schedule::times_a_cycle(feed.interval, &self.intake.politeness.rules);
        if times <= u16::from(feed.polling.extra_slots) + 1 {
            return Ok(());
        }
        for (key, slot) in schedule::extra_slots(feed, times) {
            let extra = ExtraSlot { key, slot, feed: feed.key.clone(), url: feed.url.clone() };
            self.intake.sources.insert(&Source::Extra(extra)).await?;
        }
        feed.polling.extra_slots = u8::try_from(times - 1).unwrap_or(u8::MAX);
        Ok(())
    }

    /// What an answer makes of the feed's row.
    async fn taken_in(
        &self,
        mut feed: FeedSource,
        asked: &Asked,
        got: &Fetched,
        read: &Read<'_>,
    ) -> Result<FeedSource, StageError> {
        let (rules, now) = (&self.intake.politeness.rules, self.intake.politeness.clock.now());
        let reply = read.reply;
        let (wrong, words) = match (reply.status, &read.feed) {
            // RFC 9110 §15.4.5: nobody asked whether it was modified.
            (304, _) if asked.validators.is_empty() => {
                (Wrong::Unasked, "the server answered 304 to an unconditional request".to_owned())
            }
            (304, _) => {
                feed_row::unchanged(&mut feed, reply, rules, now);
                return self.moved(feed, got).await;
            }
            // One that takes its entries back one by one says so (RFC 6721).
            (200, Some(Ok(parsed)))
                if parsed.entries.is_empty() && parsed.deleted.is_empty() && !feed.seen.is_empty() =>
            {
                (Wrong::Suspect, "the feed has lost all its entries".to_owned())
            }
            (200, Some(Ok(parsed))) => {
                let new = self.intake.take(&mut feed, parsed).await?;
                feed_row::learn(&mut feed, parsed, reply, (new, asked.is_check), rules, now);
                return self.moved(feed, got).await;
            }
            (200, Some(Err(why @ FeedError::NotAFeed(_)))) => (Wrong::Suspect, why.to_string()),
            (200, Some(Err(why))) => (Wrong::Failed, why.to_string()),
            // A temporary redirect to something that is gone says nothing for good about this feed.
            (410, _) if got.hops == 0 || got.moved_for_good => (Wrong::Gone, String::new()),
            (404, _) => (Wrong::Lost, "the server answered 404".to_owned()),
            (status @ 500.., _) => (Wrong::Trouble, format!("the server answered {status}")),
            (status @ (401..=403 | 451), _) => (Wrong::Refused, format!("the server answered {status}")),
            (status, _) => (Wrong::Failed, format!("the server answered {status}")),
        };
        self.failed(feed, wrong, &words, reply.headers.retry_after.as_deref()).await
    }

    async fn failed(
        &self,
        mut feed: FeedSource,
        wrong: Wrong,
        words: &str,
        retry_after: Option<&str>,
    ) -> Result<FeedSource, StageError> {
        let politeness = self.intake.politeness.as_ref();
        let at = (politeness.clock.now(), politeness.seeds.next());
        if feed_row::failed(&mut feed, wrong, words, retry_after, &politeness.rules, at) {
            relocation::reopen_site(self.intake.sources.as_ref(), &mut feed, at.0).await?;
        }
        Ok(feed)
    }

    /// Counts a permanent redirect, and believes it in the end.
    async fn moved(&self, mut feed: FeedSource, got: &Fetched) -> Result<FeedSource, StageError> {
        let (rules, now) = (&self.intake.politeness.rules, self.intake.politeness.clock.now());
        let (sightings, is_believed) = failure::moved(&feed, &got.url, got.moved_for_good, rules, now);
        (feed.moved, feed.polling.moved_at) = sightings;
        if is_believed {
            return relocation::relocate(self.intake.sources.as_ref(), feed, &got.url).await;
        }
        Ok(feed)
    }
}

/// Whether two states of a row differ in nothing but when the feed was polled.
fn says_the_same(before: &FeedSource, next: &FeedSource, rules: &curlew_policy::rules::Rules, now: Timestamp) -> bool {
    let next_slot = schedule::next_poll(before, rules, now);
    let same = FeedSource { not_before: before.not_before, polled_at: before.polled_at, ..next.clone() };
    same == *before && next_slot.is_some_and(|at| next.not_before <= at)
}

/// An answer, and what is in it.
struct Read<'a> {
    reply: &'a Reply,
    /// Of a 200: the feed, or why it is none.
    feed: Option<Result<Feed, FeedError>>,
}

impl Read<'_> {
    async fn of<'a>(pool: &dyn CpuPool, got: &'a Fetched) -> Result<Option<Read<'a>>, StageError> {
        let CallEnd::Reply(reply) = &got.end else { return Ok(None) };
        let feed = if reply.status == 200 { Some(parse(pool, reply, &got.url).await?) } else { None };
        Ok(Some(Read { reply, feed }))
    }

    /// Whether nothing follows from it: no visit is sent.
    fn brings_nothing(&self, known: &FeedSource) -> bool {
        match &self.feed {
            None => self.reply.status == 304,
            Some(Ok(feed)) => feed.entries.iter().all(|entry| known.seen.contains(&entry.key())),
            Some(Err(_)) => false,
        }
    }
}

impl Stage for Poll {
    const NAME: &'static str = "poll";
    type Job = PollJob;

    async fn run(&self, job: &PollJob) -> Result<Verdict, StageError> {
        let Some((Source::Feed(feed), seen)) = self.intake.sources.get(&job.feed).await? else {
            return Ok(Verdict::Drop("the feed is not known".into()));
        };
        if let Some(verdict) = self.not_now(&feed, job) {
            return Ok(verdict);
        }
        let politeness = self.intake.politeness.as_ref();
        let Ok(url) = address::parse(&feed.url, None) else {
            return Ok(Verdict::Drop("the feed's address is no longer valid".into()));
        };
        let host = politeness.key_of(&url).map_err(|e| StageError::Job(e.to_string()))?;
        let mut visit = match politeness.open_briefly(&host, &format!("poll {}", feed.key)).await? {
            LeaseOutcome::Granted(visit) => visit,
            LeaseOutcome::Busy(until) => return Ok(Verdict::Defer(until)),
            LeaseOutcome::Held(until, why) => return self.put_off(job, (feed, seen), until, why.as_str()).await,
            LeaseOutcome::Blocked => return self.blocked(feed, seen).await,
        };
        if visit.state.repeats() {
            visit.close_or_leave().await?;
            return Ok(Verdict::Drop("the feed was polled a moment ago".into()));
        }
        let asked = asked(&feed, &url, politeness);
        let got = match visit.get(&url, CallKind::Feed, &asked.validators).await {
            Ok(got) => got,
            Err(error) => {
                // What kept it from being told apart keeps the lease too, or not; it runs out by itself.
                let _ = visit.close().await;
                return Err(error);
            }
        };
        let (calls, failure) = (visit.state.calls, visit.failure.take());
        let read = match Read::of(politeness.pool.as_ref(), &got).await {
            Ok(read) => read,
            Err(error) => {
                // As above.
                let _ = visit.close().await;
                return Err(error);
            }
        };
        // The lease is given back first: what follows needs no call, and the visits that it sends do. If none will be sent
        // and all is well, it runs out by itself: most polls bring nothing, and giving it back is most of what they cost.
        let is_quiet = read.as_ref().is_some_and(|read| read.brings_nothing(&feed));
        let closed = if is_quiet { visit.close_or_leave().await } else { visit.close().await };
        if let Err(error) = closed {
            // It runs out by itself; what was read is kept all the same.
            tracing::warn!(%error, %host, "a lease could not be given back");
        }
        self.finish(job, (feed, seen), (&asked, &got), read.as_ref(), (calls, failure)).await
    }
}

/// How a feed is asked for now.
fn asked(feed: &FeedSource, url: &Url, politeness: &Politeness) -> Asked {
    let now = politeness.clock.now();
    let is_check = conditional::is_check_due(feed, &politeness.rules, now);
    if is_check {
        tracing::info!(feed = %url, "nothing but 304s came for long: the feed is asked for unconditionally");
    }
    Asked { validators: conditional::to_send(feed, &politeness.rules, now), is_check }
}
