//! Receiving, for operators and tests.

use super::held::ReceivedMessage;
use super::park::Parked;
use super::receive::BATCH;
use super::{Jobs, ReadError, seconds_until, wall_clock};
use async_trait::async_trait;
use aws_sdk_sqs::types::{Message, MessageSystemAttributeName, QueueAttributeName};
use curlew_model::{Millis, Stage, Timestamp};
use curlew_ports::{Dead, Delivery, Inbox, PortError, QueueCount, Receipt, Waiting};

/// How long SQS looks for messages before it says that there are none; without waiting it asks only some of its machines.
const LOOK: i32 = 1;
/// The longest visibility that SQS knows. What is put back for longer is parked.
const LONGEST_HIDING: Millis = Millis::from_hours(12);
/// Rows that are read at most to tell which parked jobs are due first.
const MOST_PARKED: usize = 10_000;
/// Parts a receipt: the stage, and SQS's own.
const BETWEEN: char = '/';

#[async_trait]
impl Inbox for Jobs {
    /// In no promised order. `now` is not looked at: SQS goes by its own clock.
    async fn receive(
        &self,
        stage: Stage,
        max: usize,
        visibility: Millis,
        _now: Timestamp,
    ) -> Result<Vec<Delivery>, PortError> {
        let address = if max > 0 { self.address(stage).await? } else { return Ok(Vec::new()) };
        let mut deliveries = Vec::new();
        let mut more = true;
        while more && deliveries.len() < max {
            let want = (max - deliveries.len()).min(BATCH);
            let until = wall_clock() + visibility;
            let look = if deliveries.is_empty() { LOOK } else { 0 };
            let messages = self.some(stage, address, want, seconds_until(until, LONGEST_HIDING), look).await?;
            more = !messages.is_empty();
            for message in messages {
                deliveries.push(self.delivery(stage, message, until).await?);
            }
        }
        Ok(deliveries)
    }

    async fn ack(&self, receipt: &Receipt) -> Result<(), PortError> {
        let now = wall_clock();
        let Some((stage, handle)) = read(receipt) else { return Ok(()) };
        self.held.take(receipt, now);
        self.delete(stage, self.address(stage).await?, handle).await
    }

    /// What is put back for longer than 12 hours is parked; it is counted as received for the first time then.
    async fn put_back(&self, receipt: &Receipt, due: Timestamp) -> Result<(), PortError> {
        let now = wall_clock();
        let (Some((stage, handle)), Some(kept)) = (read(receipt), self.held.take(receipt, now)) else { return Ok(()) };
        let done = if due.since(now) > LONGEST_HIDING {
            self.park_instead(stage, handle, &kept, due).await
        } else {
            self.hide(stage, handle, seconds_until(due, LONGEST_HIDING)).await
        };
        done.inspect_err(|_| self.held.put_back(receipt, kept))
    }

    async fn dead_letter(&self, receipt: &Receipt, error: &str, now: Timestamp) -> Result<(), PortError> {
        let Some((stage, handle)) = read(receipt) else { return Ok(()) };
        let Some(kept) = self.held.take(receipt, wall_clock()) else { return Ok(()) };
        let moved = async {
            self.give_up(kept.stage, &kept.body, error, now).await?;
            self.delete(stage, self.address(stage).await?, handle).await
        };
        moved.await.inspect_err(|_| self.held.put_back(receipt, kept))
    }

    /// Of parked jobs only: SQS does not tell when the messages that it keeps back are due.
    async fn next_due(&self) -> Result<Option<Timestamp>, PortError> {
        Ok(self.parked_facts().await?.into_iter().filter_map(|facts| facts.due).min())
    }

    /// About so many: SQS counts in passing. Jobs that were put back count as handed out, and `now` is not looked at.
    async fn count(&self, stage: Stage, now: Timestamp) -> Result<QueueCount, PortError> {
        let queued = self.glance(stage, now).await?;
        let parked = self.parked_facts().await?;
        let parked = parked.iter().filter(|facts| facts.stage == Some(stage)).count();
        Ok(QueueCount { waiting: queued.waiting + u64::try_from(parked).unwrap_or(0), ..queued })
    }

    /// Without parked jobs: each of them would be read.
    async fn glance(&self, stage: Stage, _now: Timestamp) -> Result<QueueCount, PortError> {
        let live = self.counts(stage, self.address(stage).await?).await?;
        let dead = self.counts(stage, self.dead_address(stage).await?).await?;
        Ok(QueueCount { ready: live[0], waiting: live[2], in_flight: live[1], dead: dead[0] + dead[1] })
    }

    /// Parked jobs only: SQS does not show the messages that it keeps back.
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
            let job = match self.read_message(&body).await {
                Err(ReadError::Port(error)) => return Err(error),
                Err(ReadError::Unreadable(why)) => Err(why),
                Ok(job) => Ok(job),
            };
            waiting.push(Waiting { job, due });
        }
        Ok(waiting)
    }

    async fn dead(&self, limit: usize) -> Result<Vec<Dead>, PortError> {
        self.list_dead(limit).await
    }

    async fn redrive(&self, receipt: &Receipt, now: Timestamp) -> Result<(), PortError> {
        self.redrive_dead(receipt, now).await
    }
}

impl Jobs {
    /// Deletes a message that an event source mapping has handed to this function, before the mapping does it when the
    /// function returns.
    ///
    /// # Errors
    /// Transport errors; then the mapping deletes it. A handle that has run out is no error.
    pub async fn delete_message(&self, stage: Stage, handle: &str) -> Result<(), PortError> {
        self.delete(stage, self.address(stage).await?, handle).await
    }

    /// A message that an event source mapping has handed to this function, and that the function is going to report as
    /// failed, is handed out again at `due`, and not only when its visibility ends; at the latest after 12 hours.
    ///
    /// # Errors
    /// Transport errors; then it is handed out again when its visibility ends. A handle that has run out is no error.
    pub async fn put_back_message(&self, stage: Stage, handle: &str, due: Timestamp) -> Result<(), PortError> {
        self.hide(stage, handle, seconds_until(due, LONGEST_HIDING)).await
    }

    /// A message as a delivery, which is remembered until its visibility ends.
    async fn delivery(&self, stage: Stage, message: Message, until: Timestamp) -> Result<Delivery, PortError> {
        let body = message.body.unwrap_or_default();
        let receipt = Receipt(format!("{}{BETWEEN}{}", stage.as_str(), message.receipt_handle.unwrap_or_default()));
        let count = MessageSystemAttributeName::ApproximateReceiveCount;
        let receives = message.attributes.and_then(|mut a| a.remove(&count)).and_then(|n| n.parse().ok()).unwrap_or(1);
        let job = match self.read_message(&body).await {
            Err(ReadError::Port(error)) => return Err(error),
            Err(ReadError::Unreadable(why)) => Err(why),
            Ok(job) => Ok(job),
        };
        self.held.keep(wall_clock(), [(receipt.clone(), ReceivedMessage { stage, body, until })]);
        Ok(Delivery { receipt, job, receives })
    }

    async fn park_instead(
        &self,
        stage: Stage,
        handle: &str,
        kept: &ReceivedMessage,
        due: Timestamp,
    ) -> Result<(), PortError> {
        self.park(vec![(stage, kept.body.clone(), due)]).await?;
        self.delete(stage, self.address(stage).await?, handle).await
    }

    /// About how many messages are to be had, are handed out, are kept back.
    async fn counts(&self, stage: Stage, address: &str) -> Result<[u64; 3], PortError> {
        const NAMES: [QueueAttributeName; 3] = [
            QueueAttributeName::ApproximateNumberOfMessages,
            QueueAttributeName::ApproximateNumberOfMessagesNotVisible,
            QueueAttributeName::ApproximateNumberOfMessagesDelayed,
        ];
        let name = self.names.queue(stage);
        let ask = self.sqs.get_queue_attributes().queue_url(address).set_attribute_names(Some(NAMES.to_vec()));
        let answer = ask.send().await.map_err(|e| self.asked("count the jobs", &name).failed(e))?;
        let counts = answer.attributes.unwrap_or_default();
        Ok(NAMES.map(|name| counts.get(&name).and_then(|n| n.parse().ok()).unwrap_or(0)))
    }
}

/// The stage and SQS's receipt handle; a text that is no receipt names no delivery.
fn read(receipt: &Receipt) -> Option<(Stage, &str)> {
    let (name, handle) = receipt.0.split_once(BETWEEN)?;
    let stage = Stage::ALL.into_iter().find(|stage| stage.as_str() == name)?;
    (!handle.is_empty()).then_some((stage, handle))
}
