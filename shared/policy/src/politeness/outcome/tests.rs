//! Tests of settling.
use crate::rules::{BROKEN_LIMIT, CUT_LIMIT, NETWORK_BACKOFF, VISIT_REST};

use super::*;
use proptest::prelude::*;

#[test]
fn a_missing_home_page_rests_the_host_key_for_a_day() {
    let rules = Rules::default();
    let now = Timestamp::from_millis(1_000_000);
    let held = hold_not_found(HostState::default(), &rules, now, 7);
    let hold = held.hold.clone().unwrap_or_else(|| panic!("{held:?}"));
    assert_eq!(hold.reason, HoldReason::NotFound);
    assert!(hold.until >= now + rules.hold_not_found && hold.until <= now + rules.hold_not_found.saturating_mul(2));
    let longer = Hold { until: now + Millis::from_days(3), reason: HoldReason::Forbidden, since: now };
    let state = HostState { hold: Some(longer.clone()), ..HostState::default() };
    assert_eq!(hold_not_found(state, &rules, now, 7).hold, Some(longer));
}

const ROBOTS: CallTarget = CallTarget { url: 0, role: Role::Robots };

fn none() -> HostState {
    HostState::default()
}

fn at(ms: u64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000) + Millis(ms)
}

fn hours(n: u64) -> u64 {
    Millis::from_hours(n).0
}

fn page(url: u32) -> CallTarget {
    CallTarget { url, role: Role::Document }
}

fn answered(status: u16) -> Outcome {
    Outcome::Answered { status, retry_after: None }
}

/// Applies a sequence of calls to a state, each as the hold of the one before has ended.
fn after(mut state: HostState, calls: &[(CallTarget, Outcome)]) -> HostState {
    for (n, (asked, outcome)) in calls.iter().enumerate() {
        state = record_outcome(state, &Rules::default(), *asked, *outcome, Millis(9), at(n as u64 * 1_000), 7);
    }
    state
}

/// Returns the reason of a hold that is more than a rest.
fn held(state: &HostState) -> Option<HoldReason> {
    state.hold.as_ref().map(|hold| hold.reason).filter(|reason| *reason != HoldReason::Rest)
}

#[test]
fn after_one_refusal_or_server_error_the_host_key_rests_for_an_hour_and_nothing_is_held_against_it() {
    let rules = Rules::default();
    let of = |status, role| {
        let asked = CallTarget { url: 1, role };
        record_outcome(none(), &rules, asked, answered(status).of(role), Millis(9), at(0), 7)
    };
    let rest = Hold { until: at(0) + VISIT_REST, reason: HoldReason::Rest, since: at(0) };
    for status in [202, 402, 403, 451, 500, 502, 504, 599] {
        for role in [Role::Document, Role::Image] {
            let state = of(status, role);
            assert_eq!(state.hold, Some(rest.clone()), "{status} {role:?}");
            assert_eq!((state.circuit, state.holds_in_a_row, state.failures), (Circuit::Closed, 0, 0));
            assert!(url_held(&state, CallTarget { url: 1, role }, at(hours(40))).is_some());
        }
    }
    for status in [200, 301, 304, 400, 401, 404, 410] {
        assert_eq!(of(status, Role::Document).hold, None, "{status}");
    }
    assert_eq!(of(403, Role::Hub).hold, Some(rest.clone()));
    // Files of rules have rules of their own, consent of a hub is none, and a receiver has asked for the call.
    for (status, role) in [(403, Role::Robots), (500, Role::Robots), (202, Role::Hub), (500, Role::Receiver)] {
        assert_eq!(of(status, role).hold, None, "{status} {role:?}");
    }
    // While nothing but images is refused the host rests each time; a second document is taken for the host's word.
    let (image, shown) = (CallTarget { url: 2, role: Role::Image }, CallTarget { url: 3, role: Role::Image });
    let images = after(none(), &[(image, answered(403)), (shown, answered(403))]);
    assert_eq!(images.hold.map(|hold| (hold.reason, hold.until)), Some((HoldReason::Rest, at(1_000) + VISIT_REST)));
    let second = after(none(), &[(page(1), answered(500)), (page(2), answered(500))]);
    assert_eq!((held(&second), second.circuit), (Some(HoldReason::ServerError), Circuit::Probe));
}

#[test]
fn h09_a_429_holds_the_whole_host_for_three_days_and_twice_as_long_if_it_goes_on() {
    let rules = Rules::default();
    let state = record_outcome(none(), &rules, page(1), answered(429), Millis(9), at(0), 1);
    let hold = state.hold.clone().unwrap_or_else(|| panic!("no hold"));
    assert_eq!(hold.reason, HoldReason::TooManyRequests);
    assert!(hold.until >= at(hours(72)) && hold.until <= at(hours(80)));
    // Another URL of the same host, once the hold is over.
    let again = record_outcome(state, &rules, page(2), answered(429), Millis(9), hold.until, 2);
    let next = again.hold.unwrap_or_else(|| panic!("no hold"));
    assert!(next.until.since(hold.until) >= Millis::from_hours(144));
}

#[test]
fn h18_holds_double_up_to_their_cap() {
    let rules = Rules::default();
    for status in [429, 503] {
        let mut state = none();
        let mut longest = Millis::ZERO;
        for n in 0..40 {
            state = record_outcome(state, &rules, page(1), answered(status), Millis(9), at(n), n);
            let length = state.hold.as_ref().map_or(Millis::ZERO, |hold| hold.until.since(at(n)));
            assert!(length >= longest && length <= rules.hold_cap, "{n}: {length:?}");
            // The tenth that chance adds is no doubling.
            longest = Millis(length.0 / 11 * 10);
            state.hold = None;
        }
        assert!(longest.0 > Millis::from_days(12).0);
    }
}

#[test]
fn one_url_that_is_forbidden_does_not_speak_for_its_host_and_two_do() {
    let one = after(none(), &[(page(1), answered(403)); 5]);
    assert_eq!((held(&one), one.url_holds.len(), one.circuit), (None, 1, Circuit::Closed));
    // Others that work are no proof that the refusal was not meant.
    let two = after(none(), &[(page(1), answered(403)), (page(3), answered(200)), (page(2), answered(403))]);
    assert_eq!(held(&two), Some(HoldReason::Forbidden));
    assert!(two.hold.is_some_and(|hold| hold.until >= at(hours(72))));
    // But the URL itself is.
    let well = after(none(), &[(page(1), answered(403)), (page(1), answered(200)), (page(2), answered(403))]);
    assert_eq!(held(&well), None);
    // A hold that is over does not count.
    let first = after(none(), &[(page(1), answered(403))]);
    let long_ago = record_outcome(first, &Rules::default(), page(2), answered(403), Millis(9), at(hours(80)), 1);
    assert_eq!(held(&long_ago), None);
}

#[test]
fn answers_402_and_451_refuse_as_403_does() {
    for status in [402, 451] {
        let one = after(none(), &[(page(1), answered(status)); 5]);
        assert_eq!((held(&one), one.url_holds.len()), (None, 1), "{status}");
        let two = after(none(), &[(page(1), answered(status)), (page(3), answered(200)), (page(2), answered(403))]);
        assert_eq!(held(&two), Some(HoldReason::Forbidden), "{status}");
        assert!(two.hold.is_some_and(|hold| hold.until >= at(hours(72))), "{status}");
    }
}

#[test]
fn one_url_with_a_server_error_does_not_speak_for_its_host_but_503_does() {
    assert_eq!(held(&after(none(), &[(page(1), answered(500)); 9])), None);
    let two = after(none(), &[(page(1), answered(500)), (page(2), answered(502))]);
    assert_eq!(held(&two), Some(HoldReason::ServerError));
    assert!(two.hold.is_some_and(|hold| hold.until >= at(hours(48))));
    let mixed = after(none(), &[(page(1), answered(500)), (page(2), answered(403))]);
    assert_eq!(held(&mixed), None, "each for itself");
    assert_eq!(held(&after(none(), &[(page(1), answered(503))])), Some(HoldReason::ServerError));
}

#[test]
fn a_page_that_is_always_cut_short_never_holds_its_host() {
    let cut = [(page(1), Outcome::Cut); 40];
    assert_eq!(held(&after(none(), &cut)), None);
    assert_eq!(held(&after(none(), &[(page(1), Outcome::Broken); 40])), None);
    // Three URLs with nothing good in between are the host's trouble.
    let three = [(page(1), Outcome::Cut), (page(2), Outcome::Cut), (page(3), Outcome::Cut)];
    assert_eq!(held(&after(none(), &three)), Some(HoldReason::Network));
    let good = [(page(1), Outcome::Cut), (page(2), Outcome::Cut), (page(9), answered(200)), (page(3), Outcome::Cut)];
    assert_eq!(held(&after(none(), &good)), None);
    let robots = [(page(1), Outcome::Cut), (page(2), Outcome::Cut), (ROBOTS, answered(200)), (page(3), Outcome::Cut)];
    assert_eq!(held(&after(none(), &robots)), Some(HoldReason::Network), "robots.txt forgives nothing");
}

#[test]
fn when_a_hold_is_over_what_brought_it_is_not_what_is_tried_first() {
    for (bad, limit) in [(Outcome::Cut, CUT_LIMIT), (Outcome::Broken, BROKEN_LIMIT)] {
        let calls: Vec<_> = (1..=limit).map(|url| (page(url), bad)).collect();
        let state = after(none(), &calls);
        let over = state.hold.as_ref().map_or(at(0), |hold| hold.until);
        for url in 1..=limit {
            let until = url_held(&state, page(url), over).unwrap_or_else(|| panic!("{bad:?}: {url} may be the probe"));
            assert!(until.since(over) >= VISIT_REST && url_held(&state, page(url), until).is_none(), "{bad:?}");
        }
        assert_eq!(url_held(&state, page(9), over), None);
    }
    // The feed is well, and what it is the next to find broken does not hold it again.
    let three = after(none(), &[(page(1), Outcome::Cut), (page(2), Outcome::Cut), (page(3), Outcome::Cut)]);
    let later = HostState { hold: None, ..three };
    let again = after(later, &[(page(9), answered(304)), (page(1), Outcome::Cut), (page(2), Outcome::Cut)]);
    assert_eq!((held(&again), again.circuit), (None, Circuit::Closed));
}

#[test]
fn a_deck_of_bombs_ends_in_a_hold() {
    let rules = Rules::default();
    let mut state = none();
    for n in 1..=BROKEN_LIMIT {
        state = record_outcome(state, &rules, page(n), Outcome::Broken, Millis(1), at(0), 1);
        assert_eq!(held(&state), (n == BROKEN_LIMIT).then_some(HoldReason::Hostile));
    }
}

#[test]
fn the_circuit_opens_after_three_failures_in_a_row_and_one_probe_decides() {
    let rules = Rules::default();
    let fail = |state, now| record_outcome(state, &rules, page(1), Outcome::Network, Millis(9), at(now), 1);
    let one = fail(none(), 0);
    assert_eq!((held(&one), one.failures, one.circuit), (None, 1, Circuit::Closed));
    assert!(one.not_before >= at(0) + NETWORK_BACKOFF, "but it is left alone for a short while");
    let two = fail(one, hours(1));
    assert!(held(&two).is_none() && two.not_before >= at(hours(1)) + NETWORK_BACKOFF.saturating_mul(4));
    let three = fail(two.clone(), hours(2));
    assert_eq!((held(&three), three.circuit), (Some(HoldReason::Network), Circuit::Probe));
    let until = three.hold.as_ref().map_or(at(0), |hold| hold.until);
    assert!(until >= at(hours(26)) && until <= at(hours(29)));
    // When the hold is over, one failure is enough to open it again, for twice as long.
    let probed = fail(HostState { hold: None, ..three.clone() }, hours(40));
    assert!(probed.hold.is_some_and(|hold| hold.until >= at(hours(88))));
    // And one success closes it; that of robots.txt, too, since the host is reached.
    for asked in [page(5), ROBOTS] {
        let well = record_outcome(three.clone(), &rules, asked, answered(200), Millis(9), at(hours(40)), 1);
        assert_eq!((well.failures, well.holds_in_a_row, well.circuit), (0, 0, Circuit::Closed));
    }
    // Not in a row.
    let between = record_outcome(two, &rules, page(5), answered(404), Millis(9), at(hours(2)), 1);
    assert_eq!(held(&fail(between, hours(3))), None);
}

#[test]
fn our_own_outage_is_nobody_s_fault() {
    let rules = Rules::default();
    let state = record_outcome(none(), &rules, page(1), Outcome::Network, Millis(40), at(0), 1);
    let mut same = state.clone();
    for n in 0..50 {
        same = record_outcome(same, &rules, page(n), Outcome::Outage, Millis(10_000), at(hours(1)), 1);
    }
    assert_eq!((same.failures, held(&same), same.circuit), (1, None, Circuit::Closed));
    assert_eq!(same.last_response, state.last_response, "nor is the time that it took");
    assert!(same.not_before >= at(hours(1)) + rules.min_pause, "the pause is kept all the same");
}

#[test]
fn robots_txt_that_works_does_not_shorten_the_next_hold_of_a_host_that_refuses_all_else() {
    let state = after(none(), &[(page(1), answered(403)), (page(2), answered(403)), (ROBOTS, answered(200))]);
    assert_eq!((state.holds_in_a_row, state.circuit), (1, Circuit::Probe));
    let again = record_outcome(
        HostState { hold: None, ..state },
        &Rules::default(),
        page(3),
        answered(403),
        Millis(9),
        at(0),
        1,
    );
    assert!(again.hold.is_some_and(|hold| hold.until >= at(hours(144))), "one refusal is enough, twice as long");
}

#[test]
fn a_good_answer_forgives() {
    let state = after(none(), &[(page(1), answered(503)), (page(1), answered(200))]);
    assert_eq!((state.failures, state.holds_in_a_row, state.circuit), (0, 0, Circuit::Closed));
}

#[test]
fn h08_t17_retry_after_lengthens_a_hold_and_is_capped() {
    let rules =
        Rules { hold_server_error: Millis::from_mins(1), hold_refused: Millis::from_mins(1), ..Rules::default() };
    for status in [429, 503] {
        let hold = |retry: Millis| {
            let outcome = Outcome::Answered { status, retry_after: Some(at(0) + retry) };
            let state = record_outcome(none(), &rules, page(1), outcome, Millis(1), at(0), 3);
            state.hold.map_or(Millis::ZERO, |hold| hold.until.since(at(0)))
        };
        assert!(hold(Millis::from_hours(2)) >= Millis::from_hours(2));
        assert!(hold(Millis::from_secs(1)) >= Millis::from_mins(1), "it never shortens");
        assert!(hold(Millis::from_days(4_000)) >= rules.retry_after_cap);
        assert!(hold(Millis::from_days(4_000)) <= Millis(rules.retry_after_cap.0 / 10 * 11));
    }
    let past = Outcome::Answered { status: 503, retry_after: Some(at(0) - Millis::from_days(9)) };
    let state = record_outcome(none(), &rules, page(1), past, Millis(1), at(0), 3);
    assert!(state.hold.is_some_and(|hold| hold.until >= at(0) + rules.hold_server_error));
    // With a redirect it is a pause (RFC 9110 §10.2.3).
    let moved = Outcome::Answered { status: 302, retry_after: Some(at(90_000)) };
    assert!(record_outcome(none(), &rules, page(1), moved, Millis(1), at(0), 3).not_before >= at(90_000));
}

#[test]
fn a_url_in_trouble_is_left_alone_itself_and_for_longer_each_time() {
    let rules = Rules::default();
    let mut state = none();
    let mut now = at(0);
    for days in [3, 6, 12, 14, 14] {
        assert_eq!(url_held(&state, page(1), now), None);
        state = record_outcome(state, &rules, page(1), answered(403), Millis(9), now, 1);
        let until = url_held(&state, page(1), now).unwrap_or_else(|| panic!("{days}: not held"));
        assert!(until.since(now) >= Millis::from_days(days) && until.since(now) <= rules.hold_cap, "{days}");
        assert_eq!(url_held(&state, page(2), now), None);
        assert_eq!(url_held(&state, CallTarget { role: Role::Robots, ..page(1) }, now), None);
        now = until;
    }
    assert_eq!(held(&state), None);
    let asked = Outcome::Answered { status: 500, retry_after: Some(now + Millis::from_hours(100)) };
    let state = record_outcome(none(), &rules, page(1), asked, Millis(9), now, 1);
    assert!(url_held(&state, page(1), now) >= Some(now + Millis::from_hours(100)));
}

#[test]
fn a_url_alone_is_held_as_long_as_its_host_would_be() {
    let rules = Rules::default();
    let until = |outcome, in_a_row| url_held_until(&rules, outcome, in_a_row, at(0), 5);
    assert_eq!(until(answered(200), 0), None);
    assert_eq!(until(Outcome::Network, 0), None, "that is the host's");
    for (outcome, least) in [(answered(403), 72), (answered(500), 48), (Outcome::Cut, 24), (Outcome::Broken, 24)] {
        for (in_a_row, times) in [(0, 1), (1, 2), (30, 1)] {
            let least = Millis(hours(least)).saturating_mul(times).min(rules.hold_cap);
            assert!(until(outcome, in_a_row).is_some_and(|until| until >= at(0) + least), "{outcome:?} {in_a_row}");
            assert!(until(outcome, in_a_row).is_some_and(|until| until <= at(0) + rules.hold_cap));
        }
    }
    let asked = Outcome::Answered { status: 500, retry_after: Some(at(hours(100))) };
    assert!(until(asked, 0).is_some_and(|until| until >= at(hours(100))));
}

proptest! {
    #[test]
    fn whatever_comes_the_state_stays_small_and_holds_stay_within_their_cap(
        calls in prop::collection::vec((0u32..12, 0u8..9, any::<bool>(), any::<u64>()), 1..60),
    ) {
        let rules = Rules::default();
        let mut state = none();
        for (n, (url, what, is_robots, seed)) in calls.into_iter().enumerate() {
            let outcome = match what {
                0 => answered(200), 1 => answered(403), 2 => answered(429), 3 => answered(500),
                4 => Outcome::Network, 5 => Outcome::Cut, 6 => Outcome::Broken, 7 => Outcome::Challenge("Anubis"), _ => Outcome::Outage,
            };
            let now = at(n as u64 * 60_000);
            let role = if is_robots { Role::Robots } else { Role::Document };
            state = record_outcome(state, &rules, CallTarget { url, role }, outcome, Millis(5), now, seed);
            prop_assert!(state.url_holds.len() <= MAX_URL_HOLDS);
            prop_assert!(state.not_before >= now + rules.min_pause);
            if let Some(hold) = state.hold.take() {
                if hold.reason == HoldReason::Rest {
                    prop_assert_eq!(hold.until, now + VISIT_REST);
                    continue;
                }
                prop_assert!(hold.until.since(hold.since) <= rules.hold_cap);
                prop_assert!(hold.until.since(hold.since) >= Millis::from_hours(24));
                prop_assert_eq!(state.circuit, Circuit::Probe);
            }
        }
    }
}

#[test]
fn a_hold_of_the_host_does_not_shorten_what_one_url_is_left_alone_for() {
    let rules = Rules::default();
    // Refused for the third time in a row, one page is left alone for twelve days.
    let mut state = none();
    for day in [0, 4, 11] {
        state = record_outcome(state, &rules, page(1), answered(403), Millis(9), at(hours(24 * day)), 7);
    }
    let until = url_held(&state, page(1), at(hours(24 * 12)));
    assert!(until.is_some_and(|until| until > at(hours(24 * 22))), "{state:?}");
    // Two others break down, and the host rests for two days.
    for url in [2, 3] {
        state = record_outcome(state, &rules, page(url), answered(500), Millis(9), at(hours(24 * 12)), 7);
    }
    assert_eq!(held(&state), Some(HoldReason::ServerError));
    assert_eq!(url_held(&state, page(1), at(hours(24 * 15))), until);
    assert_eq!(url_held(&state, page(2), at(hours(24 * 15))), None);
}

#[test]
fn an_answer_with_the_mark_of_a_wall_holds_the_host_at_once_and_longer_each_time() {
    let rules = Rules::default();
    let first = record_outcome(none(), &rules, page(1), Outcome::Challenge("Anubis"), Millis(9), at(0), 1);
    assert_eq!((held(&first), first.substitutes.since), (Some(HoldReason::Interstitial), Some(at(0))));
    let until = |state: &HostState| state.hold.as_ref().map_or(at(0), |hold| hold.until);
    let later = at(hours(90));
    let second = HostState { hold: None, ..first.clone() };
    // A robots.txt behind it refuses as much.
    let second = record_outcome(second, &rules, ROBOTS, Outcome::Challenge(""), Millis(9), later, 1);
    assert!(until(&second).since(later) > until(&first).since(at(0)));
    assert_eq!((second.substitutes.since, second.substitutes.vendor.as_str()), (Some(at(0)), "Anubis"));
}

#[test]
fn images_that_are_refused_are_left_alone_and_hold_no_host() {
    let image = |url| CallTarget { url, role: Role::Image };
    let state = after(none(), &[(image(1), answered(403)), (image(2), answered(403)), (image(3), answered(402))]);
    assert_eq!(held(&state), None);
    assert!((1..=3).all(|url| url_held(&state, image(url), at(9_000)).is_some()));
    assert_eq!(held(&after(none(), &[(image(1), answered(429))])), Some(HoldReason::TooManyRequests));
}

#[test]
fn a_202_refuses_a_page_or_a_robots_txt_and_no_hub() {
    let of = |role| answered(202).of(role);
    assert_eq!((of(Role::Document), of(Role::Hub)), (answered(202), answered(404)));
    let state =
        after(none(), &[(page(1), of(Role::Document)), (page(2), of(Role::Document)), (page(3), of(Role::Document))]);
    assert_eq!(held(&state), Some(HoldReason::Forbidden));
    assert_eq!(held(&after(none(), &[(page(4), of(Role::Hub)), (page(5), of(Role::Hub))])), None);
    assert_eq!(held(&after(none(), &[(ROBOTS, of(Role::Robots))])), Some(HoldReason::Interstitial));
}
