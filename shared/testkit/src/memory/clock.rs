//! Deterministic time and seeds.

use async_trait::async_trait;
use curlew_model::{Millis, Timestamp};
use curlew_ports::{Clock, Seeds};
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::time::Instant;

/// [`Clock`] on Tokio's time: in a paused runtime it stands still until all tasks sleep, then jumps.
#[derive(Debug)]
pub struct TokioClock {
    began: Instant,
    start: Timestamp,
}

impl TokioClock {
    /// Returns a clock that shows `start` now. Must be called inside a runtime.
    pub fn starting_at(start: Timestamp) -> TokioClock {
        TokioClock { began: Instant::now(), start }
    }
}

#[async_trait]
impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        self.start + self.monotonic()
    }

    fn monotonic(&self) -> Millis {
        Millis(u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    async fn sleep(&self, time: Millis) {
        tokio::time::sleep(time.as_duration()).await;
    }
}

/// [`Seeds`] that are the same in every run: a permutation of the numbers, from a chosen start.
#[derive(Debug)]
pub struct CountingSeeds {
    next: AtomicU64,
}

impl CountingSeeds {
    /// Returns seeds that depend on `seed`.
    pub fn new(seed: u64) -> CountingSeeds {
        CountingSeeds { next: AtomicU64::new(seed) }
    }
}

impl Seeds for CountingSeeds {
    fn next(&self) -> u64 {
        curlew_policy::chance::mix(self.next.fetch_add(1, Ordering::Relaxed))
    }
}
