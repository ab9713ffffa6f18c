//! Requests by people: naming a site that cannot be crawled, and polling a feed at once.

use curlew_tests::{LIMIT, Ran, Server, Store, Web, until};
use serde_json::Value;
use std::collections::BTreeSet;
use std::net::TcpListener;

/// A site whose feed has validators.
const LIVELY: &str = "harbour-lantern.test";
/// A site that answers 429 after a few pages.
const HELD: &str = "forno-affollato.test";
/// A site that is named without its scheme.
const BARE: &str = "cucina-di-casa.test";
const FEEDLESS: &str = "senza-feed.test";

/// Returns the summary's entry about a host that failed.
#[track_caller]
fn failed<'a>(summary: &'a Value, host: &str) -> &'a Value {
    let all = summary["failed"].as_array().unwrap();
    let is_it = |one: &&Value| one["url"].as_str().unwrap().contains(host);
    all.iter().find(is_it).unwrap_or_else(|| panic!("{host} is not among those that failed: {summary}"))
}

#[test]
fn a_site_that_fails_says_why_and_what_to_do() {
    let web = Web::demo();
    let store = Store::brisk(&web);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = format!("refused.example={closed}");
    // A bare name means HTTPS, which the bundled web does not speak.
    let sites = ["refused.example", BARE, &format!("http://{FEEDLESS}/")];
    let crawl = |form: &[&str], sites: &[&str]| -> Ran {
        store.run(&[&["crawl", "--resolve", &refused][..], form, sites].concat())
    };
    let ran = crawl(&["--json"], &sites);
    assert!(ran.code() == 1 && ran.stderr.contains("none of the named sites and feeds"), "{ran:?}");
    let summary = ran.json();
    for (host, cause, remedy) in [
        ("refused.example", "connection_refused", "http://refused.example/"),
        (BARE, "tls", "http://cucina-di-casa.test/"),
        (FEEDLESS, "no_feed", "--feed"),
    ] {
        let failed = failed(&summary, host);
        assert_eq!((&failed["kind"], &failed["cause"]), (&"site".into(), &cause.into()), "{failed}");
        assert!(failed["remedy"].as_str().unwrap().contains(remedy), "{failed}");
        assert!(failed["again_at"].as_str() > Some("20"), "{failed}");
    }
    let listed = store.run(&["sites"]).ok().stdout;
    assert!(listed.contains("refused") && listed.contains("name it as http://refused.example/"), "{listed}");
    let shown = store.run(&["sites", "show", "refused.example"]).ok().stdout;
    assert!(shown.contains("1 call in a row") && shown.contains("name it as http://refused.example/"), "{shown}");

    // A crawl with a working site among the named ones succeeds, and still names the failed ones.
    let working = format!("http://{LIVELY}/");
    let ran = crawl(&[], &["refused.example", &working]).ok();
    assert!(ran.stdout.contains("failed    1 site") && ran.stdout.contains("name it as"), "{}", ran.stdout);
    let shown = store.run(&["sites", "show", LIVELY]).ok().stdout;
    assert!(shown.contains(&format!("http://{LIVELY}: ")) && !shown.contains(":80"), "{shown}");
    let held = store.run(&["crawl", "--json", &format!("http://{HELD}/"), &format!("http://{BARE}/")]).ok().json();
    assert_eq!(held["held"]["too_many_requests"], 1, "{held}");
    assert!(!held["failed"].to_string().contains(HELD), "a held site has not failed: {held}");
    let waits = failed(&held, &format!("http://{BARE}/"));
    assert!(waits["cause"] == "held" && waits["reason"].as_str().unwrap().contains("network"), "{waits}");
}

#[test]
fn a_person_may_have_a_feed_polled_now() {
    let web = Web::demo();
    let mut store = Store::brisk(&web);
    store.run(&["poll", LIVELY]).refused(1, &["crawl something first"]);
    store.crawl(&[format!("http://{LIVELY}/"), format!("http://{HELD}/")]);
    let found = store.records().len();
    web.publish(LIVELY, 2);
    let said = store.run(&["crawl"]).ok().stdout;
    assert!(said.contains("curlew poll"), "the crawl must name the command that ignores the schedule: {said}");
    store.configure("[rules]\npoll_on_request = \"1h\"\n");
    let soon = store.run(&["poll", LIVELY, "--json"]).ok().json();
    assert_eq!((&soon["requested"][0]["outcome"], &soon["summary"]), (&"too soon".into(), &Value::Null), "{soon}");

    store.configure("[rules]\npoll_on_request = \"10ms\"\n");
    let ran = store.run(&["poll", LIVELY, HELD, "--json"]).ok().json();
    let outcomes: BTreeSet<&str> =
        ran["requested"].as_array().unwrap().iter().map(|one| one["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["held", "sent"].into(), "{ran}");
    assert_eq!(ran["summary"]["entries_seen"], 2, "{ran}");
    assert_eq!(ran["summary"]["failed"].as_array().map(Vec::len), Some(0), "no sent poll has failed: {ran}");
    assert_eq!(store.records().len(), found + 2);
    store.run(&["poll", "nowhere.test"]).refused(1, &["nowhere.test", "curlew crawl"]);

    // Beside a running process, the process does the job.
    let server = Server::start(&store);
    web.publish(LIVELY, 1);
    let said = store.run(&["poll", LIVELY]).ok().stdout;
    assert!(said.contains("sent") && said.contains("the running curlew polls"), "{said}");
    until(LIMIT, || "the running process does not poll".into(), || store.records().len() >= found + 3);
    server.stop();
}

#[test]
fn lists_without_anything_say_so_to_people_and_nothing_to_programs() {
    let web = Web::demo();
    let store = Store::brisk(&web);
    store.crawl(&[format!("http://{LIVELY}/")]);
    for (what, said) in [
        ("holds", "No host is held"),
        ("owners", "Nobody has claimed"),
        ("audit", "No page has been removed"),
        ("messages", "There are no messages"),
        ("override", "There are no overrides"),
    ] {
        assert!(store.run(&[what]).ok().stdout.starts_with(said), "{what}");
        assert_eq!(store.run(&[what, "--json"]).ok().stdout, "", "{what}");
    }
    let feed = store.run(&["feeds", "show", LIVELY, "--json"]).ok().json();
    assert!(feed["url"].as_str().unwrap().contains(LIVELY), "the name of a host with one feed names the feed");
    store.run(&["pages", "show", LIVELY]).refused(1, &["name one of", "http://harbour-lantern.test/"]);
    let exported = store.run(&["export", "feeds"]).ok().rows();
    assert!(!exported.is_empty() && exported.iter().all(|feed| feed["seen"].is_null() && feed["slot"].is_null()));
    assert!(store.run(&["hold", LIVELY, "--for", "7d"]).ok().stdout.contains("until 20"));
    let hook = format!("https://example.org/{}", "hook".repeat(30));
    store.run(&["watch", "add", "tide", "--to", &hook]).refused(2, &["give --contact URL|MAIL"]);
    // Without a contact the server warns that it does not crawl public sites.
    let said = Server::start(&store).stop().stderr;
    assert!(said.contains("public sites are neither crawled") && said.contains("--contact"), "{said}");
}
