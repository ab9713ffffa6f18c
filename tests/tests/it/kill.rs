//! Sends `kill -9` at random moments of a crawl. The records must equal those of an undisturbed run.

use curlew_fixtureweb::{Mode, Uniform, judge};
use curlew_tests::aws::random::Random;
use curlew_tests::{BRISK_PAUSE, Child, LIMIT, Store, Web, judge_pauses, text, unpacked_objects};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Number of kills over all crawls.
const KILLS: usize = 50;
/// After this many kills the test runs fsck, and lets a crawl get further than usual. Otherwise a job could be handed
/// out eight times without an end; such a job is given up, since it may be what kills its process.
const LOOKED_AT: usize = 5;
const HOSTS: usize = 10;
const PAGES: usize = 6;
/// Maximum number of calls between two kills.
const MOST_CALLS: u64 = 8;
/// Maximum number of milliseconds from the last of these calls to the kill.
const MOST_MILLIS: u64 = 120;
/// Environment variable with a seed, for repeating a run.
const SEED: &str = "CURLEW_KILL_SEED";

#[test]
fn fifty_kills_lose_nothing_and_repeat_nothing() {
    let seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_121);
    eprintln!("{SEED}={seed}");
    let mut random = Random::new(seed);
    let web =
        Web::uniform(&Uniform { hosts: HOSTS, pages: PAGES, bytes: 8 * 1024, images: true, prefix: "mortal".into() });

    let undisturbed = Store::brisk(&web);
    undisturbed.crawl(&web.starts());
    let expected = judge_store(&undisturbed, &web);
    assert_eq!(expected.len(), HOSTS * PAGES);
    judge_calls(&web, 0);

    let (mut kills, mut crawls) = (0, 0);
    while kills < KILLS {
        web.clear_calls();
        let store = Store::brisk(&web);
        let before = kills;
        let crawl = || store.start_crawl(&web.starts());
        while kills < KILLS && kill_once(crawl, &web, further(kills, &mut random), &mut random) {
            kills += 1;
            if kills % LOOKED_AT == 0 {
                // The remains of a crash are no damage.
                store.run(&["fsck"]).ok();
            }
        }
        crawls += 1;
        eprintln!("crawl {crawls}: {} kills, {} calls", kills - before, web.calls().len());
        let summary = store.crawl(&web.starts());
        assert_eq!(summary["dead"], 0, "{summary}");
        assert_eq!(judge_store(&store, &web), expected, "crawl {crawls} has other records");
        judge_calls(&web, kills - before);
    }
}

/// Number of kills during re-checks; lower than the number of times that a job is handed out before it is given up.
const KILLS_OF_RECHECKS: usize = 6;

#[test]
fn pages_that_are_gone_are_removed_once_however_often_the_recheck_is_killed() {
    let seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_124);
    eprintln!("{SEED}={seed}");
    let mut random = Random::new(seed);
    let plan = Uniform { hosts: 6, pages: PAGES, bytes: 4 * 1024, images: true, prefix: "vanished".into() };
    let web = Web::uniform(&plan);
    let store = Store::crawled(&web);
    let hosts: Vec<String> = web.farm().sites().iter().map(|site| site.host.clone()).collect();
    let (gone, stay) = hosts.split_at(hosts.len() / 2);
    for host in gone {
        assert!(!store.found(&format!("site:{host}")).is_empty());
        web.set_mode(host, Mode::Pages(410));
    }
    web.clear_calls();
    for _ in 0..KILLS_OF_RECHECKS {
        let further = random.below(MOST_CALLS);
        kill_once(|| store.start(&["sample", "--all", "--json"]), &web, further, &mut random);
    }
    store.run(&["sample", "--all", "--json"]).ok();
    store.run(&["fsck"]).ok();
    for host in gone {
        assert_eq!(store.found(&format!("site:{host}")), Vec::<String>::new());
        let report = store.run(&["audit", "show", host, "--json"]).ok().json();
        assert_eq!(report["removed"].as_array().map(Vec::len), Some(PAGES), "one line for each page: {report}");
    }
    for host in stay {
        assert_eq!(store.found(&format!("site:{host}")).len(), PAGES);
    }
    assert_eq!(store.records().len(), stay.len() * PAGES);
    let status = store.run(&["status", "--json"]).ok().json();
    assert_eq!((&status["dead"], &status["parked"]), (&0.into(), &0.into()), "{status}");
}

/// Returns the number of calls after which a crawl is killed.
fn further(kills: usize, random: &mut Random) -> u64 {
    if kills % LOOKED_AT == LOOKED_AT - 1 { 2 * MOST_CALLS } else { random.below(MOST_CALLS) }
}

/// Starts a run and kills it at a random moment after `further` calls; returns false if the run ended before that.
fn kill_once(start: impl FnOnce() -> Child, web: &Web, further: u64, random: &mut Random) -> bool {
    let millis = random.below(MOST_MILLIS);
    let most = web.calls().len() + further as usize;
    let mut run = start();
    let deadline = Instant::now() + LIMIT;
    while run.is_running() && web.calls().len() < most {
        assert!(Instant::now() < deadline, "the run makes no calls and does not end");
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(millis));
    let in_time = run.is_running();
    run.kill();
    in_time
}

/// Checks the politeness of all calls of a store, despite its crashes.
#[track_caller]
fn judge_calls(web: &Web, kills: usize) {
    let calls = web.calls();
    judge_pauses(&calls, BRISK_PAUSE);
    assert_eq!(judge::unasked(&calls), BTreeSet::new());
    // Only a call whose answer died with the process is made again: for each host and crash at most one page and its
    // image, which is fetched before the page is sent on.
    let again: usize = judge::repeated(&calls).iter().map(|repeat| repeat.times - 1).sum();
    assert!(again <= 2 * kills * HOSTS, "{again} calls were made again after {kills} kills");
}

/// Checks a store after its last run; returns the title and text of its records by URL.
#[track_caller]
pub(crate) fn judge_store(store: &Store, web: &Web) -> BTreeMap<String, (String, String)> {
    store.run(&["fsck"]).ok();
    let records = store.records();
    let by_address: BTreeMap<String, (String, String)> =
        records.iter().map(|record| (text(record, "url"), (text(record, "title"), text(record, "text")))).collect();
    assert_eq!(by_address.len(), records.len(), "a page is exported twice");

    let rows = store.list("pages");
    let accepted: BTreeSet<String> =
        rows.iter().filter(|row| row["state"]["state"] == "accepted").map(|row| text(row, "url")).collect();
    assert_eq!(accepted, by_address.keys().cloned().collect(), "each accepted row must have its record");
    assert_eq!(rows.len(), accepted.len(), "no row is left half done");

    let found: Vec<String> =
        web.farm().sites().iter().flat_map(|site| store.found(&format!("site:{}", site.host))).collect();
    assert_eq!(found.len(), accepted.len(), "the index finds each page once");
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), accepted);

    let kept = unpacked_objects(&store.data(), "segments");
    let kept: Vec<String> = kept.lines().map(|line| text(&serde_json::from_str(line).unwrap(), "url")).collect();
    assert_eq!(kept.len(), accepted.len(), "segments hold a page twice");

    let status = store.run(&["status", "--json"]).ok().json();
    assert_eq!((&status["dead"], &status["parked"]), (&0.into(), &0.into()), "{status}");
    by_address
}
