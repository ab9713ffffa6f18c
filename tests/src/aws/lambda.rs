//! Lambda's billing: an invocation is billed by its duration and the memory of its function.
//!
//! A function has memory / 1,769 MB of a core (Lambda's guide). In these tests it has a whole core. Its processor time
//! tells how long it would have run on Lambda: an invocation that needs more of a core than its share is stretched.

use super::unit::{MEMORY_OF_A_CORE, Unit};
use serde_json::Value;

/// Message that a function logs at the end of an invocation.
const DONE: &str = "invocation done";
/// Megabytes of a gigabyte, as Lambda counts.
const MEGABYTES: f64 = 1024.0;

/// Processor architecture of a function; it determines the price of its seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// AWS' own processors.
    Arm64,
    /// Intel's and AMD's.
    X86,
}

impl Architecture {
    /// Returns the unit of its time.
    pub const fn unit(self) -> Unit {
        match self {
            Architecture::Arm64 => Unit::GbSecondArm64,
            Architecture::X86 => Unit::GbSecondX86,
        }
    }
}

/// An invocation.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The function.
    pub function: String,
    /// Time from the call of its handler to the return, in milliseconds.
    pub wall_ms: f64,
    /// Start-up time of the process before its first invocation, in milliseconds; zero for later ones. Start-up is
    /// billed, too, as wall-clock time.
    pub init_ms: f64,
    /// Processor time of all threads of the process meanwhile, in milliseconds.
    pub cpu_ms: f64,
    /// The function's memory, in megabytes.
    pub memory_mb: u32,
    /// Number of messages in the batch; zero for a function without a queue.
    pub messages: u64,
}

impl Run {
    /// Reads a log line; returns `None` if the line does not report the end of an invocation. The fields may be at the
    /// top level or, as `tracing`'s own subscriber writes them, below `fields`.
    pub fn read(line: &str) -> Option<Run> {
        let value: Value = serde_json::from_str(line.trim()).ok()?;
        let fields = if value["fields"].is_object() { &value["fields"] } else { &value };
        if fields["message"] != DONE {
            return None;
        }
        Some(Run {
            function: fields["function"].as_str()?.to_owned(),
            wall_ms: fields["wall_ms"].as_f64()?,
            init_ms: fields["init_ms"].as_f64().unwrap_or(0.0),
            cpu_ms: fields["cpu_ms"].as_f64()?,
            memory_mb: u32::try_from(fields["memory_mb"].as_u64()?).ok()?,
            messages: fields["messages"].as_u64().unwrap_or(0),
        })
    }

    /// Returns how long the invocation would have taken on AWS, on the reference core. This machine takes `slowness`
    /// times as long as that core for a piece of work, and waiting times are multiplied by `waiting`.
    #[must_use]
    pub fn on_reference(self, slowness: f64, waiting: f64) -> Run {
        Run {
            wall_ms: self.waited_ms() * waiting + self.cpu_ms.min(self.wall_ms) / slowness,
            init_ms: self.init_ms / slowness,
            cpu_ms: self.cpu_ms / slowness,
            ..self
        }
    }

    /// Returns the time in which nothing was computed, in milliseconds.
    pub fn waited_ms(&self) -> f64 {
        (self.wall_ms - self.cpu_ms).max(0.0)
    }

    /// Returns the billed milliseconds, rounded up: the wall-clock time, or the processor time on the function's share
    /// of a core if that is longer.
    pub fn billed_ms(&self) -> f64 {
        let share = f64::from(self.memory_mb) / MEMORY_OF_A_CORE;
        (self.init_ms + self.wall_ms.max(self.cpu_ms / share)).ceil()
    }

    /// Returns the billed memory-time in gigabyte-seconds.
    pub fn gb_seconds(&self) -> f64 {
        self.billed_ms() / 1e3 * f64::from(self.memory_mb) / MEGABYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(wall_ms: f64, cpu_ms: f64, memory_mb: u32) -> Run {
        Run { function: "s-fetch".to_owned(), wall_ms, init_ms: 0.0, cpu_ms, memory_mb, messages: 3 }
    }

    #[test]
    fn waiting_is_billed_as_it_is_and_computing_by_the_share_of_a_core() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        close(run(1000.0, 10.0, 1769).billed_ms(), 1000.0);
        close(run(1000.2, 1000.2, 1769).billed_ms(), 1001.0);
        close(run(1000.0, 500.0, 256).billed_ms(), (500.0_f64 * 1769.0 / 256.0).ceil());
        close(run(2000.0, 10.0, 512).gb_seconds(), 1.0);
        close(Run { init_ms: 30.0, ..run(1000.0, 10.0, 512) }.billed_ms(), 1030.0);
    }

    #[test]
    fn two_machines_come_to_the_same_time() {
        let close = |a: Run, wall_ms: f64, cpu_ms: f64| {
            assert!((a.wall_ms - wall_ms).abs() < 1e-9 && (a.cpu_ms - cpu_ms).abs() < 1e-9, "{a:?}");
        };
        close(run(1_200.0, 600.0, 512).on_reference(1.5, 1.0), 1_000.0, 400.0);
        // The emulator of the slow machine took twice as long, too.
        close(run(1_800.0, 600.0, 512).on_reference(1.5, 0.5), 1_000.0, 400.0);
        // Several simultaneous threads use more processor time than wall-clock time.
        close(run(150.0, 300.0, 512).on_reference(1.5, 1.0), 100.0, 200.0);
        close(run(1_000.0, 400.0, 512).on_reference(1.0, 1.0), 1_000.0, 400.0);
    }

    #[test]
    fn a_log_line_is_read_in_either_form() {
        let flat = r#"{"level":"INFO","message":"invocation done","function":"s-fetch","wall_ms":12,"cpu_ms":3.5,"memory_mb":256,"messages":3}"#;
        let nested = r#"{"level":"INFO","fields":{"message":"invocation done","function":"s-fetch","wall_ms":12,"cpu_ms":3.5,"memory_mb":256,"messages":3}}"#;
        assert_eq!(Run::read(flat), Some(run(12.0, 3.5, 256)));
        assert_eq!(Run::read(nested), Run::read(flat));
        assert_eq!(Run::read(r#"{"message":"the host is held","function":"s-fetch"}"#), None);
        assert_eq!(Run::read("START RequestId: 1"), None);
    }
}
