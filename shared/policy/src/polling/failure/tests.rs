use super::*;
use curlew_model::{Polling, Slot, SourceKey};

fn t(hours: u64) -> Timestamp {
    "2026-11-21T00:00:00Z".parse::<Timestamp>().unwrap_or_default() + Millis::from_hours(hours)
}

fn feed(url: &str) -> FeedSource {
    let key = SourceKey::new("0123456789abcdef0123456789abcdef").unwrap_or_else(|e| panic!("{e}"));
    FeedSource::new(key, Slot::from_hash(0), url)
}

fn failed(streak: Option<FailureStreak>, failures: u32) -> FeedSource {
    let feed = feed("https://a.example/feed");
    FeedSource { failures, polling: Polling { streak, ..feed.polling }, ..feed }
}

/// Polls a feed that fails each time, as soon as allowed; returns the hours between polls, and the end.
fn course(wrong: Wrong) -> (Vec<u64>, Option<Retired>) {
    let rules = Rules::default();
    let (mut streak, mut now, mut waits) = (None, t(0), vec![]);
    for failures in 1..40 {
        match judge(&failed(streak, failures), wrong, &rules, now, 0) {
            AfterFailedPoll::Again { streak: next, wait, .. } => {
                assert!(wait >= rules.poll_floor && wait.0 <= rules.poll_cap.0 / 10 * 11);
                // The jitter does not matter here.
                waits.push(wait.0 / 3_600_000);
                now = now + Millis::from_hours(wait.0 / 3_600_000);
                streak = next;
            }
            AfterFailedPoll::Retired(why) => return (waits, Some(why)),
        }
    }
    (waits, None)
}

#[test]
fn f04_404_slows_to_a_day_then_doubles_and_retires_after_sixty_days() {
    let (waits, end) = course(Wrong::Lost);
    assert!(waits[0] >= 24 && waits[1] >= 48 && waits[2] >= 96 && waits[3] >= 168, "{waits:?}");
    assert_eq!(end, Some(Retired::Lost));
    assert!((60 * 24..70 * 24).contains(&waits.iter().sum::<u64>()), "{waits:?}");
}

#[test]
fn f04_410_retires_at_once() {
    assert_eq!(course(Wrong::Gone), (vec![], Some(Retired::Gone)));
}

#[test]
fn h19_a_refused_feed_waits_long_and_is_retired() {
    let (waits, end) = course(Wrong::Refused);
    assert!(waits[0] >= 72 && waits[1] >= 144, "{waits:?}");
    assert_eq!(end, Some(Retired::Refused));
}

#[test]
fn h18_failures_slow_down_to_once_a_week_and_never_retire() {
    // A 5xx waits at least two days.
    for (wrong, least) in [(Wrong::Failed, 8), (Wrong::ServerError, 48)] {
        let (waits, end) = course(wrong);
        assert_eq!(end, None);
        assert!(waits[0] >= least && waits.is_sorted() && waits[9] >= 7 * 24, "{waits:?}");
    }
}

#[test]
fn x18_a_suspect_feed_is_slowed_after_some_times() {
    let (waits, end) = course(Wrong::Suspect);
    assert_eq!(end, None);
    assert!(waits[0] < 24 && waits[1] < 24 && waits[2] >= 24 && waits[3] >= 48 && waits[9] >= 7 * 24, "{waits:?}");
}

#[test]
fn h04_a_304_that_nobody_asked_for_is_met_with_one_more_request_and_then_hardly_any() {
    let (waits, _) = course(Wrong::Unasked);
    assert!(waits[0] >= 24 && waits[1] >= 7 * 24, "{waits:?}");
}

#[test]
fn what_ails_a_feed_begins_anew_with_another_kind_and_outlasts_a_mere_failure() {
    let rules = Rules::default();
    let again = |known, wrong, hours| match judge(&failed(known, 1), wrong, &rules, t(hours), 7) {
        AfterFailedPoll::Again { streak, .. } => streak,
        AfterFailedPoll::Retired(why) => panic!("{why:?}"),
    };
    let lost = again(None, Wrong::Lost, 0);
    assert_eq!(again(lost, Wrong::Failed, 9), lost);
    assert_eq!(again(lost, Wrong::Lost, 30).map(|a| (a.since, a.times)), Some((t(0), 2)));
    assert_eq!(again(lost, Wrong::Suspect, 30).map(|a| (a.since, a.times)), Some((t(30), 1)));
}

/// Returns the index of the sighting (hours, target, permanent) that makes the target the feed's address.
fn believed(from: &str, sightings: &[(u64, &str, bool)]) -> Option<usize> {
    let mut feed = feed(from);
    sightings.iter().position(|(hours, to, permanently)| {
        let to = Url::parse(to).unwrap_or_else(|e| panic!("{e}"));
        let ((moved, at), done) = moved(&feed, &to, *permanently, t(*hours));
        (feed.moved, feed.polling.moved_at) = (moved, at);
        done
    })
}

#[test]
fn f01_a_move_is_believed_on_the_third_poll_in_a_row_at_least_a_day_apart() {
    let (from, to, other) = ("https://a.example/feed", "https://b.example/feed", "https://c.example/feed");
    assert_eq!(believed(from, &[(0, to, true), (24, to, true), (48, to, true)]), Some(2));
    let often: Vec<_> = (0..9).map(|n| (8 * n, to, true)).collect();
    assert_eq!(believed(from, &often), Some(6), "polls in between do not count");
    assert_eq!(believed(from, &[(0, to, true), (24, to, true), (48, other, true), (72, to, true)]), None);
    assert_eq!(believed(from, &[(0, to, true), (24, from, false), (48, to, true), (72, to, true)]), None);
}

#[test]
fn f02_f03_temporary_hops_are_never_believed_and_tls_on_the_same_host_is_at_once() {
    let far: Vec<_> = (0..50).map(|n| (24 * n, "https://b.example/feed", false)).collect();
    assert_eq!(believed("https://a.example/feed", &far), None);
    let tls = |to| believed("http://a.example/feed", &[(0, to, true)]);
    assert_eq!(tls("https://a.example/feed"), Some(0));
    assert_eq!(tls("https://b.example/feed"), None);
    assert_eq!(tls("http://a.example/rss"), None);
}
