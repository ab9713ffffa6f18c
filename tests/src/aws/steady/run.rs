//! The simulated days: windows of some minutes at the full rate of arrivals, eight hours apart, for the feeds whose
//! slots lie in these minutes. Three windows are a day of these feeds.

use super::access::lock;
use super::clock::{START, began, now, start};
use super::cloud::{Cloud, Entrance};
use super::functions::{DeployedFunction, logged, take_logged, take_metrics};
use super::history::{CYCLE, History, Load, gap};
use super::pollers::Mapping;
use super::processor::Processor;
use super::sites::{Sites, Traffic};
use super::template::Template;
use crate::aws::meter::Metered;
use crate::aws::random::Random;
use curlew_aws::{Connection, Names, Store};
use curlew_lambda::rehearsal::log_to;
use curlew_model::{ExtraSlot, FeedSource, Habit, Job, Millis, PollJob, Source, SourceKey};
use curlew_policy::address;
use curlew_policy::polling::schedule::{estimate, extra_slots, next_poll, times_a_cycle};
use curlew_policy::rules::Rules;
use curlew_ports::{Queue, Sources, Version};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::{Instant, sleep, sleep_until};
use url::Url;

/// Name of the stack, and its bucket.
const STACK: &str = "curlew";
const BUCKET: &str = "curlew-data";
/// Names of the functions, and of those with a queue.
const FUNCTIONS: [&str; 8] = ["dispatch", "discover", "poll", "fetch", "extract", "remove", "index", "sample"];
const QUEUES: [&str; 5] = ["discover", "poll", "fetch", "extract", "remove"];
/// Number of cycles that warm up the stack, and of measured ones (a day). In each warm-up cycle a third of the feeds is
/// added and polled once, so that their copies of robots.txt do not all expire at the same time.
const WARM: u64 = 3;
const MEASURED: u64 = 3;
/// Number of cycles between warm-up and measurement, in which copies of robots.txt and rows of hosts reach their usual
/// age.
const SETTLING: u64 = 1;
/// Time before a cycle at which its feeds are prepared, which takes some minutes.
const PREPARED_BEFORE: Duration = Duration::from_secs(1_800);
/// Minutes before a measured window in which all work gets under way.
const LEAD: u64 = 10;
/// Time after a window in which work under way ends.
const DRAIN: Duration = Duration::from_secs(1_200);
/// Minutes after which every mapping of an unused stack is off, and minutes of an idle stack that are measured.
const UNUSED_MINUTES: u64 = 35;
const IDLE_MINUTES: u64 = 30;
/// Name of the mark up to which dispatch has sent due work.
const DISPATCHED: &str = "dispatch";
/// Second of the minute at which dispatch is called.
const TICK_AT: Duration = Duration::from_secs(2);
/// Maximum number of pages that are re-checked: about a full batch. A day of a stack with a million pages has more.
const RECHECKS: u64 = 1_000;
/// Time after which every page may be re-checked.
const RECHECK_AFTER: Duration = Duration::from_secs(3 * 24 * 3600);
const MINUTE: Duration = Duration::from_secs(60);
/// Settings of the functions that differ from a deployed stack.
const VARIABLES: [(&str, &str); 5] = [
    ("AWS_LAMBDA_RUNTIME_API", "127.0.0.1:9001"),
    ("CURLEW_STACK", STACK),
    ("CURLEW_BUCKET", BUCKET),
    ("CURLEW_CONTACT", "https://crawler.example/contact"),
    ("RUST_LOG", "INFO"),
];

/// Results of a run.
#[derive(Debug)]
pub struct Measured {
    /// Minutes of an idle stack, and their cost.
    pub idle: (u64, Metered),
    /// Minutes of everyday use, and their cost.
    pub everyday: (u64, Metered),
    /// Polls that were made in, shortly before and shortly after the windows, and polls that were due.
    pub polls: (u64, u64),
    /// Mean number of metrics that functions wrote in a window. Each is billed by the hour.
    pub metrics: f64,
    /// Calls to sites in the windows.
    pub traffic: Traffic,
    /// Number of simulated feeds.
    pub feeds: usize,
    /// Pages that were published, and the cost of publishing them.
    pub indexed: (u64, Metered),
    /// Cost of publishing without anything new.
    pub idle_index: Metered,
    /// Pages that were re-checked, and the cost of the re-checks.
    pub rechecked: (u64, Metered),
    /// Calls to sites during the re-checks.
    pub recheck_traffic: Traffic,
    /// All rows at the end.
    pub rows: Stored,
    /// The rows of pages, which are part of [`Measured::rows`].
    pub page_rows: Stored,
}

/// Content of the tables.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stored {
    /// Number of rows.
    pub rows: usize,
    /// Number of bytes, as DynamoDB counts them.
    pub bytes: usize,
}

/// Simulates a load. A process can do this only once, because it has a single clock.
pub fn measure(load: Load, tell: fn(&str)) -> Measured {
    simulate(&load, async move |stack| stack.measure(load, tell).await)
}

/// Runs `work` with a new stack in simulated time.
fn simulate<T>(load: &Load, work: impl AsyncFnOnce(SimulatedStack) -> T) -> T {
    let (sites, rules) = (Arc::new(Sites::new(load.seed)), Rules { adaptive: load.adaptive, ..Rules::default() });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    // The web has a runtime of its own, which must not be dropped inside this one.
    let kept = Arc::clone(&sites);
    let measured = LocalSet::new().block_on(&runtime, async move {
        start();
        work(SimulatedStack::new(sites, rules)).await
    });
    drop(runtime);
    drop(kept);
    measured
}

/// A deployed stack.
struct SimulatedStack {
    cloud: Arc<Cloud>,
    sites: Arc<Sites>,
    rules: Rules,
    template: Template,
    functions: BTreeMap<&'static str, Arc<DeployedFunction>>,
}

/// A feed that is polled in the measured windows.
struct WatchedFeed {
    number: u64,
    /// Mean number of new entries in a cycle.
    rate: f64,
    /// The row that the program wrote at its first poll of the feed.
    row: FeedSource,
}

impl SimulatedStack {
    fn new(sites: Arc<Sites>, rules: Rules) -> SimulatedStack {
        let (cloud, template) = (Arc::new(Cloud::default()), Template::read());
        let mappings: Vec<String> = QUEUES.iter().map(|name| format!("{name}={}", mapping_id(name))).collect();
        let rest_after = template.parameter("RestAfter");
        let more = [
            ("CURLEW_MAPPINGS", mappings.join(" ")),
            ("CURLEW_REST_AFTER", rest_after),
            ("CURLEW_RULES_ADAPTIVE", rules.adaptive.to_string()),
        ];
        let variables = VARIABLES.map(|(name, value)| (name, value.to_owned())).into_iter().chain(more);
        let variables: Vec<_> = variables.map(|(name, value)| (name.to_owned(), value)).collect();
        log_to(&variables, logged);
        let function = |name: &'static str| {
            let size = template.function(name);
            let memory = ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE".to_owned(), size.memory_mb.to_string());
            let variables = variables.iter().cloned().chain([memory]).collect();
            let (cloud, sites) = (Arc::clone(&cloud), Arc::clone(&sites));
            (name, Arc::new(DeployedFunction { name, size, cloud, sites, variables, idle: Mutex::default() }))
        };
        let functions = FUNCTIONS.map(function).into_iter().collect();
        SimulatedStack { cloud, sites, rules, template, functions }
    }

    async fn measure(self, load: Load, tell: fn(&str)) -> Measured {
        QUEUES.iter().for_each(|name| self.map(name));
        tell("an idle stack");
        let (_, idle) = self.idle().await;
        // Before there is news, nothing is fetched.
        for name in ["fetch", "extract"] {
            self.cloud.mappings.of(&mapping_id(name)).switch(false);
        }
        self.wake(&["poll"]);

        let window = LEAD + load.minutes;
        let mut histories: Vec<History> =
            History::draw(&load).into_iter().filter(|history| self.is_polled_in(window, history)).collect();
        History::weigh(&mut histories, &load, &self.rules, window);
        let mut feeds: Vec<WatchedFeed> = histories
            .iter()
            .map(|history| WatchedFeed { number: history.number, rate: history.rate, row: feed(history.number) })
            .collect();
        self.sites.add(histories);
        let store = self.store().await;
        let rows = store.ports().sources;
        for cycle in 1..=WARM {
            tell(&format!("warming up, {cycle} of {WARM}"));
            self.begin(cycle).await;
            let mut jobs = Vec::new();
            for WatchedFeed { row, .. } in feeds.iter().filter(|feed| feed.number % WARM == cycle - 1) {
                rows.insert(&Source::Feed(row.clone())).await.expect("a row is written");
                jobs.push((Job::new(PollJob::new(row.key.clone(), row.url.clone())), now()));
            }
            store.jobs().send(&jobs).await.expect("jobs are sent");
            sleep(DRAIN).await;
        }
        for feed in &mut feeds {
            feed.row = stored(rows.as_ref(), &feed.row.key).await.0;
        }
        self.begin(WARM + 1).await;
        // All entries are new at the first poll of a feed, unlike at any later one, so these jobs are dropped.
        self.cloud.queues.named(&format!("{STACK}-fetch")).clear();
        lock(&self.cloud.tables).clear(&format!("{STACK}-parked"));
        self.wake(&["fetch", "extract"]);
        let (mut everyday, mut traffic, mut polls, mut metrics) = (Metered::default(), Traffic::default(), (0, 0), 0.0);
        let mut dice = Random::new(load.seed);
        for cycle in WARM + 1..=WARM + SETTLING + MEASURED {
            let is_measured = cycle > WARM + SETTLING;
            tell(&format!("everyday use, {} of {}", cycle - WARM, SETTLING + MEASURED));
            sleep_until(start_of(cycle) - PREPARED_BEFORE).await;
            let due = self.polled_meanwhile(rows.as_ref(), &feeds, (cycle, window), &mut dice).await;
            self.begin(cycle).await;
            // Work that was due before the window is not simulated, and dispatch must not catch up on it.
            let (_, seen) = store.ports().marks.load(DISPATCHED).await.expect("a mark is read");
            store.ports().marks.swap(DISPATCHED, seen, now()).await.expect("a mark is written");
            self.sites.take_traffic();
            self.ticks(LEAD).await;
            self.take();
            let of_lead = self.sites.take_traffic();
            take_metrics();
            self.ticks(load.minutes).await;
            let (cost, of_window) = (self.take(), self.sites.take_traffic());
            let metrics_of_window = take_metrics();
            sleep(DRAIN).await;
            if is_measured {
                everyday.merge(&cost);
                metrics += metrics_of_window as f64 / MEASURED as f64;
                traffic = traffic.and(&of_window);
                let made = of_lead.and(&of_window).and(&self.sites.take_traffic());
                polls = (polls.0 + made.polls, polls.1 + due);
            }
        }
        tell("publishing");
        self.take();
        let answer = self.call("index", json!({"what": "publish"})).await;
        let added = |answer: &Value| -> u64 {
            answer["years"].as_array().into_iter().flatten().filter_map(|year| year["added"].as_u64()).sum()
        };
        let indexed = (added(&answer), self.take());
        self.call("index", json!({"what": "publish"})).await;
        let idle_index = self.take();
        sleep(RECHECK_AFTER).await;
        tell("re-checks");
        self.take();
        self.sites.take_traffic();
        // No tick would switch these mappings on.
        self.wake(&["fetch", "extract", "remove"]);
        let sampled =
            self.call("sample", json!({"count": indexed.0.min(RECHECKS)})).await["pages"].as_u64().unwrap_or(0);
        while ["fetch", "extract", "remove"].iter().any(|name| self.waiting(name) > 0) {
            sleep(MINUTE).await;
        }
        let rechecked = (sampled, without_empty(&self.take()));
        let dead: usize = QUEUES.iter().map(|name| self.waiting(&format!("{name}-dead"))).sum();
        assert_eq!(dead, 0, "jobs were given up");
        let tables = lock(&self.cloud.tables);
        Measured {
            idle,
            everyday: (load.minutes * MEASURED, everyday),
            polls,
            metrics,
            traffic,
            feeds: feeds.len(),
            indexed,
            idle_index,
            rechecked,
            recheck_traffic: self.sites.take_traffic(),
            rows: tables.stored(""),
            page_rows: tables.stored("-pages"),
        }
    }

    /// Returns true if a feed is polled in the first minutes of a cycle, by its own slot or an extra one.
    fn is_polled_in(&self, minutes: u64, history: &History) -> bool {
        let feed = feed(history.number);
        let further = extra_slots(&feed, times_a_cycle(history.interval(&self.rules), &self.rules));
        let mut slots = further.into_iter().map(|(_, slot)| slot).chain([feed.slot]);
        slots.any(|slot| u64::from(slot.index()) < minutes)
    }

    /// Makes up for the time between two windows, in which no feed is polled. The row of each feed becomes what it
    /// would be had the feed been polled until the cycle begins, and so do its extra slots. Returns the number of polls
    /// that the ticks in the first minutes of the cycle find due.
    async fn polled_meanwhile(
        &self,
        rows: &dyn Sources,
        feeds: &[WatchedFeed],
        (cycle, minutes): (u64, u64),
        dice: &mut Random,
    ) -> u64 {
        let began = START + Millis(CYCLE.0 * cycle);
        // The first tick is the one of the cycle's first minute, which dispatch has already read.
        let last_tick = (minutes - 1) / self.template.dispatch_every() * self.template.dispatch_every();
        let (begins, ends) = (began + Millis::from_mins(1), began + Millis::from_mins(last_tick + 1));
        let mut due = 0;
        for feed in feeds {
            let (mut row, seen) = stored(rows, &feed.row.key).await;
            if self.rules.adaptive {
                let Habit { gap: learned, news_at } = feed.row.polling.habit;
                row.polling.habit = Habit { gap: learned, news_at: news_at.map(|_| began - gap(feed.rate, dice)) };
                row.interval = estimate(&row.polling.habit, &self.rules, began).unwrap_or(self.rules.poll_interval);
                let times = times_a_cycle(row.interval, &self.rules);
                for (key, slot) in extra_slots(&row, times) {
                    let extra = ExtraSlot { key, slot, feed: row.key.clone(), url: row.url.clone() };
                    rows.insert(&Source::Extra(extra)).await.expect("a row is written");
                }
                let listed = u8::try_from(times - 1).expect("there are at most eight slots");
                row.polling.extra_slots = row.polling.extra_slots.max(listed);
                rows.swap(seen, &Source::Feed(row.clone())).await.expect("a row is written");
            }
            self.sites.polled_before(feed.number, began, row.interval);
            let mut from = begins;
            while let Some(at) = next_poll(&row, &self.rules, from).filter(|at| *at < ends) {
                due += 1;
                from = at + Millis::from_mins(1);
            }
        }
        due
    }

    /// Waits until the stack is idle, and for a while longer; returns the cost of each.
    async fn idle(&self) -> (Metered, (u64, Metered)) {
        self.ticks(UNUSED_MINUTES).await;
        let before = self.take();
        self.ticks(IDLE_MINUTES).await;
        (before, (IDLE_MINUTES, self.take()))
    }

    /// Starts polling a queue for its function.
    fn map(&self, name: &'static str) {
        let queue = format!("{STACK}-{name}");
        Mapping {
            cloud: Arc::clone(&self.cloud),
            queue: self.cloud.queues.named(&queue),
            switch: self.cloud.mappings.of(&mapping_id(name)),
            name: queue,
            function: Arc::clone(&self.functions[name]),
            size: self.template.mapping(name),
        }
        .start();
    }

    /// Switches mappings on by hand.
    fn wake(&self, names: &[&str]) {
        names.iter().for_each(|name| self.cloud.mappings.of(&mapping_id(name)).switch(true));
    }

    async fn call(&self, name: &str, event: Value) -> Value {
        self.functions[name].invoke(event, 0).await
    }

    /// Waits for the first minute of a cycle.
    async fn begin(&self, cycle: u64) {
        sleep_until(start_of(cycle)).await;
    }

    /// Lets some minutes pass, with their ticks of dispatch.
    async fn ticks(&self, minutes: u64) {
        let mut ticks = JoinSet::new();
        let every = self.template.dispatch_every();
        for minute in 0..minutes {
            let ends = Instant::now() + MINUTE;
            if minute % every != 0 {
                sleep_until(ends).await;
                continue;
            }
            let dispatch = Arc::clone(&self.functions["dispatch"]);
            ticks.spawn_local(async move {
                sleep(TICK_AT).await;
                dispatch.invoke(json!({}), 0).await
            });
            sleep_until(ends).await;
        }
        while let Some(done) = ticks.join_next().await {
            done.expect("a tick ends");
        }
    }

    fn waiting(&self, name: &str) -> usize {
        self.cloud.queues.named(&format!("{STACK}-{name}")).length()
    }

    fn take(&self) -> Metered {
        let (lines, bytes) = take_logged();
        self.cloud.meter.logged("all functions", lines, bytes);
        self.cloud.meter.take()
    }

    async fn store(&self) -> Store {
        let processor = Arc::new(Processor::new("operator", 1769));
        let door = Entrance { cloud: Arc::clone(&self.cloud), caller: "operator", processor };
        let names = Names { stack: STACK.to_owned(), bucket: BUCKET.to_owned() };
        Store::new(&Connection::to_endpoint(Arc::new(door), now).await, names)
    }
}

fn mapping_id(name: &str) -> String {
    format!("mapping-of-{name}")
}

fn feed(number: u64) -> FeedSource {
    let url = Url::parse(&Sites::feed(number)).unwrap();
    let key = address::source_key(&url);
    FeedSource::new(key.clone(), address::slot(&key), url.as_str())
}

fn start_of(cycle: u64) -> Instant {
    began() + Duration::from_millis(CYCLE.0 * cycle)
}

async fn stored(rows: &dyn Sources, key: &SourceKey) -> (FeedSource, Version) {
    match rows.get(key).await.expect("a row is read") {
        Some((Source::Feed(row), seen)) => (row, seen),
        other => panic!("{key} is no feed: {other:?}"),
    }
}

/// Leaves out empty receives of mappings, since the monthly bill already includes them.
fn without_empty(metered: &Metered) -> Metered {
    metered.only(|line| line.operation != "receive, empty")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_stack_does_not_ask_for_messages() {
        let asked = |metered: &Metered| metered.calls_where(|line| line.operation == "receive, empty");
        let load = Load { feeds: 0, adaptive: true, pages: 0.0, minutes: 0, seed: 7 };
        let (every, (unused, (minutes, idle))) = simulate(&load, async |stack: SimulatedStack| {
            QUEUES.iter().for_each(|name| stack.map(name));
            (stack.template.dispatch_every(), stack.idle().await)
        });
        assert!(asked(&unused) > 20 * 60, "five pollers of four queues ask three times a minute: {}", asked(&unused));
        assert_eq!(asked(&idle), 0);
        let counted = idle.calls_where(|line| line.operation == "GetQueueAttributes");
        // Each tick reads whether a message is waiting in any queue. Each half hour, dispatch reads the length of every
        // queue, of its dead-letter queue, and of the dead events.
        let queues = QUEUES.len() as u64;
        assert_eq!(counted, minutes / every * queues + minutes.div_ceil(30) * (2 * queues + 1));
    }
}
