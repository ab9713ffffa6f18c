//! Raw pages: which pages are kept, for how long, and that the raw page is removed with its page.

use crate::index::{removal, traces};
use crate::revision::{document, published_as, recheck, wait, work};
use crate::test_world::*;
use curlew_people::fsck::{Damage, FsckReport};

/// Returns the document with a word of its own, as a fetcher returns it that keeps heads.
pub(crate) fn kept(word: &str) -> Reply {
    let exchange = Exchange {
        request: "GET /a HTTP/1.1\r\nhost: example.org\r\n".into(),
        response: "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\n".into(),
    };
    Reply { exchange: Some(exchange), ..document(word) }
}

/// Returns the objects of records and raw pages that contain a word; compressed content is searched, too.
pub(crate) async fn places(world: &TestWorld, word: &str) -> Vec<String> {
    let mut places = traces(world, &[word]).await;
    places.retain(|key| key.starts_with("raw/") || key.starts_with("segments/"));
    places
}

async fn fsck(world: &TestWorld) -> FsckReport {
    world.program().fsck(true).look().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_accepted_page_is_kept_as_it_came() {
    let mut reply = kept("whimbrel");
    let latin = String::from_utf8(reply.body.to_vec()).unwrap().replace("On waders", "On w\u{e4}ders");
    reply.body = latin.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect::<Vec<u8>>().into();
    reply.headers.content_type = Some("text/html; charset=iso-8859-1".into());
    let world = published_as(reply.clone()).await;
    assert_eq!(world.record(A).await.title, "On w\u{e4}ders");
    let raw = world.program().library.raw;
    let objects = raw.objects(Timestamp::MIN).await.unwrap();
    let [(key, segment)] = &objects[..] else { panic!("{objects:?}") };
    assert!(key.starts_with("raw/2026/11/21/") && key.ends_with(".warc.zst"), "{key}");
    let pages = raw.pages(key, segment).await.unwrap();
    let page = pages[0].unpack().unwrap();
    assert_eq!((page.body.clone(), page.job.exchange.clone()), (reply.body, reply.exchange), "equal byte for byte");
    assert_eq!(page.job.url, A);
    let [request, response] = page.warc().map(|record| String::from_utf8_lossy(&record).into_owned());
    assert!(
        request.starts_with("WARC/1.1\r\nWARC-Type: request\r\n") && request.contains("\r\n\r\nGET /a HTTP/1.1\r\n")
    );
    assert!(response.contains(&format!("Content-Length: {}\r\n\r\n<html>", page.body.len())), "{response}");
    let report = fsck(&world).await;
    assert_eq!((report.records, report.damage, report.orphans), (1, vec![], vec![]));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_kept_unless_it_is_asked_for_and_the_page_lets_it() {
    let world = published_as(document("whimbrel")).await;
    assert_eq!(world.keys("raw/").await, Vec::<String>::new());
    assert_eq!(world.record(A).await.raw, None);
    let mut reply = kept("whimbrel");
    let body = String::from_utf8_lossy(&reply.body).replace("<head>", "<head><meta name=robots content=noarchive>");
    reply.body = body.into();
    let world = published_as(reply).await;
    assert!(world.record(A).await.no_archive);
    assert_eq!(world.keys("raw/").await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn what_is_removed_is_in_no_raw_page() {
    for reason in [Some(404), Some(410), None] {
        let world = published_as(kept("whimbrel")).await;
        assert_eq!(places(&world, "whimbrel").await.len(), 2);
        match reason {
            Some(code) => world.web.keep(A, status(code)),
            None => {
                let mut reply = kept("whimbrel");
                let body = String::from_utf8_lossy(&reply.body);
                reply.body = body.replace("<head>", "<head><meta name=robots content=noindex>").into();
                reply.headers.validators = Validators::default();
                world.web.keep(A, reply);
            }
        }
        recheck(&world).await;
        wait(&world, 25).await;
        recheck(&world).await;
        assert!(matches!(world.state(A).await, Some(PageState::Gone { .. })), "{:?}", world.state(A).await);
        assert_eq!(places(&world, "whimbrel").await, Vec::<String>::new(), "{reason:?}");
        assert_eq!(fsck(&world).await.damage, []);
    }
    // Every other removal has the same effect, such as the one by screening.
    let world = published_as(kept("whimbrel")).await;
    removal(&world).remove(&page(A), Gone::Screened).await.unwrap();
    assert_eq!(places(&world, "whimbrel").await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_revision_is_kept_raw_and_what_it_replaces_is_not() {
    let world = published_as(kept("whimbrel")).await;
    world.web.keep(A, kept("godwit"));
    recheck(&world).await;
    assert_eq!((places(&world, "whimbrel").await.len(), places(&world, "godwit").await.len()), (2, 2));
    world.publish().await;
    assert_eq!((places(&world, "whimbrel").await.len(), places(&world, "godwit").await.len()), (0, 2));
    assert_eq!(fsck(&world).await.damage, []);
    // A page that is removed before its revision is published is removed together with the revision.
    wait(&world, 25).await;
    world.web.keep(A, kept("dunlin"));
    recheck(&world).await;
    removal(&world).remove(&page(A), Gone::NotFound).await.unwrap();
    assert_eq!((places(&world, "godwit").await.len(), places(&world, "dunlin").await.len()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn raw_pages_end_with_their_time_and_their_absence_is_no_fault() {
    let world = published_as(kept("whimbrel")).await;
    let program = world.program();
    wait(&world, 24 * 27).await;
    program.recheck(Some(0)).await.unwrap();
    assert_eq!(world.keys("raw/").await.len(), 1, "{}", world.now());
    wait(&world, 24 * 3).await;
    program.recheck(Some(0)).await.unwrap();
    assert_eq!(world.keys("raw/").await, Vec::<String>::new());
    assert_eq!(fsck(&world).await.damage, []);
    removal(&world).remove(&page(A), Gone::NotFound).await.unwrap();
    assert_eq!(places(&world, "whimbrel").await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn raw_pages_of_a_batch_that_died_are_swept() {
    let world = published_as(kept("whimbrel")).await;
    let object = world.keys("raw/").await[0].clone();
    let bytes = world.blobs.get(&object).await.unwrap().unwrap().bytes;
    let left = "raw/2026/11/22/0123456789abcdef.warc.zst";
    world.blobs.put(left, bytes).await.unwrap();
    let report = fsck(&world).await;
    assert_eq!((report.orphans.clone(), report.damage.clone()), (vec![left.to_owned()], vec![]));
    assert_eq!(world.program().library.raw.expire().await.unwrap(), 0, "the segment may still be written");
    wait(&world, 48).await;
    assert_eq!(world.program().library.raw.expire().await.unwrap(), 1);
    assert_eq!(world.keys("raw/").await, [object]);
}

#[tokio::test(start_paused = true)]
async fn fsck_erases_raw_pages_that_belong_to_no_record() {
    let world = published_as(kept("whimbrel")).await;
    let object = world.keys("raw/").await[0].clone();
    let bytes = world.blobs.get(&object).await.unwrap().unwrap().bytes;
    world.blobs.put(&object, [bytes.clone(), bytes.clone()].concat().into()).await.unwrap();
    let report = fsck(&world).await;
    let length = bytes.len() as u64;
    assert_eq!(report.damage, [Damage::StrayRaw { key: object.clone(), offset: length, length }]);
    let program = world.program();
    assert_eq!(program.fsck(true).repair(&report).await.unwrap(), []);
    assert_eq!(fsck(&world).await.damage, []);
    assert_eq!(world.blobs.get(&object).await.unwrap().unwrap().bytes.len() as u64, 2 * length);
    assert_eq!(places(&world, "whimbrel").await.len(), 2, "the page's own raw page must stay");
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_is_full_for_raw_pages_loses_no_page() {
    let world = TestWorld::new();
    world.web.keep(A, kept("whimbrel"));
    world.with_feed(|_| {}).await;
    let job = VisitJob { feed: Some(key(FEED)), ..visit("example.org", &[A], &new()) };
    world.fetch(&job).await;
    let jobs = world.queued(QueueName::Extract).await;
    let [(job, _)] = &jobs[..] else { panic!("{jobs:?}") };
    let full = JudgedBlobs::new(world.blobs.clone(), |call, key| match call {
        BlobCall::PutIfAbsent if key.starts_with("raw/") => {
            BlobFate::Fail(PortError::unavailable("the disk", "it is full; free some space"))
        }
        _ => BlobFate::Pass,
    });
    let full = Extract { blobs: full, ..world.extract() };
    full.run(&page_job(job)).await.unwrap_err();
    assert_eq!(world.state(A).await.filter(|state| *state != PageState::Pending), None, "the page must wait");
    assert_eq!(world.keys("segments/").await, Vec::<String>::new());
    work(&world).await;
    assert!(world.is_accepted(A).await);
    assert_eq!(places(&world, "whimbrel").await.len(), 2);
}
