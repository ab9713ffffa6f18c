//! Tests of page directives: one for each way of writing robots meta tags and X-Robots-Tag.

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
    for (tags, expected) in [
        (
            &[("robots", "NOINDEX, NoArchive"), ("curlewbot", "nofollow"), ("otherbot", "nosnippet")][..],
            "noindex nofollow noarchive",
        ),
        (&[("robots", "index, follow, all, max-image-preview:large")], ""),
        (&[("description", "noindex"), ("googlebot", "noindex")], ""),
        (&[("robots", "noindex nofollow")], "noindex nofollow"),
        (&[("robots", "noindex;nofollow;")], "noindex nofollow"),
    ] {
        assert_eq!(meta(tags).names().join(" "), expected, "{tags:?}");
    }
}

#[test]
fn p02_a_robots_name_holds_for_the_rest_of_its_header_only() {
    for (lines, expected) in [
        (&["noindex, nofollow"][..], "noindex nofollow"),
        (&["\"noindex, nofollow\""], "noindex nofollow"),
        (&["CURLEWBOT: noindex, noarchive"], "noindex noarchive"),
        (&["otherbot: noindex, nofollow"], ""),
        (&["otherbot: noindex", "nosnippet"], "nosnippet"),
        (&["otherbot: noindex, curlewbot: noarchive, nofollow"], "nofollow noarchive"),
        (&["*: noindex"], "noindex"),
        // A directive with a colon is not the name of a robot.
        (
            &["unavailable_after: 25 Jun 2027 15:00:00 PST, noarchive"],
            "noarchive unavailable_after:2027-06-25T23:00:00Z",
        ),
        (&["max-image-preview: none, nofollow"], "nofollow"),
        (
            &["curlewbot: unavailable_after: Fri, 25 Jun 2027 15:00:00 GMT, noindex"],
            "noindex unavailable_after:2027-06-25T15:00:00Z",
        ),
        (&["otherbot: unavailable_after: Fri, 25 Jun 2027 15:00:00 GMT"], ""),
    ] {
        assert_eq!(headers(lines).names().join(" "), expected, "{lines:?}");
    }
}

#[test]
fn p03_the_most_restrictive_wins() {
    let tags =
        [("robots", "index, max-snippet:80"), ("curlewbot", "max-snippet:-1, all")].map(|(n, c)| (n.into(), c.into()));
    let dates = "unavailable_after: 2028-01-01, unavailable_after: 2027-01-01";
    let d = Directives::gather(&tags, &["noindex".into(), "max-snippet: 20".into(), dates.into()], "CurlewBot");
    assert_eq!(d.names(), ["noindex", "max-snippet:20", "unavailable_after:2027-01-01T00:00:00Z"]);
}

#[test]
fn p04_p05_none_is_noindex_and_nofollow_and_nofollow_alone_leaves_the_page_to_be_found() {
    assert_eq!(meta(&[("robots", "none")]).names(), ["noindex", "nofollow"]);
    assert_eq!(headers(&["None"]).names(), ["noindex", "nofollow"]);
    assert_eq!(meta(&[("robots", "nofollow")]).names(), ["nofollow"]);
}

#[test]
fn p06_what_may_be_shown() {
    for (content, limit) in [
        ("nosnippet, max-snippet:50", Some(0)),
        ("max-snippet:50", Some(50)),
        ("max-snippet=50", Some(50)),
        ("max-snippet:-1", None),
        ("max-snippet:many", None),
    ] {
        assert_eq!(meta(&[("robots", content)]).snippet_limit(), SnippetLimit(limit), "{content}");
    }
    let d = meta(&[("robots", "nocache, noimageindex")]);
    assert!(d.noarchive && d.noimageindex);
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

fn robots_tag(values: &[&str]) -> String {
    let values: Vec<_> = values.iter().map(|v| (*v).to_owned()).collect();
    Directives::gather(&[], &robots_tag_lines(&values), "CurlewBot").names().join(" ")
}

#[test]
fn p16_robots_tag_is_a_list_of_product_tokens_whose_rules_are_parameters() {
    for (header, expected) in [
        ("*;nosnippet, CurlewBot;noindex", "noindex nosnippet"),
        ("CurlewBot;noindex;noarchive", "noindex noarchive"),
        ("curlewbot;noindex", "noindex"),
        ("\"CurlewBot\";nofollow", "nofollow"),
        ("ExampleBot;noindex, *;noarchive", "noarchive"),
        ("ExampleBot;noindex", ""),
        ("*;noindex=?0", ""),
        ("*;noindex;noindex=?0, *;nofollow=?1", "nofollow"),
        ("*;max-snippet=50", "max-snippet:50"),
        ("*;unavailable_after=\"2026-08-25, noindex\"", "unavailable_after:2026-08-25T00:00:00Z"),
        ("*;max-snippet=\"9, noindex\"", "max-snippet:9"),
        ("*;newrule;other=5, CurlewBot", ""),
        ("(* CurlewBot);noindex", ""),
        ("5;noindex", ""),
        // The old form applies, too.
        ("noindex, nofollow", "noindex nofollow"),
        ("CurlewBot: noindex", "noindex"),
        ("OtherBot: noindex", ""),
        // The complete members of a long header count.
        (&format!("*;noindex, {}, *;nofollow", vec!["heron;nosnippet"; 600].join(", ")), "noindex"),
        (&format!("*;noindex;{}", "a".repeat(9_000)), ""),
    ] {
        assert_eq!(robots_tag(&[header]), expected, "{header:.200}");
    }
    assert_eq!(robots_tag(&["*;nosnippet", "CurlewBot;noindex"]), "noindex nosnippet", "one list");
}
