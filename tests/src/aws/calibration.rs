//! How fast this machine is: the processor time of a fixed piece of work, beside that on the reference core.
//!
//! The work is done again and again while functions run, and the fastest counts: that is what the machine can do, however much
//! else it did at times. Like the functions' work it reads text, builds trees with many small allocations, and hashes.

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::hint::black_box;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Processor time of the loop on the reference core, in milliseconds.
pub const LOOP_MS: f64 = 20.0;
/// Number of records of the document that the loop reads, and number of times that it does.
const RECORDS: u32 = 1_000;
const ROUNDS: usize = 6;
/// Time between two loops.
const PAUSE: Duration = Duration::from_millis(500);
/// Number of loops to begin with.
const LOOPS: usize = 20;

/// Loops that go on beside other work. Dropping this ends them.
#[derive(Debug)]
pub struct Calibration {
    fastest: Arc<Mutex<f64>>,
    _end: Sender<()>,
}

impl Calibration {
    /// Runs some loops, and goes on.
    pub fn start() -> Calibration {
        let first = (0..LOOPS).map(|_| processor_time_of_loop()).fold(f64::INFINITY, f64::min);
        let fastest = Arc::new(Mutex::new(first));
        let (end, ended) = channel();
        let known = Arc::clone(&fastest);
        std::thread::spawn(move || {
            while ended.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                let time = processor_time_of_loop();
                let mut fastest = known.lock().unwrap_or_else(PoisonError::into_inner);
                *fastest = fastest.min(time);
            }
        });
        Calibration { fastest, _end: end }
    }

    /// Returns the processor time of the fastest loop up to now, in milliseconds.
    pub fn loop_ms(&self) -> f64 {
        *self.fastest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many times the reference core's time this machine takes.
    pub fn slowness(&self) -> f64 {
        self.loop_ms() / LOOP_MS
    }
}

/// Runs the loop. Returns this thread's processor time meanwhile, in milliseconds.
fn processor_time_of_loop() -> f64 {
    let began = processor_time();
    let record = |number: u32| json!({"id": number, "url": format!("http://host-{number}.test/"), "words": ["one", "two", "three"]});
    let document = Value::Array((0..RECORDS).map(record).collect()).to_string();
    let mut digest = Sha256::new();
    for _ in 0..ROUNDS {
        let read: Value = serde_json::from_str(black_box(&document)).expect("it was written just now");
        digest.update(read.to_string());
    }
    black_box(digest.finalize());
    processor_time() - began
}

/// Processor time of this thread, in milliseconds.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_loop_counts() {
        let calibration = Calibration::start();
        let first = calibration.loop_ms();
        assert!(first > 0.0 && calibration.slowness() > 0.0, "{first}");
        std::thread::sleep(PAUSE * 2);
        assert!(calibration.loop_ms() <= first);
    }
}
