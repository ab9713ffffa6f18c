//! Tests large invocations: fetch with a thousand visits, most of them short and some long (how well they share the
//! slots, and how much time and memory they take), and poll with feeds of the maximum size.

use curlew_fixtureweb::{Call, Kind, Site, Uniform, judge};
use curlew_model::{EntryHints, HostKey, Job, Purpose, QueueName, VisitItem, VisitJob, Work};
use curlew_policy::address;
use curlew_tests::aws::emulator::Emulator;
use curlew_tests::aws::random::Random;
use curlew_tests::aws::stack::Stack;
use curlew_tests::{Store, Web, args, judge_pauses};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Number of visits of the batch: the maximum of the mapping.
const VISITS: usize = 1_000;
/// Maximum length of a visit, in pages.
const LONGEST: usize = 40;
/// Minimum pause that the program promises, in microseconds.
const PAUSE: u64 = 1_000_000;
/// Memory of fetch and of poll, in KiB: the maximum for fetch with all its slots in use, and for poll with the largest
/// feeds.
const MOST_KB: u64 = 160 * 1024;
const MOST_POLL_KB: u64 = 128 * 1024;
/// Number of feeds that are polled at once, and number of entries in each, which make nearly ten megabytes.
const LARGE_FEEDS: usize = 24;
const LARGE_FEED_ENTRIES: usize = 22_000;
/// Maximum time until all feeds are polled.
const POLLED: Duration = Duration::from_secs(600);
/// Maximum time until all messages that fetch sends are in their queue.
const REST: Duration = Duration::from_secs(120);
/// Interval at which the queue is read.
const LOOK: Duration = Duration::from_millis(200);
/// Seed of the visits' lengths.
const SEED: u64 = 20_261_121;

#[test]
fn a_thousand_visits_share_the_slots() {
    let web =
        Web::uniform(&Uniform { hosts: VISITS, pages: LONGEST, bytes: 4 * 1024, images: true, prefix: "many".into() });
    let emulator = Emulator::start();
    let stack = Stack::over(&emulator, "many", &web, &emulator.url(), &[("Watch", "false")]);
    // The messages that fetch sends stay in their queue, where the test reads them.
    stack.map(QueueName::Fetch, false);
    stack.map(QueueName::Extract, false);
    let mut random = Random::new(SEED);
    let visits: Vec<VisitJob> = web.farm().sites().iter().map(|site| visit(&site.host, length(&mut random))).collect();
    let pages: usize = visits.iter().map(|visit| visit.items.len()).sum();

    let answer = stack.invoked("fetch", &event(&stack, &visits));
    assert_eq!(answer, json!({ "batchItemFailures": [] }));
    let calls = web.calls();
    let called: BTreeSet<String> = calls.iter().filter(|call| call.kind == Kind::Page).map(address_of).collect();
    let left = left(&stack);
    assert!(called.is_disjoint(&left), "only pages that were not fetched were sent on");
    assert_eq!(called.len() + left.len(), pages, "no page is lost");
    assert_eq!(stack.waiting(QueueName::Extract), called.len(), "every page that was fetched went on");
    assert_eq!(judge::repeated(&calls), []);
    judge_pauses(&calls, PAUSE);
    assert_eq!(stack.all_dead(), 0, "{}", stack.told());

    let lines = stack.logged("fetch");
    let line = lines.iter().find(|line| line["messages"] == VISITS).expect("the invocation says what it has done");
    let figure = |name: &str| line[name].as_u64().unwrap_or_else(|| panic!("{name} is not logged: {line}"));
    let (used, slots, memory) = (figure("slots_used_percent"), figure("slots"), figure("max_rss_kb"));
    eprintln!(
        "{VISITS} visits of {pages} pages, {} of them sent on: {used} % of {slots} slots used, {} s, {} ms of processor time, {memory} KiB",
        left.len(),
        figure("wall_ms") / 1_000,
        figure("cpu_ms"),
    );
    assert_eq!(slots, 100);
    assert!(memory <= MOST_KB, "{memory} KiB");
}

#[test]
fn the_largest_feeds_fit_into_the_memory_of_poll() {
    let (hosts, pages) = (LARGE_FEEDS, LARGE_FEED_ENTRIES);
    let web = Web::uniform(&Uniform { hosts, pages, bytes: 512 << 10, images: true, prefix: "large".into() });
    web.farm().make_feeds();
    let emulator = Emulator::start();
    let stack = Stack::over(&emulator, "large", &web, &emulator.url(), &[("Watch", "false")]);
    // The pages that poll does not fetch itself stay in their queue.
    stack.map(QueueName::Fetch, false);
    stack.map(QueueName::Extract, false);
    let feed = |site: &Site| format!("<outline type=\"rss\" xmlUrl=\"http://{}/feed.xml\"/>", site.host);
    let feeds: String = web.farm().sites().iter().map(feed).collect();
    let folder = Store::alone();
    let list = folder.file("feeds.opml", format!("<opml version=\"2.0\"><body>{feeds}</body></opml>"));
    stack.run(&["import", "opml", &list]).ok();
    let hosts: Vec<String> = web.farm().sites().iter().map(|site| site.host.clone()).collect();
    stack.run(&args(&["poll"], &hosts)).ok();
    let began = Instant::now();
    let figures = |name: &str| stack.logged("poll").iter().filter_map(|line| line[name].as_u64()).collect::<Vec<_>>();
    let count = |kind: Kind| web.calls().iter().filter(|call| call.kind == kind).count();
    while figures("messages").into_iter().sum::<u64>() < LARGE_FEEDS as u64 {
        assert!(began.elapsed() < POLLED, "the feeds are not polled: {}", stack.told());
        std::thread::sleep(LOOK);
    }
    let (feeds, pages) = (count(Kind::Feed), count(Kind::Page));
    eprintln!("{feeds} feeds, {pages} pages: {:?} KiB, {:?} ms", figures("max_rss_kb"), figures("wall_ms"));
    // A feed that a busy machine serves too slowly is left alone for a day. Even half of the feeds are more than are
    // read at once.
    assert!(feeds >= LARGE_FEEDS / 2, "{feeds} feeds: {}", stack.told());
    assert!(pages > LARGE_FEEDS, "{pages} pages: {}", stack.told());
    let memory = figures("max_rss_kb").into_iter().max();
    assert!(memory.is_some_and(|memory| memory <= MOST_POLL_KB), "{memory:?} KiB");
}

/// Returns the length of a visit. Most visits are short and some are very long (Pareto distribution with an exponent of
/// 1.5).
fn length(random: &mut Random) -> usize {
    const EXPONENT: f64 = 1.5;
    const PARTS: u64 = 1 << 32;
    let share = (random.below(PARTS) + 1) as f64 / PARTS as f64;
    (share.powf(-1.0 / EXPONENT) as usize).clamp(1, LONGEST)
}

fn visit(host: &str, pages: usize) -> VisitJob {
    let item = |number: usize| {
        let url = format!("http://{host}/news/{number}.html");
        let page = address::page_id(&address::canonical(&address::parse(&url, None).unwrap()));
        VisitItem { url, page, purpose: Purpose::New { hints: EntryHints::default() } }
    };
    let site_image = Some(format!("http://{host}/images/site.png"));
    let host = HostKey::new(host).unwrap();
    VisitJob { site_image, ..VisitJob::new(host, (0..pages).map(item).collect()) }
}

/// Returns the event with which the queue's mapping would invoke the function.
fn event(stack: &Stack, visits: &[VisitJob]) -> Value {
    let records = visits.iter().enumerate().map(|(number, visit)| {
        json!({
            "messageId": format!("00000000-0000-4000-8000-{number:012}"),
            "receiptHandle": format!("receipt-{number}"),
            "body": Job::new(visit.clone()).to_message().unwrap(),
            "attributes": {
                "ApproximateReceiveCount": "1", "SentTimestamp": "1795262400000",
                "SenderId": "000000000000", "ApproximateFirstReceiveTimestamp": "1795262400000"
            },
            "messageAttributes": {},
            "md5OfBody": "",
            "eventSource": "aws:sqs",
            "eventSourceARN": format!("arn:aws:sqs:us-east-1:000000000000:{}", stack.called("fetch")),
            "awsRegion": "us-east-1"
        })
    });
    json!({ "Records": records.collect::<Vec<_>>() })
}

/// Returns the pages that visits did not reach in time, read from the messages that the visits sent on.
fn left(stack: &Stack) -> BTreeSet<String> {
    let mut left = BTreeSet::new();
    let began = Instant::now();
    while stack.waiting(QueueName::Fetch) > 0 {
        match stack.take(QueueName::Fetch).map(|body| Job::from_message(&body)) {
            Some(Ok(Job { work: Work::Fetch(visit), .. })) => {
                for item in visit.items.iter().filter(|item| matches!(item.purpose, Purpose::New { .. })) {
                    let url = item.url.trim_start_matches("http://").to_owned();
                    assert!(left.insert(url), "{} was sent on twice", item.url);
                }
            }
            Some(other) => panic!("not a visit: {other:?}"),
            None => std::thread::sleep(LOOK),
        }
        assert!(began.elapsed() < REST, "the queue does not hand out the visits that were sent on");
    }
    left
}

fn address_of(call: &Call) -> String {
    format!("{}{}", call.host, call.path)
}
