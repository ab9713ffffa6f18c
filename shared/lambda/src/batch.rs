//! Runs the messages of one invocation: reads their jobs, passes them to the stage, and settles the messages.
//!
//! **Invariants.** Each message ends in exactly one way: its job is done, it was sent again, it was given up with a
//! reason, or it is reported as failed, so that SQS hands it out again. A message without a known end is reported as
//! failed. Work starts only if it can be expected to end in time, and none continues after [`Batch::run`] has returned.

use crate::plan::{Plan, Task, chunks, length, plan, unpacked};
use crate::sqs_queue::{Message, MessageQueue};
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

/// Time reserved at the end of an invocation for sending jobs again and for the response.
pub(crate) const LAST_THINGS: Millis = Millis::from_secs(3);
/// Maximum time to extract and write one page.
const PAGE_TIME: Millis = Millis(500);
/// Minimum time that must be left to start a removal or an owner's request. A longer one is cancelled at the end of the
/// invocation and runs again alone.
const REMOVAL_TIME: Millis = Millis::from_secs(30);
/// Maximum number of concurrent removals. Each changes the manifest of its year by compare-and-swap, so more would only
/// cause conflicts.
const REMOVALS_AT_ONCE: usize = 4;
/// Number of messages read concurrently. Only claim checks cost a request.
const READS: usize = 16;
/// Number of waiting jobs that are sent together: the maximum of one request to SQS.
const SEND_AT: usize = 10;

#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    /// Maximum number of concurrent lanes.
    pub(crate) slots: usize,
    /// Limits and intervals of politeness.
    pub(crate) rules: Rules,
    /// Groups of hosts that count as one host.
    pub(crate) groups: HostGroups,
    /// End of the invocation, in monotonic time.
    pub(crate) deadline: Millis,
}

impl Bounds {
    /// Returns the minimum time that must be left to start any work of a stage.
    pub(crate) fn least_time(&self, stage: QueueName) -> Millis {
        LAST_THINGS + self.need(stage, 1)
    }

    /// Returns the maximum duration of `jobs` jobs. A visit lasts at most as long as its lease: time slice, one call
    /// and a margin.
    fn need(&self, stage: QueueName, jobs: u64) -> Millis {
        match stage {
            QueueName::Extract => PAGE_TIME.saturating_mul(jobs),
            QueueName::Remove => REMOVAL_TIME,
            QueueName::Discover | QueueName::Poll | QueueName::Fetch => self.rules.lease_length(),
        }
    }

    /// Returns the maximum length of the lease that a job of this stage may hold.
    fn lease(&self, stage: QueueName) -> Millis {
        let holds_none = matches!(stage, QueueName::Extract | QueueName::Remove);
        if holds_none { Millis::ZERO } else { self.rules.lease_length() }
    }
}

/// Outcome of an invocation's messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) messages: usize,
    pub(crate) done: usize,
    /// Number of messages sent again, because they must wait or there was no time.
    pub(crate) deferred: usize,
    /// Ids of the messages that SQS must hand out again.
    pub(crate) failures: Vec<String>,
    pub(crate) given_up: usize,
    /// Maximum number of lanes that ran concurrently.
    pub(crate) slots: usize,
    /// Total time of all lanes.
    pub(crate) busy: Millis,
    /// Time from the start of the first lane to the end of the last one.
    pub(crate) span: Millis,
}

impl Summary {
    /// Returns the used share of the slots' time in percent; `None` if no slot was used.
    pub(crate) fn utilisation(&self) -> Option<u64> {
        let offered = self.span.0.saturating_mul(self.slots as u64);
        (offered > 0).then(|| self.busy.0.saturating_mul(100) / offered)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The job is running. If the invocation ends in this state, SQS hands the message out again.
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

/// A job that must be sent again.
#[derive(Debug)]
struct Waiting {
    n: usize,
    due: Timestamp,
    /// The job with the changes that its worker has made; `None` if it was not started.
    job: Option<Box<Job>>,
}

/// The messages of one invocation, with their jobs.
pub(crate) struct Batch {
    stage: QueueName,
    queue: Arc<dyn MessageQueue>,
    clock: Arc<dyn Clock>,
    bounds: Bounds,
    messages: Vec<Message>,
    /// Number of processes that each message's job has killed.
    deaths: Vec<u32>,
    /// `None`: the message has no job and has already been settled.
    jobs: Vec<Option<Job>>,
    board: Mutex<Board>,
}

impl Batch {
    /// Reads the messages. Gives up those without a valid job for this stage.
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

    /// Plans which jobs run, in which order, and the turn of a lane.
    pub(crate) fn plan(&self) -> Plan {
        let readable = (0..self.jobs.len()).filter(|n| self.jobs[*n].is_some());
        let (mut alone, readable): (Vec<usize>, Vec<usize>) = readable.partition(|n| self.was_unfinished(*n));
        // Jobs that have not killed a process come first, so they are done before one of the others can kill this
        // process.
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

    /// True if an earlier delivery of the job was not finished, also if the job was sent as a new message since.
    fn was_unfinished(&self, n: usize) -> bool {
        self.messages[n].receives > 1 || self.jobs[n].as_ref().is_some_and(|job| job.is_again)
    }

    /// Returns the name of a job's lane: the host key whose lease the job needs, or a unique name if it needs none.
    fn lane_of(&self, n: usize, job: &Job) -> String {
        match &job.work {
            // Such a job runs many polls concurrently.
            Work::Polls(_) => "polls".to_owned(),
            work => address::host_key_of_work(work, &self.bounds.groups)
                .map_or_else(|| format!("#{n}"), |key| key.to_string()),
        }
    }

    /// Splits pages into chunks, each of which becomes a segment.
    fn chunks(&self, readable: &[usize]) -> Vec<Vec<usize>> {
        // A chunk takes at most half of the time, so that a late chunk can still start.
        let most = usize::try_from(self.time_left().0 / PAGE_TIME.0 / 2).unwrap_or(1);
        let sizes: Vec<usize> = readable.iter().map(|n| self.jobs[*n].as_ref().map_or(0, unpacked)).collect();
        chunks(&sizes, most).into_iter().map(|chunk| chunk.into_iter().map(|n| readable[n]).collect()).collect()
    }

    /// Sends every job again for delivery at `until`, without running it.
    pub(crate) async fn put_off(self, until: Timestamp) -> Summary {
        for n in 0..self.jobs.len() {
            if self.jobs[n].is_some() {
                self.wait(n, until, None);
            }
        }
        self.send_again(1).await;
        self.summary(0, Millis::ZERO)
    }

    /// Runs the jobs of a plan.
    pub(crate) async fn run(self, plan: Plan, stages: Arc<dyn Stages>) -> Summary {
        let began = self.clock.monotonic();
        // Extraction is limited by the processor; concurrent chunks would only share it.
        let slots = match self.stage {
            QueueName::Extract => 1,
            QueueName::Remove => self.bounds.slots.min(REMOVALS_AT_ONCE),
            QueueName::Discover | QueueName::Poll | QueueName::Fetch => self.bounds.slots,
        }
        .min(plan.lanes.len());
        let slots = slots.max(usize::from(!plan.alone.is_empty()));
        let this = Arc::new(self);
        let mut lanes = plan.lanes.into_iter();
        let mut tasks = JoinSet::new();
        this.alone(stages.as_ref(), &plan.alone, plan.turn).await;
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
                () = this.clock.sleep(this.time_left()) => {
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

    /// Logs the error of a message that could not be settled. It has no outcome and is reported as failed.
    fn noted<T>(&self, settled: Result<T, PortError>) -> Option<T> {
        settled.inspect_err(|error| tracing::warn!(error = %with_causes(error), "a message could not be settled")).ok()
    }

    async fn give_up(&self, n: usize, why: &str) {
        let message = &self.messages[n];
        tracing::error!(message = %message.id, error = why, receives = message.receives, "a job is given up");
        let given_up = self.queue.give_up(message, why, self.clock.now()).await;
        let done = message.done_or_warn(given_up, "a message could not be given up; it runs again");
        self.note(n, if done.is_some() { Outcome::GivenUp } else { Outcome::Failed });
    }

    /// True if these jobs can start now and finish in time.
    fn fits(&self, members: &[usize]) -> bool {
        self.bounds.need(self.stage, members.len() as u64) <= self.time_left()
    }

    /// Returns the time until running jobs must be cancelled.
    fn time_left(&self) -> Millis {
        self.bounds.deadline.saturating_sub(LAST_THINGS).saturating_sub(self.clock.monotonic())
    }

    /// Sends jobs that can no longer start to the queue again, due at once.
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

    /// Sends the waiting jobs in the order of their messages, if there are at least `at_least`. They become new
    /// messages, because another delivery of the old one would count as a failure. The receive count then restarts, so
    /// a job itself records that an earlier delivery was not finished.
    async fn send_again(&self, at_least: usize) {
        let mut waiting = match self.board() {
            mut board if board.waiting.len() >= at_least => std::mem::take(&mut board.waiting),
            _ => return,
        };
        waiting.sort_unstable_by_key(|waiting| (waiting.n, waiting.due));
        let job_of = |waiting: &mut Waiting| match waiting.job.take() {
            Some(job) => Some(*job),
            None if self.was_unfinished(waiting.n) => self.jobs[waiting.n].clone().map(Job::again),
            None => self.jobs[waiting.n].clone(),
        };
        let jobs: Vec<(Job, Timestamp)> =
            waiting.iter_mut().filter_map(|waiting| Some((job_of(waiting)?, waiting.due))).collect();
        let waiting: Vec<(usize, Timestamp)> = waiting.into_iter().map(|waiting| (waiting.n, waiting.due)).collect();
        let sent = tokio::select! {
            biased;
            sent = self.queue.send(&jobs) => sent,
            () = self.clock.sleep(self.time_to_send()) => {
                Err(PortError::unavailable("cannot send jobs", "no time is left"))
            }
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

    /// Returns the time that sending may take: until running jobs must be cancelled, or after that a third of the rest,
    /// because messages whose jobs could not be sent must be put back.
    fn time_to_send(&self) -> Millis {
        let rest = self.bounds.deadline.saturating_sub(self.clock.monotonic());
        match self.time_left() {
            Millis::ZERO => Millis(rest.0 / 3),
            left => left,
        }
    }

    fn note(&self, n: usize, outcome: Outcome) {
        self.board().outcomes[n] = Some(outcome);
    }

    /// Returns the indices of the messages with a job and this outcome.
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
                _ => summary.failures.push(message.id.clone()),
            }
        }
        summary
    }
}

/// Returns the job if it belongs to this stage, else an error.
fn of_stage(job: Job, stage: QueueName) -> Result<Job, ReadError> {
    let queue = job.work.queue();
    let wrong = || ReadError::Unreadable(format!("the job is in the wrong queue: it is one for {}", queue.as_str()));
    if queue == stage { Ok(job) } else { Err(wrong()) }
}

/// Lets the worker settle messages on the board; a handle is a message's index.
#[async_trait]
impl Settlement for Batch {
    type Handle = usize;

    async fn done(&self, n: &usize) -> Result<(), PortError> {
        self.note(*n, Outcome::Done);
        Ok(())
    }

    /// Waiting jobs are sent in groups.
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

/// Adds the duration of a lane to the total when the lane ends or is cancelled.
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
