//! Back catalogues: the memory for reading the same number of pages from a small one and a large one.

use super::Bench;
use super::process::measure;
use super::table::Table;
use super::web::Web;
use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Kinds of sites, by how their archives are read: from feeds with several pages, and from sitemaps.
const KINDS: [&str; 2] = ["wordpress", "sitemap"];
/// Number of articles of the smaller and the larger site.
const PAGES: [usize; 2] = [1_000, 20_000];
/// Number of pages to read from each site, so that their cost in the index is the same.
const LIMIT: u64 = 500;
/// Maximum ratio of the peaks of resident memory.
const BAR: f64 = 1.25;
/// Settings with a budget and pauses that let these pages be read in a minute.
const SETTINGS: &str = "[rules]\nbackfill_per_day = 50000000\nwindow_limit = \"8h\"\nmin_pause = \"1ms\"\njitter = [\"1ms\", \"2ms\"]\n\
                        poisson_mean = \"0ms\"\nrefill = \"1ms\"\n";
/// Maximum number of crawls for these pages: a crawl ends when nothing is due within a minute.
const CRAWLS: usize = 40;

pub(crate) fn measure_history(bench: &Bench, table: &mut Table) -> Result<()> {
    for kind in KINDS {
        let [few, many] = PAGES;
        let (small, large) = (peak(bench, kind, few)?, peak(bench, kind, many)?);
        table.figure(
            format!("peak resident memory, {kind}, {few} older pages, of which {LIMIT} are taken"),
            small / 1e6,
            "MB",
        );
        table.figure(format!("the same with {many}"), large / 1e6, "MB");
        table.barred(format!("{kind}: memory with {many} / with {few} older pages"), large / small, "", BAR);
    }
    Ok(())
}

/// Reads a back catalogue up to [`LIMIT`]. Returns the peak of resident memory, in bytes.
fn peak(bench: &Bench, kind: &str, pages: usize) -> Result<f64> {
    let web = Web::start(bench, &["--catalogue".into(), format!("{kind}={pages}")])?;
    let data = bench.folder.join(format!("history-{kind}-{pages}"));
    let settings = bench.folder.join("history.toml");
    std::fs::write(&settings, SETTINGS).with_context(|| format!("{}", settings.display()))?;
    let (list, rule) = (web.list(bench)?, web.rule());
    let mut peak = 0.0_f64;
    for _ in 0..CRAWLS {
        let mut command =
            bench.curlew(&["crawl", "--json", "--history", "--limit", &LIMIT.to_string(), "--resolve", &rule]);
        command.arg("--sites").arg(&list).arg("--data").arg(&data).arg("--config").arg(&settings);
        let used = measure(command, None)?;
        peak = peak.max(used.peak_bytes);
        let summary: Value = serde_json::from_str(&used.stdout).context("the crawl prints no JSON")?;
        let history = summary["history"].as_array().context("the summary has no history")?;
        if history.iter().all(|line| line["sent"].as_u64() == Some(LIMIT)) {
            return Ok(peak);
        }
    }
    bail!("{LIMIT} pages of {kind} were not taken in {CRAWLS} crawls")
}
