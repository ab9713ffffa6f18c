//! Polls in one message: most of them bring nothing, so those of a group share one lease.

use crate::feeds::poll::Poll;
use crate::politeness::access::Politeness;
use crate::politeness::poll_groups::PollGroups;
use crate::politeness::visit::{LeaseOutcome, Visit};
use crate::worker::{PageJob, Settlement, Stages, Worker};
use async_trait::async_trait;
use curlew_model::{Envelope, GroupPolls, HostKey, Job, PollGroup, PollJob, PollsJob, SourceKey, Timestamp, Work};
use curlew_policy::address;
use curlew_policy::politeness::admission::NotNow;
use curlew_policy::politeness::group_lease::Taking;
use curlew_ports::stage::{StageError, Verdict, with_causes};
use curlew_ports::{Clock, PortError, Queue};
use futures::{StreamExt, TryStreamExt};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Number of polls of one message that run at once.
pub const POLLS_AT_ONCE: usize = 64;

/// Forgets that this process has a lease, whatever becomes of the polls under it.
struct Hold<'a>(&'a PollGroups, PollGroup);

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.0.drop_held(self.1);
    }
}

/// Forgets rows of feeds that were read together, and not used.
struct RowsInUse<'a>(&'a Poll, &'a [SourceKey]);

impl Drop for RowsInUse<'_> {
    fn drop(&mut self) {
        self.0.rows.forget(self.1.iter());
    }
}

/// The jobs that are left of polls: each goes back into the queue as a new message, whatever came of it. Groups that wait do so
/// together, since their polls then run side by side, and those of several messages one after the other.
struct Left<'a> {
    clock: &'a dyn Clock,
    /// True if an earlier delivery of the polls did not come to its end.
    is_again: bool,
    jobs: Mutex<Vec<(Job, Timestamp)>>,
}

impl Left<'_> {
    /// Sends them.
    ///
    /// # Errors
    /// The errors of the queue.
    async fn send(self, queue: &dyn Queue) -> Result<(), PortError> {
        let (mut groups, mut from, mut sent) = (Vec::new(), Timestamp::MIN, Vec::new());
        for (job, due) in self.jobs.into_inner().unwrap_or_else(PoisonError::into_inner) {
            match job.work {
                Work::Polls(polls) => {
                    groups.extend(polls.groups);
                    from = from.max(due);
                }
                _ => sent.push((job, due)),
            }
        }
        if !groups.is_empty() {
            sent.push((Job::new(PollsJob { groups }), from));
        }
        if sent.is_empty() { Ok(()) } else { queue.send(&sent).await }
    }

    /// A poll that goes on as a job of its own.
    fn push_now(&self, poll: &PollJob) {
        self.push(&self.single(poll), self.clock.now());
    }

    /// Returns the job of a single poll.
    fn single(&self, poll: &PollJob) -> Job {
        Job { is_again: self.is_again, ..Job::new(poll.clone()) }
    }

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

/// Polls of one host key under the lease of their group.
struct Lane<'j> {
    group: PollGroup,
    host: Option<HostKey>,
    polls: Vec<&'j PollJob>,
    /// End of the group's lease.
    until: Timestamp,
}

impl Lane<'_> {
    /// Returns the job of these polls, which wait from now on. It is another one than that which they came with: that is finished
    /// without them, and would count as done.
    fn job_of(&self, polls: &[&PollJob], now: Timestamp) -> Job {
        let polls = polls.iter().map(|poll| (*poll).clone()).collect();
        Job::new(PollsJob { groups: vec![GroupPolls { group: self.group, due: now, polls }] })
    }
}

/// Polls under one visit, as a worker sees them.
struct UnderVisit<'v> {
    poll: &'v Poll,
    visit: futures::lock::Mutex<Box<Visit<'v>>>,
    /// Until when the others wait, if they do: the visit is over, or something went wrong in it.
    ended: Mutex<Option<Timestamp>>,
}

impl UnderVisit<'_> {
    fn end(&self, until: Option<Timestamp>) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    fn ended(&self) -> Option<Timestamp> {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Stages for UnderVisit<'_> {
    async fn run(&self, job: &Job) -> Result<Verdict, StageError> {
        let Work::Poll(poll) = &job.work else { return Ok(Verdict::Drop("it is no poll".into())) };
        let mut visit = self.visit.lock().await;
        // A panic leaves it so.
        self.end(Some(self.poll.intake.politeness.clock.now()));
        let verdict = self.poll.run_under(&mut visit, &job.with(poll.clone())).await?;
        self.end(if let Verdict::Defer(until) = verdict { Some(until) } else { None });
        Ok(verdict)
    }

    async fn run_batch(&self, _: &[PageJob]) -> Vec<Result<Verdict, StageError>> {
        Vec::new()
    }
}

impl Poll {
    /// Runs polls under the leases of their groups: those of one host key one after the other under one visit, others
    /// side by side. A poll that has to wait, or fails, goes back into the queue.
    ///
    /// # Errors
    /// The errors of the ports. The job is then handed out again, and the polls that were not settled are run each on its own.
    pub async fn run_groups(&self, stages: &dyn Stages, job: &Envelope<PollsJob>) -> Result<Verdict, StageError> {
        let politeness = self.intake.politeness.as_ref();
        let left = Left { clock: politeness.clock.as_ref(), is_again: job.is_again, jobs: Mutex::default() };
        let (mut lanes, mut held) = (Vec::new(), Vec::new());
        for polls in &job.work.groups {
            let Some(first) = polls.polls.first() else { continue };
            let taking = match &politeness.poll_groups {
                None => Taking::Broken,
                Some(groups) => {
                    let theirs = (polls.due, &first.feed);
                    groups.take(polls.group, theirs, politeness.rules.lease_length()).await?
                }
            };
            match taking {
                Taking::Taken(lease) => {
                    held.extend(politeness.poll_groups.as_deref().map(|groups| Hold(groups, polls.group)));
                    lanes.extend(self.lanes(polls, lease.until));
                }
                Taking::Done => tracing::debug!(group = polls.group.number(), "these feeds were polled a moment ago"),
                Taking::Busy(until) => {
                    left.push(&Job::new(PollsJob { groups: vec![polls.clone()] }), until);
                }
                Taking::Broken => polls.polls.iter().for_each(|poll| left.push_now(poll)),
            }
        }
        let feeds: Vec<SourceKey> = lanes.iter().flat_map(|lane| &lane.polls).map(|poll| poll.feed.clone()).collect();
        let asked_at = politeness.clock.now();
        self.rows.add(self.intake.sources.get_together(&feeds).await?, asked_at);
        let _rows = RowsInUse(self, &feeds);
        // The lanes that take the longest go first, so that none of them begins when all others have ended.
        lanes.sort_by_key(|lane| Reverse(lane.polls.len()));
        let run = futures::stream::iter(lanes).map(Ok);
        run.try_for_each_concurrent(POLLS_AT_ONCE, |lane| self.run_lane(stages, lane, &left)).await?;
        left.send(self.intake.queue.as_ref()).await?;
        for Hold(groups, group) in &held {
            if let Err(error) = groups.finish(*group).await {
                // The polls are settled; were the job run again, all of them would be.
                tracing::warn!(
                    error = with_causes(&error),
                    "the lease of a poll group could not be given back; it runs out"
                );
            }
        }
        Ok(Verdict::Done)
    }

    /// Returns the polls of a group by host key, in the order of the host keys.
    fn lanes<'j>(&self, polls: &'j GroupPolls, until: Timestamp) -> Vec<Lane<'j>> {
        let mut by_host: BTreeMap<Option<HostKey>, Vec<&PollJob>> = BTreeMap::new();
        for poll in &polls.polls {
            let host = address::host_key_of(&poll.url, &self.intake.politeness.groups);
            by_host.entry(host).or_default().push(poll);
        }
        let lane = |(host, of_host)| Lane { group: polls.group, host, polls: of_host, until };
        by_host.into_iter().map(lane).collect()
    }

    /// Runs the polls of a host key while the lease of their group lasts.
    ///
    /// # Errors
    /// Those that settling a job has; here it never fails.
    async fn run_lane(&self, stages: &dyn Stages, lane: Lane<'_>, left: &Left<'_>) -> Result<(), PortError> {
        let Politeness { clock, rules, .. } = self.intake.politeness.as_ref();
        let has_time = || clock.now() + rules.brief_length() <= lane.until;
        let (Some(host), [first, _, ..]) = (&lane.host, lane.polls.as_slice()) else {
            let worker = Worker { stages, queue: left, clock: clock.as_ref() };
            for poll in &lane.polls {
                if has_time() {
                    {
                        let job = left.single(poll);
                        worker.run(&job, 1, &job).await?
                    }
                } else {
                    left.push_now(poll)
                }
            }
            return Ok(());
        };
        let owner = format!("poll {}", first.feed);
        let visit = match self.intake.politeness.open_for_poll(host, &owner, lane.group).await {
            Ok(LeaseOutcome::Granted(visit)) => visit,
            Ok(LeaseOutcome::NotNow(NotNow { until, why: None })) => {
                left.push(&lane.job_of(&lane.polls, clock.now()), until);
                return Ok(());
            }
            // Each writes it into its feed's row, or fails on its own.
            Ok(LeaseOutcome::NotNow(_) | LeaseOutcome::Blocked) | Err(_) => {
                lane.polls.iter().for_each(|poll| left.push_now(poll));
                return Ok(());
            }
        };
        let under = UnderVisit { poll: self, visit: futures::lock::Mutex::new(visit), ended: Mutex::default() };
        let worker = Worker { stages: &under, queue: left, clock: clock.as_ref() };
        for (n, poll) in lane.polls.iter().enumerate() {
            let ended = if has_time() { under.ended() } else { Some(clock.now()) };
            if let Some(until) = ended {
                left.push(&lane.job_of(&lane.polls[n..], clock.now()), until);
                break;
            }
            let job = left.single(poll);
            worker.run(&job, 1, &job).await?;
        }
        if let Err(error) = under.visit.into_inner().close_or_leave().await {
            tracing::warn!(error = with_causes(&error), %host, "a lease could not be given back; it runs out");
        }
        Ok(())
    }
}
