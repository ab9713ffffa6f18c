//! The local runner: passes jobs from the inbox to the stages, a bounded number at a time, and applies the verdicts.

mod lines;

use crate::interruption::unless_interrupted;
use crate::runner::lines::{InLine, Lines, Turn};
use crate::world::World;
use anyhow::{Error, Result, bail};
use curlew_app::program::Program;
use curlew_crawl::worker::{Mailbox, Worker};
use curlew_model::{Job, Millis, QueueName, Work};
use curlew_policy::address;
use curlew_policy::delivery::never_ends;
use curlew_policy::rules::BUSY_LONGEST;
use curlew_ports::stage::with_causes;
use curlew_ports::{Delivery, PortError, Ports, Receipt};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};

/// Time after which an unfinished job can be received again; longer than any visit may last.
const VISIBILITY: Millis = Millis::from_mins(15);
/// Maximum time that a job waits in line for its host key, so that the longest visit ends within [`VISIBILITY`].
const LONGEST_IN_LINE: Millis = Millis::from_mins(8);
/// Maximum number of pages that are extracted in one batch and share a segment.
const BATCH: usize = 32;
/// Maximum number of concurrent extraction batches; each keeps a core busy.
const BATCHES: usize = 2;
/// Minimum time between two extraction batches while visits are running, because each batch flushes a segment.
const GATHER_PAGES: Millis = Millis::from_secs(1);
/// Time to wait when no job was due; an idle server doubles it each time, up to [`LOOK_SELDOM`].
const LOOK_AGAIN: Millis = Millis(100);
const LOOK_SELDOM: Millis = Millis::from_secs(1);
/// Receive count from which a job is suspect and runs alone after a start: two processes in a row died with it.
const SUSPECT: u32 = 3;
/// The crawl is idle if no job is due within this time; jobs of a busy site wait for less.
const IDLE: Millis = Millis::from_mins(1);
const _: () = assert!(IDLE.0 > BUSY_LONGEST.0);

const NOT_ALL: &str = "some results could not be stored; start it again to continue";
const WORN_OUT: &str = "too many documents are still being parsed long after their time limit, and only a new process \
    is rid of them; start it again to continue";

#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// Ends if nothing is due within the next minute, or at this instant of the monotonic clock.
    Idle(Option<Millis>),
    Never,
}

pub(crate) struct Runner {
    world: Arc<World>,
    stop: Arc<AtomicBool>,
    /// True once running jobs may start no further call.
    ending: watch::Sender<bool>,
    tasks: JoinSet<Result<(), PortError>>,
    /// Queues that may still hold jobs of a crashed process. Jobs that it was running come first, and suspect jobs run
    /// alone, so that another crash counts against no other job.
    unsettled: BTreeSet<QueueName>,
    under_way: Arc<Mutex<BTreeMap<Receipt, Job>>>,
    lines: Lines,
    /// Counts running visits: each holds a clone; see [`under_way`]. The next two fields count alike.
    visits: Arc<()>,
    batches: Arc<()>,
    suspects: Arc<()>,
    /// Monotonic time at which the last extraction batch began; `None` if it was full, because more pages may wait.
    gathered_at: Option<Millis>,
    /// Time and error of the last verdict that could not be stored. Its job stays invisible for [`VISIBILITY`].
    unwritten: Option<(Millis, PortError)>,
}

/// Returns the number of tasks that hold a clone of one of the runner's counters.
fn under_way(counter: &Arc<()>) -> usize {
    Arc::strong_count(counter) - 1
}

impl Runner {
    /// Creates a runner that ends early once `stop` is set.
    pub(crate) fn new(world: Arc<World>, stop: Arc<AtomicBool>) -> Runner {
        Runner {
            world,
            stop,
            ending: watch::Sender::new(false),
            tasks: JoinSet::new(),
            unsettled: QueueName::ALL.into(),
            under_way: Arc::default(),
            lines: Lines::default(),
            visits: Arc::default(),
            batches: Arc::default(),
            suspects: Arc::default(),
            gathered_at: None,
            unwritten: None,
        }
    }

    /// Runs jobs until `end`, then lets running calls finish. Fails if jobs cannot be read, a verdict could not be
    /// stored (for example, on a full disk), or too many parsers overran their limit; the next run does the rest.
    pub(crate) async fn run(mut self, end: End) -> Result<()> {
        if self.world.config.paused {
            tracing::warn!("crawling is paused by the settings (`paused`); every job waits");
            while matches!(end, End::Never) && !self.stop.load(Ordering::Relaxed) {
                self.world.clock.sleep(LOOK_AGAIN).await;
            }
            return Ok(());
        }
        let mut wait = LOOK_AGAIN;
        let is_worn_out = loop {
            if self.world.memory.is_worn_out() {
                break true;
            }
            let is_over = matches!(end, End::Idle(Some(at)) if self.world.clock.monotonic() >= at);
            if is_over || self.stop.load(Ordering::Relaxed) {
                break false;
            }
            let started = self.start_what_is_due().await?;
            while let Some(done) = self.tasks.try_join_next() {
                self.note(done);
            }
            if started > 0 {
                wait = LOOK_AGAIN;
                continue;
            }
            let is_at_rest = self.tasks.is_empty() && self.lines.is_empty();
            if is_at_rest && matches!(end, End::Idle(_)) {
                let soon = self.world.clock.now() + IDLE;
                if self.world.ports.inbox.next_due().await?.is_none_or(|due| due > soon) {
                    break false;
                }
            }
            let rests = matches!(end, End::Never) && self.tasks.is_empty();
            tokio::select! {
                Some(done) = self.tasks.join_next() => self.note(done),
                () = self.world.clock.sleep(wait) => {}
            }
            wait = if rests { (wait + wait).min(LOOK_SELDOM) } else { LOOK_AGAIN };
        };
        self.finish().await;
        // The pool may have recovered since, but work was left undone because of it.
        if is_worn_out || self.world.memory.is_worn_out() {
            bail!(WORN_OUT);
        }
        let now = self.world.clock.monotonic();
        match self.unwritten {
            Some((at, error)) if at + VISIBILITY > now => Err(Error::new(error).context(NOT_ALL)),
            _ => Ok(()),
        }
    }

    /// Lets running calls finish and, unless `stop` is set, extracts the pages that they fetched. Sends the remaining
    /// jobs again as new messages, because an interruption must not count as a failure.
    async fn finish(&mut self) {
        self.ending.send_replace(true);
        let grace = self.world.clock.monotonic() + self.world.config.rules.call_time;
        while self.world.clock.monotonic() < grace {
            let takes_pages = !self.stop.load(Ordering::Relaxed) && !self.world.memory.is_worn_out();
            if takes_pages && self.unsettled.is_empty() {
                // Pages that cannot be received now are left for the next run.
                let _started = self.start(QueueName::Extract).await;
            }
            if self.tasks.is_empty() {
                break;
            }
            tokio::select! {
                Some(done) = self.tasks.join_next() => self.note(done),
                () = self.world.clock.sleep(LOOK_AGAIN) => {}
            }
        }
        self.tasks.abort_all();
        while self.tasks.join_next().await.is_some() {}
        let interrupted = std::mem::take(&mut *self.under_way.lock());
        for (receipt, job) in interrupted {
            if let Err(error) = send_again(&self.world, &receipt, vec![job]).await {
                let error = with_causes(&error);
                tracing::warn!(error, "an interrupted job could not be sent again; the next run finds it");
            }
        }
    }

    /// Records the end of a task. If the verdict could not be stored, the job will be received again.
    fn note(&mut self, done: Result<Result<(), PortError>, JoinError>) {
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
        for (turn, InLine { queue, delivery, since }) in self.lines.called() {
            started += 1;
            match delivery.job {
                Ok(job) if self.world.clock.monotonic().saturating_sub(since) > LONGEST_IN_LINE => {
                    send_again(&self.world, &delivery.receipt, vec![job]).await?;
                    self.under_way.lock().remove(&delivery.receipt);
                }
                job => self.spawn(queue, vec![Delivery { job, ..delivery }], Some(turn)),
            }
        }
        started += self.settle().await?;
        if !self.unsettled.is_empty() {
            return Ok(started);
        }
        // Removals come first, and work in progress is finished before more is started.
        for stage in [QueueName::Remove, QueueName::Extract, QueueName::Fetch, QueueName::Poll, QueueName::Discover] {
            started += self.start(stage).await?;
        }
        Ok(started)
    }

    /// Receives and starts due jobs of a queue, as many as there is room for. Returns their number.
    async fn start(&mut self, stage: QueueName) -> Result<usize, PortError> {
        let visits = under_way(&self.visits);
        let room = match stage {
            QueueName::Extract if under_way(&self.batches) >= BATCHES => 0,
            QueueName::Extract if gathers(visits, self.gathered_at, self.world.clock.monotonic()) => 0,
            QueueName::Extract => BATCH,
            _ => self.world.config.workers.saturating_sub(visits),
        };
        if room == 0 {
            return Ok(0);
        }
        let now = self.world.clock.now();
        let deliveries = self.world.ports.inbox.receive(stage, room, VISIBILITY, now).await?;
        let started = deliveries.len();
        if stage == QueueName::Extract && started > 0 {
            self.gathered_at = (started < room).then(|| self.world.clock.monotonic());
        }
        self.begin(stage, deliveries);
        Ok(started)
    }

    /// Starts received jobs, or puts them in line for their host key. A suspect job runs alone, without a line.
    fn begin(&mut self, stage: QueueName, deliveries: Vec<Delivery>) {
        let jobs = deliveries.iter().filter_map(|d| Some((d.receipt.clone(), d.job.as_ref().ok()?.clone())));
        self.under_way.lock().extend(jobs);
        if stage == QueueName::Extract {
            return self.spawn(stage, deliveries, None);
        }
        let groups = self.world.crawler.politeness.groups.clone();
        for delivery in deliveries {
            let waits = self.unsettled.is_empty() || delivery.receives < SUSPECT;
            let work = delivery.job.as_ref().ok().filter(|_| waits).map(|job| &job.work);
            let host = work.and_then(|work| address::host_key_of_work(work, &groups));
            let job = InLine { queue: stage, delivery, since: self.world.clock.monotonic() };
            let begins = if let Some(host) = host { self.lines.enter(&host, job) } else { Some((None, job)) };
            if let Some((turn, job)) = begins {
                self.spawn(stage, vec![job.delivery], turn);
            }
        }
    }

    /// Starts jobs of the unsettled queues up to the next suspect one; none while a suspect runs. Returns their number.
    async fn settle(&mut self) -> Result<usize, PortError> {
        let mut started = 0;
        while under_way(&self.suspects) == 0
            && let Some(stage) = self.unsettled.last().copied()
        {
            let now = self.world.clock.now();
            let deliveries = self.world.ports.inbox.receive(stage, 1, VISIBILITY, now).await?;
            started += deliveries.len();
            if deliveries.iter().all(|delivery| delivery.receives < SUSPECT) {
                self.unsettled.remove(&stage);
            }
            self.begin(stage, deliveries);
        }
        Ok(started)
    }

    /// Spawns an extraction batch, or one job of another queue.
    fn spawn(&mut self, stage: QueueName, deliveries: Vec<Delivery>, turn: Option<Turn>) {
        if deliveries.is_empty() {
            return;
        }
        let is_suspect = !self.unsettled.is_empty() && deliveries.iter().any(|d| d.receives >= SUSPECT);
        let counter = if stage == QueueName::Extract { &self.batches } else { &self.visits };
        let held = (counter.clone(), is_suspect.then(|| self.suspects.clone()), turn);
        let (world, under_way, is_ending) = (self.world.clone(), self.under_way.clone(), self.ending.subscribe());
        self.tasks.spawn(async move {
            let _held = held;
            let receipts: Vec<Receipt> = deliveries.iter().map(|delivery| delivery.receipt.clone()).collect();
            let job = run(&world, stage, deliveries, is_suspect);
            // An interrupted job stays in `under_way`, so that `finish` sends it again.
            let Some(done) = unless_interrupted(is_ending, job).await else { return Ok(()) };
            under_way.lock().retain(|receipt, _| !receipts.contains(receipt));
            done
        });
    }
}

/// Returns true if extraction waits for more pages: visits are running, and the last batch began a moment ago.
fn gathers(visits: usize, last: Option<Millis>, now: Millis) -> bool {
    visits > 0 && last.is_some_and(|last| now.saturating_sub(last) < GATHER_PAGES)
}

/// Runs jobs of one queue. Does not run a suspect visit of several pages, but sends it again as one job for each page.
async fn run(world: &World, stage: QueueName, deliveries: Vec<Delivery>, is_suspect: bool) -> Result<(), PortError> {
    let mut rest = Vec::with_capacity(deliveries.len());
    for delivery in deliveries {
        match &delivery.job {
            Ok(job @ Job { work: Work::Fetch(visit), .. })
                if is_suspect && visit.items.len() > 1 && never_ends(delivery.receives, 0).is_none() =>
            {
                tracing::warn!(
                    host = %visit.host,
                    pages = visit.items.len(),
                    "a visit that never ends is split into its pages"
                );
                let singles = visit.singles().map(|single| job.with(single).into_job());
                send_again(world, &delivery.receipt, singles.collect()).await?;
            }
            _ => rest.push(delivery),
        }
    }
    let Ports { inbox, queue, .. } = &world.ports;
    let mailbox = Mailbox { inbox: inbox.clone(), queue: queue.clone(), clock: world.clock.clone() };
    let stages: &Program = world;
    Worker { stages, queue: &mailbox, clock: world.clock.as_ref() }.deliver(stage, rest).await
}

/// Sends jobs as new messages, with new receive counts, and acknowledges the delivery that they came from.
async fn send_again(world: &World, receipt: &Receipt, jobs: Vec<Job>) -> Result<(), PortError> {
    let now = world.clock.now();
    let jobs: Vec<_> = jobs.into_iter().map(|job| (job, now)).collect();
    world.ports.queue.send(&jobs).await?;
    world.ports.inbox.ack(receipt).await
}

#[cfg(test)]
mod tests;
