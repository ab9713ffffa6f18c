//! Schedule of polls: the wishes of feeds and servers, which outlast 304s, and the feeds' own history.

use crate::test_world::*;

async fn version(world: &TestWorld) -> Version {
    world.sources.get(&key(FEED)).await.unwrap().unwrap().1
}

/// Lets dispatch tick each minute for `length` and runs its polls when they are due; returns the times of the polls.
async fn run(world: &TestWorld, length: Millis) -> Vec<Timestamp> {
    let (dispatch, poll) = (world.dispatch_stage(), world.poll_stage());
    let end = world.now() + length;
    let mut made = vec![];
    while world.now() < end {
        dispatch.tick().await.unwrap();
        for delivery in world.jobs.receive(QueueName::Poll, 9, Millis::from_mins(1), world.now()).await.unwrap() {
            let Ok(job @ Job { work: Work::Poll(feed), .. }) = &delivery.job else { panic!("no poll") };
            let calls = world.calls(CallKind::Feed).len();
            if let Verdict::Defer(at) = poll.run(&job.with(feed.clone())).await.unwrap() {
                Queue::send(world.jobs.as_ref(), &[(job.clone(), at)]).await.unwrap();
            }
            if world.calls(CallKind::Feed).len() > calls {
                made.push(world.now());
            }
            world.jobs.ack(&delivery.receipt).await.unwrap();
        }
        let into_minute = world.now().as_millis().rem_euclid(60_000).unsigned_abs();
        world.sleep(Millis(60_000 - into_minute)).await;
    }
    made
}

#[tokio::test(start_paused = true)]
async fn f05_f08_what_a_feed_asks_for_is_kept_over_304s_that_do_not_repeat_it() {
    let world = TestWorld::of_feed().await;
    world.web.keep(FEED, tagged("<ttl>2880</ttl>", "\"1\""));
    world.poll(0).await;
    let row = world.feed().await;
    assert_eq!((row.interval, row.polling.why), (Millis::from_days(2), Why::Ttl));
    let made = run(&world, Millis::from_days(20)).await;
    assert!((9..=10).contains(&made.len()), "{made:?}");
    assert!(
        made.windows(2).all(|pair| pair[1].since(pair[0]) >= Millis::from_days(2).saturating_sub(Millis::from_mins(1)))
    );
    assert_eq!(world.feed().await.polling.why, Why::Ttl);
}

#[tokio::test(start_paused = true)]
async fn what_a_clock_that_was_years_ahead_has_written_keeps_no_feed_waiting() {
    let world = TestWorld::new();
    let then = world.now() + Millis::from_days(7_300);
    let hold = Hold { until: then + Millis::from_hours(72), reason: HoldReason::Forbidden, since: then };
    let state = HostState { not_before: then, hold: Some(hold), ..HostState::default() };
    world.with_host("example.org", state).await;
    world
        .with_feed(|feed| {
            (feed.polled_at, feed.not_before) = (then, then + Millis::from_days(7));
            feed.polling.retry_at = Some(then);
        })
        .await;
    world.web.keep(FEED, tagged("", "\"1\""));
    assert_eq!(world.program().desk.stats.ahead(&world.politeness.rules).await.unwrap(), 2);
    let began = world.now();
    let made = run(&world, Millis::from_days(5)).await;
    assert!(
        made.first().is_some_and(|at| *at >= began + Millis::from_hours(72)),
        "the hold must not become shorter: {made:?}"
    );
    assert!(made.len() > 1, "{made:?}");
    assert_eq!(world.program().desk.stats.ahead(&world.politeness.rules).await.unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn h10_a_304_with_a_longer_max_age_lengthens_the_interval_and_one_without_keeps_it() {
    let world = TestWorld::answering([tagged("", "\"1\"")]).await;
    let mut longer = status(304);
    longer.headers.cache_control = Some("max-age=259200".into());
    world.web.answer(FEED, Ok(longer));
    world.web.answer(FEED, Ok(status(304)));
    world.poll(0).await;
    world.next_poll().await;
    let feed = world.feed().await;
    assert_eq!((feed.interval, feed.polling.why), (Millis::from_days(3), Why::Fresh));
    assert!(feed.not_before >= world.now() + Millis::from_days(3) - Millis::from_secs(5));
    let (before, polled) = (version(&world).await, world.now());
    world.next_poll().await;
    assert!(world.now().since(polled) >= Millis::from_days(3).saturating_sub(Millis::from_mins(1)));
    assert_eq!(version(&world).await, before, "a quiet 304 is not written");
    assert_eq!(world.feed().await.interval, Millis::from_days(3));
}

#[tokio::test(start_paused = true)]
async fn h10_a_max_age_of_a_day_does_not_cost_a_second_day() {
    let world = TestWorld::of_feed().await;
    let mut reply = tagged("", "\"1\"");
    reply.headers.cache_control = Some("max-age=86400".into());
    world.web.answer(FEED, Ok(reply));
    world.poll(0).await;
    let made = run(&world, Millis::from_days(10)).await;
    assert!(made.len() >= 9, "{} polls in ten days", made.len());
    assert!(made.windows(2).all(|pair| pair[1].since(pair[0]) >= Millis::from_secs(86_400)), "{made:?}");
}

#[tokio::test(start_paused = true)]
async fn r26_beyond_the_cap_a_feed_is_polled_no_more_often_than_the_crawl_delay_says() {
    for (delay, interval, why) in [("172800", 48, Why::CrawlDelay), ("600", 8, Why::Usual), ("7200", 8, Why::Usual)] {
        let world = TestWorld::of_feed().await;
        world.web.serve(ROBOTS, "text/plain", format!("User-agent: *\nCrawl-delay: {delay}\n"));
        world.web.answer(FEED, Ok(tagged("", "\"1\"")));
        // The first poll calls robots.txt, and the second one, after the pause, calls the feed.
        world.poll(0).await;
        world.sleep(Millis::from_mins(11)).await;
        world.poll(0).await;
        let feed = world.feed().await;
        assert_eq!((feed.interval, feed.polling.why), (Millis::from_hours(interval), why), "{delay}");
    }
}

#[tokio::test(start_paused = true)]
async fn h08_retry_after_on_a_good_answer_is_waited_for() {
    let world = TestWorld::answering([tagged("", "\"1\"")]).await;
    let mut later = status(304);
    later.headers.retry_after = Some("172800".into());
    world.web.answer(FEED, Ok(later));
    world.poll(0).await;
    world.next_poll().await;
    let feed = world.feed().await;
    assert_eq!(feed.polling.why, Why::RetryAfter);
    assert!(feed.not_before >= world.now() + Millis::from_days(2) - Millis::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn f06_no_poll_falls_into_a_skipped_hour() {
    let world = TestWorld::of_feed().await;
    let hours: String = (0..24).filter(|h| *h != 5).map(|h| format!("<hour>{h}</hour>")).collect();
    world.web.answer(FEED, Ok(tagged(&format!("<skipHours>{hours}</skipHours>"), "\"1\"")));
    world.web.answer(FEED, Ok(status(304)));
    world.poll(0).await;
    let made = run(&world, Millis::from_days(5)).await;
    assert!(made.iter().all(|at| at.hour() == 5), "{made:?}");
    assert_eq!(made.len(), 4, "one poll a day from the next one on: {made:?}");
}

#[tokio::test(start_paused = true)]
async fn adaptive_polls_follow_the_history_to_once_an_hour_and_back_and_keep_the_floor() {
    let mut world = TestWorld::new();
    world.with_rules(|rules| rules.verify_every = Millis::ZERO);
    world.with_feed(|_| {}).await;
    let items: String = (0..20)
        .map(|n| {
            let at = format!("Fri, 20 Nov 2026 {:02}:30:00 GMT", 23 - n);
            format!("<item><link>https://example.org/{n}</link><pubDate>{at}</pubDate></item>")
        })
        .collect();
    world.web.answer(FEED, Ok(tagged(&items, "\"1\"")));
    world.web.answer(FEED, Ok(status(304)));
    world.poll(0).await;
    let feed = world.feed().await;
    assert_eq!((feed.interval, feed.polling.why, feed.polling.extra_slots), (Millis::from_hours(1), Why::History, 7));
    let rows = world.sources.list(None, 100).await.unwrap();
    assert_eq!(rows.iter().filter(|row| matches!(row, Source::Extra(_))).count(), 7);
    let made = run(&world, Millis::from_hours(4)).await;
    assert!((3..=4).contains(&made.len()), "{made:?}");
    let all = run(&world, Millis::from_days(40)).await;
    let floor = world.politeness.rules.poll_floor;
    assert!(made.iter().chain(&all).collect::<Vec<_>>().windows(2).all(|pair| pair[1].since(*pair[0]) >= floor));
    // There was no news for weeks, so polls become rarer.
    let feed = world.feed().await;
    assert_eq!((feed.interval, feed.polling.why), (Millis::from_days(1), Why::History));
    assert!(all.len() < 70, "{} polls in forty days of silence", all.len());
    assert_eq!(world.sources.list(None, 100).await.unwrap().len(), 8, "the rows for further slots stay");
}

/// Returns a feed whose entries have new ids at each poll, and new links, too, if `links_too`.
fn made_up(poll: u64, links_too: bool) -> Reply {
    let link = |n: u64| if links_too { format!("{poll}-{n}") } else { n.to_string() };
    let items: String = (0..3)
        .map(|n| format!("<item><guid>{poll}-{n}</guid><link>https://example.org/{}</link></item>", link(n)))
        .collect();
    tagged(&items, &format!("\"{poll}\""))
}

#[tokio::test(start_paused = true)]
async fn a_feed_that_makes_up_ids_at_each_poll_is_not_polled_more_often() {
    for links_too in [false, true] {
        let world = TestWorld::of_feed().await;
        for n in 0..3 {
            assert!(world.pages.insert(&accepted(&format!("https://example.org/{n}"))).await.unwrap());
        }
        for poll in 0..300 {
            world.web.answer(FEED, Ok(made_up(poll, links_too)));
        }
        world.poll(0).await;
        let made = run(&world, Millis::from_days(6)).await;
        // With links that nobody has seen, the feed looks like one that has news all the time.
        let most = if links_too { 6 * 24 } else { 6 * 3 };
        assert!(made.len() <= most, "{} polls with links made up: {links_too}", made.len());
        let floor = world.politeness.rules.poll_floor;
        assert!(made.windows(2).all(|pair| pair[1].since(pair[0]) >= floor), "{made:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn h07_a_poll_that_is_delivered_twice_calls_once() {
    let world = TestWorld::answering([tagged("<item><link>https://example.org/a</link></item>", "\"1\"")]).await;
    world.poll(0).await;
    world.web.keep(FEED, status(304));
    world.next_slot().await;
    assert_eq!(world.poll(0).await, Verdict::Done);
    let Verdict::Defer(until) = world.poll(0).await else { panic!("the lease must be in force") };
    world.sleep_until(until).await;
    // It may take a few turns until the lease has run out.
    while let Verdict::Defer(until) = world.poll(0).await {
        world.sleep_until(until).await;
    }
    assert_eq!(world.calls(CallKind::Feed).len(), 2);
    world.next_slot().await;
    assert_eq!(world.poll(0).await, Verdict::Done);
    assert_eq!(world.calls(CallKind::Feed).len(), 3, "the poll of the next slot must call");
}

#[tokio::test(start_paused = true)]
async fn h07_a_parked_poll_that_meets_the_one_of_its_slot_does_not_call_again() {
    for parked_first in [true, false] {
        let world = TestWorld::answering([tagged("<item><link>https://example.org/a</link></item>", "\"1\"")]).await;
        world.poll(0).await;
        world.web.keep(FEED, status(304));
        world.next_slot().await;
        // The host was unreachable before. The success must be recorded, so the lease is given back.
        let unreached = |state| (HostState { failures: 1, lease: None, ..state }, ());
        update_host(world.hosts.as_ref(), &host("example.org"), unreached).await.unwrap();
        // This is the state after a hold: the row says that a job is parked until this minute.
        world.change_feed(FEED, |feed| (feed.not_before, feed.polling.why) = (world.now(), Why::Held)).await;
        let calls = || world.calls(CallKind::Feed).len();
        assert_eq!(calls(), 1);
        for deferrals in if parked_first { [1, 0] } else { [0, 1] } {
            world.poll(deferrals).await;
            world.sleep(Millis::from_secs(3)).await;
        }
        assert_eq!(calls(), 2, "parked first: {parked_first}");
    }
}

#[tokio::test(start_paused = true)]
async fn f10_the_hub_of_a_feed_is_kept_with_it_and_forgotten_when_it_is_named_no_more() {
    let world = TestWorld::of_feed().await;
    let mut first = tagged("", "\"1\"");
    first.headers.links = vec!["<https://hub.example/>; rel=hub".into(), format!("<{FEED}>; rel=self")];
    world.web.answer(FEED, Ok(first));
    world.web.answer(FEED, Ok(status(304)));
    world.poll(0).await;
    let hub = Hub { url: "https://hub.example/".into(), topic: FEED.into() };
    world.next_poll().await;
    assert_eq!(world.feed().await.polling.hub, Some(hub), "a 304 need not repeat the hub");
    world.web.keep(FEED, text(rss("<item><link>https://example.org/a</link></item>")));
    world.next_poll().await;
    assert_eq!(world.feed().await.polling.hub, None);
    assert!(world.web.calls().iter().all(|call| call.url != "https://hub.example/"), "the hub must not be called");
}
