//! `curlew index` and `curlew sample`: run by hand what the schedules run.

use super::{Place, stop_on_signal};
use crate::output;
use crate::progress::Progress;
use crate::runner::{End, Runner};
use crate::world::World;
use anyhow::{Result, bail};
use curlew_catalog::index::PublishReport;
use curlew_crawl::pages::sample::{HowMany, Sampled};
use serde_json::json;
use std::sync::Arc;

pub(super) async fn index(world: &World, year: Option<i16>, json: bool) -> Result<()> {
    let done: Vec<(i16, PublishReport)> = match year {
        Some(year) if !world.library.index.years().await?.contains(&year) => {
            bail!("there is no page of {year}; `curlew status` lists what there is")
        }
        Some(year) => vec![(year, world.library.refresh(year).await?)],
        None => world.publish().await?,
    };
    if json {
        let years: Vec<_> = done
            .iter()
            .map(|(year, p)| json!({"year": year, "added": p.added, "purged": p.purged, "splits": p.splits, "damaged": p.damaged}))
            .collect();
        return Ok(output::json(&json!({ "years": years }))?);
    }
    for (year, p) in &done {
        let (added, splits) = (output::count(p.added, "page"), output::count(p.splits, "split"));
        output::line(&format!("{year}: {added} added, {} left out for good, {splits}", p.purged))?;
        if p.damaged > 0 {
            let segments = output::count_are(p.damaged, "segment");
            output::line(&format!(
                "{year}: {segments} damaged and not published; `curlew fsck --repair` fetches the pages anew"
            ))?;
        }
    }
    if done.is_empty() {
        output::line("There is nothing to publish yet.")?;
    }
    Ok(())
}

fn how_many(count: usize, all: bool) -> HowMany {
    if all { HowMany::All } else { HowMany::AtMost(count) }
}

/// Sends the re-checks of a stack, which then makes them by itself.
pub(super) async fn sample_only(world: &World, place: &Place, count: usize, all: bool, json: bool) -> Result<()> {
    let sent = world.crawler.sample.run(how_many(count, all)).await?;
    if json {
        return Ok(output::json(&json!({ "sampled": sent.indexed, "second_looks": sent.second_looks }))?);
    }
    let pages = output::count_are(sent.indexed as u64, "page");
    let more = match sent.second_looks {
        0 => String::new(),
        n => format!(", and {} looked at once more", output::count_are(n as u64, "rejected page")),
    };
    output::line(&format!("{pages} to be re-checked{more}; the stack does so now: see `{} status`", place.program()))?;
    Ok(())
}

pub(super) async fn sample(world: Arc<World>, count: usize, all: bool, json: bool) -> Result<()> {
    let Sampled { indexed: sent, second_looks } = world.crawler.sample.run(how_many(count, all)).await?;
    {
        let _progress = Progress::start(world.tally.clone(), json);
        Runner::new(world.clone(), stop_on_signal()).run(End::Idle(None)).await?;
    }
    let counts = world.tally.counts();
    let rejected: u64 = counts.rejected.values().sum();
    if json {
        let object = json!({"sampled": sent, "second_looks": second_looks, "accepted": counts.accepted, "rejected": rejected, "still_there": counts.still_there, "removed": counts.removed, "doubted": counts.doubted, "revised": counts.revised, "calls": counts.calls});
        return Ok(output::json(&object)?);
    }
    let removed: u64 = counts.removed.values().sum();
    let undecided = (sent as u64).saturating_sub(counts.still_there + removed);
    // With a short `confirm_after` the second look may have decided about some of them already.
    let doubted = counts.doubted.min(undecided);
    let why: Vec<String> = counts.removed.iter().map(|(why, n)| format!("{n} {why}")).collect();
    let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join(", ")) };
    let later = match doubted {
        0 => String::new(),
        n => {
            let after = output::length(world.config.rules.confirm_after);
            format!(", {n} look as if they were gone and are looked at once more after {after}")
        }
    };
    let edited = match counts.revised {
        0 => String::new(),
        n => format!(" ({n} of them with a new text, which the next `index` publishes)"),
    };
    output::line(&format!(
        "{sent} pages were to be re-checked: {} are still there{edited}, {removed} were removed{why}{later}, {} could not be asked now",
        counts.still_there,
        undecided - doubted
    ))?;
    if second_looks > 0 {
        output::line(&format!(
            "{} looked at once more: {} accepted now, {rejected} rejected again",
            output::count_are(second_looks as u64, "rejected page"),
            counts.accepted
        ))?;
    }
    Ok(())
}
