//! `curlew export` and `curlew import`.

use super::blocks::explain;
use super::named::{self, LeftOut};
use super::opml;
use crate::args::{Export, RecordsArgs};
use crate::output;
use crate::world::{World, each_source};
use anyhow::Result;
use curlew_catalog::export::RecordFilter;
use curlew_model::{FeedSource, Source, Timestamp};
use curlew_people::actions::ImportReport;
use curlew_people::audit_log::COMMAND_LINE;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Fields of a feed's row that only its next poll needs; `curlew feeds list --json` prints them.
const INTERNAL: [&str; 4] = ["slot", "seen", "validators", "polling"];
pub(super) async fn export(world: &World, what: Export) -> Result<()> {
    match what {
        Export::Records(args) => records(world, args).await,
        Export::Bulk(args) => crate::export::bulk::bulk(world, args).await,
        Export::Feeds { since } => each_feed(world, since, |feed| Ok(output::json(&exported(&feed))?)).await,
        Export::Opml { since } => opml(world, since).await,
        Export::Warc(args) => super::warc::export(world, args).await,
    }
}

async fn records(world: &World, args: RecordsArgs) -> Result<()> {
    let site = args.site.as_deref().map(|site| world.desk.blocks.name(site).map_err(explain)).transpose()?;
    // Subtags after the primary language, as in `en-GB`, are dropped.
    let language = args.lang.as_deref().and_then(|code| code.split(['-', '_']).next()).map(str::to_ascii_lowercase);
    let filter = RecordFilter { since: args.since, site: site.map(|(name, _)| name), language };
    let RecordsArgs { format, columns, output, .. } = args;
    crate::export::records(world, filter, format, columns, output.as_deref()).await
}

/// Writes the feeds that are polled as OPML, in their folders.
async fn opml(world: &World, since: Option<Timestamp>) -> Result<()> {
    let mut feeds: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    each_feed(world, since, |feed| {
        if !feed.gone {
            let title = feed.title.as_deref().unwrap_or(&feed.url);
            let outline = opml::outline(title, &feed.url, feed.link.as_deref());
            feeds.entry(feed.folder).or_default().push(outline);
        }
        Ok(())
    })
    .await?;
    Ok(output::text(&opml::document(&feeds))?)
}

/// Passes each feed that was polled since an instant to `take`.
async fn each_feed(
    world: &World,
    since: Option<Timestamp>,
    mut take: impl FnMut(FeedSource) -> Result<()>,
) -> Result<()> {
    each_source(world, |row| match row {
        Source::Feed(feed) if since.is_none_or(|since| feed.polled_at >= since) => take(feed.clone()),
        _ => Ok(()),
    })
    .await
}

/// Returns a feed's row without the fields that serve only to poll it.
fn exported(feed: &FeedSource) -> Value {
    let mut whole = json!(feed);
    if let Value::Object(fields) = &mut whole {
        INTERNAL.iter().for_each(|name| drop(fields.remove(*name)));
    }
    whole
}

pub(super) async fn import_opml(world: &World, file: &Path, as_json: bool) -> Result<()> {
    let ImportReport { new, known, refused } = world.desk.actions.import(COMMAND_LINE, &named::opml(file)?).await?;
    let left_out: Vec<LeftOut> = refused.iter().map(|(url, why)| LeftOut::told("the feed", url, why)).collect();
    if as_json {
        return Ok(output::json(&serde_json::json!({"new": new, "known": known, "left_out": left_out}))?);
    }
    output::line(&format!(
        "{} new, {known} were known, {} were left out; each is polled when its minute comes, within eight hours",
        output::count_are(new, "feed"),
        left_out.len()
    ))?;
    Ok(())
}
