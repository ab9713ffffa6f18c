//! The simulated time, which is tokio's paused clock: it jumps whenever all tasks are waiting.

use curlew_model::{Millis, Timestamp};
use std::sync::OnceLock;
use tokio::time::Instant;

/// Start of the simulation: the midnight of an arbitrary day, and the first minute of a cycle.
pub(super) const START: Timestamp = Timestamp::from_millis(1_795_392_000_000);

static BEGAN: OnceLock<Instant> = OnceLock::new();

/// Starts the clock. A process has only one.
pub(super) fn start() {
    BEGAN.set(Instant::now()).expect("one simulation in a process");
}

/// Returns the instant at which the clock was started.
pub(super) fn began() -> Instant {
    *BEGAN.get().expect("the simulation has begun")
}

pub(super) fn now() -> Timestamp {
    let passed = BEGAN.get().map(Instant::elapsed).unwrap_or_default();
    START + Millis(u64::try_from(passed.as_millis()).unwrap_or(u64::MAX))
}
