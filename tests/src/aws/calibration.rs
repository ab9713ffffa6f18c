//! Measures how fast this machine is: the processor time of a fixed piece of work, compared with the reference core.
//!
//! A loop does the work again and again while functions run, and the median since the last reading counts. Other load
//! on the machine takes as much of the caches and of a shared core from the loop as from the functions, so it cancels
//! out. Each run of the loop is weighted by the work beside it, because one that ran while functions waited says
//! nothing about their core. Like the functions' work, the loop reads text, builds trees with many small allocations,
//! and hashes.
//! hashes.

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::hint::black_box;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Processor time of the loop on the reference core, in milliseconds.
pub const LOOP_MS: f64 = 20.0;
/// Number of records of the document that the loop reads, and number of times that the loop reads it.
const RECORDS: u32 = 1_000;
const ROUNDS: usize = 6;
/// Time between two loops.
const PAUSE: Duration = Duration::from_millis(500);
/// Number of runs at the start, and minimum number of runs for a reading.
const LOOPS: usize = 20;

/// One run of the loop.
#[derive(Clone, Copy, Debug)]
struct Loop {
    /// Processor time of this run, in milliseconds.
    time: f64,
    /// Processor time of all other work on this machine since the previous run, in milliseconds.
    beside: f64,
}

/// Runs of the loop beside other work. Dropping this ends them.
#[derive(Debug)]
pub struct Calibration {
    /// Runs since the last reading.
    loops: Arc<Mutex<Vec<Loop>>>,
    _end: Sender<()>,
}

impl Calibration {
    /// Runs the loop a few times, and then keeps running it in a thread.
    pub fn start() -> Calibration {
        let loops = Arc::new(Mutex::new((0..LOOPS).map(|_| Loop::alone()).collect::<Vec<Loop>>()));
        let (end, ended) = channel();
        let known = Arc::clone(&loops);
        std::thread::spawn(move || {
            let mut busy = busy_ms();
            while ended.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                let time = processor_time_of_loop();
                let before = std::mem::replace(&mut busy, busy_ms());
                let beside = (busy - before - time).max(0.0);
                known.lock().unwrap_or_else(PoisonError::into_inner).push(Loop { time, beside });
            }
        });
        Calibration { loops, _end: end }
    }

    /// Returns the median of the loop's processor times since the last call, in milliseconds. If there were few runs,
    /// the loop is run now.
    pub fn loop_ms(&self) -> f64 {
        let mut loops = std::mem::take(&mut *self.loops.lock().unwrap_or_else(PoisonError::into_inner));
        loops.extend((loops.len()..LOOPS).map(|_| Loop::alone()));
        median(loops)
    }

    /// Returns this machine's time since the last call as a multiple of the reference core's.
    pub fn slowness(&self) -> f64 {
        self.loop_ms() / LOOP_MS
    }
}

impl Loop {
    /// Runs the loop while no other work is measured.
    fn alone() -> Loop {
        Loop { time: processor_time_of_loop(), beside: 0.0 }
    }
}

/// Returns the median of the times, weighted by the work beside each run; without any such work all runs weigh the
/// same.
fn median(mut loops: Vec<Loop>) -> f64 {
    loops.sort_by(|a, b| a.time.total_cmp(&b.time));
    let half = loops.iter().map(|one| one.beside).sum::<f64>() / 2.0;
    if half <= 0.0 {
        return loops[loops.len() / 2].time;
    }
    let mut done = 0.0;
    let reaches_half = |one: &&Loop| {
        done += one.beside;
        done >= half
    };
    loops.iter().find(reaches_half).or(loops.last()).map_or(LOOP_MS, |one| one.time)
}

/// Returns the processor time that this machine has spent since its start, in milliseconds: in programs, in the kernel,
/// and on interrupts (proc_stat(5)). Returns zero if `/proc/stat` cannot be read.
fn busy_ms() -> f64 {
    const TICK_MS: f64 = 10.0;
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let spent = stat.lines().next().unwrap_or_default().split_whitespace().skip(1);
    // user, nice, system, idle, iowait, irq, softirq
    let spent = spent.take(7).enumerate().filter(|(n, _)| ![3, 4].contains(n));
    spent.filter_map(|(_, ticks)| ticks.parse::<f64>().ok()).sum::<f64>() * TICK_MS
}

/// Runs the loop and returns this thread's processor time meanwhile, in milliseconds.
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

/// Returns the processor time of this thread, in milliseconds.
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
        let given = |loops: Vec<Loop>| *calibration.loops.lock().unwrap() = loops;
        given(vec![Loop { time: 1e6, beside: 0.0 }; 2 * LOOPS + 1]);
        assert!(calibration.loop_ms() >= 1e6);
        let now = calibration.loop_ms();
        assert!(now > 0.0 && now < 1e6, "{now}: runs that were read must be forgotten");
    }

    #[test]
    fn a_loop_counts_as_much_as_the_work_beside_it() {
        let one = |time: f64, beside: f64| Loop { time, beside };
        let idle = vec![one(10.0, 0.0); 100];
        assert_eq!(median(idle.clone()), 10.0);
        assert_eq!(median([idle, vec![one(30.0, 400.0), one(40.0, 90.0)]].concat()), 30.0);
        assert_eq!(median(vec![one(30.0, 1.0), one(10.0, 1.0), one(20.0, 1.0)]), 20.0);
        let before = busy_ms();
        assert!(before > 0.0);
        let mut loops = 0.0;
        while loops < 100.0 {
            loops += processor_time_of_loop();
        }
        assert!(busy_ms() >= before + 50.0, "the test's own work must be included");
    }
}
