//! Dispatch: once a minute, sends jobs for the feeds and sites whose minute of the cycle has come.

use crate::StageError;
use curlew_model::{DiscoverJob, Job, PollJob, Slot, Source, Timestamp};
use curlew_policy::Rules;
use curlew_policy::schedule::{feed_is_due, postponed, site_is_due, slots_due};
use curlew_ports::{Clock, Marks, PortError, Queue, Sources};
use std::sync::Arc;

/// The name under which it is kept how far dispatch has come.
const MARK: &str = "dispatch";
/// Rows that one call lists.
const LIST: usize = 500;

/// The stage that sends what is due.
pub struct Dispatch {
    /// How far it has come.
    pub marks: Arc<dyn Marks>,
    /// Feeds and sites by slot.
    pub sources: Arc<dyn Sources>,
    /// Where jobs go.
    pub queue: Arc<dyn Queue>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// The numbers.
    pub rules: Arc<Rules>,
}

/// What one tick sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dispatched {
    /// Slots that were looked at.
    pub slots: usize,
    /// Feeds given to polling.
    pub polls: usize,
    /// Sites given to discovery.
    pub discoveries: usize,
}

impl Dispatch {
    /// One tick. A tick that fires twice does nothing; one that was missed is caught up by the next.
    ///
    /// # Errors
    /// What the ports say; the next tick does it again.
    pub async fn tick(&self) -> Result<Dispatched, StageError> {
        let now = self.clock.now();
        let (last, seen) = self.marks.load(MARK).await?;
        let slots = slots_due(last, now);
        let mut sent = Dispatched { slots: slots.len(), ..Dispatched::default() };
        if slots.is_empty() {
            return Ok(sent);
        }
        for slot in slots {
            self.slot(slot, now, &mut sent).await?;
        }
        // Only now, so that a crash before this sends jobs twice and never not at all.
        match self.marks.swap(MARK, seen, now).await {
            Ok(_) | Err(PortError::Conflict) => Ok(sent),
            Err(other) => Err(other.into()),
        }
    }

    async fn slot(&self, slot: Slot, now: Timestamp, sent: &mut Dispatched) -> Result<(), StageError> {
        let mut after = None;
        loop {
            let rows = self.sources.in_slot(slot, after.as_ref(), LIST).await?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = Some(last.key().clone());
            let mut jobs: Vec<(Job, Timestamp)> = Vec::new();
            for row in rows {
                let Some(row) = self.itself(row).await? else { continue };
                jobs.extend(self.job(row, slot, now));
            }
            for (job, _) in &jobs {
                match job {
                    Job::Poll(_) => sent.polls += 1,
                    _ => sent.discoveries += 1,
                }
            }
            if !jobs.is_empty() {
                self.queue.send(&jobs).await?;
            }
        }
    }

    /// The row of the feed that a further slot lists; any other row is itself. Only feeds that are, or once were, polled
    /// more than once a cycle cost this read.
    async fn itself(&self, row: Source) -> Result<Option<Source>, StageError> {
        match row {
            Source::Extra(extra) => Ok(self.sources.get(&extra.feed).await?.map(|(row, _)| row)),
            other => Ok(Some(other)),
        }
    }

    /// The job of a source whose slot has come, and when it is due: a feed may ask to be left alone for some hours.
    fn job(&self, source: Source, slot: Slot, now: Timestamp) -> Option<(Job, Timestamp)> {
        match source {
            Source::Feed(feed) if feed_is_due(&feed, slot, &self.rules, now) => {
                let at = postponed(&feed, &self.rules, now)?;
                Some((Job::Poll(PollJob { feed: feed.key, url: feed.url, deferrals: 0 }), at))
            }
            Source::Site(site) if site_is_due(&site, now) => {
                Some((Job::Discover(DiscoverJob::new(site.key, site.url)), now))
            }
            _ => None,
        }
    }
}
