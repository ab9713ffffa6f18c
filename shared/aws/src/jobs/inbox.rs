//! Receiving jobs, for operators and tests.

use super::held::ReceivedMessage;
use super::message::OutgoingMessage;
use super::park::Parked;
use super::receive::BATCH;
use super::{Jobs, ReadError, attachments, dead, queue_named};
use async_trait::async_trait;
use aws_sdk_sqs::types::{Message, MessageSystemAttributeName, QueueAttributeName};
use curlew_model::{Job, Millis, QueueName, Timestamp};
use curlew_ports::{Dead, Delivery, Inbox, PortError, QueueCount, Receipt, Waiting};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Wait time of a receive request, in seconds; without a wait SQS queries only some of its servers.
const LOOK: i32 = 1;
/// Maximum visibility timeout of SQS. Jobs that are put back for a longer time are parked.
const LONGEST_HIDING: Millis = Millis::from_hours(12);
/// Maximum number of rows that are read to find the parked jobs with the earliest due times.
const MOST_PARKED: usize = 10_000;
/// Separator between the two parts of a receipt: the stage and SQS's receipt handle.
const BETWEEN: char = '/';

#[async_trait]
impl Inbox for Jobs {
    /// Returns deliveries in no particular order. `now` is ignored: SQS uses its own clock.
    async fn receive(
        &self,
        stage: QueueName,
        max: usize,
        visibility: Millis,
        _now: Timestamp,
    ) -> Result<Vec<Delivery>, PortError> {
        let address = if max > 0 { self.address(stage).await? } else { return Ok(Vec::new()) };
        let mut deliveries = Vec::new();
        let mut more = true;
        while more && deliveries.len() < max {
            let want = (max - deliveries.len()).min(BATCH);
            let until = (self.now)() + visibility;
            let look = if deliveries.is_empty() { LOOK } else { 0 };
            let messages = self.some(stage, address, want, self.seconds_until(until, LONGEST_HIDING), look).await?;
            more = !messages.is_empty();
            for message in messages {
                deliveries.push(self.delivery(stage, message, until).await?);
            }
        }
        Ok(deliveries)
    }

    async fn ack(&self, receipt: &Receipt) -> Result<(), PortError> {
        let now = (self.now)();
        let Some((stage, handle)) = read(receipt) else { return Ok(()) };
        self.held.take(receipt, now);
        self.delete_message(stage, handle).await
    }

    /// Parks a job that is put back for more than 12 hours; its receive count then restarts.
    async fn put_back(&self, receipt: &Receipt, due: Timestamp) -> Result<(), PortError> {
        let now = (self.now)();
        let (Some((stage, handle)), Some(kept)) = (read(receipt), self.held.take(receipt, now)) else { return Ok(()) };
        let put_back = async {
            if due.since(now) <= LONGEST_HIDING {
                return self.put_back_message(stage, handle, due).await;
            }
            self.park(vec![(stage, kept.body.clone(), due)]).await?;
            self.delete_message(stage, handle).await
        };
        put_back.await.inspect_err(|_| self.held.put_back(receipt, kept))
    }

    async fn dead_letter(&self, receipt: &Receipt, error: &str, now: Timestamp) -> Result<(), PortError> {
        let Some((stage, handle)) = read(receipt) else { return Ok(()) };
        let Some(kept) = self.held.take(receipt, (self.now)()) else { return Ok(()) };
        let moved = async {
            self.give_up(kept.stage, &kept.body, error, now).await?;
            self.delete_message(stage, handle).await
        };
        moved.await.inspect_err(|_| self.held.put_back(receipt, kept))
    }

    /// Considers only parked jobs: SQS does not reveal when delayed messages are due.
    async fn next_due(&self) -> Result<Option<Timestamp>, PortError> {
        Ok(self.parked_facts().await?.into_iter().filter_map(|facts| facts.due).min())
    }

    /// Returns SQS's approximate numbers. Jobs that were put back count as handed out, and `now` is ignored. Reads the
    /// rows of all parked jobs once.
    async fn counts(&self, now: Timestamp) -> Result<BTreeMap<QueueName, QueueCount>, PortError> {
        let mut counts = BTreeMap::new();
        for stage in QueueName::ALL {
            counts.insert(stage, self.glance(stage, now).await?);
        }
        for stage in self.parked_facts().await?.into_iter().filter_map(|facts| facts.stage) {
            counts.entry(stage).or_default().waiting += 1;
        }
        Ok(counts)
    }

    /// Does not count parked jobs, since that would read each of them.
    async fn glance(&self, stage: QueueName, _now: Timestamp) -> Result<QueueCount, PortError> {
        let live = self.counts(&self.names.queue(stage), self.address(stage).await?).await?;
        let dead = self.counts(&self.names.dead_queue(stage), self.dead_address(stage).await?).await?;
        Ok(QueueCount { ready: live[0], waiting: live[2], in_flight: live[1], dead: dead[0] + dead[1] })
    }

    /// Returns only parked jobs: SQS does not list delayed messages.
    async fn waiting(&self, now: Timestamp, limit: usize) -> Result<Vec<Waiting>, PortError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let rows = self.all_parked(MOST_PARKED).await?;
        let mut parked: Vec<_> = rows.iter().filter_map(|row| Parked::read(row).ok()).collect();
        parked.retain(|parked| parked.due > now);
        parked.sort_by_key(|parked| parked.due);
        parked.truncate(limit);
        let mut waiting = Vec::with_capacity(parked.len());
        for Parked { body, due, .. } in parked {
            waiting.push(Waiting { job: self.job(&body).await?, due });
        }
        Ok(waiting)
    }

    /// Reads all dead-letter queues and makes the messages visible again.
    async fn dead(&self, limit: usize) -> Result<Vec<Dead>, PortError> {
        let mut dead = Vec::new();
        for stage in QueueName::ALL.into_iter().filter(|_| limit > 0) {
            let (seen, _) = self.look(stage, |_| false).await?;
            dead.extend(seen.iter().map(|message| dead::read(stage, message)));
            self.show_again(stage, &seen).await?;
        }
        dead.sort_by_key(|dead| Reverse(dead.at));
        dead.truncate(limit);
        Ok(dead)
    }

    /// Sends the message again, then deletes it from the dead-letter queue. A crash in between leaves it in both.
    async fn redrive(&self, receipt: &Receipt, now: Timestamp) -> Result<(), PortError> {
        let (stage, found) = self.find_dead(receipt).await?;
        let outgoing = OutgoingMessage::new(dead::text_of(&found), now);
        self.send_messages(stage, &[outgoing]).await.into_iter().collect::<Result<(), _>>()?;
        let handle = found.receipt_handle.unwrap_or_default();
        self.delete(stage, self.dead_address(stage).await?, &handle).await
    }

    /// Deletes the message from the dead-letter queue.
    async fn discard(&self, receipt: &Receipt) -> Result<(), PortError> {
        let (stage, found) = self.find_dead(receipt).await?;
        self.delete(stage, self.dead_address(stage).await?, &found.receipt_handle.unwrap_or_default()).await
    }
}

impl Jobs {
    /// Deletes a message that an event source mapping has passed to this function, before the mapping would delete it
    /// at the function's return. After an error, the mapping deletes it. An expired handle is no error.
    pub async fn delete_message(&self, stage: QueueName, handle: &str) -> Result<(), PortError> {
        self.delete(stage, self.address(stage).await?, handle).await
    }

    /// Makes SQS hand out a message again at `due`, but within 12 hours, instead of at the end of its visibility
    /// timeout. The message came from an event source mapping, and the function is going to report it as failed. An
    /// expired handle is no error.
    pub async fn put_back_message(&self, stage: QueueName, handle: &str, due: Timestamp) -> Result<(), PortError> {
        self.hide(stage, handle, self.seconds_until(due, LONGEST_HIDING)).await
    }

    /// Returns the approximate number of messages in a stage's queue: available, in flight and delayed. SQS may be a
    /// minute behind.
    pub async fn messages(&self, stage: QueueName) -> Result<u64, PortError> {
        Ok(self.counts(&self.names.queue(stage), self.address(stage).await?).await?.into_iter().sum())
    }

    /// Returns the approximate number of scheduled events that have failed for good; they have a queue of their own.
    pub async fn dead_events(&self) -> Result<u64, PortError> {
        let name = self.names.part("schedules-dead");
        let address = self.find(name.clone()).await?;
        Ok(self.counts(&name, &address).await?.into_iter().sum())
    }

    /// Reads one row of a parked job, to check the permission to do so.
    pub async fn try_parked(&self) -> Result<(), PortError> {
        self.all_parked(1).await.map(drop)
    }

    /// Converts a message to a delivery, and remembers it until its visibility timeout ends.
    async fn delivery(&self, stage: QueueName, message: Message, until: Timestamp) -> Result<Delivery, PortError> {
        let body = attachments::text_of(message.body.unwrap_or_default(), message.message_attributes.as_ref());
        let receipt = Receipt(format!("{}{BETWEEN}{}", stage.as_str(), message.receipt_handle.unwrap_or_default()));
        let count = MessageSystemAttributeName::ApproximateReceiveCount;
        let receives = message.attributes.and_then(|mut a| a.remove(&count)).and_then(|n| n.parse().ok()).unwrap_or(1);
        let job = self.job(&body).await?;
        self.held.keep((self.now)(), [(receipt.clone(), ReceivedMessage { stage, body, until })]);
        Ok(Delivery { receipt, job, receives })
    }

    /// Returns the job of a message, or the reason why it has none.
    async fn job(&self, body: &str) -> Result<Result<Job, String>, PortError> {
        match self.read_message(body).await {
            Ok(job) => Ok(Ok(job)),
            Err(ReadError::Unreadable(why)) => Ok(Err(why)),
            Err(ReadError::Port(error)) => Err(error),
        }
    }

    /// Returns the approximate numbers of available, in-flight and delayed messages.
    async fn counts(&self, name: &str, address: &str) -> Result<[u64; 3], PortError> {
        const NAMES: [QueueAttributeName; 3] = [
            QueueAttributeName::ApproximateNumberOfMessages,
            QueueAttributeName::ApproximateNumberOfMessagesNotVisible,
            QueueAttributeName::ApproximateNumberOfMessagesDelayed,
        ];
        let ask = self.sqs.get_queue_attributes().queue_url(address).set_attribute_names(Some(NAMES.to_vec()));
        let answer = ask.send().await.map_err(|e| self.context("count the jobs", name).failed(e))?;
        let counts = answer.attributes.unwrap_or_default();
        Ok(NAMES.map(|name| counts.get(&name).and_then(|n| n.parse().ok()).unwrap_or(0)))
    }
}

/// Parses a receipt into the stage and SQS's receipt handle; `None` for any other text.
fn read(receipt: &Receipt) -> Option<(QueueName, &str)> {
    let (name, handle) = receipt.0.split_once(BETWEEN)?;
    let stage = queue_named(name)?;
    (!handle.is_empty()).then_some((stage, handle))
}
