//! Export: every current record comes once, whatever is published, revised or removed meanwhile.

use crate::index::{accept, removal};
use crate::revision::{document, publish, published, recheck, wait};
use crate::test_world::*;
use curlew_catalog::export::{Export, RecordFilter};
use std::sync::atomic::{AtomicUsize, Ordering};

const TEXT: &str = "The curlew walks along the edge of the water and probes the mud for worms and small crabs.";

async fn export(index: &Index, filter: RecordFilter) -> Vec<Record> {
    let mut all = vec![];
    let write = async |part: Vec<Record>| -> Result<(), StageError> {
        assert!(!part.is_empty(), "a portion without records is not written");
        all.extend(part);
        Ok(())
    };
    Export(index).run(filter, |records| records, write).await.unwrap();
    all
}

async fn exported(world: &TestWorld) -> Vec<Record> {
    export(&world.index(), RecordFilter::default()).await
}

async fn urls(world: &TestWorld, filter: RecordFilter) -> Vec<String> {
    let mut urls: Vec<String> = export(&world.index(), filter).await.into_iter().map(|record| record.url).collect();
    urls.sort();
    urls
}

fn word_of(records: &[Record]) -> &str {
    let [record] = records else { panic!("{} records", records.len()) };
    record.text.split("it was the ").nth(1).unwrap().trim_end_matches('.')
}

#[tokio::test(start_paused = true)]
async fn a_revised_page_comes_once_with_its_new_text_before_and_after_it_is_published() {
    let world = published("whimbrel").await;
    assert_eq!(word_of(&exported(&world).await), "whimbrel");
    for word in ["godwit", "dunlin"] {
        world.web.keep(A, document(word));
        recheck(&world).await;
        assert_eq!(word_of(&exported(&world).await), word, "not published");
        wait(&world, 25).await;
    }
    // Until the row of a revision is written after its segment, the older record counts.
    let (row, seen) = world.pages.get(&page(A)).await.unwrap().unwrap();
    let PageState::Accepted { location, year, content_hash } = row.state.clone() else { panic!() };
    let record = exported(&world).await.remove(0);
    let before = PageState::Accepted { location: record.replaces.clone().unwrap(), year, content_hash };
    let seen = world.pages.swap(seen, &Page { state: before, ..row.clone() }).await.unwrap();
    assert_eq!(word_of(&exported(&world).await), "godwit");
    world.pages.swap(seen, &row).await.unwrap();
    assert_eq!(record.replaces.as_ref().map(|old| old.segment == location.segment), Some(false));

    world.publish().await;
    assert_eq!(word_of(&exported(&world).await), "dunlin");
    world.index().refresh(2026).await.unwrap();
    assert_eq!(word_of(&exported(&world).await), "dunlin");
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_removed_expired_or_of_a_blocked_host_does_not_come() {
    let world = TestWorld::new();
    for name in ["a", "b", "c"] {
        accept(&world, name, TEXT).await;
    }
    let all = [A, B, C];
    for publishes in [false, true] {
        if publishes {
            world.publish().await;
        }
        assert_eq!(urls(&world, RecordFilter::default()).await, all[usize::from(publishes)..], "{publishes}");
        let gone = all[usize::from(publishes)];
        removal(&world).remove(&page(gone), Gone::NotFound).await.unwrap();
        assert_eq!(urls(&world, RecordFilter::default()).await, all[usize::from(publishes) + 1..], "{publishes}");
    }
    let program = world.program();
    program.desk.blocks.block("example.org").await.unwrap();
    assert!(exported(&world).await.is_empty(), "a page that no search finds is not exported");
    program.desk.blocks.unblock("example.org").await.unwrap();
    assert_eq!(exported(&world).await.len(), 1, "a block hides and does not erase");
    let change = IndexChange::Expire { at: Some(world.now()), validators: None };
    let (page, url) = (page(all[2]), all[2].to_owned());
    let job = RemovalJob { page, url, change, judged_at: world.now() };
    assert_eq!(removal(&world).run(&job).await.unwrap(), Verdict::Done);
    assert!(exported(&world).await.is_empty(), "an expired page is not exported");
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_ran_twice_comes_once() {
    let world = TestWorld::new();
    let id = accept(&world, "a", TEXT).await;
    let (row, _) = world.pages.get(&id).await.unwrap().unwrap();
    let PageState::Accepted { location, .. } = &row.state else { panic!() };
    let frame = world.blobs.get(location.segment.as_str()).await.unwrap().unwrap().bytes;
    // The other run had one more page, so its segment has another name.
    let other = SegmentKey::new(&format!("{}/0.jsonl.zst", &location.segment.as_str()[..19])).unwrap();
    world.blobs.put(other.as_str(), [&frame[..], &frame[..]].concat().into()).await.unwrap();
    assert_eq!(exported(&world).await.len(), 1, "the row decides which record counts");
    wait(&world, 49).await;
    world.publish().await;
    assert_eq!(exported(&world).await.len(), 1, "publishing must erase the other records");
}

#[tokio::test(start_paused = true)]
async fn days_before_since_are_not_read_and_others_are_left_out_by_record() {
    let world = TestWorld::new();
    let mut names = vec![];
    // There are six days in each of two years.
    for day in 0..12 {
        if day == 6 {
            let to: Timestamp = "2027-01-01T00:00:00Z".parse().unwrap();
            world.sleep_until(to).await;
        }
        accept(&world, &format!("{day:02}"), TEXT).await;
        names.push((world.now(), format!("https://example.org/{day:02}")));
        wait(&world, 24).await;
    }
    world.publish().await;
    for (n, (at, _)) in names.iter().enumerate() {
        let reads = Arc::new(AtomicUsize::new(0));
        let counter = reads.clone();
        let counted = JudgedBlobs::new(world.blobs.clone(), move |call, key| {
            let is_read = call == BlobCall::Get && key.starts_with("segments/");
            counter.fetch_add(usize::from(is_read), Ordering::Relaxed);
            BlobFate::Pass
        });
        let index = Index { blobs: counted, ..world.index() };
        let chosen = export(&index, RecordFilter { since: Some(*at), ..RecordFilter::default() }).await;
        let chosen: Vec<String> = chosen.into_iter().map(|record| record.url).collect();
        assert_eq!(chosen, names[n..].iter().map(|(_, url)| url.clone()).collect::<Vec<_>>(), "in order, {n}");
        // New segments are read twice, since a record may be written a moment before the hour of its fetch.
        let read = reads.load(Ordering::Relaxed);
        assert!(read <= (names.len() - n + 1) * 2, "{n}: {read} segments are read");
    }
    let none = |site: Option<&str>, language: Option<&str>| RecordFilter {
        site: site.map(Into::into),
        language: language.map(Into::into),
        since: None,
    };
    assert_eq!(urls(&world, none(Some("org"), Some("en"))).await.len(), names.len());
    assert_eq!(urls(&world, none(Some("ample.org"), None)).await.len(), 0);
    assert_eq!(urls(&world, none(None, Some("it"))).await.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn no_row_is_asked_for_what_is_indexed_and_no_text_comes_where_no_copy_is_allowed() {
    let world = TestWorld::new();
    for name in ["a", "b"] {
        accept(&world, name, TEXT).await;
    }
    world.publish().await;
    let faults = Faults::none(world.politeness.clock.clone());
    let index = Index { pages: Arc::new(Faulty::new(world.pages.clone(), faults.clone())), ..world.index() };
    assert_eq!(export(&index, RecordFilter::default()).await.len(), 2);
    assert_eq!(faults.calls(), 0);

    let (row, _) = world.pages.get(&page(A)).await.unwrap().unwrap();
    let PageState::Accepted { location, .. } = row.state else { panic!() };
    let Location { segment, .. } = location;
    let record = Record {
        host: "example.org".into(),
        text: TEXT.into(),
        no_archive: true,
        ..Record::new(page(A), A.into(), world.now())
    };
    let frame = zstd::bulk::compress(&serde_json::to_vec(&record).unwrap(), 3).unwrap();
    world.blobs.put(segment.as_str(), frame.into()).await.unwrap();
    let records = export(&index, RecordFilter::default()).await;
    let of_a = records.iter().find(|record| record.url.ends_with("/a")).unwrap();
    assert!(of_a.no_archive && of_a.text.is_empty());
}

/// Exports while another process re-checks and publishes a page after the portion with this number.
async fn export_meanwhile(world: &TestWorld, at: usize) -> Vec<Record> {
    let (mut all, mut n) = (vec![], 0);
    let write = async |part: Vec<Record>| -> Result<(), StageError> {
        all.extend(part);
        n += 1;
        if n == at {
            world.web.keep(A, document("godwit"));
            recheck(world).await;
            world.publish().await;
            world.index().publish(2027).await.unwrap();
        }
        Ok(())
    };
    Export(&world.index()).run(RecordFilter::default(), |records| records, write).await.unwrap();
    all
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_revised_and_published_while_the_export_runs_comes_once() {
    for is_late in [false, true] {
        let world = TestWorld::new();
        // Segments are read ahead, so this many segments precede the page's own.
        for n in 0..80 {
            accept(&world, &format!("other/{n}"), TEXT).await;
            if is_late && n % 40 == 39 {
                wait(&world, 24).await;
            }
        }
        publish(&world, "whimbrel").await;
        for at in [1, 40, 80] {
            let all = export_meanwhile(&world, at).await;
            let urls: Vec<&str> = all.iter().map(|record| record.url.as_str()).collect();
            let count = urls.iter().filter(|url| **url == A).count();
            assert_eq!((count, urls.len()), (1, 81), "{is_late} {at}");
            world.web.keep(A, document("whimbrel"));
            wait(&world, 49).await;
            recheck(&world).await;
            world.publish().await;
            wait(&world, 49).await;
        }
    }
}
