//! Unique names for writes, parked rows and claim checks. No decision depends on them.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Random hash keys, chosen once per process.
static KEYS: LazyLock<[RandomState; 2]> = LazyLock::new(|| [RandomState::new(), RandomState::new()]);
/// Number of names generated so far.
static GIVEN: AtomicU64 = AtomicU64::new(0);

/// Returns 64 bits. Among a million of them, the probability of a duplicate is below one in ten million.
pub(crate) fn short_name() -> u64 {
    KEYS[0].hash_one(GIVEN.fetch_add(1, Ordering::Relaxed))
}

/// Returns 128 bits as 32 hexadecimal digits.
pub(crate) fn long_name() -> String {
    let number = GIVEN.fetch_add(1, Ordering::Relaxed);
    format!("{:016x}{:016x}", KEYS[0].hash_one(number), KEYS[1].hash_one(number))
}
