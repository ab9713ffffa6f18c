//! Measures the resources of a process: processor time, memory and elapsed time.

use anyhow::{Context, Result, bail};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Interval at which a running process is sampled. The kernel keeps the peak, so only a peak in the last interval is
/// missed.
const LOOK: Duration = Duration::from_millis(10);
/// Clock ticks per second, as Linux counts them (proc(5)).
const TICKS: f64 = 100.0;

/// Resources of one run.
#[derive(Debug)]
pub(crate) struct Used {
    /// Time from start to end, in seconds.
    pub(crate) seconds: f64,
    /// User and system time of all threads, in seconds, in steps of 0.01.
    pub(crate) cpu_seconds: f64,
    /// Maximum resident memory, in bytes.
    pub(crate) peak_bytes: f64,
    /// Standard output of the process.
    pub(crate) stdout: String,
}

/// Runs a program to its end, with `input` as its standard input. Fails if the exit code is not 0.
pub(crate) fn measure(mut command: Command, input: Option<Vec<u8>>) -> Result<Used> {
    let cpu_before = cpu_of_ended_children()?;
    let began = Instant::now();
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() }).stdout(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("{command:?} cannot be started"))?;
    let feeding = child.stdin.take().zip(input).map(|(mut pipe, input)| {
        // Write errors are ignored: the exit code of a program that ends early is checked below.
        std::thread::spawn(move || drop(pipe.write_all(&input)))
    });
    let printed = child.stdout.take().map(drain);
    let mut peak_bytes = 0.0;
    let status = loop {
        peak_bytes = peak(child.id()).unwrap_or(peak_bytes);
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(LOOK);
    };
    let seconds = began.elapsed().as_secs_f64();
    let cpu_seconds = cpu_of_ended_children()? - cpu_before;
    if let Some(feeding) = feeding {
        drop(feeding.join());
    }
    let stdout = printed.and_then(|thread| thread.join().ok()).unwrap_or_default();
    if !status.success() {
        bail!("{command:?} failed: {status}");
    }
    Ok(Used { seconds, cpu_seconds, peak_bytes, stdout: String::from_utf8_lossy(&stdout).into_owned() })
}

fn drain(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // The bytes before an error are still used.
        let _cut_short = pipe.read_to_end(&mut bytes);
        bytes
    })
}

/// Returns the user and system time, in seconds, of all children that have ended and were waited for. The fixture web
/// is a child, too, but is waited for only after its measurement.
fn cpu_of_ended_children() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").context("processor time is measured on Linux only")?;
    cpu_from_stat(&stat).context("/proc/self/stat has another form than proc(5) says")
}

fn cpu_from_stat(stat: &str) -> Option<f64> {
    // The program's name is in parentheses and may contain spaces; field 3 follows it.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(16 - 3);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / TICKS)
}

/// Returns the maximum resident memory so far, in bytes; `None` once the process has ended.
fn peak(process: u32) -> Option<f64> {
    peak_from_status(&std::fs::read_to_string(format!("/proc/{process}/status")).ok()?)
}

fn peak_from_status(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1_024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_proc_are_read() {
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194560 1 2 0 0 11 12 130 27 20 0 1 0 5 6 7";
        assert_eq!(cpu_from_stat(stat), Some(1.57));
        assert_eq!(cpu_from_stat("7 (a) S 1"), None);
        assert_eq!(peak_from_status("Name:\ta\nVmPeak:\t 9 kB\nVmHWM:\t   63080 kB\n"), Some(64_593_920.0));
        assert_eq!(peak_from_status("Name:\ta\nState:\tZ (zombie)\n"), None);
    }

    #[test]
    fn what_a_program_takes_is_counted() {
        let mut command = Command::new("sh");
        command.args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; cat"]);
        let used = measure(command, Some(b"told".to_vec())).expect("it runs");
        assert_eq!(used.stdout, "told");
        assert!(used.cpu_seconds > 0.0 && used.cpu_seconds <= used.seconds + 0.02, "{used:?}");
        assert!(used.peak_bytes > 100_000.0, "{used:?}");
        assert!(measure(Command::new("false"), None).is_err());
    }
}
