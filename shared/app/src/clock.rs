//! The system's clock and random seeds.

use async_trait::async_trait;
use curlew_model::{Millis, Timestamp};
use curlew_policy::chance::mix;
use curlew_ports::{Clock, Seeds};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The system's clock.
pub struct SystemClock {
    start: Millis,
}

impl SystemClock {
    /// Returns a clock whose monotonic time begins now.
    #[expect(clippy::new_without_default, reason = "an instant is no default value")]
    pub fn new() -> SystemClock {
        SystemClock { start: uptime() }
    }
}

/// Returns the time since boot, including suspensions, since other machines see leases expire during them.
#[cfg(target_os = "linux")]
fn uptime() -> Millis {
    kernel_time(rustix::time::ClockId::Boottime)
}

/// Returns the time of one of the kernel's clocks (clock_gettime(2)).
#[cfg(target_os = "linux")]
pub fn kernel_time(clock: rustix::time::ClockId) -> Millis {
    let time = rustix::time::clock_gettime(clock);
    let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    Millis::from_secs(seconds.unwrap_or_default()) + Millis(nanoseconds.unwrap_or_default() / 1_000_000)
}

/// Returns the time since the first call. The platform decides whether suspensions are included.
#[cfg(not(target_os = "linux"))]
fn uptime() -> Millis {
    static FIRST: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    Millis(u64::try_from(FIRST.elapsed().as_millis()).unwrap_or(u64::MAX))
}

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn monotonic(&self) -> Millis {
        uptime().saturating_sub(self.start)
    }

    async fn sleep(&self, time: Millis) {
        tokio::time::sleep(time.as_duration()).await;
    }
}

/// Seeds from the operating system's randomness, by way of the standard library's hasher keys.
pub struct SystemSeeds(AtomicU64);

impl SystemSeeds {
    /// Returns a new sequence of seeds with a random start.
    #[expect(clippy::new_without_default, reason = "a random value is no default value")]
    pub fn new() -> SystemSeeds {
        SystemSeeds(AtomicU64::new(RandomState::new().hash_one("curlew")))
    }
}

impl Seeds for SystemSeeds {
    fn next(&self) -> u64 {
        mix(self.0.fetch_add(1, Ordering::Relaxed))
    }
}
