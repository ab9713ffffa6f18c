//! Tests of admission.

use super::*;
use crate::politeness::outcome::{CallTarget, Outcome, Role, record_outcome};
use curlew_model::{Circuit, Hold, WindowPart};
use proptest::prelude::*;

const PAGE: CallTarget = CallTarget { url: 1, role: Role::Document };

fn host() -> HostKey {
    HostKey::new("example.org").unwrap_or_else(|e| panic!("{e}"))
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000 + ms)
}

fn ask(state: &HostState, now: Timestamp) -> (HostState, Admission) {
    admit(state.clone(), &host(), &Rules::default(), "t", Rules::default().lease_length(), now, 1)
}

fn granted(state: HostState, now: Timestamp) -> (HostState, Lease) {
    match ask(&state, now) {
        (state, Admission::Granted(lease)) => (state, lease),
        other => panic!("not granted: {other:?}"),
    }
}

/// Returns the time that was spent on a host key.
fn spent(state: &HostState) -> Millis {
    state.visited.iter().fold(Millis::ZERO, |sum, part| sum + part.spent)
}

fn answered(status: u16) -> Outcome {
    Outcome::Answered { status, retry_after: None }
}

#[test]
fn a_lease_keeps_others_out_until_it_is_closed() {
    let (state, lease) = granted(HostState::default(), at(0));
    let (_, second) = ask(&state, at(1));
    assert!(matches!(second, Admission::NotNow(NotNow { until, why: None }) if until > at(1) && until <= lease.until));
    let closed = close(state.clone(), state, lease.token, at(5_000));
    assert_eq!(closed.lease, None);
    assert_eq!(spent(&closed), Millis(5_000));
    let _ = granted(closed, at(6_000));
}

#[test]
fn the_window_ends_after_an_hour_on_the_site() {
    let rules = Rules::default();
    let part = |ms, minutes| WindowPart { began: at(ms), spent: Millis::from_mins(minutes) };
    let hours = |n: u64| at(0) + Millis::from_hours(n);
    let state = HostState { visited: vec![part(0, 20), part(3_600_000, 40)], ..HostState::default() };
    let held = |state: &HostState, now| match ask(state, now).1 {
        Admission::NotNow(NotNow { until, why: Some(HoldReason::WindowSpent) }) => Some(until),
        _ => None,
    };
    // Time spent in the first hour counts until that hour is eight hours ago.
    assert_eq!(held(&state, hours(2)), Some(hours(9)));
    assert_eq!(held(&state, hours(9)), None);
    let (state, lease) = granted(state, hours(9));
    assert_eq!((lease.until, state.visited.len()), (hours(9) + rules.lease_length(), 2), "the first hour is forgotten");
}

#[test]
fn a_lease_is_cut_to_what_is_left_of_the_hour_and_cannot_be_made_longer_than_that() {
    let rules = Rules::default();
    let left = rules.least_lease();
    let part = WindowPart { began: at(0), spent: rules.window_limit.saturating_sub(left) };
    let state = HostState { visited: vec![part], ..HostState::default() };
    let (state, lease) = granted(state, at(10));
    assert_eq!(lease.until, at(10) + left);
    let (longer, until) = lengthen(state.clone(), lease.token, rules.lease_length(), &rules, at(20));
    assert_eq!((until, spent(&longer)), (Some(lease.until), rules.window_limit));
    // A lease that is too short for one call is not granted.
    let closed = close(state.clone(), state, lease.token, at(10) + Millis(1));
    let (_, answer) = ask(&closed, at(20_000));
    assert!(matches!(answer, Admission::NotNow(NotNow { why: Some(HoldReason::WindowSpent), .. })), "{answer:?}");
}

#[test]
fn a_block_made_during_a_visit_outlives_it() {
    let (state, lease) = granted(HostState::default(), at(0));
    let blocked = block(state.clone(), "example.org");
    let closed = close(blocked, state, lease.token, at(9));
    assert!(closed.is_blocked("example.org"));
    let (closed, answer) = ask(&closed, at(99_999));
    assert_eq!(answer, Admission::Blocked);
    let (open, was) = unblock(closed, "example.org");
    assert!(was && !open.is_blocked("example.org"));
}

/// A visit that lost its lease and ended late has recorded a hold that the visit with the current lease does not know.
#[test]
fn a_hold_that_another_visit_has_told_of_outlives_the_one_that_closes() {
    let rules = Rules::default();
    let (before, lease) = granted(HostState::default(), at(0));
    let hold = Hold { since: at(0), until: at(9_000_000), reason: HoldReason::TooManyRequests };
    let told = HostState { hold: Some(hold.clone()), not_before: at(60_000), ..before.clone() };
    let mine = record_outcome(before, &rules, PAGE, answered(200), Millis(9), at(1_000), 1);
    let closed = close(told, mine, lease.token, at(2_000));
    assert_eq!((closed.hold, closed.lease), (Some(hold), None));
    assert!(closed.not_before >= at(60_000));
}

#[test]
fn a_lease_that_ran_out_long_ago_costs_no_pause_any_more() {
    let rules = Rules::default();
    let (state, lease) = granted(HostState::default(), at(0));
    let (soon, _) = granted(state.clone(), lease.until + Millis(1));
    assert!(soon.not_before >= lease.until + Millis(1) + rules.min_pause);
    let hours_later = lease.until + Millis::from_hours(8);
    let (later, _) = granted(state, hours_later);
    assert!(later.not_before <= hours_later);
}

#[test]
fn a_lease_is_charged_in_full_until_it_is_given_back() {
    let rules = Rules::default();
    let (state, lease) = granted(HostState::default(), at(0));
    assert_eq!(spent(&state), rules.lease_length());
    let dead = break_lease(state.clone(), &rules, at(7_000), 1);
    assert_eq!(spent(&dead), Millis(7_000), "who finds it dead knows that it took no more");
    let found = break_lease(state.clone(), &rules, lease.until + Millis::from_hours(5), 1);
    assert_eq!(spent(&found), rules.lease_length(), "who finds it run out does not");
    assert_eq!(found.bucket.map(|b| b.milli_tokens), Some(u64::from(rules.burst - CALLS_UNTOLD) * 1_000));
    let late = close(state.clone(), state, lease.token, lease.until + Millis(300));
    assert_eq!(spent(&late), rules.lease_length() + Millis(300));
}

#[test]
fn only_a_lease_in_force_can_be_made_longer() {
    let rules = Rules::default();
    let (state, lease) = granted(HostState::default(), at(0));
    let by = Millis::from_secs(30);
    let (longer, until) = lengthen(state.clone(), lease.token, by, &rules, at(1_000));
    assert_eq!((until, spent(&longer)), (Some(lease.until + by), rules.lease_length() + by));
    assert_eq!(lengthen(state.clone(), lease.token, by, &rules, lease.until), (state.clone(), None));
    assert_eq!(lengthen(state.clone(), lease.token + 1, by, &rules, at(1_000)), (state, None));
}

#[test]
fn whoever_has_something_to_tell_gives_the_lease_back() {
    let rules = Rules::default();
    let open = |state: HostState| match admit(state, &host(), &rules, "t", rules.brief_length(), at(0), 1) {
        (state, Admission::Granted(_)) => state,
        other => panic!("{other:?}"),
    };
    let state = open(HostState::default());
    let after =
        |outcome, took| record_outcome(state.clone(), &rules, PAGE, outcome, Millis(took), at(100 + took as i64), 1);
    let quiet = |mine: &HostState, calls, used| may_run_out(&state, mine, &rules, calls, used, at(0));
    let long_ago = at(0) - rules.return_lease_within;
    let good = after(answered(304), 200);
    assert!(quiet(&good, 1, long_ago));
    assert!(!quiet(&good, CALLS_UNTOLD + 1, long_ago), "its burst allowance");
    assert!(!quiet(&good, 1, at(0) - rules.return_lease_within + Millis(1)), "others want the host key");
    assert!(!quiet(&after(answered(503), 200), 1, long_ago), "a hold");
    assert!(!quiet(&after(Outcome::Broken, 200), 1, long_ago), "a failure");
    assert!(!quiet(&after(answered(200), 29_000), 1, long_ago), "a pause that outlasts the lease");
    assert!(!quiet(&HostState { crawl_delay: Millis::from_secs(5), ..good.clone() }, 1, long_ago), "a Crawl-delay");
    let troubled = HostState { failures: 1, circuit: Circuit::Probe, ..HostState::default() };
    let state = open(troubled);
    let mine = record_outcome(state.clone(), &rules, PAGE, answered(200), Millis(9), at(100), 1);
    assert!(!may_run_out(&state, &mine, &rules, 1, long_ago, at(0)), "that the host is well again");
}

#[test]
fn an_operators_hold_lasts_until_it_is_lifted_and_lifts_no_other() {
    let now = at(0);
    let refused = Hold { until: at(100_000), reason: HoldReason::TooManyRequests, since: now };
    let admitted = |state: &HostState, now| ask(state, now).1;
    let held = leave_alone(HostState::default(), now + Millis::from_days(7));
    let asks_again = now + Millis::from_hours(1);
    assert_eq!(admitted(&held, now), Admission::NotNow(NotNow::held(asks_again, HoldReason::Operator)));
    assert_eq!(held.hold_at(now).map(|hold| hold.reason), Some(HoldReason::Operator));
    assert!(matches!(admitted(&held, now + Millis::from_days(7)), Admission::Granted(_)));
    // A visit that is under way when the hold is set cannot end it.
    let (given, lease) = granted(HostState::default(), now);
    let closed = close(leave_alone(given.clone(), at(100_000)), given, lease.token, at(9));
    assert_eq!(closed.left_alone_until, Some(at(100_000)));
    // A hold caused by the host's answers stays.
    let both = HostState { hold: Some(refused.clone()), ..held };
    let (lifted, was) = end_leaving_alone(both, now);
    assert!(was && lifted.hold == Some(refused));
    assert!(matches!(admitted(&lifted, now), Admission::NotNow(NotNow { why: Some(HoldReason::TooManyRequests), .. })));
    assert!(!end_leaving_alone(lifted, now).1, "a second lift finds nothing");
}

proptest! {
    /// Visits of any length come at any time; some end early, some late, some die. In any window, leases take at most
    /// the window's limit.
    #[test]
    fn no_window_has_more_time_under_leases_than_its_limit(
        visits in prop::collection::vec((0u64..3_000, 0u8..5, 1u64..300, any::<bool>()), 1..400),
        minutes in 2u64..60,
    ) {
        let rules = Rules { window_limit: Millis::from_mins(minutes), ..Rules::default() };
        let (mut state, mut now, mut leases) = (HostState::default(), at(0), Vec::new());
        for (gap, end, used, is_longer) in visits {
            now = now + Millis::from_secs(gap.saturating_sub(1_500));
            let length = if is_longer { rules.brief_length() } else { rules.lease_length() };
            let (next, answer) = admit(state, &host(), &rules, "t", length, now, 7);
            state = next;
            match answer {
                Admission::Granted(lease) => {
                    let (longer, until) = lengthen(state, lease.token, rules.slice, &rules, now);
                    let until = until.unwrap_or(lease.until);
                    state = longer;
                    // A visit calls at most until its lease ends.
                    let over = if end == 0 { until } else { until.min(now + Millis::from_secs(used)) };
                    leases.push((now, over));
                    now = over;
                    if end > 0 {
                        state = close(state.clone(), state, lease.token, over);
                    }
                }
                Admission::NotNow(NotNow { until, why: None }) => now = until,
                Admission::NotNow(NotNow { until, .. }) => {
                    prop_assert!(until > now && until <= now + rules.window + Millis(rules.window.0 / 8));
                    now = if used % 2 == 0 { until } else { now };
                }
                Admission::Blocked => unreachable!("nobody blocks it"),
            }
        }
        for (_, end) in &leases {
            let from = *end - rules.window;
            let within = leases.iter().filter(|(_, until)| *until > from && until <= end);
            let time = within.fold(Millis::ZERO, |sum, (began, until)| sum + until.since(from.max(*began)));
            prop_assert!(time <= rules.window_limit, "{} ms in a window of {} min", time.0, minutes);
        }
    }

    #[test]
    fn a_brief_lease_that_ran_out_never_lets_two_calls_come_closer_than_the_pause(
        begins in 0i64..20_000, gap in 0u64..15_000, took in (0u64..30_000, 0u64..30_000), calls in 1u32..=2,
        delay in 0u64..12_000, later in 0i64..200_000, ahead in 0u64..5_000, seed: u64,
    ) {
        let rules = Rules::default();
        let before = HostState { crawl_delay: Millis(delay), ..HostState::default() };
        let (given, answer) = admit(before, &host(), &rules, "t", rules.brief_length(), at(begins), seed);
        prop_assert!(matches!(answer, Admission::Granted(_)));
        // The visit's calls, each after the pause and some delay of our own, as far as they fit into the lease.
        let (mut mine, mut now, mut made) = (given.clone(), at(begins), 0);
        let until = given.lease.as_ref().map_or(now, |lease| lease.until);
        for (n, took) in [took.0, took.1].into_iter().enumerate().take(calls as usize) {
            let start = pace::next_call_at(&mine, &rules, now).max(now) + Millis(gap * n as u64);
            if start + rules.call_time + rules.lease_margin > until {
                break;
            }
            now = start + Millis(took);
            mine = record_outcome(mine, &rules, PAGE, answered(304), Millis(took), now, seed ^ n as u64);
            made += 1;
        }
        prop_assume!(may_run_out(&given, &mine, &rules, made, Timestamp::MIN, at(begins)));
        // Another visit comes, whose clock is ahead by at most the margin.
        let (ours, theirs) = (at(begins + later), at(begins + later) + Millis(ahead));
        let (next, answer) = admit(given.clone(), &host(), &rules, "u", rules.lease_length(), theirs, seed ^ 77);
        prop_assert_eq!(matches!(answer, Admission::Granted(_)), theirs >= until && next.lease.is_some());
        if let Admission::Granted(_) = answer {
            let starts = ours + pace::next_call_at(&next, &rules, theirs).since(theirs);
            prop_assert!(starts >= mine.not_before, "{} before {}", starts, mine.not_before);
            prop_assert!(spent(&next) >= rules.lease_length() + now.since(at(begins)));
            let untold = pace::spend(mine.bucket, &rules, theirs).milli_tokens + 1_000;
            let told = next.bucket.map_or(u64::MAX, |bucket| bucket.milli_tokens);
            prop_assert!(told <= untold, "{} of the allowance left, but {}", told, untold);
        }
    }

    #[test]
    fn after_any_call_the_next_is_at_least_a_pause_away(status in 100u16..600, took in 0u64..40_000, seed: u64) {
        let rules = Rules::default();
        let state = record_outcome(HostState::default(), &rules, PAGE, answered(status), Millis(took), at(0), seed);
        prop_assert!(pace::next_call_at(&state, &rules, at(0)) >= at(0) + rules.min_pause.max(Millis(took)));
    }
}
