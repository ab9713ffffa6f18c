//! Statistics of this process from Linux's `/proc` (proc(5)), zero on other systems; and free disk space.

use std::path::Path;

/// Clock ticks per second, as Linux counts them in `/proc`.
const TICKS: f64 = 100.0;

pub(crate) fn cpu_seconds() -> f64 {
    (stat(11) + stat(12)) / TICKS
}

pub(crate) fn start_seconds() -> f64 {
    let system = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let boot = system.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse::<f64>().ok());
    boot.map_or(0.0, |boot| boot + stat(19) / TICKS)
}

pub(crate) fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().split(' ').next()?.parse::<u64>().ok());
    kib.unwrap_or(0).saturating_mul(1_024)
}

pub(crate) fn open_descriptors() -> u64 {
    std::fs::read_dir("/proc/self/fd").map_or(0, |all| all.count() as u64)
}

/// Returns the free bytes of a folder's file system, or `None` if they cannot be read.
pub(crate) fn free_bytes(folder: &Path) -> Option<u64> {
    let system = rustix::fs::statvfs(folder).ok()?;
    Some(system.f_bavail.saturating_mul(system.f_frsize))
}

/// Returns the field at index `n` of `/proc/self/stat`, counted from 0 after the program's name.
fn stat(n: usize) -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The program's name is in parentheses and may contain spaces; the other fields follow it.
    let mut numbers = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    numbers.nth(n).and_then(|number| number.parse().ok()).unwrap_or(0.0)
}
