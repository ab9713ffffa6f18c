//! Tests of the places where a page states its date: markup, URL, lines, scripts.

use crate::story::{FIRST, REST, TEXT, read, read_at};

#[test]
fn dates_come_from_markup_then_address_then_text() {
    for (page, path, day) in [
        ("<meta name=date content=2026-04-30>TEXT", "2026/05/01/a", Some("2026-04-30")),
        ("TEXT", "2026/05/01/a", Some("2026-05-01")),
        ("TEXT", "a-2026-05-01", None),
        ("TEXT", "2026-05-01-a", Some("2026-05-01")),
        ("<h1>A bridge falls</h1><div>1 May 2026</div>TEXT", "a", Some("2026-05-01")),
        ("<html lang=en-GB><h1>A bridge falls</h1><div>02/05/2026</div>TEXT", "a", Some("2026-05-02")),
        ("TEXT<div class=comments><time datetime=2026-05-09>x</time></div>", "a", None),
    ] {
        let article = read_at(&page.replace("TEXT", TEXT), &format!("https://site.example.org/{path}"));
        assert_eq!(article.published.map(|at| at.day()).as_deref(), day, "{page} at {path}");
    }
}

#[test]
fn a_day_is_read_where_only_style_parts_it_from_a_name_or_only_a_script_has_it() {
    let day = |html: &str| {
        read(&format!("<title>A bridge</title><h1>A bridge falls at the weir</h1>{html}")).published.map(|at| at.day())
    };
    let glued = "<div><span>By</span><a href=/ada>Ada Example</a><span>May 1, 2026</span> | 6 comments</div>";
    assert_eq!(day(&format!("{glued}{FIRST}{REST}")).as_deref(), Some("2026-05-01"));
    assert_eq!(day(&format!("<div>Ada Example1 May 2026Walks</div>{FIRST}{REST}")).as_deref(), Some("2026-05-01"));
    for data in [
        r#"{"post":{"publishedAt":"2026-05-01T09:30:00Z","updatedAt":"2026-05-09T00:00:00Z"}}"#,
        r#"push([1,"{\"published_at\":\"2026-05-01T09:30:00.000+02:00\"}"])"#,
    ] {
        assert_eq!(day(&format!("{FIRST}{REST}<script>{data}</script>")).as_deref(), Some("2026-05-01"), "{data}");
    }
    let video = r#"<script type=application/ld+json>{"@type":"VideoObject","name":"A bridge","uploadDate":"2026-05-01"}</script>"#;
    assert_eq!(day(&format!("{video}{FIRST}{REST}")).as_deref(), Some("2026-05-01"));
    let article = r#"<script type=application/ld+json>{"@type":"Article","headline":"A bridge","datePublished":"2026-04-30"}</script>"#;
    assert_eq!(day(&format!("{video}{article}{FIRST}{REST}")).as_deref(), Some("2026-04-30"));
}

#[test]
fn the_hour_is_read_where_an_attribute_states_it() {
    let at = |line: &str| {
        let line = line.replace("STATED", "datetime='2026-05-01T07:30:00+02:00'");
        let article = read(&format!("<title>A bridge falls</title><h1>A bridge falls</h1>{line}{TEXT}"));
        article.published.map(|at| at.to_string()).unwrap_or_default()
    };
    for line in [
        "<div class=wp-block-post-date><time STATED>1 May 2026</time></div>",
        "<p class='posted-on'>On <a href=/x><time class=entry-date STATED>May 1</time></a></p>",
        "<abbr class=published title='2026-05-01T05:30:00Z'>Fri 01 May 2026</abbr>",
        "<div class=post-info><span class=date>1 May 2026 <meta content='2026-05-01T05:30:00Z'></span></div>",
        "<span class=published content='2026-05-01T05:30:00.000Z'>1 May 2026</span>",
        "<div class=post-date><time class=updated datetime=2026-05-03T10:00:00Z>3 May</time> <time STATED>1 May</time></div>",
        "<p itemprop=datePublished><time STATED>1 May 2026</time></p>",
        "<time title='2026-05-01T05:30:00Z' pubdate>yesterday</time>",
    ] {
        assert_eq!(at(line), "2026-05-01T05:30:00Z", "{line}");
    }
    // An attribute with words adds nothing to the date in the text.
    assert_eq!(at("<span class=date title='Posted on'>1 May 2026</span>"), "2026-05-01T00:00:00Z");
    // The words next to a date still decide what the date refers to.
    let updated = "<div class=date>1 May 2026</div><div class=date>Updated <time STATED>x</time></div>";
    assert_eq!(at(updated), "2026-05-01T00:00:00Z");
}

#[test]
fn what_the_page_shows_beside_its_headline_decides_between_two_dates() {
    let day = |html: &str| read(html).published.map(|at| at.day()).unwrap_or_default();
    let both = "<meta property=article:published_time content=2024-01-02T08:00:00Z><meta property=article:modified_time \
        content=2026-05-01T09:30:00+02:00>";
    let page = |line: &str| format!("<title>A bridge falls</title>{both}<h1>A bridge falls at all</h1>{line}{TEXT}");
    assert_eq!(day(&page("<div>By Ada Example</div><div>1 May 2026</div>")), "2026-05-01");
    for line in [
        "<div>Updated 1 May 2026</div>",
        "<div>Aggiornato il 1 maggio 2026</div>",
        "<div>Last updated</div><div>1 May 2026</div>",
        "<div>2 January 2024, 1 May 2026</div>",
        "<span>Updated</span> <time class='entry-date published updated' datetime=2026-05-01>1 May</time>",
        "",
    ] {
        assert_eq!(day(&page(line)), "2024-01-02", "{line}");
    }
}

#[test]
fn a_day_of_today_and_a_deadline_are_no_days_of_publication() {
    let day = |html: &str| read(html).published.map(|at| at.day());
    let menu = "<li><a href=/x>Section</a></li>".repeat(14);
    let today =
        format!("<div class=block-date>Friday, 19 June 2026</div><ul>{menu}</ul><h1>A bridge falls at the weir</h1>");
    assert_eq!(day(&format!("{today}{FIRST}{REST}")), None);
    let updated = "<h1>How to appeal against the toll</h1><p>Updated 17 January 2026</p>";
    let deadline = "<p>Appeals must be in by <time>15 April 2026</time>.</p><p>Until 15 April 2026</p>";
    assert_eq!(day(&format!("{updated}{FIRST}{REST}{deadline}")).as_deref(), Some("2026-01-17"));
}
