//! Combines messages of many senders into few requests.
//!
//! A hundred concurrent visits each send one page at a time, and SQS bills every request. So the first sender waits a
//! moment for others and then sends the messages of all; each caller gets the outcome of its own messages. There is no
//! background task: all work happens in a caller's call and ends with it.

use super::Jobs;
use super::message::{OutgoingMessage, REQUEST_LIMIT};
use super::send::BATCH;
use crate::error::again;
use curlew_model::QueueName;
use curlew_ports::PortError;
use parking_lot::Mutex;
use std::time::Duration;
use tokio::sync::{Notify, oneshot};

/// Time for which the first sender waits for others.
const GATHER: Duration = Duration::from_millis(50);
/// Time for which pages on their way to extraction are gathered; they are large and come one by one from visits. A
/// visit pauses for a second before its next call anyway, so only its last page is delayed.
const GATHER_PAGES: Duration = Duration::from_secs(1);

/// Messages to one queue, from all senders.
#[derive(Debug, Default)]
pub(super) struct Together {
    /// Locked while gathering.
    turn: tokio::sync::Mutex<()>,
    waiting: Mutex<Waiting>,
    /// Notified when enough messages for a request have been gathered.
    enough: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    groups: Vec<Group>,
    last_number: u64,
}

/// The messages of one caller.
#[derive(Debug)]
struct Group {
    number: u64,
    messages: Vec<OutgoingMessage>,
    answer: oneshot::Sender<Result<(), PortError>>,
}

impl Together {
    /// Sends the messages, together with those of other callers if there are any.
    pub(super) async fn send(
        &self,
        jobs: &Jobs,
        stage: QueueName,
        messages: Vec<OutgoingMessage>,
    ) -> Result<(), PortError> {
        loop {
            let (number, mut answer) = self.join(messages.clone());
            let told = tokio::select! {
                biased;
                told = &mut answer => told,
                turn = self.turn.lock() => {
                    let is_waiting = self.waiting.lock().groups.iter().any(|group| group.number == number);
                    if is_waiting {
                        self.gather(stage).await;
                        let groups = std::mem::take(&mut self.waiting.lock().groups);
                        drop(turn);
                        send_for_all(jobs, stage, groups).await;
                    } else {
                        drop(turn);
                    }
                    answer.await
                }
            };
            // Without an answer, the caller that was sending for all is gone. Messages may be sent twice, but are never
            // lost.
            if let Ok(result) = told {
                return result;
            }
        }
    }

    fn join(&self, messages: Vec<OutgoingMessage>) -> (u64, oneshot::Receiver<Result<(), PortError>>) {
        let (answer, told) = oneshot::channel();
        let mut waiting = self.waiting.lock();
        waiting.last_number += 1;
        let number = waiting.last_number;
        waiting.groups.push(Group { number, messages, answer });
        if waiting.is_enough() {
            self.enough.notify_one();
        }
        (number, told)
    }

    async fn gather(&self, stage: QueueName) {
        if self.waiting.lock().is_enough() {
            return;
        }
        let longest = if stage == QueueName::Extract { GATHER_PAGES } else { GATHER };
        // A permit left over from an earlier gathering only shortens this one.
        let _ = tokio::time::timeout(longest, self.enough.notified()).await;
    }
}

impl Waiting {
    /// True if further messages would not save a request.
    fn is_enough(&self) -> bool {
        let messages = self.groups.iter().flat_map(|group| &group.messages);
        let (count, bytes) = messages.fold((0, 0), |(n, bytes), message| (n + 1, bytes + message.length()));
        count >= BATCH || bytes >= REQUEST_LIMIT
    }
}

/// Sends the messages of all callers, and gives each caller its outcome.
async fn send_for_all(jobs: &Jobs, stage: QueueName, groups: Vec<Group>) {
    let mut messages = Vec::new();
    let mut answers = Vec::new();
    // A caller that is gone no longer wants its messages sent.
    for group in groups.into_iter().filter(|group| !group.answer.is_closed()) {
        answers.push((group.answer, group.messages.len()));
        messages.extend(group.messages);
    }
    let results = jobs.send_messages(stage, &messages).await;
    let mut rest = results.as_slice();
    for (answer, count) in answers {
        let (own, others) = rest.split_at(count);
        rest = others;
        let failed = own.iter().find_map(|result| result.as_ref().err());
        // Sending the answer fails if its caller is gone.
        let _ = answer.send(failed.map_or(Ok(()), |error| Err(again(error))));
    }
}
