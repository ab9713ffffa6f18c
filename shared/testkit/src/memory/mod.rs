//! In-memory implementations of the ports, for tests and the simulator.
//!
//! The implementations are ordered maps behind a mutex that take no time and read no clock, so equal calls in one order
//! return the same results.

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

/// Locks a mutex, even if a test has panicked while holding it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
