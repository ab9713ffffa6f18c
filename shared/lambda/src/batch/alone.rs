//! Jobs that were handed out before. One of them may have ended the process of an earlier invocation, by a document
//! that takes all memory or breaks a library, and would do it again.

use super::{Batch, Message, MessageQueue, Outcome};
use curlew_crawl::worker::Stages;
use curlew_model::{Millis, Timestamp, Work};
use curlew_policy::delivery::after_cut_off;
use curlew_ports::stage::with_causes;
use futures::StreamExt;

/// Divisor of an invocation's time that gives the most that such jobs get.
const PART: u64 = 2;
/// Messages hidden at once.
const HIDES: usize = 16;
/// The most time for hiding messages anew.
const HIDING_TIME: Millis = Millis::from_secs(5);

/// Returns the number of processes that a message's job has ended. Only one that was handed out before can have.
pub(super) async fn deaths(queue: &dyn MessageQueue, message: &Message) -> u32 {
    if message.receives <= 1 {
        return 0;
    }
    queue.deaths(message).await.unwrap_or_else(|error| {
        // The job then runs once more, before others that are known to end processes.
        let error = with_causes(&error);
        tracing::warn!(message = %message.id, error, "it is not known how many processes a job has ended");
        0
    })
}

impl Batch {
    /// Runs jobs one at a time, each of which has left the queue before the next one begins, and is counted as one that
    /// ends its process until it has returned. So whatever ends the process costs that one job, and none beside it is
    /// handed out again and again until it is given up. Jobs that there is no time for are sent again as new messages,
    /// unless they have ended a process: a new message would not be known for that.
    pub(super) async fn alone(&self, stages: &dyn Stages, members: &[usize], turn: Millis, stop: Millis) {
        if members.is_empty() {
            return;
        }
        self.hide_all().await;
        let began = self.clock.monotonic();
        let until = began + Millis(stop.saturating_sub(began).0 / PART);
        for (at, n) in members.iter().enumerate() {
            if !self.fits(&[*n]) || (at > 0 && self.clock.monotonic() >= until) {
                let (deadly, others): (Vec<usize>, Vec<usize>) =
                    members[at..].iter().partition(|n| self.deaths[**n] > 0);
                self.leave(&others);
                let due = after_cut_off(Millis::ZERO, self.clock.now());
                self.put_back_each(&deadly.into_iter().map(|n| (n, due)).collect::<Vec<_>>()).await;
                break;
            }
            if self.split(*n).await {
                continue;
            }
            self.count_deaths(*n, self.deaths[*n].saturating_add(1)).await;
            let lane = [*n];
            tokio::select! {
                () = self.lane(stages, &lane, turn) => {}
                () = self.clock.sleep(stop.saturating_sub(self.clock.monotonic())) => {
                    tracing::warn!("the time is up; a job that ran alone is broken off and runs again");
                }
            }
            self.send_again(1).await;
            if !self.delete_early(*n).await {
                self.count_deaths(*n, self.deaths[*n]).await;
            }
        }
        self.send_again(1).await;
    }

    /// Has every message come back soon after the end of this invocation, if its process dies, and not when the
    /// visibility timeout of the queue ends, which is several times as long.
    async fn hide_all(&self) {
        let left = self.bounds.deadline.saturating_sub(self.clock.monotonic());
        let until = after_cut_off(self.bounds.lease(self.stage), self.clock.now() + left);
        let messages = futures::stream::iter(self.numbers_of(None));
        tokio::select! {
            () = messages.for_each_concurrent(HIDES, |n| self.hide(n, until)) => {}
            () = self.clock.sleep(HIDING_TIME) => {
                tracing::warn!("no time to hide all messages anew; some come back late if this process dies");
            }
        }
    }

    async fn hide(&self, n: usize, until: Timestamp) {
        let message = &self.messages[n];
        if let Err(error) = self.queue.hide(message, until).await {
            tracing::warn!(message = %message.id, error = %with_causes(&error), "a message could not be hidden anew");
        }
    }

    async fn count_deaths(&self, n: usize, deaths: u32) {
        let message = &self.messages[n];
        if let Err(error) = self.queue.note_deaths(message, deaths).await {
            // If this job ends the process, only its deliveries tell.
            let error = with_causes(&error);
            tracing::warn!(message = %message.id, error, "the processes that a job ends could not be counted");
        }
    }

    /// Sends the pages of a visit that has ended a process one by one, so that only the one that does it is given up in
    /// the end. Returns false if there is nothing to split, or it could not be sent.
    async fn split(&self, n: usize) -> bool {
        let Some(job) = self.jobs[n].as_ref().filter(|_| self.deaths[n] > 0) else { return false };
        let Work::Fetch(visit) = &job.work else { return false };
        if visit.items.len() < 2 {
            return false;
        }
        tracing::warn!(host = %visit.host, pages = visit.items.len(), "a visit that ends its process is split into its pages");
        let now = self.clock.now();
        let pages: Vec<_> = visit.singles().map(|single| (job.with(single).into_job(), now)).collect();
        if let Err(error) = self.queue.send(&pages).await {
            tracing::warn!(error = %with_causes(&error), "a visit could not be split");
            return false;
        }
        self.note(n, Outcome::Deferred);
        self.delete_early(n).await;
        true
    }

    /// Deletes a message that has ended; returns false if it is to be handed out again.
    async fn delete_early(&self, n: usize) -> bool {
        let outcome = self.board().outcomes[n];
        if !matches!(outcome, Some(Outcome::Done | Outcome::Deferred | Outcome::GivenUp)) {
            return false;
        }
        let message = &self.messages[n];
        if let Err(error) = self.queue.delete(message).await {
            // The message is deleted when the invocation has ended.
            tracing::warn!(message = %message.id, error = %with_causes(&error), "a message could not be deleted early");
        }
        true
    }
}
