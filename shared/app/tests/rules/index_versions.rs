//! A finder over an index that changes meanwhile. It leaves out parts of another version and says so, and it does not
//! find pages that are gone.

use crate::index::{accept, removal};
use crate::test_world::*;
use curlew_catalog::indexed_years::indexed_years;
use curlew_catalog::results::{FindError, SearchResults};
use curlew_search::FORM;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of days with a publishing; each makes a split.
const DAYS: usize = 6;
/// Key of the manifest of these days.
const MANIFEST: &str = "manifests/2026.json";

/// Returns a store with two pages of each day, and a finder that has searched them.
async fn searched() -> (TestWorld, Finder) {
    let world = TestWorld::new();
    for day in 0..DAYS {
        accept(&world, &format!("a{day}"), "A curlew probes the mud.").await;
        accept(&world, &format!("b{day}"), "A curlew and a whimbrel.").await;
        world.publish().await;
        world.sleep(Millis::from_days(1)).await;
    }
    let finder = new_finder(&world);
    let found = find(&finder, "curlew").await;
    assert_eq!((found.total, found.unsearched, found.hits.len()), (2 * DAYS as u64, 0, 2 * DAYS));
    (world, finder)
}

fn new_finder(world: &TestWorld) -> Finder {
    world.finder()
}

async fn find(finder: &Finder, query: &str) -> SearchResults {
    finder.find(query, Start::Offset(0), 20).await.unwrap()
}

/// Changes the manifest as a program of another version would.
async fn change_manifest(blobs: &dyn Blobs, change: impl FnOnce(&mut Value)) {
    let mut manifest: Value = serde_json::from_slice(&blobs.get(MANIFEST).await.unwrap().unwrap().bytes).unwrap();
    change(&mut manifest);
    blobs.put(MANIFEST, serde_json::to_vec(&manifest).unwrap().into()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn splits_of_a_newer_format_are_left_out_and_that_is_said() {
    let (world, finder) = searched().await;
    // This imitates a downgrade from a version that has written two splits of its own.
    let mut newer = 0;
    change_manifest(&*world.blobs, |manifest| {
        for split in manifest["splits"].as_array_mut().unwrap().iter_mut().take(2) {
            split["form"] = (FORM + 1).into();
            newer += split["docs"].as_u64().unwrap();
        }
    })
    .await;
    for finder in [&finder, &new_finder(&world)] {
        let found = find(finder, "curlew").await;
        assert_eq!((found.total, found.unsearched), (2 * DAYS as u64 - newer, newer));
        assert_eq!(found.hits.len() as u64, found.total);
        // A finder cannot know whether the splits that it leaves out would match.
        assert_eq!(find(finder, "zzzzz").await.unsearched, newer);
        assert!(found.unsearched_years.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_year_whose_manifest_has_a_newer_version_is_left_out_and_that_is_said() {
    let (world, _) = searched().await;
    world.blobs.put("manifests/2025.json", r#"{"version": 9, "whatever": true}"#.into()).await.unwrap();
    let finder = new_finder(&world);
    let found = find(&finder, "curlew").await;
    assert_eq!((found.total, found.unsearched, found.hits.len()), (2 * DAYS as u64, 0, 2 * DAYS));
    assert_eq!(found.unsearched_years, [2025]);
    let counted = indexed_years(&*world.blobs).await.unwrap();
    let seen: Vec<_> = counted.iter().map(|year| (year.year, year.is_newer, year.pages > 0)).collect();
    assert_eq!(seen, [(2026, false, true), (2025, true, false)]);
    assert!(!world.program().library.index.has_unpublished(2025).await.unwrap());
    let before = world.blobs.get(MANIFEST).await.unwrap().unwrap().bytes;
    change_manifest(&*world.blobs, |manifest| manifest["version"] = 2_u32.into()).await;
    for finder in [&finder, &new_finder(&world)] {
        let found = find(finder, "curlew").await;
        assert_eq!((found.total, found.unsearched), (0, 0), "an earlier manifest must not replace the newer one");
        assert_eq!(found.unsearched_years, [2025, 2026]);
    }
    world.blobs.put(MANIFEST, before).await.unwrap();
    let found = find(&finder, "curlew").await;
    assert_eq!((found.total, found.unsearched_years), (2 * DAYS as u64, vec![2025]));
    // Damage is not the same as another version.
    world.blobs.put(MANIFEST, "{".into()).await.unwrap();
    let failed = finder.find("curlew", Start::Offset(0), 20).await;
    assert!(matches!(failed, Err(FindError::Port(PortError::Corrupt { .. }))), "{failed:?}");
}

#[tokio::test(start_paused = true)]
async fn nothing_gone_is_found_by_a_finder_that_has_known_it() {
    let (world, finder) = searched().await;
    let total = async || find(&finder, "curlew").await.total;
    let late = accept(&world, "late", "A curlew that is late.").await;
    world.publish().await;
    assert_eq!(total().await, 13, "the finder must read the new split");
    removal(&world).remove(&late, Gone::Gone).await.unwrap();
    let found = find(&finder, "curlew").await;
    assert!(found.total == 12 && found.hits.iter().all(|hit| !hit.url.contains("late")), "{found:?}");
    assert_eq!(find(&finder, "late").await.suggestion, None);
    // Splits are merged, and the ones that the finder has open are deleted.
    world.index().refresh(2026).await.unwrap();
    world.sleep(Millis::from_days(3)).await;
    world.publish().await;
    assert_eq!(total().await, 12);
    let block = async |text: &str| world.blobs.put("hidden-hosts.json", text.to_owned().into()).await.unwrap();
    block(r#"{"hosts": ["example.org"]}"#).await;
    assert_eq!(total().await, 0, "the very next query must hide the host");
    block(r#"{"hosts": []}"#).await;
    assert_eq!(total().await, 12);
}

#[tokio::test(start_paused = true)]
async fn a_finder_whose_splits_were_merged_meanwhile_reads_the_manifest_again() {
    let (world, _) = searched().await;
    let was_read = AtomicBool::new(false);
    let blobs = JudgedBlobs::new(world.blobs.clone(), move |call, key| {
        match call == BlobCall::GetRange && key.starts_with("splits/") && !was_read.swap(true, Ordering::Relaxed) {
            true => BlobFate::Fail(PortError::NotFound(key.to_owned())),
            false => BlobFate::Pass,
        }
    });
    let found = find(&Finder::new(blobs, world.politeness.clock.clone()), "curlew").await;
    assert_eq!((found.total, found.unsearched), (2 * DAYS as u64, 0));
}
