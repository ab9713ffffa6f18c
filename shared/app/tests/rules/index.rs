//! The index over days and years: publishing, merging, purging, sweeping, and searching.

use crate::test_world::*;
use crate::watches;
use curlew_catalog::indexed_years::indexed_years;
use curlew_catalog::results::{FindError, SearchResults};
use curlew_people::fsck::Damage;
use curlew_search::Manifest;

/// Adds a page that has passed extraction: its record in a segment of its own, and its row.
pub(crate) async fn accept(world: &TestWorld, name: &str, text: &str) -> PageId {
    accept_on(world, "example.org", name, text).await
}

/// Adds a page of this host that has passed extraction.
pub(crate) async fn accept_on(world: &TestWorld, of: &str, name: &str, text: &str) -> PageId {
    let url = format!("https://{of}/{name}");
    let record = Record {
        host: of.into(),
        title: format!("Page {name}"),
        text: text.into(),
        language: Some("en".into()),
        ..Record::new(page(&url), url, world.now())
    };
    accept_record(world, record).await.0
}

/// Adds an accepted page with this record. Returns the page, and the location of its record.
async fn accept_record(world: &TestWorld, record: Record) -> (PageId, Location) {
    let now = world.now();
    let frame = zstd::bulk::compress(&serde_json::to_vec(&record).unwrap(), 3).unwrap();
    let key = format!("segments/{}/{}.jsonl.zst", now.day().replace('-', "/"), record.id);
    let segment = SegmentKey::new(&key).unwrap();
    let location = Location { segment, offset: 0, length: frame.len() as u64 };
    world.blobs.put(&key, frame.into()).await.unwrap();
    let state = PageState::Accepted { year: now.year(), location: location.clone(), content_hash: String::new() };
    let row = Page::new(record.id.clone(), record.url, host(&record.host), state, now);
    assert!(world.pages.insert(&row).await.unwrap());
    (record.id, location)
}

pub(crate) fn removal(world: &TestWorld) -> Removal {
    Removal::new(world.pages.clone(), world.blobs.clone(), world.politeness.clock.clone(), Arc::new(()))
}

async fn manifest(world: &TestWorld, year: Year) -> Manifest {
    let blob = world.blobs.get(&format!("manifests/{year}.json")).await.unwrap();
    blob.map_or(Manifest::new(year), |blob| Manifest::from_json(&blob.bytes).unwrap())
}

pub(crate) async fn ask(world: &TestWorld, query: &str) -> SearchResults {
    let finder = world.finder();
    finder.find(query, Start::Offset(0), 10).await.unwrap()
}

async fn go_to(world: &TestWorld, day: &str) {
    let to = Timestamp::parse_day_or_instant(day).unwrap();
    world.sleep_until(to).await;
}

/// Returns the keys of the objects that contain one of the words, in full or as a stem. The zstd frames of records and
/// splits are searched, too.
pub(crate) async fn traces(world: &TestWorld, words: &[&str]) -> Vec<String> {
    let mut found = vec![];
    for key in world.blobs.list("", None, 100_000).await.unwrap() {
        let bytes = world.blobs.get(&key).await.unwrap().unwrap().bytes;
        let mut texts = vec![bytes.to_vec()];
        let frames = bytes.windows(4).enumerate().filter(|(_, magic)| magic == &[0x28, 0xb5, 0x2f, 0xfd]);
        texts.extend(frames.filter_map(|(at, _)| {
            let length = zstd::zstd_safe::find_frame_compressed_size(&bytes[at..]).ok()?;
            zstd::bulk::decompress(&bytes[at..at + length], 1 << 24).ok()
        }));
        let texts = texts.iter().map(|text| String::from_utf8_lossy(text).to_lowercase());
        if texts.into_iter().any(|text| words.iter().any(|word| text.contains(word))) {
            found.push(key);
        }
    }
    found
}

#[tokio::test(start_paused = true)]
async fn in_a_simulated_year_a_page_is_rewritten_about_five_times() {
    let world = TestWorld::new();
    go_to(&world, "2027-01-01T00:01:00Z").await;
    let (mut all, mut most) = (PublishReport::default(), 0);
    let mut ids = Vec::new();
    for step in 0..3 * 365 {
        ids.push(accept(&world, &format!("p{step}"), "A curlew probes the mud.").await);
        // After a while a re-check finds that one page in twenty is gone.
        if step % 20 == 19 {
            removal(&world).remove(&ids[step - 15], Gone::NotFound).await.unwrap();
        }
        let done = world.index().publish(2027).await.unwrap();
        all.added += done.added;
        all.rewritten += done.rewritten;
        all.purged += done.purged;
        most = most.max(done.splits);
        world.sleep(Millis::from_hours(8)).await;
    }
    assert_eq!(world.now().year(), 2028);
    // At New Year current pages are still found, and the next year's first publishing includes the last hours.
    ids.push(accept(&world, "of-2028", "A curlew probes the mud.").await);
    for year in [2027, 2028] {
        let done = world.index().publish(year).await.unwrap();
        (all.added, all.rewritten, all.purged) =
            (all.added + done.added, all.rewritten + done.rewritten, all.purged + done.purged);
        assert!(ask(&world, "curlew").await.total >= 1_095 - 54, "there must be no gap");
    }
    let done = world.index().refresh(2027).await.unwrap();
    (all.rewritten, all.purged) = (all.rewritten + done.rewritten, all.purged + done.purged);
    assert_eq!((done.splits, all.added, all.purged), (1, 1_096, 54));
    assert_eq!(ask(&world, "curlew").await.total, 1_096 - 54);
    assert_eq!(manifest(&world, 2027).await.tombstones.len(), 0);
    let rewrites = all.rewritten as f64 / all.added as f64;
    // With the present code a page is rewritten 4.1 times on average after it was first written.
    assert!((3.5..5.0).contains(&rewrites), "{rewrites}");
    assert!(most <= 26, "{most}");
    // A day later only listed objects are left.
    world.sleep(Millis::from_days(2)).await;
    for year in [2027, 2028] {
        world.index().publish(year).await.unwrap();
    }
    assert_eq!(world.keys("splits/").await.len(), 2);
    let again = world.index().refresh(2027).await.unwrap();
    assert_eq!((again.rewritten, again.purged), (0, 0), "a second refresh has nothing to do");
}

#[tokio::test(start_paused = true)]
async fn two_indexers_at_once_publish_each_page_once() {
    let world = TestWorld::new();
    for n in 0..6 {
        accept(&world, &format!("a{n}"), "A curlew.").await;
    }
    // One indexer has listed the segments when the other one comes, with one segment more.
    let (one, two) = (world.index(), world.index());
    let later = async {
        accept(&world, "late", "A curlew.").await;
        two.publish(2026).await
    };
    let (one, two) = futures::join!(one.publish(2026), later);
    assert_eq!(one.unwrap().added + two.unwrap().added, 7);
    assert_eq!(ask(&world, "curlew").await.total, 7);
    world.sleep(Millis::from_days(1)).await;
    let (one, two) = (world.index(), world.index());
    let (one, two) = futures::join!(one.refresh(2026), two.refresh(2026));
    assert!(one.is_ok() && two.is_ok(), "{one:?} {two:?}");
    assert_eq!(ask(&world, "curlew").await.total, 7);
}

#[tokio::test(start_paused = true)]
async fn what_a_crash_leaves_behind_is_swept_and_what_is_read_is_not() {
    let world = TestWorld::new();
    world.blobs.put("splits/2026/left.split", "half done".into()).await.unwrap();
    for n in 0..3 {
        accept(&world, &format!("a{n}"), "A curlew.").await;
        world.publish().await;
    }
    let three = world.keys("splits/2026/").await;
    assert_eq!(three.len(), 4);
    world.index().refresh(2026).await.unwrap();
    assert_eq!(world.keys("splits/2026/").await.len(), 5, "readers must be able to finish");
    world.sleep(Millis::from_hours(25)).await;
    world.publish().await;
    let left = world.keys("splits/2026/").await;
    assert_eq!((left.len(), ask(&world, "curlew").await.total), (1, 3));
    assert!(manifest(&world, 2026).await.retired.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_year_without_a_page_is_neither_written_nor_counted() {
    let world = TestWorld::new();
    let years = async || {
        let years = indexed_years(&*world.blobs).await.unwrap();
        years.into_iter().map(|of| (of.year, of.pages)).collect::<Vec<(Year, u64)>>()
    };
    let only = accept(&world, "a", "A curlew.").await;
    for year in [2019, 2026] {
        world.index().refresh(year).await.unwrap();
        world.index().publish(year).await.unwrap();
    }
    assert_eq!(world.keys("manifests/").await, ["manifests/2026.json"]);
    // An earlier program has written such a manifest nevertheless, and a year without pages may have pages to hide.
    let hidden = Manifest::new(2020).with_tombstones([page(B)]);
    for empty in [Manifest::new(2019), hidden] {
        world.blobs.put(&format!("manifests/{}.json", empty.year), empty.to_json().into()).await.unwrap();
    }
    assert_eq!((years().await, ask(&world, "curlew").await.total), (vec![(2026, 1)], 1));
    removal(&world).remove(&only, Gone::Gone).await.unwrap();
    world.index().refresh(2026).await.unwrap();
    assert_eq!((years().await, ask(&world, "curlew").await.total), (vec![], 0));
    accept(&world, "c", "A curlew.").await;
    world.publish().await;
    assert_eq!((years().await, ask(&world, "curlew").await.total), (vec![(2026, 1)], 1));
}

#[tokio::test(start_paused = true)]
async fn a_pasted_address_finds_its_page() {
    let world = TestWorld::new();
    accept(&world, "2026/tide", "A curlew probes the mud.").await;
    accept(&world, "2026", "It links to example.org and to 2026/tide.").await;
    world.publish().await;
    for typed in [
        "https://example.org/2026/tide",
        " http://example.org/2026/tide/?utm_source=x#mud ",
        "example.org/2026/tide",
        "HTTPS://EXAMPLE.ORG/2026/tide",
    ] {
        let found = ask(&world, typed).await;
        assert_eq!(found.hits[0].url, "https://example.org/2026/tide", "{typed}");
        assert_eq!(found.total, 1, "{typed}");
    }
    assert_eq!(ask(&world, "https://example.org/other tide").await.total, 0, "an address beside words is text");
}

#[tokio::test(start_paused = true)]
async fn p04_after_compaction_the_text_of_a_removed_page_is_in_no_object() {
    let world = TestWorld::new();
    let gone = accept(&world, "gone", "The xylomarimbula of Quillfeather is secret.").await;
    for n in 0..5 {
        accept(&world, &format!("a{n}"), "A curlew probes the mud.").await;
    }
    world.publish().await;
    assert_eq!(ask(&world, "xylomarimbula").await.total, 1);
    removal(&world).remove(&gone, Gone::Gone).await.unwrap();
    assert_eq!(ask(&world, "xylomarimbula").await.total, 0, "the very next query must not find the page");
    assert_eq!(ask(&world, "xylomarimbul").await.suggestion, None);

    let words = ["xylomarimbul", "quillfeath"];
    assert_eq!(traces(&world, &words).await.len(), 1, "only the split has the text, until it is rewritten");
    // The year is refreshed at once by hand, or after a while by schedule. The old split is deleted a day later.
    world.index().refresh(2026).await.unwrap();
    world.sleep(Millis::from_hours(25)).await;
    world.publish().await;
    assert_eq!(traces(&world, &words).await, Vec::<String>::new());
    assert_eq!(ask(&world, "curlew").await.total, 5);
}

#[tokio::test(start_paused = true)]
async fn what_is_gone_leaves_the_current_year_too_after_three_months() {
    let world = TestWorld::new();
    let mut first = None;
    for n in 0..60 {
        first.get_or_insert(accept(&world, &format!("a{n}"), "A curlew.").await);
        world.index().publish(world.now().year()).await.unwrap();
        world.sleep(Millis::from_days(1)).await;
    }
    go_to(&world, "2027-03-05").await;
    let (year, first) = (2026, first.unwrap());
    removal(&world).remove(&first, Gone::Gone).await.unwrap();
    assert_eq!(
        world.index().publish(year).await.unwrap().purged,
        1,
        "merged into its month more than three months ago"
    );
    assert_eq!(manifest(&world, year).await.tombstones.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn o12_odd_queries_are_answered_with_what_was_understood() {
    let world = TestWorld::new();
    for n in 0..25 {
        accept(&world, &format!("a{n}"), "A curlew probes the mud of the estuary.").await;
    }
    world.publish().await;
    let finder = world.finder();
    let find = async |query: &str, start: Start<'_>| finder.find(query, start, 10).await;
    finder.sign_cursors([7; 32]);

    let long = format!("curlew {}", "mud ".repeat(2_500));
    let found = find(&long, Start::Offset(0)).await.unwrap();
    assert_eq!((found.total, found.notes.len()), (25, 2));
    let found = find("curlew before:2026-99-99 \"a \"\" b\u{0}", Start::Offset(0)).await.unwrap();
    assert!(found.notes[0].to_string().contains("2026-99-99"), "{:?}", found.notes);
    for nothing in ["", "\u{0}\u{7}", "\"\"\"\"", "sort:size", "*"] {
        assert!(matches!(find(nothing, Start::Offset(0)).await, Err(FindError::BadQuery(_))), "{nothing:?}");
    }

    let first = find("curlew", Start::Offset(0)).await.unwrap();
    let next = first.next.clone().unwrap();
    let second = find("curlew", Start::After(&next)).await.unwrap();
    assert_eq!((second.before, second.hits.len(), second.notes.len()), (10, 10, 0));
    assert!(second.hits.iter().all(|hit| first.hits.iter().all(|other| other.url != hit.url)));
    for (query, cursor) in [("curlew", "nonsense"), ("curlew", &next[1..]), ("mud", &next), ("curlew", "")] {
        let refused = find(query, Start::After(cursor)).await;
        assert!(matches!(refused, Err(FindError::BadQuery(QueryError::Cursor))), "{cursor}: {refused:?}");
    }
    let other = || world.finder();
    for (key, why) in [(None, "where nobody signs"), (Some([8; 32]), "where another signs")] {
        let finder = other();
        key.into_iter().for_each(|key| finder.sign_cursors(key));
        let refused = finder.find("curlew", Start::After(&next), 10).await;
        assert!(matches!(refused, Err(FindError::BadQuery(QueryError::Cursor))), "{why}: {refused:?}");
    }
    assert_eq!(other().find("curlew", Start::Offset(0), 10).await.unwrap().next, None);
    assert_eq!(find("curlw", Start::Offset(0)).await.unwrap().suggestion.as_deref(), Some("curlew"));
}

#[tokio::test(start_paused = true)]
async fn a_damaged_segment_stops_no_other_one_and_is_read_once() {
    let world = TestWorld::new();
    let program = world.program();
    watches::add(&program, "curlew").await;
    let text = "A curlew probes the mud.";
    let record = |url: &str, replaces: Option<&Location>| Record {
        host: "example.org".into(),
        text: text.into(),
        replaces: replaces.cloned(),
        ..Record::new(page(url), url.to_owned(), world.now())
    };
    let (_, lost) = accept_record(&world, record(B, None)).await;
    accept(&world, "a", text).await;
    // A record that replaces the damaged one is published nevertheless.
    accept_record(&world, record(C, Some(&lost))).await;
    world.blobs.put(lost.segment.as_str(), vec![7; 100].into()).await.unwrap();
    let counts =
        |done: &[(Year, PublishReport)]| done.iter().map(|(_, done)| (done.added, done.damaged)).collect::<Vec<_>>();
    assert_eq!(counts(&program.publish().await.unwrap()), [(2, 1)]);
    accept(&world, "d", text).await;
    assert_eq!(counts(&program.publish().await.unwrap()), [(1, 0)]);
    assert_eq!(ask(&world, "curlew").await.total, 3);
    assert!(!world.queued(QueueName::Poll).await.is_empty(), "the watch has its matches");
    let fsck = program.fsck(true);
    let report = fsck.look().await.unwrap();
    assert!(
        report
            .damage
            .iter()
            .any(|damage| matches!(damage, Damage::Unreadable { key, .. } if *key == lost.segment.to_string()))
    );
    assert_eq!(fsck.repair(&report).await.unwrap(), []);
    let (visit, _) = world.only_visit().await;
    assert_eq!(visit.items[0].url, B);
    assert_eq!(fsck.look().await.unwrap().damage, []);
}
