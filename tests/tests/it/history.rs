//! Back catalogues with the real program, over sites that have more articles than their feeds list.

use curlew_fixtureweb::{Catalogue, Farm, Kind, judge};
use curlew_tests::{Steps, Store, Web, args};
use std::collections::BTreeSet;

/// Settings with a high budget, so that a back catalogue is read in seconds.
const SETTINGS: &str = "[rules]\nbackfill_per_day = 50000000\nwindow_limit = \"8h\"\n";

fn addresses(rows: &[serde_json::Value]) -> BTreeSet<String> {
    rows.iter().filter_map(|row| row["url"].as_str().map(str::to_owned)).collect()
}

fn catalogues(kinds: &[(Catalogue, usize)]) -> (Web, Store, BTreeSet<String>) {
    let web = Web::of(Farm::catalogues(kinds));
    let mut store = Store::brisk(&web);
    store.configure(SETTINGS);
    let all = web.farm().sites().iter().flat_map(|site| site.entries().iter().map(|(url, _)| url.clone())).collect();
    (web, store, all)
}

#[test]
fn what_a_site_published_before_is_found_by_feeds_and_sitemaps() {
    let kinds =
        [(Catalogue::WordPress, 120), (Catalogue::Blogger, 200), (Catalogue::Archived, 130), (Catalogue::Sitemap, 255)];
    let (web, store, all) = catalogues(&kinds);
    let mut steps = Steps::new();
    let sites = web.starts();
    let mut args = args(&["crawl", "--json"], &sites);
    store.run(&args);
    steps.step("without --history only what the feeds list, or the sitemaps of a site without one", || {
        let found = addresses(&store.records());
        let by_sitemap = found.iter().filter(|url| url.contains("//catalogue-sitemap.test")).count();
        assert!(by_sitemap > 0 && found.len() - by_sitemap < 80, "{by_sitemap} of {}", found.len());
    });
    args.push("--history");
    let mut summary = store.run(&args).ok().json();
    // A crawl ends when nothing is due within a minute, so further crawls continue the work.
    for _ in 0..20 {
        if summary["history"].as_array().unwrap().iter().all(|line| line["state"] == "done") {
            break;
        }
        summary = store.run(&["crawl", "--json"]).ok().json();
    }
    steps.step("all of them are done", || {
        let history = summary["history"].as_array().unwrap();
        assert_eq!(history.len(), 4, "{summary}");
        assert!(history.iter().all(|line| line["state"] == "done"), "{summary}");
    });
    steps.step("every page is found, and none is called twice", || {
        let found = addresses(&store.records());
        assert_eq!(found.len(), all.len(), "{} are missing", all.difference(&found).count());
        assert!(found == all);
        let calls = web.calls();
        assert_eq!(judge::tally(&calls).distinct_pages, calls.iter().filter(|call| call.kind == Kind::Page).count());
        assert_eq!(judge::overlaps(&calls, judge::registrable), []);
        assert_eq!(judge::forbidden(&calls, web.farm()), []);
        assert!(!calls.iter().any(|call| call.host == "blogger-service.test"), "the blogs' shared host is called");
    });
    steps.step("status says how it ended", || {
        let status = store.run(&["status"]).ok().stdout;
        assert!(status.contains("done: the archive was read to its end"), "{status}");
        let shown = store.run(&["sites", "show", "catalogue-sitemap.test"]).ok().stdout;
        assert!(shown.contains("history") && shown.contains("255 addresses found"), "{shown}");
    });
    steps.end();
}

#[test]
fn a_crawl_that_is_killed_again_and_again_loses_no_older_page() {
    let (web, store, all) = catalogues(&[(Catalogue::WordPress, 150)]);
    let start = web.starts().remove(0);
    for n in 0..8 {
        let mut crawl = store.start(&["crawl", "--json", "--history", &start]);
        std::thread::sleep(std::time::Duration::from_millis(400 + 150 * n));
        crawl.kill();
    }
    store.run(&["crawl", "--json", "--history", &start]).ok();
    let found = addresses(&store.records());
    assert!(found == all, "{} of {}", found.len(), all.len());
}

#[test]
fn a_site_without_a_feed_is_no_failure_if_its_sitemap_is_read() {
    let (web, store, all) = catalogues(&[(Catalogue::Sitemap, 20)]);
    let start = web.starts().remove(0);
    let summary = store.run(&["crawl", "--json", &start]).ok().json();
    assert_eq!(summary["failed"], serde_json::json!([]), "{summary}");
    assert_eq!(addresses(&store.records()), all);
}
