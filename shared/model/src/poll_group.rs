//! Poll groups: feeds of one slot whose polls share a lease.

use crate::ids::SourceKey;
use crate::slot::Slot;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Number of groups of a slot: with 100,000 feeds a group has 52 of them.
const GROUPS_OF_SLOT: u16 = 4;
/// First number of the groups of platforms; those of slots are below.
const PLATFORMS: u16 = 0x8000;

/// Feeds that are polled under one lease: a part of those of one slot, or those of a platform. It follows from a feed's key and
/// address, so it never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PollGroup(u16);

impl PollGroup {
    /// Returns the group of a feed with this key in its slot. In the order of keys, the feeds of a group follow each other.
    pub fn of(slot: Slot, key: &SourceKey) -> PollGroup {
        let digit = key.as_str().chars().next().and_then(|digit| digit.to_digit(16)).unwrap_or(0);
        let part = u16::try_from(digit).unwrap_or(0) * GROUPS_OF_SLOT / 16;
        PollGroup(slot.index() * GROUPS_OF_SLOT + part)
    }

    /// Returns the group of the feeds of a platform, by a hash of its host key. Two platforms that share one are polled in turn.
    pub fn of_platform(hash: u64) -> PollGroup {
        PollGroup(PLATFORMS | u16::try_from(hash % u64::from(PLATFORMS)).unwrap_or(0))
    }

    /// Returns true if it has the feeds of a platform.
    pub const fn is_of_platform(self) -> bool {
        self.0 >= PLATFORMS
    }

    /// Returns its number, from 0.
    pub const fn number(self) -> u16 {
        self.0
    }
}

/// The lease that polls of a group share. While it is in force, nobody else calls a host key that says in its state that it is
/// polled in this group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupLease {
    /// Time at which the slot came whose polls it is for.
    pub due: Timestamp,
    /// The first feed among them, which tells several messages of one slot apart.
    pub first: SourceKey,
    /// Instant at which every call under it must have ended, or did end.
    pub until: Timestamp,
    /// True if all polls of that slot were settled, at `until`.
    pub is_finished: bool,
    /// Files that polls of this group have asked for.
    #[serde(default, skip_serializing_if = "Unchanged::is_empty")]
    pub unchanged: Unchanged,
}

/// Times at which files were asked for and were as the stored copies say, so that no copy had to be written for that: in
/// minutes since 1970, by a hash of what the copy is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Unchanged(pub BTreeMap<u64, i64>);

impl Unchanged {
    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
