//! The long run: thousands of hosts over weeks of virtual time, the real stages under their usual rules, and a judge
//! beside every call.
//!
//! The simulator in [`crate::sim`] looks for races: few hosts, many faults, everything recorded. This one looks at what
//! politeness comes to in the long run: polls that were missed or late, holds, circuits, an outage of our own network.
//! What happened is judged at once and counted, since a record of millions of calls fits nowhere.
//!
//! Hosts do not know of each other, so a run is cut into shards, of which each core runs one at a time. Extraction
//! calls no site and is left out.

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

/// Maximum number of hosts in a shard of the usual run: what a month of them takes fits into a gigabyte.
const HOSTS_IN_SHARD: usize = 5_000;

/// Parameters of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongRun {
    /// Everything follows from it.
    pub seed: u64,
    /// Host keys.
    pub hosts: usize,
    /// Days of virtual time.
    pub days: u64,
    /// Parts of the web, each with a crawler of its own.
    pub shards: usize,
    /// Time that visits may spend on a host key in a window.
    pub hour: Millis,
    /// True if the time between two polls follows the feed's own history.
    pub adaptive: bool,
    /// A rule that is taken out, to see that the judge notices.
    pub without: Option<Rule>,
}

impl LongRun {
    /// The usual run: two shards, or more if there are more than [`HOSTS_IN_SHARD`] hosts for each.
    pub fn new(seed: u64, hosts: usize, days: u64) -> LongRun {
        let (shards, hour) = (hosts.div_ceil(HOSTS_IN_SHARD).max(2), Millis::from_hours(1));
        LongRun { seed, hosts, days, shards, hour, adaptive: false, without: None }
    }
}

/// Something that politeness rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The ledger writes only if nobody was first.
    CompareAndSwap,
    /// The pause between two calls.
    Pause,
    /// The Crawl-delay of robots.txt.
    CrawlDelay,
    /// Holds.
    Hold,
    /// URLs that are left alone for themselves.
    UrlHold,
    /// The rest of a host key after a refusal or an error of one URL.
    Rest,
    /// The account of the time that visits spend.
    Window,
    /// The memory of the last look at a home page.
    HomeLook,
    /// The directives of robots.txt.
    Robots,
    /// Blocks.
    Block,
    /// The breaker for our own network.
    Outage,
}

/// Result of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Host keys that were called.
    pub hosts: usize,
    /// Feeds.
    pub feeds: usize,
    /// Calls of every kind.
    pub calls: u64,
    /// Calls for feeds.
    pub polls: u64,
    /// Pages that were sent on to extraction.
    pub pages: u64,
    /// Polls of well hosts that were due and not made, or made more than a cycle and two hours after the one before.
    pub missed: u64,
    /// The first of them in words: the feed, since when, what happened before, what its row says.
    pub misses: Vec<String>,
    /// Polls that were due and not made since their host was in trouble or blocked, or our own network was down.
    pub excused: u64,
    /// The longest time in milliseconds from when a poll of a well host was due to its call.
    pub worst_lateness: u64,
    /// The feed that this was, in words.
    pub worst: String,
    /// Mean of all these times, in milliseconds.
    pub mean_lateness: u64,
    /// The mean age in milliseconds of an entry when its page is called, counted from when the feed first lists it.
    pub mean_age: u64,
    /// Share of the time with no visit under way, per mille.
    pub idle_per_mille: u64,
    /// Share of the visits' time in which they waited and did not call, per mille.
    pub waiting_per_mille: u64,
    /// The most visits under way at once.
    pub at_once: usize,
    /// Holds that were laid, by reason.
    pub holds: BTreeMap<String, u64>,
    /// Holds of well hosts for network trouble: they were blamed for an outage of ours.
    pub blamed: u64,
    /// Calls that should not have been made.
    pub violations: u64,
    /// The first of them, in words.
    pub first: Vec<String>,
}

const TOLD: usize = 5;
const MISSES_TOLD: usize = 10;

impl Report {
    /// Returns the report of all shards. What is said of the time is the mean of theirs.
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

/// Runs a plan, as many of its shards side by side as there are cores.
///
/// # Panics
/// If tokio cannot make a runtime, or the simulation itself has a fault.
pub fn run(plan: LongRun) -> Report {
    let shards = plan.shards.max(1);
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    // Each thread takes the next shard that nobody has taken, so memory holds a shard a core, however many there are.
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
