//! Dispatch: every minute or every few minutes, sends jobs for the feeds and sites whose slot has come. The mark moves
//! every few thousand rows, so that the next tick continues there if one is cut off.

use crate::bulk::Bulk;
use curlew_model::{Backfill, BackfillJob, DiscoverJob, Job, Millis, PollJob, PollsJob, Source, Timestamp, Work};
use curlew_policy::polling::backfill;
use curlew_policy::polling::schedule::{DueSlot, feed_is_due, postponed, site_is_due, slots_due};
use curlew_policy::rules::Rules;
use curlew_policy::skew::unless_ahead;
use curlew_ports::stage::{Result, StageError};
use curlew_ports::{Clock, Marks, PortError, Queue, Sources, Version};
use futures::stream::{self, StreamExt, TryStreamExt};
use std::sync::Arc;

/// Name of the mark: all slots up to its minute were sent.
const MARK: &str = "dispatch";
/// Name of the mark within a slot: the keys of its minute's slot before its place were sent.
const WITHIN: &str = "dispatch-within";
const LIST: usize = 500;
/// Number of rows after which the mark moves, so that few are sent again after a tick that is cut off.
const MARK_EVERY: usize = 2_000;
/// Number of rows after which a tick ends: five minutes of nine million feeds, more than a function has time for.
const MOST_ROWS: usize = 100_000;
/// Maximum number of polls in one job, whose message then has about 200 KB.
const MOST_POLLS: usize = 1_000;
/// Bytes of addresses after which a job is sent, so that it fits in a message even if every character is escaped.
const ADDRESSES: usize = 200 << 10;
/// Number of feeds that are read concurrently: one by one, a list of rows would take 2.5 s at 5 ms a read.
const ROWS_AT_ONCE: usize = 32;

/// The stage that sends the jobs of due feeds and sites.
pub struct Dispatch {
    /// Store of the dispatch position.
    pub marks: Arc<dyn Marks>,
    /// Feeds and sites by slot.
    pub sources: Arc<dyn Sources>,
    /// Queue of the jobs.
    pub queue: Arc<dyn Queue>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// The politeness rules.
    pub rules: Arc<Rules>,
    /// True if polls that fall due together are sent as one job.
    pub sends_together: bool,
}

/// Limits of one tick, which always processes at least one list of rows, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TickLimits {
    /// Number of rows after which the tick ends.
    pub rows: usize,
    /// End of the tick on the monotonic clock.
    pub until: Millis,
}

impl TickLimits {
    /// Returns the limits of a tick that must end at a time on the monotonic clock.
    pub fn until(until: Millis) -> TickLimits {
        TickLimits { rows: MOST_ROWS, until }
    }
}

/// Counts of what one tick sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dispatched {
    /// Slots that were processed completely.
    pub slots: usize,
    /// Rows that were read.
    pub rows: usize,
    /// Feeds sent to polling.
    pub polls: usize,
    /// Sites sent to discovery.
    pub discoveries: usize,
    /// True if a limit ended the tick before all due jobs were sent. The next tick continues there.
    pub is_behind: bool,
}

impl Dispatch {
    /// Returns the time up to which all due jobs were sent; `None` before the first tick.
    pub async fn sent_until(&self) -> Result<Option<Timestamp>> {
        Ok(self.marks.load(MARK).await?.0)
    }

    /// Sends all due jobs. A repeated tick does nothing; the next tick makes up for a missed one.
    pub async fn tick(&self) -> Result<Dispatched> {
        let mut all = Dispatched { is_behind: true, ..Dispatched::default() };
        while all.is_behind {
            let sent = self.tick_within(TickLimits::until(Millis(u64::MAX))).await?;
            all = Dispatched {
                slots: all.slots + sent.slots,
                rows: all.rows + sent.rows,
                polls: all.polls + sent.polls,
                discoveries: all.discoveries + sent.discoveries,
                is_behind: sent.is_behind,
            };
        }
        Ok(all)
    }

    /// Releases parked jobs, which have waited longest, and then sends due jobs even if the release failed.
    pub async fn tick_after<T>(&self, release: impl Future<Output = T>, limits: TickLimits) -> (T, Result<Dispatched>) {
        let released = release.await;
        (released, self.tick_within(limits).await)
    }

    /// Sends due jobs, as far as the limits allow.
    pub async fn tick_within(&self, limits: TickLimits) -> Result<Dispatched> {
        let now = self.clock.now();
        let (done, seen) = self.marks.load(MARK).await?;
        let mut due = slots_due(done, None, now);
        if due.len() > 1 {
            // The place is read only if several slots are due, since a tick of an earlier minute left it.
            due = slots_due(done, self.marks.load(WITHIN).await?.0, now);
        }
        let mut tick = Tick {
            stage: self,
            limits,
            now,
            seen,
            jobs: Bulk::new(self.queue.as_ref()),
            polls: Vec::new(),
            addresses: 0,
            messages: 0,
            unmarked: 0,
            sent: Dispatched::default(),
        };
        match tick.run(&due).await {
            // Another tick runs, and has come further.
            Ok(()) | Err(StageError::Port(PortError::Conflict)) => Ok(tick.sent),
            Err(error) => Err(error),
        }
    }

    /// Returns rows in the same order, with extra slots replaced by their feeds; leaves out feeds that no longer exist.
    async fn themselves(&self, rows: Vec<Source>) -> Result<Vec<Source>> {
        let reads = stream::iter(rows).map(|row| async move {
            match row {
                Source::Extra(extra) => Ok::<_, StageError>(self.sources.get(&extra.feed).await?.map(|(row, _)| row)),
                other => Ok(Some(other)),
            }
        });
        let rows: Vec<Option<Source>> = reads.buffered(ROWS_AT_ONCE).try_collect().await?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// Returns the job of a source in its slot, and its due time: a feed may ask not to be polled for hours.
    fn job(&self, source: Source, slot: &DueSlot, now: Timestamp) -> Option<(Job, Timestamp)> {
        match source {
            Source::Feed(feed) if feed_is_due(&feed, slot.slot, &self.rules, now) => {
                let at = postponed(&feed, &self.rules, now)?;
                let due = if at > now { at } else { slot.came };
                Some((Job::new(PollJob { due: Some(due), ..PollJob::new(feed.key, feed.url) }), at))
            }
            Source::Site(mut site) => {
                site.not_before = unless_ahead(site.not_before, &self.rules, now);
                site_is_due(&site, now).then(|| (Job::new(DiscoverJob::new(site.key, site.url)), now))
            }
            Source::Backfill(backfill) if backfill::is_lost(&backfill, now) => {
                let Backfill { key, url, step, .. } = backfill;
                Some((Job::new(BackfillJob { backfill: key, url, step }), now))
            }
            _ => None,
        }
    }
}

struct Tick<'a> {
    stage: &'a Dispatch,
    limits: TickLimits,
    now: Timestamp,
    seen: Version,
    jobs: Bulk<'a>,
    polls: Vec<PollJob>,
    addresses: usize,
    messages: u64,
    unmarked: usize,
    sent: Dispatched,
}

impl Tick<'_> {
    async fn run(&mut self, due: &[DueSlot]) -> Result<()> {
        for (n, slot) in due.iter().enumerate() {
            if !self.slot(slot).await? {
                return Ok(());
            }
            self.sent.slots += 1;
            let is_last = n + 1 == due.len();
            self.sent.is_behind = !is_last && self.sent.rows > 0 && self.is_over();
            if is_last {
                self.mark(self.now).await?;
            } else if self.sent.is_behind || self.unmarked >= MARK_EVERY {
                self.mark(slot.came).await?;
            }
            if self.sent.is_behind {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Processes a slot from its place on; returns true if it was processed completely.
    async fn slot(&mut self, slot: &DueSlot) -> Result<bool> {
        let (mut after, mut kept) = (slot.after(), slot.from);
        loop {
            let rows = self.stage.sources.in_slot(slot.slot, after.as_ref(), LIST).await?;
            let Some(last) = rows.last() else { return Ok(true) };
            let place = slot.place_of(last.key());
            after = Some(last.key().clone());
            self.sent.rows += rows.len();
            self.unmarked += rows.len();
            for row in self.stage.themselves(rows).await? {
                let Some((job, due)) = self.stage.job(row, slot, self.now) else { continue };
                match &job.work {
                    Work::Poll(_) => self.sent.polls += 1,
                    Work::Discover(_) => self.sent.discoveries += 1,
                    _ => {}
                }
                match job.work {
                    Work::Poll(poll) if due <= self.now => self.poll(poll).await?,
                    _ => self.jobs.push(job, due).await?,
                }
            }
            // Keys with the same place cannot be told apart, so a tick that ends must have passed all keys of a place.
            let is_over = self.is_over();
            if place > kept && (is_over || self.unmarked >= MARK_EVERY) {
                self.keep_place(place).await?;
                kept = place;
                if is_over {
                    self.sent.is_behind = true;
                    return Ok(false);
                }
            }
        }
    }

    fn is_over(&self) -> bool {
        self.sent.rows >= self.limits.rows || self.stage.clock.monotonic() >= self.limits.until
    }

    async fn poll(&mut self, poll: PollJob) -> Result<()> {
        if !self.stage.sends_together {
            return Ok(self.jobs.push(Job::new(poll), self.now).await?);
        }
        self.addresses += poll.url.len();
        self.polls.push(poll);
        if self.polls.len() >= MOST_POLLS || self.addresses >= ADDRESSES {
            self.send_polls().await?;
        }
        Ok(())
    }

    /// Sends the collected polls. Each message has another `made_at`, since a feed may be the first in several.
    async fn send_polls(&mut self) -> Result<()> {
        self.addresses = 0;
        let polls = std::mem::take(&mut self.polls);
        if polls.is_empty() {
            return Ok(());
        }
        let made_at = self.now + Millis(self.messages);
        self.messages += 1;
        Ok(self.jobs.push(Job::new(PollsJob { made_at, polls }), self.now).await?)
    }

    /// Sends the remaining jobs and then moves the mark: a crash before this may send jobs twice but never loses one.
    async fn mark(&mut self, at: Timestamp) -> Result<()> {
        self.send_all().await?;
        self.seen = self.stage.marks.swap(MARK, self.seen, at).await?;
        Ok(())
    }

    /// Sends the remaining jobs and then moves the mark within a slot to a place; see [`Tick::mark`].
    async fn keep_place(&mut self, at: Timestamp) -> Result<()> {
        self.send_all().await?;
        let (_, seen) = self.stage.marks.load(WITHIN).await?;
        self.stage.marks.swap(WITHIN, seen, at).await?;
        Ok(())
    }

    async fn send_all(&mut self) -> Result<()> {
        self.send_polls().await?;
        self.unmarked = 0;
        Ok(self.jobs.send().await?)
    }
}
