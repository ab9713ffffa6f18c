//! Slots: the minutes of the eight-hour cycle.

use serde::{Deserialize, Serialize};

/// Minute of the eight-hour cycle at which a source is due: 0 to [`Slot::COUNT`] - 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Slot(u16);

impl Slot {
    /// Number of minutes in a cycle; three cycles make a day.
    pub const COUNT: u16 = 480;

    /// Returns the slot of a hash or a minute.
    pub const fn from_hash(hash: u64) -> Slot {
        Slot((hash % Slot::COUNT as u64) as u16)
    }

    /// Returns the index, 0 to 479.
    pub const fn index(self) -> u16 {
        self.0
    }
}
