//! `curlew audit`: lists removed pages and the acts of operators, with time and reason, and checks that nothing is left
//! of a page or a host.

use crate::args::{ListArgs, ListWhat};
use crate::commands::rows::why;
use crate::output::{self, ADDRESS, count, printable};
use crate::world::World;
use anyhow::{Result, bail};
use curlew_model::{Job, Work};
use curlew_people::audit::{Audit, AuditReport, Subject};
use curlew_people::descriptions::page_state;
use curlew_policy::address::without_credentials;
use serde_json::{Value, json};

/// Number of lines read at a time.
const LIST: usize = 500;
/// Maximum number of waiting and dead jobs that are examined.
const JOBS: usize = 10_000;
/// Prefix of the keys of audit lines.
const PREFIX: &str = "audit/";

pub(super) async fn run(world: &World, args: &ListArgs) -> Result<()> {
    match &args.what {
        Some(ListWhat::Show { key }) => show(world, key, args.json).await,
        Some(ListWhat::List) | None => list(world, args.json).await,
    }
}

async fn list(world: &World, json: bool) -> Result<()> {
    let mut after: Option<String> = None;
    loop {
        let keys = world.ports.blobs.list(PREFIX, after.as_deref(), LIST).await?;
        let Some(last) = keys.last() else {
            let is_empty = after.is_none() && !json;
            return if is_empty {
                Ok(output::line("Nothing was removed yet, and no operator has done anything.")?)
            } else {
                Ok(())
            };
        };
        after = Some(last.clone());
        for key in &keys {
            let Some(blob) = world.ports.blobs.get(key).await? else { continue };
            let line: Value = serde_json::from_slice(&blob.bytes)?;
            if json { output::json(&line)? } else { output::line(&in_words(&line))? }
        }
    }
}

fn in_words(line: &Value) -> String {
    let text = |name: &str| line[name].as_str().unwrap_or_default();
    let by = line["by"].as_str().map(|name| format!("  by {}", printable(name, ADDRESS))).unwrap_or_default();
    format!("{}  {}  {}  {}{by}", text("at"), text("what"), text("reason"), printable(text("url"), ADDRESS))
}

/// Searches rows, audit lines, segments, splits, thumbnails and jobs.
async fn show(world: &World, key: &str, json: bool) -> Result<()> {
    let Some(subject) = Subject::read(key) else {
        bail!("'{}' is no address and no host", printable(&without_credentials(key), ADDRESS))
    };
    let audit = Audit { blobs: world.ports.blobs.clone(), pages: world.ports.pages.clone() };
    let report = audit.report(&subject).await?;
    let jobs = jobs(world, &subject, &report).await?;
    if report.is_empty() && jobs == 0 {
        bail!("nothing is known of '{}', and nothing is kept of it", printable(&without_credentials(key), ADDRESS));
    }
    if json {
        let mut whole = json!(report);
        whole["jobs"] = jobs.into();
        whole["clean"] = report.is_clean().into();
        return Ok(output::json(&whole)?);
    }
    for page in &report.pages {
        let checked = page.checked_at.map(|at| format!(", checked {at}")).unwrap_or_default();
        let state = format!("{}{}", page_state(&page.state), why(&page.state));
        output::line(&format!("{}  {state}{checked}  {}", page.at, printable(&page.url, ADDRESS)))?;
    }
    for line in &report.removed {
        output::line(&in_words(line))?;
    }
    output::line(&format!(
        "{}, {} in the index, {} on their way",
        count(report.records, "record"),
        count(report.indexed, "time"),
        count(jobs as u64, "job")
    ))?;
    for key in &report.unread {
        output::line(&format!("not read, since another version has written it: {key}"))?;
    }
    for left in &report.left {
        let note = if left.hidden { "hidden, and gone when it is written anew" } else { "LEFT" };
        output::line(&format!("{note}: {} of {}", left.key, left.page))?;
    }
    if report.left.is_empty() {
        output::line("Of what is gone nothing is left in segments, splits, thumbnails or state.")?;
    }
    Ok(())
}

/// Returns the number of jobs about a subject.
async fn jobs(world: &World, subject: &Subject, report: &AuditReport) -> Result<usize> {
    let is_about = |job: &Job| match (subject, job) {
        (Subject::Host(host), Job { work: Work::Fetch(visit), .. }) => visit.host.as_str() == host,
        (_, Job { work: Work::Fetch(visit), .. }) => {
            visit.items.iter().any(|item| report.pages.iter().any(|page| page.id == item.page))
        }
        (_, Job { work: Work::Extract(job), .. }) => report.pages.iter().any(|page| page.id == job.page),
        _ => false,
    };
    let waiting = world.ports.inbox.waiting(world.clock.now(), JOBS).await?;
    Ok(waiting.iter().filter(|waiting| waiting.job.as_ref().is_ok_and(is_about)).count())
}
