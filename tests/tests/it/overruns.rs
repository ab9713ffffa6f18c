//! Documents that take too long, and jobs whose process dies each time, are given up with a reason, and nothing else
//! is.

use curlew_fixtureweb::Uniform;
use curlew_tests::{LIMIT, Server, Store, Web, args, text};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The time limit is far shorter than the parsing of a page of [`LONG_PAGE`] bytes takes on any machine, and far longer
/// than that of a feed.
const SHORT_TIME: &str = "[limits]\nparse_time = \"30ms\"\npage_bytes = 6000000\n";
const LONG_PAGE: usize = 5_500_000;
/// Time after which a job that was handed out is certainly calling its page rather than about to be deferred.
const AT_WORK: Duration = Duration::from_millis(300);

fn long_pages(hosts: usize, pages: usize) -> Web {
    Web::uniform(&Uniform { hosts, pages, bytes: LONG_PAGE, images: false, prefix: "long".into() })
}

fn states(store: &Store) -> Vec<Value> {
    store.list("pages").into_iter().map(|row| row["state"].clone()).collect()
}

fn is_overrun(state: &Value) -> bool {
    state["state"] == "rejected" && state.to_string().contains("of processor time")
}

#[test]
fn pages_that_take_too_long_are_rejected_while_searches_are_answered() {
    let web = long_pages(2, 2);
    let mut store = Store::brisk(&web);
    store.configure(SHORT_TIME);
    // This command names the sites; the serving process crawls them.
    store.run(&args(&["crawl", "--until", "1s", "--json"], &web.starts())).ok();
    let server = Server::start(&store);
    let deadline = Instant::now() + LIMIT;
    loop {
        assert_eq!(server.get("/?q=curlew").status, 200);
        let states = states(&store);
        if states.len() == 4 && states.iter().all(|state| state["state"] != "pending") {
            assert!(states.iter().all(is_overrun), "{states:?}");
            break;
        }
        assert!(Instant::now() < deadline, "{states:?}");
    }
    server.stop();
}

#[test]
fn a_page_that_kills_its_process_each_time_is_given_up_and_the_rest_is_done() {
    let web = Web::demo();
    let store = Store::brisk(&web);
    let sites = ["http://slow-drip.test/".to_owned()];
    // The answer of the page takes longer than a process lives in this test. Jobs of a dead process stay handed out
    // until the next process recovers. The discovery calls the page first; when it is repeated, it leaves pages to
    // visits of their own.
    let handed_out = "SELECT id || '-' || receives FROM jobs JOIN messages USING (id)
        WHERE handed_out = 1 AND (message LIKE '%/special%' OR message LIKE '%\"job\":\"discover\"%')";
    let (mut deaths, mut last) = (0, Vec::new());
    // This command creates the database.
    store.run(&["crawl", &sites[0], "--until", "0s", "--json"]).ok();
    loop {
        let mut crawl = store.start_crawl(&sites);
        let deadline = Instant::now() + LIMIT;
        let (mut now, mut seen) = (Vec::new(), Instant::now());
        while crawl.is_running() && (now.is_empty() || now == last || seen.elapsed() < AT_WORK) {
            let before = std::mem::replace(&mut now, store.sql(handed_out));
            if now != before {
                seen = Instant::now();
            }
            assert!(Instant::now() < deadline, "the crawl neither comes to the page nor ends");
            std::thread::sleep(Duration::from_millis(20));
        }
        if !crawl.is_running() {
            crawl.wait(LIMIT).ok();
            break;
        }
        crawl.kill();
        last = now;
        deaths += 1;
        assert!(deaths < 30, "the page comes back for ever");
    }
    let dead = store.sql("SELECT error FROM dead");
    let left = store.sql("SELECT due || ' ' || receives || ' ' || message FROM jobs JOIN messages USING (id)");
    assert_eq!(dead.len(), 1, "{deaths} deaths; left: {left:?}; pages: {:?}", states(&store));
    assert_eq!(dead, ["delivered 7 times without finishing; the last process died or was killed"]);
    let rows = store.list("pages");
    let accepted = rows.iter().filter(|row| row["state"]["state"] == "accepted").map(|row| text(row, "url"));
    assert_eq!(accepted.collect::<BTreeSet<String>>().len(), 3, "{rows:?}");
}
