//! Runs one shard: a single-process crawler over its part of the web, in simulated time.

use super::judge::Judge;
use super::mutant::{Ledger, Lenient};
use super::story;
use super::web::{DAY, Web, make};
use super::{LongRun, Report, Rule};
use crate::bad_time::Moment;
use crate::memory::{
    CountingSeeds, MemoryBlobs, MemoryHosts, MemoryJobs, MemoryMarks, MemoryPages, MemoryRobots, MemorySources,
    TokioClock,
};
use async_trait::async_trait;
use curlew_app::program::Program;
use curlew_crawl::politeness::access::Politeness;
use curlew_crawl::politeness::robots_cache::KnownRobots;
use curlew_crawl::worker::{Mailbox, Worker};
use curlew_model::{
    FeedSource, HoldReason, HostKey, HostState, Job, Millis, PollJob, QueueName as Of, Source, SourceKey, Timestamp,
    Work,
};
use curlew_policy::address;
use curlew_policy::chance::mix;
use curlew_policy::rules::Rules;
use curlew_ports::Ports;
use curlew_ports::stage::StageError;
use curlew_ports::{
    Call, Clock, Delivery, Event, Events, Fetch as FetchPort, FetchError, HostLedger, Inbox, PortError, Queue, Reply,
    RobotsStore, Sources,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::JoinSet;
use url::Url;

/// Start of every run: 2026-03-02T00:00:00Z.
const START: i64 = 1_772_409_600_000;
const WORKERS: usize = 100;
/// The queue hands out a job again if it is not done within this time.
const VISIBILITY: Millis = Millis::from_hours(1);
const TICK: Millis = Millis::from_mins(1);
/// One of this many hosts is blocked during the run.
const BLOCKED: usize = 100;
const ROWS: usize = 1_000;

pub(super) fn run(plan: LongRun, shard: usize) -> Report {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.unwrap_or_else(|error| panic!("no runtime: {error}"));
    runtime.block_on(async {
        let world = Arc::new(Shard::new(plan, shard));
        simulate(&world).await
    })
}

struct Shard {
    plan: LongRun,
    web: Web,
    clock: Arc<TokioClock>,
    hosts: Arc<MemoryHosts>,
    jobs: Arc<MemoryJobs>,
    sources: Arc<MemorySources>,
    /// Indices of feeds by the keys of their rows.
    feeds: BTreeMap<SourceKey, usize>,
    judge: Mutex<Judge>,
}

impl Shard {
    fn new(plan: LongRun, shard: usize) -> Shard {
        let web = make(plan.seed, shard, plan.hosts / plan.shards.max(1), plan.days);
        let key = |url: &str| Url::parse(url).ok().map(|url| address::source_key(&url));
        let feeds = web.feeds.iter().enumerate().filter_map(|(n, feed)| Some((key(&feed.url)?, n))).collect();
        Shard {
            plan,
            judge: Mutex::new(Judge::new(&web, &plan)),
            web,
            clock: Arc::new(TokioClock::starting_at(Timestamp::from_millis(START))),
            hosts: Arc::default(),
            jobs: Arc::default(),
            sources: Arc::default(),
            feeds,
        }
    }

    fn judge(&self) -> MutexGuard<'_, Judge> {
        self.judge.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn moment(&self) -> Moment {
        self.clock.monotonic().0
    }

    /// Adds the content of the feed's row to the report of each missed poll.
    async fn explain(&self) {
        let unexplained = self.judge().unexplained();
        for (feed, miss) in unexplained {
            let Ok(url) = Url::parse(&self.web.feeds[feed].url) else { continue };
            let Ok(Some((Source::Feed(row), _))) = self.sources.get(&address::source_key(&url)).await else { continue };
            self.judge().explain(miss, &story::row(&row, Timestamp::from_millis(START)));
        }
    }

    /// Returns the usual rules, without the one that the plan takes out.
    fn rules(&self) -> Rules {
        let usual = Rules { adaptive: self.plan.adaptive, window_limit: self.plan.hour, ..Rules::default() };
        match self.plan.without {
            Some(Rule::Pause) => Rules {
                min_pause: Millis::ZERO,
                jitter: (Millis::ZERO, Millis::ZERO),
                poisson_mean: Millis::ZERO,
                ..usual
            },
            Some(Rule::CrawlDelay) => Rules { crawl_delay_cap: Millis::ZERO, ..usual },
            Some(Rule::Outage) => Rules { outage_least: usize::MAX, ..usual },
            _ => usual,
        }
    }
}

impl Events for Shard {
    fn note(&self, event: &Event<'_>) {
        let Event::Held { host, reason } = event else { return };
        let mut judge = self.judge();
        *judge.report.holds.entry(reason.as_str().to_owned()).or_default() += 1;
        let place = self.web.names.get(host.as_str());
        place.into_iter().for_each(|place| judge.held(*place, reason.as_str(), self.moment()));
        if *reason == HoldReason::Network && place.is_some_and(|place| self.web.is_well(*place)) {
            // The crawler may hold a healthy host that cuts answers short, but not a healthy host that it failed to
            // reach.
            judge.report.blamed += u64::from(self.web.is_down(self.moment()));
        }
    }
}

/// A `Fetch` port that reports each call to the judge.
struct Wire(Arc<Shard>);

#[async_trait]
impl FetchPort for Wire {
    async fn call(&self, call: &Call) -> Result<Reply, FetchError> {
        let world = &self.0;
        let refused = |why: &str| FetchError::Refused(why.to_owned());
        let url = Url::parse(&call.url).map_err(|_| refused("that is no URL"))?;
        let place = world.web.names.get(url.host_str().unwrap_or_default()).copied();
        let place = place.ok_or_else(|| refused("there is no such host"))?;
        let host = HostKey::new(&world.web.places[place].key).map_err(|_| refused("that is no host"))?;
        let (state, _) = world.hosts.load(&host).await.unwrap_or((HostState::default(), curlew_ports::Version::ABSENT));
        let began = world.moment();
        world.judge().begin(&world.web, place, call, &url, &state, began);
        world.explain().await;
        let (answer, took) = world.web.answer(place, &url, call, began);
        world.clock.sleep(took).await;
        world.judge().end(&world.web, place, &url, &answer, (began, world.moment()));
        answer
    }

    fn vet(&self, url: &str) -> Result<(), String> {
        Url::parse(url).map(|_| ()).map_err(|e| e.to_string())
    }
}

/// A queue that reports the scheduled polls to the judge.
struct Tap(Arc<Shard>);

#[async_trait]
impl Queue for Tap {
    async fn send(&self, jobs: &[(Job, Timestamp)]) -> Result<(), PortError> {
        for (job, due) in jobs {
            if let Job { work: Work::Poll(PollJob { feed, .. }), deferrals: 0, .. } = job
                && let Some(feed) = self.0.feeds.get(feed)
            {
                let (due, now) = (due.since(Timestamp::from_millis(START)).0, self.0.moment());
                self.0.judge().give_out(&self.0.web, *feed, due, now);
            }
        }
        self.0.explain().await;
        self.0.jobs.send(jobs).await
    }
}

/// The stages that call sites.
struct Crawler {
    world: Arc<Shard>,
    program: Program,
}

impl Crawler {
    fn new(world: &Arc<Shard>, shard_seed: u64) -> Crawler {
        let clock: Arc<dyn Clock> = world.clock.clone();
        let mut robots: Arc<dyn RobotsStore> = Arc::new(MemoryRobots::default());
        if world.plan.without == Some(Rule::Robots) {
            robots = Arc::new(Lenient(robots));
        }
        let ports = Ports {
            ledger: Arc::new(Ledger { plain: world.hosts.clone(), clock: clock.clone(), without: world.plan.without }),
            hosts: world.hosts.clone(),
            robots,
            marks: Arc::new(MemoryMarks::default()),
            pages: Arc::new(MemoryPages::default()),
            sources: world.sources.clone(),
            queue: world.jobs.clone(),
            inbox: world.jobs.clone(),
            blobs: Arc::new(MemoryBlobs::default()),
            is_billed: false,
        };
        let seeds = Arc::new(CountingSeeds::new(shard_seed));
        let politeness = Politeness {
            events: world.clone(),
            rules: Arc::new(world.rules()),
            // The crawler does not ask the store for robots.txt rules that it remembers, and would rarely notice a
            // store that lies. Without this rule it remembers none.
            known: match world.plan.without {
                Some(Rule::Robots) => Arc::new(KnownRobots::with_room(0, 0)),
                _ => Arc::default(),
            },
            ..Politeness::over(&ports, Arc::new(Wire(world.clone())), clock, seeds)
        };
        let mut program = Program::over(Arc::new(politeness), ports, Arc::default());
        program.crawler.dispatch.queue = Arc::new(Tap(world.clone()));
        Crawler { world: world.clone(), program }
    }

    /// Runs a job and settles it. The ports do not fail, so a stage must not fail either.
    async fn one(&self, stage: Of, delivery: Delivery) {
        let clock = &self.program.clock;
        let jobs = self.world.jobs.clone();
        let mailbox = Mailbox { inbox: jobs.clone(), queue: jobs, clock: clock.clone() };
        let worker = Worker { stages: &self.program, queue: &mailbox, clock: clock.as_ref() };
        worker.deliver(stage, vec![delivery]).await.unwrap_or_else(|error| panic!("the queue failed: {error}"));
        let dead = self.world.jobs.dead(1).await.unwrap_or_else(|error| panic!("the queue failed: {error}"));
        assert!(dead.is_empty(), "a job was given up over ports that do not fail: {dead:?}");
    }

    /// Starts the jobs that are due. Extraction jobs are counted and acknowledged without being run.
    async fn start(self: &Arc<Crawler>, tasks: &mut JoinSet<()>) -> Result<(), PortError> {
        let now = self.world.clock.now();
        let (jobs, world) = (&self.world.jobs, &self.world);
        for delivery in jobs.receive(Of::Extract, ROWS, VISIBILITY, now).await? {
            world.judge().report.pages += 1;
            jobs.ack(&delivery.receipt).await?;
        }
        for stage in [Of::Fetch, Of::Poll] {
            let free = WORKERS.saturating_sub(tasks.len());
            if free == 0 {
                break;
            }
            for delivery in jobs.receive(stage, free, VISIBILITY, now).await? {
                let crawler = self.clone();
                tasks.spawn(async move { crawler.one(stage, delivery).await });
            }
        }
        let mut judge = world.judge();
        judge.report.at_once = judge.report.at_once.max(tasks.len());
        Ok(())
    }

    async fn block_some(&self) -> Result<(), StageError> {
        for (n, place) in self.world.web.places.iter().enumerate().step_by(BLOCKED) {
            self.program.desk.blocks.block(&place.key).await?;
            self.world.judge().block(n, self.world.moment());
        }
        Ok(())
    }
}

async fn simulate(world: &Arc<Shard>) -> Report {
    for feed in &world.web.feeds {
        let Ok(url) = Url::parse(&feed.url) else { continue };
        let key = address::source_key(&url);
        let source = Source::Feed(FeedSource::new(key.clone(), address::slot(&key), feed.url.as_str()));
        world.sources.insert(&source).await.unwrap_or_else(|error| panic!("no feed: {error}"));
    }
    let crawler = Arc::new(Crawler::new(world, mix(world.plan.seed ^ world.web.feeds.len() as u64)));
    let mut time = Time::default();
    let working = work(&crawler, &mut time).await;
    working.unwrap_or_else(|error| panic!("the simulation failed: {error}"));
    world.judge().stop(&world.web, world.moment());
    world.explain().await;
    let judge = std::mem::replace(&mut *world.judge(), Judge::new(&world.web, &world.plan));
    let calling = judge.calling;
    let mut report = judge.close();
    let all = world.moment().max(1);
    report.idle_per_mille = time.idle * 1_000 / all;
    report.waiting_per_mille = time.visits.saturating_sub(calling) * 1_000 / time.visits.max(1);
    report
}

/// Time by use, summed over the run.
#[derive(Default)]
struct Time {
    /// Time with no visit under way.
    idle: u64,
    /// Duration of all visits, summed.
    visits: u64,
}

async fn work(crawler: &Arc<Crawler>, time: &mut Time) -> Result<(), StageError> {
    let world = &crawler.world;
    let (end, block_at) = (world.plan.days * DAY, world.plan.days * DAY / 3);
    let mut tasks = JoinSet::new();
    let (mut next_tick, mut blocked) = (0, false);
    while world.moment() < end {
        if world.moment() >= next_tick {
            crawler.program.crawler.dispatch.tick().await?;
            next_tick += TICK.0;
        }
        if !blocked && world.moment() >= block_at {
            crawler.block_some().await?;
            blocked = true;
        }
        crawler.start(&mut tasks).await?;
        let (before, under_way) = (world.moment(), tasks.len());
        let now = world.clock.now();
        // While all workers are busy, wait for the end of a visit rather than for the next job.
        let due = world.jobs.next_due().await?.filter(|_| under_way < WORKERS);
        let wait = due.map_or(TICK, |due| due.since(now)).min(Millis(next_tick.saturating_sub(before)));
        tokio::select! {
            biased;
            Some(done) = tasks.join_next() => done.unwrap_or_else(|error| panic!("a visit panicked: {error}")),
            () = world.clock.sleep(wait.max(Millis(1))) => {}
        }
        let passed = world.moment() - before;
        time.idle += if under_way == 0 { passed } else { 0 };
        time.visits += passed * under_way as u64;
    }
    Ok(())
}
