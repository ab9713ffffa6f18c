//! Requests by a person: a poll before its time, and the reason why a site yielded nothing.

use crate::test_world::{FEED, TestWorld, host, key, rss, status};
use curlew_model::{
    DiscoverJob, Failure, FailureCause, Hold, HoldReason, HostState, Millis, PollJob, SiteState, Stage as QueueName,
    Timestamp, Validators,
};
use curlew_ports::{CallKind, FetchError, HostLedger, Reply, Version};
use curlew_stages::stage::{Stage, Verdict};

const HOME: &str = "https://example.org/";
const ROBOTS: &str = "https://example.org/robots.txt";

fn document() -> Reply {
    let mut reply = Reply { body: rss("<item><link>https://example.org/a</link></item>").into(), ..status(200) };
    reply.headers.validators = Validators { etag: Some("\"1\"".into()), last_modified: None };
    reply
}

async fn ask(world: &TestWorld) -> Verdict {
    let job = PollJob { feed: key(FEED), url: FEED.into(), deferrals: 0, on_request: true };
    world.poll_stage().run(&job).await.unwrap()
}

/// Returns the number of calls of the feed when it is asked for this many minutes after the last step.
async fn called_after(world: &TestWorld, minutes: u64) -> usize {
    world.politeness.clock.sleep(Millis::from_mins(minutes)).await;
    let before = world.calls(CallKind::Feed).len();
    ask(world).await;
    world.calls(CallKind::Feed).len() - before
}

#[tokio::test(start_paused = true)]
async fn a_person_may_have_a_feed_polled_before_its_time_but_not_again_within_five_minutes() {
    let world = TestWorld::new();
    world.with_feed(|_| {}).await;
    world.web.keep(FEED, document());
    world.poll(0).await;
    assert!(matches!(world.poll(0).await, Verdict::Drop(_)), "the schedule has its floor");
    let mut called = vec![];
    for minutes in [1, 5, 0, 1, 2, 2, 6] {
        called.push(called_after(&world, minutes).await);
    }
    assert_eq!(called, [0, 1, 0, 0, 0, 1, 1]);
    assert!(world.calls(CallKind::Feed).iter().skip(1).all(|call| !call.validators.is_empty()), "conditional");
    assert_eq!(world.queued(QueueName::Poll).await, [], "nothing is left behind");
}

#[tokio::test(start_paused = true)]
async fn our_own_back_off_is_overridden_and_retry_after_is_not() {
    let world = TestWorld::new();
    world.with_feed(|_| {}).await;
    let mut busy = status(404);
    world.web.answer(FEED, Ok(busy.clone()));
    busy.headers.retry_after = Some("7200".into());
    world.web.answer(FEED, Ok(busy));
    world.web.answer(FEED, Ok(document()));
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
        let world = TestWorld::new();
        world.with_feed(|_| {}).await;
        world.web.serve(ROBOTS, "text/plain", robots);
        world.web.keep(FEED, document());
        world.hosts.swap(&host("example.org"), Version::ABSENT, state.clone()).await.unwrap();
        for _ in 0..3 {
            assert_eq!(called_after(&world, 10).await, 0, "{state:?} {robots}");
        }
        assert_eq!(world.queued(QueueName::Poll).await, [], "no job waits for a person who has gone");
    }
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
        world.discover_stage().run(&DiscoverJob::new(key(HOME), HOME.into())).await.unwrap();
        let kept = world.site(HOME).await.failure.unwrap_or_else(|| panic!("{url} {cause:?} is not kept"));
        assert!(kept.cause == cause && kept.detail.contains(word), "{url} {cause:?}: {kept:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_site_came_to_is_forgotten_when_it_works() {
    let world = TestWorld::new();
    world.with_site(HOME, SiteState::Waiting).await;
    world.web.answer(HOME, Err(FetchError::Network(Failure::new(FailureCause::Dns, "no such name"))));
    world.web.answer(HOME, Ok(document()));
    world.discover(HOME).await;
    let site = world.site(HOME).await;
    assert!(matches!(site.state, SiteState::Working { .. }) && site.failure.is_none(), "{site:?}");
}

#[tokio::test(start_paused = true)]
async fn a_feed_that_could_not_be_reached_says_why() {
    let world = TestWorld::new();
    world.with_feed(|_| {}).await;
    world.web.answer(FEED, Err(FetchError::Network(Failure::new(FailureCause::Dns, "no such name"))));
    world.poll(0).await;
    assert!(world.feed().await.trouble.is_some_and(|why| why.contains("no such name")));
}
