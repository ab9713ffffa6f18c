//! A farm of equal sites: the crawler's conduct by the sites' own logs, without repeated calls.

use curlew_fixtureweb::{Call, Kind, Uniform, judge};
use curlew_tests::{LIMIT, Steps, Store, Web, judge_pauses, until};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Minimum pause that the program promises, in microseconds.
const PAUSE: u64 = 1_000_000;
const HOSTS: usize = 40;
const PAGES: usize = 8;
/// Number of calls to each host in addition to two for each page: robots.txt, home page and feed.
const CALLS_OF_A_HOST: usize = 3;

fn farm(prefix: &str, hosts: usize, pages: usize) -> Web {
    Web::uniform(&Uniform { hosts, pages, bytes: 20 * 1024, images: true, prefix: prefix.to_owned() })
}

#[track_caller]
fn judge_manners(calls: &[Call], web: &Web) {
    curlew_tests::judge_manners(calls, web.farm(), PAUSE);
    assert_eq!(judge::homes_asked_again(calls, judge::registrable), BTreeSet::new());
}

#[test]
fn forty_hosts_with_eight_new_pages_each() {
    let web = farm("even", HOSTS, PAGES);
    let store = Store::new(&web);
    let mut steps = Steps::new();

    let summary = store.crawl(&web.starts());
    let calls = web.calls();
    steps.step("everything is accepted", || {
        for name in ["accepted", "entries_seen", "pages_fetched"] {
            assert_eq!(summary[name], HOSTS * PAGES, "{summary}");
        }
        assert_eq!((&summary["sites"], &summary["feeds"]), (&HOSTS.into(), &HOSTS.into()));
        assert_eq!(["parked", "dead"].map(|name| &summary[name]), [&json!(0); 2], "{summary}");
        assert_eq!(["rejected", "held"].map(|name| &summary[name]), [&json!({}); 2], "{summary}");
        assert_eq!(summary["calls"], calls.len());
        assert_eq!(store.records().len(), HOSTS * PAGES);
    });
    steps.step("politeness", || judge_manners(&calls, &web));
    steps.step("at most two calls a page", || {
        let tally = judge::tally(&calls);
        assert_eq!(tally.distinct_pages, HOSTS * PAGES);
        assert!(tally.calls_per_page() <= 2.0, "{tally:?}");
        assert_eq!((tally.robots, tally.home, tally.feeds, tally.other), (HOSTS, HOSTS, HOSTS, 0));
        assert!(calls.len() <= HOSTS * (PAGES * 2 + CALLS_OF_A_HOST), "{tally:?}");
        assert_eq!(judge::repeated(&calls), []);
    });

    web.clear_calls();
    let again = store.crawl(&web.starts());
    steps.step("a second crawl calls nobody", || {
        assert_eq!(web.calls(), [], "no feed is due yet");
        assert_eq!((&again["calls"], &again["accepted"], &again["entries_seen"]), (&0.into(), &0.into(), &0.into()));
        assert_eq!(store.records().len(), HOSTS * PAGES);
    });

    let fresh: Vec<String> = web.starts().iter().flat_map(|start| web.publish(host_of(start), 2)).collect();
    assert_eq!(fresh.len(), 2 * HOSTS, "the farm has published new pages");
    let feeds: Vec<String> = web.farm().sites().iter().flat_map(curlew_fixtureweb::Site::feed_urls).collect();
    let by_name: Vec<&str> = feeds.iter().flat_map(|feed| ["--feed", feed]).collect();
    let args = [&["crawl", "--json"], &by_name[..]].concat();
    steps.step("nothing is polled sooner than allowed, whoever asks", || {
        let asked = store.run(&args).ok().json();
        assert_eq!(web.calls(), []);
        assert_eq!(asked["accepted"], 0);
        let allowed = store.run(&["crawl", "--json"]).ok().json();
        assert_eq!(web.calls(), []);
        assert_eq!(allowed["calls"], 0);
    });
    steps.end();
}

/// The settings allow a poll after two seconds, and the test sets the last tick back by eight hours, so every feed is
/// due again.
#[test]
fn what_is_published_later_is_fetched_and_nothing_else_is() {
    const FEW: usize = 4;
    const FLOOR: Duration = Duration::from_secs(2);
    let web = farm("later", FEW, 2);
    let mut store = Store::new(&web);
    store.configure("[rules]\npoll_floor = \"2s\"\npoll_interval = \"2s\"\nadaptive = false\n");
    store.crawl(&web.starts());
    let first = web.calls();
    let polls = first.iter().filter(|call| call.kind == Kind::Feed);
    let polled: BTreeMap<String, u64> = polls.map(|call| (call.host.clone(), call.end)).collect();
    assert_eq!(polled.len(), FEW);

    let fresh: Vec<String> = web.starts().iter().flat_map(|start| web.publish(host_of(start), 1)).collect();
    web.clear_calls();
    std::thread::sleep(FLOOR);
    let tick = rusqlite::Connection::open(store.database()).unwrap();
    assert_eq!(tick.execute("UPDATE marks SET at = at - 8 * 3600 * 1000 WHERE name = 'dispatch'", []).unwrap(), 1);
    drop(tick);
    let summary = store.run(&["crawl", "--json"]).ok().json();
    assert_eq!((&summary["accepted"], &summary["entries_seen"]), (&FEW.into(), &FEW.into()), "{summary}");

    let calls = web.calls();
    judge_manners_of_more(&calls);
    for call in calls.iter().filter(|call| call.kind == Kind::Feed) {
        assert!(u128::from(call.start - polled[&call.host]) >= FLOOR.as_micros(), "polled too soon: {call:?}");
        assert!(call.header("if-none-match").is_some(), "a poll is conditional: {call:?}");
    }
    let pages = calls.iter().filter(|call| call.kind == Kind::Page);
    let pages: BTreeSet<String> = pages.map(|call| format!("http://{}{}", call.host, call.path)).collect();
    assert_eq!(pages, fresh.into_iter().collect(), "only new pages are fetched");
    let kinds = calls.iter().all(|call| matches!(call.kind, Kind::Feed | Kind::Page | Kind::Image));
    assert!(kinds, "robots.txt is still fresh");
    assert_eq!(judge::repeated(&calls), []);
}

#[track_caller]
fn judge_manners_of_more(calls: &[Call]) {
    judge_pauses(calls, PAUSE);
    assert_eq!(judge::indiscreet(calls), []);
}

#[test]
fn a_host_that_is_blocked_while_it_is_crawled_is_called_no_more() {
    const FEW: usize = 5;
    let web = farm("block", FEW, PAGES);
    let store = Store::new(&web);
    let blocked = "block-0003.test";
    let to_it = |calls: Vec<Call>| calls.into_iter().filter(|call| call.host == blocked).collect::<Vec<_>>();
    let mut steps = Steps::new();

    let crawl = store.start_crawl(&web.starts());
    // Some pages of the host are indexed by then, and others are not.
    until(
        LIMIT,
        || format!("the crawl does not come to {blocked}"),
        || to_it(web.calls()).iter().filter(|call| call.kind == Kind::Page).count() >= 3,
    );
    store.run(&["block", blocked]).ok();
    let at = web.now_micros();
    let summary = crawl.wait(LIMIT).ok().json();

    steps.step("no call begins after the block", || {
        // A call that was about to be sent when the block was written may still begin shortly afterwards.
        let late: Vec<Call> = to_it(web.calls()).into_iter().filter(|call| call.start > at).collect();
        assert!(late.len() <= 1, "{late:?}");
        assert!(late.iter().all(|call| call.start < at + PAUSE / 10), "{late:?}");
        judge_manners(&web.calls(), &web);
    });
    steps.step("the others are crawled to the end", || {
        let rejected = summary["rejected"]["blocked"].as_u64().unwrap_or(0);
        let accepted = summary["accepted"].as_u64().unwrap();
        assert_eq!(accepted + rejected, (FEW * PAGES) as u64, "each page has an outcome: {summary}");
        assert!(accepted >= ((FEW - 1) * PAGES) as u64, "{summary}");
        assert!(rejected > 0, "{summary}");
        assert_eq!(summary["dead"], 0);
    });
    steps.step("its pages are not found", || {
        assert_eq!(store.found(&format!("site:{blocked}")), Vec::<String>::new());
        let all = store.found("site:block-0001.test");
        assert_eq!(all.len(), PAGES);
    });
    steps.step("a list says so", || {
        let holds = store.list("holds");
        let row = holds.iter().find(|row| row["host"] == blocked).unwrap();
        assert_eq!(row["state"]["blocked"][0], blocked);
        assert!(store.run(&["holds", "list"]).ok().stdout.contains("blocked"));
    });
    steps.step("a search changes at once", || {
        let other = "block-0001.test";
        store.run(&["block", other]).ok();
        assert_eq!(store.found(&format!("site:{other}")), Vec::<String>::new());
        store.run(&["unblock", other]).ok();
        assert_eq!(store.found(&format!("site:{other}")).len(), PAGES);
    });
    steps.step("a block ends", || {
        web.clear_calls();
        let said = store.run(&["unblock", blocked]).ok().stdout;
        assert!(said.contains("no longer blocked"), "{said}");
        assert!(store.run(&["unblock", blocked]).ok().stdout.contains("was not blocked"));
        let kept: usize = store.records().iter().filter(|record| record["host"] == blocked).count();
        assert_eq!(store.found(&format!("site:{blocked}")).len(), kept);
        assert!(kept > 0, "some of the host's pages were accepted before the block");
        // The host may be called again. Its pages are re-checked, and those that were rejected because of the block are
        // fetched.
        let before = store.records().len();
        let sample = store.run(&["sample", "--all", "--json"]).ok().json();
        assert_eq!(sample["still_there"], before, "{sample}");
        store.run(&["crawl", "--json"]).ok();
        assert_eq!(store.records().len(), FEW * PAGES, "{:?}", store.list("pages"));
        assert!(to_it(web.calls()).len() >= PAGES);
        judge_manners_of_more(&web.calls());
    });
    steps.step("a name that is none", || {
        store.run(&["block", "not a host"]).refused(2, &["is not a host"]);
    });
    steps.end();
}

fn host_of(start: &str) -> &str {
    start.trim_start_matches("http://").trim_end_matches('/')
}
