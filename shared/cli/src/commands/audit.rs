//! `curlew audit`: lists removed pages and operators' actions, and checks that nothing of a page or a host remains.

use crate::args::ListArgs;
use crate::commands::list::why;
use crate::output::{self, ADDRESS, count, printable};
use crate::world::World;
use anyhow::{Result, bail};
use curlew_catalog::listing::each_key;
use curlew_model::{Job, PageId, Work};
use curlew_people::audit::{Audit, AuditReport, Subject};
use curlew_people::descriptions::page_state;
use curlew_policy::address::without_credentials;
use futures::TryStreamExt as _;
use serde_json::{Value, json};

/// Maximum number of waiting jobs that are examined.
const JOBS: usize = 10_000;
const PREFIX: &str = "audit/";

pub(super) async fn run(world: &World, args: &ListArgs) -> Result<()> {
    if let Some(key) = args.key() { show(world, key, args.json).await } else { list(world, args.json).await }
}

async fn list(world: &World, json: bool) -> Result<()> {
    let blobs = world.ports.blobs.as_ref();
    let (mut keys, mut is_empty) = (each_key(blobs, PREFIX, None), true);
    while let Some(key) = keys.try_next().await? {
        is_empty = false;
        let Some(blob) = blobs.get(&key).await? else { continue };
        let line: Value = serde_json::from_slice(&blob.bytes)?;
        output::answer(json, &line, in_words(&line))?;
    }
    if is_empty && !json {
        output::line("No page has been removed, and no operator has done anything yet.")?;
    }
    Ok(())
}

fn in_words(line: &Value) -> String {
    let text = |name: &str| line[name].as_str().unwrap_or_default();
    let by = line["by"].as_str().map(|name| format!("  by {}", printable(name, ADDRESS))).unwrap_or_default();
    format!("{}  {}  {}  {}{by}", text("at"), text("what"), text("reason"), printable(text("url"), ADDRESS))
}

/// Shows what rows, audit lines, segments, splits, thumbnails and jobs hold about a page or a host.
async fn show(world: &World, key: &str, json: bool) -> Result<()> {
    let named = printable(&without_credentials(key), ADDRESS);
    let Some(subject) = Subject::read(key) else { bail!("'{named}' is neither a URL nor a host name") };
    let audit = Audit { blobs: world.ports.blobs.clone(), pages: world.ports.pages.clone() };
    let report = audit.report(&subject).await?;
    let jobs = jobs(world, &subject, &report).await?;
    if report.is_empty() && jobs == 0 {
        bail!("nothing is known or stored about '{named}'");
    }
    if json {
        let mut whole = json!(report);
        whole["jobs"] = jobs.into();
        whole["clean"] = report.is_clean().into();
        return output::json(&whole);
    }
    for page in &report.pages {
        let checked = page.checked_at.map(|at| format!(", checked {at}")).unwrap_or_default();
        let state = format!("{}{}", page_state(&page.state), why(&page.state));
        output::line(format!("{}  {state}{checked}  {}", page.at, printable(&page.url, ADDRESS)))?;
    }
    report.removed.iter().try_for_each(|line| output::line(in_words(line)))?;
    output::line(format!(
        "{}, {} in the index, {} on their way",
        count(report.records, "record"),
        count(report.indexed, "time"),
        count(jobs as u64, "job")
    ))?;
    for key in &report.unread {
        output::line(format!("not read, because another version wrote it: {key}"))?;
    }
    for left in &report.left {
        let note = if left.hidden { "hidden, and deleted at the next rewrite" } else { "LEFT" };
        output::line(format!("{note}: {} of {}", left.key, left.page))?;
    }
    if report.left.is_empty() {
        output::line("Nothing of removed pages is left in segments, splits, thumbnails or state.")?;
    }
    Ok(())
}

async fn jobs(world: &World, subject: &Subject, report: &AuditReport) -> Result<usize> {
    let is_known = |id: &PageId| report.pages.iter().any(|page| page.id == *id);
    let is_about = |job: &Job| match (&job.work, subject) {
        (Work::Fetch(visit), Subject::Host(host)) => visit.host.as_str() == host,
        (Work::Fetch(visit), Subject::Page(_)) => visit.items.iter().any(|item| is_known(&item.page)),
        (Work::Extract(job), _) => is_known(&job.page),
        _ => false,
    };
    let waiting = world.ports.inbox.waiting(world.clock.now(), JOBS).await?;
    Ok(waiting.iter().filter(|waiting| waiting.job.as_ref().is_ok_and(is_about)).count())
}
