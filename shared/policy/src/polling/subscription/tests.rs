#![allow(clippy::unwrap_used, reason = "a test may panic")]
use super::*;
use curlew_model::{PollHints, Slot, SourceKey};

const HOUR: Millis = Millis::from_hours(1);
const DAY: Millis = Millis::from_days(1);

/// Returns the time some hours after a midnight that begins a cycle.
fn t(hours: u64) -> Timestamp {
    Timestamp::from_millis(1_800_057_600_000) + Millis::from_hours(hours)
}

fn feed() -> FeedSource {
    let key = SourceKey::new("0123456789abcdef0123456789abcdef").unwrap();
    let mut feed = FeedSource::new(key, Slot::from_hash(0), "https://example.org/feed");
    feed.interval = Rules::default().poll_interval;
    feed.polled_at = t(0);
    feed.polling.hub = Some(Hub { url: "https://hub.example/".into(), topic: "https://example.org/feed".into() });
    feed
}

fn question(mode: Mode, lease: Millis) -> Question<'static> {
    Question { mode, topic: "https://example.org/feed", lease: Some(lease) }
}

fn begun(feed: &FeedSource) -> Timestamp {
    feed.polling.subscription.unwrap().begun
}

/// Returns a feed whose hub was sent a subscription request at this hour.
fn asked(hours: u64) -> FeedSource {
    let mut feed = feed();
    let sent = sent(&feed, HubRequest::Ask, &Rules::default(), t(hours), 1).unwrap();
    feed.polling.subscription = Some(asking(sent, t(hours)));
    feed
}

fn living(hours: u64, lease: Millis) -> FeedSource {
    let mut feed = asked(hours);
    let granted = question(Mode::Subscribe, lease);
    match verified(&feed, begun(&feed), &granted, &Rules::default(), t(hours)) {
        HubReply::Yes(kept) => feed.polling.subscription = kept,
        other => unreachable!("it was pending: {other:?}"),
    }
    feed
}

#[test]
fn f11_a_challenge_is_answered_once_and_only_for_what_is_pending() {
    let rules = Rules::default();
    let feed = asked(1);
    let begun = begun(&feed);
    let subscribe = question(Mode::Subscribe, DAY);
    let answer = |feed: &FeedSource, begun, question: Question<'_>| verified(feed, begun, &question, &rules, t(2));
    assert!(matches!(answer(&feed, begun, subscribe), HubReply::Yes(Some(kept)) if kept.until == Some(t(26))));
    assert_eq!(answer(&feed, begun + Millis(1), subscribe), HubReply::No, "another callback");
    let other = Question { topic: "https://example.org/other", ..subscribe };
    assert_eq!(answer(&feed, begun, other), HubReply::No, "another topic");
    assert_eq!(answer(&feed, begun, question(Mode::Unsubscribe, DAY)), HubReply::No, "nobody ended it");
    assert_eq!(answer(&living(1, DAY), begun, subscribe), HubReply::No, "it was answered before");
    let mut elsewhere = feed.clone();
    elsewhere.polling.hub = Some(Hub { url: "https://other.example/".into(), topic: feed.url.clone() });
    assert_eq!(answer(&elsewhere, begun, subscribe), HubReply::No, "the feed names another hub by now");
    let gone = FeedSource { gone: true, ..feed.clone() };
    assert_eq!(answer(&gone, begun, subscribe), HubReply::No);
    assert_eq!(answer(&self::feed(), begun, subscribe), HubReply::No, "nothing was asked");
}

#[test]
fn f11_a_hub_that_says_no_or_nothing_is_asked_less_and_less_and_then_no_more() {
    let rules = Rules::default();
    let mut feed = feed();
    let mut now = t(0);
    let mut waits = vec![];
    while step(&feed, false, &rules, now) == HubRequest::Ask {
        let next = sent(&feed, HubRequest::Ask, &rules, now, 0).unwrap();
        waits.push(next.not_before.since(now).0 / HOUR.0);
        feed.polling.subscription = Some(asking(next, now));
        assert_eq!(step(&feed, false, &rules, now), HubRequest::Nothing);
        now = next.not_before;
    }
    assert_eq!(waits.len(), 6);
    for (wait, least) in waits.iter().zip([24, 48, 96, 192, 336, 336]) {
        assert!((least..=least * 11 / 10).contains(wait), "{waits:?}");
    }
    let mut denied = asked(1);
    let begun = begun(&denied);
    let HubReply::Yes(kept) = verified(&denied, begun, &question(Mode::Denied, DAY), &rules, t(1)) else {
        unreachable!("it was pending")
    };
    assert!(kept.is_some_and(|kept| kept.refusals == 1 && kept.pending.is_none()));
    denied.polling.subscription = kept;
    assert_eq!(step(&denied, false, &rules, t(2)), HubRequest::Nothing);
    assert_eq!(verified(&denied, begun, &question(Mode::Subscribe, DAY), &rules, t(2)), HubReply::No);
}

#[test]
fn f13_a_lease_is_renewed_under_its_callback_long_before_it_ends_and_a_new_one_has_its_own() {
    let rules = Rules::default();
    let feed = living(1, Millis::from_days(10));
    let known = feed.polling.subscription.unwrap();
    let (until, renew_at) = (known.until.unwrap(), known.renew_at.unwrap());
    assert!(until.since(renew_at) >= Millis::from_days(3) && renew_at >= t(1 + 5 * 24));
    assert_eq!(step(&feed, false, &rules, renew_at - Millis(1)), HubRequest::Nothing);
    assert_eq!(step(&feed, false, &rules, renew_at), HubRequest::Ask);
    assert_eq!(sent(&feed, HubRequest::Ask, &rules, renew_at, 1).unwrap().begun, known.begun);
    assert_eq!(sent(&feed, HubRequest::Ask, &rules, until, 1).unwrap().begun, until, "it had run out");
    let renewed = |n| living(n, Millis::from_days(10)).polling.subscription.unwrap().renew_at.unwrap();
    let renewals: Vec<Timestamp> = (0..20).map(|n| renewed(n) - Millis::from_hours(n)).collect();
    assert!(renewals.iter().any(|at| at.since(renewals[0]) > HOUR || renewals[0].since(*at) > HOUR), "jitter");
}

#[test]
fn f13_nobody_is_asked_without_tls_and_a_lease_of_hours_is_declined() {
    let rules = Rules::default();
    let mut plain = feed();
    plain.polling.hub.as_mut().unwrap().url = "http://hub.example/".into();
    assert_eq!(step(&plain, false, &rules, t(1)), HubRequest::Nothing);
    let own = Rules { websub_without_tls: true, ..Rules::default() };
    assert_eq!(step(&plain, false, &own, t(1)), HubRequest::Ask);
    assert_eq!(step(&feed(), false, &Rules { websub: false, ..Rules::default() }, t(1)), HubRequest::Nothing);
    assert_eq!(step(&FeedSource { failures: 1, ..feed() }, false, &rules, t(1)), HubRequest::Nothing);
    let feed = asked(1);
    let begun = begun(&feed);
    let short = verified(&feed, begun, &question(Mode::Subscribe, HOUR), &rules, t(1));
    assert!(matches!(short, HubReply::Declined(kept) if kept.refusals == 1 && kept.until.is_none()), "{short:?}");
    let century = verified(&feed, begun, &question(Mode::Subscribe, Millis::from_days(36_500)), &rules, t(1));
    assert!(matches!(century, HubReply::Yes(Some(kept)) if kept.until == Some(t(1) + Millis::from_days(30))));
}

#[test]
fn f13_a_subscription_ends_with_its_feed_or_its_site_s_block() {
    let rules = Rules::default();
    let mut feed = living(1, Millis::from_days(10));
    assert_eq!(step(&feed, true, &rules, t(2)), HubRequest::End);
    feed.gone = true;
    assert_eq!(step(&feed, false, &rules, t(2)), HubRequest::End);
    feed.polling.subscription = sent(&feed, HubRequest::End, &rules, t(2), 1);
    assert_eq!(step(&feed, false, &rules, t(2)), HubRequest::Nothing, "once is enough");
    let begun = begun(&feed);
    assert_eq!(news(&feed, begun, &rules, t(3)), News::Unknown);
    assert_eq!(verified(&feed, begun, &question(Mode::Unsubscribe, DAY), &rules, t(3)), HubReply::Yes(None));
    feed.gone = false;
    assert_eq!(step(&feed, false, &rules, t(24 * 20)), HubRequest::Ask, "once it is free again, it begins anew");
    let next = sent(&feed, HubRequest::Ask, &rules, t(24 * 20), 1).unwrap();
    assert!(next.begun != begun && !next.ending);
}

#[test]
fn f14_polls_are_few_while_a_lease_lives_and_as_ever_before_it_ends() {
    let rules = Rules::default();
    let feed = living(1, Millis::from_days(10));
    let until = feed.polling.subscription.unwrap().until.unwrap();
    assert!(slows(&feed, &rules, t(2)));
    assert!(!slows(&feed, &rules, until - DAY), "the next slow poll would come after its end");
    assert!(!slows(&self::feed(), &rules, t(2)));
    assert!(!slows(&feed, &Rules { websub: false, ..Rules::default() }, t(2)));
    let inputs = schedule::Inputs { conditional: true, pushed: true, ..schedule::Inputs::default() };
    let plan = schedule::plan(&inputs, &rules, t(2));
    assert_eq!((plan.interval, plan.why), (DAY, curlew_model::Why::Pushed));
    let hints = PollHints { ttl: Some(Millis::from_days(3)), ..PollHints::default() };
    let plan = schedule::plan(&schedule::Inputs { hints, ..inputs }, &rules, t(2));
    assert_eq!((plan.interval, plan.why), (Millis::from_days(3), curlew_model::Why::Ttl), "hints still lengthen");
}

#[test]
fn f14_news_send_one_poll_and_never_sooner_than_the_floor() {
    let rules = Rules::default();
    let mut feed = living(1, Millis::from_days(10));
    let begun = begun(&feed);
    feed.polled_at = t(2);
    let soon = Millis::from_mins(10);
    let News::Poll(at, kept) = news(&feed, begun, &rules, t(2) + soon) else { unreachable!("it has news") };
    assert_eq!(at, t(3), "an hour after the last poll");
    feed.polling.subscription = Some(kept);
    for minutes in [11, 30, 60, 119] {
        assert_eq!(news(&feed, begun, &rules, t(2) + Millis::from_mins(minutes)), News::Nothing);
    }
    assert!(matches!(news(&feed, begun, &rules, t(4)), News::Poll(at, _) if at == t(4)), "it came to nothing");
    assert_eq!(news(&feed, begun + Millis(1), &rules, t(4)), News::Unknown);
    assert_eq!(news(&feed, begun, &rules, t(24 * 11)), News::Unknown, "the lease is over");
    // The feed's slot was ten minutes ago, and a poll that found nothing is not recorded.
    feed.polling.subscription = Some(Subscription { early: None, ..kept });
    let at = news(&feed, begun, &rules, t(8) + soon);
    assert!(matches!(at, News::Poll(at, _) if at >= t(9)), "{at:?}");
    // The feed's own slot comes first.
    let late = t(15) + Millis::from_mins(59);
    let poll = News::Poll(late, Subscription { early: Some(late), ..kept });
    assert_eq!(news(&feed, begun, &rules, late), poll);
    feed.not_before = t(16) + soon;
    assert_eq!(news(&feed, begun, &rules, t(15)), News::Nothing, "the server asked for patience beyond its minute");
}
