use super::*;
use curlew_model::{Millis, Slot, SourceKey};

fn t(days: u64) -> Timestamp {
    "2026-11-21T00:00:00Z".parse::<Timestamp>().unwrap_or_default() + Millis::from_days(days)
}

fn tags(etag: &str) -> Validators {
    Validators { etag: Some(etag.into()), last_modified: None }
}

/// A feed that was read whole on day 0.
fn feed(rules: &Rules) -> FeedSource {
    let key = SourceKey::new("0123456789abcdef0123456789abcdef").unwrap_or_else(|e| panic!("{e}"));
    let mut feed = FeedSource::new(key, Slot::of(0), "https://example.org/feed");
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
    assert_eq!(checks, [7, 21, 49, 105, 161, 217, 273, 329]);
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
    // Other content under the same validators: at once.
    let lied = whole(&feed, 2, &tags("\"1\""), true, &rules, t(7));
    assert!(lied.distrusted);
    feed.polling.trust = lied;
    assert!(to_send(&feed, &rules, t(8)).is_empty());
    // Other content under other validators may be chance; twice in a row it is not.
    let mut feed = self::feed(&rules);
    feed.polling.trust = whole(&feed, 2, &tags("\"2\""), true, &rules, t(7));
    assert_eq!((feed.polling.trust.distrusted, feed.polling.trust.strikes), (false, 1));
    assert_eq!(feed.polling.trust.verify_at, Some(t(14)), "and is looked into after a week again");
    let told = whole(&feed, 3, &tags("\"3\""), false, &rules, t(9));
    assert_eq!(told.strikes, 0, "a conditional request that brings news clears it");
    assert!(whole(&feed, 3, &tags("\"3\""), true, &rules, t(14)).distrusted);
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
fn h06_rows_from_before_checks_existed_are_checked_a_week_after_their_last_change() {
    let rules = Rules::default();
    let mut feed = feed(&rules);
    feed.polling = curlew_model::Polling::default();
    assert!(!is_check_due(&feed, &rules, t(6)));
    assert!(is_check_due(&feed, &rules, t(7)));
    let first = whole(&feed, 9, &tags("\"1\""), true, &rules, t(7));
    assert!(!first.distrusted, "nothing is known to compare with");
}
