//! Resource usage of this process as counted by the kernel (clock_gettime(2), proc(5)).

use curlew_app::kernel_time;
use curlew_model::Millis;
use rustix::time::ClockId;

/// Returns the processor time of all threads so far, in user and kernel mode.
pub(crate) fn processor_time() -> Millis {
    kernel_time(ClockId::ProcessCPUTime)
}

/// Returns the peak resident memory in KiB; 0 without `/proc`.
pub(crate) fn peak_memory_kb() -> u64 {
    std::fs::read_to_string("/proc/self/status").ok().and_then(|text| peak(&text)).unwrap_or_default()
}

fn peak(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_of_work_and_finer_than_a_tick_of_the_kernel() {
        let (mut last, mut steps) = (processor_time(), Vec::new());
        while steps.len() < 5 {
            let time = std::hint::black_box(processor_time());
            if time > last {
                steps.push(time.saturating_sub(last));
                last = time;
            }
        }
        assert!(steps.iter().any(|step| *step < Millis(10)), "{steps:?}");
    }

    #[test]
    fn the_kernel_s_line_of_memory_is_read() {
        assert_eq!(peak("Name:\tx\nVmHWM:\t   10240 kB\nVmRSS:\t 1 kB\n"), Some(10_240));
        assert_eq!(peak(""), None);
    }
}
