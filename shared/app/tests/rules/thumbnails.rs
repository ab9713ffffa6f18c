//! Thumbnails: how they are stored with their pages, and removed with them.

use crate::test_world::*;
use curlew_catalog::segment::{Draft, write};
use curlew_catalog::thumbnails::{thumbnail, thumbnail_key};
use curlew_crawl::pages::body::INLINE_LIMIT;
use std::sync::atomic::{AtomicUsize, Ordering};

fn with_image(url: &str) -> String {
    html(&format!("<meta property=\"og:image\" content=\"{url}\">"))
}

/// Returns a world with two fetched pages that have images of their own.
async fn fetched() -> (TestWorld, Vec<ExtractJob>) {
    let world = TestWorld::new();
    for (url, image) in [(A, "https://example.org/a.png"), (B, "https://example.org/b.png")] {
        world.web.serve(url, "text/html", with_image(image));
        world.web.serve(image, "image/png", png(if url == A { 64 } else { 96 }));
    }
    assert_eq!(world.visit(&[A, B]).await, Verdict::Done);
    let jobs = world.extract_jobs().await;
    (world, jobs)
}

async fn extracted(world: &TestWorld, jobs: &[ExtractJob]) {
    assert!(
        world.extract().run_batch(&page_jobs(jobs)).await.iter().all(|verdict| matches!(verdict, Ok(Verdict::Done)))
    );
}

async fn location(world: &TestWorld, url: &str) -> Location {
    match world.state(url).await {
        Some(PageState::Accepted { location, .. }) => location,
        other => panic!("{url}: {other:?}"),
    }
}

async fn segment(world: &TestWorld) -> Vec<u8> {
    let keys = world.keys("segments/").await;
    let [key] = &keys[..] else { panic!("{keys:?}") };
    world.blobs.get(key).await.unwrap().unwrap().bytes.to_vec()
}

/// Returns the records that a program without knowledge of Curlew would read.
fn read_by_any_tool(segment: &[u8]) -> Vec<Record> {
    let text = zstd::stream::decode_all(segment).unwrap();
    text.split(|b| *b == b'\n').filter(|l| !l.is_empty()).map(|l| serde_json::from_slice(l).unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_main_image_follows_its_page_and_lies_beside_its_record() {
    let (world, jobs) = fetched().await;
    let called: Vec<_> =
        world.web.calls().into_iter().map(|call| call.url).filter(|url| !url.contains("robots")).collect();
    assert_eq!(called, [A, "https://example.org/a.png", B, "https://example.org/b.png"]);
    assert!(jobs.iter().all(|job| job.image.as_ref().is_some_and(|image| image.thumbnail.is_some())));
    extracted(&world, &jobs).await;
    for url in [A, B] {
        let Some(id @ ThumbnailId::Frame(_)) = world.record(url).await.thumbnail else { panic!("no frame") };
        let read_back = ThumbnailId::new(&id.to_string()).unwrap();
        let jpeg = thumbnail(world.blobs.as_ref(), &read_back).await.unwrap().unwrap();
        assert!(jpeg.starts_with(&[0xff, 0xd8, 0xff]));
    }
    assert!(world.keys("thumbnails/").await.is_empty(), "a page's own image must be no separate object");
    assert!(world.queued(QueueName::Fetch).await.is_empty(), "a page's own image needs no visit");
    let tool = read_by_any_tool(&segment(&world).await);
    assert_eq!(tool.iter().map(|record| record.url.as_str()).collect::<Vec<_>>(), [A, B]);
}

#[tokio::test(start_paused = true)]
async fn what_is_found_shows_its_thumbnail_without_a_look_whether_it_is_there() {
    let (world, jobs) = fetched().await;
    extracted(&world, &jobs).await;
    world.publish().await;
    let found = world.finder().find("curlew site:example.org", Start::Offset(0), 9).await.unwrap();
    assert_eq!(found.hits.len(), 2);
    for hit in found.hits {
        assert!(thumbnail(world.blobs.as_ref(), &hit.thumbnail.unwrap()).await.unwrap().is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn a_removed_page_takes_its_thumbnail_along_and_no_other() {
    let (world, jobs) = fetched().await;
    extracted(&world, &jobs).await;
    let before = segment(&world).await;
    let thumbnails = [world.record(A).await.thumbnail.unwrap(), world.record(B).await.thumbnail.unwrap()];
    world.web.keep(A, status(410));
    world.recheck(A).await;
    assert!(matches!(world.state(A).await, Some(PageState::Gone { .. })));
    let after = segment(&world).await;
    assert_eq!(after.len(), before.len(), "offsets must stay");
    assert_eq!(thumbnail(world.blobs.as_ref(), &thumbnails[0]).await.unwrap(), None);
    assert!(thumbnail(world.blobs.as_ref(), &thumbnails[1]).await.unwrap().is_some());
    assert_eq!(after.windows(3).filter(|bytes| bytes == b"\xff\xd8\xff").count(), 1, "only one picture may be left");
    assert_eq!(read_by_any_tool(&after).iter().map(|record| record.url.as_str()).collect::<Vec<_>>(), [B]);
    assert_eq!(world.record(B).await.url, B);
}

#[tokio::test(start_paused = true)]
async fn a_record_that_counts_for_nothing_is_erased_with_its_thumbnail() {
    let (world, jobs) = fetched().await;
    extracted(&world, &[jobs[0].clone(), jobs[0].clone(), jobs[1].clone()]).await;
    assert_eq!(read_by_any_tool(&segment(&world).await).len(), 3);
    assert_eq!(world.publish().await.added, 2);
    let left = segment(&world).await;
    assert_eq!(read_by_any_tool(&left).len(), 2);
    assert_eq!(left.windows(3).filter(|bytes| bytes == b"\xff\xd8\xff").count(), 2);
}

#[tokio::test(start_paused = true)]
async fn whatever_becomes_of_the_image_the_page_is_sent_on() {
    let picture = "https://example.org/a.png";
    for (answer, tried, visits) in [(status(404), true, 0), (status(503), false, 1), (status(200), true, 0)] {
        let world = TestWorld::new();
        world.web.serve(A, "text/html", with_image(picture));
        world.web.answer(picture, Ok(answer));
        world.visit(&[A]).await;
        assert_eq!(world.state(A).await, Some(PageState::Pending));
        let jobs = world.extract_jobs().await;
        assert_eq!(jobs.len(), 1);
        assert_eq!(jobs[0].image.as_ref().map(|image| image.thumbnail.is_some()), tried.then_some(false));
        extracted(&world, &jobs).await;
        assert_eq!(world.queued(QueueName::Fetch).await.len(), visits, "an image that was not called gets a visit");
        assert_eq!(world.record(A).await.thumbnail.is_some(), visits == 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_image_that_pages_share_is_asked_for_once() {
    let world = TestWorld::new();
    let picture = "https://example.org/shared.png";
    for url in [A, B] {
        world.web.serve(url, "text/html", with_image(picture));
    }
    world.web.serve(picture, "image/png", png(64));
    world.visit(&[A, B]).await;
    assert_eq!(world.calls(CallKind::Image).len(), 1);
    world.extract_all().await;
    for url in [A, B] {
        assert!(matches!(world.record(url).await.thumbnail, Some(ThumbnailId::Frame(_))), "{url}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_sites_own_image_is_an_object_that_outlives_its_pages() {
    let world = TestWorld::of_feed().await;
    let logo = "https://example.org/logo.png";
    world.web.serve(logo, "image/png", png(64));
    world.web.serve(A, "text/html", with_image(logo));
    world.serve_page(B, "");
    let mut job = visit("example.org", &[A, B], &new());
    (job.feed, job.site_image) = (Some(key(FEED)), Some(logo.into()));
    world.fetch(&job).await;
    assert!(world.calls(CallKind::Image).is_empty());
    world.extract_all().await;
    let (images, _) = world.only_visit().await;
    assert_eq!((images.host.clone(), images.items.len()), (host("example.org"), 1));
    world.publish().await;
    let finder = world.finder();
    let shown = async || {
        let found = finder.find("curlew site:example.org", Start::Offset(0), 9).await.unwrap();
        found.hits.iter().filter(|hit| hit.thumbnail.is_some()).count()
    };
    assert_eq!(shown().await, 0, "an image that is not stored yet must not be shown");
    world.fetch(&images).await;
    assert_eq!(shown().await, 2);
    world.web.keep(A, status(404));
    world.recheck(A).await;
    assert_eq!(world.state(A).await.map(|state| matches!(state, PageState::Gone { .. })), Some(true));
    assert_eq!(shown().await, 1, "the other page still shows it");
}

#[tokio::test(start_paused = true)]
async fn a_document_that_leaves_no_room_for_the_thumbnail_travels_beside_its_message() {
    let (_, jobs) = fetched().await;
    let thumbnail = jobs[0].image.as_ref().and_then(|image| image.thumbnail.as_ref()).map(|jpeg| jpeg.len()).unwrap();
    // Noise does not compress; there is slightly less of it than fits into a message.
    let noise = |n: usize| -> Vec<u8> { (0..n).map(|n| (curlew_policy::chance::mix(n as u64) >> 24) as u8).collect() };
    let world = TestWorld::new();
    let id = page(A);
    let now = world.now();
    let fits = noise(INLINE_LIMIT - thumbnail - 64);
    for (besides, beside) in [(0, false), (thumbnail, false), (thumbnail + 128, true)] {
        let body = curlew_crawl::pages::body::pack(world.blobs.as_ref(), &id, &fits, besides, now).await.unwrap();
        assert_eq!(matches!(body, PageBody::Stored(_)), beside, "{besides}");
    }
}

#[tokio::test(start_paused = true)]
async fn ids_that_somebody_made_up_show_nothing() {
    let (world, jobs) = fetched().await;
    extracted(&world, &jobs).await;
    let Some(ThumbnailId::Frame(at)) = world.record(A).await.thumbnail else { panic!("the thumbnail must be a frame") };
    let of_record = location(&world, A).await;
    let (segment, offset, length) = (at.segment.clone(), at.offset, at.length);
    for wrong in [
        of_record,
        Location { length: length - 1, ..at.clone() },
        Location { offset: offset + 1, ..at.clone() },
        Location { offset: 1 << 40, ..at.clone() },
        Location { segment, offset, length: 3 },
    ] {
        let id = ThumbnailId::Frame(wrong);
        assert_eq!(thumbnail(world.blobs.as_ref(), &id).await.unwrap(), None, "{id:?}");
    }
    let state = world.host_state("example.org").await;
    assert_eq!(state.lease, None);
    assert!(world.pages.get(&page(A)).await.unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_record_keeps_a_fingerprint_of_its_text() {
    let world = TestWorld::new();
    for url in [A, B] {
        let page = with_image("https://example.org/a.png").replace("</article>", &format!("<p>{url}</p></article>"));
        world.web.serve(url, "text/html", page);
    }
    world.web.serve("https://example.org/a.png", "image/png", png(64));
    assert_eq!(world.visit(&[A, B]).await, Verdict::Done);
    world.extract_all().await;
    let (a, b) = (world.record(A).await, world.record(B).await);
    assert!(a.simhash.unwrap().distance(b.simhash.unwrap()) <= curlew_search::COPY_BITS);
}

/// A store with a latency of a second, which counts the bytes that are read.
struct FarAway(Arc<MemoryBlobs>, AtomicUsize);

impl FarAway {
    #[allow(clippy::disallowed_methods, reason = "it stands in for a network; the clock of the test is paused")]
    async fn arrived(&self, bytes: usize) {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        self.1.fetch_add(bytes, Ordering::Relaxed);
    }
}

#[async_trait]
impl Blobs for FarAway {
    async fn get(&self, key: &str) -> Result<Option<Blob>, PortError> {
        let blob = self.0.get(key).await?;
        self.arrived(blob.as_ref().filter(|_| key.starts_with("thumbnails/")).map_or(0, |blob| blob.bytes.len())).await;
        Ok(blob)
    }

    async fn get_range(&self, key: &str, offset: u64, length: u64) -> Result<Bytes, PortError> {
        let read = self.0.get_range(key, offset, length).await;
        self.arrived(read.as_ref().ok().filter(|_| key.starts_with("thumbnails/")).map_or(0, Bytes::len)).await;
        read
    }

    async fn put(&self, key: &str, bytes: Bytes) -> Result<(), PortError> {
        self.0.put(key, bytes).await
    }

    async fn put_if_absent(&self, key: &str, bytes: Bytes) -> Result<bool, PortError> {
        self.0.put_if_absent(key, bytes).await
    }

    async fn swap(&self, key: &str, seen: Option<&Tag>, bytes: Bytes) -> Result<Tag, PortError> {
        self.0.swap(key, seen, bytes).await
    }

    async fn delete(&self, key: &str) -> Result<(), PortError> {
        self.0.delete(key).await
    }

    async fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<String>, PortError> {
        self.0.list(prefix, after, limit).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_of_results_reads_no_image_and_waits_for_all_of_them_at_once() {
    let world = TestWorld::new();
    let image = |n: usize| ImageId::new(&format!("{n:032x}")).unwrap();
    let drafts = (0..10).map(|n| {
        let url = format!("https://example.org/{n}");
        let record = Record {
            title: "A curlew".into(),
            text: format!("A curlew, the number {n} of the moor."),
            host: "example.org".into(),
            thumbnail: Some(ThumbnailId::Object(image(n))),
            ..Record::new(page(&url), url, world.now())
        };
        Draft { record, thumbnail: None, raw: None }
    });
    let drafts: Vec<Draft> = drafts.collect();
    let places = write(world.blobs.as_ref(), &drafts, world.now()).await.unwrap();
    for (Draft { record, .. }, location) in drafts.into_iter().zip(places) {
        let state = PageState::Accepted { year: 2026, location, content_hash: String::new() };
        let row = Page::new(record.id, record.url, host("example.org"), state, world.now());
        assert!(world.pages.insert(&row).await.unwrap());
    }
    // Two images were never fetched, and a third one gave no thumbnail.
    for n in 2..10 {
        let bytes = if n == 2 { Bytes::new() } else { Bytes::from(vec![0xff; 5_000]) };
        world.blobs.put(&thumbnail_key(&image(n)), bytes).await.unwrap();
    }
    world.publish().await;
    let far = Arc::new(FarAway(world.blobs.clone(), AtomicUsize::new(0)));
    let finder = Finder::new(far.clone(), world.politeness.clock.clone());
    // The first search opens the splits, which later searches do not read again.
    finder.find("curlew site:example.org", Start::Offset(0), 1).await.unwrap();
    far.1.store(0, Ordering::Relaxed);
    let one = world.now();
    finder.find("curlew site:example.org", Start::Offset(0), 1).await.unwrap();
    let all = world.now();
    let hits = finder.find("curlew site:example.org", Start::Offset(0), 10).await.unwrap().hits;
    assert_eq!(hits.iter().filter(|hit| hit.thumbnail.is_some()).count(), 7);
    assert_eq!(world.now().since(all), all.since(one), "ten images must be no slower than one");
    assert!(far.1.load(Ordering::Relaxed) <= 8, "at most one byte of each thumbnail may be read");
}
