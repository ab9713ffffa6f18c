//! The simulated time: of tokio's paused clock, which jumps whenever all that runs is waiting.

use curlew_model::{Millis, Timestamp};
use std::sync::OnceLock;
use tokio::time::Instant;

/// When it begins: at midnight, which is the first minute of a cycle. Any such day does.
pub(super) const START: Timestamp = Timestamp::from_millis(1_795_392_000_000);

static BEGAN: OnceLock<Instant> = OnceLock::new();

/// Starts the clock, which is the process's own.
pub(super) fn start() {
    BEGAN.set(Instant::now()).expect("one simulation in a process");
}

/// Returns the instant at which it was started.
pub(super) fn began() -> Instant {
    *BEGAN.get().expect("the simulation has begun")
}

/// Returns the simulated time.
pub(super) fn now() -> Timestamp {
    let passed = BEGAN.get().map(Instant::elapsed).unwrap_or_default();
    START + Millis(u64::try_from(passed.as_millis()).unwrap_or(u64::MAX))
}
