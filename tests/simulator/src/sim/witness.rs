//! Records how each run of a job ended and how the worker settled it. The mutations of a worker's rules are here, too:
//! they lie between the worker and its stages, or between the worker and its queue.

use super::Mutation;
use super::dice::Dice;
use super::stores::Shared;
use super::trace::{JobEnd, JobRun, SettledAs};
use async_trait::async_trait;
use curlew_app::program::Program;
use curlew_crawl::worker::{Mailbox, PageJob, Settlement, Stages};
use curlew_model::{
    Backfill, BackfillJob, BackfillState, ExtractJob, Job, JobFailure, Millis, OwnerRequest, Source, Timestamp, Work,
};
use curlew_people::block::BlockedBy;
use curlew_policy::trace::traced;
use curlew_ports::stage::{StageError, Verdict};
use curlew_ports::{Clock, Delivery, PortError, Queue, Receipt, Sources};
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError};
use url::Url;

/// Percentage of pages that make extraction panic in a run with panics.
const POISON_PERCENT: u64 = 15;

/// The stages and the queue, as a worker sees them while it runs one batch of received jobs.
pub(super) struct Witness<'a> {
    shared: &'a Shared,
    machine: usize,
    program: &'a Program,
    mailbox: Mailbox,
    /// The jobs that were handed out: receipt, number of times that the job was handed out, and the job.
    deliveries: Vec<(Receipt, u32, Job)>,
    ends: Mutex<Vec<(Job, JobEnd)>>,
}

impl<'a> Witness<'a> {
    /// Observes a machine's worker as it runs these received jobs.
    pub(super) fn new(
        shared: &'a Shared,
        (machine, program): (usize, &'a Program),
        mailbox: Mailbox,
        deliveries: &[Delivery],
    ) -> Witness<'a> {
        let as_run = |d: &Delivery| {
            let job = d.job.clone().ok()?;
            Some(traced(if d.receives > 1 { job.again() } else { job }))
        };
        let readable = |d: &Delivery| Some((d.receipt.clone(), d.receives, as_run(d)?));
        let deliveries = deliveries.iter().filter_map(readable).collect();
        Witness { shared, machine, program, mailbox, deliveries, ends: Mutex::default() }
    }

    fn log(&self, line: &str) {
        self.shared.note(format!("machine {} {line}", self.machine));
    }

    fn has(&self, mutation: Mutation) -> bool {
        self.shared.plan.mutation == Some(mutation)
    }

    /// Returns true if extraction panics on this page, which it does until faults are switched off.
    fn is_poison(&self, page: &ExtractJob) -> bool {
        let shared = self.shared;
        shared.plan.panics && !shared.is_calm() && Dice::new(shared.plan.seed, &page.url).percent(POISON_PERCENT)
    }

    /// Runs a stage. An unplanned panic is recorded, and also counted as a failure.
    async fn watched<T>(&self, work: impl Future<Output = T> + Send) -> T {
        match AssertUnwindSafe(work).catch_unwind().await {
            Ok(done) => done,
            Err(panic) => {
                self.shared.trace().panics.push("a stage panicked".to_owned());
                std::panic::resume_unwind(panic)
            }
        }
    }

    fn note_end(&self, job: &Job, end: JobEnd) {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner).push((traced(job.clone()), end));
    }

    fn note_removed(&self, job: &Job) {
        if let Job { work: Work::Remove(job), .. } = job {
            let at = self.shared.clock.now();
            self.shared.trace().removed.push((at, job.clone()));
        }
    }

    fn note_settlement(&self, receipt: &Receipt, settled: SettledAs) {
        let Some((_, receives, job)) = self.deliveries.iter().find(|(of, ..)| of == receipt) else { return };
        let end = {
            let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
            let place = ends.iter().position(|(of, _)| of == job);
            place.map(|place| ends.remove(place).1)
        };
        let shared = self.shared;
        let run = JobRun { at: shared.clock.now(), job: named(job), receives: *receives, end, settled };
        shared.trace().runs.push(run);
    }

    /// Returns true if a mutation keeps a job from being run.
    async fn is_skipped(&self, job: &Job) -> bool {
        match &job.work {
            Work::Remove(_) => self.has(Mutation::RemovalsUndone),
            Work::Own(job) => self.has(Mutation::UnblockDropped) && job.request == OwnerRequest::Unblock,
            Work::Poll(job) if self.has(Mutation::HubNotTold) => {
                let name = Url::parse(&job.url).ok().and_then(|url| url.host_str().map(str::to_owned));
                let by = self.program.desk.blocks.blocked_by(&name.unwrap_or_default()).await;
                by.is_ok_and(|by| by != BlockedBy::Nobody)
            }
            _ => false,
        }
    }

    /// Makes the next step of a backfill due at once, unless something prevents it.
    async fn unpace(&self, done: &BackfillJob) {
        let due = self.shared.clock.now();
        let Ok(Some((Source::Backfill(row), seen))) = self.shared.sources.get(&done.backfill).await else { return };
        let is_next = row.state == BackfillState::Running && row.step == done.step + 1;
        if !is_next || row.note.is_some() || row.due <= due {
            return;
        }
        let job = BackfillJob { backfill: row.key.clone(), url: row.url.clone(), step: row.step };
        let row = Source::Backfill(Backfill { due, ..row });
        if self.shared.sources.swap(seen, &row).await.is_ok() {
            let sent = self.shared.queue.send(&[(Job::new(job), due)]).await;
            self.log(&format!("the next step follows at once: {sent:?}"));
        }
    }

    /// Returns the outcome that the worker sees.
    fn mutated(&self, outcome: Result<Verdict, StageError>) -> Result<Verdict, StageError> {
        let is_throttled = matches!(outcome, Err(StageError::Port(PortError::Throttled { .. })));
        if is_throttled && self.has(Mutation::ThrottlingCounts) {
            return Err(PortError::unavailable("a store asks to slow down", "a mutation").into());
        }
        if is_throttled && self.has(Mutation::ThrottlingIgnored) {
            return Err(PortError::Throttled { retry_after: Millis::ZERO }.into());
        }
        outcome
    }
}

#[async_trait]
impl Stages for Witness<'_> {
    async fn run(&self, job: &Job) -> Result<Verdict, StageError> {
        if matches!(job, Job { work: Work::Extract(page), .. } if self.is_poison(page)) {
            self.note_end(job, JobEnd::Failed);
            self.log(&format!("{} -> panicked", named(job)));
            panic_quietly();
        }
        if self.is_skipped(job).await {
            self.note_removed(job);
            self.note_end(job, JobEnd::Done);
            return Ok(Verdict::Done);
        }
        let outcome = self.watched(self.program.run(job)).await;
        self.log(&format!("{} -> {}", named(job), told(&outcome)));
        if let Job { work: Work::Backfill(job), .. } = job
            && self.has(Mutation::HistoryUnpaced)
        {
            self.unpace(job).await;
        }
        if matches!(outcome, Ok(Verdict::Done)) {
            self.note_removed(job);
        }
        self.note_end(job, end_of(&outcome));
        self.mutated(outcome)
    }

    async fn run_batch(&self, jobs: &[PageJob]) -> Vec<Result<Verdict, StageError>> {
        if jobs.iter().any(|page| self.is_poison(&page.work)) {
            self.log(&format!("{} pages together -> panicked", jobs.len()));
            if self.has(Mutation::PanicLosesBatch) {
                return jobs.iter().map(|_| Ok(Verdict::Done)).collect();
            }
            panic_quietly();
        }
        let outcomes = self.watched(self.program.run_batch(jobs)).await;
        for (job, outcome) in jobs.iter().zip(&outcomes) {
            self.log(&format!("extract {} -> {}", job.work.url, told(outcome)));
            self.note_end(&job.clone().into_job(), end_of(outcome));
        }
        outcomes.into_iter().map(|outcome| self.mutated(outcome)).collect()
    }
}

#[async_trait]
impl Settlement for Witness<'_> {
    type Handle = Receipt;

    async fn done(&self, receipt: &Receipt) -> Result<(), PortError> {
        self.note_settlement(receipt, SettledAs::Done);
        self.mailbox.done(receipt).await
    }

    async fn defer(&self, receipt: &Receipt, job: &Job, until: Timestamp) -> Result<(), PortError> {
        self.note_settlement(receipt, SettledAs::Deferred(until));
        if self.has(Mutation::AckBeforeSend) {
            self.mailbox.inbox.ack(receipt).await?;
            return self.mailbox.queue.send(&[(job.clone(), until)]).await;
        }
        self.mailbox.defer(receipt, job, until).await
    }

    async fn retry(&self, receipt: &Receipt, at: Timestamp) -> Result<(), PortError> {
        self.note_settlement(receipt, SettledAs::Retried(at));
        if self.has(Mutation::FailureAcknowledged) {
            return self.mailbox.done(receipt).await;
        }
        self.mailbox.retry(receipt, at).await
    }

    async fn dead_letter(&self, receipt: &Receipt, why: &str) -> Result<(), PortError> {
        self.note_settlement(receipt, SettledAs::DeadLetter);
        if self.has(Mutation::DeadLetterDropped) {
            return self.mailbox.done(receipt).await;
        }
        self.mailbox.dead_letter(receipt, why).await
    }
}

fn panic_quietly() -> ! {
    std::panic::resume_unwind(Box::new("a page that is too much, by plan"))
}

fn end_of(outcome: &Result<Verdict, StageError>) -> JobEnd {
    match outcome {
        Ok(Verdict::Done | Verdict::Drop(_)) => JobEnd::Done,
        Ok(Verdict::Defer(until)) => JobEnd::Waits(*until),
        Err(error) => match error.kind() {
            JobFailure::Throttled(asked) => JobEnd::Throttled(asked),
            JobFailure::Transient => JobEnd::Failed,
            JobFailure::Permanent => JobEnd::Hopeless,
        },
    }
}

fn named(job: &Job) -> String {
    match &job.work {
        Work::Discover(job) => format!("discover {}", job.url),
        Work::Own(job) => format!("own {}", job.host),
        Work::Poll(job) => format!("poll {}", job.url),
        Work::Polls(job) => format!("polls of {} feeds", job.polls.len()),
        Work::Subscribe(job) => format!("subscribe {}", job.url),
        Work::Deliver(job) => format!("deliver {}", job.watch),
        Work::Backfill(job) => format!("backfill {} {}", job.url, job.step),
        Work::Extract(job) => format!("extract {}", job.url),
        Work::Remove(job) => format!("remove {} ({:?})", job.url, job.change),
        Work::TakeUp(job) => format!("take up {}", job.host),
        Work::Fetch(visit) => {
            let urls: Vec<&str> = visit.items.iter().map(|item| item.url.as_str()).collect();
            format!("fetch {} ({} put off) [{}]", visit.host, job.deferrals, urls.join(" "))
        }
    }
}

fn told(outcome: &Result<Verdict, StageError>) -> String {
    match outcome {
        Ok(Verdict::Done) => "done".to_owned(),
        Ok(Verdict::Defer(until)) => format!("deferred to {until}"),
        Ok(Verdict::Drop(why)) => format!("dropped: {why}"),
        Err(error) => format!("failed: {error}"),
    }
}
