//! Failures of feeds: feeds that move, are gone, lost, refused or suspect, and come back.

use crate::test_world::*;

const NEW: &str = "https://new.example/feed";
const ITEM: &str = "<item><title>One</title><link>https://example.org/a</link></item>";

#[tokio::test(start_paused = true)]
async fn f01_f03_a_move_seen_on_three_days_gives_the_feed_a_new_row() {
    let world = TestWorld::new();
    world.with_site(HOME, SiteState::Working { feeds: vec![key(FEED)] }).await;
    world.with_feed(|feed| feed.site = Some(key(HOME))).await;
    world.web.answer(FEED, moved(301, NEW));
    world.web.keep(NEW, tagged(ITEM, "\"1\""));
    let began = world.now();
    world.poll(0).await;
    world.days(9).await;
    assert!(world.now() >= began + Millis::from_days(2) && world.now() < began + Millis::from_days(4));
    let old = world.feed().await;
    assert!(old.gone && old.seen.is_empty() && old.trouble.is_some_and(|why| why.contains(NEW)));
    let heir = world.feed_at(NEW).await.unwrap();
    assert_eq!((heir.url.as_str(), heir.title.as_deref(), heir.seen.len()), (NEW, Some("Waders"), 1));
    assert_eq!(heir.validators.etag.as_deref(), Some("\"1\""), "no second unconditional request");
    assert_eq!(heir.slot, curlew_policy::address::slot(&heir.key));
    assert_eq!(world.site(HOME).await.state, SiteState::Working { feeds: vec![key(NEW)] });
    assert_eq!(world.queued(QueueName::Fetch).await.len(), 1, "the move makes no entry new");
}

#[tokio::test(start_paused = true)]
async fn f01_a_target_that_is_no_feed_is_blocked_or_forbidden_is_never_believed() {
    for trouble in ["no feed", "refused", "robots"] {
        let world = TestWorld::of_feed().await;
        world.web.answer(FEED, moved(308, NEW));
        match trouble {
            "no feed" => world.web.serve(NEW, "text/html", "<html><title>Sold</title></html>"),
            "refused" => world.web.refuse(NEW),
            _ => world.web.serve("https://new.example/robots.txt", "text/plain", "User-agent: *\nDisallow: /\n"),
        }
        world.poll(0).await;
        world.days(30).await;
        assert_eq!(world.feed_at(NEW).await, None, "{trouble}");
        let feed = world.feed().await;
        assert!(!feed.gone && feed.failures > 2 && feed.moved.is_none(), "{trouble}");
    }
}

#[tokio::test(start_paused = true)]
async fn f02_f03_a_chain_with_a_temporary_hop_is_followed_and_not_believed() {
    let world = TestWorld::of_feed().await;
    world.web.answer(FEED, moved(301, B));
    world.web.answer(B, moved(302, NEW));
    world.web.keep(NEW, tagged(ITEM, "\"1\""));
    world.poll(0).await;
    world.days(9).await;
    let feed = world.feed().await;
    assert_eq!((feed.url.as_str(), feed.gone, feed.moved, feed.failures), (FEED, false, None, 0));
}

#[tokio::test(start_paused = true)]
async fn f02_http_to_https_of_the_same_host_is_believed_at_once() {
    let world = TestWorld::new();
    world.with_feed(|feed| feed.url = "http://example.org/feed".into()).await;
    world.web.answer("http://example.org/feed", moved(301, "https://example.org/rss"));
    world.web.keep("https://example.org/rss", tagged(ITEM, "\"1\""));
    world.poll(0).await;
    assert!(world.feed().await.gone);
    assert!(world.feed_at("https://example.org/rss").await.is_some_and(|feed| !feed.gone));
}

#[tokio::test(start_paused = true)]
async fn f04_410_retires_at_once_until_somebody_names_the_feed_anew() {
    let world = TestWorld::answering([status(410)]).await;
    world.poll(0).await;
    assert!(world.feed().await.gone);
    world.sleep(Millis::from_days(30)).await;
    assert!(matches!(world.poll(0).await, Verdict::Drop(_)));
    assert_eq!(world.calls(CallKind::Feed).len(), 1);
    world.suggest().feed(FEED, true).await.unwrap();
    assert_eq!((world.feed().await.gone, world.queued(QueueName::Poll).await.len()), (false, 1));
    world.web.answer(FEED, Ok(tagged(ITEM, "\"1\"")));
    world.web.answer(FEED, Ok(tagged(ITEM, "\"1\"")));
    world.poll(0).await;
    world.sleep(Millis::from_days(1)).await;
    assert!(world.calls(CallKind::Feed).len() == 2, "the feed is polled again");
}

#[tokio::test(start_paused = true)]
async fn f04_a_410_behind_a_temporary_redirect_is_only_a_failure() {
    let world = TestWorld::of_feed().await;
    world.web.answer(FEED, moved(302, "https://example.org/old"));
    world.web.answer("https://example.org/old", Ok(status(410)));
    world.poll(0).await;
    assert_eq!((world.feed().await.gone, world.feed().await.failures), (false, 1));
}

#[tokio::test(start_paused = true)]
async fn f04_404_slows_doubles_and_retires_after_sixty_days() {
    let world = TestWorld::answering([status(404)]).await;
    let began = world.now();
    world.poll(0).await;
    let feed = world.feed().await;
    assert_eq!(feed.polling.streak.map(|streak| streak.kind), Some(FailureKind::Lost));
    assert_eq!(feed.polling.why, Why::Lost);
    assert!(matches!(world.poll(0).await, Verdict::Drop(_)), "a second job in the queue does not call again");
    world.days(100).await;
    assert!(world.feed().await.gone);
    assert!(world.now() >= began + Millis::from_days(60) && world.now() < began + Millis::from_days(75));
    let calls = world.calls(CallKind::Feed).len();
    assert!((10..=14).contains(&calls), "{calls} calls in two months");
}

#[tokio::test(start_paused = true)]
async fn f04_a_feed_that_is_found_again_is_well() {
    let world = TestWorld::of_feed().await;
    for answer in [tagged(ITEM, "\"1\""), status(404)] {
        world.web.answer(FEED, Ok(answer));
    }
    world.poll(0).await;
    world.days(3).await;
    assert!(world.feed().await.failures > 1);
    world.web.keep(FEED, tagged(ITEM, "\"1\""));
    world.days(6).await;
    let feed = world.feed().await;
    assert_eq!((feed.failures, feed.polling.streak, feed.polling.why, feed.trouble), (0, None, Why::Usual, None));
}

#[tokio::test(start_paused = true)]
async fn f04_a_retired_feed_opens_its_site_once_and_only_if_it_was_the_last() {
    let world = TestWorld::new();
    let other = "https://example.org/other";
    world.with_site(HOME, SiteState::Working { feeds: vec![key(FEED), key(other)] }).await;
    world.with_feed(|feed| feed.site = Some(key(HOME))).await;
    let sister = FeedSource::new(key(other), Slot::from_hash(0), other);
    world.sources.insert(&Source::Feed(sister)).await.unwrap();
    world.web.answer(FEED, Ok(status(410)));
    world.poll(0).await;
    assert!(matches!(world.site(HOME).await.state, SiteState::Working { .. }), "the other feed works");
    // The other feed is retired as well; then this feed is named again and is gone again.
    world.change_feed(other, |sister| sister.gone = true).await;
    for expected in [SiteState::Waiting, SiteState::Working { feeds: vec![key(FEED)] }] {
        world.sleep(Millis::from_hours(2)).await;
        world.suggest().feed(FEED, true).await.unwrap();
        world.poll(0).await;
        assert!(world.feed().await.gone);
        assert_eq!(world.site(HOME).await.state, expected);
        world.change_site(HOME, |site| site.state = SiteState::Working { feeds: vec![key(FEED)] }).await;
    }
}

#[tokio::test(start_paused = true)]
async fn h19_a_refused_feed_backs_off_long_and_is_retired_in_the_end() {
    for refusal in [401, 403] {
        let world = TestWorld::answering([status(refusal)]).await;
        let began = world.now();
        world.poll(0).await;
        let feed = world.feed().await;
        assert!(feed.not_before >= began + Millis::from_hours(72), "{refusal}");
        assert_eq!(feed.polling.why, Why::Refused);
        world.days(200).await;
        assert!(world.feed().await.gone, "{refusal}");
        assert!(world.now() >= began + Millis::from_days(60), "{refusal}");
        assert!(world.calls(CallKind::Feed).len() <= 12, "{refusal}: {}", world.calls(CallKind::Feed).len());
    }
}

#[tokio::test(start_paused = true)]
async fn h18_a_feed_that_goes_on_failing_is_dormant_and_tried_once_a_week() {
    let world = TestWorld::answering([status(418)]).await;
    world.poll(0).await;
    world.days(60).await;
    let before = world.calls(CallKind::Feed).len();
    world.days(70).await;
    let calls = world.calls(CallKind::Feed).len() - before;
    assert!((8..=10).contains(&calls), "{calls} calls in ten weeks");
    assert!(!world.feed().await.gone);
}

#[tokio::test(start_paused = true)]
async fn x18_a_feed_that_turns_into_something_else_keeps_its_state_and_becomes_suspect() {
    for body in ["", "<!DOCTYPE html><html><title>This domain is parked</title></html>", &rss("")] {
        let world = TestWorld::answering([tagged(ITEM, "\"1\""), text(body.to_owned())]).await;
        world.poll(0).await;
        let before = world.feed().await;
        world.days(40).await;
        let after = world.feed().await;
        assert_eq!(after.polling.streak.map(|streak| streak.kind), Some(FailureKind::Suspect), "{body:?}");
        assert_eq!((&after.seen, &after.title, &after.validators), (&before.seen, &before.title, &before.validators));
        assert!(!after.gone);
        let calls = world.calls(CallKind::Feed).len();
        assert!(calls <= 12, "{body:?}: {calls} calls in forty days");
        // The feed answers as before.
        world.web.keep(FEED, tagged(ITEM, "\"1\""));
        world.days(20).await;
        assert_eq!(world.feed().await.polling.streak, None);
        assert_eq!(world.queued(QueueName::Fetch).await.len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_feed_that_has_moved_is_known_under_its_old_address() {
    let world = TestWorld::new();
    world.with_feed(|feed| feed.url = "http://example.org/feed".into()).await;
    world.web.answer("http://example.org/feed", moved(301, "https://example.org/rss"));
    world.web.keep("https://example.org/rss", tagged(ITEM, "\"1\""));
    world.poll(0).await;
    // In this test the row of the old address has the key of FEED.
    let named = world.suggest().feed(FEED, true).await.unwrap();
    assert_eq!(named.outcome, curlew_people::suggest::SuggestOutcome::Known);
    assert!(world.feed().await.gone, "the feed continues at its new address");
    let poll = world.poll_stage();
    let job = Envelope::new(PollJob::new(key("https://example.org/rss"), String::new()));
    world.sleep(Millis::from_hours(9)).await;
    assert_eq!(poll.run(&job).await.unwrap(), Verdict::Done);
    assert_eq!(world.calls(CallKind::Feed).last().unwrap().validators.etag.as_deref(), Some("\"1\""));
}
