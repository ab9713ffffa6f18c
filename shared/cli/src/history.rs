//! Back catalogues: started by `curlew crawl --history`, shown by `crawl`, `status` and `sites show`.

use crate::args::CrawlArgs;
use crate::failure::usage;
use crate::output::{self, ADDRESS, count, printable};
use crate::world::World;
use anyhow::Result;
use curlew_catalog::listing::each_source;
use curlew_crawl::feeds::backfill::BackfillRequest;
use curlew_model::{BackfillLine, BackfillState, SiteState, Source, SourceKey};
use curlew_policy::polling::backfill;
use std::collections::BTreeSet;

const SHOWN: usize = 10;
/// Maximum number of characters shown of a reason.
const REASON: usize = 200;

/// Starts the back catalogues of the named sites and feeds, or of all known ones, if `--history` is set.
pub(crate) async fn begin(world: &World, args: &CrawlArgs, named: &BTreeSet<SourceKey>) -> Result<()> {
    if !args.history {
        return Ok(());
    }
    let mut of = named.clone();
    if of.is_empty() {
        each_source(world.ports.sources.as_ref(), |row| {
            // A site's back catalogue includes its feeds.
            of.extend(match row {
                Source::Site(site) if !matches!(site.state, SiteState::Replaced { .. }) => Some(site.key),
                Source::Feed(feed) if feed.site.is_none() && !feed.gone => Some(feed.key),
                _ => None,
            });
        })
        .await?;
    }
    if of.is_empty() {
        return Err(usage("no site is known yet: add one, as in `curlew crawl example.org --history`"));
    }
    let request = BackfillRequest { since: args.since, limit: args.limit, asked: true, again: false };
    for key in &of {
        world.crawler.backfills.begin(key, request).await?;
    }
    Ok(())
}

/// Returns all back catalogues, running ones first.
pub(crate) async fn gather(world: &World) -> Result<Vec<BackfillLine>> {
    let mut all = vec![];
    each_source(world.ports.sources.as_ref(), |row| {
        if let Source::Backfill(row) = row {
            all.push(backfill::line(&row, &world.config.rules));
        }
    })
    .await?;
    all.sort_by_key(|line| (line.state != BackfillState::Running, line.url.clone()));
    Ok(all)
}

/// Returns lines for people about the first [`SHOWN`] back catalogues, and a line with the number of the others.
pub(crate) fn lines(all: &[BackfillLine]) -> Vec<String> {
    let mut lines: Vec<String> = all.iter().take(SHOWN).map(words).collect();
    if all.len() > SHOWN {
        lines.push(format!("and {} more: see `curlew status --json`", all.len() - SHOWN));
    }
    lines
}

pub(crate) fn print(all: &[BackfillLine], name: &str) -> Result<()> {
    lines(all).iter().try_for_each(|line| output::line(format!("{name}{line}")))
}

fn words(line: &BackfillLine) -> String {
    let documents = count(line.documents.into(), "document");
    let so_far = if line.state == BackfillState::Running { " so far" } else { "" };
    let (asked, found) = (count(line.sent, "page"), count(line.found, "address"));
    let progress = format!("{asked} requested{so_far}, {found} found in {documents}");
    let state = match &line.state {
        BackfillState::Running => {
            let days = match line.days.unwrap_or(1) {
                1 => "1 day".to_owned(),
                days => format!("{days} days"),
            };
            let least = if line.is_least { "at least" } else { "about" };
            let note = line.note.as_ref().map(|note| format!(" ({})", printable(note, REASON))).unwrap_or_default();
            format!("{least} {days} left, next step {}{note}", line.due)
        }
        BackfillState::Done { reason } => format!("done: {}", printable(reason, REASON)),
        BackfillState::GivenUp { reason } => format!("given up: {}", printable(reason, REASON)),
    };
    format!("{}  {progress}; {state}", printable(&line.url, ADDRESS))
}
