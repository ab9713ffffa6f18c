//! The ports in memory, one struct each: for tests and for the simulator.
//!
//! They hold nothing but ordered maps behind a mutex, take no time, and read no clock, so the same calls in the same
//! order give the same answers.

mod blobs;
mod clock;
mod fetch;
mod hosts;
mod jobs;
mod pages;
mod range_cache;
mod rows;
mod sources;

pub use blobs::MemoryBlobs;
pub use clock::{CountingSeeds, TokioClock};
pub use fetch::MemoryFetch;
pub use hosts::{MemoryHosts, MemoryMarks, MemoryRobots};
pub use jobs::MemoryJobs;
pub use pages::MemoryPages;
pub use range_cache::MemoryRangeCache;
pub use sources::MemorySources;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A test that has failed while it held the mutex is no reason for others to fail.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
