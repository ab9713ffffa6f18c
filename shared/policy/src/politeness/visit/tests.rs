use super::*;
use crate::rules::{BUSY_RETRY, VISIT_REST};
use curlew_model::{Circuit, Hold, TokenBucket, UrlHold};
use proptest::prelude::*;

const URL: &str = "https://example.org/a";
const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn host(name: &str) -> HostKey {
    HostKey::new(name).unwrap_or_else(|why| panic!("{why}"))
}

fn target() -> CallTarget {
    CallTarget::new(URL, Role::Document)
}

fn attempt() -> Attempt<'static> {
    Attempt {
        key: Ok(host("example.org")),
        name: "example.org",
        excluded: None,
        permission: Some(Permission::Allowed),
        target: target(),
        has_lengthened: false,
        has_waited: false,
        has_confirmed: false,
    }
}

fn visit_with(state: HostState, length: Millis) -> VisitState {
    let called = admission::last_call(&state);
    let lease = Lease { owner: "visit".into(), until: NOW + length, token: 7 };
    let state = HostState { lease: Some(lease.clone()), last_token: 7, ..state };
    let grant = Grant {
        lease,
        state,
        opened: Millis::ZERO,
        at: NOW,
        length,
        look_every: LOOK_EVERY,
        used: Timestamp::MIN,
        called,
        repeats: false,
        poll: None,
    };
    VisitState::new(host("example.org"), grant)
}

fn visit(state: HostState) -> VisitState {
    visit_with(state, Rules::default().lease_length())
}

fn reply(status: u16) -> Answer<()> {
    Answer::Reply { reply: (), status, retry_after: None, asks_signature: false }
}

fn after(visit: &mut VisitState, answer: Answer<()>) -> Option<CallEnd<()>> {
    visit.after_call(target(), answer, Millis(9), &Rules::default(), NOW, 1)
}

fn hold(reason: HoldReason) -> Option<Hold> {
    Some(Hold { until: NOW + Millis(5), reason, since: NOW })
}

fn next(visit: &VisitState, attempt: &Attempt<'_>, lasted: Millis) -> Step<()> {
    visit.next(attempt, &Rules::default(), NOW + lasted, lasted)
}

#[test]
fn the_checks_before_a_call_stand_in_this_order() {
    let rules = Rules::default();
    let hold = Hold { until: NOW + Millis::from_hours(1), reason: HoldReason::TooManyRequests, since: NOW };
    let held =
        UrlHold { url: target().url, what: HoldReason::Forbidden, until: NOW + Millis::from_hours(2), before: 0 };
    let mut at_worst = visit(HostState {
        hold: Some(hold),
        url_holds: vec![held],
        not_before: NOW + Millis::from_secs(5),
        blocked: ["example.org".to_owned()].into(),
        ..HostState::default()
    });
    let rest = NOW + VISIT_REST;
    at_worst.ended_until = Some(rest);
    at_worst.guest_retry_at.insert(host("example.com"), NOW + Millis(9));
    let mut what =
        Attempt { key: Err("a private address".into()), excluded: Some("/a".into()), permission: None, ..attempt() };
    let refused = |why: Rejection| Step::End(CallEnd::Rejected(why));

    assert_eq!(next(&at_worst, &what, Millis::ZERO), refused(Rejection::Address("a private address".into())));
    what.key = Ok(host("example.com"));
    assert_eq!(next(&at_worst, &what, Millis::ZERO), refused(Rejection::Excluded("/a".into())));
    what.excluded = None;
    assert_eq!(next(&at_worst, &what, Millis::ZERO), Step::End(CallEnd::Elsewhere(NOW + Millis(9))));
    at_worst.guest_retry_at.clear();
    assert_eq!(next(&at_worst, &what, Millis::ZERO), Step::OpenGuest(host("example.com")));
    what.key = Ok(host("example.org"));
    assert_eq!(next(&at_worst, &what, Millis::ZERO), Step::AskRobots);
    what.permission = Some(Permission::Forbidden);
    assert_eq!(next(&at_worst, &what, Millis::ZERO), refused(Rejection::Robots));
    what.permission = Some(Permission::Doubted);
    assert_eq!(next(&at_worst, &what, Millis::ZERO), refused(Rejection::RobotsDoubted));
    what.permission = Some(Permission::Allowed);
    let held = CallEnd::Held(NOW + Millis::from_hours(1), HoldReason::TooManyRequests);
    assert_eq!(next(&at_worst, &what, Millis::ZERO), Step::End(held));
    at_worst.learned.hold = None;
    assert_eq!(next(&at_worst, &what, Millis::ZERO), Step::End(CallEnd::Later(rest)));
    at_worst.ended_until = None;
    assert_eq!(next(&at_worst, &what, Millis::ZERO), Step::End(CallEnd::Elsewhere(NOW + Millis::from_hours(2))));
    at_worst.learned.url_holds.clear();
    let over_slice = rules.slice + Millis(1);
    assert_eq!(next(&at_worst, &what, over_slice), Step::End(CallEnd::Later(NOW + over_slice)));
    assert_eq!(next(&at_worst, &what, Millis::ZERO), Step::Wait(Millis::from_secs(5)));
    what.has_waited = true;
    let long_ago = LOOK_EVERY + Millis(1);
    assert_eq!(next(&at_worst, &what, long_ago), Step::Confirm);
    assert_eq!(next(&at_worst, &what, LOOK_EVERY), refused(Rejection::Blocked), "it has just looked");
    what.has_confirmed = true;
    assert_eq!(next(&at_worst, &what, Millis::from_secs(5)), refused(Rejection::Blocked));
    at_worst.learned.blocked.clear();
    let late = rules.lease_length();
    assert_eq!(next(&at_worst, &what, late), Step::End(CallEnd::Later(NOW + late)));
    assert_eq!(next(&at_worst, &what, Millis::from_secs(5)), Step::Call);
}

#[test]
fn a_brief_lease_is_lengthened_once_if_the_call_would_outlast_it() {
    let rules = Rules::default();
    let mut brief = visit_with(HostState::default(), rules.call_time);
    assert_eq!(next(&brief, &attempt(), Millis(1)), Step::Lengthen);
    let asked = Attempt { has_lengthened: true, ..attempt() };
    assert_eq!(next(&brief, &asked, Millis(1)), Step::End(CallEnd::Later(NOW + Millis(1))), "the lease was lost");
    brief.lengthened(NOW + rules.lease_length(), &rules);
    assert_eq!(brief.grant.length, rules.lease_length());
    assert_eq!(next(&brief, &asked, Millis(1)), Step::Call);
}

/// A lease ends with the hour on the host, and a visit does not wait for a call that would outlast it.
#[test]
fn a_call_that_would_outlast_a_lease_which_cannot_be_lengthened_is_left_to_later() {
    let rules = Rules::default();
    let pause = Millis::from_secs(30);
    let cut = visit_with(HostState { not_before: NOW + pause, ..HostState::default() }, Millis::from_secs(50));
    let asked = Attempt { has_lengthened: true, ..attempt() };
    assert_eq!(next(&cut, &asked, Millis::ZERO), Step::End(CallEnd::Later(NOW + pause)));
    let room = visit_with(HostState { not_before: NOW + pause, ..HostState::default() }, pause + rules.call_time);
    assert_eq!(next(&room, &asked, Millis::ZERO), Step::Wait(pause));
}

#[test]
fn a_visit_that_lost_its_lease_or_whose_host_is_held_meanwhile_makes_no_call() {
    let mut mine = visit(HostState::default());
    let latest = mine.grant.state.clone();
    let soon = NOW + Millis(5);
    let held = HostState { hold: hold(HoldReason::Network), ..latest.clone() };
    let rests = HostState { hold: hold(HoldReason::Rest), ..latest.clone() };
    let lost = HostState { lease: None, ..latest.clone() };
    let blocked = HostState { blocked: ["example.org".to_owned()].into(), ..latest.clone() };
    for (name, latest, now, end) in [
        ("as it was", latest, NOW, None),
        ("lost", lost, NOW, Some(CallEnd::<()>::Later(NOW + BUSY_RETRY))),
        ("held", held.clone(), NOW, Some(CallEnd::Held(soon, HoldReason::Network))),
        ("the hold is over", held, soon, None),
        ("rests", rests, NOW, Some(CallEnd::Later(soon))),
        ("blocked", blocked, NOW, None),
    ] {
        assert_eq!(mine.confirm(&latest, now), end, "{name}");
    }
    assert_eq!(next(&mine, &attempt(), Millis::ZERO), Step::End(CallEnd::Rejected(Rejection::Blocked)));
}

#[test]
fn an_answer_that_is_evidence_about_its_url_alone_ends_the_visit() {
    let rest = NOW + CLOCK_STEP + VISIT_REST;
    for (status, ends) in [(200, false), (404, false), (403, true), (500, true)] {
        let mut visit = visit(HostState::default());
        assert_eq!(after(&mut visit, reply(status)), Some(CallEnd::Reply(())));
        let rests = visit.learned.hold.as_ref().map(|hold| (hold.until, hold.reason));
        assert_eq!(rests, ends.then_some((rest, HoldReason::Rest)), "{status}");
        let after = next(&visit, &Attempt { target: CallTarget { url: 9, ..target() }, ..attempt() }, Millis::ZERO);
        assert_eq!(after == Step::End(CallEnd::Later(rest)), ends, "{status}: {after:?}");
    }
    // A failing robots.txt ends this visit only.
    let mut by_robots = visit(HostState::default());
    let robots = CallTarget { role: Role::Robots, ..target() };
    let end = by_robots.after_call(robots, reply(500), Millis(9), &Rules::default(), NOW, 1);
    assert_eq!(end, Some(CallEnd::Reply(())));
    assert!(by_robots.learned.hold.is_none() && by_robots.ended_until.is_some());
    let mut visit = visit(HostState::default());
    let end = after(&mut visit, reply(429)).expect("the call has ended");
    assert!(matches!(end, CallEnd::Held(_, HoldReason::TooManyRequests)), "{end:?}");
    assert_eq!(next(&visit, &attempt(), Millis::ZERO), Step::End(end));
}

#[test]
fn a_host_that_asks_for_a_signature_is_called_again_signed_once() {
    let asks = |status, retry_after| Answer::Reply { reply: (), status, retry_after, asks_signature: true };
    for status in [401, 403] {
        let mut visit = visit(HostState { circuit: Circuit::Probe, holds_in_a_row: 1, ..HostState::default() });
        assert_eq!(after(&mut visit, asks(status, None)), None);
        assert!(visit.learned.signs && visit.learned.hold.is_none() && visit.learned.url_holds.is_empty());
        assert_eq!((visit.learned.circuit, visit.calls), (Circuit::Probe, 1), "it counts, and decides nothing");
        assert!(matches!(next(&visit, &attempt(), Millis::ZERO), Step::Wait(_)), "after the pause");
        assert!(after(&mut visit, asks(status, None)).is_some(), "never a third time, whatever it asks");
        assert_eq!(visit.learned.hold.is_some(), status == 403, "a probe that is refused opens the circuit again");
    }
    for (answer, signs) in [
        (asks(200, None), false),
        (asks(404, None), false),
        (asks(429, None), true),
        (asks(403, Some(NOW)), true),
        (reply(403), false),
    ] {
        let mut visit = visit(HostState::default());
        assert!(after(&mut visit, answer.clone()).is_some(), "{answer:?}");
        assert_eq!(visit.learned.signs, signs, "{answer:?}");
    }
}

#[test]
fn our_own_outage_is_nobodys_fault() {
    let mut visit = visit(HostState::default());
    let end = after(&mut visit, Answer::Unreached { is_local: true });
    assert!(matches!(end, Some(CallEnd::Later(_))), "{end:?}");
    assert_eq!((visit.calls, visit.learned.failures), (0, 0));
}

#[test]
fn trouble_with_a_guest_host_is_no_reason_to_leave_this_one() {
    let mut mine = visit(HostState::default());
    let mut guest = VisitState { host: host("example.com"), calls: 2, ..visit(HostState::default()) };
    let until = NOW + Millis::from_hours(1);
    let held = CallEnd::<()>::Held(until, HoldReason::Forbidden);
    assert_eq!(mine.after_guest(&guest, held), CallEnd::Elsewhere(until));
    assert_eq!(mine.after_guest(&guest, CallEnd::<()>::Later(until)), CallEnd::Later(until));
    guest.ended_until = Some(until);
    assert_eq!(mine.after_guest(&guest, CallEnd::<()>::Later(until)), CallEnd::Elsewhere(until));
    assert_eq!(mine.calls, 6);
    let there = Attempt { key: Ok(host("example.com")), ..attempt() };
    assert_eq!(next(&mine, &there, Millis::ZERO), Step::End(CallEnd::Elsewhere(until)));
}

#[test]
fn a_crawl_delay_that_each_visit_learns_anew_counts_from_the_last_call_and_not_from_the_visit() {
    let (rules, delay) = (Rules::default(), Millis::from_secs(45));
    let bucket = |ago| Some(TokenBucket { milli_tokens: 5_000, at: NOW - ago });
    for (ago, passes) in [(Millis::from_secs(46), true), (Millis::from_secs(1), false)] {
        let mut visit = visit(HostState { bucket: bucket(ago), crawl_delay: delay, ..HostState::default() });
        // The first of the host key's two origins states no Crawl-delay.
        visit.learn_crawl_delay(None, &rules);
        assert_eq!(visit.learned.crawl_delay, Millis::ZERO);
        visit.learn_crawl_delay(Some(delay), &rules);
        assert_eq!(visit.next_call_at(&rules, NOW) <= NOW, passes, "{ago:?}");
    }
    let mut first = visit(HostState::default());
    first.learn_crawl_delay(Some(delay), &rules);
    assert!(first.next_call_at(&rules, NOW) <= NOW, "nobody has called");
    let mut called = visit(HostState::default());
    assert_eq!(after(&mut called, reply(200)), Some(CallEnd::Reply(())));
    called.learn_crawl_delay(Some(delay), &rules);
    assert!(called.learned.not_before >= NOW + delay);
}

proptest! {
    /// Whatever the order of events, a call takes place only if every rule allows it.
    #[test]
    fn a_call_has_passed_every_check(
        (pause, lasted, hold_minutes, hold) in (0..9_000_u64, 0..200_000_u64, 0..3_u64, any::<bool>()),
        (is_blocked, is_over, is_brief) in (any::<bool>(), any::<bool>(), any::<bool>()),
        (has_waited, has_confirmed, has_lengthened) in (any::<bool>(), any::<bool>(), any::<bool>()),
        permission in prop::option::of(prop::sample::select(vec![Permission::Allowed, Permission::Forbidden, Permission::Doubted])),
    ) {
        let (rules, lasted) = (Rules::default(), Millis(lasted));
        let now = NOW + lasted;
        let length = if is_brief { rules.brief_length() } else { rules.lease_length() };
        let until = now + Millis::from_mins(hold_minutes);
        let held = UrlHold { url: target().url, what: HoldReason::Forbidden, until, before: 0 };
        let mut visit = visit_with(HostState {
            not_before: now + Millis(pause),
            url_holds: vec![held],
            hold: hold.then_some(Hold { until: now + Millis(5), reason: HoldReason::Network, since: NOW }),
            blocked: is_blocked.then(|| "example.org".to_owned()).into_iter().collect(),
            ..HostState::default()
        }, length);
        visit.ended_until = is_over.then_some(now + VISIT_REST);
        let attempt = Attempt { permission, has_waited, has_confirmed, has_lengthened, ..attempt() };
        if visit.next::<()>(&attempt, &rules, now, lasted) == Step::Call {
            prop_assert!(permission == Some(Permission::Allowed) && !hold && !is_blocked && !is_over);
            prop_assert!(has_waited || (pause == 0 && until <= now));
            prop_assert!(has_confirmed || lasted <= LOOK_EVERY);
            prop_assert!(lasted + rules.call_time <= length);
        }
    }
}
