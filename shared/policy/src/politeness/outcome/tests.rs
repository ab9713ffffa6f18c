//! Tests of the effects of answers.

use super::*;
use proptest::prelude::*;

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

fn image(url: u32) -> CallTarget {
    CallTarget { url, role: Role::Image }
}

fn answered(status: u16) -> Outcome {
    Outcome::Answered { status, retry_after: None }
}

/// Returns the state after one call that took nine milliseconds.
fn call(state: HostState, asked: CallTarget, outcome: Outcome, now: Timestamp) -> HostState {
    record_outcome(state, &Rules::default(), asked, outcome, Millis(9), now, 7)
}

/// Applies calls a second apart, regardless of holds: `2:403` is a refused page, `i2:403` a refused image, `hub` a hub;
/// the answer may also be `cut` or `broken`.
fn after(mut state: HostState, calls: &str) -> HostState {
    for (n, text) in calls.split(' ').enumerate() {
        let (name, answer) = text.split_once(':').unwrap_or_else(|| panic!("{text}"));
        let asked = match name {
            "robots" => ROBOTS,
            "hub" => CallTarget { url: n as u32, role: Role::Hub },
            _ => name.strip_prefix('i').map_or_else(|| page(number(name)), |name| image(number(name))),
        };
        let outcome = match answer {
            "cut" => Outcome::Cut,
            "broken" => Outcome::Broken,
            status => answered(number(status)),
        };
        state = call(state, asked, outcome.of(asked.role), at(n as u64 * 1_000));
    }
    state
}

fn number<T: std::str::FromStr<Err = std::num::ParseIntError>>(text: &str) -> T {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Returns the reason of a hold other than a rest.
fn held(state: &HostState) -> Option<HoldReason> {
    state.hold.as_ref().map(|hold| hold.reason).filter(|reason| *reason != HoldReason::Rest)
}

fn held_until(state: &HostState) -> Timestamp {
    state.hold.as_ref().unwrap_or_else(|| panic!("no hold: {state:?}")).until
}

fn without_hold(state: HostState) -> HostState {
    HostState { hold: None, ..state }
}

#[test]
fn a_missing_home_page_rests_the_host_key_for_a_day() {
    let rules = Rules::default();
    let held = hold_not_found(none(), &rules, at(0), 7).hold.unwrap_or_else(|| panic!("no hold"));
    assert_eq!(held.reason, HoldReason::NotFound);
    assert!(held.until >= at(0) + rules.hold_not_found && held.until <= at(0) + rules.hold_not_found.saturating_mul(2));
    let longer = Hold { until: at(hours(72)), reason: HoldReason::Forbidden, since: at(0) };
    let state = HostState { hold: Some(longer.clone()), ..none() };
    assert_eq!(hold_not_found(state, &rules, at(0), 7).hold, Some(longer));
}

#[test]
fn after_one_refusal_or_server_error_the_host_key_rests_for_an_hour_and_nothing_is_held_against_it() {
    let of = |status, role| call(none(), CallTarget { url: 1, role }, answered(status).of(role), at(0));
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
    assert_eq!(of(403, Role::Hub).hold, Some(rest));
    // robots.txt has separate rules, the consent of a hub is no refusal, and a receiver has asked for the call.
    for (status, role) in [(403, Role::Robots), (500, Role::Robots), (202, Role::Hub), (500, Role::Receiver)] {
        assert_eq!(of(status, role).hold, None, "{status} {role:?}");
    }
    // While only images are refused, the host rests each time; a second failing document puts it on hold.
    let images = after(none(), "i2:403 i3:403");
    assert_eq!(images.hold.map(|hold| (hold.reason, hold.until)), Some((HoldReason::Rest, at(1_000) + VISIT_REST)));
    let second = after(none(), "1:500 2:500");
    assert_eq!((held(&second), second.circuit), (Some(HoldReason::ServerError), Circuit::Probe));
}

#[test]
fn one_url_does_not_speak_for_its_host_and_several_do() {
    let rules = Rules::default();
    for (calls, hold) in [
        ("1:403 1:403 1:403 1:403 1:403", None),
        // A good answer of another URL does not clear a refusal; one of the refused URL does.
        ("1:403 3:200 2:403", Some(HoldReason::Forbidden)),
        ("1:403 1:200 2:403", None),
        ("1:402 1:402 1:402", None),
        ("1:402 3:200 2:403", Some(HoldReason::Forbidden)),
        ("1:451 1:451 1:451", None),
        ("1:451 3:200 2:403", Some(HoldReason::Forbidden)),
        ("1:500 1:500 1:500", None),
        ("1:500 2:502", Some(HoldReason::ServerError)),
        ("1:500 2:403", None),
        ("1:503", Some(HoldReason::ServerError)),
        ("1:cut 1:cut 1:cut 1:cut", None),
        ("1:broken 1:broken 1:broken 1:broken 1:broken 1:broken", None),
        // Three URLs without a good answer in between put the host on hold; a good robots.txt clears nothing.
        ("1:cut 2:cut 3:cut", Some(HoldReason::Network)),
        ("1:cut 2:cut 9:200 3:cut", None),
        ("1:cut 2:cut robots:200 3:cut", Some(HoldReason::Network)),
        ("1:broken 2:broken 3:broken 4:broken", None),
        ("1:broken 2:broken 3:broken 4:broken 5:broken", Some(HoldReason::Hostile)),
        ("i1:403 i2:403 i3:402", None),
        ("i1:429", Some(HoldReason::TooManyRequests)),
        ("1:202 2:202 3:202", Some(HoldReason::Forbidden)),
        ("hub:202 hub:202", None),
        ("robots:202", Some(HoldReason::Interstitial)),
    ] {
        let state = after(none(), calls);
        assert_eq!(held(&state), hold, "{calls}");
        let is_as_long = |hold: &Hold| hold.until.since(hold.since) >= base(&rules, hold.reason);
        assert!(state.hold.as_ref().is_none_or(is_as_long), "{calls}");
    }
    let one = after(none(), "1:403 1:403");
    assert_eq!((one.url_holds.len(), one.circuit), (1, Circuit::Closed));
    let images = after(none(), "i1:403 i2:403 i3:402");
    assert!((1..=3).all(|url| url_held(&images, image(url), at(9_000)).is_some()));
    // A hold that is over does not count.
    assert_eq!(held(&call(after(none(), "1:403"), page(2), answered(403), at(hours(80)))), None);
}

#[test]
fn h09_a_429_holds_the_whole_host_for_three_days_and_twice_as_long_if_it_goes_on() {
    let state = after(none(), "1:429");
    let until = held_until(&state);
    assert_eq!(held(&state), Some(HoldReason::TooManyRequests));
    assert!(until >= at(hours(72)) && until <= at(hours(80)));
    // Another URL of the same host, once the hold is over.
    let again = call(state, page(2), answered(429), until);
    assert!(held_until(&again).since(until) >= Millis::from_hours(144));
}

#[test]
fn h18_holds_double_up_to_their_cap() {
    let rules = Rules::default();
    for status in [429, 503] {
        let (mut state, mut longest) = (none(), Millis::ZERO);
        for n in 0..40 {
            state = record_outcome(state, &rules, page(1), answered(status), Millis(9), at(n), n);
            let length = held_until(&state).since(at(n));
            assert!(length >= longest && length <= rules.hold_cap, "{n}: {length:?}");
            // Without the random part of up to a tenth.
            longest = Millis(length.0 / 11 * 10);
            state.hold = None;
        }
        assert!(longest > Millis::from_days(12));
    }
}

#[test]
fn when_a_hold_is_over_what_brought_it_is_not_what_is_tried_first() {
    for (bad, limit) in [("cut", CUT_LIMIT), ("broken", BROKEN_LIMIT)] {
        let calls: Vec<_> = (1..=limit).map(|url| format!("{url}:{bad}")).collect();
        let state = after(none(), &calls.join(" "));
        let over = held_until(&state);
        for url in 1..=limit {
            let until = url_held(&state, page(url), over).unwrap_or_else(|| panic!("{bad}: {url} may be the probe"));
            assert!(until.since(over) >= VISIT_REST && url_held(&state, page(url), until).is_none(), "{bad}");
        }
        assert_eq!(url_held(&state, page(9), over), None);
    }
    // The feed works, and two broken URLs after it do not cause another hold.
    let again = after(without_hold(after(none(), "1:cut 2:cut 3:cut")), "9:304 1:cut 2:cut");
    assert_eq!((held(&again), again.circuit), (None, Circuit::Closed));
}

#[test]
fn the_circuit_opens_after_three_failures_in_a_row_and_one_probe_decides() {
    let fail = |state, now| call(state, page(1), Outcome::Network, at(now));
    let one = fail(none(), 0);
    assert_eq!((held(&one), one.failures, one.circuit), (None, 1, Circuit::Closed));
    assert!(one.not_before >= at(0) + NETWORK_BACKOFF, "but it is left alone for a short while");
    let two = fail(one, hours(1));
    assert!(held(&two).is_none() && two.not_before >= at(hours(1)) + NETWORK_BACKOFF.saturating_mul(4));
    let three = fail(two.clone(), hours(2));
    assert_eq!((held(&three), three.circuit), (Some(HoldReason::Network), Circuit::Probe));
    assert!(held_until(&three) >= at(hours(26)) && held_until(&three) <= at(hours(29)));
    // When the hold is over, one failure is enough to open the circuit again, for twice as long.
    assert!(held_until(&fail(without_hold(three.clone()), hours(40))) >= at(hours(88)));
    // One success closes the circuit, even one of robots.txt, since the host was reached.
    for asked in [page(5), ROBOTS] {
        let well = call(three.clone(), asked, answered(200), at(hours(40)));
        assert_eq!((well.failures, well.holds_in_a_row, well.circuit), (0, 0, Circuit::Closed));
    }
    // A good answer in between resets the count of failures.
    assert_eq!(held(&fail(call(two, page(5), answered(404), at(hours(2))), hours(3))), None);
    let forgiven = after(none(), "1:503 1:200");
    assert_eq!((forgiven.failures, forgiven.holds_in_a_row, forgiven.circuit), (0, 0, Circuit::Closed));
}

#[test]
fn our_own_outage_is_nobody_s_fault() {
    let rules = Rules::default();
    let state = call(none(), page(1), Outcome::Network, at(0));
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
    let state = after(none(), "1:403 2:403 robots:200");
    assert_eq!((state.holds_in_a_row, state.circuit), (1, Circuit::Probe));
    let again = after(without_hold(state), "3:403");
    assert!(held_until(&again) >= at(hours(144)), "one refusal is enough, twice as long");
}

#[test]
fn h08_t17_retry_after_lengthens_a_hold_and_is_capped() {
    let minute = Millis::from_mins(1);
    let rules = Rules { hold_server_error: minute, hold_refused: minute, ..Rules::default() };
    let after = |status, retry_after| {
        let outcome = Outcome::Answered { status, retry_after: Some(retry_after) };
        record_outcome(none(), &rules, page(1), outcome, Millis(1), at(0), 3)
    };
    for status in [429, 503] {
        let hold = |retry: Millis| held_until(&after(status, at(0) + retry)).since(at(0));
        assert!(hold(Millis::from_hours(2)) >= Millis::from_hours(2));
        assert!(hold(Millis::from_secs(1)) >= minute, "it never shortens");
        let longest = hold(Millis::from_days(4_000));
        assert!(longest >= rules.retry_after_cap && longest <= Millis(rules.retry_after_cap.0 / 10 * 11));
    }
    assert!(held_until(&after(503, at(0) - Millis::from_days(9))) >= at(0) + rules.hold_server_error);
    // With a redirect, Retry-After is a pause (RFC 9110 §10.2.3).
    assert!(after(302, at(90_000)).not_before >= at(90_000));
}

#[test]
fn a_url_in_trouble_is_left_alone_itself_and_for_longer_each_time() {
    let rules = Rules::default();
    let (mut state, mut now) = (none(), at(0));
    for days in [3, 6, 12, 14, 14] {
        assert_eq!(url_held(&state, page(1), now), None);
        state = call(state, page(1), answered(403), now);
        let until = url_held(&state, page(1), now).unwrap_or_else(|| panic!("{days}: not held"));
        assert!(until.since(now) >= Millis::from_days(days) && until.since(now) <= rules.hold_cap, "{days}");
        assert_eq!(url_held(&state, page(2), now), None);
        assert_eq!(url_held(&state, CallTarget { role: Role::Robots, ..page(1) }, now), None);
        now = until;
    }
    assert_eq!(held(&state), None);
    let asked = Outcome::Answered { status: 500, retry_after: Some(now + Millis::from_hours(100)) };
    assert!(url_held(&call(none(), page(1), asked, now), page(1), now) >= Some(now + Millis::from_hours(100)));
}

#[test]
fn a_url_alone_is_held_as_long_as_its_host_would_be() {
    let rules = Rules::default();
    let until = |outcome, in_a_row| url_held_until(&rules, outcome, in_a_row, at(0), 5);
    assert_eq!(until(answered(200), 0), None);
    assert_eq!(until(Outcome::Network, 0), None, "that is the host's");
    for (outcome, least) in [(answered(403), 72), (answered(500), 48), (Outcome::Cut, 24), (Outcome::Broken, 24)] {
        for (in_a_row, times) in [(0, 1), (1, 2), (30, 1)] {
            let least = at(0) + Millis(hours(least)).saturating_mul(times).min(rules.hold_cap);
            let held = (least..=at(0) + rules.hold_cap).contains(&until(outcome, in_a_row).unwrap_or_default());
            assert!(held, "{outcome:?} {in_a_row}");
        }
    }
    let asked = Outcome::Answered { status: 500, retry_after: Some(at(hours(100))) };
    assert!(until(asked, 0) >= Some(at(hours(100))));
}

proptest! {
    #[test]
    fn whatever_comes_the_state_stays_small_and_holds_stay_within_their_cap(
        calls in prop::collection::vec((0u32..12, 0usize..9, any::<bool>(), any::<u64>()), 1..60),
    ) {
        let rules = Rules::default();
        let statuses = [200, 403, 429, 500].map(answered);
        let others = [Outcome::Network, Outcome::Cut, Outcome::Broken, Outcome::Challenge("Anubis"), Outcome::Outage];
        let outcomes = [&statuses[..], &others].concat();
        let mut state = none();
        for (n, (url, what, is_robots, seed)) in calls.into_iter().enumerate() {
            let now = at(n as u64 * 60_000);
            let role = if is_robots { Role::Robots } else { Role::Document };
            state = record_outcome(state, &rules, CallTarget { url, role }, outcomes[what], Millis(5), now, seed);
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
    // Refused for the third time in a row, one page is left alone for twelve days.
    let day = |n: u64| at(hours(24 * n));
    let state = [0, 4, 11].into_iter().fold(none(), |state, n| call(state, page(1), answered(403), day(n)));
    let until = url_held(&state, page(1), day(12));
    assert!(until.is_some_and(|until| until > day(22)), "{state:?}");
    // Two other pages fail, and the host is on hold for two days.
    let state = [2, 3].into_iter().fold(state, |state, url| call(state, page(url), answered(500), day(12)));
    assert_eq!(held(&state), Some(HoldReason::ServerError));
    assert_eq!((url_held(&state, page(1), day(15)), url_held(&state, page(2), day(15))), (until, None));
}

#[test]
fn an_answer_with_the_mark_of_a_wall_holds_the_host_at_once_and_longer_each_time() {
    let first = call(none(), page(1), Outcome::Challenge("Anubis"), at(0));
    assert_eq!((held(&first), first.substitutes.since), (Some(HoldReason::Interstitial), Some(at(0))));
    // A robots.txt behind the wall counts as well.
    let later = at(hours(90));
    let second = call(without_hold(first.clone()), ROBOTS, Outcome::Challenge(""), later);
    assert!(held_until(&second).since(later) > held_until(&first).since(at(0)));
    assert_eq!((second.substitutes.since, second.substitutes.vendor.as_str()), (Some(at(0)), "Anubis"));
}
