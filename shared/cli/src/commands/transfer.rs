//! `curlew export` and `curlew import`.

use super::named::{self, LeftOut};
use super::opml;
use super::rows::each_page;
use crate::args::Export;
use crate::output;
use crate::world::World;
use anyhow::Result;
use curlew_model::{FeedSource, PageState, Source, SourceKey, Timestamp};
use curlew_stages::catalog::segment::RecordReader;
use curlew_stages::operator::suggest::{SuggestError, SuggestOutcome};
use serde_json::{Value, json};
use std::path::Path;

/// Fields of a feed's row that only its next poll needs; `curlew feeds list --json` prints them.
const INTERNAL: [&str; 4] = ["slot", "seen", "validators", "polling"];
/// Rows read at a time.
const LIST: usize = 500;

pub(super) async fn export(world: &World, what: Export, since: Option<Timestamp>) -> Result<()> {
    match what {
        Export::Records => records(world, since.unwrap_or(Timestamp::MIN)).await,
        Export::Feeds => feeds(world, since.unwrap_or(Timestamp::MIN), false).await,
        Export::Opml => feeds(world, since.unwrap_or(Timestamp::MIN), true).await,
    }
}

async fn records(world: &World, since: Timestamp) -> Result<()> {
    let reader = RecordReader(world.ports.blobs.as_ref());
    each_page(world, async |page| {
        let PageState::Accepted { location, .. } = &page.state else { return Ok(()) };
        if page.at < since {
            return Ok(());
        }
        if let Some(mut record) = reader.read(location).await? {
            if record.no_archive {
                // The page asks that no copy of its text be offered.
                record.text.clear();
            }
            if record.fetched_at >= since {
                output::json(&record)?;
            }
        }
        Ok(())
    })
    .await
}

async fn feeds(world: &World, since: Timestamp, as_opml: bool) -> Result<()> {
    if as_opml {
        output::line(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<opml version=\"2.0\">\n  <head><title>Curlew</title></head>\n  <body>",
        )?;
    }
    let mut after: Option<SourceKey> = None;
    loop {
        let rows = world.ports.sources.list(after.as_ref(), LIST).await?;
        let Some(last) = rows.last() else { break };
        after = Some(last.key().clone());
        for row in rows {
            match row {
                Source::Feed(feed) if feed.polled_at >= since && as_opml && !feed.gone => {
                    let title = feed.title.as_deref().unwrap_or(&feed.url);
                    output::line(&opml::outline(title, &feed.url, feed.link.as_deref()))?;
                }
                Source::Feed(feed) if feed.polled_at >= since && !as_opml => output::json(&exported(&feed))?,
                _ => {}
            }
        }
    }
    if as_opml {
        output::line("  </body>\n</opml>")?;
    }
    Ok(())
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
    let (mut new, mut known, mut left_out) = (0, 0, vec![]);
    for feed in named::opml(file)? {
        match world.suggest.feed(&feed.url, false).await {
            Ok(named) if named.outcome == SuggestOutcome::Taken => new += 1,
            Ok(_) => known += 1,
            Err(SuggestError::Refused(why)) => left_out.push(LeftOut::told("the feed", &feed.url, &why)),
            Err(SuggestError::Stage(error)) => return Err(error.into()),
        }
    }
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
