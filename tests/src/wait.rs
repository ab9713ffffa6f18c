//! Waiting for something that happens beside the test.

use std::time::{Duration, Instant};

/// Interval at which a test looks.
const LOOK: Duration = Duration::from_millis(20);

/// Waits until something holds, and fails with what `told` returns then if that takes longer than `limit`.
#[track_caller]
pub fn until(limit: Duration, told: impl Fn() -> String, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < limit, "not within {limit:?}: {}", told());
        std::thread::sleep(LOOK);
    }
}
