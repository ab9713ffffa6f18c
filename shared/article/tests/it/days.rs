//! Dates of publication: dates in markup, dates that the page shows, and dates that only belong to its story.

use crate::story::{FIRST, REST, linked, read_at};
use curlew_article::Article;
use curlew_model::Confidence;

fn read(head: &str, above: &str) -> Article {
    let html = format!(
        "<html lang=en><head><title>The ferry to the islands</title>{head}</head><body><article>\
         <h1>The ferry to the islands</h1>{above}{FIRST}{REST}</article></body></html>"
    );
    read_at(&html, "https://quay.example.org/ferry")
}

fn published(head: &str, above: &str) -> String {
    read(head, above).published.map(|at| at.to_string()).unwrap_or_default()
}

fn data(kind: &str, dates: &str) -> String {
    linked(&format!(r#"{{"@type":"{kind}","headline":"The ferry to the islands",{dates}}}"#))
}

const BOTH: &str = r#""datePublished":"2026-05-04T06:00:00Z","dateModified":"2026-05-08T08:15:00Z""#;

#[test]
fn the_stated_day_stands_where_something_else_explains_that_of_the_change() {
    let (stated, entry) = ("2026-05-04T06:00:00Z", "<time datetime=2026-05-08T08:15:00Z>08:15</time>");
    let byline = "<p class=byline>By Ada Example</p>";
    let graph = "<meta property=article:published_time content=2026-05-04T06:00:00Z>\
                 <meta property=article:modified_time content=2026-05-08T08:15:00Z>";
    for above in [
        &*format!("<div><header>{entry}<h2>The ferry is back</h2></header><p>It sails again from noon.</p></div>"),
        "<p><em>Correction, May 8, 2026: an earlier version gave a wrong hour.</em></p>",
        "<p>Korrektur vom 8. Mai 2026: Hier stand eine falsche Zeit.</p>",
        "<p>The hearing on 8 May 2026 was closed to the public.</p>",
        "<p>L'audience du 8 mai 2026 s'est tenue à huis clos.</p>",
        "<div class=top-date>Friday, May 8, 2026</div>",
        "<div class=latest>The quay is open <time datetime=2026-05-08T08:15:00Z>2 hours ago</time></div>",
    ] {
        assert_eq!(published(graph, above), stated, "{above}");
        assert_eq!(published(&data("NewsArticle", BOTH), above), stated, "{above}");
    }
    let live = data("LiveBlogPosting", BOTH);
    assert_eq!(published(&live, &format!("{byline}<p>8 May 2026</p>{entry}")), stated);
    for above in [format!("{byline}<div>8 May 2026</div>"), "<p class=byline>By Ada Example | 8 May 2026</p>".into()] {
        assert_eq!(published(graph, &above), "2026-05-08T08:15:00Z", "{above}");
    }
}

#[test]
fn a_day_of_the_story_is_a_guess_and_a_line_about_the_publication_is_none() {
    let confidence = |above: &str| read("", above).published_by.unwrap().confidence;
    for guess in [
        "<p>Version 4.2 came out on 2024-02-29 and broke the winch.</p>",
        "<p>Deadline: 1 March 2025</p>",
        "<p>Deadline: <time datetime=2025-03-01>1 March 2025</time></p>",
        "<p>The exhibition opens on <time datetime=2025-05-17>May 17, 2025</time> in the hall of the town.</p>",
    ] {
        assert_eq!(confidence(guess), Confidence::Low, "{guess}");
    }
    for line in [
        "<p>1 May 2026</p>",
        "<p>Friday, 1 May 2026</p>",
        "<p>Published on May 1, 2026 in Walks</p>",
        "<p>By Ada Example, May 1, 2026</p>",
        "<p>Ada Example | 5 min | May 1, 2026</p>",
        "<p>5 min read · <time datetime=2026-05-01>May 1</time></p>",
        "<p>Publicado el 1 de mayo de 2026</p>",
        "<p>Опубликовано 1 мая 2026</p>",
    ] {
        assert_eq!(confidence(line), Confidence::Medium, "{line}");
    }
}

#[test]
fn a_line_of_its_own_comes_before_a_day_among_other_words() {
    for line in ["Deadline for boats: May 2, 2031", "Joined: Mon May 02, 2011"] {
        assert_eq!(
            published("", &format!("<p>{line}</p><p>Posted: May 1, 2026</p>")),
            "2026-05-01T00:00:00Z",
            "{line}"
        );
    }
}

#[test]
fn hours_beside_a_day_are_read() {
    for line in ["1 May 2026, 2.30pm", "Published on 1 May 2026 at 14:30", "14:30, 1 May 2026"] {
        assert_eq!(published("", &format!("<p>{line}</p>")), "2026-05-01T14:30:00Z", "{line}");
    }
}

#[test]
fn markup_may_state_seconds_typed_values_and_days_before_the_web_but_nothing_that_was_never_set() {
    for (value, want) in [
        ("1777629600", "2026-05-01T10:00:00Z"),
        ("1777629600000", "2026-05-01T10:00:00Z"),
        (r#"{"@type":"Date","@value":"2026-05-01T10:00:00Z"}"#, "2026-05-01T10:00:00Z"),
        (r#""Fri May 01 2026 12:00:00 GMT+0200 (Central European Summer Time)""#, "2026-05-01T10:00:00Z"),
        (r#""/Date(1777629600000+0200)/""#, "2026-05-01T10:00:00Z"),
        (r#""1923-05-04""#, "1923-05-04T00:00:00Z"),
        (r#""0000-00-00 00:00:00""#, ""),
        (r#""0001-01-01T00:00:00Z""#, ""),
        (r#""1970-01-01""#, ""),
        (r#""1900-01-01T00:00:00""#, ""),
        (r#""2026-02-30""#, ""),
        ("0", ""),
    ] {
        assert_eq!(published(&data("Article", &format!("\"datePublished\":{value}")), ""), want, "{value}");
    }
    // An early date in the text belongs to the story.
    assert_eq!(published("", "<p>The quay was built on <time datetime=1923-05-04>4 May 1923</time></p>"), "");
}

#[test]
fn each_of_two_days_in_an_element_for_dates_has_its_own_words() {
    for (language, line) in [
        ("en", "Updated 3 June 2026, published 1 May 2026"),
        ("en", "May 1, 2026. <i>Updated: June 3, 2026</i>"),
        ("de", "Aktualisiert am 03.06.2026 – Veröffentlicht am 01.05.2026"),
    ] {
        let above = format!("<div class=date>{line}</div>");
        let html = format!("<html lang={language}><title>The ferry</title><h1>The ferry</h1>{above}{FIRST}{REST}");
        let article = read_at(&html, "https://quay.example.org/ferry");
        let days = [article.published, article.modified].map(|at| at.map(|at| at.to_string()).unwrap_or_default());
        assert_eq!(days, ["2026-05-01T00:00:00Z", "2026-06-03T00:00:00Z"], "{line}");
    }
}

#[test]
fn markup_may_shorten_the_year_and_name_its_dates_in_many_ways() {
    let day = "2026-05-01T00:00:00Z";
    for above in [
        "<time>01.05.26</time>",
        "<div class=date>01.05.26</div>",
        "<relative-time datetime=2026-05-01>x</relative-time>",
    ] {
        assert_eq!(published("", above), day, "{above}");
    }
    assert_eq!(published("", "<p>Version 01.05.26</p>"), "");
    for name in ["og:pubdate", "vr:published_time", "created", "date.created"] {
        assert_eq!(published(&format!("<meta property={name} content=2026-05-01>"), ""), day, "{name}");
    }
}

#[test]
fn linked_data_about_another_page_says_nothing_about_this_one() {
    let work = |url: &str, day: &str| format!(r#"{{"@type":"NewsArticle","url":"{url}","datePublished":"{day}"}}"#);
    let [other, own] = [work("/another", "2020-05-01"), work("https://quay.example.org/ferry/", "2026-05-01")];
    for json in [format!("[{other},{own}]"), own] {
        let html = format!("{}<title>The ferry</title><h1>The ferry</h1>{FIRST}{REST}", linked(&json));
        let published = read_at(&html, "https://quay.example.org/ferry").published;
        assert_eq!(published.map(|at| at.to_string()).as_deref(), Some("2026-05-01T00:00:00Z"), "{json}");
    }
    // An old address of the only article does no harm.
    assert_eq!(published(&linked(&other), ""), "2020-05-01T00:00:00Z");
}

#[test]
fn linked_data_with_a_small_fault_is_read() {
    for json in [
        r#"{"@type":"Article","datePublished":"2026-05-01",}"#,
        r#"{"@type":"Article","description":"it\'s","datePublished":"2026-05-01"}"#,
        "\u{FEFF}{\"@type\":\"Article\", // dates\n\"datePublished\":\"2026-05-01\"}",
    ] {
        assert_eq!(published(&linked(json), ""), "2026-05-01T00:00:00Z", "{json}");
    }
    let writer = r#"{"@type":"Article","author":{"givenName":"Ada","familyName":"Example"}}"#;
    assert_eq!(read(&linked(writer), "").author.as_deref(), Some("Ada Example"));
}
