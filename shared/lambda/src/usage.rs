//! Resource usage of this process, as the kernel counts it (proc(5)).

use curlew_model::Millis;

/// Unit of the kernel's counts of processor time: `USER_HZ`, 100 a second on every architecture of Lambda.
const TICK: Millis = Millis(10);
/// Fields of `/proc/self/stat` between the process's name and its processor time in user mode.
const FIELDS_BEFORE: usize = 11;

/// The processor time of all threads so far, in user mode and in the kernel. Nothing where there is no `/proc`.
pub(crate) fn processor_time() -> Millis {
    std::fs::read_to_string("/proc/self/stat").ok().and_then(|text| ticks(&text)).unwrap_or_default()
}

/// The most memory that was resident at once so far, in KiB. Nothing where there is no `/proc`.
pub(crate) fn peak_memory_kb() -> u64 {
    std::fs::read_to_string("/proc/self/status").ok().and_then(|text| peak(&text)).unwrap_or_default()
}

fn ticks(stat: &str) -> Option<Millis> {
    // The name stands in brackets and may have anything in it.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(FIELDS_BEFORE);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(TICK.saturating_mul(user.saturating_add(system)))
}

fn peak(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_lines_are_read() {
        let stat = "7 (a b) c) S 1 7 7 0 -1 4194560 100 0 0 0 12 3 0 0 20 0 4 0 99 1 2 3\n";
        assert_eq!(ticks(stat), Some(Millis(150)));
        assert_eq!(peak("Name:\tx\nVmHWM:\t   10240 kB\nVmRSS:\t 1 kB\n"), Some(10_240));
        assert_eq!((ticks("7 (x) S 1"), peak("")), (None, None));
    }
}
