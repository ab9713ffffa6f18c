//! Jobs with an unfinished earlier delivery. One of them may have killed the process of an earlier invocation, for
//! example with a document that takes all memory, and may kill it again.

use super::put_back::within;
use super::{Batch, Outcome};
use crate::sqs_queue::{Message, MessageQueue};
use curlew_crawl::worker::Stages;
use curlew_model::{Millis, Timestamp, Work};
use curlew_policy::delivery::after_cut_off;
use curlew_ports::stage::with_causes;
use futures::StreamExt;

/// Such jobs get at most the invocation's time divided by this.
const PART: u64 = 2;
/// Number of messages that are hidden concurrently.
const HIDES: usize = 16;
/// Maximum time for changing the visibility of messages.
const HIDING_TIME: Millis = Millis::from_secs(5);

/// Returns the number of processes that a message's job has killed; 0 at its first delivery.
pub(super) async fn deaths(queue: &dyn MessageQueue, message: &Message) -> u32 {
    if message.receives <= 1 {
        return 0;
    }
    let deaths = queue.deaths(message).await;
    // With 0, the job runs once more, before jobs that are known to kill processes.
    message.done_or_warn(deaths, "it is not known how many processes a job has ended").unwrap_or(0)
}

impl Batch {
    /// Runs jobs one at a time. Each is settled in the queue before the next one starts, and counts as having killed
    /// its process until it returns. So if the process dies, only that job is affected, and the others are not
    /// delivered again and again until they are given up. Jobs for which no time is left are sent as new messages,
    /// unless they have killed a process: a new message would lose that count.
    pub(super) async fn alone(&self, stages: &dyn Stages, members: &[usize], turn: Millis) {
        if members.is_empty() {
            return;
        }
        self.hide_all().await;
        let until = self.clock.monotonic() + Millis(self.time_left().0 / PART);
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
                () = self.clock.sleep(self.time_left()) => {
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

    /// Makes every message available again soon after this invocation's deadline if its process dies. Otherwise the
    /// queue's visibility timeout applies, which is several times as long.
    async fn hide_all(&self) {
        let left = self.bounds.deadline.saturating_sub(self.clock.monotonic());
        let until = after_cut_off(self.bounds.lease(self.stage), self.clock.now() + left);
        let messages = futures::stream::iter(self.numbers_of(None));
        let hiding = messages.for_each_concurrent(HIDES, |n| self.hide(n, until));
        let consequence = "no time to hide all messages anew; some come back late if this process dies";
        within(HIDING_TIME, self.clock.as_ref(), hiding, consequence).await;
    }

    async fn hide(&self, n: usize, until: Timestamp) {
        let message = &self.messages[n];
        message.done_or_warn(self.queue.hide(message, until).await, "a message could not be hidden anew");
    }

    async fn count_deaths(&self, n: usize, deaths: u32) {
        let message = &self.messages[n];
        let noted = self.queue.note_deaths(message, deaths).await;
        // After an error, only the receive count shows that this job kills its process.
        message.done_or_warn(noted, "the processes that a job ends could not be counted");
    }

    /// Splits a visit that has killed a process into one job per page, so that only the page responsible is given up.
    /// Returns false if there is nothing to split or sending failed.
    async fn split(&self, n: usize) -> bool {
        let Some(job) = self.jobs[n].as_ref().filter(|_| self.deaths[n] > 0) else { return false };
        let Work::Fetch(visit) = &job.work else { return false };
        if visit.items.len() < 2 {
            return false;
        }
        tracing::warn!(
            host = %visit.host,
            pages = visit.items.len(),
            "a visit that ends its process is split into its pages"
        );
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

    /// Deletes a message that has ended; returns false if the message is to be handed out again.
    async fn delete_early(&self, n: usize) -> bool {
        let outcome = self.board().outcomes[n];
        if !matches!(outcome, Some(Outcome::Done | Outcome::Deferred | Outcome::GivenUp)) {
            return false;
        }
        let message = &self.messages[n];
        // After an error, the message is deleted at the end of the invocation.
        message.done_or_warn(self.queue.delete(message).await, "a message could not be deleted early");
        true
    }
}
