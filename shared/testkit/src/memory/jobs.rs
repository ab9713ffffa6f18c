//! In-memory queues.

use super::lock;
use crate::conformance::queue::SendRaw;
use async_trait::async_trait;
use curlew_model::{Job, Millis, QueueName, Timestamp};
use curlew_ports::{Dead, Delivery, Inbox, PortError, Queue, QueueCount, Receipt, Waiting};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use tokio::sync::Notify;

/// In-memory [`Queue`] and [`Inbox`].
#[derive(Debug, Default)]
pub struct MemoryJobs {
    state: Mutex<JobsState>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct JobsState {
    /// Ids are never reused, since receipts contain them.
    last_id: u64,
    jobs: BTreeMap<u64, StoredJob>,
    /// Ids of the waiting jobs by stage and due time, so that a receive reads only some of them.
    waiting: BTreeSet<(QueueName, Timestamp, u64)>,
    handed: BTreeSet<(QueueName, Timestamp, u64)>,
    dead: BTreeMap<u64, Dead>,
}

impl MemoryJobs {
    /// Sets the end of a job's visibility timeout, like SQS; the job stays in flight until then.
    pub fn hide(&self, receipt: &Receipt, until: Timestamp) {
        let mut state = lock(&self.state);
        if let Some(id) = state.find(receipt) {
            state.shift(id, until, true);
        }
    }

    /// Returns when a job has been put into a queue, so that callers need not poll.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Returns every message that is neither acknowledged nor dead-lettered, with its queue.
    pub fn left(&self) -> Vec<(QueueName, String)> {
        lock(&self.state).jobs.values().map(|kept| (kept.stage, kept.message.clone())).collect()
    }
}

#[derive(Debug)]
struct StoredJob {
    stage: QueueName,
    message: String,
    /// Due time, or the end of the visibility timeout while the job is in flight.
    due: Timestamp,
    handed_out: bool,
    receives: u32,
}

impl JobsState {
    fn take_dead(&mut self, receipt: &Receipt) -> Result<Dead, PortError> {
        let id = receipt.0.strip_prefix("dead-").and_then(|id| id.parse::<u64>().ok());
        id.and_then(|id| self.dead.remove(&id)).ok_or_else(|| PortError::NotFound(format!("the job {}", receipt.0)))
    }

    fn put(&mut self, stage: QueueName, message: String, due: Timestamp) {
        self.last_id += 1;
        self.waiting.insert((stage, due, self.last_id));
        self.jobs.insert(self.last_id, StoredJob { stage, message, due, handed_out: false, receives: 0 });
    }

    fn remove(&mut self, id: u64) -> Option<StoredJob> {
        let kept = self.jobs.remove(&id)?;
        let index = if kept.handed_out { &mut self.handed } else { &mut self.waiting };
        index.remove(&(kept.stage, kept.due, id));
        Some(kept)
    }

    /// Changes a job's due time, and whether it is in flight.
    fn shift(&mut self, id: u64, due: Timestamp, handed_out: bool) -> Option<&mut StoredJob> {
        let kept = self.jobs.get_mut(&id)?;
        let index = if kept.handed_out { &mut self.handed } else { &mut self.waiting };
        index.remove(&(kept.stage, kept.due, id));
        let index = if handed_out { &mut self.handed } else { &mut self.waiting };
        index.insert((kept.stage, due, id));
        (kept.due, kept.handed_out) = (due, handed_out);
        Some(kept)
    }

    /// Returns the ids of at most `max` due jobs of a stage, the earliest first.
    fn due(&self, stage: QueueName, now: Timestamp, max: usize) -> Vec<u64> {
        let span = (stage, Timestamp::MIN, 0)..=(stage, now, u64::MAX);
        let (waiting, handed) = (self.waiting.range(span.clone()).take(max), self.handed.range(span).take(max));
        let mut found: Vec<_> = waiting.chain(handed).map(|(_, due, id)| (*due, *id)).collect();
        found.sort_unstable();
        found.into_iter().take(max).map(|(_, id)| id).collect()
    }

    /// Returns the id of the job with this receipt; `None` if the receipt has expired.
    fn find(&self, receipt: &Receipt) -> Option<u64> {
        let (id, receives) = receipt.0.split_once('-')?;
        let (id, receives): (u64, u32) = (id.parse().ok()?, receives.parse().ok()?);
        self.jobs.get(&id).filter(|kept| kept.handed_out && kept.receives == receives).map(|_| id)
    }
}

#[async_trait]
impl SendRaw for MemoryJobs {
    async fn send_raw(&self, stage: QueueName, message: &str, due: Timestamp) -> Result<(), PortError> {
        lock(&self.state).put(stage, message.to_owned(), due);
        self.changed.notify_waiters();
        Ok(())
    }
}

#[async_trait]
impl Queue for MemoryJobs {
    async fn send(&self, jobs: &[(Job, Timestamp)]) -> Result<(), PortError> {
        let corrupt = |e: serde_json::Error| PortError::Corrupt { what: "a job".into(), why: e.to_string() };
        let mut state = lock(&self.state);
        for (job, due) in jobs {
            state.put(job.work.queue(), job.to_message().map_err(corrupt)?, *due);
        }
        self.changed.notify_waiters();
        Ok(())
    }
}

#[async_trait]
impl Inbox for MemoryJobs {
    async fn receive(
        &self,
        stage: QueueName,
        max: usize,
        visibility: Millis,
        now: Timestamp,
    ) -> Result<Vec<Delivery>, PortError> {
        let mut state = lock(&self.state);
        let mut deliveries = Vec::new();
        for id in state.due(stage, now, max) {
            let Some(kept) = state.shift(id, now + visibility, true) else { continue };
            kept.receives = kept.receives.saturating_add(1);
            let receipt = Receipt(format!("{id}-{}", kept.receives));
            deliveries.push(Delivery { receipt, job: Job::from_message(&kept.message), receives: kept.receives });
        }
        Ok(deliveries)
    }

    async fn ack(&self, receipt: &Receipt) -> Result<(), PortError> {
        let mut state = lock(&self.state);
        if let Some(id) = state.find(receipt) {
            state.remove(id);
        }
        Ok(())
    }

    async fn put_back(&self, receipt: &Receipt, due: Timestamp) -> Result<(), PortError> {
        let mut state = lock(&self.state);
        if let Some(id) = state.find(receipt) {
            state.shift(id, due, false);
        }
        self.changed.notify_waiters();
        Ok(())
    }

    async fn dead_letter(&self, receipt: &Receipt, error: &str, now: Timestamp) -> Result<(), PortError> {
        let mut state = lock(&self.state);
        let Some(id) = state.find(receipt) else { return Ok(()) };
        if let Some(kept) = state.remove(id) {
            let receipt = Receipt(format!("dead-{id}"));
            let dead = Dead { receipt, stage: kept.stage, message: kept.message, error: error.to_owned(), at: now };
            state.dead.insert(id, dead);
        }
        Ok(())
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, PortError> {
        let state = lock(&self.state);
        let first = |stage: &QueueName| {
            let span = (*stage, Timestamp::MIN, 0)..=(*stage, Timestamp::MAX, u64::MAX);
            state.waiting.range(span).next().map(|(_, due, _)| *due)
        };
        Ok(QueueName::ALL.iter().filter_map(first).min())
    }

    async fn counts(&self, now: Timestamp) -> Result<BTreeMap<QueueName, QueueCount>, PortError> {
        let state = lock(&self.state);
        let mut counts: BTreeMap<_, _> =
            QueueName::ALL.into_iter().map(|stage| (stage, QueueCount::default())).collect();
        for kept in state.jobs.values() {
            let count = counts.entry(kept.stage).or_default();
            match (kept.due <= now, kept.handed_out) {
                (true, _) => count.ready += 1,
                (false, false) => count.waiting += 1,
                (false, true) => count.in_flight += 1,
            }
        }
        state.dead.values().for_each(|dead| counts.entry(dead.stage).or_default().dead += 1);
        Ok(counts)
    }

    async fn waiting(&self, now: Timestamp, limit: usize) -> Result<Vec<Waiting>, PortError> {
        let state = lock(&self.state);
        let mut ids: Vec<_> =
            state.waiting.iter().filter(|(_, due, _)| *due > now).map(|(_, due, id)| (*due, *id)).collect();
        ids.sort_unstable();
        let kept = ids.iter().take(limit).filter_map(|(_, id)| state.jobs.get(id));
        Ok(kept.map(|kept| Waiting { job: Job::from_message(&kept.message), due: kept.due }).collect())
    }

    async fn dead(&self, limit: usize) -> Result<Vec<Dead>, PortError> {
        let state = lock(&self.state);
        let mut dead: Vec<_> = state.dead.iter().collect();
        dead.sort_by_key(|(id, dead)| Reverse((dead.at, **id)));
        Ok(dead.into_iter().take(limit).map(|(_, dead)| dead.clone()).collect())
    }

    async fn redrive(&self, receipt: &Receipt, now: Timestamp) -> Result<(), PortError> {
        let mut state = lock(&self.state);
        let dead = state.take_dead(receipt)?;
        state.put(dead.stage, dead.message, now);
        self.changed.notify_waiters();
        Ok(())
    }

    async fn discard(&self, receipt: &Receipt) -> Result<(), PortError> {
        lock(&self.state).take_dead(receipt).map(drop)
    }
}
