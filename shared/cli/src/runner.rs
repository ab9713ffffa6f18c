//! The local runner: hands jobs from the inbox to the stages, so many at a time, and applies their verdicts.

use crate::world::World;
use anyhow::Result;
use curlew_model::{ExtractJob, Job, Millis, Stage as Queue, Timestamp, VisitJob};
use curlew_policy::delivery::{AfterFailure, after_failure, never_ends};
use curlew_ports::{Delivery, PortError, Receipt};
use curlew_stages::stage::{StageError, Verdict};
use curlew_wiring::{said_in_panic, with_causes};
use futures::FutureExt;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::JoinSet;

/// A job that is not done within this time is handed out again; longer than any visit may last.
const VISIBILITY: Millis = Millis::from_mins(15);
/// Pages that are extracted in one batch and share a segment.
const BATCH: usize = 32;
/// Batches of extraction at once; they need a core each and wait for nothing.
const BATCHES: usize = 2;
/// How long the runner waits before it looks again when nothing was due.
const LOOK_AGAIN: Millis = Millis(100);
/// After a start, a job that was handed out this often runs alone: two processes in a row have died with it.
const SUSPECT: u32 = 3;
/// With nothing due within this time the crawl is idle.
const IDLE: Millis = Millis::from_secs(30);

/// What is said when the disk was full, or the like.
const NOT_ALL: &str = "some of the work could not be written down; start it again and it goes on where it was";
/// What is said when the pool is worn out.
const WORN_OUT: &str = "too many documents are still being parsed long after their limit, which only a new process is rid of; start it again and it goes on where it was";

/// When to end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// When nothing is due within the next 30 seconds, or at this instant of the monotonic clock.
    Idle(Option<Millis>),
    /// Only when told to stop.
    Never,
}

/// Runs jobs until the end.
pub(crate) struct Runner {
    world: Arc<World>,
    stop: Arc<AtomicBool>,
    tasks: JoinSet<Result<(), PortError>>,
    /// Queues that may still hold jobs of a process that died: those that it had in hand come first, and those that may have
    /// killed it run alone, so that no other job is counted as handed out when they do so again.
    unsettled: BTreeSet<Queue>,
    under_way: Arc<UnderWay>,
    visits: Arc<std::sync::atomic::AtomicUsize>,
    batches: Arc<std::sync::atomic::AtomicUsize>,
    suspects: Arc<std::sync::atomic::AtomicUsize>,
    /// The last verdict that could not be written, and when, by the monotonic clock: until its job is handed out again
    /// there is work that nothing tells of.
    unwritten: Option<(Millis, PortError)>,
}

/// Jobs that were handed out and have not ended.
#[derive(Default)]
struct UnderWay(Mutex<BTreeMap<Receipt, Job>>);

impl UnderWay {
    fn jobs(&self) -> MutexGuard<'_, BTreeMap<Receipt, Job>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, deliveries: &[Delivery]) {
        let jobs = deliveries.iter().filter_map(|d| Some((d.receipt.clone(), d.job.as_ref().ok()?.clone())));
        self.jobs().extend(jobs);
    }
}

/// Counts a task while it runs, panics included.
struct Slot(Arc<std::sync::atomic::AtomicUsize>);

impl Slot {
    fn take(counter: &Arc<std::sync::atomic::AtomicUsize>) -> Slot {
        counter.fetch_add(1, Ordering::Relaxed);
        Slot(counter.clone())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Runner {
    /// A runner that ends early once `stop` is set.
    pub(crate) fn new(world: Arc<World>, stop: Arc<AtomicBool>) -> Runner {
        Runner {
            world,
            stop,
            tasks: JoinSet::new(),
            unsettled: Queue::ALL.into(),
            under_way: Arc::default(),
            visits: Arc::default(),
            batches: Arc::default(),
            suspects: Arc::default(),
            unwritten: None,
        }
    }

    /// Runs jobs until the end, then lets those under way finish.
    ///
    /// # Errors
    /// If the jobs cannot be read, or if some of those that were run could not be written off, as when the disk is full: then
    /// not all is done, and the next run does it.
    pub(crate) async fn run(mut self, end: End) -> Result<()> {
        loop {
            let is_worn_out = self.world.memory.is_worn_out();
            if self.stop.load(Ordering::Relaxed) || self.past(end) || is_worn_out {
                break;
            }
            let started = self.start_what_is_due().await?;
            while let Some(done) = self.tasks.try_join_next() {
                self.note(done);
            }
            if started > 0 {
                continue;
            }
            if self.tasks.is_empty() && matches!(end, End::Idle(_)) && self.is_idle().await? {
                break;
            }
            tokio::select! {
                Some(done) = self.tasks.join_next() => self.note(done),
                () = self.world.clock.sleep(LOOK_AGAIN) => {}
            }
        }
        self.finish().await;
        if self.world.memory.is_worn_out() {
            anyhow::bail!(WORN_OUT);
        }
        let now = self.world.clock.monotonic();
        match self.unwritten {
            Some((at, error)) if at + VISIBILITY > now => Err(anyhow::Error::new(error).context(NOT_ALL)),
            _ => Ok(()),
        }
    }

    fn past(&self, end: End) -> bool {
        matches!(end, End::Idle(Some(at)) if self.world.clock.monotonic() >= at)
    }

    async fn is_idle(&self) -> Result<bool, PortError> {
        let soon = self.world.clock.now() + IDLE;
        Ok(self.world.ports.inbox.next_due().await?.is_none_or(|due| due > soon))
    }

    /// Visits under way may take up to their slice; what they do not finish is sent again for the next run. As new messages:
    /// to be interrupted is no failure and must not count as one.
    async fn finish(&mut self) {
        let grace = self.world.clock.monotonic() + self.world.config.rules.call_time;
        while !self.tasks.is_empty() && self.world.clock.monotonic() < grace {
            tokio::select! {
                Some(done) = self.tasks.join_next() => self.note(done),
                () = self.world.clock.sleep(LOOK_AGAIN) => {}
            }
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
        }
        self.tasks.abort_all();
        while self.tasks.join_next().await.is_some() {}
        let interrupted = std::mem::take(&mut *self.under_way.jobs());
        let (ports, now) = (&self.world.ports, self.world.clock.now());
        for (receipt, job) in interrupted {
            let sent = async {
                ports.queue.send(&[(job, now)]).await?;
                ports.inbox.ack(&receipt).await
            };
            if let Err(error) = sent.await {
                tracing::warn!(
                    error = with_causes(&error),
                    "an interrupted job could not be sent again; the next run finds it"
                );
            }
        }
    }

    /// A task that failed at its own bookkeeping leaves its job to be handed out again.
    fn note(&mut self, done: Result<Result<(), PortError>, tokio::task::JoinError>) {
        let error = match done {
            Ok(Err(error)) => {
                tracing::warn!(error = with_causes(&error), "a verdict could not be written; the job will run again");
                error
            }
            Err(panic) if panic.is_panic() => {
                tracing::error!(error = %panic, "a job panicked; it will run again");
                PortError::Unavailable { what: panic.to_string(), source: None }
            }
            Ok(Ok(())) | Err(_) => return,
        };
        self.unwritten = Some((self.world.clock.monotonic(), error));
    }

    async fn start_what_is_due(&mut self) -> Result<usize, PortError> {
        let mut started = 0;
        if !self.unsettled.is_empty() {
            started += self.settle().await?;
        }
        if !self.unsettled.is_empty() {
            return Ok(started);
        }
        // What is furthest along goes first, so that work in hand is finished before more is taken on.
        for stage in [Queue::Extract, Queue::Fetch, Queue::Poll, Queue::Discover] {
            let room = match stage {
                Queue::Extract if self.batches.load(Ordering::Relaxed) < BATCHES => BATCH,
                Queue::Extract => 0,
                _ => self.world.config.workers.saturating_sub(self.visits.load(Ordering::Relaxed)),
            };
            if room == 0 {
                continue;
            }
            let now = self.world.clock.now();
            let deliveries = self.world.ports.inbox.receive(stage, room, VISIBILITY, now).await?;
            started += deliveries.len();
            self.spawn(stage, deliveries);
        }
        Ok(started)
    }

    /// Starts the next job that may have killed the process before, unless one is running; says how many jobs were started.
    async fn settle(&mut self) -> Result<usize, PortError> {
        let mut started = 0;
        while self.suspects.load(Ordering::Relaxed) == 0
            && let Some(stage) = self.unsettled.last().copied()
        {
            let now = self.world.clock.now();
            let deliveries = self.world.ports.inbox.receive(stage, 1, VISIBILITY, now).await?;
            started += deliveries.len();
            if deliveries.iter().all(|delivery| delivery.receives < SUSPECT) {
                self.unsettled.remove(&stage);
            }
            self.spawn(stage, deliveries);
        }
        Ok(started)
    }

    /// Starts jobs of a queue, those of extraction as one batch.
    fn spawn(&mut self, stage: Queue, deliveries: Vec<Delivery>) {
        if deliveries.is_empty() {
            return;
        }
        let is_suspect = !self.unsettled.is_empty() && deliveries.iter().any(|d| d.receives >= SUSPECT);
        self.under_way.add(&deliveries);
        let together = if stage == Queue::Extract { deliveries.len() } else { 1 };
        let counter = if stage == Queue::Extract { &self.batches } else { &self.visits };
        let mut deliveries = deliveries.into_iter();
        loop {
            let some: Vec<Delivery> = deliveries.by_ref().take(together).collect();
            if some.is_empty() {
                break;
            }
            let (slot, world, under_way) = (Slot::take(counter), self.world.clone(), self.under_way.clone());
            let suspect = is_suspect.then(|| Slot::take(&self.suspects));
            self.tasks.spawn(async move {
                let _slots = (slot, suspect);
                let receipts: Vec<Receipt> = some.iter().map(|delivery| delivery.receipt.clone()).collect();
                let done = run(&world, some, is_suspect).await;
                under_way.jobs().retain(|receipt, _| !receipts.contains(receipt));
                done
            });
        }
    }
}

/// Runs jobs of one queue; those of extraction together. Of a suspect, which two processes died with, no more than one page
/// is visited.
async fn run(world: &World, deliveries: Vec<Delivery>, is_suspect: bool) -> Result<(), PortError> {
    let mut rest = Vec::with_capacity(deliveries.len());
    for delivery in deliveries {
        match (never_ends(delivery.receives), &delivery.job) {
            (Some(why), _) => {
                tracing::error!(error = why, receives = delivery.receives, "a job is given up");
                bury(world, &delivery.receipt, &why).await?;
            }
            (None, Ok(Job::Fetch(visit))) if is_suspect && visit.items.len() > 1 => {
                split(world, &delivery.receipt, visit).await?;
            }
            (None, _) => rest.push(delivery),
        }
    }
    match <[Delivery; 1]>::try_from(rest) {
        Ok([delivery]) => one(world, delivery).await,
        Err(rest) if rest.is_empty() => Ok(()),
        Err(rest) => extract(world, rest).await,
    }
}

/// Sends the pages of a visit one by one, so that only the one that kills the process is given up in the end.
async fn split(world: &World, receipt: &Receipt, visit: &VisitJob) -> Result<(), PortError> {
    tracing::warn!(host = %visit.host, pages = visit.items.len(), "a visit that never ends is split into its pages");
    let now = world.clock.now();
    let single = |item| (Job::Fetch(VisitJob { items: vec![item], ..visit.clone() }), now);
    let jobs: Vec<_> = visit.items.iter().cloned().map(single).collect();
    world.ports.queue.send(&jobs).await?;
    world.ports.inbox.ack(receipt).await
}

async fn one(world: &World, delivery: Delivery) -> Result<(), PortError> {
    let Delivery { receipt, job, receives } = delivery;
    let job = match job {
        Ok(job) => job,
        Err(why) => return bury(world, &receipt, &why).await,
    };
    let outcome = match AssertUnwindSafe(world.run(&job)).catch_unwind().await {
        Ok(outcome) => outcome,
        Err(panic) => {
            let why = said_in_panic(panic.as_ref());
            return failed(world, &receipt, receives, &why, (true, Millis::ZERO)).await;
        }
    };
    apply(world, &receipt, receives, job, outcome).await
}

async fn extract(world: &World, deliveries: Vec<Delivery>) -> Result<(), PortError> {
    let mut jobs: Vec<ExtractJob> = Vec::with_capacity(deliveries.len());
    let mut receipts = Vec::with_capacity(deliveries.len());
    let alone = deliveries.iter().any(|d| d.receives > 1);
    if alone {
        // Something in this batch failed before: each on its own, so that it fails alone.
        for delivery in deliveries {
            one(world, delivery).await?;
        }
        return Ok(());
    }
    for delivery in deliveries {
        match delivery.job {
            Ok(Job::Extract(job)) => {
                jobs.push(*job);
                receipts.push((delivery.receipt, delivery.receives));
            }
            Ok(_) => bury(world, &delivery.receipt, "the job is in the wrong queue").await?,
            Err(why) => bury(world, &delivery.receipt, &why).await?,
        }
    }
    let outcomes = match AssertUnwindSafe(world.extract.run_batch(&jobs)).catch_unwind().await {
        Ok(outcomes) => outcomes,
        Err(panic) => {
            // Next time each is run on its own, and only the one that panics fails.
            let why = said_in_panic(panic.as_ref());
            for (receipt, receives) in &receipts {
                failed(world, receipt, *receives, &why, (true, Millis::ZERO)).await?;
            }
            return Ok(());
        }
    };
    for (((receipt, receives), outcome), job) in receipts.iter().zip(outcomes).zip(jobs) {
        apply(world, receipt, *receives, Job::Extract(Box::new(job)), outcome).await?;
    }
    Ok(())
}

async fn apply(
    world: &World,
    receipt: &Receipt,
    receives: u32,
    job: Job,
    outcome: Result<Verdict, StageError>,
) -> Result<(), PortError> {
    match outcome {
        Ok(Verdict::Done) => world.ports.inbox.ack(receipt).await,
        Ok(Verdict::Drop(reason)) => {
            tracing::debug!(reason, "a job was dropped");
            world.ports.inbox.ack(receipt).await
        }
        Ok(Verdict::Defer(until)) => defer(world, receipt, job, until).await,
        // As when all file descriptors are in use: others give theirs back, and the job itself has not failed.
        Err(StageError::Port(PortError::Throttled { retry_after })) => {
            tracing::warn!(wait_ms = retry_after.0, "the store asks to slow down; a job waits");
            defer(world, receipt, job, world.clock.now() + retry_after).await
        }
        Err(error) => {
            let how = (error.is_transient(), error.retry_after());
            failed(world, receipt, receives, &with_causes(&error), how).await
        }
    }
}

/// Hands a job out again later. As a new message, and not the old one put back: waiting is no failure and must not count as
/// one.
async fn defer(world: &World, receipt: &Receipt, job: Job, until: Timestamp) -> Result<(), PortError> {
    world.ports.queue.send(&[(job, until)]).await?;
    world.ports.inbox.ack(receipt).await
}

async fn failed(
    world: &World,
    receipt: &Receipt,
    receives: u32,
    error: &str,
    (is_transient, asked): (bool, Millis),
) -> Result<(), PortError> {
    match after_failure(receives, is_transient, asked, world.clock.now()) {
        AfterFailure::Retry(at) => {
            tracing::warn!(error, receives, "a job failed and is tried again");
            world.ports.inbox.put_back(receipt, at).await
        }
        AfterFailure::DeadLetter => {
            tracing::error!(error, receives, "a job is given up");
            bury(world, receipt, error).await
        }
    }
}

async fn bury(world: &World, receipt: &Receipt, why: &str) -> Result<(), PortError> {
    world.ports.inbox.bury(receipt, why, world.clock.now()).await
}

#[cfg(test)]
mod tests;
