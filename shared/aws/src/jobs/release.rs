//! Parked jobs back to their queues.
//!
//! Read, send, delete, and only then move the mark: whoever stops in between, or runs beside another, leaves nothing but
//! duplicates.

use super::park::Parked;
use super::{Jobs, place};
use crate::item::{Item, text_of};
use curlew_model::{Millis, Stage, Timestamp};
use curlew_ports::{Marks, PortError, Version};
use futures::future::try_join_all;

/// The mark: all minutes before it were looked at when they had passed.
const MARK: &str = "parked";
/// Minutes before the mark that are looked at once more, for rows that were written late.
const LOOK_BACK: i64 = 5;
/// The most minutes that one call looks at. After an outage the next calls go on where it stopped.
const MOST_MINUTES: i64 = 720;
/// The most rows that one call releases.
const MOST_ROWS: usize = 5_000;
/// Minutes that are asked for at once.
const AT_ONCE: usize = 8;

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
        let mut released = 0;
        let mut next = first;
        while next <= last && released < MOST_ROWS {
            let until = last.min(next + i64::try_from(AT_ONCE).unwrap_or(1) - 1);
            let minutes = (next..=until).map(|minute| self.parked_in(minute, MOST_ROWS));
            let rows = try_join_all(minutes).await?;
            let full = rows.iter().any(|rows| rows.len() >= MOST_ROWS);
            released += self.release(rows.concat()).await?;
            if full {
                // There may be more in these minutes; what was sent is deleted, so the next call finds the rest.
                break;
            }
            next = until + 1;
        }
        // The minute that has not passed yet is looked at again.
        advance(marks, (mark, seen), next.min(now.minute())).await?;
        Ok(released)
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
            let letters: Vec<_> = rows.iter().map(Parked::letter).collect();
            let results = self.post(stage, &letters).await;
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
        let rows = self.all_parked(usize::MAX).await?;
        Ok(rows.iter().filter_map(|row| text_of(row, super::park::DUE)?.parse().ok()).min())
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
