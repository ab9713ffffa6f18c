//! Jobs that wait longer than SQS can delay them: one row each, in a partition per minute of the due time.

use super::{Jobs, queue_named};
use crate::chance::long_name;
use crate::error::corrupt;
use crate::item::{Item, STATE, number, number_of, state, text, text_of};
use crate::pack::{pack_text, size, unpack_text};
use crate::table::Span;
use aws_sdk_dynamodb::types::{DeleteRequest, PutRequest, WriteRequest};
use curlew_model::{QueueName, Timestamp};
use curlew_ports::PortError;
use std::time::Duration;

/// Partition key: the minute in which the job is due, in minutes since 1970.
const DUE: &str = "due";
const ID: &str = "id";
/// Due time of the job, in milliseconds since 1970.
const AT: &str = "at";
/// Queue of the job.
const STAGE: &str = "q";
/// Maximum length in bytes of a compressed message inside a row. Writing and deleting a row is billed per kilobyte; an
/// object is cheaper for longer messages.
const MOST_INSIDE: usize = 8 << 10;
/// Maximum uncompressed length in bytes of a message inside a row. It bounds the memory for a page of rows, which are
/// released together, and is below the message limit of SQS.
const MOST_UNPACKED: usize = 128 << 10;
/// Maximum number of rows in one request (DynamoDB quota).
const BATCH: usize = 25;
/// Maximum number of attempts for rows that a request left unprocessed, including the first.
const TRIES: u32 = 8;
/// Pause before the second attempt; it doubles with each further one.
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Clone, Debug)]
pub(super) struct Parked {
    pub(super) key: Item,
    pub(super) stage: QueueName,
    pub(super) body: String,
    pub(super) due: Timestamp,
}

impl Jobs {
    /// Parks messages until they are due.
    pub(crate) async fn park(&self, messages: Vec<(QueueName, String, Timestamp)>) -> Result<(), PortError> {
        let mut writes = Vec::with_capacity(messages.len());
        for (stage, text, due) in messages {
            let item = self.row(stage, text, due).await?;
            let put = PutRequest::builder().set_item(Some(item)).build().map_err(|e| corrupt("a parked job", e))?;
            writes.push(WriteRequest::builder().put_request(put).build());
        }
        self.write_rows("park jobs", writes).await
    }

    async fn row(&self, stage: QueueName, body: String, due: Timestamp) -> Result<Item, PortError> {
        let length = body.len();
        let mut packed = pack_text(body.clone());
        if length > MOST_UNPACKED || size(&packed) > MOST_INSIDE {
            packed = text(self.claimed(stage, body, 0).await?);
        }
        Ok(Item::from([
            (DUE.to_owned(), text(due.minute().to_string())),
            (ID.to_owned(), text(long_name())),
            (AT.to_owned(), number(due.as_millis())),
            (STAGE.to_owned(), text(stage.as_str())),
            (STATE.to_owned(), packed),
        ]))
    }

    /// Deletes the rows of messages that are in their queues.
    pub(super) async fn unpark(&self, keys: Vec<Item>) -> Result<(), PortError> {
        let mut writes = Vec::with_capacity(keys.len());
        for key in keys {
            let delete = DeleteRequest::builder().set_key(Some(key)).build().map_err(|e| corrupt("a parked job", e))?;
            writes.push(WriteRequest::builder().delete_request(delete).build());
        }
        self.write_rows("clear parked jobs", writes).await
    }

    /// Writes in batches, and retries unprocessed rows.
    async fn write_rows(&self, what: &str, writes: Vec<WriteRequest>) -> Result<(), PortError> {
        let table = &self.parked;
        for batch in writes.chunks(BATCH) {
            let mut left = batch.to_vec();
            for tries in 1.. {
                let write = table.client.batch_write_item().request_items(&table.name, left);
                let answer = write.send().await.map_err(|e| table.context(what).failed(e))?;
                left = answer.unprocessed_items.and_then(|mut left| left.remove(&table.name)).unwrap_or_default();
                if left.is_empty() {
                    break;
                }
                if tries >= TRIES {
                    return Err(table.context(what).refused("ThrottlingException", "rows were left unprocessed"));
                }
                tokio::time::sleep(PAUSE * (1 << (tries - 1))).await;
            }
        }
        Ok(())
    }

    /// Returns at most `limit` rows of one minute that follow the row `after`.
    pub(super) async fn parked_in(
        &self,
        minute: i64,
        after: Option<Item>,
        limit: usize,
    ) -> Result<Vec<Item>, PortError> {
        let span = Span::Partition(DUE, text(minute.to_string()));
        self.parked.list("read parked jobs", &span, after, limit).await
    }

    /// Returns at most `limit` rows of all minutes, in no particular order.
    pub(crate) async fn all_parked(&self, limit: usize) -> Result<Vec<Item>, PortError> {
        self.parked.list("list the parked jobs", &Span::All, None, limit).await
    }

    /// Returns the minute, due time and stage of all rows; `None` for a field that cannot be read.
    pub(super) async fn parked_facts(&self) -> Result<Vec<Facts>, PortError> {
        let rows = self.parked.list_only("count the parked jobs", &[DUE, AT, STAGE]).await?;
        let facts = rows.iter().map(|row| Facts {
            minute: text_of(row, DUE).and_then(|minute| minute.parse().ok()),
            due: number_of(row, AT).map(Timestamp::from_millis),
            stage: stage_of(row),
        });
        Ok(facts.collect())
    }
}

/// Fields of a row without its message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub(super) minute: Option<i64>,
    pub(super) due: Option<Timestamp>,
    pub(super) stage: Option<QueueName>,
}

pub(super) fn key_of(row: &Item) -> Item {
    [DUE, ID].into_iter().filter_map(|name| Some((name.to_owned(), row.get(name)?.clone()))).collect()
}

fn stage_of(row: &Item) -> Option<QueueName> {
    queue_named(text_of(row, STAGE)?)
}

impl Parked {
    pub(super) fn read(item: &Item) -> Result<Parked, PortError> {
        let shown = |name| text_of(item, name).unwrap_or("?");
        let what = || format!("the parked job {} of minute {}", shown(ID), shown(DUE));
        let at = number_of(item, AT).map(Timestamp::from_millis);
        Ok(Parked {
            key: key_of(item),
            stage: stage_of(item).ok_or_else(|| corrupt(what(), "its queue is unknown"))?,
            body: unpack_text(what, state(what, item)?)?,
            due: at.ok_or_else(|| corrupt(what(), "it does not say when it is due"))?,
        })
    }
}
