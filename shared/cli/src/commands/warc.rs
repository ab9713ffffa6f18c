//! `curlew export warc` and `curlew import warc`.

use super::transfer::site_named;
use crate::args::WarcArgs;
use crate::export::destination::Destination;
use crate::output::{self, ADDRESS, in_parentheses, printable};
use crate::world::World;
use anyhow::{Result, anyhow, bail};
use curlew_crawl::pages::import::{ForeignPage, ForeignPages, ImportOutcome};
use curlew_fetcher::{Config as FetcherConfig, status_as_read, stored_page};
use curlew_model::{Timestamp, is_at_or_below};
use curlew_warc::http;
use curlew_warc::inflate::inflate;
use curlew_warc::reader::{WarcReader, WarcRecord};
use curlew_warc::writer::{NewRecord, record_id, write};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;

/// Maximum number of pages imported in one batch; their records share a segment.
const TOGETHER: usize = 64;
/// Number of document bytes at which a batch is imported, however few its pages.
const TOGETHER_BYTES: usize = 16 << 20;
const AHEAD: usize = 16;
/// Maximum size of a record's block in bytes; larger ones are skipped.
const MAX_BLOCK: u64 = 32 << 20;
/// Maximum number of damaged records reported for each file.
const NAMED: usize = 20;

/// Writes the kept raw pages as a WARC file, with each record in a separate gzip member.
pub(super) async fn export(world: &World, args: WarcArgs) -> Result<()> {
    let site = site_named(world, args.site.as_deref())?;
    let mut out = Destination::open(args.output.as_deref())?;
    let now = world.clock.now().to_string();
    let software = concat!("software: Curlew/", env!("CARGO_PKG_VERSION"), "\r\nformat: WARC File Format 1.1\r\n");
    let mut first = Vec::new();
    let info = NewRecord {
        kind: "warcinfo",
        id: &record_id(&["warcinfo", &now]),
        date: &now,
        content_type: "application/warc-fields",
        more: &[],
        head: &[],
        payload: software.as_bytes(),
    };
    write(&mut first, &info);
    out.write(&member(&first)?)?;
    let since = args.since.unwrap_or(Timestamp::EPOCH);
    for (key, segment) in world.library.raw.objects(since).await? {
        for page in world.library.raw.entries_of_segment(&key, &segment, world.ports.pages.as_ref()).await? {
            let record = &page.record;
            let is_of_site = site.as_ref().is_none_or(|site| is_at_or_below(&record.host, site));
            if let Some(raw) = page.unpack().filter(|_| is_of_site && record.fetched_at >= since) {
                for record in raw.warc().iter().filter(|record| !record.is_empty()) {
                    out.write(&member(record)?)?;
                }
            }
        }
    }
    out.finish()
}

fn member(record: &[u8]) -> io::Result<Vec<u8>> {
    let mut coder = GzEncoder::new(Vec::with_capacity(record.len() / 2), Compression::default());
    coder.write_all(record)?;
    coder.finish()
}

/// A page of a WARC file, or the fault of one record.
struct Item {
    offset: u64,
    page: Result<ForeignPage, String>,
}

#[derive(Default, Serialize)]
struct ImportReport {
    accepted: u64,
    known: u64,
    rejected: BTreeMap<&'static str, u64>,
    /// Records without a page: requests, images, responses with another status.
    other: u64,
    damaged: u64,
    cut: u64,
}

pub(super) async fn import(world: &World, files: &[PathBuf], as_json: bool) -> Result<()> {
    let mut report = ImportReport::default();
    for path in files {
        if let Err(error) = file(world, path, &mut report).await? {
            report.cut += 1;
            let name = printable(&path.display().to_string(), ADDRESS);
            output::error_line(format!("curlew: {name}: {}", printable(&error, ADDRESS)));
        }
    }
    if report.accepted > 0 {
        world.publish().await?;
    }
    let line = format!(
        "{} accepted, {} already known, {} rejected{}, {} without a page",
        output::count_are(report.accepted, "page"),
        report.known,
        report.rejected.values().sum::<u64>(),
        in_parentheses(&report.rejected),
        output::count(report.other, "record")
    );
    output::answer(as_json, &report, line)?;
    if report.cut + report.damaged > 0 {
        let (files, records) = (output::count(report.cut, "file"), output::count(report.damaged, "record"));
        bail!(
            "{files} could not be read to the end, {records} could not be decoded; the pages before the error are \
             imported"
        );
    }
    Ok(())
}

/// Imports the pages of a file. The inner error says why the rest of the file cannot be read.
async fn file(world: &World, path: &Path, report: &mut ImportReport) -> Result<Result<(), String>> {
    let max_bytes = world.config.limits.page_bytes.unwrap_or(FetcherConfig::new("", "").bytes.page);
    let (send, mut items) = mpsc::channel(AHEAD);
    let path_read = path.to_owned();
    let reading = tokio::task::spawn_blocking(move || {
        let mut other = 0;
        let end = read(&path_read, max_bytes, &send, &mut other);
        (other, end)
    });
    let foreign = ForeignPages {
        extract: &world.crawler.extract,
        politeness: &world.crawler.politeness,
        keeps_raw: world.config.raw.keep,
    };
    let (mut batch, mut bytes, mut named) = (Vec::new(), 0, 0);
    while let Some(Item { offset, page }) = items.recv().await {
        match page {
            Ok(page) => {
                bytes += page.body.len();
                batch.push(page);
            }
            Err(why) => {
                report.damaged += 1;
                named += 1;
                if named <= NAMED {
                    let name = printable(&path.display().to_string(), ADDRESS);
                    output::error_line(format!("curlew: {name}: at byte {offset}: {}", printable(&why, ADDRESS)));
                }
            }
        }
        if batch.len() >= TOGETHER || bytes >= TOGETHER_BYTES {
            take(&foreign, std::mem::take(&mut batch), report).await?;
            bytes = 0;
        }
    }
    take(&foreign, batch, report).await?;
    let (other, end) = reading.await.map_err(|_| anyhow!("the file could not be read"))?;
    report.other += other;
    Ok(end)
}

async fn take(foreign: &ForeignPages<'_>, batch: Vec<ForeignPage>, report: &mut ImportReport) -> Result<()> {
    for outcome in foreign.take(batch).await? {
        match outcome {
            ImportOutcome::Accepted => report.accepted += 1,
            ImportOutcome::Known => report.known += 1,
            ImportOutcome::Rejected(why) => *report.rejected.entry(why.code()).or_default() += 1,
        }
    }
    Ok(())
}

/// Reads a WARC file, or standard input for `-`. Sends its pages, and counts the records without one in `other`.
fn read(path: &Path, max_bytes: usize, send: &mpsc::Sender<Item>, other: &mut u64) -> Result<(), String> {
    let input: Box<dyn Read + Send> = match path.to_str() {
        Some("-") => Box::new(io::stdin()),
        _ => Box::new(File::open(path).map_err(|error| error.to_string())?),
    };
    let mut reader = WarcReader::new(inflate(input).map_err(|error| error.to_string())?, MAX_BLOCK);
    let is_response = |headers: &[(String, String)]| {
        headers.iter().any(|(name, value)| name == "warc-type" && value.eq_ignore_ascii_case("response"))
    };
    while let Some(record) = reader.next_record(is_response).map_err(|error| error.to_string())? {
        let Some(page) = page(&record, max_bytes) else {
            *other += 1;
            continue;
        };
        // The receiver is gone if the store has failed.
        if send.blocking_send(Item { offset: record.offset, page }).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// Returns a record's page, or why it cannot be decoded; `None` if the record holds no page.
fn page(record: &WarcRecord, max_bytes: usize) -> Option<Result<ForeignPage, String>> {
    let block = record.block.as_deref()?;
    // Some programs write the URL as `<https://example.org/>`.
    let url = record.header("warc-target-uri")?.trim_matches(['<', '>']).to_owned();
    let response = http::response(block).filter(|response| status_as_read(response.status) == 200)?;
    let fetched_at = record.header("warc-date").and_then(|date| Timestamp::parse_day_or_instant(date).ok());
    let Some(fetched_at) = fetched_at else { return Some(Err("the record has no valid date".to_owned())) };
    let decoded = response.unchunked().map_err(str::to_owned).and_then(|body| {
        let content_type = response.every("content-type").next();
        stored_page(content_type, response.every("content-encoding"), &body, max_bytes).map_err(|e| e.to_string())
    });
    match decoded {
        Ok(None) => None,
        Ok(Some(body)) => Some(Ok(ForeignPage { url, fetched_at, headers: response.headers, body })),
        Err(why) => Some(Err(format!("{url}: {why}"))),
    }
}
