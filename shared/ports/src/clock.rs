use async_trait::async_trait;
use curlew_model::{Millis, Timestamp};

/// The only source of time for stages.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Returns the time of the wall clock, which may jump.
    fn now(&self) -> Timestamp;

    /// Returns the time since a fixed moment; never jumps or runs backwards.
    fn monotonic(&self) -> Millis;

    /// Returns after at least this time.
    async fn sleep(&self, time: Millis);
}

/// Source of seeds for random decisions, which are pure functions of the seed.
pub trait Seeds: Send + Sync {
    /// Returns the next seed; each call returns a different one.
    fn next(&self) -> u64;
}
