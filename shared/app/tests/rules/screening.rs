//! Screening in the stages: images, the order of judgements, and the operator's overrides.

use crate::test_world::*;
use curlew_catalog::thumbnails::thumbnail_key;
use curlew_policy::address::image_id;
use curlew_screen::image::SkinRegions;
use curlew_screen::{Screener, Settings, Topic, TopicRule, Verdict as Judged};
use std::io::Cursor;

const PICTURE: &str = "https://example.org/a.png";
const ELSEWHERE: &str = "https://cdn.example.com/a.png";

/// Returns a world whose judge uses the embedded classifier alone.
fn strict(allow: &str) -> TestWorld {
    TestWorld { judge: Arc::new(judge(allow)), ..TestWorld::new() }
}

fn judge(allow: &str) -> Judge {
    let rule = TopicRule { on: true, threshold: 0.4 };
    let allow = Some(allow).filter(|a| !a.is_empty()).map(|a| a.parse().unwrap());
    let settings =
        Settings { topics: [(Topic::Adult, rule)].into(), allow: allow.into_iter().collect(), ..Settings::default() };
    let screener = Arc::new(Screener::new(settings, &[]).unwrap());
    Judge::new(Some(screener), Some(Arc::new(SkinRegions)))
}

/// Returns a picture of a shaded body in front of a wall; with `clothed` the body is blue.
fn body(clothed: bool) -> Vec<u8> {
    let picture = image::RgbImage::from_fn(240, 320, |x, y| {
        let (x, y) = (x as f32 / 240.0, y as f32 / 320.0);
        let across = (x - 0.5) / 0.44;
        if across.abs() > 1.0 {
            return image::Rgb([70, (90.0 + 40.0 * y) as u8, 120]);
        }
        let light = 0.62 + 0.38 * (1.0 - (across - 0.3_f32).powi(2)).max(0.0);
        let tone = if clothed { [60.0, 90.0, 190.0] } else { [232.0, 184.0, 152.0] };
        image::Rgb(tone.map(|c: f32| (c * light) as u8))
    });
    let mut out = Cursor::new(Vec::new());
    image::DynamicImage::from(picture).write_to(&mut out, image::ImageFormat::Png).unwrap();
    out.into_inner()
}

fn serve(world: &TestWorld, url: &str, picture: &str, bytes: Vec<u8>) {
    let text = html(&format!("<meta property=\"og:image\" content=\"{picture}\">"));
    // Each page has a text of its own, so that none is taken for an alias of another.
    world.web.serve(url, "text/html", text.replace("</article>", &format!("<p>{url}</p></article>")));
    world.web.serve(picture, "image/png", bytes);
}

/// Runs the visits to images that extraction has sent; returns their number.
async fn fetch_images(world: &TestWorld) -> usize {
    let visits = world.visits().await;
    for (images, _) in &visits {
        assert_eq!(world.fetch(images).await, Verdict::Done);
    }
    visits.len()
}

#[tokio::test(start_paused = true)]
async fn a_page_whose_image_is_rejected_says_so_in_its_row() {
    let world = strict("");
    serve(&world, A, PICTURE, body(false));
    world.crawl(&[A]).await;
    let Some(PageState::Rejected { reason: Rejection::Screened(why) }) = world.state(A).await else {
        panic!("the page must be rejected")
    };
    assert_eq!(why.topics, ["adult"]);
    let because = why.because.unwrap();
    assert!(because.contains("adult: 0.4") && because.contains("because of its image: one region"), "{because}");
    assert!(because.contains("% across"), "{because}");
    assert!(world.keys("segments/").await.is_empty(), "no record may be kept");
    assert!(why.picture.is_some_and(|picture| picture.starts_with("Qk")), "blurred pixels are kept");
}

#[tokio::test(start_paused = true)]
async fn other_images_and_sites_that_are_let_through_pass() {
    for (world, bytes) in
        [(strict(""), body(true)), (strict("example.org: adult"), body(false)), (TestWorld::new(), body(false))]
    {
        serve(&world, A, PICTURE, bytes);
        world.crawl(&[A]).await;
        assert!(world.is_accepted(A).await);
    }
}

#[tokio::test(start_paused = true)]
async fn an_image_of_another_host_is_judged_when_it_comes() {
    let world = strict("");
    serve(&world, A, ELSEWHERE, body(false));
    serve(&world, B, ELSEWHERE, body(false));
    world.crawl(&[A, B]).await;
    assert!(world.is_accepted(A).await, "the words of the page pass");
    assert_eq!(fetch_images(&world).await, 1);
    for url in [A, B] {
        assert_eq!(world.gone(url).await, Some(Gone::Screened), "{url}");
    }
    assert_eq!(world.keys("audit/").await.len(), 2);
    assert!(world.calls(CallKind::Image).len() <= 2);
    // Once the image is known, a later page with it is rejected before it is accepted.
    world.blobs.put(&thumbnail_key(&image_id(&ELSEWHERE.parse().unwrap())), jpeg()).await.unwrap();
    let later = "https://example.org/later";
    serve(&world, later, ELSEWHERE, body(false));
    world.crawl(&[later]).await;
    assert!(world.rejection(later).await.is_some());
}

/// On AWS the function that fetches images has no model.
#[tokio::test(start_paused = true)]
async fn a_page_waits_for_an_image_that_nobody_would_judge_later() {
    let judge = Arc::new(judge("").awaiting_images());
    let world = TestWorld { judge, ..TestWorld::new() };
    serve(&world, A, ELSEWHERE, body(false));
    world.visit(&[A]).await;
    let jobs: Vec<_> = world.queued(QueueName::Extract).await.iter().map(|(job, _)| page_job(job)).collect();
    let verdicts = world.extract().run_batch(&jobs).await;
    assert!(matches!(verdicts[..], [Ok(Verdict::Defer(_))]), "{verdicts:?}");
    assert!(!world.is_accepted(A).await, "the page must not be searchable yet");
    let patient: Vec<_> = jobs.iter().cloned().map(|job| PageJob { deferrals: 3, ..job }).collect();
    world.blobs.put(&thumbnail_key(&image_id(&ELSEWHERE.parse().unwrap())), jpeg()).await.unwrap();
    assert!(matches!(world.extract().run_batch(&jobs).await[..], [Ok(Verdict::Done)]));
    assert!(world.rejection(A).await.is_some(), "the image has arrived");

    let world = TestWorld { judge: world.judge.clone(), ..TestWorld::new() };
    serve(&world, A, ELSEWHERE, body(false));
    assert!(matches!(world.extract().run_batch(&patient).await[..], [Ok(Verdict::Done)]));
    assert!(world.is_accepted(A).await, "the page must not wait for ever");
}

fn jpeg() -> bytes::Bytes {
    curlew_crawl::pages::image::scaled_down(&body(false), curlew_crawl::pages::image::DECODED_BYTES).unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_image_that_comes_before_its_pages_row_waits_for_it() {
    let world = strict("");
    serve(&world, A, ELSEWHERE, body(false));
    world.visit(&[A]).await;
    let pending = world.state(A).await;
    let image = image_id(&ELSEWHERE.parse().unwrap());
    let purpose = Purpose::Image { image, trace: None };
    let mut job = visit("cdn.example.com", &[ELSEWHERE], &purpose);
    job.items[0].page = page(A);
    world.fetch(&job).await;
    assert_eq!(world.state(A).await, pending);
    world.extract_all().await;
    // The thumbnail already existed, so the page was judged by it.
    assert!(world.rejection(A).await.is_some());
    assert_eq!(fetch_images(&world).await, 1, "the image's visit must be put off");
}

#[tokio::test(start_paused = true)]
async fn a_visit_to_images_asks_for_each_in_the_name_of_its_pages_chain() {
    let world = strict("");
    let mut chains = Vec::new();
    for url in [A, B] {
        serve(&world, url, ELSEWHERE, body(false));
        let chain = trace::begin("poll", url, world.now());
        world.fetch(&Job::new(visit("example.org", &[url], &new())).traced(Some(chain.clone()))).await;
        chains.push((page(url), Some(chain)));
    }
    world.extract_all().await;
    let queued = world.queued(QueueName::Fetch).await;
    let [(Job { work: Work::Fetch(images), trace, .. }, _)] = &queued[..] else {
        panic!("there must be one visit for both: {queued:?}")
    };
    let found: Vec<_> = images.items.iter().map(|item| (item.page.clone(), item.purpose.trace().cloned())).collect();
    assert_eq!(found, chains);
    assert_eq!(*trace, chains[0].1);
}

#[tokio::test(start_paused = true)]
async fn without_a_judge_of_images_pages_share_one_visit_to_theirs() {
    let world = TestWorld::new();
    serve(&world, A, ELSEWHERE, body(false));
    serve(&world, B, ELSEWHERE, body(false));
    world.crawl(&[A, B]).await;
    let (images, _) = world.only_visit().await;
    assert_eq!(images.items.len(), 1);
}

/// A text that screening rejects by its words alone.
const OFFER: &str = "<html><head><title>Online casino: free spins and a welcome bonus</title>\
    <meta property=\"og:image\" content=\"https://example.org/a.png\"></head><body><article><h1>Online casino</h1><p>Play at our \
    online casino tonight: free spins, a no deposit bonus and the biggest jackpot on our slots. Claim your welcome bonus now, \
    bet on roulette and blackjack, and win real money at the best casino online. Free spins for every new player, every \
    day.</p></article></body></html>";

/// Runs the queued visits and the jobs that they send.
async fn run_queues(world: &TestWorld) {
    for (job, _) in world.queued(QueueName::Fetch).await {
        world.fetch(&job).await;
    }
    world.extract_all().await;
}

async fn audited(world: &TestWorld) -> Vec<String> {
    let mut lines = Vec::new();
    for key in world.keys("audit/").await {
        let blob = world.blobs.get(&key).await.unwrap().unwrap();
        let line: serde_json::Value = serde_json::from_slice(&blob.bytes).unwrap();
        lines.push(format!("{} {}", line["what"].as_str().unwrap(), line["reason"].as_str().unwrap()));
    }
    lines.sort();
    lines
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_let_through_is_fetched_once_more_and_stays_through_re_checks() {
    let world = TestWorld::new();
    world.web.serve(A, "text/html", OFFER);
    world.crawl(&[A]).await;
    let Some(PageState::Rejected { reason: Rejection::Screened(why) }) = world.state(A).await else { panic!("passed") };
    assert_eq!(why.topics, ["gambling"]);
    assert!(why.because.unwrap().contains("free spins"));

    let overrides = world.overrides();
    let scope = overrides.scope(A).await.unwrap();
    let followed = overrides.give("ana", &scope, Judged::Pass, vec![], Some("a satire".into())).await.unwrap();
    assert_eq!((followed.removed, followed.taken_up), (0, 1));
    world.sleep(Millis::from_mins(1)).await;
    run_queues(&world).await;
    assert!(world.is_accepted(A).await);
    for _ in 0..3 {
        world.sleep(Millis::from_days(8)).await;
        world.recheck(A).await;
        assert!(world.is_accepted(A).await, "a re-check applies the same override");
    }
    // Another process, with an empty cache, applies the override, too.
    let other = TestWorld::sharing(&world);
    other.fetch(&visit("example.org", &[A], &Purpose::Recheck)).await;
    assert!(world.is_accepted(A).await);
    assert_eq!(audited(&world).await, ["override allow"]);
    let listed = overrides.list().await.unwrap();
    assert_eq!((listed.len(), listed[0].rule.note.as_deref()), (1, Some("a satire")));
}

#[tokio::test(start_paused = true)]
async fn a_site_that_is_kept_out_loses_its_pages_and_gets_no_new_ones_until_it_is_taken_back() {
    let world = TestWorld::new();
    for url in [A, B] {
        serve(&world, url, PICTURE, body(true));
    }
    world.crawl(&[A]).await;
    assert!(world.is_accepted(A).await);
    let overrides = world.overrides();
    let site = overrides.scope("example.org").await.unwrap();
    let followed = overrides.give("ana", &site, Judged::Reject, vec![], None).await.unwrap();
    assert_eq!((followed.removed, followed.taken_up), (1, 0));
    assert_eq!(world.gone(A).await, Some(Gone::Screened));
    // The rules are cached for a minute.
    world.sleep(Millis::from_mins(1)).await;
    world.crawl(&[B]).await;
    let Some(PageState::Rejected { reason: Rejection::Screened(why) }) = world.state(B).await else { panic!("passed") };
    assert!(why.is_operators() && why.because.unwrap().contains("The operator keeps example.org out"));

    let (_, followed) = overrides.take_back("ana", &site).await.unwrap().unwrap();
    assert_eq!((followed.removed, followed.taken_up), (0, 1));
    world.sleep(Millis::from_mins(1)).await;
    run_queues(&world).await;
    assert!(world.is_accepted(B).await);
    assert_eq!(world.gone(A).await, Some(Gone::Screened), "a page that is gone stays gone");
    assert_eq!(overrides.take_back("ana", &site).await.unwrap(), None);
    assert_eq!(audited(&world).await, ["override deny", "override taken_back", "removed screened"]);
}

#[tokio::test(start_paused = true)]
async fn a_page_weighs_more_than_its_site_and_topics_than_none() {
    let world = TestWorld::new();
    world.web.serve(A, "text/html", OFFER);
    serve(&world, B, PICTURE, body(true));
    let overrides = world.overrides();
    let (site, page) = (overrides.scope("example.org").await.unwrap(), overrides.scope(B).await.unwrap());
    overrides.give("ana", &site, Judged::Pass, vec![Topic::Violence], None).await.unwrap();
    overrides.give("ana", &page, Judged::Reject, vec![], None).await.unwrap();
    world.crawl(&[A]).await;
    assert!(world.rejection(A).await.is_some(), "the override must not let gambling through");
    world.crawl(&[B]).await;
    assert!(world.rejection(B).await.is_some());
    // A new override replaces an earlier one with the same scope.
    overrides.give("ana", &site, Judged::Pass, vec![Topic::Gambling], None).await.unwrap();
    assert_eq!(overrides.list().await.unwrap().len(), 2);
    world.sleep(Millis::from_mins(1)).await;
    run_queues(&world).await;
    assert!(world.is_accepted(A).await);
    assert!(world.rejection(B).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_re_check_removes_what_is_kept_out_without_a_call() {
    let world = TestWorld::new();
    serve(&world, A, PICTURE, body(true));
    world.crawl(&[A]).await;
    // This is the state if the process that made the override died before it applied it.
    let rule = serde_json::json!({ "overrides": [
        { "scope": { "page": A }, "verdict": "reject", "at": "2026-11-21T00:00:00Z" }
    ]});
    world.blobs.put("overrides.json", rule.to_string().into()).await.unwrap();
    world.sleep(Millis::from_mins(1)).await;
    let before = world.web.calls().len();
    world.recheck(A).await;
    assert_eq!(world.gone(A).await, Some(Gone::Screened));
    assert_eq!(world.web.calls().len(), before);
}

#[tokio::test(start_paused = true)]
async fn what_is_no_host_and_no_page_is_said() {
    let overrides = TestWorld::new().overrides();
    for wrong in ["", "a b", "example.org/page", "ftp://example.org/", "https://"] {
        let refused = overrides.scope(wrong).await;
        assert!(
            matches!(&refused, Err(StageError::Job(why)) if why.contains("neither a host")),
            "{wrong}: {refused:?}"
        );
    }
    let scope = overrides.scope("Example.ORG").await.unwrap();
    assert_eq!(scope, curlew_screen::Scope::Site("example.org".into()));
    let long = Some("x".repeat(1_000));
    assert!(overrides.give("ana", &scope, Judged::Pass, vec![], long).await.is_err());
}
