//! Batches of two stages under faults, one run per seed: stores fail, throttle and lose responses, jobs hang until the
//! deadline, processes die. Two concurrent invocations share stores and queues, and a judge checks every message.

#![allow(clippy::print_stdout, reason = "the figures are what a person runs it for")]

use super::super::*;
use crate::sqs_queue::Deaths;
use crate::tests::world::{ARTICLE, MemoryMessages, TestWorld, messages, new_pages};
use curlew_app::program::Program;
use curlew_aws::ReadError;
use curlew_crawl::politeness::access::Politeness;
use curlew_model::{HostKey, HostState, PageId, PageState};
use curlew_policy::chance::{between, unit};
use curlew_ports::stage::Verdict;
use curlew_ports::{Call, Fetch, FetchError, HostLedger, Inbox, Ports, Queue, Reply};
use curlew_simulator::sim::LastWriterWins;
use curlew_testkit::faults::{Faults, Faulty, Rates};
use curlew_testkit::memory::CountingSeeds;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use url::Url;

const SEEDS: u64 = 300;
/// Visibility timeout of a message (infra/template.yaml).
const VISIBILITY: Millis = Millis::from_mins(95);
/// Maximum number of messages in one invocation: so few that concurrent invocations work for the same host.
const MESSAGES: u64 = 5;
/// Maximum number of rounds with two invocations each; only the first ones have faults.
const ROUNDS: u64 = 1_000;
const BAD_ROUNDS: u64 = 14;
/// Fault rates of invocations, in thousandths of all calls.
const RATES: [Rates; 4] = [
    Rates { longest_delay: Millis(300), ..Rates::NONE },
    Rates { refuse: 40, throttle: 20, lose_answer: 40, delay: 200, longest_delay: Millis(300), ..Rates::NONE },
    Rates { refuse: 5, lose_answer: 5, crash: 15, longest_delay: Millis(300), ..Rates::NONE },
    Rates { throttle: 100, lose_answer: 80, crash: 2, longest_delay: Millis(300), ..Rates::NONE },
];

/// A deliberate fault in the batch or its surroundings that the judge must detect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mutant {
    /// The queue reports success without sending the jobs.
    SendsNothing,
    /// Failed messages are deleted.
    DeletesFailures,
    /// The batch assumes a deadline one minute too late.
    LateDeadline,
    /// The ledger writes every value, without comparing versions.
    NoCompareAndSwap,
    /// Messages that were sent again are also reported as failed.
    FailsWhatIsSent,
}

struct Run {
    world: TestWorld,
    mutant: Option<Mutant>,
    draws: AtomicU64,
    judge: Mutex<Judge>,
}

#[derive(Default)]
struct Judge {
    violations: Vec<String>,
    /// By host key: true while a call is in progress, and the time at which the last call ended.
    hosts: BTreeMap<HostKey, (bool, Option<Millis>)>,
    /// The invocation that owns each lease.
    leases: BTreeMap<(HostKey, u64), u64>,
    cut_off: u64,
    dead: u64,
}

impl Run {
    fn judge(&self) -> MutexGuard<'_, Judge> {
        self.judge.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn violated(&self, what: String) {
        self.judge().violations.push(what);
    }

    fn draw(&self) -> u64 {
        self.draws.fetch_add(1, Ordering::Relaxed)
    }

    fn now(&self) -> Millis {
        self.world.clock.monotonic()
    }
}

/// An invocation: its faults, its end, and the known outcomes of its messages.
struct Invocation {
    run: Arc<Run>,
    number: u64,
    faults: Arc<Faults>,
    deadline: Millis,
    bounds: Bounds,
    is_calm: bool,
    ended: Mutex<bool>,
    /// By message: the number of confirmed sends, and the number of causes for its failure.
    known: Mutex<BTreeMap<String, (usize, usize)>>,
}

impl Invocation {
    fn ports(&self) -> Ports {
        let (Ports { ledger, hosts, robots, marks, pages, sources, blobs, is_billed, .. }, faults) =
            (self.run.world.ports.clone(), &self.faults);
        let ledger: Arc<dyn HostLedger> = match self.run.mutant {
            Some(Mutant::NoCompareAndSwap) => Arc::new(LastWriterWins(ledger)),
            _ => ledger,
        };
        let jobs = Arc::new(Faulty::new(self.run.world.jobs.clone(), faults.clone()));
        Ports {
            ledger: Arc::new(Faulty::new(ledger, faults.clone())),
            hosts,
            robots: Arc::new(Faulty::new(robots, faults.clone())),
            marks,
            pages: Arc::new(Faulty::new(pages, faults.clone())),
            sources,
            queue: jobs.clone(),
            inbox: jobs,
            blobs: Arc::new(Faulty::new(blobs, faults.clone())),
            is_billed,
        }
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, (usize, usize)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_ended(&self) -> bool {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that work of duration `need` may begin.
    fn judge_begin(&self, what: &str, need: Millis) {
        if self.has_ended() {
            self.run.violated(format!("{what} began when its invocation had returned"));
        }
        if self.run.now() + need > self.deadline {
            self.run.violated(format!("{what} began too late to end before the deadline"));
        }
    }
}

/// Receives, runs and settles one batch like Lambda and its event source mapping.
async fn invoke(run: Arc<Run>, number: u64, stage: QueueName, is_calm: bool) {
    let (clock, jobs) = (run.world.clock.clone(), run.world.jobs.clone());
    let most = between(run.draw(), 1, MESSAGES) as usize;
    let deliveries = jobs.receive(stage, most, VISIBILITY, clock.now()).await.unwrap();
    if deliveries.is_empty() {
        return;
    }
    let rates = if is_calm { RATES[0] } else { RATES[between(run.draw(), 0, RATES.len() as u64 - 1) as usize] };
    let spare = Millis(between(run.draw(), 0, 200_000));
    let bounds = Bounds { slots: between(run.draw(), 1, 4) as usize, ..run.world.bounds.clone() };
    let deadline = run.now() + bounds.least_time(stage) + spare;
    let late = if run.mutant == Some(Mutant::LateDeadline) { Millis::from_mins(1) } else { Millis::ZERO };
    let faults = Faults::seeded(run.draw(), rates, clock.clone());
    let bounds = Bounds { deadline: deadline + late, ..bounds };
    let this = Arc::new(Invocation {
        run: run.clone(),
        number,
        faults: faults.clone(),
        deadline,
        bounds: bounds.clone(),
        is_calm,
        ended: Mutex::default(),
        known: Mutex::default(),
    });
    let messages = messages(deliveries);
    let ports = this.ports();
    let queue = MemoryMessages {
        jobs: jobs.clone(),
        queue: ports.queue.clone(),
        inbox: ports.inbox.clone(),
        deaths: Deaths(ports.blobs.clone()),
        hangs: false,
        sends_fail: false,
    };
    let queue = Arc::new(Witness { invocation: this.clone(), of: queue });
    let work = async {
        let batch = Batch::open(stage, messages.clone(), queue.clone(), clock.clone(), bounds).await;
        let plan = batch.plan();
        let web = Arc::new(InvocationWeb(this.clone()));
        let seeds = Arc::new(CountingSeeds::new(run.draw()));
        let rules = Arc::new(run.world.bounds.rules.clone());
        let politeness = Politeness { rules, ..Politeness::over(&ports, web, clock.clone(), seeds) };
        let program = Program::over(Arc::new(politeness), ports.clone(), Arc::default());
        let fetch = program.crawler.fetch.clone().with_time_slice(plan.turn).remember_sent_in_host_state(4);
        let program = Witness { invocation: this.clone(), of: program.with_crawler(|crawler| crawler.fetching(fetch)) };
        batch.run(plan, Arc::new(program)).await
    };
    let summary = tokio::select! {
        biased;
        () = faults.until_crash() => None,
        () = clock.sleep(deadline.saturating_sub(run.now())) => {
            if late == Millis::ZERO {
                run.violated("an invocation went on until its deadline".into());
            }
            None
        }
        summary = work => Some(summary),
    };
    *this.ended.lock().unwrap() = true;
    let Some(mut summary) = summary.filter(|_| !faults.has_crashed()) else { return };
    if run.mutant == Some(Mutant::FailsWhatIsSent) {
        let known = this.known();
        let is_sent = |message: &&Message| known.get(&as_first(&message.body)).is_some_and(|(sent, _)| *sent > 0);
        summary.failures.extend(messages.iter().filter(is_sent).map(|message| message.id.clone()));
        summary.deferred = 0;
    }
    judge_summary(&this, &messages, &summary);
    for message in &messages {
        if run.mutant == Some(Mutant::DeletesFailures) || !summary.failures.contains(&message.id) {
            jobs.ack(&curlew_ports::Receipt(message.handle.clone())).await.unwrap();
        }
    }
}

/// Checks that no message is both sent again and failed, and that none fails without a cause.
fn judge_summary(this: &Invocation, messages: &[Message], summary: &Summary) {
    let ended = summary.done + summary.deferred + summary.given_up + summary.failures.len();
    if (summary.messages, ended) != (messages.len(), messages.len()) {
        this.run.violated(format!("of {} messages {ended} ended: {summary:?}", messages.len()));
    }
    let known = this.known();
    let mut by_body: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for message in messages {
        let counted = by_body.entry(as_first(&message.body)).or_default();
        counted.0 += 1;
        counted.1 += usize::from(summary.failures.contains(&message.id));
    }
    for (body, (handed, failed)) in by_body {
        let (sent, causes) = known.get(&body).copied().unwrap_or_default();
        if sent + failed > handed {
            this.run.violated(format!("sent again {sent} times and failed {failed} times of {handed}: {body}"));
        }
        if failed > 0 && causes == 0 {
            this.run.violated(format!("failed and was not put back: {body}"));
        }
    }
}

/// Returns the original form of a message, without the changes by its deliveries: the queue may have the same work
/// twice, as first sent and from a delivery that was cancelled.
fn as_first(body: &str) -> String {
    Job::new(Job::from_message(body).unwrap().work).to_message().unwrap()
}

/// Checks the calls that it passes to `of`.
struct Witness<T> {
    invocation: Arc<Invocation>,
    of: T,
}

impl Witness<MemoryMessages> {
    fn note(&self, body: &str, sent: usize, cause: usize) {
        let mut known = self.invocation.known();
        let entry = known.entry(as_first(body)).or_default();
        *entry = (entry.0 + sent, entry.1 + cause);
    }
}

#[async_trait]
impl MessageQueue for Witness<MemoryMessages> {
    async fn read(&self, message: &Message) -> Result<Job, ReadError> {
        // The message may be a claim check for an object, and reading an object may fail.
        self.invocation.ports().blobs.get("claims/none").await.map_err(ReadError::Port)?;
        self.of.read(message).await
    }

    async fn send(&self, jobs: &[(Job, Timestamp)]) -> Result<(), PortError> {
        let lies = self.invocation.run.mutant == Some(Mutant::SendsNothing);
        let sent = if lies { Ok(()) } else { self.of.send(jobs).await };
        for (job, _) in jobs {
            self.note(&job.to_message().unwrap(), usize::from(sent.is_ok()), usize::from(sent.is_err()));
        }
        sent
    }

    async fn put_back(&self, message: &Message, due: Timestamp) -> Result<(), PortError> {
        self.note(&message.body, 0, 1);
        self.of.put_back(message, due).await
    }

    async fn hide(&self, message: &Message, until: Timestamp) -> Result<(), PortError> {
        if until
            < self.invocation.run.world.clock.now() + self.invocation.deadline.saturating_sub(self.invocation.run.now())
        {
            self.invocation.run.violated("a message comes back while its invocation may go on".into());
        }
        self.of.hide(message, until).await
    }

    async fn deaths(&self, message: &Message) -> Result<u32, PortError> {
        self.of.deaths(message).await
    }

    async fn note_deaths(&self, message: &Message, deaths: u32) -> Result<(), PortError> {
        self.of.note_deaths(message, deaths).await
    }

    async fn delete(&self, message: &Message) -> Result<(), PortError> {
        self.of.delete(message).await
    }

    async fn give_up(&self, message: &Message, why: &str, now: Timestamp) -> Result<(), PortError> {
        let given_up = self.of.give_up(message, why, now).await;
        self.note(&message.body, 0, usize::from(given_up.is_err()));
        given_up
    }
}

#[async_trait]
impl Stages for Witness<Program> {
    async fn run(&self, job: &Job) -> Result<Verdict, StageError> {
        let bounds = &self.invocation.bounds;
        self.invocation.judge_begin("a job", bounds.need(job.work.queue(), 1));
        let verdict = self.of.run(job).await;
        self.hang().await;
        verdict
    }

    async fn run_batch(&self, jobs: &[curlew_crawl::worker::PageJob]) -> Vec<Result<Verdict, StageError>> {
        let need = self.invocation.bounds.need(QueueName::Extract, jobs.len() as u64);
        self.invocation.judge_begin("a chunk", need);
        let verdicts = self.of.run_batch(jobs).await;
        self.hang().await;
        verdicts
    }
}

impl Witness<Program> {
    /// Sometimes makes a job hang until the deadline, like an endless loop in a library.
    async fn hang(&self) {
        let Invocation { run, is_calm, .. } = self.invocation.as_ref();
        if !is_calm && unit(run.draw()) < 0.05 {
            run.judge().cut_off += 1;
            std::future::pending::<()>().await;
        }
    }
}

/// The web of one invocation: responds late, refuses some calls, and checks each call against the ledger.
struct InvocationWeb(Arc<Invocation>);

#[async_trait]
impl Fetch for InvocationWeb {
    async fn call(&self, call: &Call) -> Result<Reply, FetchError> {
        let run = &self.0.run;
        let url = Url::parse(&call.url).unwrap();
        let host = address::host_key(&url, &run.world.bounds.groups).unwrap();
        let took = Millis(between(run.draw(), 20, 3_000));
        self.0.judge_begin(&format!("the call of {url}"), LAST_THINGS);
        let (state, _) = run.world.ports.ledger.load(&host).await.unwrap();
        self.judge_lease(&host, &state);
        let _under_way = UnderWay::begin(run, &host);
        run.world.clock.sleep(took.min(call.time)).await;
        match (url.path(), between(run.draw(), 0, 39)) {
            ("/robots.txt", _) => Ok(Reply { status: 404, ..Reply::default() }),
            (_, 0) if !self.0.is_calm => Ok(Reply { status: 503, ..Reply::default() }),
            (_, 1) if !self.0.is_calm => Err(FetchError::Network("the connection was reset".into())),
            _ => {
                let mut reply = Reply { status: 200, body: ARTICLE.into(), ..Reply::default() };
                reply.headers.content_type = Some("text/html".into());
                Ok(reply)
            }
        }
    }

    fn vet(&self, _: &str) -> Result<(), String> {
        Ok(())
    }
}

impl InvocationWeb {
    fn judge_lease(&self, host: &HostKey, state: &HostState) {
        let (run, now) = (&self.0.run, self.0.run.world.clock.now());
        let Some(lease) = state.lease.as_ref().filter(|lease| lease.until >= now) else {
            return run.violated(format!("{host} was called without a lease"));
        };
        let owner = *run.judge().leases.entry((host.clone(), lease.token)).or_insert(self.0.number);
        if owner != self.0.number {
            run.violated(format!("{host} was called by an invocation that has no lease of it"));
        }
    }
}

/// A call in progress; it ends on drop.
struct UnderWay<'a> {
    run: &'a Run,
    host: HostKey,
}

impl UnderWay<'_> {
    fn begin<'a>(run: &'a Run, host: &HostKey) -> UnderWay<'a> {
        let (is_busy, last) = run.judge().hosts.insert(host.clone(), (true, None)).unwrap_or_default();
        let pause = last.map(|last| run.now().saturating_sub(last));
        if is_busy {
            run.violated(format!("two calls at once to {host}"));
        }
        if let Some(pause) = pause.filter(|pause| *pause < run.world.bounds.rules.min_pause) {
            run.violated(format!("{host} was called {} ms after the last call", pause.0));
        }
        UnderWay { run, host: host.clone() }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let now = self.run.now();
        self.run.judge().hosts.insert(self.host.clone(), (false, Some(now)));
    }
}

/// Checks that every page is decided, or its job is still in a queue or dead-lettered.
async fn judge_pages(run: &Run, pages: &[PageId]) {
    let mut messages: Vec<String> = run.world.jobs.left().into_iter().map(|(_, message)| message).collect();
    messages.extend(run.world.jobs.dead(1_000).await.unwrap().into_iter().map(|dead| dead.message));
    for page in pages {
        let row = run.world.ports.pages.get(page).await.unwrap();
        let is_decided = row.is_some_and(|(row, _)| row.state != PageState::Pending);
        if !is_decided && !messages.iter().any(|message| message.contains(page.as_str())) {
            run.violated(format!("the page {} is lost", page.as_str()));
        }
    }
}

async fn simulate(seed: u64, mutant: Option<Mutant>) -> Judge {
    let world = TestWorld::seeded(QueueName::Fetch, seed);
    let draws = AtomicU64::new(seed << 20);
    let run = Arc::new(Run { world, mutant, draws, judge: Mutex::default() });
    let mut pages = Vec::new();
    for n in 0..between(run.draw(), 3, 8) {
        let host = format!("host{}.example", n % 3);
        let urls = (0..between(run.draw(), 1, 3)).map(|page| format!("https://{host}/{n}/{page}"));
        let (job, ids) = new_pages(&host, &urls.collect::<Vec<_>>());
        run.world.jobs.send(&[(job, run.world.clock.now())]).await.unwrap();
        pages.extend(ids);
    }
    for round in 0..ROUNDS {
        let is_calm = round >= BAD_ROUNDS;
        let (left, right) = if between(run.draw(), 0, 2) == 0 {
            (QueueName::Extract, QueueName::Fetch)
        } else if round % 2 == 0 {
            (QueueName::Fetch, QueueName::Fetch)
        } else {
            (QueueName::Extract, QueueName::Extract)
        };
        let second = async {
            run.world.clock.sleep(Millis(between(run.draw(), 0, 1) * between(run.draw(), 0, 10_000))).await;
            invoke(run.clone(), 2 * round + 1, right, is_calm).await;
        };
        tokio::join!(invoke(run.clone(), 2 * round, left, is_calm), second);
        judge_pages(&run, &pages).await;
        if run.world.jobs.left().is_empty() || !run.judge().violations.is_empty() {
            break;
        }
        let now = run.world.clock.now();
        let wait = run.world.jobs.next_due().await.unwrap().map_or(VISIBILITY, |due| due.since(now));
        run.world.clock.sleep(if is_calm { wait } else { wait.min(VISIBILITY) }).await;
    }
    let dead = run.world.jobs.dead(1_000).await.unwrap().len() as u64;
    let mut judge = std::mem::take(&mut *run.judge());
    if judge.violations.is_empty() && !run.world.jobs.left().is_empty() {
        judge.violations.push(format!("jobs are left over: {:?}", run.world.jobs.left()));
    }
    judge.dead = dead;
    judge
}

#[tokio::test(start_paused = true)]
async fn seeds_of_batches_under_faults_hold() {
    let (mut cut_off, mut dead) = (0, 0);
    for seed in 0..SEEDS {
        let judge = Box::pin(simulate(seed, None)).await;
        assert!(judge.violations.is_empty(), "seed {seed}: {:#?}", judge.violations);
        (cut_off, dead) = (cut_off + judge.cut_off, dead + judge.dead);
    }
    println!("{SEEDS} seeds: {cut_off} jobs were cut off, {dead} given up");
    assert!(cut_off > SEEDS, "deadlines were reached in the middle");
}

#[tokio::test(start_paused = true)]
async fn seeds_of_batches_notice_each_mutant() {
    for mutant in [
        Mutant::SendsNothing,
        Mutant::DeletesFailures,
        Mutant::LateDeadline,
        Mutant::NoCompareAndSwap,
        Mutant::FailsWhatIsSent,
    ] {
        let mut seed = 0;
        while Box::pin(simulate(seed, Some(mutant))).await.violations.is_empty() {
            seed += 1;
            assert!(seed < SEEDS, "nobody noticed {mutant:?}");
        }
        println!("{mutant:?} is noticed at seed {seed}");
    }
}
