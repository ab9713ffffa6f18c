//! The index as it grows: splits that are not opened, manifests that are not read again, portions built side by side,
//! and an upgrade of the format that searchers do not notice.

use crate::index::{accept, ask, removal};
use crate::test_world::*;
use curlew_search::{FORM, Manifest, OLDEST_FORM};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const MANIFEST: &str = "manifests/2026.json";

/// An object store that records the transferred objects, and runs a query after each change of a manifest.
struct WatchedBlobs {
    plain: Arc<MemoryBlobs>,
    /// Keys of objects that were read, completely or in part.
    read: Mutex<Vec<String>>,
    /// Numbers of pages that the query found.
    found: Mutex<Vec<u64>>,
    finder: Option<Finder>,
}

impl WatchedBlobs {
    fn over(world: &TestWorld) -> WatchedBlobs {
        WatchedBlobs { plain: world.blobs.clone(), read: Mutex::default(), found: Mutex::default(), finder: None }
    }

    fn note(&self, key: &str) {
        self.read.lock().unwrap().push(key.to_owned());
    }

    /// Returns the keys with this prefix that were read since the last call of this function.
    fn taken(&self, prefix: &str) -> BTreeSet<String> {
        let mut read = self.read.lock().unwrap();
        std::mem::take(&mut *read).into_iter().filter(|key| key.starts_with(prefix)).collect()
    }
}

#[async_trait]
impl Blobs for WatchedBlobs {
    async fn get(&self, key: &str) -> Result<Option<Blob>, PortError> {
        self.note(key);
        self.plain.get(key).await
    }

    async fn get_changed(&self, key: &str, seen: Option<&Tag>) -> Result<Seen, PortError> {
        let seen = self.plain.get_changed(key, seen).await?;
        if matches!(seen, Seen::Changed(_)) {
            self.note(key);
        }
        Ok(seen)
    }

    async fn get_range(&self, key: &str, offset: u64, length: u64) -> Result<Bytes, PortError> {
        self.note(key);
        self.plain.get_range(key, offset, length).await
    }

    async fn put(&self, key: &str, bytes: Bytes) -> Result<(), PortError> {
        self.plain.put(key, bytes).await
    }

    async fn put_if_absent(&self, key: &str, bytes: Bytes) -> Result<bool, PortError> {
        self.plain.put_if_absent(key, bytes).await
    }

    async fn swap(&self, key: &str, seen: Option<&Tag>, bytes: Bytes) -> Result<Tag, PortError> {
        let tag = self.plain.swap(key, seen, bytes).await?;
        if let Some(finder) = self.finder.as_ref().filter(|_| key == MANIFEST) {
            let found = finder.find("curlew", Start::Offset(0), 10).await.unwrap();
            self.found.lock().unwrap().push(found.total);
        }
        Ok(tag)
    }

    async fn delete(&self, key: &str) -> Result<(), PortError> {
        self.plain.delete(key).await
    }

    async fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<String>, PortError> {
        self.plain.list(prefix, after, limit).await
    }
}

/// Returns an object store that fails to write the split after this number of splits.
fn failing_after(splits: usize, world: &TestWorld) -> Arc<dyn Blobs> {
    let written = AtomicUsize::new(0);
    JudgedBlobs::new(world.blobs.clone(), move |call, key| {
        let is_split = call == BlobCall::PutIfAbsent && key.starts_with("splits/");
        match is_split && written.fetch_add(1, Ordering::Relaxed) == splits {
            true => BlobFate::Fail(PortError::Unavailable { what: "it died".into(), source: None }),
            false => BlobFate::Pass,
        }
    })
}

async fn manifest(world: &TestWorld) -> Manifest {
    Manifest::from_json(&world.blobs.get(MANIFEST).await.unwrap().unwrap().bytes).unwrap()
}

/// Publishes some pages on several days; returns the number of splits.
async fn publish_days(world: &TestWorld, days: usize) -> usize {
    for day in 0..days {
        accept(world, &format!("a{day}"), "A curlew probes the mud.").await;
        accept(world, &format!("b{day}"), "A curlew and a whimbrel.").await;
        world.publish().await;
        world.sleep(Millis::from_days(1)).await;
    }
    manifest(world).await.splits.len()
}

#[tokio::test(start_paused = true)]
async fn a_query_reads_only_splits_that_may_answer_and_manifests_that_have_changed() {
    let world = TestWorld::new();
    let first = world.now();
    let splits = publish_days(&world, 3).await;
    assert_eq!(splits, 3);
    let blobs = Arc::new(WatchedBlobs::over(&world));
    let finder = Finder::new(blobs.clone(), world.politeness.clock.clone());
    let total = async |query: &str| finder.find(query, Start::Offset(0), 10).await.unwrap().total;

    let second_day = (first + Millis::from_days(1)).day();
    for (query, found) in [("curlew lang:fr", 0), ("curlew site:example.net", 0), ("curlew before:2026-01-01", 0)] {
        assert_eq!(total(query).await, found, "{query}");
        assert_eq!(blobs.taken("splits/"), BTreeSet::new(), "{query}");
    }
    assert_eq!(total(&format!("curlew before:{second_day}")).await, 2);
    assert_eq!(blobs.taken("splits/").len(), 1, "only the split of one day is read");
    assert_eq!(total("curlew site:example.org lang:en").await, 6);
    assert_eq!(blobs.taken("splits/").len(), 2, "the first split is still open");

    assert_eq!(total("curlew").await, 6);
    assert_eq!(blobs.taken(""), BTreeSet::new(), "nothing has changed, so nothing is read");
    let gone = accept(&world, "late", "A curlew that is late.").await;
    world.publish().await;
    assert_eq!(total("curlew").await, 7);
    assert_eq!(blobs.taken("manifests/").len(), 1);
    removal(&world).remove(&gone, Gone::Gone).await.unwrap();
    assert_eq!(total("curlew").await, 6, "the very next query must not find the page");
    world.blobs.put("hidden-hosts.json", r#"{"hosts": ["example.org"]}"#.into()).await.unwrap();
    assert_eq!(total("curlew").await, 0);
}

/// Changes the splits of the index into splits of another version: with its format number, and without bounds.
async fn as_written_by(world: &TestWorld, form: u32) {
    let mut json: serde_json::Value =
        serde_json::from_slice(&world.blobs.get(MANIFEST).await.unwrap().unwrap().bytes).unwrap();
    for entry in json["splits"].as_array_mut().unwrap() {
        let key = entry["key"].as_str().unwrap().to_owned();
        let mut bytes = world.blobs.get(&key).await.unwrap().unwrap().bytes.to_vec();
        // The format number precedes the last eight bytes.
        let at = bytes.len() - 12;
        assert_eq!(bytes[at..at + 4], FORM.to_le_bytes());
        bytes[at..at + 4].copy_from_slice(&form.to_le_bytes());
        // A split of another format has another name.
        let old = key.replace(".split", "-old.split");
        world.blobs.put(&old, bytes.into()).await.unwrap();
        world.blobs.delete(&key).await.unwrap();
        entry["key"] = old.into();
        entry["form"] = form.into();
        for bound in ["oldest", "newest", "hosts"] {
            entry.as_object_mut().unwrap().remove(bound);
        }
    }
    world.blobs.put(MANIFEST, serde_json::to_vec(&json).unwrap().into()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_upgrade_of_the_format_is_never_seen_by_who_searches() {
    let world = TestWorld::new();
    let gone = accept(&world, "gone", "A curlew that will be gone.").await;
    assert_eq!(publish_days(&world, 4).await, 4);
    removal(&world).remove(&gone, Gone::Gone).await.unwrap();
    as_written_by(&world, OLDEST_FORM).await;
    assert!(manifest(&world).await.is_outdated());
    assert_eq!(ask(&world, "curlew").await.total, 8, "the old splits are searched");
    let segments = manifest(&world).await.segments;

    // A search runs after each change.
    let clock = world.politeness.clock.clone();
    let finder = Finder::new(world.blobs.clone(), clock.clone());
    let blobs = Arc::new(WatchedBlobs { finder: Some(finder), ..WatchedBlobs::over(&world) });
    accept(&world, "new", "A curlew that came meanwhile.").await;
    let index = Index { blobs: blobs.clone(), ..world.index() };
    let done = index.publish(2026).await.unwrap();
    assert_eq!((done.added, done.rewritten, done.purged), (1, 8, 1));
    let found = blobs.found.lock().unwrap().clone();
    assert!(found.len() >= 5 && found.iter().all(|total| *total == 9), "{found:?}");
    assert_eq!(blobs.taken("segments/").len(), 1, "old splits must be upgraded from their own records");
    let now = manifest(&world).await;
    assert!(!now.is_outdated() && segments.iter().all(|segment| now.is_indexed(segment)));
    assert_eq!(now.tombstones, BTreeSet::new());
    assert!(now.splits.iter().all(|split| split.form == FORM && split.bounds.oldest.is_some()));
    assert_eq!(ask(&world, "whimbrel").await.total, 4);
    // One upgrade is enough, and the old objects are swept.
    assert!(!index.publish(2026).await.unwrap().has_changed());
    world.sleep(Millis::from_days(2)).await;
    world.publish().await;
    assert_eq!(world.keys("splits/").await.len(), manifest(&world).await.splits.len());
}

#[tokio::test(start_paused = true)]
async fn an_upgrade_that_dies_goes_on_where_it_was() {
    let world = TestWorld::new();
    assert_eq!(publish_days(&world, 4).await, 4);
    as_written_by(&world, OLDEST_FORM).await;
    Index { blobs: failing_after(2, &world), ..world.index() }.publish(2026).await.unwrap_err();
    assert_eq!(ask(&world, "curlew").await.total, 8);
    let old = async || manifest(&world).await.splits.iter().filter(|split| split.form == OLDEST_FORM).count();
    assert_eq!(old().await, 2, "two splits were rewritten before the failure");
    assert_eq!(world.publish().await.rewritten, 4);
    assert_eq!((old().await, ask(&world, "curlew").await.total), (0, 8));
}

#[tokio::test(start_paused = true)]
async fn what_a_later_version_has_written_is_left_alone_and_what_is_too_old_is_built_anew() {
    let world = TestWorld::new();
    assert_eq!(publish_days(&world, 2).await, 2);
    as_written_by(&world, FORM + 1).await;
    let before = world.blobs.get(MANIFEST).await.unwrap().unwrap();
    accept(&world, "new", "A curlew.").await;
    let refused = world.index().publish(2026).await.unwrap_err();
    assert!(refused.to_string().contains("index"), "{refused}");
    assert_eq!(world.blobs.get(MANIFEST).await.unwrap().unwrap(), before);
    as_written_by_again(&world, OLDEST_FORM - 1).await;
    assert_eq!(world.publish().await.added, 5);
    assert_eq!(ask(&world, "curlew").await.total, 5);
}

/// Changes the format number in the manifest of an index that [`as_written_by`] gave the next format.
async fn as_written_by_again(world: &TestWorld, form: u32) {
    let json = world.blobs.get(MANIFEST).await.unwrap().unwrap().bytes;
    let json = String::from_utf8(json.to_vec()).unwrap();
    let json = json.replace(&format!("\"form\":{}", FORM + 1), &format!("\"form\":{form}"));
    world.blobs.put(MANIFEST, json.into()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn portions_are_built_side_by_side_and_one_that_fails_is_taken_up_again() {
    let world = TestWorld::new();
    for n in 0..11 {
        accept(&world, &format!("a{n:02}"), "A curlew probes the mud.").await;
    }
    let portions = |blobs: Arc<dyn Blobs>| Index { blobs, pages_per_split: 2, portions_at_once: 4, ..world.index() };
    portions(failing_after(1, &world)).publish(2026).await.unwrap_err();
    let half = manifest(&world).await;
    assert_eq!((half.splits.len(), half.segments.len()), (5, 9), "one portion of six failed");
    assert_eq!(ask(&world, "curlew").await.total, 9);
    assert!(half.sealed_through.is_none());
    let done = portions(world.blobs.clone()).publish(2026).await.unwrap();
    assert_eq!((done.added, done.segments), (2, 2), "only the failed portion is repeated");
    assert_eq!(ask(&world, "curlew").await.total, 11);
    // Two indexers at the same time lose no page and add none twice.
    for n in 11..30 {
        accept(&world, &format!("a{n:02}"), "A curlew probes the mud.").await;
    }
    let (one, two) = (portions(world.blobs.clone()), portions(world.blobs.clone()));
    let (one, two) = futures::join!(one.publish(2026), two.publish(2026));
    assert_eq!(one.unwrap().added + two.unwrap().added, 19);
    assert_eq!(ask(&world, "curlew").await.total, 30);
}
