//! The long run: thousands of hosts over weeks of simulated time, with the real stages under their usual rules, and a
//! judge of every call.
//!
//! The simulator in [`crate::sim`] searches for races with few hosts and many faults, and records everything. The long
//! run shows how politeness works out over time: missed or late polls, holds, circuits, an outage of our own network.
//! Each call is judged and counted at once, because a record of millions of calls would not fit into memory.
//!
//! Hosts do not affect each other, so a run is cut into shards. Each core runs one shard at a time. Extraction calls no
//! site and is left out.

mod driver;
mod judge;
mod mutant;
mod story;
mod web;

use curlew_model::Millis;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;

/// Maximum number of hosts in a shard of the usual run. A month of this many hosts fits into a gigabyte of memory.
const HOSTS_IN_SHARD: usize = 5_000;

/// Parameters of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongRun {
    /// Seed that determines the whole run.
    pub seed: u64,
    /// Number of host keys.
    pub hosts: usize,
    /// Days of simulated time.
    pub days: u64,
    /// Number of parts of the web, each with a crawler of its own.
    pub shards: usize,
    /// Time that visits may spend on a host key in a window.
    pub hour: Millis,
    /// True if the time between two polls follows the feed's own history.
    pub adaptive: bool,
    /// The rule that is taken out, to check that the judge notices.
    pub without: Option<Rule>,
}

impl LongRun {
    /// Returns the usual run: two shards, or more if a shard would exceed [`HOSTS_IN_SHARD`] hosts.
    pub fn new(seed: u64, hosts: usize, days: u64) -> LongRun {
        let (shards, hour) = (hosts.div_ceil(HOSTS_IN_SHARD).max(2), Millis::from_hours(1));
        LongRun { seed, hosts, days, shards, hour, adaptive: false, without: None }
    }
}

/// A rule that politeness depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The ledger's compare-and-swap.
    CompareAndSwap,
    /// The pause between two calls.
    Pause,
    /// The Crawl-delay of robots.txt.
    CrawlDelay,
    /// Holds.
    Hold,
    /// Holds of single URLs.
    UrlHold,
    /// The rest of a host key after one URL was refused or failed.
    Rest,
    /// The limit on the time that visits spend.
    Window,
    /// The record of the last call of a home page.
    HomeLook,
    /// The directives of robots.txt.
    Robots,
    /// Blocks.
    Block,
    /// The circuit breaker for our own network.
    Outage,
}

/// Result of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Number of host keys.
    pub hosts: usize,
    /// Number of feeds.
    pub feeds: usize,
    /// Number of calls of every kind.
    pub calls: u64,
    /// Number of calls of feeds.
    pub polls: u64,
    /// Number of pages that were sent on to extraction.
    pub pages: u64,
    /// Number of polls of healthy hosts that were due and not made, or were made more than a cycle and two hours late.
    pub missed: u64,
    /// Descriptions of the first missed polls: the feed, the due time, earlier events, and the feed's row.
    pub misses: Vec<String>,
    /// Number of polls that were not made because their host was in trouble or blocked, or our own network was down.
    pub excused: u64,
    /// Longest delay of a poll of a healthy host, in milliseconds.
    pub worst_lateness: u64,
    /// Description of the feed with the longest delay.
    pub worst: String,
    /// Mean delay of polls of healthy hosts, in milliseconds.
    pub mean_lateness: u64,
    /// Mean age of an entry when its page is called, in milliseconds, counted from the moment when the feed first lists
    /// it.
    pub mean_age: u64,
    /// Share of the time with no visit under way, per mille.
    pub idle_per_mille: u64,
    /// Share of the visits' time that was spent waiting rather than calling, per mille.
    pub waiting_per_mille: u64,
    /// Maximum number of simultaneous visits.
    pub at_once: usize,
    /// Number of new holds, by reason.
    pub holds: BTreeMap<String, u64>,
    /// Number of holds of healthy hosts for network trouble: hosts that were blamed for an outage of ours.
    pub blamed: u64,
    /// Number of calls that should not have been made.
    pub violations: u64,
    /// Descriptions of the first violations.
    pub first: Vec<String>,
}

const TOLD: usize = 5;
const MISSES_TOLD: usize = 10;

impl Report {
    /// Combines the reports of all shards. Times and shares are the mean of those of the shards.
    fn of(all: impl ExactSizeIterator<Item = Report>) -> Report {
        let shards = all.len().max(1) as u64;
        let mut whole = all.fold(Report::default(), Report::add);
        whole.mean_lateness /= shards;
        whole.mean_age /= shards;
        whole.idle_per_mille /= shards;
        whole.waiting_per_mille /= shards;
        whole
    }

    fn add(mut self, other: Report) -> Report {
        self.hosts += other.hosts;
        self.feeds += other.feeds;
        self.calls += other.calls;
        self.polls += other.polls;
        self.pages += other.pages;
        self.missed += other.missed;
        self.misses.extend(other.misses);
        self.misses.truncate(MISSES_TOLD);
        self.excused += other.excused;
        if other.worst_lateness > self.worst_lateness {
            (self.worst_lateness, self.worst) = (other.worst_lateness, other.worst);
        }
        self.mean_lateness += other.mean_lateness;
        self.mean_age += other.mean_age;
        self.idle_per_mille += other.idle_per_mille;
        self.waiting_per_mille += other.waiting_per_mille;
        self.at_once = self.at_once.max(other.at_once);
        for (reason, count) in other.holds {
            *self.holds.entry(reason).or_default() += count;
        }
        self.blamed += other.blamed;
        self.violations += other.violations;
        self.first.extend(other.first);
        self.first.truncate(TOLD);
        self
    }
}

/// Runs a plan. As many of its shards run side by side as there are cores.
///
/// # Panics
/// Panics if tokio cannot make a runtime, or the simulation itself has a fault.
pub fn run(plan: LongRun) -> Report {
    let shards = plan.shards.max(1);
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    // Each thread takes the next free shard, so memory holds one shard per core, however many shards there are.
    let work = || {
        let mut ended = Vec::new();
        loop {
            let shard = next.fetch_add(1, Ordering::Relaxed);
            if shard >= shards {
                return ended;
            }
            ended.push((shard, driver::run(plan, shard)));
        }
    };
    let mut reports: Vec<(usize, Report)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores.min(shards)).map(|_| scope.spawn(work)).collect();
        let ended = |thread: ScopedJoinHandle<'_, Vec<(usize, Report)>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().flat_map(ended).collect()
    });
    reports.sort_by_key(|(shard, _)| *shard);
    Report::of(reports.into_iter().map(|(_, report)| report))
}
