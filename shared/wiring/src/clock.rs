//! The real clock and real chance.

use async_trait::async_trait;
use curlew_model::{Millis, Timestamp};
use curlew_policy::chance::mix;
use curlew_ports::{Clock, Seeds};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The machine's clock.
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// A clock whose monotonic time begins now.
    pub fn new() -> SystemClock {
        SystemClock { start: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> SystemClock {
        SystemClock::new()
    }
}

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn monotonic(&self) -> Millis {
        Millis(u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    async fn sleep(&self, time: Millis) {
        tokio::time::sleep(time.as_duration()).await;
    }
}

/// Seeds from the operating system's randomness, which the standard library's hasher is keyed with.
pub struct SystemSeeds {
    state: AtomicU64,
}

impl SystemSeeds {
    /// A new sequence.
    pub fn new() -> SystemSeeds {
        SystemSeeds { state: AtomicU64::new(RandomState::new().hash_one("curlew")) }
    }
}

impl Default for SystemSeeds {
    fn default() -> SystemSeeds {
        SystemSeeds::new()
    }
}

impl Seeds for SystemSeeds {
    fn next(&self) -> u64 {
        mix(self.state.fetch_add(1, Ordering::Relaxed))
    }
}
