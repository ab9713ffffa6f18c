//! Waits for an event outside the test.

use std::time::{Duration, Instant};

/// Interval between two checks.
const LOOK: Duration = Duration::from_millis(20);

/// Waits until `holds` returns true. Panics with the text of `told` after `limit`.
#[track_caller]
pub fn until(limit: Duration, told: impl Fn() -> String, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < limit, "not within {limit:?}: {}", told());
        std::thread::sleep(LOOK);
    }
}
