//! Tests that the judges find deliberate faults, and no others.

use crate::judge::{self, registrable};
use crate::{Call, Farm, Kind};

fn call(host: &str, path: &str, start: u64, end: u64) -> Call {
    let kind = match path {
        "/" => Kind::Home,
        "/robots.txt" => Kind::Robots,
        "/feed.xml" => Kind::Feed,
        picture if picture.starts_with("/images/") => Kind::Image,
        _ => Kind::Page,
    };
    Call {
        host: host.to_owned(),
        path: path.to_owned(),
        method: "GET".to_owned(),
        kind,
        status: 200,
        start,
        end,
        bytes: 0,
        user_agent: "CurlewBot/0".to_owned(),
        headers: Vec::new(),
    }
}

/// Returns a polite visit: one call per second, each 10 ms long.
fn polite() -> Vec<Call> {
    let paths = ["/robots.txt", "/", "/feed.xml", "/a", "/images/a.jpg", "/b", "/images/b.jpg"];
    (0..).zip(paths).map(|(i, path)| call("a.test", path, i * 1_000_000, i * 1_000_000 + 10_000)).collect()
}

#[test]
fn a_polite_visit_is_found_to_be_one() {
    let (calls, farm) = (polite(), Farm::demo());
    let gap = judge::closest_gap(&calls, registrable).unwrap();
    assert_eq!((gap.start_to_start, gap.end_to_start), (1_000_000, 990_000));
    assert!(judge::overlaps(&calls, registrable).is_empty());
    assert!(judge::forbidden(&calls, &farm).is_empty());
    assert!(judge::unasked(&calls).is_empty());
    assert!(judge::repeated(&calls).is_empty());
    assert!(judge::indiscreet(&calls).is_empty());
    assert!((judge::tally(&calls).calls_per_page() - 2.0).abs() < f64::EPSILON);
    let tally = judge::tally(&calls);
    assert_eq!(
        (tally.robots, tally.home, tally.feeds, tally.pages, tally.images, tally.distinct_pages),
        (1, 1, 1, 2, 2, 2)
    );
}

#[test]
fn a_call_too_soon_is_found_across_subdomains() {
    let mut calls = polite();
    calls.push(call("blog.a.test", "/c", 6_300_000, 6_310_000));
    calls.push(call("b.test", "/c", 6_310_000, 6_320_000));
    let gap = judge::closest_gap(&calls, registrable).unwrap();
    assert_eq!((gap.key.as_str(), gap.start_to_start, gap.later.as_str()), ("a.test", 300_000, "blog.a.test/c"));
    let close = judge::closer_than(&calls, registrable, 500_000);
    assert_eq!(close.iter().map(|gap| gap.later.as_str()).collect::<Vec<_>>(), ["blog.a.test/c"]);
    let by_host = judge::closest_gap(&calls, str::to_owned).unwrap();
    assert_eq!(by_host.start_to_start, 1_000_000);
}

#[test]
fn an_overlap_is_found_also_behind_a_short_call() {
    let mut calls = polite();
    calls.push(call("a.test", "/long", 10_000_000, 15_000_000));
    calls.push(call("a.test", "/short", 16_000_000, 16_010_000));
    assert!(judge::overlaps(&calls, registrable).is_empty());
    calls.push(call("www.a.test", "/inside", 11_000_000, 11_010_000));
    calls.push(call("a.test", "/also", 14_000_000, 15_500_000));
    let found = judge::overlaps(&calls, registrable);
    let pairs: Vec<(&str, &str, u64)> =
        found.iter().map(|o| (o.earlier.as_str(), o.later.as_str(), o.micros)).collect();
    assert_eq!(pairs, [("a.test/long", "www.a.test/inside", 10_000), ("a.test/long", "a.test/also", 1_000_000)]);
    assert_eq!(judge::closest_gap(&calls, registrable).unwrap().end_to_start, 0);
}

#[test]
fn forbidden_calls_are_found() {
    let farm = Farm::demo();
    let bad = [
        call("keep-out.test", "/", 0, 1),
        call("stanze-chiuse.test", "/private/closed-cupboard", 0, 1),
        call("named-guest.test", "/members/minutes", 0, 1),
        call("robots-rotto.test", "/feed.xml", 0, 1),
    ];
    let good = [
        call("keep-out.test", "/robots.txt", 0, 1),
        call("stanze-chiuse.test", "/private/open/veranda", 0, 1),
        call("named-guest.test", "/", 0, 1),
        call("nobody-here.test", "/private/", 0, 1),
    ];
    assert_eq!(judge::forbidden(&bad, &farm).len(), bad.len());
    assert!(judge::forbidden(&good, &farm).is_empty());
}

#[test]
fn impatience_with_a_crawl_delay_is_found() {
    let farm = Farm::demo();
    let visit = |second: u64| {
        let at = |i: u64, path| call("three-second-rule.test", path, i * second, i * second + 10_000);
        [at(0, "/robots.txt"), at(1, "/"), at(2, "/feed.xml")]
    };
    assert_eq!(judge::impatient(&visit(1_000_000), &farm).len(), 2);
    assert!(judge::impatient(&visit(3_000_000), &farm).is_empty());
    assert!(judge::impatient(&polite(), &farm).is_empty());
}

#[test]
fn missing_manners_are_found() {
    let mut calls = polite();
    calls.push(call("rude.test", "/", 0, 1));
    calls.push(call("rude.test", "/robots.txt", 2, 3));
    assert_eq!(judge::unasked(&calls).into_iter().collect::<Vec<_>>(), ["rude.test"]);

    calls.push(call("a.test", "/b", 20_000_000, 20_010_000));
    let again = judge::repeated(&calls);
    assert_eq!((again.len(), again[0].address.as_str(), again[0].times, again[0].kind), (1, "a.test/b", 2, Kind::Page));
    assert!(judge::tally(&calls).calls_per_page() > 2.0);

    calls[0].headers.push(("referer".to_owned(), "http://a.test/".to_owned()));
    calls[1].user_agent.clear();
    assert_eq!(judge::indiscreet(&calls).len(), 2);
}

#[test]
fn a_call_to_a_site_that_had_to_be_left_alone_is_found() {
    const MINUTE: u64 = 60_000_000;
    let answered =
        |path, status, minute: u64| Call { status, ..call("a.test", path, minute * MINUTE, minute * MINUTE + 9) };
    let later = |minute: u64| call("www.a.test", "/b", minute * MINUTE + 10, minute * MINUTE + 20);
    let hours = |n: u64| n * 60;
    for (path, status, quiet) in [
        ("/a", 202, hours(1)),
        ("/a", 402, hours(1)),
        ("/a", 403, hours(1)),
        ("/a", 451, hours(1)),
        ("/a", 500, hours(1)),
        ("/images/a.jpg", 403, hours(1)),
        ("/a", 503, hours(48)),
        ("/a", 429, hours(72)),
        ("/robots.txt", 503, hours(48)),
        ("/robots.txt", 500, 0),
        ("/a", 404, 0),
        ("/a", 200, 0),
    ] {
        let refused = answered(path, status, 0);
        assert_eq!(judge::intrusions(&[refused.clone(), later(quiet)], registrable), [], "{path} {status}");
        if quiet > 0 {
            let soon = [refused.clone(), later(0), later(quiet - 1)];
            let found = judge::intrusions(&soon, registrable);
            assert_eq!(found.len(), 2, "{path} {status}: {found:?}");
            assert_eq!((found[0].status, found[0].later.as_str(), found[0].after), (status, "www.a.test/b", 1));
        }
        assert_eq!(judge::intrusions(&[refused, call("b.test", "/b", 10, 20)], registrable), [], "another site");
    }
    // A shorter wait does not replace a longer one.
    let both = [answered("/a", 429, 0), answered("/c", 403, hours(72) + 1), later(hours(74))];
    assert_eq!(judge::intrusions(&both, registrable), []);
    let both = [answered("/a", 429, 0), answered("/c", 403, hours(2)), later(hours(5))];
    assert_eq!(judge::intrusions(&both, registrable).len(), 2);
}

#[test]
fn a_home_page_that_is_asked_a_third_time_within_a_day_is_found() {
    const HOUR: u64 = 3_600_000_000;
    let mut calls = polite();
    calls.push(call("www.a.test", "/", 2 * HOUR, 2 * HOUR + 9));
    assert!(
        judge::homes_asked_again(&calls, registrable).is_empty(),
        "once for discovery, once to compare a page with"
    );
    let (day_later, same_day) = (25 * HOUR, 23 * HOUR);
    calls.push(call("a.test", "/", day_later, day_later + 9));
    assert!(judge::homes_asked_again(&calls, registrable).is_empty());
    calls.push(call("a.test", "/", same_day, same_day + 9));
    assert_eq!(judge::homes_asked_again(&calls, registrable).into_iter().collect::<Vec<_>>(), ["a.test"]);
}
