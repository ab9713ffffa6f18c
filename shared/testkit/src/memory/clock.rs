//! Time and chance that do as they are told.

use async_trait::async_trait;
use curlew_model::{Millis, Timestamp};
use curlew_ports::{Clock, Seeds};
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::time::Instant;

/// [`Clock`] on tokio's time: under a paused runtime it stands still until all tasks sleep, then jumps.
#[derive(Debug)]
pub struct TokioClock {
    began: Instant,
    start: Timestamp,
}

impl TokioClock {
    /// A clock that shows `start` now. To be called inside a runtime.
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

/// [`Seeds`] that are the same in every run: a permutation of the numbers, begun at a place of one's choice.
#[derive(Debug)]
pub struct CountingSeeds {
    next: AtomicU64,
}

impl CountingSeeds {
    /// Seeds that follow from `seed`.
    pub fn new(seed: u64) -> CountingSeeds {
        CountingSeeds { next: AtomicU64::new(seed) }
    }
}

impl Seeds for CountingSeeds {
    fn next(&self) -> u64 {
        curlew_policy::chance::mix(self.next.fetch_add(1, Ordering::Relaxed))
    }
}
