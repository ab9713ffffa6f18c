//! Screening by images: what is judged when, and what becomes of the page.

use crate::house::{House, html, new, visit};
use curlew_model::{ExtractJob, Gone, Job, PageState, Rejection, Stage as QueueName};
use curlew_ports::{Blobs, CallKind};
use curlew_screen::image::SkinRegions;
use curlew_screen::{Screener, Settings, Topic, TopicRule};
use curlew_stages::{Judge, Verdict};
use std::io::Cursor;
use std::sync::Arc;

const A: &str = "https://example.org/a";
const B: &str = "https://example.org/b";
const PICTURE: &str = "https://example.org/a.png";
const ELSEWHERE: &str = "https://cdn.example.com/a.png";

/// A house whose judge lets the embedded classifier decide alone.
fn strict(allow: &str) -> House {
    let rule = TopicRule { on: true, threshold: 0.4 };
    let allow = Some(allow).filter(|a| !a.is_empty()).map(|a| a.parse().unwrap());
    let settings =
        Settings { topics: [(Topic::Adult, rule)].into(), allow: allow.into_iter().collect(), ..Settings::default() };
    let screener = Arc::new(Screener::new(settings, &[]).unwrap());
    House { judge: Arc::new(Judge::new(Some(screener), Some(Arc::new(SkinRegions)))), ..House::new() }
}

/// A shaded body before a wall, or with `clothed` the same in blue.
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

fn serve(house: &House, url: &str, picture: &str, bytes: Vec<u8>) {
    let text = html(&format!("<meta property=\"og:image\" content=\"{picture}\">"));
    // Another text for each page, so that none is taken for another one's alias.
    house.web.serve(url, "text/html", text.replace("</article>", &format!("<p>{url}</p></article>")));
    house.web.serve(picture, "image/png", bytes);
}

async fn extract_all(house: &House) {
    let queued = house.queued(QueueName::Extract).await.into_iter();
    let jobs: Vec<ExtractJob> =
        queued.map(|(job, _)| if let Job::Extract(job) = job { *job } else { panic!("{job:?}") }).collect();
    assert!(house.extract().run_batch(&jobs).await.iter().all(|verdict| matches!(verdict, Ok(Verdict::Done))));
}

/// Runs the visits to images that extraction has asked for.
async fn fetch_images(house: &House) -> usize {
    let visits = house.queued(QueueName::Fetch).await;
    for (job, _) in &visits {
        let Job::Fetch(images) = job else { panic!("{job:?}") };
        assert_eq!(house.fetch(images).await, Verdict::Done);
    }
    visits.len()
}

#[tokio::test(start_paused = true)]
async fn a_page_whose_image_is_rejected_says_so_in_its_row() {
    let house = strict("");
    serve(&house, A, PICTURE, body(false));
    house.fetch(&visit("example.org", &[A], &new())).await;
    extract_all(&house).await;
    let Some(PageState::Rejected { reason: Rejection::Screened(why) }) = house.state(A).await else {
        panic!("it was taken")
    };
    assert_eq!(why.topics, ["adult"]);
    let because = why.because.unwrap();
    assert!(because.contains("adult: 0.4") && because.contains("because of its image: one region"), "{because}");
    assert!(because.contains("% across"), "{because}");
    assert!(house.blobs.list("segments/", None, 9).await.unwrap().is_empty(), "nothing of it is kept");
}

#[tokio::test(start_paused = true)]
async fn other_images_and_sites_that_are_let_through_pass() {
    for (house, bytes) in
        [(strict(""), body(true)), (strict("example.org: adult"), body(false)), (House::new(), body(false))]
    {
        serve(&house, A, PICTURE, bytes);
        house.fetch(&visit("example.org", &[A], &new())).await;
        extract_all(&house).await;
        assert!(matches!(house.state(A).await, Some(PageState::Accepted { .. })));
    }
}

#[tokio::test(start_paused = true)]
async fn an_image_of_another_host_is_judged_when_it_comes() {
    let house = strict("");
    serve(&house, A, ELSEWHERE, body(false));
    serve(&house, B, ELSEWHERE, body(false));
    house.fetch(&visit("example.org", &[A, B], &new())).await;
    extract_all(&house).await;
    assert!(matches!(house.state(A).await, Some(PageState::Accepted { .. })), "its words pass");
    assert_eq!(fetch_images(&house).await, 1);
    for url in [A, B] {
        assert_eq!(house.state(url).await, Some(PageState::Gone { reason: Gone::Screened }), "{url}");
    }
    assert_eq!(house.blobs.list("audit/", None, 9).await.unwrap().len(), 2);
    assert!(house.calls(CallKind::Image).len() <= 2);
    // Once it is known, no later page with it gets so far.
    house
        .blobs
        .put(&curlew_stages::thumbnail_key(&curlew_policy::address::image_id(&ELSEWHERE.parse().unwrap())), jpeg())
        .await
        .unwrap();
    let later = "https://example.org/later";
    serve(&house, later, ELSEWHERE, body(false));
    house.fetch(&visit("example.org", &[later], &new())).await;
    extract_all(&house).await;
    assert!(matches!(house.state(later).await, Some(PageState::Rejected { .. })));
}

fn jpeg() -> bytes::Bytes {
    curlew_stages::scaled_down(&body(false)).unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_image_that_comes_before_its_pages_row_waits_for_it() {
    let house = strict("");
    serve(&house, A, ELSEWHERE, body(false));
    house.fetch(&visit("example.org", &[A], &new())).await;
    let pending = house.state(A).await;
    let image = curlew_policy::address::image_id(&ELSEWHERE.parse().unwrap());
    let purpose = curlew_model::Purpose::Image { image };
    let mut job = visit("cdn.example.com", &[ELSEWHERE], &purpose);
    job.items[0].page = crate::house::page(A);
    house.fetch(&job).await;
    assert_eq!(house.state(A).await, pending);
    extract_all(&house).await;
    // The thumbnail was there already, so the page was judged by it.
    assert!(matches!(house.state(A).await, Some(PageState::Rejected { .. })));
    assert_eq!(fetch_images(&house).await, 1, "the image's visit was put off");
}

#[tokio::test(start_paused = true)]
async fn without_a_judge_of_images_pages_share_one_visit_to_theirs() {
    let house = House::new();
    serve(&house, A, ELSEWHERE, body(false));
    serve(&house, B, ELSEWHERE, body(false));
    house.fetch(&visit("example.org", &[A, B], &new())).await;
    extract_all(&house).await;
    let queued = house.queued(QueueName::Fetch).await;
    let [(Job::Fetch(images), _)] = &queued[..] else { panic!("{queued:?}") };
    assert_eq!(images.items.len(), 1);
}
