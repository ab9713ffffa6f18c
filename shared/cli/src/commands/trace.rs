//! `curlew trace`: shows a page's history in order of time, and the log lines that have its trace ids.

use crate::output::{self, ADDRESS, printable};
use crate::world::World;
use anyhow::{Context, Result, bail};
use curlew_catalog::segment::RecordReader;
use curlew_model::{Page, PageState, Source, Timestamp, TraceId};
use curlew_people::audit::{Audit, Subject};
use curlew_people::descriptions::page_state;
use curlew_policy::address::without_credentials;
use curlew_policy::trace;
use serde::Serialize;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, stdin};
use std::path::Path;

/// Maximum number of bytes read as one log line; the rest of a longer line is read as the next line.
const LINE: u64 = 1 << 20;

#[derive(Debug, Serialize)]
struct Happening {
    at: Option<Timestamp>,
    what: String,
}

impl Happening {
    fn new(at: impl Into<Option<Timestamp>>, what: impl Into<String>) -> Happening {
        Happening { at: at.into(), what: what.into() }
    }
}

pub(super) async fn run(world: &World, page: &str, log: Option<&Path>, json: bool) -> Result<()> {
    let named = printable(&without_credentials(page), ADDRESS);
    let Some(subject @ Subject::Page(_)) = Subject::read(page) else { bail!("'{named}' is not the address of a page") };
    let audit = Audit { blobs: world.ports.blobs.clone(), pages: world.ports.pages.clone() };
    let rows = audit.rows(&subject).await?;
    let Some(last) = rows.last() else { bail!("nothing is known about '{named}'") };
    let mut story = Vec::new();
    for row in &rows {
        story.extend(happenings(world, &audit, row).await?);
    }
    // Events without a time come last.
    story.sort_by(|a, b| (a.at.is_none(), a.at, &a.what).cmp(&(b.at.is_none(), b.at, &b.what)));
    let traces: Vec<&TraceId> = rows.iter().filter_map(|row| row.trace.as_ref()).collect();
    let lines = log.map(|path| lines_of(path, &traces)).transpose()?;
    if json {
        let (state, trace) = (page_state(&last.state), &last.trace);
        let mut whole = json!({"page": last.id, "url": last.url, "state": state, "trace": trace, "story": story});
        if let Some(lines) = lines {
            whole["log"] = lines.into();
        }
        return output::json(&whole);
    }
    for Happening { at, what } in &story {
        let at = at.map_or_else(|| "-".to_owned(), |at| at.to_string());
        output::line(format!("{at:<24}  {what}"))?;
    }
    if traces.is_empty() {
        output::line("There is no trace id.")?;
    }
    traces.iter().try_for_each(|id| output::line(format!("trace {id}")))?;
    lines.iter().flatten().try_for_each(output::json)
}

async fn happenings(world: &World, audit: &Audit, row: &Page) -> Result<Vec<Happening>> {
    let mut story = Vec::new();
    if let Some(key) = &row.feed {
        let feed = match world.ports.sources.get(key).await? {
            Some((Source::Feed(feed), _)) => printable(&feed.url, ADDRESS),
            _ => key.to_string(),
        };
        let began = row.trace.as_ref().and_then(TraceId::began);
        let recheck = began.filter(|at| row.trace.as_ref() == Some(&trace::of_recheck(&row.host, *at)));
        story.extend(
            recheck.map(|at| Happening::new(at, "found at the new address of a page that was due for a re-check")),
        );
        let polled = began.filter(|_| recheck.is_none());
        let when = if polled.is_some() { ", whose poll was due" } else { "" };
        story.push(Happening::new(polled, format!("named by the feed {feed}{when}")));
    }
    match &row.state {
        PageState::Pending => story.push(Happening::new(row.at, "fetched, and not judged yet")),
        PageState::Accepted { year, location, .. } => {
            if let Some(record) = RecordReader(world.ports.blobs.as_ref()).read(location).await? {
                let what = format!("fetched from {}", printable(&record.host, ADDRESS));
                story.push(Happening::new(record.fetched_at, what));
            }
            let place = format!("accepted: its record is in {} at byte {}", location.segment, location.offset);
            story.push(Happening::new(row.at, place));
            let splits = audit.splits_with(*year, &row.id).await?;
            if splits.is_empty() {
                story.push(Happening::new(None, "not published yet"));
            }
            for (key, at) in splits {
                story.push(Happening::new(at, format!("published in {key}, which was built then")));
            }
        }
        PageState::Rejected { reason } => {
            story.push(Happening::new(row.at, format!("rejected: {}", printable(&reason.to_string(), ADDRESS))));
        }
        PageState::Gone { reason } => story.push(Happening::new(row.at, format!("removed: {}", reason.as_str()))),
        PageState::Alias { of } => story.push(Happening::new(row.at, format!("another address of the page {of}"))),
    }
    let checked = row.checked_at.filter(|_| matches!(row.state, PageState::Accepted { .. }));
    story.extend(checked.map(|at| Happening::new(at, "re-checked, and still there")));
    story.extend(row.rejected_at.map(|at| Happening::new(at, "rejected for the first time")));
    let doubt = "re-checked: it asks not to be indexed, or was replaced; a second check decides";
    story.extend(row.doubted_at.map(|at| Happening::new(at, doubt)));
    Ok(story)
}

fn lines_of(path: &Path, traces: &[&TraceId]) -> Result<Vec<Value>> {
    let unreadable = || format!("the log {} cannot be read", path.display());
    let mut reader: Box<dyn BufRead> = match path.to_str() {
        Some("-") => Box::new(stdin().lock()),
        _ => Box::new(BufReader::new(File::open(path).with_context(unreadable)?)),
    };
    let (mut found, mut line) = (Vec::new(), Vec::new());
    while reader.by_ref().take(LINE).read_until(b'\n', &mut line)? > 0 {
        let value = serde_json::from_slice::<Value>(&line).ok();
        found.extend(value.filter(|value| traces.iter().any(|id| value["span"]["trace"] == id.as_str())));
        line.clear();
    }
    Ok(found)
}
