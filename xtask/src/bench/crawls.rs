//! Whole crawls: the costs of a page, many hosts, the demo and a search.

use super::process::{Used, measure};
use super::table::Table;
use super::web::{Size, Web};
use super::{Bench, served};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Sites for the bar on processor time, on enough hosts that visits overlap.
const PAGES: Size = Size { hosts: 100, pages: 10, bytes: 100 * 1024 };
/// Sites whose crawl is compared with the time of the slowest site.
const SITES: Size = Size { hosts: 60, pages: 10, bytes: 100 * 1024 };
/// Maximum ratio of the time of that crawl to the time from the first to the last call of its slowest site.
const SLOWEST_BAR: f64 = 1.15;
/// Many hosts with few pages each.
const HOSTS: Size = Size { hosts: 1_000, pages: 3, bytes: 100 * 1024 };
/// Number of concurrent visits.
const WORKERS: &str = "100";

/// Maximum processor time per page, from the list of sites to the published index, in milliseconds.
const CPU_BAR: f64 = 10.0;
/// Maximum resident memory while 100 workers crawl 1,000 hosts, in megabytes.
const MEMORY_BAR: f64 = 200.0;
/// Maximum time of the demo, in seconds.
const DEMO_BAR: f64 = 120.0;

/// Queries: common and rare words, a phrase, filters, another order.
pub(crate) const QUERIES: [&str; 6] = [
    "harbour",
    "the boats of the harbour",
    "\"the old town\"",
    "montagna lang:it",
    "cycling -race",
    "sentiero sort:date",
];
/// Number of times all queries are run.
const ROUNDS: usize = 5;

/// Measures processor time per page, of the whole pipeline and of extraction alone.
pub(crate) fn pages(bench: &Bench, table: &mut Table) -> Result<()> {
    let web = Web::start(bench, &PAGES.flags())?;
    let data = bench.folder.join("pages");
    let crawl = crawl(bench, &web, PAGES, &data)?;
    let pages = (PAGES.hosts * PAGES.pages) as f64;
    let pipeline = crawl.used.cpu_seconds / pages * 1e3;
    table.barred(format!("CPU a page, whole pipeline, {pages} pages of 100 KB"), pipeline, "ms", CPU_BAR);
    table.figure("the same by the summary's cpu_seconds", crawl.number("cpu_seconds")? / pages * 1e3, "ms");
    table.figure("peak resident memory of that crawl", megabytes(&crawl.used), "MB");
    table.figure(
        "calls a page, robots.txt, home pages, feeds and site images included",
        crawl.number("calls")? / pages,
        "",
    );

    let extraction = extraction(bench, &web, &data)? / pages * 1e3;
    table.figure("CPU a page, extraction alone (check page), the same pages", extraction, "ms");
    table.figure("extraction, pages a second and core", 1e3 / extraction, "pages/s");
    table.figure("whole pipeline / extraction alone", pipeline / extraction, "");
    Ok(())
}

/// Measures whether a crawl ends as soon as its work is done. The pauses between calls determine the time of each site,
/// and the crawl should take little longer than its slowest site.
pub(crate) fn sites(bench: &Bench, table: &mut Table) -> Result<()> {
    let log = bench.folder.join("calls.jsonl");
    let flags = SITES.flags().into_iter().chain(["--log".to_owned(), log.display().to_string()]);
    let web = Web::start(bench, &flags.collect::<Vec<_>>())?;
    let crawl = crawl(bench, &web, SITES, &bench.folder.join("sites"))?;
    let mut spans: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for line in fs::read_to_string(&log).with_context(|| log.display().to_string())?.lines() {
        let call: Value = serde_json::from_str(line).context("a call is no JSON")?;
        let (start, end) = (number(&call, "start")? / 1e6, number(&call, "end")? / 1e6);
        let host = call["host"].as_str().context("a call has no host")?.to_owned();
        let span = spans.entry(host).or_insert((start, end));
        *span = (span.0.min(start), span.1.max(end));
    }
    let slowest = spans.values().map(|(first, last)| last - first).fold(0.0, f64::max);
    let (seconds, what) = (crawl.number("seconds")?, format!("{} sites of {} pages", SITES.hosts, SITES.pages));
    table.figure(format!("{what}, from start to end"), seconds, "s");
    table.barred("the same / from the first to the last call of the slowest site", seconds / slowest, "", SLOWEST_BAR);
    Ok(())
}

/// Measures memory with many hosts, and searches over their pages.
pub(crate) fn hosts(bench: &Bench, table: &mut Table) -> Result<()> {
    let web = Web::start(bench, &HOSTS.flags())?;
    let data = bench.folder.join("hosts");
    let crawl = crawl(bench, &web, HOSTS, &data)?;
    let pages = (HOSTS.hosts * HOSTS.pages) as f64;
    let what = format!("peak resident memory, {} hosts by {WORKERS} workers", HOSTS.hosts);
    table.barred(what, megabytes(&crawl.used), "MB", MEMORY_BAR);
    table.figure("that crawl, from start to end", crawl.used.seconds, "s");
    table.figure("calls a second in that crawl", crawl.number("calls")? / crawl.number("seconds")?, "");
    table.figure("CPU a page in that crawl", crawl.used.cpu_seconds / pages * 1e3, "ms");
    searches(bench, &data, pages, table)?;
    served::measure(bench, &data, &web.rule(), &QUERIES, table)
}

/// Measures the demo as a user runs it.
pub(crate) fn demo(bench: &Bench, table: &mut Table) -> Result<()> {
    let used = measure(bench.curlew(&["demo", "--no-serve", "--json"]), None)?;
    let summary: Value = serde_json::from_str(&used.stdout).context("the demo prints no JSON")?;
    table.barred("the demo, from start to end", used.seconds, "s", DEMO_BAR);
    table.figure("CPU of the demo, its fixture web and the images included", used.cpu_seconds, "s");
    table.figure("peak resident memory of the demo", megabytes(&used), "MB");
    table.figure("pages that the demo accepts", number(&summary, "accepted")?, "");
    Ok(())
}

/// A finished crawl, with every page accepted.
pub(crate) struct Crawl {
    used: Used,
    summary: Value,
}

impl Crawl {
    fn number(&self, name: &str) -> Result<f64> {
        number(&self.summary, name)
    }
}

pub(crate) fn crawl(bench: &Bench, web: &Web, size: Size, data: &Path) -> Result<Crawl> {
    crawl_with(bench, web, size, data, &[])
}

/// Crawls a fixture web with settings in the environment. Fails if a page was not accepted.
pub(crate) fn crawl_with(
    bench: &Bench,
    web: &Web,
    size: Size,
    data: &Path,
    settings: &[(&str, &str)],
) -> Result<Crawl> {
    let (list, rule) = (web.list(bench)?, web.rule());
    let mut command = bench.curlew(&["crawl", "--json", "--workers", WORKERS, "--resolve", &rule]);
    command.arg("--sites").arg(list).arg("--data").arg(data).envs(settings.iter().copied());
    let used = measure(command, None)?;
    let summary: Value = serde_json::from_str(&used.stdout).context("the crawl prints no JSON")?;
    let crawl = Crawl { used, summary };
    // An incomplete crawl costs less than a complete one.
    if crawl.number("accepted")? != (size.hosts * size.pages) as f64 {
        bail!("not every page was accepted: {}", crawl.summary);
    }
    Ok(crawl)
}

/// Returns the processor time for extracting all pages that a crawl has accepted, in seconds.
fn extraction(bench: &Bench, web: &Web, data: &Path) -> Result<f64> {
    let mut export = bench.curlew(&["export", "records"]);
    export.arg("--data").arg(data);
    let mut questions = Vec::new();
    for line in measure(export, None)?.stdout.lines() {
        let record: Value = serde_json::from_str(line).context("a record is no JSON")?;
        let url = record["url"].as_str().context("a record has no url")?;
        let html = String::from_utf8(web.get(url)?).with_context(|| format!("{url} is not in UTF-8"))?;
        questions.push(json!({"id": url, "url": url, "html": html}));
    }
    let checked = bench.check("page", &questions)?;
    // The pages have only their site's image, which extraction alone cannot know.
    let is_fit = |answer: &&Value| answer["valid"] == true || answer["reason"] == "no_image";
    let fit = checked.answers.iter().filter(is_fit).count();
    if fit != PAGES.hosts * PAGES.pages {
        bail!("only {fit} pages are fit to be accepted");
    }
    Ok(checked.used.cpu_seconds)
}

/// Measures searches, each in a new process that opens the index.
fn searches(bench: &Bench, data: &Path, pages: f64, table: &mut Table) -> Result<()> {
    let (mut cpu, mut times) = (0.0, Vec::new());
    for query in QUERIES.iter().cycle().take(QUERIES.len() * ROUNDS) {
        let mut command = bench.curlew(&["search", "--json"]);
        let used = measure(
            {
                command.arg(query).arg("--data").arg(data);
                command
            },
            None,
        )?;
        cpu += used.cpu_seconds;
        times.push(used.seconds * 1e3);
    }
    let runs = times.len() as f64;
    table.figure(format!("CPU of `curlew search`, {pages} pages, start included"), cpu / runs * 1e3, "ms");
    times.sort_by(f64::total_cmp);
    table.figure("its time from start to end, median", times[times.len() / 2], "ms");
    Ok(())
}

fn number(summary: &Value, name: &str) -> Result<f64> {
    summary[name].as_f64().with_context(|| format!("the summary has no number '{name}'"))
}

fn megabytes(used: &Used) -> f64 {
    used.peak_bytes / 1e6
}
