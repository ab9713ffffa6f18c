//! A metered stack: the template on an emulator, a proxy between the functions and the emulator, and a uniform web that
//! the functions crawl. Tests trigger the schedules by hand, so a phase contains only its own calls.

use super::api::REGION;
use super::calibration::Calibration;
use super::emulator::Emulator;
use super::lambda::{Architecture, Run};
use super::meter::Metered;
use super::proxy::Proxy;
use super::sqs::Sent;
use super::stack::{FUNCTIONS, Stack};
use super::steady::dispatch_every;
use super::waker::Waker;
use crate::http::{HttpCall, exchange};
use crate::program::{Child, LIMIT};
use crate::web::Web;
use curlew_fixtureweb::{Farm, Uniform};
use curlew_model::{QueueName, Slot};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The stack's name.
const NAME: &str = "cost";
/// Prefix of the hosts' names.
const PREFIX: &str = "cost";
/// Contact that the crawler sends to the web of the test.
const CONTACT: &str = "https://crawler.example/contact";
/// Time after a poll without news at which its lease has certainly expired, as in reality it has eight hours later.
const LEASE_LONG_GONE: Duration = Duration::from_secs(125);
/// Minimum time between two polls of a feed here. The short floor lets polls that are normally eight hours apart follow
/// each other.
const POLL_FLOOR: Duration = Duration::from_secs(2);
/// The schedules of the template, which tests trigger by hand.
const SCHEDULES: [&str; 4] = ["dispatch", "index", "archive", "sample"];
/// Number of slots, of the 480, over which the sites are spread; all feeds are in one slot. The reads of a tick are
/// rounded up and shared by the rows of a slot, and a stack of 100,000 feeds has many rows in each.
const SITE_SLOTS: u16 = 24;
/// Maximum number of hosts that are examined to find suitable ones: about one of 480 x 480 / [`SITE_SLOTS`] is
/// suitable.
const CANDIDATES: usize = 100_000_000;
/// Maximum number of minutes by which a poll may lag behind its slot and still count as on time. A poll on time without
/// news writes nothing.
const ON_TIME_MINUTES: u64 = 15;
/// Number of minutes of a cycle; each is a slot.
const CYCLE: u64 = 480;
/// Maximum time of a phase.
const PHASE: Duration = Duration::from_secs(1800);
/// Maximum number of lines of a function's log that the emulator returns at once.
const MAX_LINES: usize = 10_000;
/// Time between two slots.
const MINUTE: Duration = Duration::from_secs(60);
/// Maximum time until the stack answers a change of its configuration.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time between two looks at the logs.
const LOOK: Duration = Duration::from_millis(100);

/// Size of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Number of sites. Each is a host key of its own with one feed.
    pub hosts: usize,
    /// Number of new pages of each feed.
    pub pages: usize,
    /// Size of each page, in bytes.
    pub bytes: usize,
    /// True if each page has a picture of its own on the same host.
    pub images: bool,
    /// Minutes from the start to the polls without news. All pages must be indexed before that.
    pub lead_minutes: u64,
    /// Architecture whose price applies to the functions' seconds. The functions run on this machine's processor in any
    /// case.
    pub architecture: Architecture,
}

/// A stack with everything that it needs. The fields are dropped in this order.
#[derive(Debug)]
pub struct Stand {
    size: Size,
    waker: Waker,
    stack: Stack,
    emulator: Emulator,
    proxy: Proxy,
    web: Web,
    calibration: Calibration,
    /// Minute since 1970 of the feeds' slot.
    due: u64,
    /// Number of scheduled calls of each function in this phase.
    scheduled: Mutex<BTreeMap<&'static str, usize>>,
    /// Number of lines of each function's log that are already on a bill.
    read: BTreeMap<&'static str, usize>,
}

impl Stand {
    /// Deploys an empty stack.
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
        // The waker replaces the mappings. They are off, and the stack must not switch them on.
        let more = [("Watch", "false"), ("FunctionUrl", "false"), ("RestAfter", "0")];
        let stack = Stack::over(&emulator, NAME, &web, &proxy.url(), &more);
        let waker = Waker::instead_of_mappings(&stack);
        let mut stand = Stand {
            size,
            waker,
            stack,
            emulator,
            proxy,
            web,
            calibration: Calibration::start(),
            due,
            scheduled: Mutex::default(),
            read: BTreeMap::new(),
        };
        SCHEDULES.iter().for_each(|schedule| stand.unschedule(schedule));
        FUNCTIONS.iter().for_each(|function| stand.name_caller(function));
        // The emulator fires a schedule when the schedule is created. That tick has certainly ended when another one
        // has.
        stand.phase(Stand::sweep);
        stand
    }

    /// Returns the size of the measurement.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Returns the web that is crawled.
    pub fn web(&self) -> &Web {
        &self.web
    }

    /// Returns the number of pages that the crawler may find.
    pub fn pages(&self) -> usize {
        self.size.hosts * self.size.pages
    }

    /// Runs `work`, waits until the stack is idle, and returns everything that was metered meanwhile.
    ///
    /// # Panics
    /// Panics if a message is given up, or a function does not report each of its invocations.
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
        for stage in QueueName::ALL {
            let queue = self.stack.called(stage.as_str());
            let (messages, sent) = (delivered.get(stage.as_str()).copied().unwrap_or(0), sent.get(&queue));
            // Redelivered messages are as large as sent ones on average.
            let average = sent.map_or(0, |sent| sent.bytes.div_ceil(sent.messages.max(1)));
            meter.mapping(&queue, Sent { messages, bytes: messages * average });
        }
        meter.take()
    }

    /// Meters the functions' new log lines; `called` holds the number of calls of each function. Returns the number of
    /// messages that each function received.
    fn read_logs(&mut self, called: &BTreeMap<&'static str, usize>) -> BTreeMap<&'static str, u64> {
        let mut delivered = BTreeMap::new();
        let slowness = self.calibration.slowness();
        for function in FUNCTIONS {
            let called = called.get(function).copied().unwrap_or(0);
            let seen = self.read.get(function).copied().unwrap_or(0);
            let asked = Instant::now();
            let (lines, runs) = loop {
                let lines = self.stack.api().logs(&self.stack.called(function));
                assert!(lines.len() < MAX_LINES, "{function} logs more than the emulator gives at once");
                let runs: Vec<Run> = lines[seen..].iter().filter_map(|line| Run::read(line)).collect();
                // An invocation's answer may come before its last log lines.
                if runs.len() >= called {
                    break (lines, runs);
                }
                assert!(asked.elapsed() < PATIENCE, "{function} was called {called} times and reports {}", runs.len());
                std::thread::sleep(LOOK);
            };
            self.read.insert(function, lines.len());
            // Lines that are not JSON are the emulator's own start, end and report lines, which the template turns off
            // on AWS.
            let new: Vec<&String> = lines[seen..].iter().filter(|line| line.starts_with('{')).collect();
            // [`Waker`] makes one call after the other, so the time waited for services is the sum over all calls.
            let waiting = self.proxy.waits().take(function).scale(runs.iter().map(Run::waited_ms).sum());
            let meter = self.proxy.meter();
            meter.logged(function, new.len() as u64, new.iter().map(|line| line.len() as u64).sum());
            delivered.insert(function, runs.iter().map(|run| run.messages).sum());
            for run in runs {
                meter.lambda(&run.on_reference(slowness, waiting), self.size.architecture);
            }
        }
        delivered
    }

    /// Adds all sites to the crawl, as an operator does.
    pub fn name_sites(&self) {
        let list = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(list.path(), self.web.starts().join("\n")).unwrap();
        let sites = format!("--sites={}", list.path().display());
        let mut command = self.stack.curlew(&["crawl", "--contact", CONTACT, &sites]);
        command.env("AWS_ENDPOINT_URL", self.proxy.url()).env("AWS_SDK_UA_APP_ID", "operator");
        Child::spawn(command).wait(LIMIT).ok();
    }

    /// Calls a function as its schedule does.
    pub fn scheduled(&self, function: &'static str, input: &Value) {
        self.stack.invoked(function, input);
        *self.scheduled.lock().unwrap().entry(function).or_default() += 1;
    }

    /// Triggers a tick of dispatch that reads all 480 slots, by deleting the mark of dispatch.
    pub fn sweep(&self) {
        let mark = json!({"TableName": self.stack.called("hosts"), "Key": {"k": {"S": "m#dispatch"}}});
        self.stack.api().call("DynamoDB_20120810.DeleteItem", &mark);
        self.scheduled("dispatch", &json!({}));
    }

    /// Triggers a tick of dispatch that reads the slots since the last tick.
    pub fn tick(&self) {
        std::thread::sleep(until_next_minute() + MINUTE * u32::try_from(dispatch_every() - 1).unwrap());
        self.scheduled("dispatch", &json!({}));
    }

    /// Deletes all copies of robots.txt.
    pub fn forget_robots(&self) {
        for item in self.stack.items("hosts") {
            if item["k"]["S"].as_str().is_some_and(|key| key.starts_with("r#")) {
                let key = json!({"TableName": self.stack.called("hosts"), "Key": {"k": item["k"]}});
                self.stack.api().call("DynamoDB_20120810.DeleteItem", &key);
            }
        }
    }

    /// Waits until the feeds' slot has come and the feeds may be polled again.
    ///
    /// # Panics
    /// Panics if the slot has passed.
    pub fn wait_for_slot(&self) {
        // In reality the lease would have expired hours before a feed is polled again.
        std::thread::sleep(POLL_FLOOR + LEASE_LONG_GONE);
        while minute() < self.due {
            std::thread::sleep(until_next_minute());
        }
        self.still_on_time();
    }

    /// Checks that the polls so far were in the minute of their slot.
    ///
    /// # Panics
    /// Panics if it is too late for that.
    pub fn still_on_time(&self) {
        let late = minute() - self.due;
        assert!(late <= ON_TIME_MINUTES, "the polls came {late} minutes after their slot: measure with more lead");
    }

    /// Returns the number of accepted pages according to `curlew status`.
    pub fn accepted(&self) -> u64 {
        self.stack.run(&["status", "--json"]).ok().json()["pages"]["accepted"].as_u64().unwrap_or(0)
    }

    /// Returns the number of bytes of all items of all tables, as DynamoDB counts them.
    pub fn table_bytes(&self) -> usize {
        let tables = ["hosts", "sources", "pages", "parked"];
        tables.iter().flat_map(|table| self.stack.items(table)).map(|item| super::item::size(&item)).sum()
    }

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

    /// Makes a function identify itself in each call, by a variable that its SDK reads. Also makes the stack behave
    /// like one of 100,000 feeds: visits of a host that follow each other within minutes count as hours apart, and each
    /// feed is polled three times a day, however rare its news.
    fn name_caller(&self, function: &str) {
        let floor = format!("{}s", POLL_FLOOR.as_secs());
        let settings = [
            ("AWS_SDK_UA_APP_ID", function),
            ("CURLEW_RULES_RETURN_LEASE_WITHIN", "0s"),
            ("CURLEW_RULES_POLL_FLOOR", floor.as_str()),
            ("CURLEW_RULES_ADAPTIVE", "false"),
        ];
        self.stack.set_of(function, &settings);
    }

    /// Restarts all functions, so that they know only what is stored. Eight hours after a poll, a process of a stack of
    /// 100,000 feeds no longer remembers a host's robots.txt.
    pub fn start_anew(&self) {
        self.stack.restart();
    }
}

/// Returns hosts whose feeds are in the slot of the minute `due`, and whose sites are in one of the first
/// [`SITE_SLOTS`].
fn dense_hosts(wanted: usize, due: u64) -> Vec<usize> {
    let of_feed = Slot::from_hash(due % CYCLE);
    let fits = |number: &usize| {
        let home = format!("http://{PREFIX}-{number:04}.test/");
        slot(&format!("{home}feed.xml")) == of_feed && slot(&home).index() < SITE_SLOTS
    };
    let numbers: Vec<usize> = (1..CANDIDATES).filter(fits).take(wanted).collect();
    assert_eq!(numbers.len(), wanted, "there are too few hosts in these slots");
    numbers
}

/// Returns the slot of a source: the first eight bytes of the hash of its URL determine it.
fn slot(url: &str) -> Slot {
    let hash = Sha256::digest(url.as_bytes());
    Slot::from_hash(hash[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

/// Returns the minute since 1970.
fn minute() -> u64 {
    since_1970().as_secs() / MINUTE.as_secs()
}

fn until_next_minute() -> Duration {
    let ends = Duration::from_secs((minute() + 1) * MINUTE.as_secs());
    // The extra time ensures that the minute has begun.
    ends.saturating_sub(since_1970()) + Duration::from_millis(50)
}
