//! The ports in memory, one struct each: for tests and for the simulator.
//!
//! They hold nothing but ordered maps behind a mutex, take no time, and read no clock, so the same calls in the same
//! order give the same answers.

mod blobs;
mod clock;
mod fetch;
mod jobs;
mod range_cache;
mod rows;

pub use blobs::MemoryBlobs;
pub use clock::{CountingSeeds, TokioClock};
pub use fetch::MemoryFetch;
pub use jobs::MemoryJobs;
pub use range_cache::MemoryRangeCache;
pub use rows::{MemoryHosts, MemoryMarks, MemoryPages, MemoryRobots, MemorySources};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A test that has failed while it held the mutex is no reason for others to fail.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
