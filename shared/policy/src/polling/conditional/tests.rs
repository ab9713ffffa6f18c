use super::*;
use curlew_model::{Millis, Slot, SourceKey};

fn t(days: u64) -> Timestamp {
    "2026-11-21T00:00:00Z".parse::<Timestamp>().unwrap_or_default() + Millis::from_days(days)
}

fn tags(etag: &str) -> Validators {
    Validators { etag: Some(etag.into()), last_modified: None }
}

/// Returns a feed with a full answer on day 0.
fn feed(rules: &Rules) -> FeedSource {
    let key = SourceKey::new("0123456789abcdef0123456789abcdef").unwrap_or_else(|e| panic!("{e}"));
    let mut feed = FeedSource::new(key, Slot::from_hash(0), "https://example.org/feed");
    feed.polling.trust = whole(&feed, 1, &tags("\"1\""), false, rules, t(0));
    feed.validators = tags("\"1\"");
    feed.polled_at = t(0);
    feed
}

#[test]
fn h05_only_checks_are_unconditional_and_they_grow_rare_while_the_304s_are_true() {
    let rules = Rules::default();
    let mut feed = feed(&rules);
    let mut checks = vec![];
    for day in 1..365 {
        if to_send(&feed, &rules, t(day)).is_empty() {
            checks.push(day);
            feed.polling.trust = whole(&feed, 1, &tags("\"1\""), true, &rules, t(day));
        }
    }
    assert_eq!(checks, [8, 24, 56, 120, 184, 248, 312]);
    let never = Rules { verify_every: Millis::ZERO, ..Rules::default() };
    assert!((1..9_999).all(|day| to_send(&self::feed(&never), &never, t(day)) == tags("\"1\"")));
}

#[test]
fn h05_a_feed_that_changes_within_the_week_is_never_asked_unconditionally() {
    let rules = Rules::default();
    let mut feed = feed(&rules);
    for day in 1..365 {
        assert!(!to_send(&feed, &rules, t(day)).is_empty(), "{day}");
        if day % 5 == 0 {
            feed.polling.trust = whole(&feed, day, &tags("\"n\""), false, &rules, t(day));
        }
    }
}

#[test]
fn h04_304s_that_were_false_are_not_believed_any_more() {
    let rules = Rules::default();
    let mut feed = feed(&rules);
    // Other content under the same validators proves it at once.
    let lied = whole(&feed, 2, &tags("\"1\""), true, &rules, t(7));
    assert!(lied.distrusted);
    feed.polling.trust = lied;
    assert!(to_send(&feed, &rules, t(8)).is_empty());
    // Other content under other validators may be chance, and one 304 to the older validators may come from a cache.
    let mut feed = self::feed(&rules);
    look(&mut feed, 2, true, &rules, t(8));
    for hours in [8, 16] {
        let trust = feed.polling.trust;
        assert!(!trust.distrusted && !is_check_due(&feed, &rules, t(30)), "{hours}: {trust:?}");
        assert_eq!(to_send(&feed, &rules, t(8) + Millis::from_hours(hours)), tags("\"1\""), "of the older document");
        unchanged(&mut feed.validators, &mut feed.polling.trust, &tags("\"1\""), t(8) + Millis::from_hours(hours));
    }
    assert_eq!((feed.polling.trust.distrusted, feed.polling.trust.verify_at), (true, None));
    assert!(to_send(&feed, &rules, t(9)).is_empty());
}

/// Applies a full answer as a poll does; the validators are derived from the content.
fn look(feed: &mut FeedSource, content: u64, was_check: bool, rules: &Rules, now: Timestamp) {
    let sent = tags(&format!("\"{content}\""));
    feed.polling.trust = whole(feed, content, &sent, was_check, rules, now);
    feed.validators = to_keep(&feed.validators, &sent, &feed.polling.trust);
    feed.polled_at = now;
}

/// Polls an honest server three times a day; returns the number of unconditional polls, and the number of polls that
/// returned known content.
fn poll_honestly(feed: &mut FeedSource, days: u64, rules: &Rules, content: impl Fn(Timestamp) -> u64) -> (u32, u32) {
    let (mut unconditional, mut repeated) = (0, 0);
    for poll in 1..days * 3 {
        // A little later each time, like polls that wait for their turn.
        let now = t(0) + Millis::from_hours(poll * 8) + Millis(poll);
        let (asked, content) = (to_send(feed, rules, now), content(now));
        unconditional += u32::from(asked.is_empty());
        if asked == tags(&format!("\"{content}\"")) {
            unchanged(&mut feed.validators, &mut feed.polling.trust, &asked, now);
            continue;
        }
        repeated += u32::from(content == feed.polling.trust.content);
        let was_check = is_check_due(feed, rules, now);
        look(feed, content, was_check, rules, now);
    }
    (unconditional, repeated)
}

#[test]
fn h05_a_feed_with_news_each_week_at_the_same_hour_is_never_asked_unconditionally() {
    let rules = Rules::default();
    let mut feed = feed(&rules);
    let polls = poll_honestly(&mut feed, 365, &rules, |now| 1 + now.since(t(0)).0 / Millis::from_days(7).0);
    assert_eq!(polls, (0, 0), "{:?}", feed.polling.trust);
}

#[test]
fn h04_news_that_come_just_before_a_check_again_and_again_are_no_lie() {
    let rules = Rules::default();
    let mut feed = feed(&rules);
    let polls = poll_honestly(&mut feed, 400, &rules, |now| 1 + now.since(t(0)).0 / rules.verify_every.0);
    assert!(polls.0 > 20, "it is checked each time: {polls:?}");
    assert_eq!((polls.1, feed.polling.trust.distrusted), (polls.0, false), "and each time one more answer clears it");
}

#[test]
fn h03_h04_a_304_updates_validators_and_one_with_a_later_date_is_looked_into() {
    let rules = Rules::default();
    let mut feed = feed(&rules);
    let dated = |date: &str| Validators { etag: None, last_modified: Some(date.into()) };
    feed.validators.last_modified = Some("Sat, 21 Nov 2026 00:00:00 GMT".into());
    let mut trust = feed.polling.trust;
    unchanged(&mut feed.validators, &mut trust, &dated("Fri, 20 Nov 2026 00:00:00 GMT"), t(1));
    assert_eq!(trust, feed.polling.trust);
    assert_eq!(feed.validators.etag.as_deref(), Some("\"1\""), "what a 304 does not name is kept");
    unchanged(&mut feed.validators, &mut trust, &dated("Sun, 22 Nov 2026 00:00:00 GMT"), t(1));
    feed.polling.trust = trust;
    assert!(is_check_due(&feed, &rules, t(1)));
    assert_eq!(feed.validators.last_modified.as_deref(), Some("Sun, 22 Nov 2026 00:00:00 GMT"));
}

#[test]
fn h06_rows_from_before_checks_existed_are_checked_eight_days_after_their_last_change() {
    let rules = Rules::default();
    let mut feed = feed(&rules);
    feed.polling = curlew_model::Polling::default();
    assert!(!is_check_due(&feed, &rules, t(7)));
    assert!(is_check_due(&feed, &rules, t(8)));
    let first = whole(&feed, 9, &tags("\"1\""), true, &rules, t(8));
    assert!(!first.distrusted, "nothing is known to compare with");
}

#[test]
fn h01_a_tag_that_was_changed_on_its_way_has_another_form() {
    for (etag, other) in [
        ("\"x\"", None),
        ("W/\"x\"", Some("\"x\"")),
        ("\"x-gzip\"", Some("\"x-gzip\", \"x\"")),
        ("\"x;gzip\"", Some("\"x;gzip\", \"x\"")),
        ("W/\"x-gzip\"", Some("W/\"x-gzip\", \"x\"")),
        ("\"x--gzip\"", Some("\"x--gzip\", \"x\"")),
        ("\"-gzip\"", None),
        ("\"\"", None),
        ("W/\"\"", None),
        ("x", None),
        ("\"a\", \"b\"", None),
    ] {
        assert_eq!(other_form(etag).as_deref(), other, "{etag}");
    }
    let asked = |etag: &str| to_ask(&Validators { etag: Some(etag.into()), last_modified: None }).etag;
    assert_eq!(asked("W/\"x\"").as_deref(), Some("W/\"x\", \"x\""));
    assert_eq!(asked("\"x-gzip\"").as_deref(), Some("\"x-gzip\", \"x\""));
    assert_eq!(asked("\"x\"").as_deref(), Some("\"x\""));
    assert_eq!(to_ask(&Validators::default()), Validators::default());
}
