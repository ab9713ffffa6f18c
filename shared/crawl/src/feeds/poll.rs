//! Poll: reads a feed, fetches the first new pages, and sends visits for the others.

use crate::feeds::backfill::Backfills;
use crate::feeds::feed_row::{self, ReadFeed, parse};
use crate::feeds::first_pages::FirstPages;
use crate::feeds::intake::Intake;
use crate::feeds::relocation;
use crate::pages::fetch::Fetch;
use crate::politeness::access::Politeness;
use crate::politeness::visit::{CallEnd, Fetched, KnownDocument, LeaseOutcome, NotedFeed, Visit};
use curlew_feed::{Feed, FeedError};
use curlew_model::{
    Envelope, ExtraSlot, Failure, FeedSource, HostKey, HostState, Millis, PollJob, Rejection, Source, SourceKey,
    Timestamp, TraceId, VisitJob,
};
use curlew_policy::address;
use curlew_policy::politeness::admission::NotNow;
use curlew_policy::politeness::{deferral, pace};
use curlew_policy::polling::decision::{
    self, AfterVisit, Document, FeedAnswer, PollAdmission, PutOff, Reading, RowWrite,
};
use curlew_policy::polling::failure::{self, Wrong};
use curlew_policy::polling::{conditional, poll_notes, schedule};
use curlew_policy::rules::{BUSY_RETRY, MAX_FIRST_WAIT};
use curlew_ports::stage::{Result, StageError, Verdict};
use curlew_ports::{CallKind, Event, Marks, Reply, Version};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use url::Url;

/// Maximum age of a row that was read together with others; an older one is read again.
const ROWS_LAST: Millis = Millis::from_mins(1);

/// The stage that reads feeds.
pub struct Poll {
    /// Processes the entries of feeds.
    pub intake: Arc<Intake>,
    /// Fetches the first new pages at once; without it, all are sent as visits.
    pub fetch: Option<Arc<Fetch>>,
    /// Rows of feeds that were just read together.
    pub rows: RowsAtHand,
    /// Store of the marks that identify processed messages with many polls.
    pub marks: Arc<dyn Marks>,
}

/// Rows of feeds that were read together for the polls of one message. Each row is used once.
#[derive(Debug, Default)]
pub struct RowsAtHand(Mutex<HashMap<SourceKey, (Source, Version, Timestamp)>>);

impl RowsAtHand {
    pub(crate) fn add(&self, rows: Vec<(Source, Version)>, asked_at: Timestamp) {
        let rows = rows.into_iter().map(|(row, seen)| (row.key().clone(), (row, seen, asked_at)));
        self.0.lock().extend(rows);
    }

    fn take(&self, feed: &SourceKey, now: Timestamp) -> Option<(Source, Version, Timestamp)> {
        self.0.lock().remove(feed).filter(|(_, _, asked_at)| *asked_at + ROWS_LAST > now)
    }

    pub(crate) fn forget<'k>(&self, feeds: impl Iterator<Item = &'k SourceKey>) {
        let mut rows = self.0.lock();
        feeds.for_each(|feed| drop(rows.remove(feed)));
    }
}

pub(crate) struct DueFeed<'j> {
    job: &'j Envelope<PollJob>,
    row: (FeedSource, Version),
    url: Url,
    host: HostKey,
    read_at: Timestamp,
}

struct Polled {
    next: NextRow,
    pages: FirstPages,
    is_quiet: bool,
    /// True if the row of the host key records the time of the poll.
    is_noted: bool,
}

enum NextRow {
    Wait(Timestamp),
    PutOff(PutOff),
    Blocked,
    Keep(Box<FeedSource>),
}

struct PollOutcome<'a> {
    is_conditional: bool,
    /// True if the request was unconditional, in order to check the preceding 304s.
    is_check: bool,
    got: &'a Fetched,
    response: Option<FeedResponse<'a>>,
    calls: u32,
    failure: Option<Failure>,
    crawl_delay: Option<Millis>,
}

impl Poll {
    pub(crate) async fn due<'j>(&self, job: &'j Envelope<PollJob>) -> Result<Result<DueFeed<'j>, Verdict>> {
        let politeness = &self.intake.politeness;
        let now = politeness.clock.now();
        let found = match self.rows.take(&job.work.feed, now) {
            Some(at_hand) => Some(at_hand),
            None => self.intake.sources.get(&job.work.feed).await?.map(|(row, seen)| (row, seen, now)),
        };
        let Some((Source::Feed(feed), seen, read_at)) = found else {
            return Ok(Err(Verdict::Drop("the feed is not known".into())));
        };
        if let Some(verdict) = verdict_of(decision::admit(&feed, job, &politeness.rules, politeness.clock.now())) {
            return Ok(Err(verdict));
        }
        let Ok(url) = address::parse(&feed.url, None) else {
            return Ok(Err(Verdict::Drop("the feed's address is no longer valid".into())));
        };
        let host = politeness.key_of(&url).map_err(|e| StageError::Job(e.to_string()))?;
        Ok(Ok(DueFeed { job, row: (feed, seen), url, host, read_at }))
    }

    /// Polls a feed and settles the poll, under a visit that also polls other feeds of its host key.
    pub(crate) async fn run_under(&self, visit: &mut Visit, job: &Envelope<PollJob>) -> Result<Verdict> {
        let due = match self.due(job).await? {
            Ok(due) => due,
            Err(verdict) => return Ok(verdict),
        };
        if due.host != visit.state.host {
            // The feed has moved since the poll was sent.
            return Ok(Verdict::Defer(self.intake.politeness.clock.now()));
        }
        if let Some(verdict) = self.noted_verdict(&due, &visit.state.learned).await {
            return Ok(verdict);
        }
        let polled = self.poll(visit, &due).await?;
        self.settle(due, polled).await
    }

    /// Returns the verdict on a poll that is too soon after one recorded in its host's row. If a short wait is enough,
    /// waits and returns `None`.
    async fn noted_verdict(&self, due: &DueFeed<'_>, state: &HostState) -> Option<Verdict> {
        let Politeness { rules, clock, .. } = self.intake.politeness.as_ref();
        let now = clock.now();
        let noted = poll_notes::latest_end(&state.polled, &due.row.0.key, rules, now)?;
        let feed = FeedSource { polled_at: due.row.0.polled_at.max(noted), ..due.row.0.clone() };
        match decision::admit(&feed, due.job, rules, now) {
            PollAdmission::At(at) if at.since(now) <= MAX_FIRST_WAIT => {
                clock.sleep(at.since(now)).await;
                None
            }
            admission => verdict_of(admission),
        }
    }

    async fn poll(&self, visit: &mut Visit, due: &DueFeed<'_>) -> Result<Polled> {
        let politeness = &self.intake.politeness;
        let feed = &due.row.0;
        politeness.events.note(&Event::Polled { late: due.job.work.due.map(|due| politeness.clock.now().since(due)) });
        let (rules, now) = (&politeness.rules, politeness.clock.now());
        let is_check = conditional::is_check_due(feed, rules, now);
        if is_check {
            tracing::info!(feed = %due.url, "nothing but 304s came for long: the feed is asked for unconditionally");
        }
        let validators = conditional::to_send(feed, rules, now);
        // The current minute is left out, since its poll is this one.
        let after = now + Millis::from_mins(1);
        visit.state.next_use = schedule::next_poll(feed, rules, after).unwrap_or(after);
        let calls_before = visit.state.calls;
        visit.failure = None;
        let of = feed.validators_of.as_deref().and_then(|of| Url::parse(of).ok());
        let known = KnownDocument { validators: &validators, url: of.as_ref().unwrap_or(&due.url) };
        let got = visit.get_listing(&due.url, CallKind::Feed, known).await?;
        let (calls, failure) = (visit.state.calls - calls_before, visit.failure.take());
        let is_noted = visit.state.grant.poll.is_some_and(|poll| poll.covers(politeness.clock.now()));
        let crawl_delay = match visit.robots_at_hand(&due.url).await {
            Ok(robots) => robots.crawl_delay(),
            // The Crawl-delay of the last poll still holds.
            Err(_) => feed.polling.hints.crawl_delay,
        };
        let response = match &got.end {
            CallEnd::Reply(reply) if reply.status == 200 => {
                let feed = Some(parse(politeness.pool.as_ref(), reply, &got.url).await?);
                Some(FeedResponse { reply, feed })
            }
            CallEnd::Reply(reply) => Some(FeedResponse { reply, feed: None }),
            _ => None,
        };
        let status = response.as_ref().map(|response| response.reply.status);
        tracing::debug!(feed = %due.url, status, "a feed was polled");
        let has_nothing_new = response.as_ref().is_some_and(|response| response.has_nothing_new(feed));
        let is_conditional = !validators.is_empty();
        let outcome = PollOutcome { is_conditional, is_check, got: &got, response, calls, failure, crawl_delay };
        let (next, visits) = self.taken(due, &outcome).await?;
        // An entry that has changed brings a visit of its page, though it is not new.
        let is_quiet = has_nothing_new && visits.is_empty();
        let fetch = self.fetch.as_deref().filter(|_| !due.job.is_again);
        let pages = FirstPages::fetched(fetch, visit, visits).await;
        Ok(Polled { next, pages, is_quiet, is_noted })
    }

    async fn settle(&self, due: DueFeed<'_>, polled: Polled) -> Result<Verdict> {
        match polled.next {
            NextRow::Wait(until) => Ok(Verdict::Defer(until)),
            NextRow::PutOff(put_off) => self.put_off(due, &put_off).await,
            NextRow::Blocked => self.blocked(due).await,
            NextRow::Keep(next) => {
                polled.pages.send(self.fetch.as_deref(), &self.intake).await?;
                self.keep(due, *next, polled.is_noted).await
            }
        }
    }

    /// Runs the job, which may have run before.
    pub async fn run(&self, job: &Envelope<PollJob>) -> Result<Verdict> {
        let politeness = &self.intake.politeness;
        let due = match self.due(job).await? {
            Ok(due) => due,
            Err(verdict) => return Ok(verdict),
        };
        let feed = &due.row.0;
        let mut noted = None;
        if !job.work.on_request && schedule::is_near_floor(feed, &politeness.rules) {
            // A stale row is harmless: a visit that records a poll after this read has also called the host since the
            // feed's row was read, which is checked below.
            let ledger_row = politeness.ledger.load_eventual(&due.host).await?;
            if let Some(verdict) = self.noted_verdict(&due, &ledger_row.0).await {
                return Ok(verdict);
            }
            noted = Some(NotedFeed { feed: &feed.key, ledger_row });
        }
        let mut visit = match politeness.open_for_poll(&due.host, &format!("poll {}", feed.key), noted).await? {
            LeaseOutcome::Granted(visit) => visit,
            LeaseOutcome::NotNow(NotNow { until, why: None }) => {
                let again = deferral::of_busy_host(job.waits, until, politeness.clock.now());
                return Ok(Verdict::Defer(again));
            }
            LeaseOutcome::NotNow(NotNow { until, why: Some(why) }) => {
                let put_off = PutOff::new(job, until, why.as_str(), &politeness.rules);
                return self.put_off(due, &put_off).await;
            }
            LeaseOutcome::Blocked => return self.blocked(due).await,
        };
        if visit.state.grant.repeats {
            visit.state.undo_note_of_poll();
            visit.close_or_leave().await?;
            return Ok(Verdict::Drop("the feed was polled a moment ago".into()));
        }
        if visit.state.was_called_since(due.read_at) {
            // Another delivery of this job may have made the call; the feed's row will say so once it is written.
            visit.state.undo_note_of_poll();
            visit.close().await?;
            return Ok(Verdict::Defer(politeness.clock.now() + BUSY_RETRY));
        }
        let polled = match self.poll(&mut visit, &due).await {
            Ok(polled) => polled,
            Err(error) => {
                visit.state.undo_note_of_poll();
                // If the ledger cannot be reached, the lease expires by itself.
                let _ = visit.close().await;
                return Err(error);
            }
        };
        if !matches!(polled.next, NextRow::Keep(_)) {
            visit.state.undo_note_of_poll();
        }
        // The lease is given back first, since the visits that are sent need it. After a quiet poll it expires by
        // itself: giving it back is most of the cost of such a poll.
        if !(polled.is_quiet && visit.state.may_run_out(&politeness.rules)) {
            visit.give_back().await;
        }
        self.settle(due, polled).await
    }

    async fn put_off(&self, due: DueFeed<'_>, put_off: &PutOff) -> Result<Verdict> {
        let DueFeed { job, row: (mut feed, seen), .. } = due;
        self.intake.politeness.events.note(&Event::PutOff);
        if put_off.parks {
            let due = job.work.due.map(|_| put_off.until);
            let parked = job.with(PollJob { due, ..job.work.clone() }).deferred();
            self.intake.queue.send(&[(parked.into_job(), put_off.until)]).await?;
        }
        put_off.note(&mut feed);
        self.intake.sources.swap(seen, &Source::Feed(feed)).await?;
        Ok(Verdict::Done)
    }

    async fn taken(&self, due: &DueFeed<'_>, outcome: &PollOutcome<'_>) -> Result<(NextRow, Vec<Envelope<VisitJob>>)> {
        let PollOutcome { got, response, .. } = outcome;
        // The block covers the feed's own name, but not all of its host key.
        if got.hops == 0 && matches!(got.end, CallEnd::Rejected(Rejection::Blocked)) {
            return Ok((NextRow::Blocked, Vec::new()));
        }
        let (rules, now) = (&self.intake.politeness.rules, self.intake.politeness.clock.now());
        let mut feed = due.row.0.clone();
        if response.is_some() {
            feed.polling.hints.crawl_delay = pace::beyond_cap(outcome.crawl_delay, rules);
        }
        let failure = outcome.failure.as_ref().map(Failure::to_string);
        let mut visits = Vec::new();
        let next = match decision::after_visit(due.job, &got.end, outcome.calls, failure.as_deref(), rules, now) {
            AfterVisit::Wait(until) => return Ok((NextRow::Wait(until), visits)),
            AfterVisit::PutOff(put_off) => return Ok((NextRow::PutOff(put_off), visits)),
            AfterVisit::Fail { wrong, words, not_before } => {
                let feed = self.failed(feed, wrong, &words, None).await?;
                FeedSource { not_before: not_before.map_or(feed.not_before, |at| at.max(feed.not_before)), ..feed }
            }
            AfterVisit::Read => match response {
                Some(response) => self.taken_in(feed, outcome, response, due.job.trace.as_ref(), &mut visits).await?,
                None => feed,
            },
        };
        Ok((NextRow::Keep(Box::new(next)), visits))
    }

    /// Writes the feed's row if a change in it matters.
    async fn keep(&self, due: DueFeed<'_>, mut next: FeedSource, is_noted: bool) -> Result<Verdict> {
        let DueFeed { job, row: (before, seen), .. } = due;
        let (rules, now) = (&self.intake.politeness.rules, self.intake.politeness.clock.now());
        if let Some(subscription) = &mut next.polling.subscription {
            // The poll that a hub's notification asked for has taken place.
            subscription.early = None;
        }
        let for_the_hub = self.intake.for_the_hub(&mut next, false);
        match decision::row_write(&before, &next, job, is_noted, rules, now) {
            RowWrite::None => return Ok(Verdict::Done),
            RowWrite::Row => {}
            RowWrite::WithTime => next.polled_at = now,
        }
        // Discovery begins the backfills of sites with their feeds, so this is for a feed that a person named.
        if before.polled_at == Timestamp::MIN && next.failures == 0 && next.site.is_none() {
            Backfills { intake: self.intake.clone() }.begin_by_rule(&next.key).await?;
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

    /// Ends polling, and asks the feed's hub to end its notifications.
    async fn blocked(&self, due: DueFeed<'_>) -> Result<Verdict> {
        let (mut feed, seen) = due.row;
        if let Some(job) = self.intake.for_the_hub(&mut feed, true) {
            self.intake.sources.swap(seen, &Source::Feed(feed)).await?;
            self.intake.send_to_hub(Some(job)).await?;
        }
        Ok(Verdict::Drop("the host is blocked".into()))
    }

    /// Adds a feed to extra slots, if its interval is shorter than the cycle. Existing rows stay.
    async fn list_often(&self, feed: &mut FeedSource) -> Result<()> {
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

    async fn taken_in(
        &self,
        mut feed: FeedSource,
        outcome: &PollOutcome<'_>,
        response: &FeedResponse<'_>,
        trace: Option<&TraceId>,
        visits: &mut Vec<Envelope<VisitJob>>,
    ) -> Result<FeedSource> {
        let PollOutcome { is_conditional, is_check, got, .. } = *outcome;
        let (rules, now) = (&self.intake.politeness.rules, self.intake.politeness.clock.now());
        let reply = response.reply;
        let answer = FeedAnswer {
            status: reply.status,
            document: response.document(),
            conditional: is_conditional,
            speaks_for_feed: got.hops == 0 || got.moved_for_good,
        };
        match (decision::read_answer(&feed, &answer), &response.feed) {
            (Reading::Wrong(wrong, words), _) => {
                return self.failed(feed, wrong, &words, reply.headers.retry_after.as_deref()).await;
            }
            (Reading::Entries, Some(Ok(parsed))) => {
                let taken = self.intake.take(&mut feed, parsed, None, trace).await?;
                *visits = taken.visits;
                let arrivals = taken.arrivals;
                feed_row::learn(&mut feed, &ReadFeed { parsed, reply, got, arrivals, is_check }, rules, now);
            }
            (Reading::Entries | Reading::Unchanged, _) => feed_row::unchanged(&mut feed, reply, rules, now),
        }
        // A permanent redirect is believed only after repeated sightings.
        let (sightings, is_believed) = failure::moved(&feed, &got.url, got.moved_for_good, now);
        (feed.moved, feed.polling.moved_at) = sightings;
        if is_believed { relocation::relocate(self.intake.sources.as_ref(), feed, &got.url).await } else { Ok(feed) }
    }

    async fn failed(&self, mut feed: FeedSource, wrong: Wrong, words: &str, retry: Option<&str>) -> Result<FeedSource> {
        let politeness = &self.intake.politeness;
        let (now, seed) = (politeness.clock.now(), politeness.seeds.next());
        if feed_row::failed(&mut feed, wrong, words, retry, &politeness.rules, now, seed) {
            relocation::reopen_site(self.intake.sources.as_ref(), &mut feed, now).await?;
        }
        Ok(feed)
    }
}

/// Returns the verdict on a job whose poll does not take place now; `None` if it does.
fn verdict_of(admission: PollAdmission) -> Option<Verdict> {
    match admission {
        PollAdmission::Now => None,
        PollAdmission::At(at) => Some(Verdict::Defer(at)),
        PollAdmission::Never(why) => Some(Verdict::Drop(why.into())),
    }
}

struct FeedResponse<'a> {
    reply: &'a Reply,
    feed: Option<Result<Feed, FeedError>>,
}

impl FeedResponse<'_> {
    fn document(&self) -> Option<Document> {
        Some(match self.feed.as_ref()? {
            Ok(feed) if feed.entries.is_empty() && feed.deleted.is_empty() => Document::Empty,
            Ok(_) => Document::Feed,
            Err(why @ FeedError::NotAFeed(_)) => Document::Other(why.to_string()),
            Err(why) => Document::Unreadable(why.to_string()),
        })
    }

    /// Returns true if the feed has not changed, or has no entry but known ones.
    fn has_nothing_new(&self, known: &FeedSource) -> bool {
        match &self.feed {
            None => self.reply.status == 304,
            Some(Ok(feed)) => feed.entries.iter().all(|entry| known.seen.contains(&entry.key())),
            Some(Err(_)) => false,
        }
    }
}
