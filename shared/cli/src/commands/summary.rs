//! Summary of a crawl.

use super::failures::{self, Failed};
use super::named::LeftOut;
use crate::output::{self, ADDRESS, count, in_parentheses, printable};
use crate::world::World;
use crate::{history, process};
use anyhow::Result;
use curlew_app::Counts;
use curlew_catalog::listing::{each_host, each_source};
use curlew_model::{
    BackfillLine, FailureCause, Hold, HoldReason, Job, Millis, SiteState, Source, SourceKey, Timestamp, Work,
};
use curlew_people::outcomes;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use url::Url;

const MOST_WAITING: usize = 100_000;
/// Maximum number of page rows that the summary counts.
const MOST_COUNTED: usize = 200_000;
/// Maximum number of listed sites without an accepted page.
const MOST_LISTED: usize = 20;

/// The object that `crawl --json` prints. Programs rely on its field names.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    sites: u64,
    feeds: u64,
    entries_seen: u64,
    pages_fetched: u64,
    accepted: u64,
    rejected: BTreeMap<&'static str, u64>,
    held: BTreeMap<&'static str, u64>,
    parked: u64,
    dead: u64,
    calls: u64,
    bytes: u64,
    seconds: f64,
    cpu_seconds: f64,
    calls_by_kind: BTreeMap<&'static str, u64>,
    aliases: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_due: Option<Timestamp>,
    /// All back catalogues, running ones first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) history: Vec<BackfillLine>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) left_out: Vec<LeftOut>,
    /// Warnings, by URL, about named sources, or all sites if none is named, without an accepted page.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    none_accepted: BTreeMap<String, String>,
    /// Named sources that could not be read, or all such sites if none is named.
    failed: Vec<Failed>,
}

impl Summary {
    /// Gathers the summary of a crawl that began at a monotonic time; `named` are the sources named for it.
    pub(super) async fn gather(world: &World, began: Millis, named: &BTreeSet<SourceKey>) -> Result<Summary> {
        let Counts { entries_seen, pages_fetched, accepted, rejected, calls, calls_by_kind, bytes, aliases, .. } =
            world.tally.counts();
        let none_accepted = if rejected.is_empty() { BTreeMap::new() } else { none_accepted(world, named).await? };
        let (sites, feeds) = world.desk.stats.sources().await?;
        // Due jobs count, too: they are left over when the time is up.
        let waiting = world.ports.inbox.waiting(Timestamp::MIN, MOST_WAITING).await?;
        let now = world.clock.now();
        let queues = world.ports.inbox.counts(now).await?;
        let history = history::gather(world).await?;
        let mut failed = failed(world, named, now - world.clock.monotonic().saturating_sub(began), now).await?;
        // A site without a feed has not failed if its sitemaps were read.
        let is_read = |url: &str| history.iter().any(|line| line.url == url && line.found > 0);
        failed.retain(|failed| !(failed.cause == Some(FailureCause::NoFeed) && is_read(&failed.url)));
        Ok(Summary {
            sites,
            feeds,
            entries_seen,
            pages_fetched,
            accepted,
            rejected,
            held: world.desk.stats.held().await?.into_iter().map(|(why, hosts)| (why.as_str(), hosts)).collect(),
            parked: waiting.iter().map(|waiting| parked_in(&waiting.job)).sum(),
            dead: queues.values().map(|count| count.dead).sum(),
            calls,
            bytes,
            seconds: (world.clock.monotonic().0 - began.0) as f64 / 1_000.0,
            cpu_seconds: process::cpu_seconds(),
            calls_by_kind,
            aliases,
            next_due: waiting.first().map(|w| w.due.max(now)),
            history,
            left_out: Vec::new(),
            none_accepted,
            failed,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls == 0 && self.entries_seen == 0
    }

    pub(super) fn failures(&self) -> usize {
        self.failed.iter().filter(|failed| failed.is_failure).count()
    }

    pub(super) fn print(&self) -> Result<()> {
        let sum = |map: &BTreeMap<&'static str, u64>| map.values().sum::<u64>();
        output::line(format!("sites     {}", self.sites))?;
        output::line(format!("feeds     {}", self.feeds))?;
        output::line(format!("entries   {} seen for the first time", self.entries_seen))?;
        output::line(format!("accepted  {}", self.accepted))?;
        output::line(format!("rejected  {}{}", sum(&self.rejected), in_parentheses(&self.rejected)))?;
        for (url, warning) in self.none_accepted.iter().take(MOST_LISTED) {
            output::line(format!("          {}: {warning}", printable(url, ADDRESS)))?;
        }
        failures::print(&self.failed)?;
        output::line(format!("held      {}{}", count(sum(&self.held), "host"), in_parentheses(&self.held)))?;
        let due = self.next_due.map(|at| format!(", the first at {}", output::when(at))).unwrap_or_default();
        output::line(format!("parked    {} for later{due}", self.parked))?;
        history::print(&self.history, "history   ")?;
        if !self.left_out.is_empty() {
            output::line(format!("skipped   {} of those you named, for the reasons above", self.left_out.len()))?;
        }
        if self.dead > 0 {
            output::line(format!("dead      {} given up: see `curlew parked list`", count(self.dead, "job")))?;
        }
        output::line(format!(
            "calls     {}{}, {:.1} MB in {:.0} s, {:.2} s of CPU",
            self.calls,
            in_parentheses(&self.calls_by_kind),
            self.bytes as f64 / 1e6,
            self.seconds,
            self.cpu_seconds
        ))
    }
}

/// Returns true if `named` contains the source or, if `named` is empty, if the source is a site.
fn is_meant(source: &Source, named: &BTreeSet<SourceKey>) -> bool {
    if named.is_empty() { matches!(source, Source::Site(_)) } else { named.contains(source.key()) }
}

/// Returns warnings, by URL, about sources without an accepted page; none if there are too many page rows.
async fn none_accepted(world: &World, named: &BTreeSet<SourceKey>) -> Result<BTreeMap<String, String>> {
    let outcomes = outcomes::by_feed(world.ports.pages.as_ref(), MOST_COUNTED).await?.unwrap_or_default();
    let mut found = BTreeMap::new();
    each_source(world.ports.sources.as_ref(), |source| {
        let warning = outcomes::of_source(&outcomes, &source).warning().filter(|_| is_meant(&source, named));
        found.extend(warning.map(|warning| (source.url().to_owned(), warning)));
    })
    .await?;
    Ok(found)
}

/// Returns the failures of the named sources, or of all sites if none is named. `since` is the start of the crawl: a
/// later hold does not count as the failure of a source that was read.
async fn failed(world: &World, named: &BTreeSet<SourceKey>, since: Timestamp, now: Timestamp) -> Result<Vec<Failed>> {
    // Hosts on hold, and hosts that are paused because the last call did not reach them.
    let (mut holds, mut pauses) = (BTreeMap::new(), BTreeMap::new());
    each_host(world.ports.hosts.as_ref(), |host, state| {
        if let Some(hold) = state.hold.filter(|hold| hold.until > now) {
            holds.insert(host, hold);
        } else if state.failures > 0 && state.not_before > now {
            pauses.insert(host, Hold { until: state.not_before, reason: HoldReason::Network, since: now });
        }
    })
    .await?;
    let is_offline = world.crawler.politeness.outage.is_down();
    let mut failed = Vec::new();
    each_source(world.ports.sources.as_ref(), |source| {
        if is_meant(&source, named) {
            let host = Url::parse(source.url()).ok().and_then(|url| world.crawler.politeness.key_of(&url).ok());
            let hold = host.and_then(|host| {
                let pause = || pauses.get(&host).filter(|_| !was_read(&source));
                holds.get(&host).filter(|hold| hold.since < since || !was_read(&source)).or_else(pause)
            });
            failed.extend(Failed::new(&source, hold, is_offline));
        }
    })
    .await?;
    Ok(failed)
}

/// Returns true if a site or feed was read, so that a few failed calls to its host are no failure of the source.
fn was_read(source: &Source) -> bool {
    match source {
        Source::Site(site) => matches!(site.state, SiteState::Working { .. }),
        Source::Feed(feed) => feed.polled_at > Timestamp::MIN && feed.trouble.is_none(),
        Source::Extra(_) | Source::Backfill(_) => false,
    }
}

fn parked_in(job: &Result<Job, String>) -> u64 {
    if let Ok(Job { work: Work::Fetch(visit), .. }) = job { visit.items.len() as u64 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use curlew_model::{FeedSource, SiteSource, Slot};

    #[test]
    fn a_pause_of_the_host_is_no_failure_of_what_was_read() -> Result<()> {
        let key = SourceKey::new("0123456789abcdef0123456789abcdef")?;
        let site = |state| {
            let (key, slot, url) = (key.clone(), Slot::from_hash(0), "https://a.example/".to_owned());
            let not_before = Timestamp::MIN;
            Source::Site(SiteSource { key, slot, url, state, image: None, not_before, failures: 0, failure: None })
        };
        assert!(was_read(&site(SiteState::Working { feeds: vec![] })));
        assert!(!was_read(&site(SiteState::Waiting)));
        let feed = |polled_at, trouble: Option<&str>| {
            let feed = FeedSource::new(key.clone(), Slot::from_hash(0), "https://a.example/feed");
            Source::Feed(FeedSource { polled_at, trouble: trouble.map(str::to_owned), ..feed })
        };
        assert!(was_read(&feed(Timestamp::EPOCH, None)));
        assert!(!was_read(&feed(Timestamp::MIN, None)) && !was_read(&feed(Timestamp::EPOCH, Some("missed"))));
        Ok(())
    }
}
