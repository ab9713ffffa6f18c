//! `curlew reextract`: runs the current extractor over the kept raw pages.

use super::transfer::site_named;
use crate::args::ReextractArgs;
use crate::output::{self, ADDRESS, count, printable};
use crate::world::World;
use anyhow::Result;
use curlew_crawl::pages::reextract::{Reextract, ReextractRequest};
use curlew_model::Timestamp;

const NAMED: usize = 20;

pub(super) async fn run(world: &World, args: ReextractArgs) -> Result<()> {
    let ReextractArgs { since, site, dry_run, remove, output } = args;
    let site = site_named(world, site.as_deref())?;
    let request = ReextractRequest { since: since.unwrap_or(Timestamp::EPOCH), site, dry_run, remove };
    let reextract =
        Reextract { extract: &world.crawler.extract, raw: &world.library.raw, removal: &world.library.removal };
    let report = reextract.run(&request).await?;
    if report.revised > 0 && !dry_run {
        world.publish().await?;
    }
    if output.json {
        return output::json(&report);
    }
    let rejected: u64 = report.rejected.values().sum();
    for (url, why) in report.examples.iter().take(NAMED) {
        output::line(format!("{}: {}", printable(url, ADDRESS), printable(why, ADDRESS)))?;
    }
    let revised = if dry_run { "would be revised" } else { "revised" };
    let removed = if report.removed > 0 { format!(" ({} removed)", report.removed) } else { String::new() };
    output::line(format!(
        "{} unchanged, {} {revised}, {rejected} would be rejected today{removed}, {} without raw pages",
        count(report.same, "page"),
        report.revised,
        report.without_raw
    ))
}
