//! Jobs that were handed out before. One of them may have ended the process of an earlier invocation, by a document that takes
//! all memory or breaks a library, and would do it again.

use super::{Batch, Outcome};
use curlew_model::Millis;
use curlew_stages::stage::with_causes;
use curlew_stages::worker::Stages;

/// Divisor of an invocation's time that gives the most that such jobs get.
const PART: u64 = 2;

impl Batch {
    /// Runs jobs one at a time, each of which has left the queue before the next one begins. So whatever ends the process
    /// costs that one job, and none beside it is handed out again and again until it is given up. Jobs that there is no time
    /// for are sent again as new messages.
    pub(super) async fn alone(&self, stages: &dyn Stages, members: &[usize], turn: Millis, stop: Millis) {
        let began = self.clock.monotonic();
        let until = began + Millis(stop.saturating_sub(began).0 / PART);
        for (at, n) in members.iter().enumerate() {
            if !self.fits(&[*n]) || (at > 0 && self.clock.monotonic() >= until) {
                self.leave(&members[at..]);
                break;
            }
            let lane = [*n];
            tokio::select! {
                () = self.lane(stages, &lane, turn) => {}
                () = self.clock.sleep(stop.saturating_sub(self.clock.monotonic())) => {
                    tracing::warn!("the time is up; a job that ran alone is broken off and runs again");
                }
            }
            self.send_again(1).await;
            self.delete_early(*n).await;
        }
        self.send_again(1).await;
    }

    /// Deletes a message that has ended, unless it is to be handed out again.
    async fn delete_early(&self, n: usize) {
        let outcome = self.board().outcomes[n];
        if !matches!(outcome, Some(Outcome::Done | Outcome::Deferred | Outcome::GivenUp)) {
            return;
        }
        let message = &self.messages[n];
        if let Err(error) = self.queue.delete(message).await {
            // It is deleted when the invocation has ended.
            tracing::warn!(message = %message.id, error = %with_causes(&error), "a message could not be deleted early");
        }
    }
}
