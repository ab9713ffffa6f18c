//! Runs the polls of one message: host keys concurrently, and the polls of one host key in turn, under one brief lease.

use crate::feeds::poll::Poll;
use crate::politeness::access::Politeness;
use crate::politeness::visit::{LeaseOutcome, Visit};
use crate::worker::{PageJob, Settlement, Stages, Worker};
use async_trait::async_trait;
use curlew_model::{Envelope, HostKey, Job, Millis, PollJob, PollsJob, SourceKey, Timestamp, Work};
use curlew_policy::address;
use curlew_policy::politeness::admission::NotNow;
use curlew_ports::stage::{Result, Verdict, with_causes};
use curlew_ports::{Clock, PortError, Queue};
use futures::{StreamExt, TryStreamExt};
use parking_lot::Mutex;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Maximum number of polls of one message that run concurrently.
pub const POLLS_AT_ONCE: usize = 48;
/// Prefix of the name of a mark, before a message's first feed; the mark says which message was processed last.
const MARK: &str = "polls-";

/// Drops rows of feeds that were read together and not used.
struct RowsInUse<'a>(&'a Poll, &'a [SourceKey]);

impl Drop for RowsInUse<'_> {
    fn drop(&mut self) {
        self.0.rows.forget(self.1.iter());
    }
}

/// Jobs that go back into the queue; polls that wait for a host key's lease go back in one message.
struct Left<'a> {
    clock: &'a dyn Clock,
    after: Timestamp,
    jobs: Mutex<Vec<(Job, Timestamp)>>,
}

impl Left<'_> {
    async fn send(self, queue: &dyn Queue) -> Result<(), PortError> {
        let (mut together, mut from, mut sent) = (Vec::new(), Timestamp::MIN, Vec::new());
        let jobs = std::mem::take(&mut *self.jobs.lock());
        for (job, due) in jobs {
            match job.work {
                Work::Polls(waiting) => {
                    together.extend(waiting.polls);
                    from = from.max(due);
                }
                _ => sent.push((job, due)),
            }
        }
        if !together.is_empty() {
            sent.push((Job::new(self.made(together)), from));
        }
        if sent.is_empty() { Ok(()) } else { queue.send(&sent).await }
    }

    /// Returns polls as a new message with its own `made_at`, since the message that contained them is marked as done.
    fn made(&self, polls: Vec<PollJob>) -> PollsJob {
        PollsJob { made_at: self.clock.now().max(self.after + Millis(1)), polls }
    }

    fn push_now(&self, poll: &PollJob) {
        self.push(&Job::new(poll.clone()), self.clock.now());
    }

    fn push_together(&self, polls: &[&PollJob], until: Timestamp) {
        let polls = polls.iter().map(|poll| (*poll).clone()).collect();
        self.push(&Job::new(self.made(polls)), until);
    }

    fn push(&self, job: &Job, due: Timestamp) {
        self.jobs.lock().push((job.clone(), due));
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

    /// Sends the poll back as a job, which runs on its own and is then given up with its error.
    async fn dead_letter(&self, job: &Job, _: &str) -> Result<(), PortError> {
        self.push(job, self.clock.now());
        Ok(())
    }
}

struct UnderVisit<'v> {
    poll: &'v Poll,
    visit: futures::lock::Mutex<Box<Visit>>,
    /// Time until which the remaining polls wait, if the visit is over or a poll in it failed.
    ended: Mutex<Option<Timestamp>>,
}

#[async_trait]
impl Stages for UnderVisit<'_> {
    async fn run(&self, job: &Job) -> Result<Verdict> {
        let Work::Poll(poll) = &job.work else { return Ok(Verdict::Drop("it is no poll".into())) };
        let mut visit = self.visit.lock().await;
        // If the poll panics, the visit stays ended.
        *self.ended.lock() = Some(self.poll.intake.politeness.clock.now());
        let verdict = self.poll.run_under(&mut visit, &job.with(poll.clone())).await?;
        *self.ended.lock() = if let Verdict::Defer(until) = verdict { Some(until) } else { None };
        Ok(verdict)
    }

    async fn run_batch(&self, _: &[PageJob]) -> Vec<Result<Verdict>> {
        Vec::new()
    }
}

impl Poll {
    /// Runs the polls of a message; polls that wait or fail go back into the queue. A second delivery does nothing; if
    /// the first one did not finish, each poll becomes a job, since one of them may have killed the process.
    pub async fn run_all(&self, stages: &dyn Stages, job: &Envelope<PollsJob>) -> Result<Verdict> {
        let PollsJob { made_at, polls } = &job.work;
        let Some(first) = polls.first() else { return Ok(Verdict::Done) };
        let mark = format!("{MARK}{}", first.feed);
        let (done, seen) = self.marks.load(&mark).await?;
        if done == Some(*made_at) {
            return Ok(Verdict::Drop("these feeds were polled by an earlier delivery".into()));
        }
        if job.is_again {
            let now = self.intake.politeness.clock.now();
            let single = |poll: &PollJob| (Job { is_again: true, ..Job::new(poll.clone()) }, now);
            self.intake.queue.send(&polls.iter().map(single).collect::<Vec<_>>()).await?;
        } else {
            self.run_lanes(stages, &job.work).await?;
        }
        if let Err(error) = self.marks.swap(&mark, seen, *made_at).await {
            // The polls are settled; an error here would repeat all of them.
            tracing::warn!(
                error = with_causes(&error),
                "polls could not be marked as done; a second delivery repeats them"
            );
        }
        Ok(Verdict::Done)
    }

    async fn run_lanes(&self, stages: &dyn Stages, job: &PollsJob) -> Result<()> {
        let PollsJob { made_at, polls } = job;
        let Politeness { clock, rules, .. } = self.intake.politeness.as_ref();
        let left = Left { clock: clock.as_ref(), after: *made_at, jobs: Mutex::default() };
        let feeds: Vec<SourceKey> = polls.iter().map(|poll| poll.feed.clone()).collect();
        let asked_at = clock.now();
        self.rows.add(self.intake.sources.get_together(&feeds).await?, asked_at);
        let _rows = RowsInUse(self, &feeds);
        let mut by_host: BTreeMap<Option<HostKey>, Vec<&PollJob>> = BTreeMap::new();
        for poll in polls {
            let host = address::host_key_of(&poll.url, &self.intake.politeness.groups);
            by_host.entry(host).or_default().push(poll);
        }
        let mut lanes: Vec<_> = by_host.into_iter().collect();
        // The longest lanes go first, so that none of them begins when all others have ended.
        lanes.sort_by_key(|(_, polls)| Reverse(polls.len()));
        let until = asked_at + rules.lease_length();
        let run = futures::stream::iter(lanes).map(Ok);
        let run = run
            .try_for_each_concurrent(POLLS_AT_ONCE, |(host, polls)| self.run_lane(stages, host, polls, until, &left));
        run.await?;
        Ok(left.send(self.intake.queue.as_ref()).await?)
    }

    async fn run_lane(
        &self,
        stages: &dyn Stages,
        host: Option<HostKey>,
        polls: Vec<&PollJob>,
        until: Timestamp,
        left: &Left<'_>,
    ) -> Result<(), PortError> {
        let Politeness { clock, rules, .. } = self.intake.politeness.as_ref();
        let has_time = || clock.now() + rules.brief_length() <= until;
        let (Some(host), [first, _, ..]) = (&host, polls.as_slice()) else {
            let worker = Worker { stages, queue: left, clock: clock.as_ref() };
            for poll in &polls {
                if has_time() {
                    let job = Job::new((*poll).clone());
                    worker.run(&job, 1, &job).await?;
                } else {
                    left.push_now(poll);
                }
            }
            return Ok(());
        };
        let visit = match self.intake.politeness.open_for_poll(host, &format!("poll {}", first.feed), None).await {
            Ok(LeaseOutcome::Granted(visit)) => visit,
            Ok(LeaseOutcome::NotNow(NotNow { until, why: None })) => {
                left.push_together(&polls, until);
                return Ok(());
            }
            // Each poll writes the hold or block into its feed's row, or fails on its own.
            Ok(LeaseOutcome::NotNow(_) | LeaseOutcome::Blocked) | Err(_) => {
                polls.iter().for_each(|poll| left.push_now(poll));
                return Ok(());
            }
        };
        let under = UnderVisit { poll: self, visit: futures::lock::Mutex::new(visit), ended: Mutex::default() };
        let worker = Worker { stages: &under, queue: left, clock: clock.as_ref() };
        for (n, poll) in polls.iter().enumerate() {
            let ended = if has_time() { *under.ended.lock() } else { Some(clock.now()) };
            if let Some(until) = ended {
                left.push_together(&polls[n..], until);
                break;
            }
            let job = Job::new((*poll).clone());
            worker.run(&job, 1, &job).await?;
        }
        if let Err(error) = under.visit.into_inner().close_or_leave().await {
            tracing::warn!(error = with_causes(&error), %host, "a lease could not be given back; it runs out");
        }
        Ok(())
    }
}
