//! One machine: takes jobs, runs the real stages over failing ports, applies verdicts, crashes and comes back.
//!
//! The loop is that of the local runner: receive, run, then acknowledge, send and acknowledge, put back or bury.

use super::answer::A_MOMENT;
use super::dice::Dice;
use super::mutant::{ForgetsLeases, LastWriterWins};
use super::stores::Shared;
use super::web::MachineWeb;
use super::world::{HOUR, MINUTE, Moment};
use super::{MACHINE_RATES, Mutation};
use crate::faults::{Faults, Faulty, Rates};
use crate::memory::CountingSeeds;
use curlew_model::{ExtractJob, Job, Millis, Stage as Of};
use curlew_policy::delivery::{AfterFailure, after_failure};
use curlew_ports::{Blobs, Clock, Delivery, HostLedger, Inbox, InlinePool, Pages, PortError, Queue, Receipt, Sources};
use curlew_stages::catalog::index::Index;
use curlew_stages::feeds::discover::Discover;
use curlew_stages::feeds::dispatch::Dispatch;
use curlew_stages::feeds::poll::Poll;
use curlew_stages::operator::block::Blocks;
use curlew_stages::operator::suggest::Suggest;
use curlew_stages::pages::extract::Extract;
use curlew_stages::pages::fetch::Fetch;
use curlew_stages::pages::sample::Sample;
use curlew_stages::politeness::access::Manners;
use curlew_stages::stage::{Stage, StageError, Verdict};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::task::JoinSet;

/// A job that is not done within this time is handed out again.
const VISIBILITY: Millis = Millis::from_mins(15);
/// Pages that are extracted in one batch and share a segment.
const BATCH: usize = 4;
/// How long a machine waits when it could not look at its queues.
const LOOK_AGAIN: Millis = Millis::from_secs(1);
/// So much of each hour is bad.
const BAD_TIME: Moment = 20 * MINUTE;
/// Time between two ticks of dispatch.
const TICK: Millis = Millis::from_mins(20);

/// One incarnation of a machine: the stages over its own failing ports.
pub(super) struct Machine {
    shared: Arc<Shared>,
    number: usize,
    inbox: Arc<dyn Inbox>,
    queue: Arc<dyn Queue>,
    discover: Discover,
    poll: Poll,
    fetch: Fetch,
    extract: Extract,
    dispatch: Dispatch,
    pub(super) index: Index,
    pub(super) sample: Sample,
    pub(super) blocks: Blocks,
    pub(super) suggest: Suggest,
    /// Jobs under way.
    busy: AtomicUsize,
}

impl Machine {
    /// The next incarnation of machine `number`.
    pub(super) fn new(shared: &Arc<Shared>, number: usize, faults: &Arc<Faults>, incarnation: u64) -> Machine {
        let clock: Arc<dyn Clock> = shared.clock.clone();
        let pages: Arc<dyn Pages> = Arc::new(Faulty::new(shared.pages.clone(), faults.clone()));
        let sources: Arc<dyn Sources> = Arc::new(Faulty::new(shared.sources.clone(), faults.clone()));
        let blobs: Arc<dyn Blobs> = Arc::new(Faulty::new(shared.blobs.clone(), faults.clone()));
        let jobs = Arc::new(Faulty::new(shared.jobs.clone(), faults.clone()));
        let queue: Arc<dyn Queue> = jobs.clone();
        let ledger = ledger(shared, faults);
        let events = Arc::new(());
        let cuts = if shared.is_calm() || !shared.plan.faults { 0 } else { 30 };
        let web = Arc::new(MachineWeb { shared: shared.clone(), faults: faults.clone(), machine: number, cuts });
        let seed = Dice::new(shared.plan.seed ^ incarnation, "seeds").between(number as u64, u64::MAX - 1);
        let manners = Arc::new(Manners {
            ledger: ledger.clone(),
            robots: Arc::new(Faulty::new(shared.robots.clone(), faults.clone())),
            fetch: web.clone(),
            clock: clock.clone(),
            seeds: Arc::new(CountingSeeds::new(seed)),
            events: events.clone(),
            rules: shared.rules.clone(),
            groups: shared.groups.clone(),
            blobs: blobs.clone(),
            weather: Arc::default(),
            token: "CurlewBot".into(),
            scope: Arc::default(),
            known: Arc::default(),
            pool: Arc::new(InlinePool),
        });
        Machine {
            shared: shared.clone(),
            number,
            discover: Discover::new(manners.clone(), sources.clone(), pages.clone(), queue.clone(), blobs.clone()),
            poll: Poll::new(manners.clone(), sources.clone(), pages.clone(), queue.clone(), blobs.clone()),
            fetch: Fetch::new(manners.clone(), pages.clone(), queue.clone(), blobs.clone())
                .with_few_rows(few_rows(shared)),
            extract: Extract {
                pages: pages.clone(),
                sources: sources.clone(),
                blobs: blobs.clone(),
                queue: queue.clone(),
                clock: clock.clone(),
                events,
                groups: shared.groups.clone(),
                token: manners.token.clone(),
                judge: Arc::default(),
                scope: manners.scope.clone(),
                pool: manners.pool.clone(),
            },
            dispatch: Dispatch {
                marks: Arc::new(Faulty::new(shared.marks.clone(), faults.clone())),
                sources: sources.clone(),
                queue: queue.clone(),
                clock: clock.clone(),
                rules: shared.rules.clone(),
            },
            index: Index {
                blobs: blobs.clone(),
                pages: pages.clone(),
                clock: clock.clone(),
                pool: manners.pool.clone(),
            },
            sample: Sample { manners: manners.clone(), pages: pages.clone(), queue: queue.clone() },
            suggest: Suggest {
                sources,
                blobs: blobs.clone(),
                fetch: web,
                queue: queue.clone(),
                clock: clock.clone(),
                scope: manners.scope.clone(),
                groups: manners.groups.clone(),
            },
            blocks: Blocks {
                ledger,
                hosts: shared.hosts.clone(),
                pages,
                queue: queue.clone(),
                clock,
                blobs,
                groups: shared.groups.clone(),
            },
            inbox: jobs,
            queue,
            busy: AtomicUsize::new(0),
        }
    }

    fn log(&self, line: &str) {
        self.shared.note(format!("machine {} {line}", self.number));
    }
}

/// The ledger as a machine sees it, whole or mutilated.
fn ledger(shared: &Arc<Shared>, faults: &Arc<Faults>) -> Arc<dyn HostLedger> {
    let plain: Arc<dyn HostLedger> = shared.ledger.clone();
    let mutant: Arc<dyn HostLedger> = match shared.plan.mutation {
        Some(Mutation::NoCompareAndSwap) => Arc::new(LastWriterWins(plain)),
        Some(Mutation::NoPauseAfterLease) => Arc::new(ForgetsLeases { ledger: plain, clock: shared.clock.clone() }),
        _ => plain,
    };
    Arc::new(Faulty::new(mutant, faults.clone()))
}

/// The rates of faults of one machine; some are luckier than others.
pub(super) fn rates(shared: &Shared, number: usize) -> Rates {
    let mut dice = Dice::new(shared.plan.seed, "rates");
    let duplicate = if shared.plan.duplicates { *dice.pick(&[0, 3, 10]) } else { 0 };
    if shared.is_calm() || !shared.plan.faults {
        return Rates { duplicate, ..Rates::default() };
    }
    let mut dice = Dice::new(shared.plan.seed ^ number as u64, "machine");
    let longest_delay = Millis(*dice.pick(&[50, 2_000, 20_000]));
    Rates { duplicate, longest_delay, ..*dice.pick(&MACHINE_RATES) }
}

/// Lives through all incarnations of a machine. Bad times and good ones take turns, as each failure leaves work behind
/// that is done again: were all times bad, there would be more and more of it.
pub(super) async fn live(shared: Arc<Shared>, number: usize, workers: usize) {
    let mut dice = Dice::new(shared.plan.seed ^ number as u64, "restarts");
    for incarnation in 0.. {
        let into_hour = shared.moment() % HOUR;
        let is_bad = into_hour < BAD_TIME;
        let left = if is_bad { BAD_TIME - into_hour } else { HOUR - into_hour };
        let left = if shared.is_calm() { 365 * 24 * HOUR } else { left };
        let rates = if is_bad { rates(&shared, number) } else { Rates::default() };
        let faults = Faults::seeded(dice.next(), rates, shared.clock.clone());
        let machine = Arc::new(Machine::new(&shared, number, &faults, incarnation));
        {
            let work = work(machine, workers);
            tokio::pin!(work);
            tokio::select! {
                biased;
                () = faults.until_crash() => {}
                () = shared.clock.sleep(Millis(left)) => faults.crash(),
                () = &mut work => {}
            }
        }
        shared.note(format!("machine {number} has crashed"));
        shared.clock.sleep(Millis(dice.between(A_MOMENT, 5 * MINUTE))).await;
    }
}

/// Takes jobs and runs them, until the machine ends.
async fn work(machine: Arc<Machine>, workers: usize) {
    let mut tasks: JoinSet<()> = JoinSet::new();
    if machine.number == 0 || machine.shared.plan.seed.is_multiple_of(3) {
        let ticker = machine.clone();
        tasks.spawn(async move { tick(&ticker).await });
    }
    loop {
        let started = start_what_is_due(&machine, workers, &mut tasks).await;
        while let Some(done) = tasks.try_join_next() {
            report(&machine, done);
        }
        let wait = match started {
            Ok(0) => until_next(&machine).await,
            Ok(_) => continue,
            Err(_) => LOOK_AGAIN,
        };
        tokio::select! {
            biased;
            Some(done) = tasks.join_next() => report(&machine, done),
            () = machine.shared.jobs.rung() => {}
            () = machine.shared.clock.sleep(wait) => {}
        }
    }
}

fn report(machine: &Machine, done: Result<(), tokio::task::JoinError>) {
    if let Err(error) = done
        && error.is_panic()
    {
        machine.shared.trace().panics.push(error.to_string());
    }
}

/// How long to wait for what is due next. What is handed out comes back by itself, so it is looked for now and then.
async fn until_next(machine: &Machine) -> Millis {
    let now = machine.shared.clock.now();
    let due = machine.shared.jobs.next_due().await.ok().flatten();
    // What is due already waits for a worker, whose end wakes the machine.
    let wait = due.filter(|due| *due > now).map_or(VISIBILITY, |due| due.since(now));
    wait.clamp(Millis(1), VISIBILITY)
}

async fn tick(machine: &Machine) {
    while !machine.shared.no_more_ticks.load(Ordering::Relaxed) {
        match machine.dispatch.tick().await {
            Ok(sent) if sent.polls + sent.discoveries > 0 => {
                machine.log(&format!("dispatched {} polls, {} discoveries", sent.polls, sent.discoveries));
            }
            Ok(_) => {}
            Err(error) => machine.log(&format!("could not dispatch: {error}")),
        }
        machine.shared.clock.sleep(TICK).await;
    }
}

/// Counts a job while it is under way.
struct Slot(Arc<Machine>);

impl Slot {
    fn take(machine: &Arc<Machine>) -> Slot {
        machine.busy.fetch_add(1, Ordering::Relaxed);
        Slot(machine.clone())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn start_what_is_due(
    machine: &Arc<Machine>,
    workers: usize,
    tasks: &mut JoinSet<()>,
) -> Result<usize, PortError> {
    let mut started = 0;
    for stage in [Of::Extract, Of::Fetch, Of::Poll, Of::Discover] {
        let free = workers.saturating_sub(machine.busy.load(Ordering::Relaxed));
        let room = if stage == Of::Extract { free.min(1) * BATCH } else { free };
        if room == 0 {
            continue;
        }
        let now = machine.shared.clock.now();
        let deliveries = machine.inbox.receive(stage, room, VISIBILITY, now).await?;
        started += deliveries.len();
        if stage == Of::Extract && !deliveries.is_empty() {
            let slot = Slot::take(machine);
            tasks.spawn(async move { noted(&slot.0, extract(&slot.0, deliveries).await) });
        } else {
            for delivery in deliveries {
                let slot = Slot::take(machine);
                tasks.spawn(async move { noted(&slot.0, one(&slot.0, delivery).await) });
            }
        }
    }
    Ok(started)
}

fn noted(machine: &Machine, done: Result<(), PortError>) {
    if let Err(error) = done {
        machine.log(&format!("could not write a verdict: {error}"));
    }
}

async fn one(machine: &Machine, delivery: Delivery) -> Result<(), PortError> {
    let Delivery { receipt, job, receives } = delivery;
    let job = match job {
        Ok(job) => job,
        Err(why) => return machine.inbox.bury(&receipt, &why, machine.shared.clock.now()).await,
    };
    if machine.shared.plan.mutation == Some(Mutation::AckFirst) {
        machine.inbox.ack(&receipt).await?;
    }
    let outcome = match &job {
        Job::Discover(job) => machine.discover.run(job).await,
        Job::Poll(job) => machine.poll.run(job).await,
        // Nobody listens for hubs in the simulator, so none is ever asked.
        Job::Subscribe(_) => Ok(Verdict::Drop("there are no hubs here".into())),
        Job::Own(_) => Ok(Verdict::Drop("there are no owners here".into())),
        Job::Fetch(job) => machine.fetch.run(job).await,
        Job::Extract(job) => machine.extract.run(job).await,
    };
    machine.log(&format!("{} -> {}", named(&job), told(&outcome)));
    apply(machine, &receipt, receives, Some(job), outcome).await
}

async fn extract(machine: &Machine, deliveries: Vec<Delivery>) -> Result<(), PortError> {
    if deliveries.iter().any(|delivery| delivery.receives > 1) {
        // Something in this batch failed before: each on its own, so that it fails alone.
        for delivery in deliveries {
            one(machine, delivery).await?;
        }
        return Ok(());
    }
    let mut jobs: Vec<ExtractJob> = Vec::with_capacity(deliveries.len());
    let mut receipts = Vec::with_capacity(deliveries.len());
    for delivery in deliveries {
        if let Ok(Job::Extract(job)) = delivery.job {
            jobs.push(*job);
            receipts.push((delivery.receipt, delivery.receives));
        }
    }
    let outcomes = machine.extract.run_batch(&jobs).await;
    for (((receipt, receives), outcome), job) in receipts.iter().zip(outcomes).zip(&jobs) {
        machine.log(&format!("extract {} -> {}", job.url, told(&outcome)));
        apply(machine, receipt, *receives, None, outcome).await?;
    }
    Ok(())
}

async fn apply(
    machine: &Machine,
    receipt: &Receipt,
    receives: u32,
    job: Option<Job>,
    outcome: Result<Verdict, StageError>,
) -> Result<(), PortError> {
    let now = machine.shared.clock.now();
    match outcome {
        Ok(Verdict::Done | Verdict::Drop(_)) => machine.inbox.ack(receipt).await,
        Ok(Verdict::Defer(until)) => match job {
            Some(job) => {
                machine.queue.send(&[(job, until)]).await?;
                machine.inbox.ack(receipt).await
            }
            None => machine.inbox.put_back(receipt, until).await,
        },
        Err(error) => match after_failure(receives, error.is_transient(), error.retry_after(), now) {
            AfterFailure::Retry(at) => machine.inbox.put_back(receipt, at).await,
            AfterFailure::DeadLetter => machine.inbox.bury(receipt, &error.to_string(), now).await,
        },
    }
}

/// Every other seed crawls as functions do, which remember pages that were sent on in the state of their host key: so few
/// that some are forgotten.
fn few_rows(shared: &Shared) -> usize {
    if shared.plan.seed.is_multiple_of(2) { 0 } else { 4 }
}

fn named(job: &Job) -> String {
    match job {
        Job::Discover(job) => format!("discover {}", job.url),
        Job::Own(job) => format!("own {}", job.host),
        Job::Poll(job) => format!("poll {}", job.url),
        Job::Subscribe(job) => format!("subscribe {}", job.url),
        Job::Extract(job) => format!("extract {}", job.url),
        Job::Fetch(job) => {
            let urls: Vec<&str> = job.items.iter().map(|item| item.url.as_str()).collect();
            format!("fetch {} ({} put off) [{}]", job.host, job.deferrals, urls.join(" "))
        }
    }
}

fn told(outcome: &Result<Verdict, StageError>) -> String {
    match outcome {
        Ok(Verdict::Done) => "done".to_owned(),
        Ok(Verdict::Defer(until)) => format!("deferred to {until}"),
        Ok(Verdict::Drop(why)) => format!("dropped: {why}"),
        Err(error) => format!("failed: {error}"),
    }
}
