//! Re-extraction of raw pages: records from an older extractor are revised without a call.

use crate::index::ask;
use crate::raw::{kept, places};
use crate::revision::{published_as, published_in, wait};
use crate::test_world::*;
use curlew_crawl::pages::reextract::{Reextract, ReextractReport, ReextractRequest};
use curlew_policy::politeness::scope::OwnHosts;

/// Gives a page the record that an older extractor would have made, and publishes it.
async fn as_extracted_before(world: &TestWorld, change: impl FnOnce(&mut Record)) {
    let (row, seen) = world.pages.get(&page(A)).await.unwrap().unwrap();
    let PageState::Accepted { year, location, content_hash } = row.state.clone() else { panic!("{row:?}") };
    let mut record = world.record(A).await;
    change(&mut record);
    let frame = zstd::bulk::compress(&serde_json::to_vec(&record).unwrap(), 3).unwrap();
    let location = Location { offset: 0, length: frame.len() as u64, ..location };
    world.blobs.put(location.segment.as_str(), frame.into()).await.unwrap();
    let state = PageState::Accepted { year, location, content_hash };
    world.pages.swap(seen, &Page { state, ..row }).await.unwrap();
    for key in world.keys("manifests/").await {
        world.blobs.delete(&key).await.unwrap();
    }
    world.publish().await;
}

async fn reextract(world: &TestWorld, dry_run: bool, remove: bool) -> ReextractReport {
    let request = ReextractRequest { since: Timestamp::EPOCH, site: None, dry_run, remove };
    run(world, &request).await
}

async fn run(world: &TestWorld, request: &ReextractRequest) -> ReextractReport {
    let program = world.program();
    let calls = world.web.calls().len();
    let job =
        Reextract { extract: &program.crawler.extract, raw: &program.library.raw, removal: &program.library.removal };
    let report = job.run(request).await.unwrap();
    assert_eq!(world.web.calls().len(), calls, "no call may be made");
    report
}

#[tokio::test(start_paused = true)]
async fn what_an_older_extractor_read_is_read_anew() {
    let world = published_as(kept("whimbrel")).await;
    assert_eq!(reextract(&world, false, false).await, ReextractReport { same: 1, ..Default::default() });
    as_extracted_before(&world, |record| record.text = "Menu Home Contact gannet ".repeat(20)).await;
    assert_eq!((ask(&world, "gannet").await.total, ask(&world, "whimbrel").await.total), (1, 0));
    let before = (world.record(A).await, world.row(A).await);
    let revised = ReextractReport { revised: 1, ..Default::default() };
    assert_eq!(reextract(&world, true, false).await, revised);
    assert_eq!(world.record(A).await, before.0, "a dry run writes nothing");
    wait(&world, 30).await;
    assert_eq!(reextract(&world, false, false).await, revised);
    let after = (world.record(A).await, world.row(A).await);
    assert!(after.0.text.contains("whimbrel"));
    assert_eq!(
        (after.1.at, after.1.checked_at, &after.1.validators),
        (before.1.at, before.1.checked_at, &before.1.validators)
    );
    assert_eq!(after.0.raw.unwrap().day, before.0.raw.unwrap().day, "the raw page must not be kept for longer");
    world.publish().await;
    assert_eq!((ask(&world, "gannet").await.total, ask(&world, "whimbrel").await.total), (0, 1));
    assert_eq!(reextract(&world, false, false).await, ReextractReport { same: 1, ..Default::default() });
    assert_eq!(places(&world, "gannet").await, Vec::<String>::new());
    assert_eq!(places(&world, "whimbrel").await.len(), 2);
    assert_eq!(world.program().fsck(true).look().await.unwrap().damage, []);
    world.program().library.removal.remove(&page(A), Gone::NotFound).await.unwrap();
    assert_eq!(places(&world, "whimbrel").await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn what_would_be_rejected_today_is_told_and_removed_only_if_asked_for() {
    let meta_ignored = OwnHosts::read(&["example.org".to_owned()]).unwrap();
    let mut reply = kept("whimbrel");
    reply.headers.robots_tags = vec!["noindex".into()];
    let world = TestWorld::with_scope(Scope { meta_ignored, ..Scope::default() });
    let mut world = published_in(world, reply).await;
    // From now on the directives of the site are obeyed.
    Arc::get_mut(&mut world.politeness).unwrap().scope = Arc::default();
    let told = reextract(&world, false, false).await;
    assert_eq!((told.rejected.get("noindex"), told.removed, told.without_raw), (Some(&1), 0, 0));
    assert_eq!(told.examples[0].0, A);
    assert!(world.is_accepted(A).await);
    assert_eq!(reextract(&world, false, true).await.removed, 1);
    assert_eq!(world.gone(A).await, Some(Gone::Noindex));
    assert_eq!(places(&world, "whimbrel").await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn only_the_pages_asked_for_are_read() {
    let world = published_as(kept("whimbrel")).await;
    for (site, since, same) in [
        (Some("example.org"), Timestamp::EPOCH, 1),
        (Some("example.net"), Timestamp::EPOCH, 0),
        (Some("ample.org"), Timestamp::EPOCH, 0),
        (None, world.now(), 0),
    ] {
        let request = ReextractRequest { since, site: site.map(str::to_owned), dry_run: false, remove: false };
        assert_eq!(run(&world, &request).await, ReextractReport { same, ..Default::default() }, "{site:?}");
    }
    for key in world.keys("raw/").await {
        world.blobs.delete(&key).await.unwrap();
    }
    assert_eq!(reextract(&world, false, false).await, ReextractReport { without_raw: 1, ..Default::default() });
}
