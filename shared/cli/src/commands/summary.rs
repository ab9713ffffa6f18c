//! What a crawl came to.

use crate::output;
use crate::world::World;
use anyhow::Result;
use curlew_model::{Job, Millis, Stage, Timestamp};
use curlew_wiring::Counts;
use serde::Serialize;
use std::collections::BTreeMap;

/// The most waiting jobs that are looked at for the summary.
const MOST_WAITING: usize = 100_000;

/// The object that `crawl --json` prints; the names are fixed.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
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
    /// Which calls.
    calls_by_kind: BTreeMap<&'static str, u64>,
    /// Entries whose page another entry names too.
    aliases: u64,
    /// When the first parked job is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_due: Option<Timestamp>,
}

impl Summary {
    pub(crate) async fn gather(world: &World, began: Millis) -> Result<Summary> {
        let Counts { entries_seen, pages_fetched, accepted, rejected, calls, calls_by_kind, bytes, aliases, .. } =
            world.tally.counts();
        let (sites, feeds) = world.census.sources().await?;
        let now = world.clock.now();
        let waiting = world.ports.inbox.waiting(now, MOST_WAITING).await?;
        let mut dead = 0;
        for stage in Stage::ALL {
            dead += world.ports.inbox.count(stage, now).await?.dead;
        }
        Ok(Summary {
            sites,
            feeds,
            entries_seen,
            pages_fetched,
            accepted,
            rejected,
            held: world.census.held().await?.into_iter().map(|(why, hosts)| (why.as_str(), hosts)).collect(),
            parked: waiting.iter().map(|w| parked_in(w.job.as_ref().ok())).sum(),
            dead,
            calls,
            bytes,
            seconds: (world.clock.monotonic().0 - began.0) as f64 / 1_000.0,
            cpu_seconds: cpu_seconds(),
            calls_by_kind,
            aliases,
            next_due: waiting.first().map(|w| w.due),
        })
    }

    /// For people.
    pub(crate) fn print(&self) -> Result<()> {
        let reasons = |map: &BTreeMap<&'static str, u64>| {
            let parts: Vec<String> = map.iter().map(|(why, n)| format!("{n} {why}")).collect();
            if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
        };
        let sum = |map: &BTreeMap<&'static str, u64>| map.values().sum::<u64>();
        output::line(&format!("sites     {}", self.sites))?;
        output::line(&format!("feeds     {}", self.feeds))?;
        output::line(&format!("entries   {} seen for the first time", self.entries_seen))?;
        output::line(&format!("accepted  {}", self.accepted))?;
        output::line(&format!("rejected  {}{}", sum(&self.rejected), reasons(&self.rejected)))?;
        let hosts = if sum(&self.held) == 1 { "host" } else { "hosts" };
        output::line(&format!("held      {} {hosts}{}", sum(&self.held), reasons(&self.held)))?;
        let due = self.next_due.map(|at| format!(", the first is due at {at}")).unwrap_or_default();
        output::line(&format!("parked    {} for later{due}", self.parked))?;
        if self.dead > 0 {
            output::line(&format!("dead      {} jobs were given up: see `curlew parked list`", self.dead))?;
        }
        output::line(&format!(
            "calls     {}{}, {:.1} MB in {:.0} s, {:.2} s of CPU",
            self.calls,
            reasons(&self.calls_by_kind),
            self.bytes as f64 / 1e6,
            self.seconds,
            self.cpu_seconds
        ))?;
        if self.calls == 0 && self.entries_seen == 0 {
            output::line("Nothing was due: feeds are polled three times a day, and not sooner because somebody asks.")?;
        }
        Ok(())
    }
}

/// Pages (or sites, or feeds) that wait in a job.
fn parked_in(job: Option<&Job>) -> u64 {
    match job {
        Some(Job::Fetch(visit)) => visit.items.len() as u64,
        _ => 1,
    }
}

/// User and system time of this process, from /proc; zero where there is none.
fn cpu_seconds() -> f64 {
    /// Clock ticks a second, as Linux reports them to programs (proc(5)).
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program stands in brackets and may have spaces; the numbers follow it.
    let numbers: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |n: usize| numbers.get(n).and_then(|t| t.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / TICKS
}
