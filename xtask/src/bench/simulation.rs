//! A month of crawling ten thousand hosts in simulated time, with each call checked.

use super::table::Table;
use super::{Bench, process};
use crate::run::cargo;
use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Number of host keys, and number of days.
const SIZE: [&str; 2] = ["10000", "30"];
/// Maximum time of the simulation on two cores, in seconds.
const SECONDS: f64 = 120.0;

/// Runs the simulation, and records its outcome and its time. Fails if an invariant was violated.
pub(crate) fn measure(_: &Bench, table: &mut Table) -> Result<()> {
    let example = ["--release", "--locked", "-p", "curlew-simulator", "--example", "long_run"];
    crate::run::run(cargo().arg("build").args(example))?;
    let mut command = cargo();
    command.arg("run").arg("--quiet").args(example).arg("--").args(SIZE);
    let used = process::measure(command, None)?;
    let report: Value = serde_json::from_str(used.stdout.trim()).context("the report is no JSON")?;
    let number = |name: &str| report[name].as_f64().unwrap_or(f64::NAN);
    if number("violations") > 0.0 {
        bail!("violations: {report}");
    }
    for miss in report["misses"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        eprintln!("xtask: missed: {miss}");
    }
    table.barred("30 days of 10,000 hosts, simulated, two threads", number("seconds"), "s", SECONDS);
    table.figure("… calls judged", number("calls"), "");
    table.figure("… polls", number("polls"), "");
    table.figure("… pages fetched", number("pages"), "");
    table.barred("… calls that should not have been made", number("violations"), "", 0.0);
    table.barred("… polls missed, of hosts that were well", number("missed"), "", 0.0);
    table.barred("… hosts blamed for an outage of our own", number("blamed"), "", 0.0);
    table.figure("… worst lateness of a poll", number("worst_lateness") / 1e3, "s");
    table.figure("… mean lateness of a poll", number("mean_lateness") / 1e3, "s");
    table.figure("… moments without any visit under way", number("idle_per_mille") / 10.0, "%");
    table.figure("… of a visit, time in which nothing is called", number("waiting_per_mille") / 10.0, "%");
    table.figure("… most visits at once, of one thread's 100", number("at_once"), "");
    Ok(())
}
