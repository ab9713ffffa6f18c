//! How fast this machine is: the processor time of a fixed piece of work, beside that on the reference core.
//!
//! The work is done again and again while functions run, and the median since the last reading counts: what else the machine and its
//! neighbours do takes as much of the caches and of a shared core from the loop as from the functions, so it cancels out. Like the
//! functions' work the loop reads text, builds trees with many small allocations, and hashes.

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
/// Number of loops to begin with, and of those that a reading is made of at least.
const LOOPS: usize = 20;

/// Loops that go on beside other work. Dropping this ends them.
#[derive(Debug)]
pub struct Calibration {
    /// Processor times of the loops since the last reading, in milliseconds.
    times: Arc<Mutex<Vec<f64>>>,
    _end: Sender<()>,
}

impl Calibration {
    /// Runs some loops, and goes on.
    pub fn start() -> Calibration {
        let times = Arc::new(Mutex::new((0..LOOPS).map(|_| processor_time_of_loop()).collect::<Vec<f64>>()));
        let (end, ended) = channel();
        let known = Arc::clone(&times);
        std::thread::spawn(move || {
            while ended.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                let time = processor_time_of_loop();
                known.lock().unwrap_or_else(PoisonError::into_inner).push(time);
            }
        });
        Calibration { times, _end: end }
    }

    /// Returns the median of the loops' processor times since the last call, in milliseconds. Some loops are run now if there were few.
    pub fn loop_ms(&self) -> f64 {
        let mut times = std::mem::take(&mut *self.times.lock().unwrap_or_else(PoisonError::into_inner));
        times.extend((times.len()..LOOPS).map(|_| processor_time_of_loop()));
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }

    /// Returns how many times the reference core's time this machine took since the last call.
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
    fn the_median_since_the_last_reading_counts() {
        let calibration = Calibration::start();
        let given = |times: Vec<f64>| *calibration.times.lock().unwrap() = times;
        given(vec![1e6; 2 * LOOPS + 1]);
        assert!(calibration.loop_ms() >= 1e6);
        let now = calibration.loop_ms();
        assert!(now > 0.0 && now < 1e6, "{now}: those that were read are forgotten");
    }
}
