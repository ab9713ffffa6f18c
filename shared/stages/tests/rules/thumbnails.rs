//! Thumbnails: how those of pages travel with them, and how they go with them.

use crate::house::{FEED, House, host, html, key, new, page, status, visit};
use curlew_model::{ExtractJob, Job, Location, PageState, Purpose, Record, Stage as QueueName, ThumbnailId};
use curlew_ports::{Blobs, CallKind, HostLedger, Pages};
use curlew_stages::catalog::find::Finder;
use curlew_stages::catalog::results::Start;
use curlew_stages::catalog::segment::RecordReader;
use curlew_stages::catalog::thumbnails::thumbnail;
use curlew_stages::pages::body::INLINE_LIMIT;
use curlew_stages::stage::Verdict;
use std::io::Cursor;

const A: &str = "https://example.org/a";
const B: &str = "https://example.org/b";

fn png(side: u32) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    image::DynamicImage::new_rgb8(side, side).write_to(&mut out, image::ImageFormat::Png).unwrap();
    out.into_inner()
}

fn with_image(url: &str) -> String {
    html(&format!("<meta property=\"og:image\" content=\"{url}\">"))
}

/// Two pages with images of their own, fetched.
async fn fetched() -> (House, Vec<ExtractJob>) {
    let house = House::new();
    for (url, image) in [(A, "https://example.org/a.png"), (B, "https://example.org/b.png")] {
        house.web.serve(url, "text/html", with_image(image));
        house.web.serve(image, "image/png", png(if url == A { 64 } else { 96 }));
    }
    assert_eq!(house.fetch(&visit("example.org", &[A, B], &new())).await, Verdict::Done);
    let jobs = extract_jobs(&house).await;
    (house, jobs)
}

async fn extract_jobs(house: &House) -> Vec<ExtractJob> {
    let queued = house.queued(QueueName::Extract).await.into_iter();
    queued.map(|(job, _)| if let Job::Extract(job) = job { *job } else { panic!("{job:?}") }).collect()
}

async fn extracted(house: &House, jobs: &[ExtractJob]) {
    assert!(house.extract().run_batch(jobs).await.iter().all(|verdict| matches!(verdict, Ok(Verdict::Done))));
}

async fn location(house: &House, url: &str) -> Location {
    match house.state(url).await {
        Some(PageState::Accepted { location, .. }) => location,
        other => panic!("{url}: {other:?}"),
    }
}

async fn record(house: &House, url: &str) -> Record {
    RecordReader(house.blobs.as_ref()).read(&location(house, url).await).await.unwrap().unwrap()
}

async fn segment(house: &House) -> Vec<u8> {
    let keys = house.blobs.list("segments/", None, 9).await.unwrap();
    let [key] = &keys[..] else { panic!("{keys:?}") };
    house.blobs.get(key).await.unwrap().unwrap().bytes.to_vec()
}

/// The records that a program finds which knows nothing of Curlew.
fn read_by_any_tool(segment: &[u8]) -> Vec<Record> {
    let text = zstd::stream::decode_all(segment).unwrap();
    text.split(|b| *b == b'\n').filter(|l| !l.is_empty()).map(|l| serde_json::from_slice(l).unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_main_image_follows_its_page_and_lies_beside_its_record() {
    let (house, jobs) = fetched().await;
    let called: Vec<_> =
        house.web.calls().into_iter().map(|call| call.url).filter(|url| !url.contains("robots")).collect();
    assert_eq!(called, [A, "https://example.org/a.png", B, "https://example.org/b.png"]);
    assert!(jobs.iter().all(|job| job.image.as_ref().is_some_and(|image| image.thumbnail.is_some())));
    extracted(&house, &jobs).await;
    for url in [A, B] {
        let Some(id @ ThumbnailId::Frame(_)) = record(&house, url).await.thumbnail else { panic!("no frame") };
        let read_back = ThumbnailId::new(&id.to_string()).unwrap();
        let jpeg = thumbnail(house.blobs.as_ref(), &read_back).await.unwrap().unwrap();
        assert!(jpeg.starts_with(&[0xff, 0xd8, 0xff]));
    }
    assert!(house.blobs.list("thumbnails/", None, 9).await.unwrap().is_empty(), "no object for a page's own image");
    assert!(house.queued(QueueName::Fetch).await.is_empty(), "and no visit");
    let tool = read_by_any_tool(&segment(&house).await);
    assert_eq!(tool.iter().map(|record| record.url.as_str()).collect::<Vec<_>>(), [A, B]);
}

#[tokio::test(start_paused = true)]
async fn what_is_found_shows_its_thumbnail_without_a_look_whether_it_is_there() {
    let (house, jobs) = fetched().await;
    extracted(&house, &jobs).await;
    house.index().publish(2026).await.unwrap();
    let found = Finder::new(house.blobs.clone(), house.politeness.clock.clone())
        .find("curlew site:example.org", Start::Offset(0), 9)
        .await
        .unwrap();
    assert_eq!(found.hits.len(), 2);
    for hit in found.hits {
        assert!(thumbnail(house.blobs.as_ref(), &hit.thumbnail.unwrap()).await.unwrap().is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn a_removed_page_takes_its_thumbnail_along_and_no_other() {
    let (house, jobs) = fetched().await;
    extracted(&house, &jobs).await;
    let before = segment(&house).await;
    let thumbnails = [record(&house, A).await.thumbnail.unwrap(), record(&house, B).await.thumbnail.unwrap()];
    house.web.answer(A, Ok(status(410)));
    house.web.answer(A, Ok(status(410)));
    house.fetch(&visit("example.org", &[A], &Purpose::Recheck)).await;
    house.fetch(&visit("example.org", &[A], &Purpose::Recheck)).await;
    assert!(matches!(house.state(A).await, Some(PageState::Gone { .. })));
    let after = segment(&house).await;
    assert_eq!(after.len(), before.len(), "offsets stay");
    assert_eq!(thumbnail(house.blobs.as_ref(), &thumbnails[0]).await.unwrap(), None);
    assert!(thumbnail(house.blobs.as_ref(), &thumbnails[1]).await.unwrap().is_some());
    assert_eq!(after.windows(3).filter(|bytes| bytes == b"\xff\xd8\xff").count(), 1, "one picture is left");
    assert_eq!(read_by_any_tool(&after).iter().map(|record| record.url.as_str()).collect::<Vec<_>>(), [B]);
    assert_eq!(record(&house, B).await.url, B);
}

#[tokio::test(start_paused = true)]
async fn a_record_that_counts_for_nothing_is_erased_with_its_thumbnail() {
    let (house, jobs) = fetched().await;
    extracted(&house, &[jobs[0].clone(), jobs[0].clone(), jobs[1].clone()]).await;
    assert_eq!(read_by_any_tool(&segment(&house).await).len(), 3);
    assert_eq!(house.index().publish(2026).await.unwrap().added, 2);
    let left = segment(&house).await;
    assert_eq!(read_by_any_tool(&left).len(), 2);
    assert_eq!(left.windows(3).filter(|bytes| bytes == b"\xff\xd8\xff").count(), 2);
}

#[tokio::test(start_paused = true)]
async fn whatever_becomes_of_the_image_the_page_is_sent_on() {
    let picture = "https://example.org/a.png";
    for (answer, tried, visits) in [(status(404), true, 0), (status(503), false, 1), (status(200), true, 0)] {
        let house = House::new();
        house.web.serve(A, "text/html", with_image(picture));
        house.web.answer(picture, Ok(answer));
        house.fetch(&visit("example.org", &[A], &new())).await;
        assert_eq!(house.state(A).await, Some(PageState::Pending));
        let jobs = extract_jobs(&house).await;
        assert_eq!(jobs.len(), 1);
        assert_eq!(jobs[0].image.as_ref().map(|image| image.thumbnail.is_some()), tried.then_some(false));
        extracted(&house, &jobs).await;
        assert_eq!(house.queued(QueueName::Fetch).await.len(), visits, "what was not asked for gets a visit");
        assert_eq!(record(&house, A).await.thumbnail.is_some(), visits == 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_image_that_pages_share_is_asked_for_once() {
    let house = House::new();
    let picture = "https://example.org/shared.png";
    for url in [A, B] {
        house.web.serve(url, "text/html", with_image(picture));
    }
    house.web.serve(picture, "image/png", png(64));
    house.fetch(&visit("example.org", &[A, B], &new())).await;
    assert_eq!(house.calls(CallKind::Image).len(), 1);
    extracted(&house, &extract_jobs(&house).await).await;
    for url in [A, B] {
        assert!(matches!(record(&house, url).await.thumbnail, Some(ThumbnailId::Frame(_))), "{url}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_sites_own_image_is_an_object_that_outlives_its_pages() {
    let house = House::new();
    house.with_feed(|_| {}).await;
    let logo = "https://example.org/logo.png";
    house.web.serve(logo, "image/png", png(64));
    house.web.serve(A, "text/html", with_image(logo));
    house.web.serve(B, "text/html", html(""));
    let mut job = visit("example.org", &[A, B], &new());
    (job.feed, job.site_image) = (Some(key(FEED)), Some(logo.into()));
    house.fetch(&job).await;
    assert!(house.calls(CallKind::Image).is_empty());
    extracted(&house, &extract_jobs(&house).await).await;
    let queued = house.queued(QueueName::Fetch).await;
    let [(Job::Fetch(images), _)] = &queued[..] else { panic!("{queued:?}") };
    assert_eq!((images.host.clone(), images.items.len()), (host("example.org"), 1));
    house.index().publish(2026).await.unwrap();
    let finder = Finder::new(house.blobs.clone(), house.politeness.clock.clone());
    let shown = async || {
        finder
            .find("curlew site:example.org", Start::Offset(0), 9)
            .await
            .unwrap()
            .hits
            .into_iter()
            .filter_map(|h| h.thumbnail)
            .count()
    };
    assert_eq!(shown().await, 0, "it is not promised before it is there");
    house.fetch(images).await;
    assert_eq!(shown().await, 2);
    house.web.answer(A, Ok(status(404)));
    house.web.answer(A, Ok(status(404)));
    house.fetch(&visit("example.org", &[A], &Purpose::Recheck)).await;
    house.fetch(&visit("example.org", &[A], &Purpose::Recheck)).await;
    assert_eq!(house.state(A).await.map(|state| matches!(state, PageState::Gone { .. })), Some(true));
    assert_eq!(shown().await, 1, "the other page still shows it");
}

#[tokio::test(start_paused = true)]
async fn a_document_that_leaves_no_room_for_the_thumbnail_travels_beside_its_message() {
    let (_, jobs) = fetched().await;
    let thumbnail = jobs[0].image.as_ref().and_then(|image| image.thumbnail.as_ref()).map(|jpeg| jpeg.len()).unwrap();
    // Noise does not compress; a little less of it than a message takes.
    let noise = |n: usize| -> Vec<u8> { (0..n).map(|n| (curlew_policy::chance::mix(n as u64) >> 24) as u8).collect() };
    let house = House::new();
    let id = page(A);
    let now = house.now();
    let fits = noise(INLINE_LIMIT - thumbnail - 64);
    for (besides, beside) in [(0, false), (thumbnail, false), (thumbnail + 128, true)] {
        let body = curlew_stages::pages::body::pack(house.blobs.as_ref(), &id, &fits, besides, now).await.unwrap();
        assert_eq!(matches!(body, curlew_model::PageBody::Stored(_)), beside, "{besides}");
    }
}

#[tokio::test(start_paused = true)]
async fn ids_that_somebody_made_up_show_nothing() {
    let (house, jobs) = fetched().await;
    extracted(&house, &jobs).await;
    let Some(ThumbnailId::Frame(at)) = record(&house, A).await.thumbnail else { panic!("no frame") };
    let of_record = location(&house, A).await;
    let (segment, offset, length) = (at.segment.clone(), at.offset, at.length);
    for wrong in [
        of_record,
        Location { length: length - 1, ..at.clone() },
        Location { offset: offset + 1, ..at.clone() },
        Location { offset: 1 << 40, ..at.clone() },
        Location { segment, offset, length: 3 },
    ] {
        assert_eq!(
            thumbnail(house.blobs.as_ref(), &ThumbnailId::Frame(wrong.clone())).await.unwrap(),
            None,
            "{wrong:?}"
        );
    }
    let (state, _) = house.hosts.load(&host("example.org")).await.unwrap();
    assert_eq!(state.lease, None);
    assert!(house.pages.get(&page(A)).await.unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_record_keeps_a_fingerprint_of_its_text() {
    let house = House::new();
    for url in [A, B] {
        let page = with_image("https://example.org/a.png").replace("</article>", &format!("<p>{url}</p></article>"));
        house.web.serve(url, "text/html", page);
    }
    house.web.serve("https://example.org/a.png", "image/png", png(64));
    assert_eq!(house.fetch(&visit("example.org", &[A, B], &new())).await, Verdict::Done);
    extracted(&house, &extract_jobs(&house).await).await;
    let (a, b) = (record(&house, A).await, record(&house, B).await);
    assert!(a.simhash.unwrap().distance(b.simhash.unwrap()) <= curlew_search::COPY_BITS);
}
