//! `curlew fsck`: compares the rows, records, index, images and jobs of a store, and repairs it.

use super::Place;
use crate::output::{self, ADDRESS, count, printable};
use crate::world::World;
use anyhow::{Result, bail};
use curlew_app::Settings as Config;
use curlew_embedded::{DatabaseReport, OpenError};
use curlew_model::PageId;
use curlew_people::fsck::Damage;
use serde_json::json;
use std::sync::Arc;

const LINES: usize = 100;
/// Maximum number of characters of a reason.
const REASON: usize = 200;

pub(super) async fn run(place: &Place, config: Config, repair: bool, json: bool) -> Result<()> {
    let (world, is_read_only) = match place.alone(config.clone()).await {
        // A disk that errors have made read-only can still be examined.
        Err(error) if !repair && matches!(error.downcast_ref(), Some(OpenError::ReadOnly { .. })) => {
            (Arc::new(place.beside(config).await?), true)
        }
        world => (world?, false),
    };
    let world = world.as_ref();
    let mut database = DatabaseReport::default();
    if let Some(store) = world.store() {
        database = store.check().await?;
        if database.faults.is_empty() && repair {
            store.mend().await?;
        }
    }
    // Do not repair through a database that SQLite reports as damaged.
    let repair = repair && database.faults.is_empty();
    // Jobs are compared only if the store was recovered, which makes in-flight jobs ready and needs a writable store.
    let fsck = world.fsck(world.store().is_some() && !is_read_only);
    let report = fsck.look().await?;
    let left = if repair { fsck.repair(&report).await? } else { report.damage.clone() };
    if json {
        let mut whole = json!(report);
        whole["database"] =
            json!({"faults": database.faults, "lost_messages": database.lost, "stray_messages": database.stray});
        whole["repaired"] = repair.into();
        whole["read_only"] = is_read_only.into();
        whole["left"] = json!(left);
        output::json(&whole)?;
    } else {
        if is_read_only {
            output::line("The folder cannot be written: jobs are not compared, and nothing can be repaired.")?;
        }
        let (pages, records) = (count(report.pages, "page"), count(report.records, "record"));
        output::line(format!("{pages}, {records}, {}", count(report.splits, "split")))?;
        for fault in database.faults.iter().take(LINES) {
            output::line(format!("the database: {}", printable(fault, REASON)))?;
        }
        if database.lost + database.stray > 0 {
            let (lost, stray) = (count(database.lost, "job"), count(database.stray, "message"));
            output::line(format!("the database: {lost} without a message, {stray} without a job"))?;
        }
        for damage in report.damage.iter().take(LINES) {
            let mended = if repair && !left.contains(damage) { "repaired: " } else { "" };
            output::line(format!("{mended}{}", words(world, damage).await?))?;
        }
        if report.damage.len() > LINES {
            output::line(format!("and {} more: see `curlew fsck --json`", report.damage.len() - LINES))?;
        }
        let (cut_off, orphans) =
            if repair { ("finished", "deleted") } else { ("to be finished by --repair", "left over") };
        match report.unfinished.len() {
            0 => {}
            1 => output::line(format!("1 interrupted removal or change: {cut_off}"))?,
            number => output::line(format!("{number} interrupted removals or changes: {cut_off}"))?,
        }
        if !report.orphans.is_empty() {
            let objects = count(report.orphans.len() as u64, "object");
            output::line(format!("{objects} without a reference: {orphans}"))?;
        }
    }
    let rows = if repair { 0 } else { database.lost + database.stray };
    let what = match database.faults.len() as u64 + rows + left.len() as u64 {
        0 => return Ok(()),
        1 => "1 thing is".to_owned(),
        problems => format!("{problems} things are"),
    };
    let remedy = if repair || !database.faults.is_empty() {
        "`curlew restore` restores a backup"
    } else if is_read_only {
        "make the folder writable, or copy it to another disk, and run `curlew fsck --repair` there"
    } else {
        "`curlew fsck --repair` repairs what can be repaired"
    };
    bail!("{what} missing or damaged: {remedy}")
}

/// Returns a line that describes the damage. Names a page by its URL, or by its id if it has no row.
async fn words(world: &World, damage: &Damage) -> Result<String> {
    let url = async |page: &PageId| -> Result<String> {
        let row = world.ports.pages.get(page).await?;
        Ok(printable(&row.map_or_else(|| page.to_string(), |(page, _)| page.url), ADDRESS))
    };
    Ok(match damage {
        Damage::Unreadable { key, why } => format!("{key} cannot be read: {}", printable(why, REASON)),
        Damage::LostRecord { page, segment } => format!("{}: its record is not in {segment}", url(page).await?),
        Damage::StrayRecord { page, at } => {
            format!("{}: it is not accepted, but {} has a record of it", url(page).await?, at.segment)
        }
        Damage::StrayRaw { key, offset, .. } => format!("{key}: the raw page at byte {offset} belongs to no record"),
        Damage::LostSplit { year, key, why } => format!("the index of {year}: {key}: {}", printable(why, REASON)),
        Damage::NotIndexed { page, year } => format!("{}: it is not in the index of {year}", url(page).await?),
        Damage::StrayHit { page, year } => {
            format!("{}: it is not accepted, but the index of {year} shows it", url(page).await?)
        }
        Damage::Stranded { page } => format!("{}: it was fetched, but no job makes a record of it", url(page).await?),
        Damage::LostBody { page, key } => format!("{}: its document {key} is missing", url(page).await?),
    })
}
