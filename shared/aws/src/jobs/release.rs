//! Parked jobs back to their queues.
//!
//! Read, send, delete, and only then move the mark: whoever stops in between, or runs beside another, leaves nothing but
//! duplicates.

use super::park::{Parked, key_of};
use super::{Jobs, place};
use crate::item::Item;
use curlew_model::{Millis, Stage, Timestamp};
use curlew_ports::{Marks, PortError, Version};
use futures::future::try_join_all;

/// The mark: all minutes before it were looked at when they had passed.
const MARK: &str = "parked";
/// Minutes before the mark that are looked at once more, for rows that were written late.
const LOOK_BACK: i64 = 5;
/// The most minutes that one call looks at. After an outage the next calls go on where it stopped.
const MOST_MINUTES: i64 = 720;
/// After so many rows a call ends.
const MOST_ROWS: usize = 5_000;
/// Rows of one minute that are held at once; their messages may be long.
const PAGE: usize = 250;
/// Minutes that are asked for at once.
const AT_ONCE: i64 = 8;

impl Jobs {
    /// Sends parked jobs that are due at `now` to their queues; says how many. May be called again, and by several at
    /// once: then some jobs are sent twice. After an outage it takes several calls, each of bounded work.
    ///
    /// # Errors
    /// Transport errors; what was not sent stays parked, and the next call goes on from there.
    pub async fn release_parked(&self, marks: &dyn Marks, now: Timestamp) -> Result<usize, PortError> {
        let (mark, seen) = marks.load(MARK).await?;
        let last = now.minute();
        let first = match mark {
            Some(at) => at.minute().min(last) - LOOK_BACK,
            // The first call ever: rows may have waited for it.
            None => self.first_minute().await?.unwrap_or(last).min(last),
        };
        let last = last.min(first + MOST_MINUTES - 1);
        let (mut released, mut next) = (0, first);
        while next <= last && released < MOST_ROWS {
            let until = last.min(next + AT_ONCE - 1);
            let pages = try_join_all((next..=until).map(|minute| self.parked_in(minute, None, PAGE))).await?;
            for rows in pages {
                released += self.release_minute(next, rows, MOST_ROWS.saturating_sub(released)).await?;
                if released >= MOST_ROWS {
                    // There may be more in this minute; what was sent is deleted, so the next call finds the rest.
                    break;
                }
                next += 1;
            }
        }
        // The minute that has not passed yet is looked at again.
        advance(marks, (mark, seen), next.min(now.minute())).await?;
        Ok(released)
    }

    /// Releases the rows of a minute, of which the first ones are known, until there are no more or at least `enough` were
    /// released; says how many.
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

    /// Sends rows and deletes those that were sent; says how many.
    async fn release(&self, rows: Vec<Item>) -> Result<usize, PortError> {
        let mut by_stage: [Vec<Parked>; Stage::ALL.len()] = Default::default();
        for row in &rows {
            match Parked::read(row) {
                Ok(parked) => by_stage[place(parked.stage)].push(parked),
                // It stays where it is, for a person to look at, and must not keep the others from their queues.
                Err(error) => tracing::error!(%error, "a parked job cannot be read and stays parked"),
            }
        }
        let mut released = 0;
        for (stage, rows) in Stage::ALL.into_iter().zip(by_stage) {
            let outgoing: Vec<_> = rows.iter().map(Parked::outgoing).collect();
            let results = self.send_messages(stage, &outgoing).await;
            let sent = rows.into_iter().zip(&results).filter(|(_, result)| result.is_ok()).map(|(row, _)| row.key);
            let sent: Vec<Item> = sent.collect();
            released += sent.len();
            self.unpark(sent).await?;
            results.into_iter().collect::<Result<(), _>>()?;
        }
        Ok(released)
    }

    /// The earliest minute that has rows.
    async fn first_minute(&self) -> Result<Option<i64>, PortError> {
        Ok(self.parked_facts().await?.into_iter().filter_map(|facts| facts.minute).min())
    }
}

/// Moves the mark on to a minute. Somebody else's move is as good.
async fn advance(marks: &dyn Marks, (mark, seen): (Option<Timestamp>, Version), minute: i64) -> Result<(), PortError> {
    let next = Timestamp::EPOCH + Millis::from_mins(u64::try_from(minute).unwrap_or(0));
    if mark.is_some_and(|mark| mark >= next) {
        return Ok(());
    }
    match marks.swap(MARK, seen, next).await {
        Ok(_) | Err(PortError::Conflict) => Ok(()),
        Err(other) => Err(other),
    }
}
