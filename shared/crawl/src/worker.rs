//! The worker: runs jobs that a queue delivered, and settles them with the queue. The command line, Lambda and the
//! simulators drive it; none of them decides what follows from a verdict or a failure.

use async_trait::async_trait;
use curlew_model::{Envelope, ExtractJob, Job, JobFailure, QueueName, Timestamp, Work};
use curlew_policy::delivery::{AfterFailure, after_failure, never_ends};
use curlew_policy::trace;
use curlew_ports::stage::{Result, Verdict, job_span, panic_message, settlement_span, with_causes};
use curlew_ports::{Clock, Delivery, Inbox, PortError, Queue, Receipt};
use futures::FutureExt;
use futures::future::join_all;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tracing::{Instrument, Span};

/// The extraction of a page.
pub type PageJob = Envelope<Box<ExtractJob>>;

/// Runs jobs in their stages.
#[async_trait]
pub trait Stages: Send + Sync {
    /// Runs a job in its stage.
    async fn run(&self, job: &Job) -> Result<Verdict>;
    /// Extracts several pages, whose records share a segment; returns one verdict per page, in order.
    async fn run_batch(&self, jobs: &[PageJob]) -> Vec<Result<Verdict>>;
}

/// Settles jobs with the queue that delivered them.
#[async_trait]
pub trait Settlement: Send + Sync {
    /// Identifies one delivery of a job.
    type Handle: Send + Sync;
    /// Acknowledges a finished job, which is not delivered again.
    async fn done(&self, handle: &Self::Handle) -> Result<(), PortError>;
    /// Parks a job. It is sent as a new message, since waiting must not count as a failure.
    async fn defer(&self, handle: &Self::Handle, job: &Job, until: Timestamp) -> Result<(), PortError>;
    /// Returns a failed job to the queue, which delivers it again at this instant.
    async fn retry(&self, handle: &Self::Handle, at: Timestamp) -> Result<(), PortError>;
    /// Gives up a job for this reason.
    async fn dead_letter(&self, handle: &Self::Handle, why: &str) -> Result<(), PortError>;
}

/// Settles jobs that were received from an [`Inbox`].
#[derive(Clone)]
pub struct Mailbox {
    /// The inbox that delivered them.
    pub inbox: Arc<dyn Inbox>,
    /// The queue for parked jobs.
    pub queue: Arc<dyn Queue>,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

#[async_trait]
impl Settlement for Mailbox {
    type Handle = Receipt;

    async fn done(&self, receipt: &Receipt) -> Result<(), PortError> {
        self.inbox.ack(receipt).await
    }

    async fn defer(&self, receipt: &Receipt, job: &Job, until: Timestamp) -> Result<(), PortError> {
        self.queue.send(&[(job.clone(), until)]).await?;
        self.inbox.ack(receipt).await
    }

    async fn retry(&self, receipt: &Receipt, at: Timestamp) -> Result<(), PortError> {
        self.inbox.put_back(receipt, at).await
    }

    async fn dead_letter(&self, receipt: &Receipt, why: &str) -> Result<(), PortError> {
        self.inbox.dead_letter(receipt, why, self.clock.now()).await
    }
}

/// Runs jobs and settles them.
pub struct Worker<'a, S> {
    /// The stages that do the jobs.
    pub stages: &'a dyn Stages,
    /// The queue that they came from.
    pub queue: &'a S,
    /// Time.
    pub clock: &'a dyn Clock,
}

impl<S: Settlement> Worker<'_, S> {
    /// Runs a job that was delivered `receives` times, and settles it; a panic counts as a failure. After an error of
    /// the queue, the job is delivered again when its visibility timeout ends.
    pub async fn run(&self, handle: &S::Handle, receives: u32, job: &Job) -> Result<(), PortError> {
        let again = (receives > 1).then(|| job.clone().again());
        let job = again.as_ref().unwrap_or(job);
        let untraced = job.trace.is_none().then(|| trace::traced(job.clone()));
        let job = untraced.as_ref().unwrap_or(job);
        // Extraction has a span of its own for each page.
        let span = (!matches!(job.work, Work::Extract(_))).then(|| span_of(job));
        let run = AssertUnwindSafe(self.stages.run(job)).catch_unwind();
        match run.instrument(span.clone().unwrap_or_else(Span::none)).await {
            Ok(outcome) => {
                let span = span.unwrap_or_else(|| settlement_span(job.work.kind(), &trace::trace_id(job)));
                self.settle(handle, receives, job, outcome).instrument(span).await
            }
            Err(panic) => {
                let why = format!("the job panicked: {}", panic_message(panic.as_ref()));
                drop(panic);
                let now = self.clock.now();
                let span = span.unwrap_or_else(|| span_of(job));
                settle_failure(self.queue, handle, receives, Some(job), &why, JobFailure::Transient, now)
                    .instrument(span)
                    .await
            }
        }
    }

    /// Extracts pages together and settles them. If extraction panics, each page runs on its own, so that only one
    /// fails; once `may_begin` returns false, the number of remaining pages is returned. Unsettled jobs are delivered
    /// again when their visibility timeout ends.
    pub async fn run_together(
        &self,
        deliveries: Vec<(S::Handle, u32, PageJob)>,
        may_begin: impl Fn() -> bool + Send + Sync,
    ) -> Result<usize, PortError> {
        let (handles, jobs): (Vec<_>, Vec<_>) =
            deliveries.into_iter().map(|(handle, receives, job)| ((handle, receives), job)).unzip();
        let outcomes = AssertUnwindSafe(self.stages.run_batch(&jobs)).catch_unwind().await.ok();
        let whole = jobs.into_iter().map(Envelope::into_job);
        let each = handles.iter().zip(whole);
        let Some(outcomes) = outcomes else {
            for (n, ((handle, receives), job)) in each.enumerate() {
                if !may_begin() {
                    return Ok(handles.len() - n);
                }
                self.run(handle, *receives, &job).await?;
            }
            return Ok(0);
        };
        let settled = each.zip(outcomes).map(|(((handle, receives), job), outcome)| async move {
            let span = settlement_span(job.work.kind(), &trace::trace_id(&job));
            self.settle(handle, *receives, &job, outcome).instrument(span).await
        });
        // Every page is settled, even if settling another one fails.
        join_all(settled).await.into_iter().collect::<Result<(), _>>()?;
        Ok(0)
    }

    async fn settle(
        &self,
        handle: &S::Handle,
        receives: u32,
        job: &Job,
        outcome: Result<Verdict>,
    ) -> Result<(), PortError> {
        match outcome {
            Ok(Verdict::Done) => self.queue.done(handle).await,
            Ok(Verdict::Drop(reason)) => {
                tracing::debug!(reason, "a job was dropped");
                self.queue.done(handle).await
            }
            Ok(Verdict::Defer(until)) => self.queue.defer(handle, &job.clone().waited(), until).await,
            Err(error) => {
                let (why, kind, now) = (with_causes(&error), error.kind(), self.clock.now());
                settle_failure(self.queue, handle, receives, Some(job), &why, kind, now).await
            }
        }
    }
}

/// Settles a delivery that failed with this error; `job` is `None` if it could not be parsed.
pub async fn settle_failure<S: Settlement>(
    queue: &S,
    handle: &S::Handle,
    receives: u32,
    job: Option<&Job>,
    error: &str,
    kind: JobFailure,
    now: Timestamp,
) -> Result<(), PortError> {
    Span::current().record("failure", kind.as_str());
    match (after_failure(receives, kind, now), job) {
        (AfterFailure::Defer(until), Some(job)) => {
            tracing::warn!(error, %until, "a store asks to slow down; a job waits");
            queue.defer(handle, job, until).await
        }
        (AfterFailure::Retry(at) | AfterFailure::Defer(at), _) => {
            tracing::warn!(error, receives, "a job failed and is tried again");
            queue.retry(handle, at).await
        }
        (AfterFailure::DeadLetter, _) => {
            tracing::error!(error, receives, "a job is given up");
            queue.dead_letter(handle, error).await
        }
    }
}

impl<S: Settlement<Handle = Receipt>> Worker<'_, S> {
    /// Runs deliveries of one stage and settles them; pages run together if none of them was delivered before.
    pub async fn deliver(&self, stage: QueueName, deliveries: Vec<Delivery>) -> Result<(), PortError> {
        let together =
            stage == QueueName::Extract && deliveries.len() > 1 && deliveries.iter().all(|d| d.receives == 1);
        let mut pages = Vec::new();
        for Delivery { receipt, job, receives } in deliveries {
            match (never_ends(receives, 0), job) {
                (Some(why), Ok(job)) => self.give_up(&receipt, &why).instrument(span_of(&job)).await?,
                (Some(why), Err(_)) | (None, Err(why)) => self.give_up(&receipt, &why).await?,
                (None, Ok(job)) if job.work.queue() != stage => {
                    let why = format!("the job is in the wrong queue: it is one for {}", job.work.queue().as_str());
                    self.give_up(&receipt, &why).instrument(span_of(&job)).await?;
                }
                (None, Ok(job)) => match &job.work {
                    Work::Extract(page) if together => pages.push((receipt, receives, job.with(page.clone()))),
                    _ => self.run(&receipt, receives, &job).await?,
                },
            }
        }
        if !pages.is_empty() {
            self.run_together(pages, || true).await?;
        }
        Ok(())
    }

    async fn give_up(&self, receipt: &Receipt, why: &str) -> Result<(), PortError> {
        Span::current().record("failure", JobFailure::Permanent.as_str());
        tracing::error!(error = why, "a job is given up");
        self.queue.dead_letter(receipt, why).await
    }
}

fn span_of(job: &Job) -> Span {
    job_span(job.work.kind(), &trace::trace_id(job))
}

#[cfg(test)]
mod tests;
