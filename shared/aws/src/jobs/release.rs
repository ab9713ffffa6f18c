//! Moves parked jobs to their queues when they are due.
//!
//! The order is read, send, delete, then move the mark: a run that stops in between, or runs concurrently with another,
//! causes nothing but duplicates.

use super::message::{OutgoingMessage, REQUEST_LIMIT};
use super::park::{Parked, key_of};
use super::{Jobs, place};
use crate::item::Item;
use curlew_model::{Millis, QueueName, Timestamp};
use curlew_ports::{Marks, PortError, Version, swapped};
use futures::future::try_join_all;

/// Name of the mark: all minutes before it have been read after their end.
const MARK: &str = "parked";
/// Number of minutes before the mark that are read again, for rows that were written late.
const LOOK_BACK: i64 = 5;
/// Maximum number of minutes that one call reads. After an outage the next calls continue where it stopped.
const MOST_MINUTES: i64 = 720;
/// Number of rows after which a call ends.
const MOST_ROWS: usize = 5_000;
/// Maximum number of rows of one minute that are in memory at the same time; their messages may be long.
const PAGE: usize = 250;
/// Number of minutes that are read concurrently.
const AT_ONCE: i64 = 8;

impl Jobs {
    /// Returns the time up to which parked jobs have been released; `None` if none ever were.
    pub async fn released_until(&self, marks: &dyn Marks) -> Result<Option<Timestamp>, PortError> {
        Ok(marks.load(MARK).await?.0)
    }

    /// Sends parked jobs that are due at `now` to their queues; returns their number. Concurrent callers may send some
    /// jobs twice. After an outage several calls are needed, since each does a bounded amount of work. After an error,
    /// unsent jobs stay parked, and the next call continues from there.
    pub async fn release_parked(&self, marks: &dyn Marks, now: Timestamp) -> Result<usize, PortError> {
        let (mark, seen) = marks.load(MARK).await?;
        let last = now.minute();
        let first = match mark {
            Some(at) => at.minute().min(last) - LOOK_BACK,
            // This is the first call ever: older rows may exist.
            None => self.parked_facts().await?.into_iter().filter_map(|facts| facts.minute).fold(last, i64::min),
        };
        let last = last.min(first + MOST_MINUTES - 1);
        let (mut released, mut next) = (0, first);
        while next <= last && released < MOST_ROWS {
            let until = last.min(next + AT_ONCE - 1);
            let pages = try_join_all((next..=until).map(|minute| self.parked_in(minute, None, PAGE))).await?;
            for rows in pages {
                released += self.release_minute(next, rows, MOST_ROWS.saturating_sub(released)).await?;
                if released >= MOST_ROWS {
                    // This minute may have more rows; sent rows are deleted, so the next call finds the rest.
                    break;
                }
                next += 1;
            }
        }
        // The current minute has not ended, so it is read again.
        advance(marks, mark, seen, next.min(now.minute())).await?;
        Ok(released)
    }

    /// Releases the rows of a minute, beginning with `first`, until there are no more or at least `enough` were
    /// released; returns their number.
    async fn release_minute(&self, minute: i64, first: Vec<Item>, enough: usize) -> Result<usize, PortError> {
        let (mut rows, mut released) = (first, 0);
        loop {
            let after = rows.last().filter(|_| rows.len() >= PAGE).map(key_of);
            released += self.release(rows).await?;
            match after {
                Some(after) if released < enough => rows = self.parked_in(minute, Some(after), PAGE).await?,
                _ => return Ok(released),
            }
        }
    }

    /// Sends the messages of rows and deletes the rows whose message was sent; returns their number.
    async fn release(&self, rows: Vec<Item>) -> Result<usize, PortError> {
        let mut by_stage: [Vec<(Item, OutgoingMessage)>; QueueName::ALL.len()] = Default::default();
        for row in &rows {
            match Parked::read(row) {
                Ok(Parked { key, stage, body, due }) => match OutgoingMessage::new(body, due) {
                    outgoing if outgoing.length() <= REQUEST_LIMIT => by_stage[place(stage)].push((key, outgoing)),
                    _ => tracing::error!(?key, "a parked job is too long for its queue and stays parked"),
                },
                // An unreadable row stays for a person to examine, and must not keep other rows from their queues.
                Err(error) => tracing::error!(%error, "a parked job cannot be read and stays parked"),
            }
        }
        let mut released = 0;
        for (stage, rows) in QueueName::ALL.into_iter().zip(by_stage) {
            let (keys, outgoing): (Vec<Item>, Vec<OutgoingMessage>) = rows.into_iter().unzip();
            let results = self.send_messages(stage, &outgoing).await;
            let sent = keys.into_iter().zip(&results).filter(|(_, result)| result.is_ok());
            let sent: Vec<Item> = sent.map(|(key, _)| key).collect();
            released += sent.len();
            self.unpark(sent).await?;
            results.into_iter().collect::<Result<(), _>>()?;
        }
        Ok(released)
    }
}

/// Moves the mark forward to a minute. Ignores a conflict, since then another caller has moved the mark.
async fn advance(marks: &dyn Marks, mark: Option<Timestamp>, seen: Version, minute: i64) -> Result<(), PortError> {
    let next = Timestamp::EPOCH + Millis::from_mins(u64::try_from(minute).unwrap_or(0));
    if mark.is_some_and(|mark| mark >= next) { Ok(()) } else { swapped(marks.swap(MARK, seen, next).await).map(drop) }
}
