//! Puts messages back, so that SQS hands them out again before their visibility ends.

use super::{Batch, Outcome};
use curlew_model::{Millis, Timestamp};
use curlew_policy::delivery::after_cut_off;
use curlew_ports::stage::with_causes;
use futures::StreamExt;

/// Part of [`super::LAST_THINGS`] for putting messages back, which happens up to twice: those of jobs that are cut
/// off, and those of jobs that cannot be sent again.
const PUT_BACK_TIME: Millis = Millis::from_secs(1);
/// Messages put back at once.
const PUT_BACKS: usize = 16;

impl Batch {
    /// Puts back the messages of jobs that were cut off. They count as handed out, so these jobs run alone the next
    /// time.
    pub(super) async fn put_back_cut_off(&self) {
        let due = after_cut_off(self.bounds.lease(self.stage), self.clock.now());
        let begun: Vec<_> = self.numbers_of(Some(Outcome::Begun)).into_iter().map(|n| (n, due)).collect();
        self.put_back_each(&begun).await;
    }

    /// Has messages handed out again, each at its instant, as far as there is time: the others come when their
    /// visibility ends.
    pub(super) async fn put_back_each(&self, messages: &[(usize, Timestamp)]) {
        let messages = futures::stream::iter(messages);
        tokio::select! {
            () = messages.for_each_concurrent(PUT_BACKS, |(n, due)| self.put_back(*n, *due)) => {}
            () = self.clock.sleep(PUT_BACK_TIME) => {
                tracing::warn!("no time to put all messages back; some come when their visibility ends");
            }
        }
    }

    /// Has a message handed out again at an instant.
    pub(super) async fn put_back(&self, n: usize, due: Timestamp) {
        let message = &self.messages[n];
        if let Err(error) = self.queue.put_back(message, due).await {
            // Then it is handed out again when its visibility ends, which is later.
            tracing::warn!(message = %message.id, error = %with_causes(&error), "a message could not be put back sooner");
        }
        self.note(n, Outcome::Failed);
    }
}
