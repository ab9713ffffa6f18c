//! Runs the messages of one invocation: reads them, gives their jobs to the stage, and applies the verdicts.
//!
//! **Invariants.** Every message ends in exactly one way: its job is done, it was sent again, it was given up with a
//! reason, or it is reported as failed, and then SQS hands it out again. A message that is not known to have ended is
//! reported as failed. Nothing is begun that may outlast the invocation, and nothing runs on after [`Batch::run`] has
//! returned.

use crate::plan::{Plan, Task, chunks, length, plan, unpacked};
use async_trait::async_trait;
use curlew_aws::ReadError;
use curlew_crawl::worker::{Settlement, Stages, Worker, settle_failure};
use curlew_model::{Job, Millis, QueueName, Timestamp, Work};
use curlew_policy::address::{self, HostGroups};
use curlew_policy::delivery::never_ends;
use curlew_policy::rules::Rules;
use curlew_ports::stage::{StageError, with_causes};
use curlew_ports::{Clock, PortError};
use futures::StreamExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::JoinSet;
use tracing::Instrument;

/// Kept for the end of an invocation: sending again what waits, and the answer.
pub(crate) const LAST_THINGS: Millis = Millis::from_secs(3);
/// The most time that one page takes to be extracted and written.
const PAGE_TIME: Millis = Millis(500);
/// The most time that a removal or an owner's request takes before it is cut off and tried again: a report or a removal
/// of a whole host reads every row of a page.
const REMOVAL_TIME: Millis = Millis::from_secs(30);
/// Removals under way at once. Each changes the manifest of its year by compare-and-swap, so more would only be in each
/// other's way.
const REMOVALS_AT_ONCE: usize = 4;
/// Messages read at once; only those whose job lies in the bucket cost a call.
const READS: usize = 16;
/// Number of waiting jobs that are sent again together: the most that one call to SQS takes.
const SEND_AT: usize = 10;

/// A message as SQS hands it over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// Names it in the answer.
    pub(crate) id: String,
    /// Names this delivery.
    pub(crate) handle: String,
    /// The job, or a claim check for it.
    pub(crate) body: String,
    /// Number of times it was handed out, this time included.
    pub(crate) receives: u32,
}

/// The queue as a batch sees it.
#[async_trait]
pub(crate) trait MessageQueue: Send + Sync {
    /// Returns the job of a message.
    async fn read(&self, message: &Message) -> Result<Job, ReadError>;
    /// Sends jobs, each to be delivered no earlier than its instant.
    async fn send(&self, jobs: &[(Job, Timestamp)]) -> Result<(), PortError>;
    /// A message that is going to be reported as failed is handed out again at `due`.
    async fn put_back(&self, message: &Message, due: Timestamp) -> Result<(), PortError>;
    /// A message stays hidden until `until` at most, also if this process says nothing more.
    async fn hide(&self, message: &Message, until: Timestamp) -> Result<(), PortError>;
    /// Number of processes that have died while they ran this message's job and nothing else.
    async fn deaths(&self, message: &Message) -> Result<u32, PortError>;
    /// Keeps the number of these processes.
    async fn note_deaths(&self, message: &Message, deaths: u32) -> Result<(), PortError>;
    /// Deletes a message whose job is done, before the invocation ends.
    async fn delete(&self, message: &Message) -> Result<(), PortError>;
    /// Copies a message to the dead ones, with the reason.
    async fn give_up(&self, message: &Message, why: &str, now: Timestamp) -> Result<(), PortError>;
}

#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    /// Lanes under way at once.
    pub(crate) slots: usize,
    /// The numbers of politeness.
    pub(crate) rules: Rules,
    /// The grouping of hosts that count as one.
    pub(crate) groups: HostGroups,
    /// End of the invocation, by the monotonic clock.
    pub(crate) deadline: Millis,
}

impl Bounds {
    /// The time that must be left for the smallest piece of a stage's work to be begun.
    pub(crate) fn least_time(&self, stage: QueueName) -> Millis {
        LAST_THINGS + self.need(stage, 1)
    }

    /// Returns the longest time that this number of jobs takes. A visit lasts no longer than its lease: slice, one
    /// call, margin.
    fn need(&self, stage: QueueName, jobs: u64) -> Millis {
        match stage {
            QueueName::Extract => PAGE_TIME.saturating_mul(jobs),
            QueueName::Remove => REMOVAL_TIME,
            QueueName::Discover | QueueName::Poll | QueueName::Fetch => self.rules.lease_length(),
        }
    }

    /// Returns the maximum length of the lease that a job of this stage may hold.
    fn lease(&self, stage: QueueName) -> Millis {
        match stage {
            QueueName::Extract | QueueName::Remove => Millis::ZERO,
            QueueName::Discover | QueueName::Poll | QueueName::Fetch => self.rules.lease_length(),
        }
    }
}

/// Counts of the outcomes of an invocation's messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// All of them.
    pub(crate) messages: usize,
    pub(crate) done: usize,
    /// Sent again, for later or since there was no time.
    pub(crate) deferred: usize,
    /// Ids of those that SQS has to hand out again.
    pub(crate) failures: Vec<String>,
    pub(crate) given_up: usize,
    /// Lanes that were under way at once, at most.
    pub(crate) slots: usize,
    /// The time that lanes took, added up.
    pub(crate) busy: Millis,
    /// From the start of the first lane to the end of the last one.
    pub(crate) span: Millis,
}

impl Summary {
    /// Returns the used part of the slots' time, in percent; `None` if no slot was used.
    pub(crate) fn utilisation(&self) -> Option<u64> {
        let offered = self.span.0.saturating_mul(self.slots as u64);
        (offered > 0).then(|| self.busy.0.saturating_mul(100) / offered)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Under way. If it stays so, its message is handed out again.
    Begun,
    Waiting,
    Done,
    Deferred,
    Failed,
    GivenUp,
}

/// Outcomes of the messages so far.
#[derive(Debug, Default)]
struct Board {
    outcomes: Vec<Option<Outcome>>,
    waiting: Vec<Waiting>,
    busy: Millis,
}

/// A job to be sent again.
#[derive(Debug)]
struct Waiting {
    n: usize,
    due: Timestamp,
    /// The job as its worker leaves it, which knows what came of it; `None` if it was not begun.
    job: Option<Box<Job>>,
}

/// The messages of one invocation, read.
pub(crate) struct Batch {
    stage: QueueName,
    queue: Arc<dyn MessageQueue>,
    clock: Arc<dyn Clock>,
    bounds: Bounds,
    messages: Vec<Message>,
    /// Number of processes that each message's job has ended.
    deaths: Vec<u32>,
    /// `None`: the message has ended already, since it cannot be read.
    jobs: Vec<Option<Job>>,
    board: Mutex<Board>,
}

impl Batch {
    /// Reads messages. Those that are no jobs of this stage are given up at once.
    pub(crate) async fn open(
        stage: QueueName,
        messages: Vec<Message>,
        queue: Arc<dyn MessageQueue>,
        clock: Arc<dyn Clock>,
        bounds: Bounds,
    ) -> Batch {
        let board = Mutex::new(Board { outcomes: vec![None; messages.len()], ..Board::default() });
        let reading = futures::stream::iter(messages.iter().map(|message| async {
            let deaths = alone::deaths(queue.as_ref(), message).await;
            match never_ends(message.receives, deaths) {
                Some(why) => (deaths, Err(ReadError::Unreadable(why))),
                None => (deaths, queue.read(message).await.and_then(|job| of_stage(job, stage))),
            }
        }));
        let (deaths, read): (Vec<u32>, Vec<Result<Job, ReadError>>) = reading.buffered(READS).unzip().await;
        let jobs = Vec::with_capacity(read.len());
        let mut batch = Batch { stage, queue, clock, bounds, messages, deaths, jobs, board };
        for (n, read) in read.into_iter().enumerate() {
            let job = match read {
                Ok(job) => Some(job),
                Err(ReadError::Unreadable(why)) => {
                    batch.give_up(n, &why).await;
                    None
                }
                Err(ReadError::Port(error)) => {
                    let error = StageError::Port(error);
                    let (receives, now, why) = (batch.messages[n].receives, batch.clock.now(), with_causes(&error));
                    let settled = settle_failure(&batch, &n, receives, None, &why, error.kind(), now).await;
                    batch.noted(settled);
                    None
                }
            };
            batch.jobs.push(job);
        }
        batch
    }

    /// Plans what is run, in which order, and with which turn.
    pub(crate) fn plan(&self) -> Plan {
        let readable = (0..self.jobs.len()).filter(|n| self.jobs[*n].is_some());
        let (mut alone, readable): (Vec<usize>, Vec<usize>) = readable.partition(|n| self.messages[*n].receives > 1);
        // Jobs that ended no process yet come first, and so are done before one that will end this process is begun
        // again.
        alone.sort_by_key(|n| (self.deaths[*n], &self.messages[*n].id));
        if self.stage == QueueName::Extract {
            return Plan { alone, lanes: self.chunks(&readable), turn: self.bounds.rules.slice };
        }
        let jobs = readable.iter().filter_map(|n| self.jobs[*n].as_ref().map(|job| (*n, job)));
        let task = |(n, job)| Task { lane: self.lane_of(n, job), length: length(job, &self.bounds.rules) };
        let tasks: Vec<Task> = jobs.map(task).collect();
        let mut plan = plan(&tasks, self.bounds.slots, self.bounds.rules.slice);
        for lane in &mut plan.lanes {
            for n in lane {
                *n = readable[*n];
            }
        }
        Plan { alone, ..plan }
    }

    /// Returns the name of the lane of a job: the host key whose lease it needs. A job without one has a lane of its
    /// own.
    fn lane_of(&self, n: usize, job: &Job) -> String {
        match &job.work {
            // Each runs many at once itself.
            Work::Polls(_) => "polls".to_owned(),
            work => address::host_key_of_work(work, &self.bounds.groups)
                .map_or_else(|| format!("#{n}"), |key| key.to_string()),
        }
    }

    /// Pages that share a segment.
    fn chunks(&self, readable: &[usize]) -> Vec<Vec<usize>> {
        // Half of the time is enough for a chunk, so that a late one can still begin.
        let time = self.bounds.deadline.saturating_sub(LAST_THINGS).saturating_sub(self.clock.monotonic());
        let most = usize::try_from(time.0 / PAGE_TIME.0 / 2).unwrap_or(1);
        let sizes: Vec<usize> = readable.iter().map(|n| self.jobs[*n].as_ref().map_or(0, unpacked)).collect();
        chunks(&sizes, most).into_iter().map(|chunk| chunk.into_iter().map(|n| readable[n]).collect()).collect()
    }

    /// Sends every job again for `until`, without having begun it.
    pub(crate) async fn put_off(self, until: Timestamp) -> Summary {
        for n in 0..self.jobs.len() {
            if self.jobs[n].is_some() {
                self.wait(n, until, None);
            }
        }
        self.send_again(1).await;
        self.summary(0, Millis::ZERO)
    }

    /// Runs what was planned.
    pub(crate) async fn run(self, plan: Plan, stages: Arc<dyn Stages>) -> Summary {
        let began = self.clock.monotonic();
        // Extraction needs a core and waits for little; two chunks at once would only share it.
        let slots = match self.stage {
            QueueName::Extract => 1,
            QueueName::Remove => self.bounds.slots.min(REMOVALS_AT_ONCE),
            QueueName::Discover | QueueName::Poll | QueueName::Fetch => self.bounds.slots,
        }
        .min(plan.lanes.len());
        let slots = slots.max(usize::from(!plan.alone.is_empty()));
        let this = Arc::new(self);
        let stop = this.bounds.deadline.saturating_sub(LAST_THINGS);
        let mut lanes = plan.lanes.into_iter();
        let mut tasks = JoinSet::new();
        this.alone(stages.as_ref(), &plan.alone, plan.turn, stop).await;
        loop {
            while tasks.len() < slots
                && let Some(lane) = lanes.next()
            {
                if this.fits(&lane) {
                    let (this, stages) = (this.clone(), stages.clone());
                    tasks.spawn(async move { this.lane(stages.as_ref(), &lane, plan.turn).await }.in_current_span());
                } else {
                    this.leave(&lane);
                }
            }
            if tasks.is_empty() {
                break;
            }
            tokio::select! {
                _ = tasks.join_next() => {}
                () = this.clock.sleep(stop.saturating_sub(this.clock.monotonic())) => {
                    tracing::warn!(lanes = tasks.len(), "out of time; running jobs are cancelled and will be retried");
                    tasks.shutdown().await;
                    this.leave(&this.numbers_of(None));
                    break;
                }
            }
            this.send_again(SEND_AT).await;
        }
        let span = this.clock.monotonic().saturating_sub(began);
        this.put_back_cut_off().await;
        this.send_again(1).await;
        this.summary(slots, span)
    }

    async fn lane(&self, stages: &dyn Stages, members: &[usize], turn: Millis) {
        let _busy = Busy { batch: self, since: self.clock.monotonic() };
        if self.stage == QueueName::Extract && members.len() > 1 {
            return self.chunk(stages, members).await;
        }
        let turn_ends = self.clock.monotonic() + turn;
        for (at, n) in members.iter().enumerate() {
            let turn_over = at > 0 && self.clock.monotonic() >= turn_ends;
            if turn_over || !self.fits(&[*n]) {
                return self.leave(&members[at..]);
            }
            self.one(stages, *n).await;
        }
    }

    fn worker<'a>(&'a self, stages: &'a dyn Stages) -> Worker<'a, Batch> {
        Worker { stages, queue: self, clock: self.clock.as_ref() }
    }

    async fn one(&self, stages: &dyn Stages, n: usize) {
        let Some(job) = &self.jobs[n] else { return };
        self.note(n, Outcome::Begun);
        let settled = self.worker(stages).run(&n, self.messages[n].receives, job).await;
        self.noted(settled);
    }

    async fn chunk(&self, stages: &dyn Stages, members: &[usize]) {
        let job_of = |n: &usize| match &self.jobs[*n] {
            Some(job @ Job { work: Work::Extract(page), .. }) => {
                Some((*n, self.messages[*n].receives, job.with(page.clone())))
            }
            _ => None,
        };
        let pages = members.iter().filter_map(job_of).collect();
        members.iter().for_each(|n| self.note(*n, Outcome::Begun));
        let left = self.worker(stages).run_together(pages, || self.fits(&[0])).await;
        if let Some(left) = self.noted(left) {
            self.leave(&members[members.len() - left..]);
        }
    }

    /// A message that could not be settled has no outcome, and is reported as failed.
    fn noted<T>(&self, settled: Result<T, PortError>) -> Option<T> {
        settled.inspect_err(|error| tracing::warn!(error = %with_causes(error), "a message could not be settled")).ok()
    }

    async fn give_up(&self, n: usize, why: &str) {
        let message = &self.messages[n];
        tracing::error!(message = %message.id, error = why, receives = message.receives, "a job is given up");
        match self.queue.give_up(message, why, self.clock.now()).await {
            Ok(()) => self.note(n, Outcome::GivenUp),
            Err(error) => {
                let error = with_causes(&error);
                tracing::warn!(message = %message.id, error, "a message could not be given up; it runs again");
                self.note(n, Outcome::Failed);
            }
        }
    }

    /// True if these may begin now and end in time.
    fn fits(&self, members: &[usize]) -> bool {
        let need = match self.stage {
            QueueName::Extract => self.bounds.need(self.stage, members.len() as u64),
            _ => self.bounds.need(self.stage, 1),
        };
        self.clock.monotonic() + need + LAST_THINGS <= self.bounds.deadline
    }

    /// Returns what cannot be begun any more to the queue, due at once.
    fn leave(&self, members: &[usize]) {
        let now = self.clock.now();
        for n in members {
            self.wait(*n, now, None);
        }
    }

    fn wait(&self, n: usize, due: Timestamp, job: Option<Box<Job>>) {
        let mut board = self.board();
        board.waiting.push(Waiting { n, due, job });
        board.outcomes[n] = Some(Outcome::Waiting);
    }

    /// Sends the waiting jobs in the order of arrival, if there are at least this many. A new message and not the old
    /// one put back: waiting is no failure and must not count as one. The new message is a first delivery, so the job
    /// itself says if an earlier one did not come to its end.
    async fn send_again(&self, at_least: usize) {
        let mut waiting = match self.board() {
            mut board if board.waiting.len() >= at_least => std::mem::take(&mut board.waiting),
            _ => return,
        };
        waiting.sort_unstable_by_key(|waiting| (waiting.n, waiting.due));
        let job_of = |waiting: &mut Waiting| match waiting.job.take() {
            Some(job) => Some(*job),
            None if self.messages[waiting.n].receives > 1 => self.jobs[waiting.n].clone().map(Job::again),
            None => self.jobs[waiting.n].clone(),
        };
        let jobs: Vec<(Job, Timestamp)> =
            waiting.iter_mut().filter_map(|waiting| Some((job_of(waiting)?, waiting.due))).collect();
        let waiting: Vec<(usize, Timestamp)> = waiting.into_iter().map(|waiting| (waiting.n, waiting.due)).collect();
        let sent = tokio::select! {
            sent = self.queue.send(&jobs) => sent,
            () = self.clock.sleep(self.time_to_send()) => Err(PortError::unavailable("cannot send jobs", "no time is left")),
        };
        if let Err(error) = sent {
            let error = with_causes(&error);
            tracing::warn!(jobs = jobs.len(), error, "jobs could not be sent again; their messages are put back");
            return self.put_back_each(&waiting).await;
        }
        for (n, _) in waiting {
            self.note(n, Outcome::Deferred);
        }
    }

    /// Returns the time that sending may take: until running jobs have to be cancelled, and after that half of what is
    /// left, since messages that could not be sent again have to be put back.
    fn time_to_send(&self) -> Millis {
        let left = self.bounds.deadline.saturating_sub(self.clock.monotonic());
        if left > LAST_THINGS { left.saturating_sub(LAST_THINGS) } else { Millis(left.0 / 2) }
    }

    fn note(&self, n: usize, outcome: Outcome) {
        self.board().outcomes[n] = Some(outcome);
    }

    /// The messages with a job that have come to this so far.
    fn numbers_of(&self, outcome: Option<Outcome>) -> Vec<usize> {
        let board = self.board();
        (0..self.jobs.len()).filter(|n| self.jobs[*n].is_some() && board.outcomes[*n] == outcome).collect()
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn summary(&self, slots: usize, span: Millis) -> Summary {
        let board = self.board();
        let mut summary =
            Summary { messages: self.messages.len(), slots, busy: board.busy, span, ..Summary::default() };
        for (message, outcome) in self.messages.iter().zip(&board.outcomes) {
            match outcome {
                Some(Outcome::Done) => summary.done += 1,
                Some(Outcome::Deferred) => summary.deferred += 1,
                Some(Outcome::GivenUp) => summary.given_up += 1,
                Some(Outcome::Failed | Outcome::Begun | Outcome::Waiting) | None => {
                    summary.failures.push(message.id.clone())
                }
            }
        }
        summary
    }
}

/// Returns a job of this stage.
fn of_stage(job: Job, stage: QueueName) -> Result<Job, ReadError> {
    let queue = job.work.queue();
    let wrong = || ReadError::Unreadable(format!("the job is in the wrong queue: it is one for {}", queue.as_str()));
    if queue == stage { Ok(job) } else { Err(wrong()) }
}

/// The worker settles messages on the board; a handle is a message's number.
#[async_trait]
impl Settlement for Batch {
    type Handle = usize;

    async fn done(&self, n: &usize) -> Result<(), PortError> {
        self.note(*n, Outcome::Done);
        Ok(())
    }

    /// Jobs that wait are sent several at a time.
    async fn defer(&self, n: &usize, job: &Job, until: Timestamp) -> Result<(), PortError> {
        self.wait(*n, until, Some(Box::new(job.clone())));
        Ok(())
    }

    async fn retry(&self, n: &usize, at: Timestamp) -> Result<(), PortError> {
        self.put_back(*n, at).await;
        Ok(())
    }

    async fn dead_letter(&self, n: &usize, why: &str) -> Result<(), PortError> {
        self.give_up(*n, why).await;
        Ok(())
    }
}

/// Counts the time of a lane, also of one that is broken off.
struct Busy<'a> {
    batch: &'a Batch,
    since: Millis,
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let took = self.batch.clock.monotonic().saturating_sub(self.since);
        let mut board = self.batch.board();
        board.busy = board.busy + took;
    }
}

mod alone;
mod put_back;
pub(crate) use put_back::put_back_all;
#[cfg(test)]
mod tests;
