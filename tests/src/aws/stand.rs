//! A stack under the meter: the template on an emulator, a proxy between the functions and the emulator, a uniform web that
//! they crawl. Ticks of the clock are made by hand, so that a phase holds what belongs to it and nothing else.

use super::api::{Api, REGION};
use super::emulator::Emulator;
use super::lambda::{Architecture, Run};
use super::meter::Metered;
use super::proxy::Proxy;
use super::sqs::Sent;
use super::stack::{FUNCTIONS, Stack};
use super::waker::Waker;
use crate::http::{HttpCall, exchange};
use crate::program::{Child, LIMIT};
use crate::web::Web;
use curlew_fixtureweb::{Farm, Uniform};
use curlew_model::{Slot, Stage};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The stack's name.
const NAME: &str = "cost";
/// How the hosts' names begin.
const PREFIX: &str = "cost";
/// The contact that the crawler names to the web of the test.
const CONTACT: &str = "https://crawler.example/contact";
/// So long after a quiet poll its lease has run out by anybody's clock, as it has eight hours later.
const LEASE_LONG_GONE: Duration = Duration::from_secs(125);
/// The shortest time between two polls of a feed here, so that polls that are eight hours apart can follow each other.
const POLL_FLOOR: Duration = Duration::from_secs(2);
/// The schedules of the template; their ticks are made by hand.
const SCHEDULES: [&str; 4] = ["dispatch", "index", "archive", "sample"];
/// Every site lies in one of so many slots of the 480: what a tick reads is rounded up, and shared by the rows of a slot,
/// which are many in a stack of 100,000 feeds. All feeds lie in one slot.
const SITE_SLOTS: u16 = 24;
/// The most hosts that are looked at for such ones: about one of 480 x 480 / [`SITE_SLOTS`] is.
const CANDIDATES: usize = 100_000_000;
/// A poll that is so many minutes behind its slot still counts as one of its minute, and so writes nothing if nothing is new.
const ON_TIME_MINUTES: u64 = 15;
/// Minutes of a cycle, each a slot.
const CYCLE: u64 = 480;
/// A phase may take so long.
const PHASE: Duration = Duration::from_secs(1800);
/// The most lines of a function's log that the emulator gives at once.
const MAX_LINES: usize = 10_000;
/// The minute, in which a tick looks at one slot.
const MINUTE: Duration = Duration::from_secs(60);
/// Answers to changes of the stack are there within this time.
const PATIENCE: Duration = Duration::from_secs(30);

/// How large a measurement is.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Sites, each a host key of its own with one feed.
    pub hosts: usize,
    /// New pages of each feed.
    pub pages: usize,
    /// Bytes of each page.
    pub bytes: usize,
    /// True if each page has a picture of its own on the same host.
    pub images: bool,
    /// The polls with nothing new take place so many minutes after the start. Until then the pages must be in.
    pub lead_minutes: u64,
    /// Whose price the functions' seconds have. They run on this machine's processor in any case.
    pub architecture: Architecture,
}

/// A stack, and all that it needs. The fields go away in this order.
#[derive(Debug)]
pub struct Stand {
    size: Size,
    waker: Waker,
    stack: Stack,
    emulator: Emulator,
    proxy: Proxy,
    web: Web,
    /// The minute since 1970 in which the feeds' slot comes.
    due: u64,
    /// How often each function was called by its schedule in this phase.
    scheduled: Mutex<BTreeMap<&'static str, usize>>,
    /// Lines of each function's log that are on a bill already.
    read: BTreeMap<&'static str, usize>,
}

impl Stand {
    /// Deploys a stack with nothing in it.
    ///
    /// # Panics
    /// If that fails.
    pub fn new(size: Size) -> Stand {
        let spec = Uniform {
            hosts: size.hosts,
            pages: size.pages,
            bytes: size.bytes,
            images: size.images,
            prefix: PREFIX.to_owned(),
        };
        let due = minute() + size.lead_minutes;
        let web = Web::of(Farm::keyed(&spec, &dense_hosts(size.hosts, due)));
        let emulator = Emulator::start();
        let proxy = Proxy::start(&emulator.url());
        let floor = format!("{}s", POLL_FLOOR.as_secs());
        let more = [("PollFloor", floor.as_str()), ("Watch", "false"), ("FunctionUrl", "false")];
        let stack = Stack::over(&emulator, NAME, &web, &proxy.url(), &more);
        let waker = Waker::instead_of_mappings(&stack);
        let mut stand =
            Stand { size, waker, stack, emulator, proxy, web, due, scheduled: Mutex::default(), read: BTreeMap::new() };
        SCHEDULES.iter().for_each(|schedule| stand.unschedule(schedule));
        FUNCTIONS.iter().for_each(|function| stand.name_caller(function));
        // The emulator fires a schedule when it is made. That tick has ended when another one has.
        stand.phase(Stand::sweep);
        stand
    }

    /// Its size.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The web that is crawled.
    pub fn web(&self) -> &Web {
        &self.web
    }

    /// The pages that the crawler may find.
    pub fn pages(&self) -> usize {
        self.size.hosts * self.size.pages
    }

    /// Does something until the stack rests, and gives all that was metered meanwhile.
    ///
    /// # Panics
    /// If a message is given up, or a function does not report each of its invocations.
    pub fn phase(&mut self, work: impl FnOnce(&Stand)) -> Metered {
        work(self);
        let mut called = std::mem::take(&mut *self.scheduled.lock().unwrap());
        for (function, times) in self.waker.until_rest(&self.stack, PHASE) {
            *called.entry(function).or_default() += times;
        }
        assert_eq!(self.stack.all_dead(), 0, "{}", self.stack.told());
        let delivered = self.read_logs(&called);
        let meter = self.proxy.meter();
        let sent = meter.look().sent;
        for stage in Stage::ALL {
            let queue = self.stack.called(stage.as_str());
            let (messages, sent) = (delivered.get(stage.as_str()).copied().unwrap_or(0), sent.get(&queue));
            // What was delivered again is as large as what was sent, on average.
            let average = sent.map_or(0, |sent| sent.bytes.div_ceil(sent.messages.max(1)));
            meter.mapping(&queue, Sent { messages, bytes: messages * average });
        }
        meter.take()
    }

    /// Puts what the functions logged since last time on the meter; `called` says how often each was. Gives the messages
    /// that each was handed.
    fn read_logs(&mut self, called: &BTreeMap<&'static str, usize>) -> BTreeMap<&'static str, u64> {
        let mut delivered = BTreeMap::new();
        for function in FUNCTIONS {
            let lines = self.stack.api().logs(&self.stack.called(function));
            assert!(lines.len() < MAX_LINES, "{function} logs more than the emulator gives at once");
            let seen = self.read.insert(function, lines.len()).unwrap_or(0);
            // Lines that are no JSON are the emulator's own: of start, end and report, which the template turns off.
            let new: Vec<&String> = lines[seen..].iter().filter(|line| line.starts_with('{')).collect();
            let runs: Vec<Run> = new.iter().filter_map(|line| Run::read(line)).collect();
            let called = called.get(function).copied().unwrap_or(0);
            assert!(runs.len() >= called, "{function} was called {called} times and reports {}: {new:?}", runs.len());
            let meter = self.proxy.meter();
            meter.logged(function, new.len() as u64, new.iter().map(|line| line.len() as u64).sum());
            runs.iter().for_each(|run| meter.lambda(run, self.size.architecture));
            delivered.insert(function, runs.iter().map(|run| run.messages).sum());
        }
        delivered
    }

    /// Names all sites to the stack, as an operator does.
    ///
    /// # Panics
    /// If that fails.
    pub fn name_sites(&self) {
        let list = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(list.path(), self.web.starts().join("\n")).unwrap();
        let sites = format!("--sites={}", list.path().display());
        let mut command = self.stack.curlew(&["crawl", "--contact", CONTACT, &sites]);
        command.env("AWS_ENDPOINT_URL", self.proxy.url()).env("AWS_SDK_UA_APP_ID", "operator");
        Child::spawn(command).wait(LIMIT).ok();
    }

    /// Calls a function as its schedule does.
    ///
    /// # Panics
    /// If it fails.
    pub fn scheduled(&self, function: &'static str, input: &Value) {
        self.stack.invoked(function, input);
        *self.scheduled.lock().unwrap().entry(function).or_default() += 1;
    }

    /// A tick of dispatch that looks at all 480 slots: it is made to forget when it was last here.
    pub fn sweep(&self) {
        let mark = json!({"TableName": self.stack.called("hosts"), "Key": {"k": {"S": "m#dispatch"}}});
        self.stack.api().call("DynamoDB_20120810.DeleteItem", &mark);
        self.scheduled("dispatch", &json!({}));
    }

    /// A tick of dispatch that looks at one slot: the first one of the next minute.
    pub fn tick(&self) {
        std::thread::sleep(until_next_minute());
        self.scheduled("dispatch", &json!({}));
    }

    /// Every copy of a robots.txt is gone, as if a day had passed.
    pub fn forget_robots(&self) {
        for item in self.stack.items("hosts") {
            if item["k"]["S"].as_str().is_some_and(|key| key.starts_with("r#")) {
                let key = json!({"TableName": self.stack.called("hosts"), "Key": {"k": item["k"]}});
                self.stack.api().call("DynamoDB_20120810.DeleteItem", &key);
            }
        }
    }

    /// Waits until the feeds' slot has come, and they may be polled again.
    ///
    /// # Panics
    /// If it has passed.
    pub fn wait_for_slot(&self) {
        // A lease that ran out lies hours back when a feed is polled again.
        std::thread::sleep(POLL_FLOOR + LEASE_LONG_GONE);
        while minute() < self.due {
            std::thread::sleep(until_next_minute());
        }
        self.still_on_time();
    }

    /// Checks that what was polled until now was polled in its minute.
    ///
    /// # Panics
    /// If it is too late for that.
    pub fn still_on_time(&self) {
        let late = minute() - self.due;
        assert!(late <= ON_TIME_MINUTES, "the polls came {late} minutes after their slot: measure with more lead");
    }

    /// Pages that were accepted, by the program's own count.
    ///
    /// # Panics
    /// If it cannot tell.
    pub fn accepted(&self) -> u64 {
        self.stack.run(&["status", "--json"]).ok().json()["pages"]["accepted"].as_u64().unwrap_or(0)
    }

    /// Bytes of all items of all tables, as DynamoDB counts.
    pub fn table_bytes(&self) -> usize {
        let tables = ["hosts", "sources", "pages", "parked"];
        tables.iter().flat_map(|table| self.stack.items(table)).map(|item| super::item::size(&item)).sum()
    }

    /// Takes away a schedule.
    fn unschedule(&self, schedule: &str) {
        let path = format!("/schedules/{}", self.stack.called(schedule));
        let scope = format!(
            "AWS4-HMAC-SHA256 Credential={}/20261121/{REGION}/scheduler/aws4_request, SignedHeaders=host, Signature=0",
            super::api::ACCOUNT
        );
        let headers = [("Authorization", scope.as_str())];
        let call = HttpCall { method: "DELETE", path: &path, headers: &headers, body: b"", patience: PATIENCE };
        let answer = exchange(self.emulator.addr(), &call).unwrap();
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    }

    /// From now on a function says who it is with each call: its SDK takes the name from its environment. And visits of a
    /// host that follow each other within minutes are to it what they are in a stack of 100,000 feeds: hours apart.
    fn name_caller(&self, function: &str) {
        let api: &Api = self.stack.api();
        let path = format!("/2015-03-31/functions/{}/configuration", self.stack.called(function));
        let mut variables = api.lambda("GET", &path, None)["Environment"]["Variables"].clone();
        variables["AWS_SDK_UA_APP_ID"] = function.into();
        variables["CURLEW_RULES_OFTEN"] = "0s".into();
        api.lambda("PUT", &path, Some(&json!({"Environment": {"Variables": variables}})));
    }
}

/// So many hosts whose feed lies in the slot of this minute, and whose site lies in one of the first [`SITE_SLOTS`].
///
/// # Panics
/// If there are not enough.
fn dense_hosts(wanted: usize, due: u64) -> Vec<usize> {
    let of_feed = Slot::of(due % CYCLE);
    let fits = |number: &usize| {
        let home = format!("http://{PREFIX}-{number:04}.test/");
        slot(&format!("{home}feed.xml")) == of_feed && slot(&home).index() < SITE_SLOTS
    };
    let numbers: Vec<usize> = (1..CANDIDATES).filter(fits).take(wanted).collect();
    assert_eq!(numbers.len(), wanted, "there are too few hosts in these slots");
    numbers
}

/// The slot of a source: by the first eight bytes of the hash of its address.
fn slot(url: &str) -> Slot {
    let hash = Sha256::digest(url.as_bytes());
    Slot::of(hash[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

/// The minute since 1970.
fn minute() -> u64 {
    since_1970().as_secs() / MINUTE.as_secs()
}

fn until_next_minute() -> Duration {
    let ends = Duration::from_secs((minute() + 1) * MINUTE.as_secs());
    // A moment more, so that it has certainly begun.
    ends.saturating_sub(since_1970()) + Duration::from_millis(50)
}
