//! Poll: reads a feed, politely and conditionally, and sends visits for what is new.

use crate::intake::Intake;
use crate::manners::Opening;
use crate::visit::{End, Got};
use crate::{Manners, Stage, StageError, Verdict};
use curlew_feed::{Feed, Limits};
use curlew_model::{FeedSource, Job, Millis, PollJob, Source, Timestamp, Validators};
use curlew_policy::address;
use curlew_policy::schedule::{self, Wishes};
use curlew_policy::{admission, http};
use curlew_ports::{CallKind, Event, Pages, Queue, Reply, Sources, Version};
use std::sync::Arc;
use url::Url;

/// The stage that reads feeds.
pub struct Poll {
    intake: Intake,
    sources: Arc<dyn Sources>,
}

impl Poll {
    /// Over these ports.
    pub fn new(manners: Arc<Manners>, sources: Arc<dyn Sources>, pages: Arc<dyn Pages>, queue: Arc<dyn Queue>) -> Poll {
        Poll { intake: Intake { manners, pages, queue }, sources }
    }

    fn manners(&self) -> &Manners {
        &self.intake.manners
    }

    /// The job is parked, and the row says until when: without that, each cycle until then would park one more.
    async fn put_off(
        &self,
        job: &PollJob,
        (feed, seen): (FeedSource, Version),
        until: Timestamp,
        why: &str,
    ) -> Result<Verdict, StageError> {
        self.manners().events.note(&Event::PutOff);
        if !admission::given_up(job.deferrals, &self.manners().rules) {
            self.intake.queue.send(&[(Job::Poll(job.clone()).deferred(), until)]).await?;
        }
        let next = FeedSource { not_before: until, trouble: Some(format!("the host is left alone: {why}")), ..feed };
        self.sources.swap(seen, &Source::Feed(next)).await?;
        Ok(Verdict::Done)
    }

    /// Brings the feed's row up to date with how the visit ended.
    async fn finish(
        &self,
        job: &PollJob,
        (feed, seen): (FeedSource, Version),
        got: &Got,
        read: Option<&Read<'_>>,
        calls: u32,
    ) -> Result<Verdict, StageError> {
        let manners = self.manners();
        let before = feed.clone();
        let mut next = match (&got.end, read) {
            // What began and did not end within a visit may never do so, so it counts.
            (End::Later(until), _) if calls > 0 => {
                let again = manners.clock.now() + manners.rules.again_after(job.deferrals);
                return self.put_off(job, (feed, seen), again.max(*until), "its answers take too long").await;
            }
            (End::Later(until), _) => return Ok(Verdict::Defer(*until)),
            (End::Elsewhere(until), _) => {
                return self.put_off(job, (feed, seen), *until, "a robots.txt or a redirect leads nowhere").await;
            }
            (End::Held(until, why), _) => return self.put_off(job, (feed, seen), *until, why.as_str()).await,
            (End::Rejected(why), _) => {
                let mut feed = feed;
                self.failed(&mut feed, why.to_string(), manners.clock.now());
                feed
            }
            (End::Reply(_), Some(read)) => self.taken_in(feed, got, read).await?,
            (End::Reply(_), None) => feed,
        };
        let now = manners.clock.now();
        if !schedule::is_on_time(before.slot, now) {
            // Off its minute: another job of this feed may be on its way, and must not call again at once.
            next.polled_at = now;
        }
        // A 304 in its minute changes nothing, and nothing is written: three polls a day cost no write.
        if next != before {
            self.sources.swap(seen, &Source::Feed(next)).await?;
        }
        Ok(Verdict::Done)
    }

    /// What an answer makes of the feed's row.
    async fn taken_in(&self, mut feed: FeedSource, got: &Got, read: &Read<'_>) -> Result<FeedSource, StageError> {
        let now = self.manners().clock.now();
        let reply = read.reply;
        match reply.status {
            // RFC 9110 §15.4.5: nobody asked whether it was modified.
            304 if feed.validators.is_empty() => {
                self.failed(&mut feed, "the server answered 304 to an unconditional request".into(), now);
            }
            304 => {
                feed.failures = 0;
                feed.trouble = None;
                refresh(&mut feed.validators, &reply.headers.validators);
            }
            200 => match &read.feed {
                Some(Ok(parsed)) => {
                    self.intake.take(&mut feed, parsed).await?;
                    self.updated(&mut feed, parsed, reply, now);
                    self.moved(&mut feed, got);
                }
                Some(Err(why)) => self.failed(&mut feed, why.clone(), now),
                None => {}
            },
            // A temporary redirect to something that is gone says nothing for good about this feed.
            410 if got.hops == 0 || got.moved_for_good => {
                feed.gone = true;
                feed.trouble = Some("the server says that the feed is gone (410)".into());
            }
            status => self.failed(&mut feed, format!("the server answered {status}"), now),
        }
        Ok(feed)
    }

    fn failed(&self, feed: &mut FeedSource, why: String, now: Timestamp) {
        feed.failures = feed.failures.saturating_add(1);
        feed.not_before =
            schedule::after_failure(&self.manners().rules, feed.failures, now, self.manners().seeds.next());
        tracing::info!(feed = %feed.url, failures = feed.failures, reason = %why, "the feed could not be read");
        feed.trouble = Some(why);
    }

    pub(crate) fn updated(&self, feed: &mut FeedSource, parsed: &Feed, reply: &Reply, now: Timestamp) {
        update(feed, parsed, reply, &self.manners().rules, now);
    }

    /// A permanent redirect is believed once it was seen often enough, or at once if it only adds TLS.
    fn moved(&self, feed: &mut FeedSource, got: &Got) {
        if !got.moved_for_good {
            feed.moved = None;
            return;
        }
        let times = match &feed.moved {
            Some((to, times)) if *to == got.url.as_str() => times.saturating_add(1),
            _ => 1,
        };
        let only_tls = Url::parse(&feed.url).is_ok_and(|old| {
            old.scheme() == "http" && got.url.scheme() == "https" && old.host_str() == got.url.host_str()
        });
        if only_tls || times >= self.manners().rules.moves_believed {
            tracing::info!(from = %feed.url, to = %got.url, "the feed has moved for good");
            feed.url = got.url.as_str().to_owned();
            feed.moved = None;
        } else {
            feed.moved = Some((got.url.as_str().to_owned(), times));
        }
    }
}

/// An answer, and what is in it.
struct Read<'a> {
    reply: &'a Reply,
    /// Of a 200: the feed, or why it is none.
    feed: Option<Result<Feed, String>>,
}

impl Read<'_> {
    fn of(got: &Got) -> Option<Read<'_>> {
        let End::Reply(reply) = &got.end else { return None };
        let feed = (reply.status == 200).then(|| parse(reply, &got.url));
        Some(Read { reply, feed })
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

/// A 304 brings the stored validators up to date and takes none away (RFC 9111 §4.3.4).
fn refresh(stored: &mut Validators, sent: &Validators) {
    for (old, new) in [(&mut stored.etag, &sent.etag), (&mut stored.last_modified, &sent.last_modified)] {
        if new.is_some() {
            old.clone_from(new);
        }
    }
}

/// Reads an answer as a feed.
pub(crate) fn parse(reply: &Reply, url: &Url) -> Result<Feed, String> {
    curlew_feed::parse(&reply.body, reply.headers.content_type.as_deref(), url, &Limits::default())
        .map_err(|e| e.to_string())
}

/// Writes what a good answer says into the feed's row.
pub(crate) fn update(
    feed: &mut FeedSource,
    parsed: &Feed,
    reply: &Reply,
    rules: &curlew_policy::Rules,
    now: Timestamp,
) {
    let headers = &reply.headers;
    let fresh_for =
        http::fresh_for(headers.cache_control.as_deref(), headers.age.as_deref(), headers.expires.as_deref(), now);
    feed.format = parsed.format.as_str().to_owned();
    feed.title.clone_from(&parsed.title);
    feed.description.clone_from(&parsed.description);
    feed.link.clone_from(&parsed.link);
    feed.language.clone_from(&parsed.language);
    if parsed.image.is_some() {
        feed.image.clone_from(&parsed.image);
    }
    feed.validators = headers.validators.clone();
    feed.faults = parsed.faults.summary();
    feed.failures = 0;
    feed.trouble = None;
    feed.polled_at = now;
    let wishes = Wishes {
        ttl: parsed.hints.ttl_minutes.map(|m| Millis::from_mins(u64::from(m))),
        update_period: parsed.hints.update_period,
        fresh_for,
        has_validators: !headers.validators.is_empty(),
    };
    feed.interval = schedule::interval(rules, wishes);
    let earliest = now + fresh_for.unwrap_or_default().min(rules.poll_cap);
    feed.not_before = schedule::after_skips(earliest, &parsed.hints.skip_hours, &parsed.hints.skip_days);
}

impl Stage for Poll {
    const NAME: &'static str = "poll";
    type Job = PollJob;

    async fn run(&self, job: &PollJob) -> Result<Verdict, StageError> {
        let Some((Source::Feed(feed), seen)) = self.sources.get(&job.feed).await? else {
            return Ok(Verdict::Drop("the feed is not known".into()));
        };
        let manners = self.manners();
        let earliest = feed.not_before.max(feed.polled_at + manners.rules.poll_floor);
        if feed.gone || manners.clock.now() < earliest {
            return Ok(Verdict::Drop("the feed was polled already, or polling it has stopped".into()));
        }
        let Ok(url) = address::parse(&feed.url, None) else {
            return Ok(Verdict::Drop("the feed's address is no longer valid".into()));
        };
        let host = manners.key_of(&url).map_err(|e| StageError::Job(e.to_string()))?;
        let mut visit = match manners.open_briefly(&host, &format!("poll {}", feed.key)).await? {
            Opening::Open(visit) => visit,
            Opening::Busy(until) => return Ok(Verdict::Defer(until)),
            Opening::Held(until, why) => return self.put_off(job, (feed, seen), until, why.as_str()).await,
            Opening::Blocked => return Ok(Verdict::Drop("the host is blocked".into())),
        };
        let got = match visit.get(&url, CallKind::Feed, &feed.validators).await {
            Ok(got) => got,
            Err(error) => {
                // What kept it from being told apart keeps the lease too, or not; it runs out by itself.
                let _ = visit.close().await;
                return Err(error);
            }
        };
        let calls = visit.calls;
        let read = Read::of(&got);
        // The lease is given back first: what follows needs no call, and the visits that it sends do. If none will be sent
        // and all is well, it runs out by itself: most polls bring nothing, and giving it back is most of what they cost.
        let is_quiet = read.as_ref().is_some_and(|read| read.brings_nothing(&feed));
        let closed = if is_quiet { visit.close_or_leave().await } else { visit.close().await };
        if let Err(error) = closed {
            // It runs out by itself; what was read is kept all the same.
            tracing::warn!(%error, %host, "a lease could not be given back");
        }
        self.finish(job, (feed, seen), &got, read.as_ref(), calls).await
    }
}
