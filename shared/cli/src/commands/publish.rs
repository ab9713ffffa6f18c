//! `curlew index`, `sample` and `tick`: run scheduled work by hand.

use super::{Place, stop_on_signal};
use crate::args::TickArgs;
use crate::output::{self, in_parentheses};
use crate::progress::Progress;
use crate::runner::{End, Runner};
use crate::world::World;
use anyhow::{Result, bail};
use curlew_app::SystemClock;
use curlew_crawl::pages::sample::{HowMany, Sampled};
use curlew_ports::Clock as _;
use serde_json::json;
use std::sync::Arc;

pub(super) async fn index(world: &World, year: Option<i16>, json: bool) -> Result<()> {
    let done = match year {
        Some(year) if !world.library.index.years().await?.contains(&year) => {
            bail!("there are no pages of {year}; `curlew status` lists the years")
        }
        Some(year) => vec![(year, world.library.refresh(year).await?)],
        None => world.publish().await?,
    };
    if json {
        let years = done.iter().map(|(year, p)| {
            json!({"year": year, "added": p.added, "purged": p.purged, "splits": p.splits, "damaged": p.damaged})
        });
        return output::json(&json!({ "years": years.collect::<Vec<_>>() }));
    }
    for (year, p) in &done {
        let (added, splits) = (output::count(p.added, "page"), output::count(p.splits, "split"));
        output::line(format!("{year}: {added} added, {} removed permanently, {splits}", p.purged))?;
        if p.damaged > 0 {
            let segments = output::count_are(p.damaged, "segment");
            output::line(format!(
                "{year}: {segments} damaged and not published; `curlew fsck --repair` fetches the pages again"
            ))?;
        }
    }
    if done.is_empty() {
        output::line("There is nothing to publish yet.")?;
    }
    Ok(())
}

/// Re-checks pages. This process runs the jobs, except on a stack, whose functions run them.
pub(super) async fn sample(world: Arc<World>, place: &Place, count: usize, all: bool, json: bool) -> Result<()> {
    let how_many = if all { HowMany::All } else { HowMany::AtMost(count) };
    let Sampled { indexed: sent, second_looks } = world.crawler.sample.run(how_many).await?;
    let again = output::count_are(second_looks as u64, "rejected page");
    if matches!(place, Place::Stack(_)) {
        let more = if second_looks > 0 { format!(", and {again} to be checked again") } else { String::new() };
        let (pages, program) = (output::count_are(sent as u64, "page"), place.program());
        let line = format!("{pages} to be re-checked{more}; the stack does so now: see `{program} status`");
        return output::answer(json, &json!({ "sampled": sent, "second_looks": second_looks }), line);
    }
    {
        let _progress = Progress::start(world.tally.clone(), json);
        Runner::new(world.clone(), stop_on_signal()).run(End::Idle(None)).await?;
    }
    let counts = world.tally.counts();
    let rejected = counts.rejections();
    if json {
        return output::json(&json!({
            "sampled": sent,
            "second_looks": second_looks,
            "accepted": counts.accepted,
            "rejected": rejected,
            "still_there": counts.still_there,
            "removed": counts.removed,
            "doubted": counts.doubted,
            "revised": counts.revised,
            "calls": counts.calls,
        }));
    }
    let removed: u64 = counts.removed.values().sum();
    let undecided = (sent as u64).saturating_sub(counts.still_there + removed);
    // With a short `confirm_after`, a second re-check may already have decided some of these pages.
    let doubted = counts.doubted.min(undecided);
    let later = match doubted {
        0 => String::new(),
        n => {
            let after = output::length(world.config.rules.confirm_after);
            format!(", {n} seem to be gone and are checked again after {after}")
        }
    };
    let edited = match counts.revised {
        0 => String::new(),
        n => format!(" ({n} of them with a new text, which the next `index` publishes)"),
    };
    output::line(format!(
        "{sent} pages were to be re-checked: {} are still there{edited}, {removed} were removed{}{later}, {} could \
         not be checked now",
        counts.still_there,
        in_parentheses(&counts.removed),
        undecided - doubted
    ))?;
    if second_looks > 0 {
        let accepted = counts.accepted;
        output::line(format!("{again} checked again: {accepted} accepted now, {rejected} rejected again"))?;
    }
    Ok(())
}

/// Invokes functions of a stack one after the other, with the events that its schedules send.
pub(super) async fn tick(stack: &str, args: &TickArgs) -> Result<()> {
    let events = [
        (true, "dispatch", json!({})),
        (args.sample, "sample", json!({ "time": SystemClock::new().now() })),
        (args.publish, "index", json!({ "what": "publish" })),
    ];
    for (_, function, event) in events.into_iter().filter(|(is_named, ..)| *is_named) {
        crate::optional::invoke(stack, function, &event.to_string()).await?;
        output::line(format!("{function} is done"))?;
    }
    Ok(())
}
