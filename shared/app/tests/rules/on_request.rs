//! Requests by a person: a poll before its time, and the reason why a site led to no feed.

use crate::test_world::*;

const ITEM: &str = "<item><link>https://example.org/a</link></item>";

async fn ask(world: &TestWorld) -> Verdict {
    let job = Envelope::new(PollJob { on_request: true, ..PollJob::new(key(FEED), FEED.into()) });
    world.poll_stage().run(&job).await.unwrap()
}

/// Waits for this many minutes, requests a poll, and returns the number of calls of the feed.
async fn called_after(world: &TestWorld, minutes: u64) -> usize {
    world.sleep(Millis::from_mins(minutes)).await;
    let before = world.calls(CallKind::Feed).len();
    ask(world).await;
    world.calls(CallKind::Feed).len() - before
}

#[tokio::test(start_paused = true)]
async fn a_person_may_have_a_feed_polled_before_its_time_but_not_again_within_five_minutes() {
    let world = TestWorld::of_feed().await;
    world.web.keep(FEED, tagged(ITEM, "\"1\""));
    world.poll(0).await;
    assert!(matches!(world.poll(0).await, Verdict::Drop(_)), "a scheduled poll must respect the floor");
    let mut called = vec![];
    for minutes in [1, 5, 0, 1, 2, 2, 6] {
        called.push(called_after(&world, minutes).await);
    }
    assert_eq!(called, [0, 1, 0, 0, 0, 1, 1]);
    assert!(world.calls(CallKind::Feed).iter().skip(1).all(|call| !call.validators.is_empty()), "conditional polls");
    assert_eq!(world.queued(QueueName::Poll).await, [], "no job may be left");
}

#[tokio::test(start_paused = true)]
async fn our_own_back_off_is_overridden_and_retry_after_is_not() {
    let world = TestWorld::of_feed().await;
    let mut busy = status(404);
    world.web.answer(FEED, Ok(busy.clone()));
    busy.headers.retry_after = Some("7200".into());
    world.web.answer(FEED, Ok(busy));
    world.web.answer(FEED, Ok(tagged(ITEM, "\"1\"")));
    world.poll(0).await;
    assert!(world.feed().await.not_before > world.now() + Millis::from_hours(20), "a lost feed waits for a day");
    let mut called = vec![];
    for minutes in [10, 60, 50, 20, 60] {
        called.push(called_after(&world, minutes).await);
    }
    assert_eq!(called, [1, 0, 0, 1, 1]);
    assert_eq!((world.feed().await.trouble, world.feed().await.polling.retry_at), (None, None));
}

#[tokio::test(start_paused = true)]
async fn a_held_host_a_block_and_robots_txt_stand_against_any_request() {
    let hold = Hold { until: Timestamp::MAX, reason: HoldReason::TooManyRequests, since: Timestamp::MIN };
    let held = HostState { hold: Some(hold), ..HostState::default() };
    let blocked = HostState { blocked: ["example.org".to_owned()].into(), ..HostState::default() };
    for (state, robots) in [(held, ""), (blocked, ""), (HostState::default(), "User-agent: *\nDisallow: /")] {
        let world = TestWorld::of_feed().await;
        world.web.serve(ROBOTS, "text/plain", robots);
        world.web.keep(FEED, tagged(ITEM, "\"1\""));
        world.with_host("example.org", state.clone()).await;
        for _ in 0..3 {
            assert_eq!(called_after(&world, 10).await, 0, "{state:?} {robots}");
        }
        assert_eq!(world.queued(QueueName::Poll).await, [], "no job waits for a person who has gone");
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_that_was_not_reached_is_polled_when_its_pause_is_over() {
    let world = TestWorld::of_feed().await;
    let not_before = world.now() + Millis::from_mins(15);
    let missed = HostState { failures: 1, not_before, ..HostState::default() };
    world.with_host("example.org", missed).await;
    let actions = world.program().desk.actions;
    let answer = actions.poll("ana", &[FEED.into()]).await.unwrap().remove(0);
    assert_eq!((answer.outcome, answer.again_at), ("too soon", Some(not_before)), "{answer:?}");
    assert_eq!(world.queued(QueueName::Poll).await, []);
    world.sleep(Millis::from_mins(15)).await;
    assert!(actions.poll("ana", &[FEED.into()]).await.unwrap().remove(0).is_sent());
}

#[tokio::test(start_paused = true)]
async fn a_site_that_comes_to_nothing_keeps_why() {
    let network = |cause| Err(FetchError::Network(Failure::new(cause, "so the system says")));
    let reply = |code| Ok(status(code));
    for (url, answer, cause, word) in [
        (ROBOTS, network(FailureCause::Dns), FailureCause::Dns, "so the system says"),
        (ROBOTS, network(FailureCause::ConnectionRefused), FailureCause::ConnectionRefused, "so the system says"),
        (HOME, network(FailureCause::Tls), FailureCause::Tls, "so the system says"),
        (HOME, network(FailureCause::Timeout), FailureCause::Timeout, "so the system says"),
        (HOME, Err(FetchError::Cut("it was cut short".into())), FailureCause::Broken, "cut short"),
        (HOME, Err(FetchError::Limit("it is too long".into())), FailureCause::Broken, "too long"),
        (HOME, reply(403), FailureCause::Status, "403"),
        (HOME, reply(404), FailureCause::Status, "404"),
        (HOME, reply(503), FailureCause::Status, "503"),
        (HOME, reply(200), FailureCause::NoFeed, "no feed"),
        (ROBOTS, reply(403), FailureCause::RobotsUnavailable, "403"),
        (ROBOTS, reply(500), FailureCause::RobotsUnavailable, "500"),
    ] {
        let world = TestWorld::new();
        world.with_site(HOME, SiteState::Waiting).await;
        world.web.answer(url, answer);
        world.discover_stage().run(&Envelope::new(DiscoverJob::new(key(HOME), HOME.into()))).await.unwrap();
        let kept = world.site(HOME).await.failure.unwrap_or_else(|| panic!("{url} {cause:?} is not kept"));
        assert!(kept.cause == cause && kept.detail.contains(word), "{url} {cause:?}: {kept:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_site_came_to_is_forgotten_when_it_works() {
    let world = TestWorld::new();
    world.with_site(HOME, SiteState::Waiting).await;
    world.web.answer(HOME, Err(FetchError::Network(Failure::new(FailureCause::Dns, "no such name"))));
    world.web.answer(HOME, Ok(tagged(ITEM, "\"1\"")));
    world.discover(HOME).await;
    let site = world.site(HOME).await;
    assert!(matches!(site.state, SiteState::Working { .. }) && site.failure.is_none(), "{site:?}");
}

const HTTP_HOME: &str = "http://example.org/";

fn unreached() -> Result<Reply, FetchError> {
    Err(FetchError::Network(Failure::new(FailureCause::ConnectionRefused, "refused")))
}

#[tokio::test(start_paused = true)]
async fn a_site_that_was_never_reached_gives_way_to_its_other_address() {
    for (wrong, right) in [(HOME, HTTP_HOME), (HTTP_HOME, HOME)] {
        let world = TestWorld::new();
        let suggest = world.suggest();
        let replaced = SiteState::Replaced { by: right.into() };
        world.web.answer(&format!("{wrong}robots.txt"), unreached());
        world.web.keep(right, tagged(ITEM, "\"1\""));
        suggest.site(wrong, true).await.unwrap();
        let job = Envelope::new(DiscoverJob::new(key(wrong), wrong.into()));
        assert_eq!(world.discover_stage().run(&job).await.unwrap(), Verdict::Done);
        let paused_until = world.site(wrong).await.not_before;
        assert!(paused_until > world.now());
        suggest.offered(right).await.unwrap();
        assert_eq!(world.site(wrong).await.state, SiteState::Waiting, "a visitor may not replace an address");
        suggest.sites(&[right.into(), wrong.into()]).await.unwrap();
        assert_eq!(world.site(wrong).await.state, SiteState::Waiting, "both addresses were named at once");
        suggest.site(right, true).await.unwrap();
        assert_eq!(world.site(wrong).await.state, replaced);
        let calls = world.web.calls().len();
        let first = Envelope::new(DiscoverJob::new(key(right), right.into()));
        world.discover_stage().run(&first).await.unwrap();
        assert_eq!(world.web.calls().len(), calls, "the host is left alone for as long as before");
        world.sleep_until(paused_until).await;
        assert!(matches!(world.discover_stage().run(&job).await.unwrap(), Verdict::Drop(why) if why.contains(right)));
        world.discover(right).await;
        assert!(matches!(world.site(right).await.state, SiteState::Working { .. }));
        assert!(world.web.calls()[calls..].iter().all(|call| call.url.as_str().starts_with(right)));
        suggest.site(wrong, true).await.unwrap();
        assert_eq!(world.site(wrong).await.state, replaced, "the other address works");
    }
}

#[tokio::test(start_paused = true)]
async fn an_address_gives_way_to_its_other_one_before_it_was_tried() {
    let world = TestWorld::new();
    let suggest = world.suggest();
    suggest.site(HTTP_HOME, true).await.unwrap();
    suggest.site(HOME, true).await.unwrap();
    assert_eq!(world.site(HTTP_HOME).await.state, SiteState::Replaced { by: HOME.into() });
    assert_eq!(world.site(HOME).await.state, SiteState::Waiting);
    let http = FEED.replace("https://", "http://");
    suggest.feed(&http, true).await.unwrap();
    suggest.feed(FEED, true).await.unwrap();
    assert!(world.feed_at(&http).await.is_some_and(|feed| feed.gone) && !world.feed().await.gone);
    // A site that worked once, and whose discovery is repeated, was reached.
    world.change_site(HOME, |site| site.not_before = world.now()).await;
    suggest.site(HTTP_HOME, true).await.unwrap();
    assert_eq!(world.site(HOME).await.state, SiteState::Waiting);
}

#[tokio::test(start_paused = true)]
async fn an_address_that_was_given_up_is_tried_again_when_somebody_names_it_anew() {
    let world = TestWorld::new();
    let suggest = world.suggest();
    let missed = Some(Failure::new(FailureCause::Timeout, "no answer"));
    for (first, second) in [(HOME, HTTP_HOME), (HTTP_HOME, HOME)] {
        suggest.site(first, true).await.unwrap();
        assert_eq!(world.site(first).await.state, SiteState::Waiting);
        world.change_site(first, |site| site.failure.clone_from(&missed)).await;
        suggest.site(second, true).await.unwrap();
        assert_eq!(world.site(first).await.state, SiteState::Replaced { by: second.into() });
        assert_eq!(world.site(second).await.state, SiteState::Waiting);
    }
}

#[tokio::test(start_paused = true)]
async fn a_feed_that_was_never_read_gives_way_to_its_other_address() {
    let http = FEED.replace("https://", "http://");
    let world = TestWorld::new();
    let suggest = world.suggest();
    suggest.feed(FEED, true).await.unwrap();
    world.web.answer(ROBOTS, unreached());
    world.poll(0).await;
    suggest.feed(&http, true).await.unwrap();
    assert!(world.feed().await.gone && world.feed_at(&http).await.is_some_and(|feed| !feed.gone));
    assert!(matches!(world.poll(0).await, Verdict::Drop(_)));
    suggest.feed(FEED, true).await.unwrap();
    assert!(!world.feed().await.gone);
}

#[tokio::test(start_paused = true)]
async fn a_feed_that_could_not_be_reached_says_why() {
    let world = TestWorld::of_feed().await;
    world.web.answer(FEED, Err(FetchError::Network(Failure::new(FailureCause::Dns, "no such name"))));
    world.poll(0).await;
    assert!(world.feed().await.trouble.is_some_and(|why| why.contains("no such name")));
}
