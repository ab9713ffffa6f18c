//! Polls of a group: most of them bring nothing, so they share one message and one lease.

use crate::feeds::poll::Poll;
use crate::politeness::access::Politeness;
use crate::politeness::poll_groups::PollGroups;
use crate::stage::{StageError, Verdict, with_causes};
use crate::worker::{Settlement, Stages, Worker};
use async_trait::async_trait;
use curlew_model::{Job, PollGroup, PollGroupJob, PollJob, Timestamp};
use curlew_policy::address;
use curlew_policy::politeness::group_lease::Taking;
use curlew_ports::{Clock, PortError};
use futures::{StreamExt, TryStreamExt};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Number of polls of a group that run at once.
pub const POLLS_AT_ONCE: usize = 16;

/// Forgets that this process has a lease, whatever becomes of the polls under it.
struct Hold<'a>(&'a PollGroups, PollGroup);

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.0.drop_held(self.1);
    }
}

/// The jobs that are left of polls: each goes back into the queue as a new message, whatever came of it.
struct Left<'a> {
    clock: &'a dyn Clock,
    jobs: Mutex<Vec<(Job, Timestamp)>>,
}

impl Left<'_> {
    fn push(&self, job: &Job, due: Timestamp) {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).push((job.clone(), due));
    }
}

#[async_trait]
impl Settlement for Left<'_> {
    type Handle = Job;

    async fn done(&self, _: &Job) -> Result<(), PortError> {
        Ok(())
    }

    async fn defer(&self, _: &Job, job: &Job, until: Timestamp) -> Result<(), PortError> {
        self.push(job, until);
        Ok(())
    }

    async fn retry(&self, job: &Job, at: Timestamp) -> Result<(), PortError> {
        self.push(job, at);
        Ok(())
    }

    /// Run on its own, it is given up with its error.
    async fn dead_letter(&self, job: &Job, _: &str) -> Result<(), PortError> {
        self.push(job, self.clock.now());
        Ok(())
    }
}

impl Poll {
    /// Runs the polls of a group under its lease, several at once but those of one host key one after the other. What has to
    /// wait, or fails, goes back into the queue as a job of its own.
    ///
    /// # Errors
    /// The errors of the ports. The job is then handed out again, and its polls are run each on its own.
    pub(crate) async fn run_group(&self, stages: &dyn Stages, job: &PollGroupJob) -> Result<Verdict, StageError> {
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
        let left = self.run_under(stages, &job.polls, lease.until).await?;
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
    ///
    /// # Errors
    /// Those that settling a job has; here it never fails.
    async fn run_under(
        &self,
        stages: &dyn Stages,
        polls: &[PollJob],
        until: Timestamp,
    ) -> Result<Vec<(Job, Timestamp)>, StageError> {
        let Politeness { clock, rules, .. } = self.intake.politeness.as_ref();
        let left = Left { clock: clock.as_ref(), jobs: Mutex::default() };
        let worker = Worker { stages, queue: &left, clock: clock.as_ref() };
        let lanes = futures::stream::iter(self.lanes(polls)).map(Ok);
        lanes
            .try_for_each_concurrent(POLLS_AT_ONCE, async |lane| {
                for poll in lane {
                    let (job, now) = (Job::Poll(poll.clone()), clock.now());
                    if now + rules.brief_length() > until {
                        left.push(&job, now);
                    } else {
                        worker.run(&job, 1, &job).await?;
                    }
                }
                Ok::<(), PortError>(())
            })
            .await?;
        Ok(left.jobs.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the polls by host key.
    fn lanes<'a>(&self, polls: &'a [PollJob]) -> Vec<Vec<&'a PollJob>> {
        let mut by_host = HashMap::new();
        let mut lanes: Vec<Vec<&PollJob>> = Vec::new();
        for poll in polls {
            let host = address::host_key_of(&poll.url, &self.intake.politeness.groups);
            let lane = *by_host.entry(host).or_insert(lanes.len());
            match lanes.get_mut(lane) {
                Some(lane) => lane.push(poll),
                None => lanes.push(vec![poll]),
            }
        }
        lanes
    }
}
