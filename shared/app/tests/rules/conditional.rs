//! Conditional requests: which validators are sent, and when 304s are no longer believed.

use crate::test_world::*;
use curlew_policy::polling::conditional;

const ITEM: &str = "<item><link>https://example.org/a</link></item>";
const OTHER: &str = "<item><link>https://example.org/b</link></item>";

/// Returns the number of polls so far that were unconditional.
fn unconditional(world: &TestWorld) -> usize {
    world.calls(CallKind::Feed).iter().filter(|call| call.validators.is_empty()).count()
}

#[tokio::test(start_paused = true)]
async fn h01_h02_h03_validators_go_out_as_they_came_and_a_304_brings_them_up_to_date() {
    let world = TestWorld::of_feed().await;
    let mut first = tagged(ITEM, "W/\"1\"");
    first.headers.validators.last_modified = Some("whenever".into());
    world.web.answer(FEED, Ok(first));
    let mut second = status(304);
    second.headers.validators.etag = Some("W/\"2\"".into());
    world.web.answer(FEED, Ok(second));
    assert_eq!(world.poll(0).await, Verdict::Done);
    assert_eq!(world.queued(QueueName::Fetch).await.len(), 1);
    world.sleep(Millis::from_hours(9)).await;
    assert_eq!(world.poll(0).await, Verdict::Done);
    let sent = &world.calls(CallKind::Feed)[1].validators;
    assert_eq!((sent.etag.as_deref(), sent.last_modified.as_deref()), (Some("W/\"1\""), Some("whenever")));
    let kept = world.feed().await.validators;
    assert_eq!((kept.etag.as_deref(), kept.last_modified.as_deref()), (Some("W/\"2\""), Some("whenever")));
    assert_eq!(world.queued(QueueName::Fetch).await.len(), 1, "a 304 sends no visits");
    world.sleep(Millis::from_mins(10)).await;
    assert!(matches!(world.poll(0).await, Verdict::Drop(_)), "H07: no second poll within the hour");
}

/// Validators are sent to the URL that gave them, and not to the target of a redirect.
#[tokio::test(start_paused = true)]
async fn validators_of_a_feed_are_sent_to_the_address_that_gave_them() {
    let world = TestWorld::of_feed().await;
    let home = "https://other.example/feed?sign=";
    world.web.answer(FEED, Ok(tagged(ITEM, "\"1\"")));
    for n in 0..2 {
        world.web.answer(FEED, moved(302, &format!("{home}{n}")));
        world.web.answer(&format!("{home}{n}"), Ok(tagged(OTHER, "\"1\"")));
    }
    for _ in 0..3 {
        world.poll(0).await;
        world.next_slot().await;
    }
    let calls = world.calls(CallKind::Feed);
    let sent: Vec<_> = calls.iter().map(|call| (call.url.as_str(), !call.validators.is_empty())).collect();
    let (first, second) = (format!("{home}0"), format!("{home}1"));
    assert_eq!(sent, [(FEED, false), (FEED, true), (&first, false), (FEED, false), (&second, true)]);
    assert_eq!(world.queued(QueueName::Fetch).await.len(), 2, "the entry of the new address must be read");
}

#[tokio::test(start_paused = true)]
async fn h03_validators_that_a_new_answer_does_not_have_are_forgotten() {
    let world = TestWorld::answering([tagged(ITEM, "\"1\""), text(rss(OTHER))]).await;
    world.poll(0).await;
    world.next_poll().await;
    let feed = world.feed().await;
    assert!(feed.validators.is_empty());
    assert_eq!((feed.interval, feed.polling.why), (world.politeness.rules.poll_interval_blind, Why::Blind));
}

#[tokio::test(start_paused = true)]
async fn h04_a_304_that_nobody_asked_for_is_a_fault_and_asked_for_once_more() {
    let world = TestWorld::answering([status(304)]).await;
    world.poll(0).await;
    let feed = world.feed().await;
    assert_eq!((feed.failures, feed.format.as_str()), (1, ""));
    assert!(feed.not_before >= world.now() + Millis::from_hours(24));
    world.days(1).await;
    assert_eq!(world.calls(CallKind::Feed).len(), 2);
    assert!(world.feed().await.not_before >= world.now() + world.politeness.rules.poll_cap);
}

#[tokio::test(start_paused = true)]
async fn h05_one_unconditional_request_as_long_as_checks_are_off_and_few_with_them() {
    for (checks, expected) in [(Millis::ZERO, 1), (Millis::from_days(7), 4)] {
        let mut world = TestWorld::new();
        world.with_rules(|rules| rules.verify_every = checks);
        world.with_feed(|_| {}).await;
        world.web.keep(FEED, tagged(ITEM, "\"1\""));
        world.poll(0).await;
        world.days(90).await;
        assert!(world.calls(CallKind::Feed).len() >= 270);
        assert_eq!(unconditional(&world), expected, "{checks:?}");
        assert_eq!(world.feed().await.failures, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn h04_a_server_that_says_304_for_ever_is_found_out_and_asked_unconditionally_from_then_on() {
    for etag in ["\"1\"", "\"2\""] {
        let world = TestWorld::answering([tagged(ITEM, "\"1\"")]).await;
        world.poll(0).await;
        // From now on the server has other content, with the same validators or with others.
        world.web.hide(FEED, tagged(OTHER, etag));
        world.days(7).await;
        assert_eq!((unconditional(&world), world.queued(QueueName::Fetch).await.len()), (1, 1));
        // The check finds the first news in eight days, so the feed is polled once a day from then on.
        world.days(4).await;
        let feed = world.feed().await;
        assert!(feed.polling.trust.distrusted, "{:?}", feed.polling.trust);
        assert_eq!((feed.interval, feed.polling.why), (world.politeness.rules.poll_interval_blind, Why::Blind));
        assert_eq!(world.queued(QueueName::Fetch).await.len(), 2, "the new entry is visited");
        let before = unconditional(&world);
        world.days(3).await;
        let polls = unconditional(&world) - before;
        assert!(polls == 3 || polls == 4, "one poll a day; the next day may have begun: {polls}");
    }
}

#[tokio::test(start_paused = true)]
async fn h04_a_check_that_finds_what_has_just_been_published_costs_a_whole_answer_and_no_trust() {
    let world = TestWorld::of_feed().await;
    world.web.keep(FEED, tagged(ITEM, "\"1\""));
    world.poll(0).await;
    world.next_slot().await;
    while !conditional::is_check_due(&world.feed().await, &world.politeness.rules, world.now()) {
        world.poll(0).await;
        world.next_slot().await;
    }
    world.web.keep(FEED, tagged(OTHER, "\"2\""));
    world.poll(0).await;
    let feed = world.feed().await;
    assert_eq!((feed.validators.etag.as_deref(), feed.polling.trust.doubts), (Some("\"1\""), 1));
    assert_eq!((unconditional(&world), world.queued(QueueName::Fetch).await.len()), (2, 2));
    // The next poll sends the outdated validators once more, and an honest server answers with the new document.
    world.next_poll().await;
    let feed = world.feed().await;
    assert_eq!((feed.validators.etag.as_deref(), feed.polling.trust.doubts), (Some("\"2\""), 0));
    assert_eq!((feed.interval, feed.polling.why), (Millis::from_days(1), Why::History), "news after eight days");
    world.days(6).await;
    assert_eq!((unconditional(&world), world.queued(QueueName::Fetch).await.len()), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn h06_what_is_asked_with_is_kept_with_the_row() {
    let world = TestWorld::answering([tagged(ITEM, "W/\"a \\\" b\"")]).await;
    world.poll(0).await;
    let row = Source::Feed(world.feed().await);
    let again: Source = serde_json::from_str(&serde_json::to_string(&row).unwrap()).unwrap();
    assert_eq!(again, row);
    // Another process uses the same rows.
    let mut other = TestWorld::new();
    (other.sources, other.ports.sources) = (world.sources.clone(), world.sources.clone());
    other.sleep(Millis::from_hours(9)).await;
    other.web.answer(FEED, Ok(status(304)));
    other.poll(0).await;
    assert_eq!(other.calls(CallKind::Feed)[0].validators.etag.as_deref(), Some("W/\"a \\\" b\""));
    assert_eq!(other.sources.get(row.key()).await.unwrap().unwrap().0.url(), FEED);
}

#[tokio::test(start_paused = true)]
async fn h01_a_server_that_knows_its_tag_in_another_form_is_asked_in_that_and_one_that_never_does_is_asked_less() {
    // These are WordPress behind a compressing proxy, Apache with a compressing module, and servers that ignore
    // validators.
    for (given, known) in
        [("W/\"x\"", Some("\"x\"")), ("\"x-gzip\"", Some("\"x-gzip\", \"x\"")), ("\"x\"", None), ("W/\"y\"", None)]
    {
        let world = TestWorld::of_feed().await;
        let known_by = Validators { etag: Some(known.unwrap_or("never").into()), last_modified: None };
        world.web.keep_as(FEED, tagged(ITEM, given), known_by);
        world.poll(0).await;
        world.next_slot().await;
        world.days(5).await;
        let sent: Vec<Option<String>> =
            world.calls(CallKind::Feed).into_iter().map(|call| call.validators.etag).collect();
        assert_eq!(sent[..2], [None, Some(given.to_owned())], "the tag is first sent as it came");
        let feed = world.feed().await;
        match known {
            Some(known) => {
                assert!(sent.len() > 12 && sent[2..].iter().all(|sent| sent.as_deref() == Some(known)), "{sent:?}");
                assert_eq!((feed.interval, feed.polling.trust.ignored), (world.politeness.rules.poll_interval, 1));
            }
            None => {
                assert!(sent.len() < 9, "{given}: {} whole answers in five days", sent.len());
                assert_eq!((feed.interval, feed.polling.why), (world.politeness.rules.poll_interval_blind, Why::Blind));
            }
        }
        assert_eq!(feed.validators.etag.as_deref(), Some(given));
        // The server is fixed: a 304 restores the usual interval, whatever the form of the validator.
        let last = sent.last().cloned().flatten();
        world.web.keep_as(FEED, tagged(ITEM, given), Validators { etag: last, last_modified: None });
        world.days(2).await;
        assert_eq!(world.feed().await.interval, world.politeness.rules.poll_interval, "{given}");
    }
}
