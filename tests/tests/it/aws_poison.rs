//! A job that ends its function's process whenever it runs, together with harmless jobs. The test kills the function
//! while a site keeps the page waiting, as the system would for a document that takes all memory. Only that job is
//! given up, with the reason.

use curlew_fixtureweb::{Uniform, judge};
use curlew_model::{EntryHints, HostKey, Job, Purpose, QueueName, VisitItem, VisitJob};
use curlew_policy::address;
use curlew_policy::delivery::MAX_DEATHS;
use curlew_tests::aws::emulator::Emulator;
use curlew_tests::aws::stack::Stack;
use curlew_tests::{BRISK, BRISK_PAUSE, Steps, Web, judge_pauses};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Number of visits in addition to the one that ends the process.
const HOSTS: usize = 6;
/// Host of the page that ends the process.
const POISON: &str = "poison.test";
/// Maximum time until every visit is done or given up.
const REST: Duration = Duration::from_secs(400);
/// Interval at which the queues are examined.
const LOOK: Duration = Duration::from_millis(200);
/// Timeout of a function, in seconds.
const TIMEOUT: u32 = 20;
/// Seconds after which a message of a killed function is first handed out again.
const HIDDEN: u32 = 25;
/// Settings in addition to the short pauses. With these, a lease of a dead process expires within eight seconds.
const SETTINGS: [(&str, &str); 4] = [
    ("CURLEW_RULES_CRAWL_DELAY_CAP", "1s"),
    ("CURLEW_RULES_CALL_TIME", "2s"),
    ("CURLEW_RULES_SLICE", "5s"),
    ("CURLEW_RULES_LEASE_MARGIN", "1s"),
];

#[test]
fn a_job_that_ends_its_process_is_given_up_with_the_reason_and_those_beside_it_are_done() {
    let web = Web::uniform(&Uniform { hosts: HOSTS, pages: 1, bytes: 8 * 1024, images: true, prefix: "well".into() });
    let (poison, asked) = listen();
    let emulator = Emulator::start();
    let resolve = format!("{POISON}={poison},{}", web.resolve());
    let url = emulator.url();
    let parameters = [
        ("Architecture", "x86_64"),
        ("ContactUrl", "https://curlew.test/contact"),
        ("EndpointUrl", url.as_str()),
        ("AllowNet", "127.0.0.0/8"),
        ("Resolve", resolve.as_str()),
        ("Watch", "false"),
    ];
    let stack = Stack::deploy(&emulator, "well", &parameters);
    stack.time_out_after("fetch", TIMEOUT);
    stack.set(&[BRISK.as_slice(), &SETTINGS].concat());
    stack.hide_for(QueueName::Fetch, HIDDEN);
    let mut steps = Steps::new();

    // All messages wait together, so that they form one batch.
    stack.map(QueueName::Fetch, false);
    let sites = web.farm().sites();
    let mut messages: Vec<String> = sites.iter().map(|site| message(&site.host)).collect();
    let deadly = message(POISON);
    messages.insert(HOSTS / 2, deadly.clone());
    messages.iter().for_each(|message| stack.send(QueueName::Fetch, message));
    stack.map(QueueName::Fetch, true);
    let kills = kill(&emulator, &stack, &asked);
    stack.come_to_rest(REST);

    steps.step("the one that ends the process is given up", || {
        let letters = stack.dead_letters(QueueName::Fetch);
        assert_eq!(letters.len(), 1, "{letters:?}");
        // A job that was put back meanwhile says so.
        assert_eq!(letters[0].body.replace("\"is_again\":true,", ""), deadly);
        let reason = format!("the process died while this job ran, {MAX_DEATHS} times");
        assert_eq!(letters[0].error.as_deref(), Some(reason.as_str()));
        assert_eq!(kills, MAX_DEATHS as usize + 1, "the job ends its process once with the others, then alone");
        assert_eq!(stack.all_dead(), 1, "{}", stack.told());
    });
    steps.step("the others are done", || {
        let records = stack.records();
        let kept: BTreeSet<&str> = records.iter().filter_map(|record| record["url"].as_str()).collect();
        let wanted: Vec<String> = sites.iter().map(|site| address_of(&site.host)).collect();
        assert_eq!(kept, wanted.iter().map(String::as_str).collect());
    });
    steps.step("politely", || {
        let calls = web.calls();
        judge_pauses(&calls, BRISK_PAUSE);
        assert_eq!(judge::unasked(&calls), BTreeSet::new());
        // A page may be called twice: once in the batch with the deadly job, and once alone. This holds however often
        // that job ended its process.
        let again: Vec<_> = judge::repeated(&calls).into_iter().filter(|repeat| repeat.times > 2).collect();
        assert!(again.is_empty(), "{again:?}");
    });
    steps.end();
}

fn address_of(host: &str) -> String {
    format!("http://{host}/news/0.html")
}

fn message(host: &str) -> String {
    let url = address_of(host);
    let page = address::page_id(&address::canonical(&address::parse(&url, None).unwrap()));
    let item = VisitItem { url, page, purpose: Purpose::New { hints: EntryHints::default() } };
    Job::new(VisitJob::new(HostKey::new(host).unwrap(), vec![item])).to_message().unwrap()
}

/// Kills the function each time that it requests the page, until the job is given up; returns the number of kills.
fn kill(emulator: &Emulator, stack: &Stack, asked: &Receiver<TcpStream>) -> usize {
    let began = Instant::now();
    let mut kills = 0;
    while stack.dead(QueueName::Fetch) == 0 {
        assert!(began.elapsed() < REST, "the job is not given up after {kills} kills: {}", stack.told());
        // The connection stays open and unanswered until the process is dead.
        let Ok(_held) = asked.recv_timeout(LOOK) else { continue };
        for function in emulator.functions().iter().filter(|function| function.name == stack.called("fetch")) {
            function.kill();
        }
        kills += 1;
    }
    kills
}

/// Serves a site without a robots.txt, and hands over each connection with any other request.
fn listen() -> (SocketAddr, Receiver<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (addr, (held, asked)) = (listener.local_addr().unwrap(), channel());
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let held = held.clone();
            std::thread::spawn(move || answer(stream, &held));
        }
    });
    (addr, asked)
}

fn answer(stream: TcpStream, held: &Sender<TcpStream>) {
    let mut reader = BufReader::new(stream);
    let mut asked = String::new();
    loop {
        let mut line = String::new();
        match reader.read_line(&mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if line.trim().is_empty() => break,
            Ok(_) => asked.push_str(&line),
        }
    }
    let mut stream = reader.into_inner();
    if asked.starts_with("GET /robots.txt ") {
        let head = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        // A function that is killed meanwhile does not wait for the answer.
        let _gone = stream.write_all(head.as_bytes());
    } else {
        // After the test nobody receives the connection.
        let _over = held.send(stream);
    }
}
