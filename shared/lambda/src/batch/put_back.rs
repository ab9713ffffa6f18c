//! Puts messages back, so that SQS hands them out again before their visibility timeout ends.

use super::{Batch, Outcome, Summary};
use crate::sqs_queue::{Message, MessageQueue};
use curlew_model::{Millis, Timestamp};
use curlew_policy::delivery::{after_cut_off, after_refused_delivery};
use curlew_ports::Clock;
use futures::StreamExt;

/// Part of [`super::LAST_THINGS`] for putting messages back. This happens up to twice: for cancelled jobs, and for jobs
/// that could not be sent again.
const PUT_BACK_TIME: Millis = Millis::from_secs(1);
/// Maximum time to put a whole batch back.
const PUT_ALL_BACK_TIME: Millis = Millis::from_secs(10);
/// Number of messages that are put back concurrently.
const PUT_BACKS: usize = 16;
const NOT_ALL_BACK: &str = "no time to put all messages back; some come when their visibility ends";

impl Batch {
    /// Puts back the messages of cancelled jobs. They count as delivered, so these jobs run alone the next time.
    pub(super) async fn put_back_cut_off(&self) {
        let due = after_cut_off(self.bounds.lease(self.stage), self.clock.now());
        let begun: Vec<_> = self.numbers_of(Some(Outcome::Begun)).into_iter().map(|n| (n, due)).collect();
        self.put_back_each(&begun).await;
    }

    /// Puts messages back, each until its instant, as long as there is time; the others are handed out when their
    /// visibility timeout ends.
    pub(super) async fn put_back_each(&self, messages: &[(usize, Timestamp)]) {
        let messages = futures::stream::iter(messages);
        let put_backs = messages.for_each_concurrent(PUT_BACKS, |(n, due)| self.put_back(*n, *due));
        within(PUT_BACK_TIME, self.clock.as_ref(), put_backs, NOT_ALL_BACK).await;
    }

    /// Puts a message back until `due` and marks it as failed.
    pub(super) async fn put_back(&self, n: usize, due: Timestamp) {
        let message = &self.messages[n];
        // After an error, the message is handed out when its visibility timeout ends.
        message.done_or_warn(self.queue.put_back(message, due).await, "a message could not be put back sooner");
        self.note(n, Outcome::Failed);
    }
}

/// Puts back all messages of a refused batch, unread and as failed. This program may not know the format of their jobs,
/// and would give them up or change them if it read them and sent them again.
pub(crate) async fn put_back_all(messages: &[Message], queue: &dyn MessageQueue, clock: &dyn Clock) -> Summary {
    let now = clock.now();
    let put_backs = futures::stream::iter(messages).for_each_concurrent(PUT_BACKS, |message| async move {
        let put_back = queue.put_back(message, after_refused_delivery(message.receives, now)).await;
        message.done_or_warn(put_back, "a message comes back when its visibility ends");
    });
    within(PUT_ALL_BACK_TIME, clock, put_backs, NOT_ALL_BACK).await;
    let failures = messages.iter().map(|message| message.id.clone()).collect();
    Summary { messages: messages.len(), failures, ..Summary::default() }
}

/// Does `work` for at most `time`; logs `consequence` if it is not finished by then.
pub(super) async fn within(time: Millis, clock: &dyn Clock, work: impl Future<Output = ()>, consequence: &str) {
    tokio::select! {
        () = work => {}
        () = clock.sleep(time) => tracing::warn!("{consequence}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use crate::tests::world::{TestWorld, visit};
    use curlew_model::QueueName;
    use curlew_policy::delivery::REFUSED_RETRY;
    use curlew_ports::{Inbox, Queue};

    #[tokio::test(start_paused = true)]
    async fn refused_messages_wait_unread_and_each_is_reported_as_failed() {
        let mut world = TestWorld::new(QueueName::Fetch);
        let now = world.clock.now();
        let jobs = ["a.example", "b.example"].map(|host| (visit(host, &[&format!("https://{host}/")]), now));
        world.jobs.send(&jobs).await.unwrap();
        let mut messages = world.handed_out(Millis::from_hours(1)).await;
        messages[0].body = "of a later program".to_owned();
        messages[1].receives = 2;
        let ids: Vec<String> = messages.iter().map(|message| message.id.clone()).collect();
        let summary = put_back_all(&messages, world.queue().as_ref(), world.clock.as_ref()).await;
        assert_eq!((summary.messages, summary.given_up, &summary.failures), (2, 0, &ids));
        let waits = world.jobs.waiting(now, 10).await.unwrap().into_iter().map(|waiting| waiting.due.since(now));
        assert_eq!(waits.collect::<Vec<_>>(), [REFUSED_RETRY, REFUSED_RETRY.saturating_mul(3)]);
        assert_eq!(world.reasons().await, Vec::<String>::new(), "nothing is given up");
        // The messages also count as failed if they cannot be put back.
        world.hangs = true;
        let summary = put_back_all(&messages, world.queue().as_ref(), world.clock.as_ref()).await;
        assert_eq!(summary.failures, ids);
        assert_eq!(world.clock.now().since(now), PUT_ALL_BACK_TIME);
    }
}
