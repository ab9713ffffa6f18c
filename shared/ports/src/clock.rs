use async_trait::async_trait;
use curlew_model::{Millis, Timestamp};

/// Time. The one way in which a stage learns of it.
#[async_trait]
pub trait Clock: Send + Sync {
    /// The wall clock; may jump.
    fn now(&self) -> Timestamp;

    /// Time since some fixed moment; never jumps and never runs backwards.
    fn monotonic(&self) -> Millis;

    /// Returns after at least this time.
    async fn sleep(&self, time: Millis);
}

/// Seeds for decisions that involve chance. The decisions themselves are pure functions of the seed.
pub trait Seeds: Send + Sync {
    /// The next seed; each call gives another one.
    fn next(&self) -> u64;
}
