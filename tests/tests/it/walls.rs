//! The twelve kinds of bot walls with the real program. Indexed pages stay searchable, new pages are accepted once the
//! wall is gone, and a host behind a wall is called at most three times a day. Days pass by moving the store back in
//! time.

use curlew_fixtureweb::{Call, Kind, Mode, Scope, Uniform, Wall};
use curlew_tests::{BRISK_PAUSE, Steps, Store, Web, judge_pauses};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Number of articles of each site before the wall.
const PAGES: usize = 3;
/// Number of articles that the feed lists when the wall goes up, and number that are published behind the wall.
const ANNOUNCED: usize = 3;
const BEHIND: usize = 1;
/// Path of each site's feed.
const FEED: &str = "/feed.xml";
/// Number of days with the wall, and number of days after it, by the end of which the last hold has ended.
const DAYS: u64 = 4;
const DAYS_AFTER: u64 = 10;
/// Number of runs per day while the wall stands. Each run polls every feed that may be polled.
const RUNS: u64 = 3;
const SETTINGS: &str = "[rules]\nadaptive = false\n";
const HOUR: u64 = 3_600;
/// Maximum number of calls to a host per day.
const MOST: usize = 3;

/// Returns a host for each kind of wall.
fn kinds(web: &Web) -> Vec<(&'static str, Wall, String)> {
    let hosts = web.farm().sites().iter().map(|site| site.host.clone());
    Wall::KINDS.iter().zip(hosts).map(|((name, wall), host)| (*name, *wall, host)).collect()
}

fn found(store: &Store, host: &str) -> BTreeSet<String> {
    store.found(&format!("site:{host}")).into_iter().collect()
}

/// Returns the number of calls to a host. Where a wall covers only robots.txt, feeds or images, only the calls that met
/// the wall count.
fn count(calls: &[Call], host: &str, wall: Wall) -> usize {
    let meets = |kind| match wall.scope {
        Scope::Feeds => kind == Kind::Feed,
        Scope::Images => kind == Kind::Image,
        Scope::Robots => kind == Kind::Robots,
        Scope::All | Scope::Documents => true,
    };
    calls.iter().filter(|call| call.host == host && meets(call.kind)).count()
}

#[test]
fn m45_no_kind_of_wall_costs_a_page_of_the_published_index_and_each_host_is_called_three_times_a_day_at_most() {
    let spec =
        Uniform { hosts: Wall::KINDS.len(), pages: PAGES, bytes: 8 * 1024, images: true, prefix: "wall".to_owned() };
    let web = Web::uniform(&spec);
    let mut store = Store::brisk(&web);
    store.configure(SETTINGS);
    let kinds = kinds(&web);
    store.crawl(&web.starts());
    let before: BTreeMap<&str, BTreeSet<String>> =
        kinds.iter().map(|(.., host)| (&**host, found(&store, host))).collect();
    assert!(before.values().all(|pages| pages.len() == PAGES), "{before:?}");

    // The walls go up. The feeds are read once more, so new pages wait behind the walls.
    store.let_pass(Duration::from_secs(48 * HOUR));
    let mut fresh: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (_, wall, host) in &kinds {
        fresh.insert(host, web.publish(host, ANNOUNCED));
        web.set_mode(host, Mode::Wall(*wall));
        web.set_page_mode(host, FEED, Mode::Normal);
    }
    store.run(&["crawl", "--json"]).ok();
    store.run(&["sample", "--all"]).ok();
    for (_, wall, host) in &kinds {
        web.set_page_mode(host, FEED, Mode::Wall(*wall));
        fresh.entry(host).or_default().extend(web.publish(host, BEHIND));
    }
    let mut steps = Steps::new();
    let mut most: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..DAYS {
        web.clear_calls();
        for _ in 0..RUNS {
            store.let_pass(Duration::from_secs(24 / RUNS * HOUR));
            store.run(&["crawl", "--json"]).ok();
        }
        let calls = web.calls();
        for (_, wall, host) in &kinds {
            let highest = most.entry(host).or_insert(0);
            *highest = count(&calls, host, *wall).max(*highest);
        }
        steps.step("politeness", || {
            judge_pauses(&calls, BRISK_PAUSE);
        });
    }
    store.run(&["sample", "--all"]).ok();
    for (kind, _, host) in &kinds {
        steps.step(&format!("{kind}: what was indexed is found"), || {
            let lost: Vec<_> = before[&**host].difference(&found(&store, host)).cloned().collect();
            assert_eq!(lost, Vec::<String>::new(), "{host}");
        });
        steps.step(&format!("{kind}: calls a day"), || {
            assert!(most[&**host] <= MOST, "{host}: {} calls", most[&**host]);
        });
    }
    let rejected = |store: &Store| {
        let pages = store.list("pages");
        let rejected = pages.iter().filter(|page| page["state"]["state"] == "rejected");
        rejected.map(ToString::to_string).collect::<Vec<_>>()
    };
    steps.step("nothing is rejected while the walls stand", || assert_eq!(rejected(&store), Vec::<String>::new()));

    for (.., host) in &kinds {
        web.set_mode(host, Mode::Normal);
        web.set_page_mode(host, FEED, Mode::Normal);
    }
    for _ in 0..DAYS_AFTER / 2 {
        store.let_pass(Duration::from_secs(48 * HOUR));
        store.run(&["crawl", "--json"]).ok();
    }
    let records = store.records();
    for (kind, _, host) in &kinds {
        steps.step(&format!("{kind}: what is new is found once the wall is gone"), || {
            let mut all = before[&**host].clone();
            all.extend(fresh[&**host].iter().cloned());
            let now = found(&store, host);
            assert_eq!(all.difference(&now).cloned().collect::<Vec<_>>(), Vec::<String>::new(), "{host}");
            let texts = records.iter().filter(|record| record["host"] == **host).map(ToString::to_string);
            let walls: Vec<_> = texts.filter(|text| text.contains("814 partners") || text.contains("Ray ID")).collect();
            assert_eq!(walls, Vec::<String>::new(), "{host}: no wall is taken for a page");
        });
    }
    steps.step("nothing was given up", || assert_eq!(rejected(&store), Vec::<String>::new()));
    steps.step("no host is held any more", || assert_eq!(store.list("holds"), Vec::<serde_json::Value>::new()));
    steps.end();
}
