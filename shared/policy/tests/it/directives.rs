//! The directives of pages: one test for each way that robots meta tags and X-Robots-Tag are written.

use curlew_model::{SnippetLimit, Timestamp};
use curlew_policy::page::directives::{Directives, robots_tag_lines};

fn meta(tags: &[(&str, &str)]) -> Directives {
    let tags: Vec<_> = tags.iter().map(|(n, c)| ((*n).to_owned(), (*c).to_owned())).collect();
    Directives::gather(&tags, &[], "CurlewBot")
}

fn headers(values: &[&str]) -> Directives {
    let values: Vec<_> = values.iter().map(|v| (*v).to_owned()).collect();
    Directives::gather(&[], &values, "CurlewBot")
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn p01_meta_tags_to_all_robots_and_to_ours_in_any_case() {
    let d = meta(&[("robots", "NOINDEX, NoArchive"), ("curlewbot", "nofollow"), ("otherbot", "nosnippet")]);
    assert_eq!(d.names(), ["noindex", "nofollow", "noarchive"]);
    assert_eq!(meta(&[("robots", "index, follow, all, max-image-preview:large")]), Directives::default());
    assert_eq!(meta(&[("description", "noindex"), ("googlebot", "noindex")]), Directives::default());
    assert_eq!(meta(&[("robots", "noindex nofollow")]).names(), ["noindex", "nofollow"]);
    assert_eq!(meta(&[("robots", "noindex;nofollow;")]).names(), ["noindex", "nofollow"]);
}

#[test]
fn p02_a_robots_name_holds_for_the_rest_of_its_header_only() {
    assert_eq!(headers(&["noindex, nofollow"]).names(), ["noindex", "nofollow"]);
    assert_eq!(headers(&["CURLEWBOT: noindex, noarchive"]).names(), ["noindex", "noarchive"]);
    assert_eq!(headers(&["otherbot: noindex, nofollow"]), Directives::default());
    assert_eq!(headers(&["otherbot: noindex", "nosnippet"]).names(), ["nosnippet"]);
    assert_eq!(headers(&["otherbot: noindex, curlewbot: noarchive, nofollow"]).names(), ["nofollow", "noarchive"]);
    assert_eq!(headers(&["*: noindex"]).names(), ["noindex"]);
}

#[test]
fn p02_a_directive_with_a_colon_is_no_robots_name() {
    let d = headers(&["unavailable_after: 25 Jun 2027 15:00:00 PST, noarchive"]);
    assert_eq!(d.names(), ["noarchive", "unavailable_after:2027-06-25T23:00:00Z"]);
    assert_eq!(headers(&["max-image-preview: none, nofollow"]).names(), ["nofollow"]);
    let d = headers(&["curlewbot: unavailable_after: Fri, 25 Jun 2027 15:00:00 GMT, noindex"]);
    assert_eq!(d.names(), ["noindex", "unavailable_after:2027-06-25T15:00:00Z"]);
    assert_eq!(headers(&["otherbot: unavailable_after: Fri, 25 Jun 2027 15:00:00 GMT"]), Directives::default());
}

#[test]
fn p03_the_most_restrictive_wins() {
    let d = Directives::gather(
        &[("robots".into(), "index, max-snippet:80".into()), ("curlewbot".into(), "max-snippet:-1, all".into())],
        &[
            "noindex".into(),
            "max-snippet: 20".into(),
            "unavailable_after: 2028-01-01, unavailable_after: 2027-01-01".into(),
        ],
        "CurlewBot",
    );
    assert!(d.noindex);
    assert_eq!(d.max_snippet, Some(20));
    assert_eq!(d.unavailable_after, Some(at("2027-01-01T00:00:00Z")));
}

#[test]
fn p04_none_is_noindex_and_nofollow() {
    assert_eq!(meta(&[("robots", "none")]).names(), ["noindex", "nofollow"]);
    assert_eq!(headers(&["None"]).names(), ["noindex", "nofollow"]);
}

#[test]
fn p05_nofollow_alone_leaves_the_page_to_be_found() {
    let d = meta(&[("robots", "nofollow")]);
    assert!(d.nofollow && !d.noindex);
}

#[test]
fn p06_what_may_be_shown() {
    assert_eq!(meta(&[("robots", "nosnippet, max-snippet:50")]).snippet_limit(), SnippetLimit(Some(0)));
    assert_eq!(meta(&[("robots", "max-snippet:50")]).snippet_limit(), SnippetLimit(Some(50)));
    assert_eq!(meta(&[("robots", "max-snippet=50")]).snippet_limit(), SnippetLimit(Some(50)));
    assert_eq!(meta(&[("robots", "max-snippet:-1")]).snippet_limit(), SnippetLimit(None));
    assert_eq!(meta(&[("robots", "max-snippet:many")]).snippet_limit(), SnippetLimit(None));
    assert!(meta(&[("robots", "nocache")]).noarchive);
    assert!(meta(&[("robots", "noimageindex")]).noimageindex);
}

#[test]
fn p07_unavailable_after_in_every_form_and_bad_dates_ignored() {
    for date in [
        "Fri, 25 Jun 2027 15:00:00 GMT",
        "Friday, 25-Jun-27 15:00:00 GMT",
        "25-Jun-2027 15:00:00 GMT",
        "2027-06-25T17:00:00+02:00",
    ] {
        for separator in [": ", ":", "="] {
            let d = meta(&[("robots", &format!("noarchive, unavailable_after{separator}{date}, nofollow"))]);
            assert_eq!(d.unavailable_after, Some(at("2027-06-25T15:00:00Z")), "{date}");
            assert!(d.noarchive && d.nofollow, "{date}");
        }
    }
    for date in ["soon", "Fri, soon", "31 Feb 2027", "", "Fri,"] {
        let d = headers(&[&format!("unavailable_after: {date}"), "nofollow"]);
        assert_eq!(d.names(), ["nofollow"], "{date}");
    }
    let d = meta(&[("robots", "unavailable_after: 2027-06-25T15:00:00Z")]);
    assert!(!d.expired(at("2027-06-25T15:00:00Z")));
    assert!(d.expired(at("2027-06-25T15:00:00.001Z")));
    assert!(!Directives::default().expired(Timestamp::MAX));
}

#[test]
fn names_read_back_as_what_they_came_from() {
    let d =
        headers(&["none, nosnippet, noarchive, noimageindex, max-snippet:7, unavailable_after: 2027-01-01T10:00:00Z"]);
    assert_eq!(meta(&[("robots", &d.names().join(", "))]), d);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn nothing_makes_it_panic(text in ".{0,200}") {
        let _ = Directives::gather(&[("robots".into(), text.clone())], &[text], "CurlewBot");
    }

    #[test]
    fn saying_more_never_takes_a_directive_back(a in "[a-z:,;= 0-9-]{0,60}", b in "[a-z:,;= 0-9-]{0,60}") {
        let (one, both) = (headers(&[&a]), headers(&[&a, &b]));
        proptest::prop_assert!(both.noindex >= one.noindex && both.nofollow >= one.nofollow && both.nosnippet >= one.nosnippet);
        proptest::prop_assert!(one.max_snippet.is_none_or(|n| both.max_snippet.is_some_and(|m| m <= n)));
    }
}

fn robots_tag(values: &[&str]) -> Directives {
    let values: Vec<_> = values.iter().map(|v| (*v).to_owned()).collect();
    Directives::gather(&[], &robots_tag_lines(&values), "CurlewBot")
}

#[test]
fn p16_robots_tag_is_a_list_of_product_tokens_whose_rules_are_parameters() {
    for (header, expected) in [
        ("*;nosnippet, CurlewBot;noindex", vec!["noindex", "nosnippet"]),
        ("CurlewBot;noindex;noarchive", vec!["noindex", "noarchive"]),
        ("curlewbot;noindex", vec!["noindex"]),
        ("\"CurlewBot\";nofollow", vec!["nofollow"]),
        ("ExampleBot;noindex, *;noarchive", vec!["noarchive"]),
        ("ExampleBot;noindex", vec![]),
        ("*;noindex=?0", vec![]),
        ("*;noindex;noindex=?0, *;nofollow=?1", vec!["nofollow"]),
        ("*;max-snippet=50", vec!["max-snippet:50"]),
        ("*;unavailable_after=\"2026-08-25, noindex\"", vec!["unavailable_after:2026-08-25T00:00:00Z"]),
        ("*;max-snippet=\"9, noindex\"", vec!["max-snippet:9"]),
        ("*;newrule;other=5, CurlewBot", vec![]),
        ("(* CurlewBot);noindex", vec![]),
        ("5;noindex", vec![]),
    ] {
        assert_eq!(robots_tag(&[header]).names(), expected, "{header}");
    }
    assert_eq!(robots_tag(&["*;nosnippet", "CurlewBot;noindex"]).names(), ["noindex", "nosnippet"], "one list");
}

#[test]
fn p16_a_robots_tag_in_the_old_form_is_meant_too_and_a_long_one_counts_as_far_as_it_is_whole() {
    assert_eq!(robots_tag(&["noindex, nofollow"]).names(), ["noindex", "nofollow"]);
    assert_eq!(robots_tag(&["CurlewBot: noindex"]).names(), ["noindex"]);
    assert_eq!(robots_tag(&["OtherBot: noindex"]), Directives::default());
    let long = format!("*;noindex, {}, *;nofollow", vec!["heron;nosnippet"; 600].join(", "));
    assert_eq!(robots_tag(&[&long]).names(), ["noindex"]);
    assert_eq!(robots_tag(&[&format!("*;noindex;{}", "a".repeat(9_000))]), Directives::default());
}
