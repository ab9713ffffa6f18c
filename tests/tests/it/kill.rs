//! `kill -9` at random moments of a crawl; the records must be those of an undisturbed run.

use curlew_fixtureweb::{Mode, Uniform, judge};
use curlew_tests::{BRISK_PAUSE, LIMIT, Store, Web, unpacked_objects};
use serde_json::Value;
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

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % limit
    }
}

#[test]
fn fifty_kills_lose_nothing_and_repeat_nothing() {
    let seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_121);
    eprintln!("{SEED}={seed}");
    let mut random = Random(seed);
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
        while kills < KILLS && kill_once(&store, &web, further(kills, &mut random), &mut random) {
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
    let mut random = Random(seed);
    let plan = Uniform { hosts: 6, pages: PAGES, bytes: 4 * 1024, images: true, prefix: "vanished".into() };
    let web = Web::uniform(&plan);
    let store = Store::brisk(&web);
    store.crawl(&web.starts());
    let hosts: Vec<String> = web.farm().sites().iter().map(|site| site.host.clone()).collect();
    let (gone, stay) = hosts.split_at(hosts.len() / 2);
    for host in gone {
        assert!(!store.found(&format!("site:{host}")).is_empty());
        web.set_mode(host, Mode::Pages(410));
    }
    web.clear_calls();
    for _ in 0..KILLS_OF_RECHECKS {
        let (further, millis) = (random.below(MOST_CALLS) as usize, random.below(MOST_MILLIS));
        let so_far = web.calls().len();
        let mut recheck = store.start(&["sample", "--all", "--json"]);
        let deadline = Instant::now() + LIMIT;
        while recheck.is_running() && web.calls().len() < so_far + further {
            assert!(Instant::now() < deadline, "the re-check makes no calls and does not end");
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(millis));
        recheck.kill();
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

/// Starts the crawl and kills it at a random moment after so many calls; returns false if it ended before.
fn kill_once(store: &Store, web: &Web, further: u64, random: &mut Random) -> bool {
    let (further, millis) = (further as usize, random.below(MOST_MILLIS));
    let so_far = web.calls().len();
    let mut crawl = store.start_crawl(&web.starts());
    let deadline = Instant::now() + LIMIT;
    while crawl.is_running() && web.calls().len() < so_far + further {
        assert!(Instant::now() < deadline, "the crawl makes no calls and does not end");
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(millis));
    let in_time = crawl.is_running();
    crawl.kill();
    in_time
}

/// Checks the politeness over all calls of one store's life, its crashes included.
#[track_caller]
fn judge_calls(web: &Web, kills: usize) {
    let calls = web.calls();
    assert_eq!(judge::overlaps(&calls, judge::registrable), []);
    assert_eq!(judge::closer_than(&calls, judge::registrable, BRISK_PAUSE), []);
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
    let of = |record: &Value, name: &str| record[name].as_str().unwrap().to_owned();
    let by_address: BTreeMap<String, (String, String)> =
        records.iter().map(|record| (of(record, "url"), (of(record, "title"), of(record, "text")))).collect();
    assert_eq!(by_address.len(), records.len(), "a page is exported twice");

    let rows = store.list("pages");
    let accepted: BTreeSet<String> =
        rows.iter().filter(|row| row["state"]["state"] == "accepted").map(|row| of(row, "url")).collect();
    assert_eq!(accepted, by_address.keys().cloned().collect(), "each row that is accepted has its record");
    assert_eq!(rows.len(), accepted.len(), "no row is left half done");

    let found: Vec<String> =
        web.farm().sites().iter().flat_map(|site| store.found(&format!("site:{}", site.host))).collect();
    assert_eq!(found.len(), accepted.len(), "the index finds each page once");
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), accepted);

    let kept = unpacked_objects(&store.data(), "segments");
    let kept: Vec<String> = kept.lines().map(|line| of(&serde_json::from_str(line).unwrap(), "url")).collect();
    assert_eq!(kept.len(), accepted.len(), "segments hold a page twice");

    let status = store.run(&["status", "--json"]).ok().json();
    assert_eq!(status["dead"], 0, "{status}");
    assert_eq!(status["parked"], 0, "{status}");
    by_address
}
