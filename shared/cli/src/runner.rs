//! The local runner: hands jobs from the inbox to the stages, so many at a time, and applies their verdicts.

use crate::world::World;
use anyhow::Result;
use curlew_model::{ExtractJob, Job, Millis, Stage as Queue, Timestamp};
use curlew_ports::{Delivery, PortError, Receipt};
use curlew_stages::{StageError, Verdict};
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::task::JoinSet;

/// A job that is not done within this time is handed out again; longer than any visit may last.
const VISIBILITY: Millis = Millis::from_mins(15);
/// Pages that are extracted in one batch and share a segment.
const BATCH: usize = 32;
/// Batches of extraction at once; they need a core each and wait for nothing.
const BATCHES: usize = 2;
/// How long the runner waits before it looks again when nothing was due.
const LOOK_AGAIN: Millis = Millis(100);
/// A job that failed so often is given up.
const MAX_RECEIVES: u32 = 5;
/// First wait after a failure; doubled each time.
const RETRY: Millis = Millis::from_secs(2);
/// With nothing due within this time the crawl is idle.
const IDLE: Millis = Millis::from_secs(30);

/// What is said when the disk was full, or the like.
const NOT_ALL: &str = "some of the work could not be written down; start it again and it goes on where it was";

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
    visits: Arc<std::sync::atomic::AtomicUsize>,
    batches: Arc<std::sync::atomic::AtomicUsize>,
    /// The last verdict that could not be written, and when, by the monotonic clock: until its job is handed out again
    /// there is work that nothing tells of.
    unwritten: Option<(Millis, PortError)>,
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
        Runner { world, stop, tasks: JoinSet::new(), visits: Arc::default(), batches: Arc::default(), unwritten: None }
    }

    /// Runs jobs until the end, then lets those under way finish.
    ///
    /// # Errors
    /// If the jobs cannot be read, or if some of those that were run could not be written off, as when the disk is full: then
    /// not all is done, and the next run does it.
    pub(crate) async fn run(mut self, end: End) -> Result<()> {
        loop {
            if self.stop.load(Ordering::Relaxed) || self.past(end) {
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

    /// Visits under way may take up to their slice; what they do not finish is handed out again by the next run.
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
    }

    /// A task that failed at its own bookkeeping leaves its job to be handed out again.
    fn note(&mut self, done: Result<Result<(), PortError>, tokio::task::JoinError>) {
        let error = match done {
            Ok(Err(error)) => {
                tracing::warn!(%error, "a verdict could not be written; the job will run again");
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
            if deliveries.is_empty() {
                continue;
            }
            if stage == Queue::Extract {
                let slot = Slot::take(&self.batches);
                let world = self.world.clone();
                self.tasks.spawn(async move {
                    let _slot = slot;
                    extract(&world, deliveries).await
                });
            } else {
                for delivery in deliveries {
                    let slot = Slot::take(&self.visits);
                    let world = self.world.clone();
                    self.tasks.spawn(async move {
                        let _slot = slot;
                        one(&world, delivery).await
                    });
                }
            }
        }
        Ok(started)
    }
}

async fn one(world: &World, delivery: Delivery) -> Result<(), PortError> {
    let Delivery { receipt, job, receives } = delivery;
    let job = match job {
        Ok(job) => job,
        Err(why) => return bury(world, &receipt, &why).await,
    };
    let outcome = match AssertUnwindSafe(world.run(&job)).catch_unwind().await {
        Ok(outcome) => outcome,
        Err(_) => return failed(world, &receipt, receives, "the job panicked", true).await,
    };
    apply(world, &receipt, receives, Some(job), outcome).await
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
    let Ok(outcomes) = AssertUnwindSafe(world.extract.run_batch(&jobs)).catch_unwind().await else {
        // Next time each is run on its own, and only the one that panics fails.
        for (receipt, receives) in &receipts {
            failed(world, receipt, *receives, "the batch panicked", true).await?;
        }
        return Ok(());
    };
    for ((receipt, receives), outcome) in receipts.iter().zip(outcomes) {
        apply(world, receipt, *receives, None, outcome).await?;
    }
    Ok(())
}

async fn apply(
    world: &World,
    receipt: &Receipt,
    receives: u32,
    job: Option<Job>,
    outcome: Result<Verdict, StageError>,
) -> Result<(), PortError> {
    match outcome {
        Ok(Verdict::Done) => world.ports.inbox.ack(receipt).await,
        Ok(Verdict::Drop(reason)) => {
            tracing::debug!(reason, "a job was dropped");
            world.ports.inbox.ack(receipt).await
        }
        Ok(Verdict::Defer(until)) => match job {
            // A new message and not the old one put back: waiting is no failure and must not count as one.
            Some(job) => {
                world.ports.queue.send(&[(job, until)]).await?;
                world.ports.inbox.ack(receipt).await
            }
            None => world.ports.inbox.put_back(receipt, until).await,
        },
        Err(error) => failed(world, receipt, receives, &error.to_string(), error.is_transient()).await,
    }
}

async fn failed(
    world: &World,
    receipt: &Receipt,
    receives: u32,
    error: &str,
    try_again: bool,
) -> Result<(), PortError> {
    if try_again && receives < MAX_RECEIVES {
        tracing::warn!(error, receives, "a job failed and is tried again");
        return world.ports.inbox.put_back(receipt, retry_at(world.clock.now(), receives)).await;
    }
    tracing::error!(error, receives, "a job is given up");
    bury(world, receipt, error).await
}

fn retry_at(now: Timestamp, receives: u32) -> Timestamp {
    now + RETRY.saturating_mul(1 << receives.min(10))
}

async fn bury(world: &World, receipt: &Receipt, why: &str) -> Result<(), PortError> {
    world.ports.inbox.bury(receipt, why, world.clock.now()).await
}
