//! Tests a stack with faults: tables are throttled, calls to AWS fail, messages come twice, and functions are killed.
//! The records must equal those of an undisturbed run, and the crawl must be as polite.

use curlew_fixtureweb::{Call, Uniform, judge};
use curlew_model::QueueName;
use curlew_tests::aws::call::Service;
use curlew_tests::aws::emulator::Emulator;
use curlew_tests::aws::faults::{Fault, Plan, Rule};
use curlew_tests::aws::proxy::Proxy;
use curlew_tests::aws::random::Random;
use curlew_tests::aws::stack::Stack;
use curlew_tests::{BRISK, BRISK_PAUSE, Store, Web, judge_pauses, text};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Number of rounds, each with its own sites and seed, unless [`ROUNDS`] sets another number.
const FEW_ROUNDS: usize = 3;
/// Environment variable with the number of rounds.
const ROUNDS: &str = "CURLEW_AWS_ROUNDS";
/// Environment variable with the seed of the first round, for repeating a run.
const SEED: &str = "CURLEW_AWS_SEED";
/// Environment variable with the template's `Scale`: `small` runs up to two instances of a function at once, `medium`
/// up to ten.
const SCALE: &str = "CURLEW_AWS_SCALE";
/// Number of hosts in a round.
const HOSTS: usize = 8;
/// Number of pages of each host: more than a discovery itself fetches, so that visits of fetch follow.
const PAGES: usize = 12;
/// Functions that call sites.
const CALLERS: [&str; 2] = ["frail-discover", "frail-fetch"];
/// Number of kills in a round: fewer than the five times that a message may be handed out.
const KILLS: usize = 3;
/// Maximum number of calls to sites between two kills.
const MOST_CALLS: u64 = 12;
/// Maximum number of milliseconds from the last of these calls to the kill.
const MOST_MILLIS: u64 = 400;
/// A round is considered over after this time without a call, since no function is left to kill.
const SILENCE: Duration = Duration::from_secs(5);
/// Maximum time of a round.
const ROUND: Duration = Duration::from_secs(400);
/// Seconds after which a message of a killed function is handed out again; longer than its batch takes.
const HIDDEN: u32 = 30;
/// Settings in addition to the short pauses. With these, a lease whose holder was killed expires within half a minute.
/// `slice` must exceed twice `call_time`.
const SETTINGS: [(&str, &str); 4] = [
    ("CURLEW_RULES_CRAWL_DELAY_CAP", "1s"),
    ("CURLEW_RULES_CALL_TIME", "5s"),
    ("CURLEW_RULES_SLICE", "13s"),
    ("CURLEW_RULES_LEASE_MARGIN", "2s"),
];

#[test]
fn faults_and_deaths_lose_nothing_and_break_no_manners() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let rounds = number(ROUNDS).map_or(FEW_ROUNDS, |rounds| rounds as usize);
    let seed = number(SEED).unwrap_or(20_261_121);
    let spec = Uniform { hosts: HOSTS * rounds, pages: PAGES, bytes: 8 * 1024, images: true, prefix: "frail".into() };
    let web = Web::uniform(&spec);
    let store = Store::crawled(&web);
    let expected = by_address(&store.records());
    assert_eq!(expected.len(), HOSTS * PAGES * rounds);
    web.clear_calls();

    let emulator = Emulator::start();
    let proxy = Proxy::start(&emulator.url());
    // The `small` scale allows two simultaneous invocations for each queue, the minimum of a mapping.
    let scale = std::env::var(SCALE).unwrap_or_else(|_| "small".to_owned());
    let stack = Stack::over(&emulator, "frail", &web, &proxy.url(), &[("Watch", "false"), ("Scale", &scale)]);
    stack.set(&[BRISK.as_slice(), &SETTINGS].concat());
    QueueName::ALL.into_iter().for_each(|stage| stack.hide_for(stage, HIDDEN));
    let mut at_once = 0;
    for (round, sites) in web.starts().chunks(HOSTS).enumerate() {
        let seed = seed + round as u64;
        eprintln!("round {round}: {SEED}={seed}");
        web.clear_calls();
        proxy.faults().set(plan(seed));
        let began = Instant::now();
        stack.name_sites(sites);
        let kills = kill(&emulator, &web, &mut Random::new(seed));
        stack.come_to_rest(ROUND);
        proxy.faults().set(Plan::default());
        for caller in CALLERS {
            at_once = at_once.max(emulator.functions().iter().filter(|function| function.name == caller).count());
        }

        judge_calls(&web.calls(), kills);
        assert_eq!(stack.all_dead(), 0, "{}", stack.told());
        let so_far: BTreeMap<_, _> = expected
            .iter()
            .filter(|(url, _)| web.starts()[..(round + 1) * HOSTS].iter().any(|site| url.starts_with(site)))
            .collect();
        let records = by_address(&stack.records());
        assert_eq!(records.iter().collect::<BTreeMap<_, _>>(), so_far, "round {round} has other records");
        eprintln!("round {round}: {kills} kills, {} calls, {:?}", web.calls().len(), began.elapsed());
    }
    // The emulator starts a second process only while the first one is busy.
    assert!(at_once >= 2, "two instances of a function that calls sites never ran at once");
    eprintln!("of one function at once: {at_once}");
    let mut faults: BTreeMap<Fault, u64> = BTreeMap::new();
    proxy.faults().made().iter().for_each(|(made, times)| *faults.entry(made.fault).or_default() += times);
    eprintln!("faults: {faults:?}");
    for fault in [Fault::Throttled, Fault::ServerError, Fault::CutAfter, Fault::ErrorAfter, Fault::Twice] {
        assert!(faults.contains_key(&fault), "{fault:?} never happened: {faults:?}");
    }
    judge_index(&stack, &web, &expected);
}

/// Checks that the index has each page exactly once. Only the sites of the last round are searched, since the search
/// page limits the number of queries per minute.
#[track_caller]
fn judge_index(stack: &Stack, web: &Web, expected: &BTreeMap<String, [String; 3]>) {
    let published = stack.invoked("index", &json!({ "what": "publish" }));
    let added: u64 = published["years"].as_array().unwrap().iter().map(|year| year["added"].as_u64().unwrap()).sum();
    assert_eq!(added, expected.len() as u64, "{published}");
    for site in web.farm().sites().iter().rev().take(HOSTS) {
        let found = stack.found(&format!("site:{}", site.host));
        let of_site: BTreeSet<&String> = expected.keys().filter(|url| url.starts_with(&site.start_url)).collect();
        assert_eq!(found.len(), of_site.len(), "the index must have each page once");
        assert_eq!(found.iter().collect::<BTreeSet<_>>(), of_site);
    }
}

/// Returns the plan of the faults between the functions and AWS.
fn plan(seed: u64) -> Plan {
    let rules = vec![
        Rule::all(Service::DynamoDb, Fault::Throttled, 0.06),
        Rule::all(Service::DynamoDb, Fault::CutAfter, 0.03),
        Rule::all(Service::DynamoDb, Fault::ErrorAfter, 0.03),
        Rule::all(Service::Sqs, Fault::Twice, 0.2),
        Rule::all(Service::Sqs, Fault::CutAfter, 0.05),
        Rule::all(Service::Sqs, Fault::ServerError, 0.03),
        Rule::all(Service::S3, Fault::ServerError, 0.05),
        Rule::all(Service::S3, Fault::CutAfter, 0.05),
    ];
    Plan { seed, rules }
}

/// Kills functions while they call sites; returns the number of kills.
fn kill(emulator: &Emulator, web: &Web, random: &mut Random) -> usize {
    let mut kills = 0;
    let mut last = (0, Instant::now());
    let mut next = random.below(MOST_CALLS) as usize + 1;
    while kills < KILLS && last.1.elapsed() < ROUND {
        let calls = web.calls().len();
        if calls != last.0 {
            last = (calls, Instant::now());
        } else if calls > 0 && last.1.elapsed() > SILENCE {
            break;
        }
        if calls >= next {
            std::thread::sleep(Duration::from_millis(random.below(MOST_MILLIS)));
            let queued =
                |name: &str| QueueName::ALL.into_iter().any(|stage| name.ends_with(&format!("-{}", stage.as_str())));
            let alive: Vec<_> = emulator.functions().into_iter().filter(|function| queued(&function.name)).collect();
            if let Some(victim) = alive.get(random.below(alive.len().max(1) as u64) as usize) {
                eprintln!("  after {calls} calls: kill -9 {}", victim.name);
                victim.kill();
                kills += 1;
            }
            next = web.calls().len() + random.below(MOST_CALLS) as usize + 1;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    kills
}

/// Checks the politeness of all calls of a round, despite its kills.
#[track_caller]
fn judge_calls(calls: &[Call], kills: usize) {
    judge_pauses(calls, BRISK_PAUSE);
    assert_eq!(judge::unasked(calls), BTreeSet::new());
    assert_eq!(judge::indiscreet(calls), []);
    // A killed visit did not report which pages it had sent on. Each kill costs a page at most one more fetch, of the
    // page or of its image.
    let again: Vec<_> = judge::repeated(calls).into_iter().filter(|repeat| repeat.times > 1 + kills).collect();
    assert!(again.is_empty(), "called more often than {kills} kills explain: {again:?}");
}

/// Returns the id, title and text of each record by URL.
#[track_caller]
fn by_address(records: &[Value]) -> BTreeMap<String, [String; 3]> {
    let kept: BTreeMap<String, [String; 3]> = records
        .iter()
        .map(|record| (text(record, "url"), ["id", "title", "text"].map(|name| text(record, name))))
        .collect();
    assert_eq!(kept.len(), records.len(), "a page is exported twice");
    kept
}
