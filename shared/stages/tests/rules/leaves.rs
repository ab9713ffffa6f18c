//! A search that is asked of leaves: it finds what one process finds, says what was not searched, and nothing that is gone.

use crate::index::{accept, removal};
use crate::test_world::TestWorld;
use async_trait::async_trait;
use bytes::Bytes;
use curlew_model::{Gone, Millis};
use curlew_ports::{Blobs, Clock, PortError};
use curlew_search::FORM;
use curlew_stages::catalog::find::Finder;
use curlew_stages::catalog::indexed_years::indexed_years;
use curlew_stages::catalog::leaves::Leaves;
use curlew_stages::catalog::local_leaves::LocalLeaves;
use curlew_stages::catalog::results::{FindError, SearchResults, Start};
use curlew_testkit::faults::{BlobFate, JudgedBlobs};
use curlew_testkit::memory::MemoryBlobs;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Days on which something is published, each of which makes a split.
const DAYS: usize = 6;
/// Number of leaves.
const LEAVES: usize = 3;
/// Key of the manifest of those days.
const MANIFEST: &str = "manifests/2026.json";

/// How a leaf behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    Answers,
    Fails,
    /// Answers so many requests, and fails from then on.
    Tires(usize),
    /// Takes a minute.
    IsLate,
    /// Answers something else.
    Babbles,
}

/// Leaves that behave as they are told to.
struct MoodyLeaves {
    leaves: LocalLeaves,
    moods: Mutex<Vec<Mood>>,
    clock: Arc<dyn Clock>,
    asked: AtomicUsize,
}

impl MoodyLeaves {
    fn over(blobs: &Arc<dyn Blobs>, world: &TestWorld) -> Arc<MoodyLeaves> {
        let leaf = |_| Arc::new(Finder::new(blobs.clone(), world.politeness.clock.clone()));
        let leaves = LocalLeaves((0..LEAVES).map(leaf).collect());
        let moods = Mutex::new(vec![Mood::Answers; LEAVES]);
        let clock = world.politeness.clock.clone();
        Arc::new(MoodyLeaves { leaves, moods, clock, asked: AtomicUsize::new(0) })
    }

    fn set(&self, leaf: usize, mood: Mood) {
        self.moods.lock().unwrap()[leaf] = mood;
    }

    /// Returns how often leaves were asked since the last call.
    fn asked(&self) -> usize {
        self.asked.swap(0, Ordering::Relaxed)
    }
}

#[async_trait]
impl Leaves for MoodyLeaves {
    fn count(&self) -> usize {
        LEAVES
    }

    async fn ask(&self, leaf: usize, request: Bytes) -> Result<Bytes, PortError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let mood = self.moods.lock().unwrap()[leaf];
        match mood {
            Mood::Fails | Mood::Tires(0) => return Err(PortError::Throttled { retry_after: Millis(1) }),
            Mood::Tires(left) => self.set(leaf, Mood::Tires(left - 1)),
            Mood::IsLate => self.clock.sleep(Millis::from_mins(1)).await,
            Mood::Babbles => return Ok(r#"{"answers":[{"shown":[]}]}"#.into()),
            Mood::Answers => {}
        }
        self.leaves.ask(leaf, request).await
    }
}

/// A store with two pages of each day, and a finder that asks leaves.
async fn searched_by_leaves() -> (TestWorld, Arc<MoodyLeaves>, Finder) {
    let world = TestWorld::new();
    for day in 0..DAYS {
        accept(&world, &format!("a{day}"), "A curlew probes the mud.").await;
        accept(&world, &format!("b{day}"), "A curlew and a whimbrel.").await;
        world.index().publish(2026).await.unwrap();
        world.politeness.clock.sleep(Millis::from_days(1)).await;
    }
    let blobs: Arc<dyn Blobs> = world.blobs.clone();
    let leaves = MoodyLeaves::over(&blobs, &world);
    let finder = here(&world).with_leaves(leaves.clone(), 2);
    (world, leaves, finder)
}

fn here(world: &TestWorld) -> Finder {
    Finder::new(world.blobs.clone(), world.politeness.clock.clone())
}

async fn find(finder: &Finder, query: &str) -> SearchResults {
    finder.find(query, Start::Offset(0), 20).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn leaves_find_what_one_process_finds_where_enough_splits_may_match() {
    let (world, leaves, finder) = searched_by_leaves().await;
    let one = here(&world);
    for finder in [&finder, &one] {
        finder.sign_cursors([7; 32]);
    }
    for query in ["curlew", "curlew mud", "\"a whimbrel\"", "curlw", "sort:date", "mud site:example.org", "zzzzz"] {
        assert_eq!(find(&finder, query).await, find(&one, query).await, "{query}");
        assert!(leaves.asked() >= LEAVES, "{query}");
    }
    assert_eq!(finder.explain("curlew mud", 5).await.unwrap(), one.explain("curlew mud", 5).await.unwrap());
    let first = finder.find("curlew mud", Start::Offset(0), 4).await.unwrap();
    let next = first.next.unwrap();
    let second = finder.find("curlew mud", Start::After(&next), 4).await.unwrap();
    assert_eq!(second, one.find("curlew mud", Start::After(&next), 4).await.unwrap());
    assert_eq!((second.before, second.hits.len()), (4, 4));
    // Of one day, which one split has.
    leaves.asked();
    let day = world.now().day();
    assert_eq!(find(&finder, &format!("curlew after:{day}")).await.total, 0);
    let before = (world.now() - Millis::from_days(DAYS as u64 - 1)).day();
    assert_eq!(find(&finder, &format!("curlew before:{before}")).await.total, 2);
    assert_eq!(leaves.asked(), 0, "a query of one split is answered where it is asked");
}

#[tokio::test(start_paused = true)]
async fn a_leaf_that_fails_or_is_late_is_left_out_and_that_is_said() {
    let (world, leaves, finder) = searched_by_leaves().await;
    let whole = find(&finder, "curlew").await;
    assert_eq!((whole.total, whole.unsearched, whole.hits.len()), (2 * DAYS as u64, 0, 2 * DAYS));
    let mut left_out = 0;
    for leaf in 0..LEAVES {
        for mood in [Mood::Fails, Mood::IsLate, Mood::Babbles] {
            leaves.set(leaf, mood);
            let began = world.politeness.clock.monotonic();
            let found = find(&finder, "curlew").await;
            assert_eq!(found.total + found.unsearched, whole.total, "{leaf} {mood:?}");
            assert_eq!(found.hits.len() as u64, found.total, "{leaf} {mood:?}");
            assert!(world.politeness.clock.monotonic().saturating_sub(began) <= Millis::from_secs(5));
            left_out += found.unsearched;
        }
        // It counts its pages, ranks them, and then shows none of them.
        leaves.set(leaf, Mood::Tires(2));
        let found = find(&finder, "curlew").await;
        assert_eq!(found.total, whole.total, "{leaf}");
        assert_eq!(found.hits.len() as u64 + found.unsearched, whole.total, "{leaf}");
        leaves.set(leaf, Mood::Answers);
    }
    assert_eq!(left_out, 3 * whole.total, "each page belongs to one leaf");
    (0..LEAVES).for_each(|leaf| leaves.set(leaf, Mood::Fails));
    let failed = finder.find("curlew", Start::Offset(0), 20).await;
    assert!(matches!(failed, Err(FindError::Port(PortError::Unavailable { .. }))), "{failed:?}");
    (0..LEAVES).for_each(|leaf| leaves.set(leaf, Mood::Answers));
    let urls = |found: &SearchResults| found.hits.iter().map(|hit| hit.url.clone()).collect::<Vec<String>>();
    assert_eq!(urls(&find(&finder, "curlew").await), urls(&whole), "nothing is remembered of it");
}

/// Changes the manifest as a program of another version would.
async fn change_manifest(blobs: &dyn Blobs, change: impl FnOnce(&mut Value)) {
    let mut manifest: Value = serde_json::from_slice(&blobs.get(MANIFEST).await.unwrap().unwrap().bytes).unwrap();
    change(&mut manifest);
    blobs.put(MANIFEST, serde_json::to_vec(&manifest).unwrap().into()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn splits_of_a_newer_format_are_left_out_and_that_is_said() {
    let (world, leaves, finder) = searched_by_leaves().await;
    let one = here(&world);
    let whole = find(&one, "curlew").await;
    assert_eq!((whole.total, whole.unsearched), (2 * DAYS as u64, 0));
    // As after a way back from a version that has written two splits of its own.
    let mut newer = 0;
    change_manifest(&*world.blobs, |manifest| {
        for split in manifest["splits"].as_array_mut().unwrap().iter_mut().take(2) {
            split["form"] = (FORM + 1).into();
            newer += split["docs"].as_u64().unwrap();
        }
    })
    .await;
    for finder in [&one, &here(&world), &finder] {
        let found = find(finder, "curlew").await;
        assert_eq!((found.total, found.unsearched), (whole.total - newer, newer));
        assert_eq!(found.hits.len() as u64, found.total);
        // Of what it does not search, nobody knows whether it matches.
        assert_eq!(find(finder, "zzzzz").await.unsearched, newer);
        assert!(found.unsearched_years.is_empty());
    }
    let mut left_out = 0;
    for leaf in 0..LEAVES {
        leaves.set(leaf, Mood::Fails);
        let found = find(&finder, "curlew").await;
        assert_eq!(found.total + found.unsearched, whole.total, "{leaf}");
        left_out += found.unsearched - newer;
        leaves.set(leaf, Mood::Answers);
    }
    assert_eq!(left_out, whole.total - newer, "what leaves leave out comes on top");
}

#[tokio::test(start_paused = true)]
async fn a_year_whose_manifest_has_a_newer_version_is_left_out_and_that_is_said() {
    let (world, leaves, finder) = searched_by_leaves().await;
    world.blobs.put("manifests/2025.json", r#"{"version": 9, "whatever": true}"#.into()).await.unwrap();
    let one = here(&world);
    for finder in [&one, &finder] {
        let found = find(finder, "curlew").await;
        assert_eq!((found.total, found.unsearched, found.hits.len()), (2 * DAYS as u64, 0, 2 * DAYS));
        assert_eq!(found.unsearched_years, [2025]);
    }
    assert!(leaves.asked() >= LEAVES);
    let counted = indexed_years(&*world.blobs).await.unwrap();
    let seen: Vec<_> = counted.iter().map(|year| (year.year, year.is_newer, year.pages > 0)).collect();
    assert_eq!(seen, [(2026, false, true), (2025, true, false)]);
    assert!(!world.program().index.has_unpublished(2025).await.unwrap());
    let before = world.blobs.get(MANIFEST).await.unwrap().unwrap().bytes;
    change_manifest(&*world.blobs, |manifest| manifest["version"] = 2_u32.into()).await;
    for finder in [&one, &finder, &here(&world)] {
        let found = find(finder, "curlew").await;
        assert_eq!((found.total, found.unsearched), (0, 0), "what was read before does not stand in for it");
        assert_eq!(found.unsearched_years, [2025, 2026]);
    }
    world.blobs.put(MANIFEST, before).await.unwrap();
    let found = find(&finder, "curlew").await;
    assert_eq!((found.total, found.unsearched_years), (2 * DAYS as u64, vec![2025]));
    // Damage is no other version.
    world.blobs.put(MANIFEST, "{".into()).await.unwrap();
    let failed = finder.find("curlew", Start::Offset(0), 20).await;
    assert!(matches!(failed, Err(FindError::Port(PortError::Corrupt { .. }))), "{failed:?}");
}

#[tokio::test(start_paused = true)]
async fn a_leaf_of_an_older_version_than_its_root_is_left_out() {
    let (world, _, _) = searched_by_leaves().await;
    let whole = find(&here(&world), "curlew").await;
    for is_of_manifest in [true, false] {
        // To the older program, what the root reads looks as what a newer one has written.
        let blobs = Arc::new(MemoryBlobs::default());
        for key in world.blobs.list("", None, 100_000).await.unwrap() {
            blobs.put(&key, world.blobs.get(&key).await.unwrap().unwrap().bytes).await.unwrap();
        }
        change_manifest(&*blobs, |manifest| match is_of_manifest {
            true => manifest["version"] = 2_u32.into(),
            false => {
                let splits = manifest["splits"].as_array_mut().unwrap().iter_mut();
                splits.for_each(|split| split["form"] = (FORM + 1).into());
            }
        })
        .await;
        let older = Finder::new(blobs, world.politeness.clock.clone());
        let leaves = Arc::new(LocalLeaves(vec![Arc::new(here(&world)), Arc::new(older)]));
        let found = find(&here(&world).with_leaves(leaves, 1), "curlew").await;
        assert!(found.total > 0 && found.unsearched > 0, "{found:?}");
        assert_eq!((found.total + found.unsearched, found.unsearched_years), (whole.total, vec![]));
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_gone_is_found_by_leaves_that_have_known_it() {
    let (world, _, finder) = searched_by_leaves().await;
    let total = async || find(&finder, "curlew").await.total;
    assert_eq!(total().await, 12);
    let late = accept(&world, "late", "A curlew that is late.").await;
    world.index().publish(2026).await.unwrap();
    assert_eq!(total().await, 13, "a split that no leaf has known");
    removal(&world).remove(&late, Gone::Gone).await.unwrap();
    let found = find(&finder, "curlew").await;
    assert!(found.total == 12 && found.hits.iter().all(|hit| !hit.url.contains("late")), "{found:?}");
    assert_eq!(find(&finder, "late").await.suggestion, None);
    // Splits are merged, and those that leaves have open are deleted.
    world.index().refresh(2026).await.unwrap();
    world.politeness.clock.sleep(Millis::from_days(3)).await;
    world.index().publish(2026).await.unwrap();
    assert_eq!(total().await, 12);
    let block = async |text: &str| world.blobs.put("hidden-hosts.json", text.to_owned().into()).await.unwrap();
    block(r#"{"hosts": ["example.org"]}"#).await;
    assert_eq!(total().await, 0, "by the very next query");
    block(r#"{"hosts": []}"#).await;
    assert_eq!(total().await, 12);
}

#[tokio::test(start_paused = true)]
async fn a_leaf_reads_manifests_only_if_its_root_has_read_others() {
    let (world, _, _) = searched_by_leaves().await;
    let calls = Arc::<AtomicUsize>::default();
    let counter = calls.clone();
    let counted = JudgedBlobs::new(world.blobs.clone(), move |_, _| {
        counter.fetch_add(1, Ordering::Relaxed);
        BlobFate::Pass
    });
    let blobs: Arc<dyn Blobs> = counted;
    let finder = here(&world).with_leaves(MoodyLeaves::over(&blobs, &world), 2);
    assert_eq!(find(&finder, "curlew").await.total, 12);
    assert!(calls.swap(0, Ordering::Relaxed) > LEAVES);
    assert_eq!(find(&finder, "curlew").await.total, 12);
    assert_eq!(calls.load(Ordering::Relaxed), 0, "a warm leaf makes no call");
}

/// Leaves that are asked only after splits were merged: the root has read the manifest before.
struct Meddling {
    leaves: LocalLeaves,
    world: TestWorld,
    was_asked: AtomicBool,
}

#[async_trait]
impl Leaves for Meddling {
    fn count(&self) -> usize {
        1
    }

    async fn ask(&self, leaf: usize, request: Bytes) -> Result<Bytes, PortError> {
        if !self.was_asked.swap(true, Ordering::Relaxed) {
            self.world.index().refresh(2026).await.unwrap();
        }
        self.leaves.ask(leaf, request).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_root_whose_splits_were_merged_meanwhile_reads_the_manifest_again() {
    let (world, _, _) = searched_by_leaves().await;
    removal(&world).remove(&accept(&world, "gone", "A curlew.").await, Gone::Gone).await.unwrap();
    let before = world.blobs.list("splits/", None, 99).await.unwrap().len();
    let leaves = LocalLeaves(vec![Arc::new(here(&world))]);
    let meddling = Meddling { leaves, world: TestWorld::sharing(&world), was_asked: AtomicBool::new(false) };
    let finder = here(&world).with_leaves(Arc::new(meddling), 1);
    let found = find(&finder, "curlew").await;
    assert!(world.blobs.list("splits/", None, 99).await.unwrap().len() > before, "they were merged into another one");
    assert_eq!((found.total, found.unsearched), (12, 0));
}

#[tokio::test(start_paused = true)]
async fn a_leaf_opens_nothing_that_is_not_published() {
    let (world, _, _) = searched_by_leaves().await;
    let leaf = here(&world);
    let call = |form: u32, key: &str| {
        format!(r#"{{"form":{form},"manifests":[[2026,"?"]],"hosts":null,"splits":{{"0":"{key}"}},"requests":[]}}"#)
    };
    for key in ["owners/example.org.json", "splits/2026/none.split", "../secret"] {
        let reply = leaf.answer_as_leaf(call(3, key).as_bytes()).await.unwrap();
        assert_eq!(reply, r#""stale""#, "{key}");
    }
    let split = world.blobs.list("splits/", None, 1).await.unwrap().remove(0);
    assert_eq!(leaf.answer_as_leaf(call(3, &split).as_bytes()).await.unwrap(), r#"{"answers":[]}"#);
    for wrong in [&call(4, &split), "{}", "", "[1]", r#"{"smoke":true}"#] {
        assert!(leaf.answer_as_leaf(wrong.as_bytes()).await.is_err(), "{wrong}");
    }
}
