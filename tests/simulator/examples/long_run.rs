//! Runs the simulator's long run: `long_run [HOSTS [DAYS [SEED [ADAPTIVE]]]]`. Prints a report as one line of JSON.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program for people, which prints how long the run took"
)]

use curlew_simulator::long::{LongRun, run};
use serde_json::json;
use std::time::Instant;

fn main() {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u64>().ok());
    let mut number = |usual: u64| numbers.next().flatten().unwrap_or(usual);
    let (hosts, days, seed, adaptive) = (number(10_000), number(30), number(1), number(0) > 0);
    let began = Instant::now();
    let plan = LongRun::new(seed, usize::try_from(hosts).unwrap_or(usize::MAX), days);
    let report = run(LongRun { adaptive, ..plan });
    let line = json!({
        "seconds": began.elapsed().as_secs_f64(),
        "hosts": report.hosts,
        "feeds": report.feeds,
        "days": days,
        "calls": report.calls,
        "polls": report.polls,
        "pages": report.pages,
        "missed": report.missed,
        "misses": report.misses,
        "excused": report.excused,
        "worst_lateness": report.worst_lateness,
        "worst": report.worst,
        "mean_lateness": report.mean_lateness,
        "mean_age": report.mean_age,
        "idle_per_mille": report.idle_per_mille,
        "waiting_per_mille": report.waiting_per_mille,
        "at_once": report.at_once,
        "holds": report.holds,
        "blamed": report.blamed,
        "violations": report.violations,
        "first": report.first,
    });
    println!("{line}");
}
