//! Raw pages: extracts them again, exports them as WARC, and checks the file with warcio.

use super::Bench;
use super::crawls::crawl_with;
use super::process::measure;
use super::table::Table;
use super::web::{Size, Web};
use crate::run::{program, run};
use crate::tools;
use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Sites with 10,000 pages in total, for which the WARC file must be valid.
const PAGES: Size = Size { hosts: 100, pages: 100, bytes: 30 * 1024 };
/// Maximum time to extract a page again, in milliseconds: 200 pages per second.
const REEXTRACT_BAR: f64 = 5.0;

/// Measures re-extraction and export of raw pages.
pub(crate) fn measure_raw(bench: &Bench, table: &mut Table) -> Result<()> {
    let web = Web::start(bench, &PAGES.flags())?;
    let data = bench.folder.join("raw");
    crawl_with(bench, &web, PAGES, &data, &[("CURLEW_RAW_KEEP", "true")])?;
    let pages = (PAGES.hosts * PAGES.pages) as f64;
    let mut command = bench.curlew(&["reextract", "--json", "--data"]);
    command.arg(&data);
    let used = measure(command, None)?;
    let report: Value = serde_json::from_str(&used.stdout).context("the re-extraction prints no JSON")?;
    if report["same"].as_f64() != Some(pages) {
        bail!("not every page was extracted again: {report}");
    }
    table.barred(format!("extracting a page again, {pages} pages"), used.seconds / pages * 1e3, "ms", REEXTRACT_BAR);
    table.figure("CPU of the same a page", used.cpu_seconds / pages * 1e3, "ms");
    table.figure("peak resident memory of the same", used.peak_bytes / 1e6, "MB");
    let file = bench.folder.join("pages.warc.gz");
    let mut command = bench.curlew(&["export", "warc", "--data"]);
    command.arg(&data).arg("--output").arg(&file);
    let used = measure(command, None)?;
    table.figure("exporting a page as WARC", used.seconds / pages * 1e3, "ms");
    table.figure("that file", std::fs::metadata(&file)?.len() as f64 / 1e6, "MB");
    run(program(&tools::warcio()?).arg("check").arg(&file))
}
