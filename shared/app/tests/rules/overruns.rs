//! Documents that exceed their processor time: each is given up with a reason, and nothing else is.

use crate::test_world::*;

/// Returns a site with one page, in a process where all documents after the first `spared` ones overrun.
fn world(spared: usize) -> TestWorld {
    let mut world = TestWorld::new();
    world.serve_page(A, "<meta property=\"og:image\" content=\"https://example.org/a.png\">");
    world.web.serve("https://example.org/a.png", "image/png", png(64));
    overrun_after(&mut world, spared);
    world
}

fn overrun_after(world: &mut TestWorld, spared: usize) {
    let pool = Arc::new(OverrunPool::after(spared));
    world.politeness = Arc::new(Politeness { pool, ..Politeness::clone(&world.politeness) });
}

fn is_limit(reason: &Option<Rejection>) -> bool {
    matches!(reason, Some(Rejection::Limit(why)) if why == "it takes more than 10 s of processor time")
}

#[tokio::test(start_paused = true)]
async fn a_robots_txt_that_overruns_is_as_good_as_out_of_reach() {
    let world = world(0);
    assert_eq!(world.visit(&[A]).await, Verdict::Done);
    assert!(world.calls(CallKind::Page).is_empty(), "no page may be called");
    let waiting = world.queued(QueueName::Fetch).await;
    assert!(waiting.iter().any(|(_, due)| *due > world.now()), "the page waits: {waiting:?}");
}

#[tokio::test(start_paused = true)]
async fn a_page_that_overruns_is_rejected() {
    let world = world(1);
    assert_eq!(world.visit(&[A]).await, Verdict::Done);
    let reason = world.rejection(A).await;
    assert!(is_limit(&reason), "{reason:?}");
}

#[tokio::test(start_paused = true)]
async fn an_image_that_overruns_gives_no_thumbnail() {
    let world = world(2);
    assert_eq!(world.visit(&[A]).await, Verdict::Done);
    let image = world.extract_jobs().await.remove(0).image.unwrap();
    assert_eq!(image.thumbnail, None);
}

#[tokio::test(start_paused = true)]
async fn what_overruns_in_extraction_or_screening_is_rejected() {
    for spared in [0, 1] {
        let mut world = world(usize::MAX);
        assert_eq!(world.visit(&[A]).await, Verdict::Done);
        let job = world.extract_jobs().await.remove(0);
        overrun_after(&mut world, spared);
        let verdicts = world.extract().run_batch(&page_jobs(std::slice::from_ref(&job))).await;
        assert!(matches!(verdicts[..], [Ok(Verdict::Done)]), "{verdicts:?}");
        let reason = world.rejection(A).await;
        assert!(is_limit(&reason), "{reason:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_feed_that_overruns_says_so_and_is_polled_again() {
    let mut world = TestWorld::of_feed().await;
    world.web.serve(FEED, "application/rss+xml", rss(""));
    overrun_after(&mut world, 1);
    assert_eq!(world.poll(0).await, Verdict::Done);
    let feed = world.feed().await;
    assert_eq!(feed.failures, 1);
    assert!(!feed.gone);
    let trouble = feed.trouble.unwrap();
    assert_eq!(trouble, "the feed cannot be read: it takes more than 10 s of processor time");
}

#[tokio::test(start_paused = true)]
async fn a_page_that_overruns_when_it_is_checked_again_stays() {
    let mut world = world(usize::MAX);
    assert_eq!(world.visit(&[A]).await, Verdict::Done);
    let job = world.extract_jobs().await.remove(0);
    assert!(world.extract().run_batch(&page_jobs(std::slice::from_ref(&job))).await.iter().all(Result::is_ok));
    let before = world.pages.get(&job.page).await.unwrap().unwrap().0.state;
    assert!(matches!(before, PageState::Accepted { .. }), "{before:?}");
    // The page stays both if its head overruns and if the comparison of its text does.
    for spared in [0, 1] {
        overrun_after(&mut world, spared);
        assert_eq!(world.recheck(A).await, Verdict::Done);
        assert_eq!(world.state(A).await, Some(before.clone()));
    }
}
