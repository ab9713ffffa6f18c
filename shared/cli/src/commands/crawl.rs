//! `curlew crawl`: crawls sites and feeds, and publishes the index.

use super::config::without_a_model;
use super::named::{self, LeftOut};
use super::summary::Summary;
use super::{Place, exclusive, stop_on_signal};
use crate::args::{CrawlArgs, Until};
use crate::failure::usage;
use crate::history;
use crate::output::{self, printable};
use crate::progress::Progress;
use crate::recorder::Recorder;
use crate::runner::{End, Runner};
use crate::world::World;
use anyhow::{Result, bail};
use curlew_app::Settings as Config;
use curlew_model::SourceKey;
use curlew_people::suggest::{ListedFeed, RefusedAddress, SuggestError};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const REFUSAL: usize = 400;
/// Number of sites or feeds stored in one batch.
const PART: usize = 500;
const NOTHING_NAMED: &str = "nothing to crawl: name a site, as in `curlew crawl example.org --contact you@example.org`";
const PAUSED: &str = "crawling is paused: the settings have `paused = true`";
const INTERRUPTED: &str = "Interrupted: nothing is lost, and the next `curlew crawl` continues from here.";
const NOTHING_DUE: &str = "Nothing was due: feeds are polled once an hour to once a day, depending on how often they \
    have news. `curlew poll SITE` polls one now.";

pub(super) async fn run(args: CrawlArgs, config: Config) -> Result<()> {
    if config.paused {
        return Err(usage(PAUSED));
    }
    let named = Named::gather(&args)?;
    if named.count() == 0 && !config.data.exists() {
        return Err(usage(NOTHING_NAMED));
    }
    let world = Arc::new(exclusive(config).await?);
    let is_first = world.ports.sources.list(None, 1).await?.is_empty();
    if named.count() == 0 && is_first {
        return Err(usage(NOTHING_NAMED));
    }
    // Dispatch due work first; newly named sources get separate jobs.
    world.crawler.dispatch.tick().await?;
    let (keys, left_out) = named.take(&world).await?;
    history::begin(&world, &args, &keys).await?;
    let stop = stop_on_signal();
    let (mut summary, ran) = until_end(&world, args.until, &keys, args.output.json, stop.clone()).await?;
    summary.left_out = left_out;
    if args.output.json {
        output::json(&summary)?
    } else {
        summary.print()?;
        if let Some(line) = without_a_model(&world.config.image, "curlew").filter(|_| is_first) {
            output::line(format!("pictures  {line}"))?;
        }
        if stop.load(Ordering::Relaxed) {
            output::line(INTERRUPTED)?;
        } else if summary.is_empty() {
            output::line(NOTHING_DUE)?;
        }
    }
    ran?;
    if !keys.is_empty() && summary.failures() == keys.len() {
        bail!("none of the named sites and feeds could be read: `failed` in the summary says why, and what to do");
    }
    Ok(())
}

pub(super) async fn name_only(args: CrawlArgs, world: &World, place: &Place) -> Result<()> {
    let named = Named::gather(&args)?;
    if named.count() == 0 && !args.history {
        return Err(usage(NOTHING_NAMED));
    }
    let (keys, left_out) = named.take(world).await?;
    history::begin(world, &args, &keys).await?;
    let taken = named.count().saturating_sub(left_out.len());
    let line = format!(
        "{taken} sites and feeds were added, {} were skipped; the stack visits new ones within a minute: see \
         `{} status`",
        left_out.len(),
        place.program()
    );
    output::answer(args.output.json, &json!({"named": taken, "left_out": left_out}), line)
}

/// Runs the stages until `until`, publishes, delivers the matches of watches, and gathers a summary. The inner result
/// is an error if due work was left undone.
pub(super) async fn until_end(
    world: &Arc<World>,
    until: Until,
    named: &BTreeSet<SourceKey>,
    quiet: bool,
    stop: Arc<AtomicBool>,
) -> Result<(Summary, Result<()>)> {
    let began = world.clock.monotonic();
    let end = match until {
        Until::Idle => End::Idle(None),
        Until::After(time) => End::Idle(Some(began + time)),
    };
    let progress = Progress::start(world.tally.clone(), quiet);
    let mut ran = Runner::new(world.clone(), stop.clone()).run(end).await;
    world.publish().await?;
    // Pages match watches only once they are published. The same queues deliver the matches, so run again.
    if ran.is_ok() && !world.desk.watches.list().await?.is_empty() {
        ran = Runner::new(world.clone(), stop).run(end).await;
        world.publish().await?;
    }
    drop(progress);
    Recorder::default().record(world).await;
    Ok((Summary::gather(world, began, named).await?, ran))
}

/// Sites and feeds as a person named them, not yet checked.
struct Named {
    sites: Vec<String>,
    feeds: Vec<String>,
    from_opml: Vec<ListedFeed>,
}

impl Named {
    fn gather(args: &CrawlArgs) -> Result<Named> {
        let mut sites = args.sites.clone();
        if let Some(path) = &args.sites_file {
            sites.extend(named::sites(path)?);
        }
        let from_opml = args.opml.as_deref().map(named::opml).transpose()?.unwrap_or_default();
        Ok(Named { sites, feeds: args.feed.clone(), from_opml })
    }

    fn count(&self) -> usize {
        self.sites.len() + self.feeds.len() + self.from_opml.len()
    }

    /// Stores the named sites and feeds. Returns their keys, and the entries that were left out. Fails if the only
    /// site, a feed of `--feed` or everything is refused; other refused entries are reported and skipped.
    async fn take(&self, world: &World) -> Result<(BTreeSet<SourceKey>, Vec<LeftOut>)> {
        let from_flags = |refused: RefusedAddress| {
            usage(format!("{}{}", printable(&refused.to_string(), REFUSAL), named::remedy(&refused.why)))
        };
        let (mut keys, mut left_out) = (BTreeSet::new(), vec![]);
        for part in self.sites.chunks(PART) {
            for (site, outcome) in part.iter().zip(world.desk.suggest.sites(part).await?) {
                match outcome {
                    Err(why) if self.sites.len() > 1 => left_out.push(LeftOut::told("the site", site, &why)),
                    other => drop(keys.insert(other.map_err(from_flags)?.key)),
                }
            }
        }
        let is_none_left = !left_out.is_empty() && left_out.len() == self.sites.len();
        if is_none_left && self.feeds.is_empty() && self.from_opml.is_empty() {
            let why = "none of the sites can be crawled; to import the OPML of a feed reader, use `--opml FILE`";
            return Err(usage(why));
        }
        for feed in &self.feeds {
            let named = world.desk.suggest.feed(feed, true).await.map_err(|error| match error {
                SuggestError::Refused(why) => from_flags(why),
                SuggestError::Stage(error) => error.into(),
            });
            keys.insert(named?.key);
        }
        for part in self.from_opml.chunks(PART) {
            for (feed, outcome) in part.iter().zip(world.desk.suggest.feeds(part).await?) {
                match outcome {
                    Ok(named) => drop(keys.insert(named.key)),
                    Err(why) => left_out.push(LeftOut::told("the feed", &feed.url, &why)),
                }
            }
        }
        Ok((keys, left_out))
    }
}
