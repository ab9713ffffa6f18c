//! A year of many short pages on simulated object storage: publishing, queries, removals, an erasure and an upgrade of
//! the format.

use super::Bench;
use super::process::measure;
use super::table::Table;
use crate::run::{cargo, run, target};
use anyhow::{Context, Result};
use serde_json::Value;
use std::process::Command;

/// Number of pages of the year, and number of pages whose splits are converted to an older format.
const PAGES: u64 = 1_000_000;
const UPGRADED: u64 = 200_000;
/// Environment variable that sets another number of pages. Ten million take a quarter of an hour on an idle machine,
/// and 4 GB of disk.
const PAGES_VARIABLE: &str = "CURLEW_BENCH_PAGES";
/// Bars, which are those for ten million pages.
const PUBLISH_S: f64 = 300.0;
const WARM_MS: f64 = 300.0;
const COLD_MS: f64 = 1_500.0;
const ERASURE_S: f64 = 600.0;

pub(crate) fn measure_scale(bench: &Bench, table: &mut Table) -> Result<()> {
    let pages = match std::env::var(PAGES_VARIABLE) {
        Ok(pages) => pages.parse().with_context(|| format!("{PAGES_VARIABLE} is no number"))?,
        Err(_) => PAGES,
    };
    run(cargo().args(["build", "--release", "--locked", "-p", "curlew", "--example", "bench_scale"]))?;
    let mut command = Command::new(target()?.join("release/examples/bench_scale"));
    command.args([pages.to_string(), UPGRADED.to_string()]).arg(bench.folder.join("scale"));
    let used = measure(command, None)?;
    let told: Value = serde_json::from_str(&used.stdout).context("the example prints no figures")?;
    let number = |path: &str| told.pointer(path).and_then(Value::as_f64).unwrap_or(f64::NAN);
    table.figure(format!("splits of {pages} pages built"), number("/fill_s"), "s");
    table.figure(format!("{} of them merged into {}", number("/deltas"), number("/splits")), number("/merge_s"), "s");
    table.figure("the index", number("/index_mb"), "MB");
    table.barred("100,000 new pages published by 10 workers", number("/publish_s"), "s", PUBLISH_S);
    table.barred("two words, warm, 95th percentile", number("/warm/p95"), "ms", WARM_MS);
    table.figure("two words, warm, median", number("/warm/median"), "ms");
    table.barred("two words, cold, 95th percentile", number("/cold/p95"), "ms", COLD_MS);
    table.figure("the same, bytes read", number("/cold/mb"), "MB");
    table.figure("two words of a language and a month, cold, 95th percentile", number("/pruned/p95"), "ms");
    table.figure("a removal", number("/removal_ms"), "ms");
    table.figure("the query after it", number("/after_removal_ms"), "ms");
    table.barred("a host of 10,000 pages erased", number("/erasure_s"), "s", ERASURE_S);
    table.figure(format!("an upgrade of {} pages' format", number("/upgraded")), number("/upgrade_s"), "s");
    table.barred("searches meanwhile that found too little", number("/empty"), "", 0.0);
    table.figure("searches meanwhile", number("/asked"), "");
    Ok(())
}
