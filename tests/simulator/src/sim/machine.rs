//! A machine: it takes jobs, runs the real stages over failing ports, crashes and comes back. The worker that runs jobs
//! and settles them with the queue is the real one, too.

use super::answer::A_MOMENT;
use super::dice::Dice;
use super::mutant::{DropsRemovals, LastWriterWins, MutantBlobs, MutantLedger};
use super::owner::Zone;
use super::stores::Shared;
use super::web::MachineWeb;
use super::witness::Witness;
use super::{MACHINE_RATES, Mutation};
use crate::bad_time::{HOUR, MINUTE, Moment};
use crate::faults::{Faults, Faulty, Rates};
use crate::memory::CountingSeeds;
use curlew_app::program::Program;
use curlew_crawl::politeness::access::Politeness;
use curlew_crawl::worker::{Mailbox, Worker};
use curlew_model::{Millis, QueueName as Of};
use curlew_people::erasure::StepLimits;
use curlew_policy::rules::Rules;
use curlew_ports::Ports;
use curlew_ports::{Blobs, Clock, Delivery, HostLedger, Inbox, PortError};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::task::JoinSet;

/// Our own origin, at which hubs reach the web routes.
pub(super) const BASE: &str = "https://search.example";
/// Number of the machine on which people act.
pub(super) const PEOPLE: usize = 99;

/// The queue hands out a job again if it is not done within this time.
const VISIBILITY: Millis = Millis::from_mins(15);
const BATCH: usize = 4;
/// Time for which a machine waits when it could not read its queues.
const LOOK_AGAIN: Millis = Millis::from_secs(1);
/// Part of each hour in which faults occur.
const BAD_TIME: Moment = 20 * MINUTE;
const TICK: Millis = Millis::from_mins(20);

/// One life of a machine, from a start to a crash: the stages over its own failing ports.
pub(super) struct Machine {
    shared: Arc<Shared>,
    number: usize,
    pub(super) program: Program,
    busy: AtomicUsize,
}

impl Machine {
    pub(super) fn new(shared: &Arc<Shared>, number: usize, faults: &Arc<Faults>, incarnation: u64) -> Machine {
        let queue = Arc::new(Faulty::new(shared.queue.clone(), faults.clone()));
        let ports = Ports {
            ledger: ledger(shared, faults),
            hosts: shared.hosts.clone(),
            robots: Arc::new(Faulty::new(shared.robots.clone(), faults.clone())),
            marks: Arc::new(Faulty::new(shared.marks.clone(), faults.clone())),
            pages: Arc::new(Faulty::new(shared.pages.clone(), faults.clone())),
            sources: Arc::new(Faulty::new(shared.sources.clone(), faults.clone())),
            queue: match shared.plan.mutation {
                Some(Mutation::RemovalsUnsent) => Arc::new(DropsRemovals(queue)),
                _ => queue,
            },
            inbox: Arc::new(Faulty::new(shared.jobs.clone(), faults.clone())),
            blobs: Arc::new(Faulty::new(blobs(shared), faults.clone())),
            is_billed: shared.plan.is_billed,
        };
        let cuts = if shared.is_calm() || !shared.plan.faults { 0 } else { 30 };
        let web = Arc::new(MachineWeb { shared: shared.clone(), faults: faults.clone(), machine: number, cuts });
        let seed = Dice::new(shared.plan.seed ^ incarnation, "seeds").between(number as u64, u64::MAX - 1);
        let rules = Rules::clone(&shared.rules);
        let rules = match shared.plan.mutation {
            Some(Mutation::PollFloorIgnored) => Rules { poll_floor: Millis(1), ..rules },
            Some(Mutation::HistoryBudgetIgnored) => Rules { backfill_per_day: u32::MAX, ..rules },
            _ => rules,
        };
        let politeness = Politeness {
            rules: Arc::new(rules),
            groups: shared.groups.clone(),
            ..Politeness::over(&ports, web, shared.clock.clone(), Arc::new(CountingSeeds::new(seed)))
        };
        let mut program = Program::over(Arc::new(politeness), ports, Arc::default());
        if shared.plan.hubs {
            program = program.with_crawler(|crawler| crawler.reached_at(Some(BASE.to_owned())).listening());
        }
        if shared.plan.owners {
            program = program.with_desk(|desk| desk.looking_up(Arc::new(Zone(shared.clone()))));
            // Small limits make a request take several steps among the few pages of a simulation.
            program.desk.blocks.limits = StepLimits { rows: 7, sources: 3, pages: 2 };
            program.desk.own.owners.blocks.limits = program.desk.blocks.limits;
        }
        let fetch = program.crawler.fetch.clone().remember_sent_in_host_state(few_rows(shared));
        let program = program.with_crawler(|crawler| crawler.fetching(fetch));
        Machine { shared: shared.clone(), number, program, busy: AtomicUsize::new(0) }
    }

    fn log(&self, line: &str) {
        self.shared.note(format!("machine {} {line}", self.number));
    }
}

/// Returns the ledger as a machine sees it, with the plan's mutation if there is one.
fn ledger(shared: &Arc<Shared>, faults: &Arc<Faults>) -> Arc<dyn HostLedger> {
    let plain: Arc<dyn HostLedger> = shared.ledger.clone();
    let mutant: Arc<dyn HostLedger> = match shared.plan.mutation {
        Some(Mutation::NoCompareAndSwap) => Arc::new(LastWriterWins(plain)),
        Some(
            mutation @ (Mutation::StopIgnored
            | Mutation::RestForgotten
            | Mutation::HomeLookForgotten
            | Mutation::NoPauseAfterLease),
        ) => Arc::new(MutantLedger { plain, mutation, clock: shared.clock.clone() }),
        _ => plain,
    };
    Arc::new(Faulty::new(mutant, faults.clone()))
}

/// Returns the object store as a machine sees it, with the plan's mutation if there is one.
fn blobs(shared: &Shared) -> Arc<dyn Blobs> {
    let plain: Arc<dyn Blobs> = shared.blobs.clone();
    match shared.plan.mutation {
        Some(mutation) => Arc::new(MutantBlobs { plain, mutation, clock: shared.clock.clone() }),
        None => plain,
    }
}

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

/// Runs a machine through all its lives. Bad times and good ones alternate, because each failure leaves work to be
/// repeated: with bad times only, the work would keep growing.
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
            () = machine.shared.jobs.changed() => {}
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

/// Returns the time to wait for the next due job. A job that was handed out becomes visible again without notice, so
/// the wait has a maximum.
async fn until_next(machine: &Machine) -> Millis {
    let now = machine.shared.clock.now();
    let due = machine.shared.jobs.next_due().await.ok().flatten();
    // A job that is due already waits for a worker. The end of that worker's run wakes the machine.
    let wait = due.filter(|due| *due > now).map_or(VISIBILITY, |due| due.since(now));
    wait.clamp(Millis(1), VISIBILITY)
}

async fn tick(machine: &Machine) {
    while !machine.shared.no_more_ticks.load(Ordering::Relaxed) {
        match machine.program.crawler.dispatch.tick().await {
            Ok(sent) if sent.polls + sent.discoveries > 0 => {
                machine.log(&format!("dispatched {} polls, {} discoveries", sent.polls, sent.discoveries));
            }
            Ok(_) => {}
            Err(error) => machine.log(&format!("could not dispatch: {error}")),
        }
        machine.shared.clock.sleep(TICK).await;
    }
}

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
    for stage in [Of::Remove, Of::Extract, Of::Fetch, Of::Poll, Of::Discover] {
        let free = workers.saturating_sub(machine.busy.load(Ordering::Relaxed));
        let room = if stage == Of::Extract { free.min(1) * BATCH } else { free };
        if room == 0 {
            continue;
        }
        let now = machine.shared.clock.now();
        let deliveries = machine.program.ports.inbox.receive(stage, room, VISIBILITY, now).await?;
        started += deliveries.len();
        if machine.shared.plan.mutation == Some(Mutation::AckFirst) {
            for delivery in &deliveries {
                machine.program.ports.inbox.ack(&delivery.receipt).await?;
            }
        }
        let together = if stage == Of::Extract { BATCH } else { 1 };
        let mut deliveries = deliveries.into_iter().peekable();
        while deliveries.peek().is_some() {
            let some = deliveries.by_ref().take(together).collect();
            let slot = Slot::take(machine);
            tasks.spawn(async move { run(&slot.0, stage, some).await });
        }
    }
    Ok(started)
}

async fn run(machine: &Machine, stage: Of, deliveries: Vec<Delivery>) {
    let Ports { inbox, queue, .. } = &machine.program.ports;
    let clock = &machine.program.clock;
    let mailbox = Mailbox { inbox: inbox.clone(), queue: queue.clone(), clock: clock.clone() };
    let witness = Witness::new(&machine.shared, (machine.number, &machine.program), mailbox, &deliveries);
    let worker = Worker { stages: &witness, queue: &witness, clock: clock.as_ref() };
    if let Err(error) = worker.deliver(stage, deliveries).await {
        machine.log(&format!("could not write a verdict: {error}"));
    }
}

/// Returns the maximum number of sent pages that a host key's state remembers. It is zero for every other seed. The
/// other seeds crawl as the Lambda functions do, which remember sent pages there, but so few that some are forgotten.
fn few_rows(shared: &Shared) -> usize {
    if shared.plan.seed.is_multiple_of(2) { 0 } else { 4 }
}

/// Publishes the index of each year, or rebuilds its splits.
pub(super) async fn publish(machine: &Machine, refresh: bool) -> Result<(), String> {
    for year in machine.program.library.index.years().await.map_err(|e| e.to_string())? {
        let done = if refresh {
            machine.program.library.index.refresh(year).await
        } else {
            machine.program.library.index.publish(year).await
        };
        done.map_err(|e| e.to_string())?;
    }
    Ok(())
}
