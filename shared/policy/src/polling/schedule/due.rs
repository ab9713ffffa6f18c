//! The slots that dispatch has to look at, and the place at which a tick that was cut off goes on: an instant within
//! the slot's minute, as far as the slot's keys, which are hashes, were looked at.

use super::slots::CYCLE;
use curlew_model::{Slot, SourceKey, Timestamp};

/// Parts of a slot: milliseconds of a minute.
const PARTS: u128 = 60_000;
/// Values of the number in the first [`DIGITS`] hexadecimal digits of a key.
const NUMBERS: u128 = 1 << 64;
const DIGITS: usize = 16;

/// A slot that has come, and has not been looked at to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueSlot {
    /// The slot.
    pub slot: Slot,
    /// The beginning of the minute in which it came last.
    pub came: Timestamp,
    /// The place within the slot from which it is to be looked at; `came` if from its beginning.
    pub from: Timestamp,
}

/// Returns the slots after the minute of `done` up to the minute of `now`, earliest first, each once; all of them
/// without `done`, or if it lies ahead. A place `within` one of them tells how far an earlier tick came.
pub fn slots_due(done: Option<Timestamp>, within: Option<Timestamp>, now: Timestamp) -> Vec<DueSlot> {
    let to = now.minute();
    let done = done.filter(|done| done.minute() <= to);
    let oldest = done.map_or(to - CYCLE, |done| done.minute().max(to - CYCLE)) + 1;
    let within = within.filter(|place| (oldest..=to).contains(&place.minute()));
    let first = within.map_or(oldest, Timestamp::minute);
    let due = |minute: i64| {
        let came = Timestamp::from_millis(minute.saturating_mul(60_000));
        let from = within.filter(|_| minute == first).unwrap_or(came);
        DueSlot { slot: Slot::from_hash(minute.rem_euclid(CYCLE).unsigned_abs()), came, from }
    };
    (first..=to).map(due).collect()
}

impl DueSlot {
    /// The place of a key within the slot, rounded down: keys with the same place have to be looked at together.
    pub fn place_of(&self, key: &SourceKey) -> Timestamp {
        let number = key.as_str().get(..DIGITS).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0);
        let part = u128::from(number) * PARTS / NUMBERS;
        Timestamp::from_millis(self.came.as_millis().saturating_add(i64::try_from(part).unwrap_or(0)))
    }

    /// A key before those at and after the place `from`; none if they are all.
    pub fn after(&self) -> Option<SourceKey> {
        let part = u128::from(self.from.since(self.came).0).min(PARTS - 1);
        let first = u64::try_from((part * NUMBERS).div_ceil(PARTS)).ok()?;
        SourceKey::new(&format!("{:016x}{:f<DIGITS$}", first.checked_sub(1)?, "")).ok()
    }
}
