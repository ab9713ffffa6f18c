//! `curlew crawl`: from a list of sites to a published index.

use super::summary::Summary;
use super::{exclusive, opml, stop_on_signal};
use crate::args::{CrawlArgs, Until};
use crate::config::Config;
use crate::failure::usage;
use crate::output;
use crate::progress::Progress;
use crate::runner::{End, Runner};
use crate::world::World;
use anyhow::{Context, Result};
use curlew_ports::SuggestError;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The most bytes of a list of sites.
const MAX_LIST: u64 = 64 * 1024 * 1024;

/// What is said when there is no site yet.
const NOTHING_NAMED: &str = "nothing to crawl: name a site, as in `curlew crawl example.org --contact you@example.org`";

pub(super) async fn run(args: CrawlArgs, config: Config) -> Result<()> {
    let named = Named::gather(&args)?;
    if named.is_empty() && !config.data.exists() {
        return Err(usage(NOTHING_NAMED));
    }
    let world = Arc::new(exclusive(config).await?);
    if named.is_empty() && world.ports.sources.list(None, 1).await?.is_empty() {
        return Err(usage(NOTHING_NAMED));
    }
    // What is due by the schedule first: what is named now gets jobs of its own.
    world.dispatch.tick().await?;
    named.take(&world).await?;
    let (summary, ran) = until_end(&world, args.until, args.output.json, stop_on_signal()).await?;
    if args.output.json {
        output::json(&summary)?
    } else {
        summary.print()?
    }
    ran
}

/// Names sites and feeds to a stack, which crawls them by itself.
pub(super) async fn name_only(args: CrawlArgs, world: &World) -> Result<()> {
    let named = Named::gather(&args)?;
    if named.is_empty() {
        return Err(usage(NOTHING_NAMED));
    }
    named.take(world).await?;
    if args.output.json {
        return Ok(output::json(&serde_json::json!({"named": named.len()}))?);
    }
    output::line(&format!(
        "{} sites and feeds are named; the stack looks at those that are new within a minute: see `curlew --aws status`",
        named.len()
    ))?;
    Ok(())
}

/// Runs the stages until the end, publishes, and says what happened, and whether all was done that was due: what was is
/// published in any case.
pub(super) async fn until_end(
    world: &Arc<World>,
    until: Until,
    quiet: bool,
    stop: Arc<AtomicBool>,
) -> Result<(Summary, Result<()>)> {
    let began = world.clock.monotonic();
    let end = match until {
        Until::Idle => End::Idle(None),
        Until::After(time) => End::Idle(Some(began + time)),
    };
    let ran = {
        let _progress = Progress::start(world.tally.clone(), quiet);
        Runner::new(world.clone(), stop).run(end).await
    };
    for year in world.index.years().await? {
        world.index.publish(year).await?;
    }
    Ok((Summary::gather(world, began).await?, ran))
}

/// What a person named, before it is looked at.
struct Named {
    sites: Vec<String>,
    feeds: Vec<String>,
    from_opml: Vec<String>,
}

impl Named {
    fn gather(args: &CrawlArgs) -> Result<Named> {
        let mut sites = args.sites.clone();
        if let Some(path) = &args.sites_file {
            let text = read_limited(path)?;
            let lines = text.lines().map(|l| l.split('#').next().unwrap_or_default().trim());
            sites.extend(lines.filter(|l| !l.is_empty()).map(str::to_owned));
        }
        let from_opml = match &args.opml {
            None => vec![],
            Some(path) => {
                opml::feeds(&read_limited(path)?).with_context(|| format!("{} cannot be used", path.display()))?
            }
        };
        Ok(Named { sites, feeds: args.feed.clone(), from_opml })
    }

    fn is_empty(&self) -> bool {
        self.sites.is_empty() && self.feeds.is_empty() && self.from_opml.is_empty()
    }

    fn len(&self) -> usize {
        self.sites.len() + self.feeds.len() + self.from_opml.len()
    }

    /// Writes all of them down. What is named on the command line must be usable, or nothing is begun; a bad line of a
    /// long list is told and stepped over.
    async fn take(&self, world: &World) -> Result<()> {
        let from_flags = |e: SuggestError| match e {
            SuggestError::Refused(why) => usage(why.to_string()),
            SuggestError::Port(e) => e.into(),
        };
        let mut refused = 0;
        for (n, site) in self.sites.iter().enumerate() {
            match world.suggest.site(site, true).await {
                Ok(_) => {}
                Err(SuggestError::Refused(why)) if self.sites.len() > 1 => {
                    refused += 1;
                    output::error_line(&format!("curlew: site {} is left out: {why}", n + 1));
                }
                Err(other) => return Err(from_flags(other)),
            }
        }
        if refused == self.sites.len() && refused > 0 && self.feeds.is_empty() && self.from_opml.is_empty() {
            return Err(usage("none of the sites can be crawled"));
        }
        for feed in &self.feeds {
            world.suggest.feed(feed, true).await.map_err(from_flags)?;
        }
        for feed in &self.from_opml {
            match world.suggest.feed(feed, true).await {
                Ok(_) => {}
                Err(SuggestError::Refused(why)) => output::error_line(&format!("curlew: a feed is left out: {why}")),
                Err(SuggestError::Port(e)) => return Err(e.into()),
            }
        }
        Ok(())
    }
}

/// Reads a text file that a person named.
pub(super) fn read_limited(path: &Path) -> Result<String> {
    let unreadable = || format!("{} cannot be read", path.display());
    let size = std::fs::metadata(path).with_context(unreadable)?.len();
    if size > MAX_LIST {
        anyhow::bail!("{} is larger than {} MiB", path.display(), MAX_LIST >> 20);
    }
    let bytes = std::fs::read(path).with_context(unreadable)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
