//! The queues.
//!
//! A job that is handed out becomes due again when its visibility timeout ends, so receiving is one look-up in one
//! index. A receipt consists of the job's id and receive count: it names one delivery and expires with the next one.

use crate::db::{Db, execute, limit};
use crate::error::{DbError, corrupt};
use crate::store::Store;
use async_trait::async_trait;
use curlew_model::{Job, Millis, QueueName, Timestamp};
use curlew_ports::{Dead, Delivery, Inbox, PortError, Queue, QueueCount, Receipt, Waiting};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeMap;

// Queries whose cost must not grow with the length of a queue.
pub(crate) const DUE: &str = "SELECT id, receives FROM jobs WHERE stage = ?1 AND due <= ?2 ORDER BY due, id LIMIT ?3";
pub(crate) const NEXT_DUE: &str = "SELECT min(due) FROM jobs WHERE handed_out = 0";
pub(crate) const WAITING: &str = "SELECT due, message FROM jobs JOIN messages USING (id)
    WHERE handed_out = 0 AND due > ?1 ORDER BY due, stage, jobs.id LIMIT ?2";
pub(crate) const DEAD_LETTERS: &str = "SELECT dead.id, stage, message, error, at FROM dead JOIN messages USING (id)
    ORDER BY at DESC, dead.id DESC LIMIT ?1";

const DELETE_MESSAGE: &str = "DELETE FROM messages WHERE id = ?1";

/// Longest plausible wait of a job: holds are far shorter, and a job that comes too soon is put off again.
const LONGEST_WAIT: Millis = Millis::from_days(90);

impl Store {
    /// Recovers from a crash before the first worker starts: jobs that were handed out become ready again, before all
    /// others. Those with the highest receive counts come first, since one of them may have killed the process. Returns
    /// their number. Jobs that a wrong clock made due more than 90 days after `now` become due now. Requires
    /// [`Access::Exclusive`](crate::Access): otherwise jobs of another process would run twice.
    pub async fn recover(&self, now: Timestamp) -> Result<u64, PortError> {
        let take_back = move |c: &Connection| {
            let furthest = (now + LONGEST_WAIT).as_millis();
            c.execute("UPDATE jobs SET due = ?1 WHERE due > ?2", params![now.as_millis(), furthest])?;
            Ok(c.execute("UPDATE jobs SET handed_out = 0, due = -receives WHERE handed_out = 1", [])? as u64)
        };
        self.db().write("take back jobs", take_back).await
    }
}

#[async_trait]
impl Queue for Db {
    async fn send(&self, jobs: &[(Job, Timestamp)]) -> Result<(), PortError> {
        let mut messages = Vec::with_capacity(jobs.len());
        for (job, due) in jobs {
            let message = job.to_message().map_err(|e| corrupt("a job", e))?;
            messages.push((job.work.queue(), due.as_millis(), message));
        }
        let send = move |c: &Connection| messages.iter().try_for_each(|(s, due, m)| put(c, s.as_str(), *due, m));
        self.write("send jobs", send).await
    }
}

#[async_trait]
impl Inbox for Db {
    async fn receive(
        &self,
        stage: QueueName,
        max: usize,
        visibility: Millis,
        now: Timestamp,
    ) -> Result<Vec<Delivery>, PortError> {
        let until = now + visibility;
        self.write("receive jobs", move |c| receive(c, stage, limit(max), now, until)).await
    }

    async fn ack(&self, receipt: &Receipt) -> Result<(), PortError> {
        let Some(name) = Name::read(receipt) else { return Ok(()) };
        self.write("acknowledge a job", move |c| {
            if take(c, name)?.is_some() {
                execute(c, DELETE_MESSAGE, [name.id])?;
            }
            Ok(())
        })
        .await
    }

    async fn put_back(&self, receipt: &Receipt, due: Timestamp) -> Result<(), PortError> {
        let Some(name) = Name::read(receipt) else { return Ok(()) };
        let sql = "UPDATE jobs SET handed_out = 0, due = ?3 WHERE id = ?1 AND receives = ?2 AND handed_out = 1";
        let put_back =
            move |c: &Connection| execute(c, sql, params![name.id, name.receives, due.as_millis()]).map(drop);
        self.write("put a job back", put_back).await
    }

    async fn dead_letter(&self, receipt: &Receipt, error: &str, now: Timestamp) -> Result<(), PortError> {
        let Some(name) = Name::read(receipt) else { return Ok(()) };
        let error = error.to_owned();
        self.write("give a job up", move |c| {
            if let Some(stage) = take(c, name)? {
                let insert = "INSERT INTO dead (id, stage, at, error) VALUES (?1, ?2, ?3, ?4)";
                execute(c, insert, params![name.id, stage, now.as_millis(), error])?;
            }
            Ok(())
        })
        .await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, PortError> {
        let next =
            |c: &Connection| Ok(c.prepare_cached(NEXT_DUE)?.query_row([], |row| row.get::<_, Option<i64>>(0))?);
        Ok(self.read("read the queues", next).await?.map(Timestamp::from_millis))
    }

    async fn counts(&self, now: Timestamp) -> Result<BTreeMap<QueueName, QueueCount>, PortError> {
        let all =
            move |c: &Connection| QueueName::ALL.into_iter().map(|stage| Ok((stage, count(c, stage, now)?))).collect();
        self.read("count the queues", all).await
    }

    async fn waiting(&self, now: Timestamp, most: usize) -> Result<Vec<Waiting>, PortError> {
        self.read("list the jobs that wait", move |c| waiting(c, now, limit(most))).await
    }

    async fn dead(&self, most: usize) -> Result<Vec<Dead>, PortError> {
        self.read("list the jobs that were given up", move |c| dead(c, limit(most))).await
    }

    async fn redrive(&self, receipt: &Receipt, now: Timestamp) -> Result<(), PortError> {
        let dead = DeadId::read(receipt)?;
        // The job gets a new id, so that its old receipts have no effect.
        self.write("take a job up again", move |c| {
            let (stage, message) = dead.take(c)?;
            put(c, &stage, now.as_millis(), &message)
        })
        .await
    }

    async fn discard(&self, receipt: &Receipt) -> Result<(), PortError> {
        let dead = DeadId::read(receipt)?;
        self.write("discard a job", move |c| dead.take(c).map(drop)).await
    }
}

/// Prefix of the receipts of dead jobs.
const DEAD: &str = "dead-";

/// Id of a dead job.
struct DeadId(i64);

impl DeadId {
    fn read(receipt: &Receipt) -> Result<DeadId, PortError> {
        let id = receipt.0.strip_prefix(DEAD).and_then(|id| id.parse().ok());
        id.map(DeadId).ok_or_else(|| PortError::NotFound(format!("the job {}", receipt.0)))
    }

    /// Deletes the dead job; returns its stage and its message.
    fn take(&self, c: &Connection) -> Result<(String, String), DbError> {
        let stage = c
            .prepare_cached("DELETE FROM dead WHERE id = ?1 RETURNING stage")?
            .query_row([self.0], |row| row.get(0))
            .optional()?;
        let stage = stage.ok_or_else(|| PortError::NotFound(format!("the job {DEAD}{}", self.0)))?;
        let message = message(c, self.0)?;
        execute(c, DELETE_MESSAGE, [self.0])?;
        Ok((stage, message))
    }
}

#[derive(Clone, Copy)]
struct Name {
    id: i64,
    receives: u32,
}

impl Name {
    fn write(self) -> Receipt {
        Receipt(format!("{}-{}", self.id, self.receives))
    }

    /// Parses a receipt. Returns `None` for any other text: it names no delivery, like an expired receipt.
    fn read(receipt: &Receipt) -> Option<Name> {
        let (id, receives) = receipt.0.split_once('-')?;
        Some(Name { id: id.parse().ok()?, receives: receives.parse().ok()? })
    }
}

pub(crate) fn put(c: &Connection, stage: &str, due: i64, message: &str) -> Result<(), DbError> {
    execute(c, "INSERT INTO jobs (stage, due) VALUES (?1, ?2)", params![stage, due])?;
    let id = c.last_insert_rowid();
    execute(c, "INSERT INTO messages (id, message) VALUES (?1, ?2)", params![id, message]).map(drop)
}

fn receive(
    c: &Connection,
    stage: QueueName,
    max: i64,
    now: Timestamp,
    until: Timestamp,
) -> Result<Vec<Delivery>, DbError> {
    let mut due = c.prepare_cached(DUE)?;
    let names = due
        .query_map(params![stage.as_str(), now.as_millis(), max], |row| {
            Ok(Name { id: row.get(0)?, receives: row.get::<_, u32>(1)?.saturating_add(1) })
        })?
        .collect::<Result<Vec<Name>, _>>()?;
    let mut hand_out = c.prepare_cached("UPDATE jobs SET handed_out = 1, receives = ?2, due = ?3 WHERE id = ?1")?;
    let mut deliveries = Vec::with_capacity(names.len());
    for name in names {
        hand_out.execute(params![name.id, name.receives, until.as_millis()])?;
        let job = Job::from_message(&message(c, name.id)?);
        deliveries.push(Delivery { receipt: name.write(), job, receives: name.receives });
    }
    Ok(deliveries)
}

/// Returns the message, or an empty text if it is missing; that is not a valid job.
fn message(c: &Connection, id: i64) -> Result<String, DbError> {
    let message: Option<String> =
        c.prepare_cached("SELECT message FROM messages WHERE id = ?1")?.query_row([id], |row| row.get(0)).optional()?;
    Ok(message.unwrap_or_default())
}

/// Deletes the row of a delivery from its queue; returns the queue's name, or `None` if the receipt has expired.
fn take(c: &Connection, name: Name) -> Result<Option<String>, DbError> {
    let stage = c
        .prepare_cached("DELETE FROM jobs WHERE id = ?1 AND receives = ?2 AND handed_out = 1 RETURNING stage")?
        .query_row(params![name.id, name.receives], |row| row.get(0))
        .optional()?;
    Ok(stage)
}

fn count(c: &Connection, stage: QueueName, now: Timestamp) -> Result<QueueCount, DbError> {
    let (stage, now) = (stage.as_str(), now.as_millis());
    let number = |sql: &str| -> Result<u64, DbError> {
        let number: i64 = c.prepare_cached(sql)?.query_row(params![stage, now], |row| row.get(0))?;
        Ok(u64::try_from(number).unwrap_or(0))
    };
    let later = number("SELECT count(*) FROM jobs WHERE stage = ?1 AND due > ?2")?;
    let waiting = number("SELECT count(*) FROM jobs WHERE handed_out = 0 AND stage = ?1 AND due > ?2")?;
    Ok(QueueCount {
        ready: number("SELECT count(*) FROM jobs WHERE stage = ?1 AND due <= ?2")?,
        waiting,
        in_flight: later.saturating_sub(waiting),
        dead: number("SELECT count(*) FROM dead WHERE stage = ?1 AND ?2 IS NOT NULL")?,
    })
}

fn waiting(c: &Connection, now: Timestamp, most: i64) -> Result<Vec<Waiting>, DbError> {
    let mut statement = c.prepare_cached(WAITING)?;
    let rows = statement.query_map(params![now.as_millis(), most], |row| {
        let (due, message): (i64, String) = (row.get(0)?, row.get(1)?);
        Ok(Waiting { job: Job::from_message(&message), due: Timestamp::from_millis(due) })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn dead(c: &Connection, most: i64) -> Result<Vec<Dead>, DbError> {
    let mut statement = c.prepare_cached(DEAD_LETTERS)?;
    let mut rows = statement.query([most])?;
    let mut dead = Vec::new();
    while let Some(row) = rows.next()? {
        let stage: String = row.get(1)?;
        dead.push(Dead {
            receipt: Receipt(format!("{DEAD}{}", row.get::<_, i64>(0)?)),
            stage: QueueName::ALL
                .into_iter()
                .find(|s| s.as_str() == stage)
                .ok_or_else(|| corrupt("a queue", &stage))?,
            message: row.get(2)?,
            error: row.get(3)?,
            at: Timestamp::from_millis(row.get(4)?),
        });
    }
    Ok(dead)
}
