//! A stack on the emulator crawls the bundled web, with the same result and the same politeness as a single process.

use crate::demo::called_twice;
use crate::signatures::{self, DIRECTORY, Received, Site};
use crate::warc::{KEEP, warcio};
use curlew_fixtureweb::{Call, Farm, Kind, Mode, judge};
use curlew_tests::aws::door::Door;
use curlew_tests::aws::emulator::Emulator;
use curlew_tests::aws::stack::{FUNCTIONS, Stack};
use curlew_tests::{Browser, LIMIT, Ran, Steps, Store, Web, args, judge_pauses, text};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Minimum pause that the program promises, in microseconds.
const PAUSE: u64 = 1_000_000;
/// Maximum time for the whole crawl.
const CRAWL: Duration = Duration::from_secs(480);
/// A site whose pages vanish during the test.
const LOSES_ITS_PAGES: &str = "json-orchard.test";
/// A WordPress blog whose older pages are not in its feed but at well-known URLs.
const HAS_A_PAST: &str = "alpine-notes.test";
/// A feed of that blog that discovery leaves out.
const NEW_FEED: &str = "http://alpine-notes.test/comments/feed/";
/// A site whose pages do not vanish.
const STAYS: &str = "bird-ledger.test";
/// An object with raw pages whose retention period ended years ago.
const OLD_RAW: &str = "raw/2020/01/01/0123456789abcdef.warc.zst";
/// Minimum time that a person takes to fill in a form.
const FILLING_IN: Duration = Duration::from_millis(3_200);
/// Maximum time until a schedule of one minute has fired.
const TICK: Duration = Duration::from_secs(150);
/// Last log message of each invocation.
const DONE: &str = "invocation done";
/// Maximum resident memory of functions, in KiB. Functions that may use more are not listed.
const MOST_KB: [(&str, u64); 6] = [
    ("dispatch", 128 * 1024),
    ("remove", 160 * 1024),
    ("poll", 128 * 1024),
    ("sample", 128 * 1024),
    ("web", 128 * 1024),
    ("fetch", 160 * 1024),
];

#[test]
fn a_stack_makes_of_the_web_what_one_process_makes_of_it() {
    // The test needs two webs, since some sites count their calls.
    let (web, other_web) = (Web::demo(), Web::demo());
    let mut store = Store::new(&other_web);
    store.configure(KEEP);
    let named = named(&web);
    let named = args(&["crawl", "--json"], &named);
    let crawl = store.start(&named);

    let emulator = Emulator::strict();
    let stack = Stack::over(&emulator, "whole", &web, &emulator.url(), &[("Scale", "large")]);
    stack.grant_batches();
    state(&stack, "[raw]\nkeep = true\n").ok();
    stack.run(&named).ok();
    stack.come_to_rest(CRAWL);
    crawl.wait(LIMIT).ok();
    let calls = web.calls();

    let mut steps = Steps::new();
    steps.step("the same pages", || assert_eq!(rows(&stack.list("pages")), rows(&store.list("pages"))));
    steps.step("the same records", || assert_eq!(records(&stack.records()), records(&store.records())));
    steps.step("politeness", || judge_manners(&calls, web.farm()));
    steps.step("nothing is given up", || assert_eq!(stack.all_dead(), 0, "{}", stack.told()));
    steps.step("the same raw pages", || judge_raw(&stack, &store));
    searching(&mut steps, &stack, &store);
    vanishing(&mut steps, &stack, &store, &web);
    reading_back(&mut steps, &stack, &web);
    owning(&mut steps, &stack, &web);
    signing(&mut steps, &stack, &web);
    configuring(&mut steps, &stack);
    steps.step("the schedule", || await_tick(&stack));
    steps.step("memory", || judge_memory(&stack));
    steps.end();
}

fn state(stack: &Stack, text: &str) -> Ran {
    stack.run(&["config", "set", &Store::alone().file("curlew.toml", text)])
}

/// The operator changes the settings of the stack. Good settings are followed. Wrong ones are refused, and have no
/// effect if they get into the bucket by other means.
fn configuring(steps: &mut Steps, stack: &Stack) {
    let title = "Estuary search";
    let good = format!("# Ours.\n[web]\ntitle = \"{title}\"\n");
    steps.step("settings are followed", || {
        assert!(!stack.get("/", "").1.contains(title));
        state(stack, &good).ok();
        stack.restart();
        assert!(stack.get("/", "").1.contains(title), "{}", stack.told());
        let shown = stack.run(&["config", "show", "--json"]).ok().rows();
        let shown = shown.iter().find(|row| row["table"] == "web" && row["key"] == "title").unwrap();
        assert_eq!((&shown["value"], &shown["origin"]), (&json!(title), &json!("file")));
        stack.invoked("dispatch", &json!({}));
    });
    steps.step("wrong settings are refused", || {
        for (wrong, says) in [
            ("[web]\ntitel = \"x\"\n", "line 2, column 1: there is no setting `titel`; did you mean `title`?"),
            ("data = \"/tmp\"\n", "data is for one machine"),
        ] {
            state(stack, wrong).refused(2, &[says]);
        }
        assert_eq!(stack.api().object(stack.bucket(), "config/curlew.toml"), good.as_bytes());
    });
    steps.step("wrong settings that got there by other means change nothing", || {
        stack.api().put_object(stack.bucket(), "config/curlew.toml", b"[web\n");
        stack.restart();
        assert!(stack.get("/", "").1.contains(title), "{}", stack.told());
        stack.invoked("dispatch", &json!({}));
        stack.run(&["config", "check"]).refused(2, &["config/curlew.toml, line 1"]);
        let said = stack.told();
        assert!(said.contains("the last good settings stay in force"), "{said}");
    });
    steps.step("crawling stops and goes on by a word", || {
        state(stack, &good).ok();
        stack.run(&["config", "pause"]).ok();
        stack.restart();
        assert_eq!(stack.invoked("dispatch", &json!({})), json!({ "paused": true }));
        assert!(stack.get("/", "").1.contains(title), "the search page goes on");
        stack.run(&["config", "resume"]).ok();
        stack.restart();
        assert_eq!(stack.invoked("dispatch", &json!({}))["paused"], Value::Null);
        assert_eq!(stack.api().object(stack.bucket(), "config/curlew.toml"), good.as_bytes());
        let audit = stack.run(&["audit", "--json"]).ok().stdout;
        assert!(audit.contains("config/curlew.toml"), "{audit}");
    });
}

/// Returns all sites, two of them by their feeds. The poll function does not make the first poll of a feed that
/// discovery finds, but that of a named feed.
fn named(web: &Web) -> Vec<String> {
    let by_feed = [STAYS, LOSES_ITS_PAGES];
    let sites = web.farm().sites().iter().filter(|site| !by_feed.contains(&site.host.as_str()));
    let feeds = by_feed.iter().flat_map(|host| web.farm().site(host).unwrap().feed_urls());
    sites.map(|site| site.start_url.clone()).chain(feeds.map(|feed| format!("--feed={feed}"))).collect()
}

/// Returns the state of each page by URL, without times.
fn rows(pages: &[Value]) -> BTreeMap<String, String> {
    let state = |page: &Value| {
        let state = &page["state"];
        format!("{} {} {}", state["state"], state["reason"], state["of"])
    };
    pages.iter().map(|page| (text(page, "url"), state(page))).collect()
}

/// Returns the record of each page by id, without times.
fn records(records: &[Value]) -> BTreeMap<String, [String; 6]> {
    let kept = |record: &Value| ["url", "title", "text", "lang", "image", "host"].map(|name| record[name].to_string());
    let by_id: BTreeMap<_, _> = records.iter().map(|record| (text(record, "id"), kept(record))).collect();
    assert_eq!(by_id.len(), records.len(), "a page is exported twice");
    by_id
}

fn judge_manners(calls: &[Call], farm: &Farm) {
    curlew_tests::judge_manners(calls, farm, PAUSE);
    assert_eq!(judge::impatient(calls, farm), []);

    assert_eq!(called_twice(calls), []);
    assert!(judge::tally(calls).calls_per_page() <= 2.0, "{:?}", judge::tally(calls));
}

/// Checks that the raw pages of the stack equal those of the other store, as WARC, and that extracting them again
/// changes no record.
fn judge_raw(stack: &Stack, store: &Store) {
    let file = store.around().join("pages.warc.gz");
    let path = file.to_str().unwrap();
    let export = ["export", "warc", "--output", path];
    let exported = |ran: Ran| {
        ran.ok();
        warcio(&["check"], &file);
        let index = warcio(&["index", "-f", "warc-type,warc-target-uri,http:status"], &file);
        index.lines().map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let (here, there) = (exported(stack.run(&export)), exported(store.run(&export)));
    assert_eq!(here, there);
    let pages = here.iter().filter(|line| line.contains("\"response\"")).count();
    assert!(pages > 100, "{pages}");
    let told = stack.run(&["reextract", "--json"]).ok().json();
    assert_eq!((&told["same"], &told["revised"]), (&json!(pages), &json!(0)), "{told}");
}

/// Returns the line of a raw page that names a page of this host.
fn target(host: &str) -> String {
    format!("WARC-Target-URI: http://{host}/")
}

fn raw_pages(stack: &Stack) -> String {
    let keys = stack.api().keys(stack.bucket(), "raw/");
    let objects = keys.iter().map(|key| stack.api().object(stack.bucket(), key));
    objects.map(|bytes| String::from_utf8_lossy(&zstd::decode_all(&bytes[..]).unwrap()).into_owned()).collect()
}

/// Publishes the index; the stack's search page then finds the same pages as the command line in the other store.
fn searching(steps: &mut Steps, stack: &Stack, store: &Store) {
    let published = stack.invoked("index", &json!({ "what": "publish" }));
    steps.step("index", || {
        let added: u64 =
            published["years"].as_array().unwrap().iter().map(|year| year["added"].as_u64().unwrap()).sum();
        assert_eq!(added, store.records().len() as u64, "{published}");
        let again = stack.invoked("index", &json!({ "what": "publish" }));
        assert_eq!(again["years"][0]["added"], 0, "a published page is not published again: {again}");
    });
    steps.step("search", || {
        for host in [LOSES_ITS_PAGES, STAYS] {
            let query = format!("site:{host}");
            let (mut here, mut there) = (stack.found(&query), store.found(&query));
            here.sort();
            there.sort();
            assert_eq!(here, there);
            assert!(!here.is_empty());
        }
        let (status, page) = stack.get("/", "");
        assert_eq!(status, 200);
        assert!(page.contains("<html"), "{page}");
    });
}

/// Pages answer 410, the sample function has them re-checked, and they are no longer found.
fn vanishing(steps: &mut Steps, stack: &Stack, store: &Store, web: &Web) {
    web.set_mode(LOSES_ITS_PAGES, Mode::Pages(410));
    web.clear_calls();
    // The pages were fetched a minute ago, and would not be re-checked for a day.
    stack.set(&[("CURLEW_RULES_RECHECK_AFTER", "1s")]);
    assert!(raw_pages(stack).contains(&target(LOSES_ITS_PAGES)));
    let kept = stack.api().keys(stack.bucket(), "raw/");
    stack.api().put_object(stack.bucket(), OLD_RAW, b"");
    let sampled = stack.invoked("sample", &json!({ "count": 10_000 }));
    stack.come_to_rest(CRAWL);
    steps.step("raw pages go with their pages, and when their time is over", || {
        assert!(!raw_pages(stack).contains(&target(LOSES_ITS_PAGES)) && raw_pages(stack).contains(&target(STAYS)));
        assert_eq!(stack.api().keys(stack.bucket(), "raw/"), kept);
    });
    steps.step("sample", || {
        assert!(sampled["pages"].as_u64().unwrap() > 0, "{sampled}");
        let calls = web.calls();
        judge_pauses(&calls, PAUSE);
        assert!(calls.iter().all(|call| call.kind == Kind::Page), "a re-check fetches only the page");
        assert!(calls.iter().any(|call| call.host == LOSES_ITS_PAGES && call.status == 410));
    });
    steps.step("the status, as it was counted with the sample", || {
        let (code, said) = stack.get("/status.json", "");
        assert_eq!(code, 200, "{said}");
        let status = &serde_json::from_str::<Value>(&said).unwrap()["status"];
        let here = store.run(&["status", "--json"]).ok().json();
        let (counted, pages) = (&status["counted"], &here["pages"]);
        assert_eq!((&counted["sites"], &counted["feeds"]), (&here["sites"], &here["feeds"]), "{status}");
        // Meanwhile, re-checks have removed pages that have expired.
        let taken_in = |of: &Value| of["accepted"].as_u64().unwrap_or(0) + of["gone"].as_u64().unwrap_or(0);
        assert_eq!((taken_in(counted), &counted["rejected"]), (taken_in(pages), &pages["rejected"]), "{status}");
        assert!(status["counted_at"].is_string() && status["queues"].as_array().unwrap().len() == 5, "{status}");
        let (_, page) = stack.get("/status", "");
        assert!(page.contains("were counted on"), "{page}");
    });
    steps.step("what is gone is not found", || {
        assert_eq!(stack.found(&format!("site:{LOSES_ITS_PAGES}")), Vec::<String>::new());
        assert!(!stack.found(&format!("site:{STAYS}")).is_empty());
        assert!(stack.records().iter().all(|record| record["host"] != LOSES_ITS_PAGES));
        let audit = stack.list("audit");
        assert!(audit.iter().any(|line| text(line, "url").contains(LOSES_ITS_PAGES)), "{audit:?}");
        assert_eq!(stack.all_dead(), 0, "{}", stack.told());
    });
}

/// The operator requests the back catalogue of a site, and the stack reads it, starting with the site's feed.
fn reading_back(steps: &mut Steps, stack: &Stack, web: &Web) {
    // The high budget keeps the steps from being put off.
    stack.set(&[("CURLEW_RULES_BACKFILL_PER_DAY", "50000000"), ("CURLEW_RULES_WINDOW_LIMIT", "8h")]);
    web.clear_calls();
    let start = &web.farm().site(HAS_A_PAST).unwrap().start_url;
    stack.run(&["crawl", "--history", start]).ok();
    stack.come_to_rest(CRAWL);
    steps.step("a back catalogue is read", || {
        let shown = stack.run(&["sites", "show", HAS_A_PAST, "--json"]).ok().json();
        let history = &shown["history"][0];
        assert!(history["documents"].as_u64().unwrap() > 0 && history["state"] == "done", "{shown}");
        let calls = web.calls();
        assert!(calls.iter().any(|call| call.host == HAS_A_PAST && call.kind == Kind::Feed), "{calls:?}");
        assert_eq!(judge::closer_than(&calls, judge::registrable, PAUSE), []);
        assert_eq!(stack.all_dead(), 0, "{}", stack.told());
    });
}

/// The owner of a site proves ownership, blocks the site, and has everything removed.
fn owning(steps: &mut Steps, stack: &Stack, web: &Web) {
    let names = web.name_server();
    let addr = names.addr().to_string();
    stack.set(&[("CURLEW_WEB_PROOF_OVER_HTTP", "true"), ("CURLEW_NETWORK_NAME_SERVER", &addr)]);
    web.clear_calls();
    let (mut page, is_shut) = (String::new(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let door = Door::open(scope, stack, &is_shut);
        let browser = Browser::beside(web);
        page = by_browser(steps, stack, web, &door, &browser);
    });
    steps.step("everything is removed", || {
        assert_eq!(stack.post(&page, "request=forget").0, 422, "forgetting needs a confirmation");
        assert_eq!(stack.post(&page, "request=forget&sure=yes").0, 200);
        stack.come_to_rest(CRAWL);
        assert!(stack.records().iter().all(|record| record["host"] != STAYS));
        assert!(!raw_pages(stack).contains(&target(STAYS)));
        let report = stack.run(&["audit", "show", STAYS, "--json"]).ok().json();
        assert_eq!(report["clean"], true, "{report}");
        let calls = web.calls();
        assert_eq!(judge::closer_than(&calls, judge::registrable, PAUSE), []);
        assert_eq!(stack.all_dead(), 0, "{}", stack.told());
    });
    steps.step("a message reaches the operator", || {
        let (_, form) = stack.get("/contact", "");
        std::thread::sleep(FILLING_IN);
        let token = between(&form, "name=\"token\" value=\"", "\"");
        let (status, said, _) = stack.post("/contact", &format!("about=abuse&text=Hello&token={token}"));
        assert_eq!(status, 200, "{said}");
        let messages = stack.list("messages");
        assert!(messages.len() == 1 && messages[0]["text"] == "Hello", "{messages:?}");
    });
}

/// The operator makes a key. The stack then signs its requests with the key, and its pages publish the public half.
fn signing(steps: &mut Steps, stack: &Stack, web: &Web) {
    steps.step("a key is made", || {
        let made = stack.run(&["key", "new", "--json"]).ok().json();
        stack.run(&["key", "new"]).refused(1, &["already", "rotate"]);
        let shown = stack.run(&["key", "show", "--json"]).ok().json();
        assert_eq!(shown["keys"][0]["id"], made["keys"][0]["id"], "{shown}");
    });
    stack.set(&[("CURLEW_WEB_BASE_URL", "https://search.test"), ("CURLEW_SIGNATURES_MODE", "always")]);
    web.clear_calls();
    let sampled = stack.invoked("sample", &json!({ "count": 20 }));
    // The poll function publishes the keys, and this feed is new to it.
    stack.run(&["crawl", &format!("--feed={NEW_FEED}")]).ok();
    stack.come_to_rest(CRAWL);
    steps.step("sites can verify what they are sent", || {
        assert!(sampled["pages"].as_u64().unwrap() > 0, "{sampled}");
        let answer = stack.visit("GET", DIRECTORY, "", &Map::new(), "");
        assert_eq!(answer["statusCode"], 200, "{answer}");
        let directory = Received {
            authority: "search.test".to_owned(),
            agent: String::new(),
            input: text(&answer["headers"], "signature-input"),
            signature: text(&answer["headers"], "signature"),
        };
        let mut site = Site::with(&directory, &text(&answer, "body"));
        let calls = web.calls();
        assert!(!calls.is_empty());
        for call in &calls {
            assert!(site.accepts(&Received::of(call), signatures::now()), "{call:?}");
        }
    });
}

/// Uses the web function's pages in a browser; returns the path of the owner's page.
fn by_browser(steps: &mut Steps, stack: &Stack, web: &Web, door: &Door<'_>, browser: &Browser) -> String {
    let results = door.url(&format!("/?q=site%3A{STAYS}"));
    let mut page = String::new();
    steps.step("a person searches and follows a result", || {
        browser.open(&results);
        assert!(!browser.find_all("main ol article").is_empty());
        assert_eq!(browser.barriers(), Vec::<String>::new());
        assert_eq!(browser.complaints(), Vec::<String>::new());
        browser.find("article h2 a").click();
        browser.wait_for(&format!("return location.hostname === '{STAYS}'"));
        assert!(web.calls().iter().any(|call| call.host == STAYS && call.user_agent.contains("Chrome")));
        web.clear_calls();
    });
    steps.step("a person suggests a site", || {
        browser.open(&door.url("/suggest"));
        std::thread::sleep(FILLING_IN);
        browser.find("#url").type_keys("never-heard-of.test\u{e007}");
        assert!(browser.find(".notice.good").text().contains("written down"));
    });
    steps.step("a claim is proven by a file", || {
        browser.open(&door.url("/owner"));
        std::thread::sleep(FILLING_IN);
        browser.find("#host").type_keys(&format!("{STAYS}\u{e007}"));
        let challenge = browser.find("#challenge").text();
        page = browser.script("return location.pathname").as_str().unwrap().to_owned();
        assert_eq!(stack.post(&page, "request=block").0, 403, "blocking needs a proof");
        assert!(web.put(STAYS, "/.well-known/curlew-challenge.txt", "text/plain", &challenge));
        browser.submit("form:has(input[value=look]) button");
        stack.come_to_rest(CRAWL);
        browser.open(&door.url(&page));
        let told = browser.find("main").text();
        assert!(
            told.contains("The site is yours, as proved by the file.") && told.contains("can be found since"),
            "{told}"
        );
    });
    steps.step("a block counts at once, and its pages vanish", || {
        browser.submit("form:has(input[value=block]) button");
        assert!(browser.find(".notice.good").text().contains("Blocked"));
        browser.open(&results);
        assert!(browser.find("main h1").text().contains("Nothing found"));
    });
    page
}

fn between(text: &str, before: &str, after: &str) -> String {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("there is no {before} in {text}"));
    rest.split_once(after).unwrap().0.to_owned()
}

/// Waits until the schedule calls dispatch; the test itself does not call it.
fn await_tick(stack: &Stack) {
    let began = Instant::now();
    while !stack.logged("dispatch").iter().any(|line| line["message"] == DONE) {
        assert!(began.elapsed() < TICK, "the schedule does not fire");
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// Prints the resource usage of each function, and checks its memory.
fn judge_memory(stack: &Stack) {
    let mut wrong = Vec::new();
    for function in FUNCTIONS {
        let done: Vec<Value> = stack.logged(function).into_iter().filter(|line| line["message"] == DONE).collect();
        let most = |name: &str| done.iter().filter_map(|line| line[name].as_u64()).max();
        let (runs, memory) = (done.len(), most("max_rss_kb").unwrap_or(0));
        eprintln!("{function}: {runs} invocations, at most {memory} KiB, start at most {:?} ms", most("init_ms"));
        assert!(runs > 0 && memory > 0, "{function} has logged nothing");
        let bar = MOST_KB.iter().find(|(name, _)| *name == function);
        if bar.is_some_and(|(_, bar)| memory > *bar) {
            wrong.push(format!("{function} had {memory} KiB"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("; "));
}
