//! Repairs instants in rows that a wrong clock set too far ahead; otherwise hosts would not be called for years.

use crate::rules::Rules;
use curlew_model::{HostState, Source, Timestamp};

/// True if an instant is further ahead than the longest hold, Retry-After and poll interval together.
pub fn is_ahead(at: Timestamp, rules: &Rules, now: Timestamp) -> bool {
    at > now + rules.hold_cap + rules.retry_after_cap + rules.poll_cap
}

/// Returns an instant of a row, or [`Timestamp::MIN`] if a wrong clock has set it.
pub fn unless_ahead(at: Timestamp, rules: &Rules, now: Timestamp) -> Timestamp {
    if is_ahead(at, rules, now) { Timestamp::MIN } else { at }
}

/// Returns a host's state with the instants of a wrong clock moved to the present, except those that the operator set.
pub fn host(mut state: HostState, rules: &Rules, now: Timestamp) -> HostState {
    let is_ahead = |at: Timestamp| is_ahead(at, rules, now);
    let begins_now = |at: &mut Timestamp| *at = if is_ahead(*at) { now } else { *at };
    if let Some(hold) = state.hold.as_mut().filter(|hold| is_ahead(hold.until)) {
        hold.until = now + hold.until.since(hold.since).min(rules.hold_cap);
        hold.since = now;
    }
    if let Some(lease) = state.lease.as_mut().filter(|lease| is_ahead(lease.until)) {
        lease.until = now + rules.lease_length();
    }
    if is_ahead(state.not_before) {
        state.not_before = now + rules.crawl_delay_cap;
    }
    for held in state.url_holds.iter_mut().filter(|held| is_ahead(held.until)) {
        held.until = now + rules.hold_refused;
    }
    state.bucket.iter_mut().for_each(|bucket| begins_now(&mut bucket.at));
    state.substitutes.since.iter_mut().for_each(begins_now);
    state.visited.iter_mut().for_each(|part| begins_now(&mut part.began));
    state.pending_redirect.take_if(|pending| is_ahead(pending.until));
    state
}

/// True if the row of a feed or site has an instant that a wrong clock has set.
pub fn is_source_ahead(source: &Source, rules: &Rules, now: Timestamp) -> bool {
    let is_ahead = |at: Timestamp| is_ahead(at, rules, now);
    match source {
        Source::Feed(feed) => [feed.not_before, feed.polled_at].into_iter().chain(feed.polling.retry_at).any(is_ahead),
        Source::Site(site) => is_ahead(site.not_before),
        Source::Extra(_) | Source::Backfill(_) => false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use curlew_model::{Hold, HoldReason, HostKey, Lease, Millis, PendingRedirect, TokenBucket, UrlHold, WindowPart};

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    /// Returns the state that a visit with this clock leaves behind.
    fn left_at(clock: Timestamp, rules: &Rules) -> HostState {
        let targets = vec!["https://example.org/b".to_owned()];
        let held = UrlHold { url: 1, what: HoldReason::Network, until: clock + rules.hold_refused, before: 0 };
        HostState {
            lease: Some(Lease { owner: "fetch".into(), until: clock + rules.lease_length(), token: 7 }),
            not_before: clock + rules.crawl_delay_cap,
            bucket: Some(TokenBucket { milli_tokens: 0, at: clock }),
            hold: Some(Hold { until: clock + rules.hold_refused, reason: HoldReason::Forbidden, since: clock }),
            url_holds: vec![held],
            visited: vec![WindowPart { began: clock, spent: Millis::from_secs(9) }],
            pending_redirect: Some(PendingRedirect { url: 1, targets, is_permanent: true, until: clock }),
            left_alone_until: Some(clock + Millis::from_days(9_000)),
            ..HostState::default()
        }
    }

    #[test]
    fn what_a_wrong_clock_left_with_a_host_is_as_long_from_now_on() {
        let rules = Rules::default();
        let wrong = left_at(NOW + Millis::from_days(7_300), &rules);
        let expected =
            HostState { pending_redirect: None, left_alone_until: wrong.left_alone_until, ..left_at(NOW, &rules) };
        assert_eq!(host(wrong, &rules, NOW), expected);
        assert_eq!(host(expected.clone(), &rules, NOW), expected, "it is written, and runs out");
    }

    #[test]
    fn what_rules_set_stays() {
        let rules = Rules::default();
        for before in [0, 13] {
            let mut state = left_at(NOW - Millis::from_days(before), &rules);
            state.hold.as_mut().unwrap().until = NOW + rules.hold_cap;
            assert_eq!(host(state.clone(), &rules, NOW), state);
        }
    }

    #[test]
    fn a_visit_is_admitted_when_what_a_wrong_clock_left_has_run_out() {
        use crate::politeness::admission::{Admission, NotNow, admit};
        let (rules, key) = (Rules::default(), HostKey::new("example.org").unwrap());
        let asks = |state: HostState, now: Timestamp| admit(state, &key, &rules, "fetch", Millis::from_mins(4), now, 1);
        let wrong = HostState { left_alone_until: None, ..left_at(NOW + Millis::from_days(7_300), &rules) };
        let (state, answer) = asks(wrong.clone(), NOW);
        assert_eq!(answer, Admission::NotNow(NotNow::held(NOW + rules.hold_refused, HoldReason::Forbidden)));
        let later = NOW + rules.hold_refused + Millis::from_days(1);
        assert!(matches!(asks(state, later).1, Admission::Granted(_)));
        let (state, answer) = asks(HostState { hold: None, ..wrong }, NOW);
        assert!(matches!(answer, Admission::NotNow(NotNow { why: None, .. })), "its lease is in force: {answer:?}");
        assert!(matches!(asks(state, NOW + Millis::from_hours(1)).1, Admission::Granted(_)));
    }
}
