//! `curlew trace`: the history of a page, and the log lines that belong to it.

use curlew_tests::{Store, Web, args};
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn one_id_leads_from_the_feed_to_the_index_through_the_log() {
    let web = Web::demo();
    let store = Store::brisk(&web);
    let starts = web.starts();
    let crawled = store.run(&args(&["crawl", "--json", "--log", "json", "-vv"], &starts)).ok();
    let log = store.file("log.jsonl", &crawled.stderr);

    let url = store.found("farina")[0].clone();
    let told = store.run(&["trace", &url, "--json", "--log-file", &log]).ok().json();
    assert_eq!((&told["url"], &told["state"]), (&url.as_str().into(), &"accepted".into()));
    let story: Vec<&str> = told["story"].as_array().unwrap().iter().map(|of| of["what"].as_str().unwrap()).collect();
    let mut rest = story.iter();
    for begins in
        ["named by the feed http", "fetched from ", "accepted: its record is in segments/", "published in splits/"]
    {
        // If discovery found the page, its feed has no time, and is the last item.
        let is_there = if begins.starts_with("named") {
            story.iter().any(|what| what.starts_with(begins))
        } else {
            rest.any(|what| what.starts_with(begins))
        };
        assert!(is_there, "{begins} is not in {story:?}");
    }
    let trace = told["trace"].as_str().unwrap();
    assert!(trace.len() == 32 && trace.bytes().all(|b| b.is_ascii_hexdigit()), "{trace}");
    let lines = told["log"].as_array().unwrap();
    assert!(lines.iter().all(|line| line["span"]["trace"] == trace));
    let kinds: BTreeSet<&str> = lines.iter().map(|line| line["span"]["kind"].as_str().unwrap()).collect();
    assert!(kinds.is_superset(&["discover", "extract", "index"].into()), "{kinds:?}");
    assert!(
        lines.iter().any(|line| line["message"] == "a page is taken in" && line["url"] == url.as_str()),
        "{lines:?}"
    );

    // Every log line of a stage has a trace id.
    let all = crawled.stderr.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let by_stages = |line: &Value| {
        let target = line["target"].as_str().unwrap_or_default();
        ["curlew_crawl", "curlew_catalog"].iter().any(|name| target.starts_with(name))
    };
    let (with, without): (Vec<Value>, Vec<Value>) =
        all.filter(by_stages).partition(|line| line["span"]["trace"].is_string());
    assert!(with.len() > 10 && without.is_empty(), "{} lines have a trace id; without: {without:?}", with.len());

    let rejected = store.list("pages").into_iter().find(|page| page["state"]["state"] == "rejected").unwrap();
    let told = store.run(&["trace", rejected["id"].as_str().unwrap()]).ok().stdout;
    assert!(told.contains("rejected: "), "{told}");
    store.run(&["trace", "http://never-heard-of.test/a"]).refused(1, &["nothing is known"]);
    store.run(&["trace", "not a page"]).refused(1, &["is not the address of a page"]);
}
