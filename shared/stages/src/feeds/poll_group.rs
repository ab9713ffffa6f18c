//! Polls of a group: most of them bring nothing, so they share one message and one lease.

use crate::feeds::poll::Poll;
use crate::politeness::poll_groups::PollGroups;
use crate::stage::{Stage, StageError, Verdict, job_span, record_failure, with_causes};
use curlew_model::{Job, PollGroup, PollGroupJob, PollJob, Timestamp};
use curlew_policy::address;
use curlew_policy::delivery::{AfterFailure, after_failure};
use curlew_policy::politeness::group_lease::Taking;
use curlew_policy::trace;
use futures::StreamExt;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tracing::{Instrument, Span};

/// Number of polls of a group that run at once.
pub const POLLS_AT_ONCE: usize = 16;

/// Forgets that this process has a lease, whatever becomes of the polls under it.
struct Hold<'a>(&'a PollGroups, PollGroup);

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.0.drop_held(self.1);
    }
}

impl Poll {
    /// Runs the polls of a group under its lease, several at once but those of one host key one after the other. What has to
    /// wait, or fails, goes back into the queue as a job of its own.
    ///
    /// # Errors
    /// The errors of the ports. The job is then handed out again, and its polls are run each on its own.
    pub(crate) async fn run_group(&self, job: &PollGroupJob) -> Result<Verdict, StageError> {
        let politeness = self.intake.politeness.as_ref();
        let (Some(groups), Some(first)) = (&politeness.poll_groups, job.polls.first()) else {
            return self.split(&job.polls).await;
        };
        let polls = (job.due, &first.feed);
        let lease = match groups.take(job.group, polls, politeness.rules.lease_length()).await? {
            Taking::Taken(lease) => lease,
            Taking::Done => return Ok(Verdict::Drop("these feeds were polled a moment ago".into())),
            Taking::Busy(until) => return Ok(Verdict::Defer(until)),
            Taking::Broken => return self.split(&job.polls).await,
        };
        let _hold = Hold(groups, job.group);
        let left = self.run_under(&job.polls, lease.until).await;
        if !left.is_empty() {
            self.intake.queue.send(&left).await?;
        }
        if let Err(error) = groups.finish(job.group).await {
            // The polls are settled; were the job run again, all of them would be.
            tracing::warn!(
                error = with_causes(&error),
                "the lease of a poll group could not be given back; it runs out"
            );
        }
        Ok(Verdict::Done)
    }

    /// Sends each poll as a job of its own.
    async fn split(&self, polls: &[PollJob]) -> Result<Verdict, StageError> {
        let now = self.intake.politeness.clock.now();
        let jobs: Vec<_> = polls.iter().map(|poll| (Job::Poll(poll.clone()), now)).collect();
        self.intake.queue.send(&jobs).await?;
        Ok(Verdict::Done)
    }

    /// Runs polls while a lease lasts; returns those that are to be run later, and when.
    async fn run_under(&self, polls: &[PollJob], until: Timestamp) -> Vec<(Job, Timestamp)> {
        let left = Mutex::new(Vec::new());
        let lanes = futures::stream::iter(self.lanes(polls));
        lanes
            .for_each_concurrent(POLLS_AT_ONCE, async |lane| {
                for poll in lane {
                    if let Some(later) = self.run_one(poll, until).await {
                        left.lock().unwrap_or_else(PoisonError::into_inner).push(later);
                    }
                }
            })
            .await;
        left.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the polls by host key.
    fn lanes<'a>(&self, polls: &'a [PollJob]) -> Vec<Vec<&'a PollJob>> {
        let mut by_host = HashMap::new();
        let mut lanes: Vec<Vec<&PollJob>> = Vec::new();
        for poll in polls {
            let host = address::parse(&poll.url, None).ok().and_then(|url| self.intake.politeness.key_of(&url).ok());
            let lane = *by_host.entry(host).or_insert(lanes.len());
            match lanes.get_mut(lane) {
                Some(lane) => lane.push(poll),
                None => lanes.push(vec![poll]),
            }
        }
        lanes
    }

    /// Runs a poll; returns the job that is left of it, and when it is due.
    async fn run_one(&self, poll: &PollJob, until: Timestamp) -> Option<(Job, Timestamp)> {
        let politeness = self.intake.politeness.as_ref();
        let job = Job::Poll(poll.clone());
        let now = politeness.clock.now();
        if now + politeness.rules.brief_length() > until {
            return Some((job, now));
        }
        let span = job_span(job.kind(), &trace::of(&job));
        async {
            match self.run(poll).await {
                Ok(Verdict::Done) => None,
                Ok(Verdict::Drop(reason)) => {
                    tracing::debug!(reason, "a job was dropped");
                    None
                }
                Ok(Verdict::Defer(until)) => Some((job.waited(), until)),
                Err(error) => {
                    record_failure(&Span::current(), error.kind());
                    tracing::warn!(error = with_causes(&error), "a job failed and is tried again");
                    let now = politeness.clock.now();
                    Some(match after_failure(1, error.kind(), now) {
                        AfterFailure::Defer(at) | AfterFailure::Retry(at) => (job, at),
                        // Run on its own, it is given up with its error.
                        AfterFailure::DeadLetter => (job, now),
                    })
                }
            }
        }
        .instrument(span)
        .await
    }
}
