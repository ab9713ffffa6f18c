//! `kill -9` at random moments of a crawl; the records must be those of an undisturbed run.

use curlew_fixtureweb::{Mode, Uniform, judge};
use curlew_tests::aws::random::Random;
use curlew_tests::{BRISK_PAUSE, Child, LIMIT, Store, Web, judge_pauses, text, unpacked_objects};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Number of kills in all, over as many crawls as that takes.
const KILLS: usize = 50;
/// Number of kills after which fsck looks at what is left, and after which a crawl gets further than otherwise: a job
/// that is handed out eight times without an end is given up, since it may be what kills its process.
const LOOKED_AT: usize = 5;
const HOSTS: usize = 10;
const PAGES: usize = 6;
/// Maximum number of further calls before a kill.
const MOST_CALLS: u64 = 8;
/// Maximum number of milliseconds from that call to the kill.
const MOST_MILLIS: u64 = 120;
/// Environment variable with a seed, to repeat a run.
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
                // What a crash leaves is no damage.
                store.run(&["fsck"]).ok();
            }
        }
        crawls += 1;
        eprintln!("crawl {crawls}: {} kills, {} calls", kills - before, web.calls().len());
        let summary = store.crawl(&web.starts());
        assert_eq!(summary["dead"], 0, "{summary}");
        assert_eq!(judge_store(&store, &web), expected, "crawl {crawls} came to something else");
        judge_calls(&web, kills - before);
    }
}

/// Number of kills of a re-check. Fewer than the times that a job is handed out before it is given up.
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
        assert_eq!(report["removed"].as_array().map(Vec::len), Some(PAGES), "one line a page: {report}");
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

/// Starts a run and kills it at a random moment after so many calls; returns false if it ended before.
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

/// Checks the politeness over all calls of one store's life, its crashes included.
#[track_caller]
fn judge_calls(web: &Web, kills: usize) {
    let calls = web.calls();
    judge_pauses(&calls, BRISK_PAUSE);
    assert_eq!(judge::unasked(&calls), BTreeSet::new());
    // A call whose answer died with the process is made again, and no other: for each host and crash at most one page
    // and its image, for which the page waits before it is sent on.
    let again: usize = judge::repeated(&calls).iter().map(|repeat| repeat.times - 1).sum();
    assert!(again <= 2 * kills * HOSTS, "{again} calls were made again after {kills} kills");
}

/// Checks a store after its last run; returns its records by address.
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
    assert_eq!(accepted, by_address.keys().cloned().collect(), "each row that is accepted has its record");
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
