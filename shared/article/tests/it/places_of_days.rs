//! Places in which a page states its day: markup, address, lines, scripts.

use crate::story::{PROSE, TEXT, read};
use curlew_article::{Limits, extract};

#[test]
fn dates_come_from_markup_then_address_then_text() {
    let day = |html: &str, url: &str| {
        extract(html, &url.parse().unwrap(), &Limits::default()).unwrap().published.map(|t| t.day())
    };
    let plain = "https://site.example.org/a";
    let dated = "https://site.example.org/2026/05/01/a";
    assert_eq!(day(&format!("<meta name=date content=2026-04-30>{TEXT}"), dated).as_deref(), Some("2026-04-30"));
    assert_eq!(day(TEXT, dated).as_deref(), Some("2026-05-01"));
    assert_eq!(day(TEXT, "https://site.example.org/a-2026-05-01").as_deref(), None);
    assert_eq!(day(TEXT, "https://site.example.org/2026-05-01-a").as_deref(), Some("2026-05-01"));
    assert_eq!(
        day(&format!("<h1>A bridge falls</h1><div>1 May 2026</div>{TEXT}"), plain).as_deref(),
        Some("2026-05-01")
    );
    assert_eq!(
        day(&format!("<html lang=en-GB><h1>A bridge falls</h1><div>02/05/2026</div>{TEXT}"), plain).as_deref(),
        Some("2026-05-02")
    );
    assert_eq!(day(&format!("{TEXT}<div class=comments><time datetime=2026-05-09>x</time></div>"), plain), None);
}

#[test]
fn a_day_is_read_where_only_style_parts_it_from_a_name_or_only_a_script_has_it() {
    let day = |html: &str| {
        read(&format!("<title>A bridge</title><h1>A bridge falls at the weir</h1>{html}")).published.map(|at| at.day())
    };
    let glued =
        format!("<div><span>By</span><a href=/ada>Ada Example</a><span>May 1, 2026</span> | 6 comments</div>{PROSE}");
    assert_eq!(day(&glued).as_deref(), Some("2026-05-01"));
    assert_eq!(day(&format!("<div>Ada Example1 May 2026Walks</div>{PROSE}")).as_deref(), Some("2026-05-01"));
    for data in [
        r#"{"post":{"publishedAt":"2026-05-01T09:30:00Z","updatedAt":"2026-05-09T00:00:00Z"}}"#,
        r#"push([1,"{\"published_at\":\"2026-05-01T09:30:00.000+02:00\"}"])"#,
    ] {
        assert_eq!(day(&format!("{PROSE}<script>{data}</script>")).as_deref(), Some("2026-05-01"), "{data}");
    }
    let video = r#"<script type=application/ld+json>{"@type":"VideoObject","name":"A bridge","uploadDate":"2026-05-01"}</script>"#;
    assert_eq!(day(&format!("{video}{PROSE}")).as_deref(), Some("2026-05-01"));
    let article = r#"<script type=application/ld+json>{"@type":"Article","headline":"A bridge","datePublished":"2026-04-30"}</script>"#;
    assert_eq!(day(&format!("{video}{article}{PROSE}")).as_deref(), Some("2026-04-30"));
}

#[test]
fn the_hour_is_read_where_an_attribute_states_it() {
    let at = |line: &str| {
        let article = read(&format!("<title>A bridge falls</title><h1>A bridge falls</h1>{line}{TEXT}"));
        article.published.map(|at| at.to_string()).unwrap_or_default()
    };
    let stated = "datetime='2026-05-01T07:30:00+02:00'";
    for line in [
        &*format!("<div class=wp-block-post-date><time {stated}>1 May 2026</time></div>"),
        &*format!("<p class='posted-on'>On <a href=/x><time class=entry-date {stated}>May 1</time></a></p>"),
        "<abbr class=published title='2026-05-01T05:30:00Z'>Fri 01 May 2026</abbr>",
        "<div class=post-info><span class=date>1 May 2026 <meta content='2026-05-01T05:30:00Z'></span></div>",
        "<span class=published content='2026-05-01T05:30:00.000Z'>1 May 2026</span>",
        &*format!(
            "<div class=post-date><time class=updated datetime=2026-05-03T10:00:00Z>3 May</time> <time {stated}>1 May</time></div>"
        ),
        &*format!("<p itemprop=datePublished><time {stated}>1 May 2026</time></p>"),
        "<time title='2026-05-01T05:30:00Z' pubdate>yesterday</time>",
    ] {
        assert_eq!(at(line), "2026-05-01T05:30:00Z", "{line}");
    }
    // A date in words in an attribute says no more than the text does.
    assert_eq!(at("<span class=date title='Posted on'>1 May 2026</span>"), "2026-05-01T00:00:00Z");
    // The words beside the date still decide its event.
    assert_eq!(
        at(&format!("<div class=date>1 May 2026</div><div class=date>Updated <time {stated}>x</time></div>")),
        "2026-05-01T00:00:00Z"
    );
}

#[test]
fn what_the_page_shows_beside_its_headline_decides_between_two_dates() {
    let day = |html: &str| read(html).published.map(|at| at.day()).unwrap_or_default();
    let both = "<meta property=article:published_time content=2024-01-02T08:00:00Z><meta property=article:modified_time \
        content=2026-05-01T09:30:00+02:00>";
    let page =
        |line: &str| format!("<title>A bridge falls</title>{both}<h1>A bridge falls at the weir</h1>{line}{TEXT}");
    for (line, want) in [
        ("<div>By Ada Example</div><div>1 May 2026</div>", "2026-05-01"),
        ("<div>Updated 1 May 2026</div>", "2024-01-02"),
        ("<div>Aggiornato il 1 maggio 2026</div>", "2024-01-02"),
        ("<div>Last updated</div><div>1 May 2026</div>", "2024-01-02"),
        ("<div>2 January 2024, 1 May 2026</div>", "2024-01-02"),
        (
            "<span>Updated</span> <time class='entry-date published updated' datetime=2026-05-01>1 May</time>",
            "2024-01-02",
        ),
        ("", "2024-01-02"),
    ] {
        assert_eq!(day(&page(line)), want, "{line}");
    }
}

#[test]
fn a_day_of_today_and_a_deadline_are_no_days_of_publication() {
    let day = |html: &str| read(html).published.map(|at| at.day());
    let menu = "<li><a href=/x>Section</a></li>".repeat(14);
    let today = format!(
        "<div class=block-date>Friday, 19 June 2026</div><ul>{menu}</ul><h1>A bridge falls at the weir</h1>{PROSE}"
    );
    assert_eq!(day(&today), None);
    let deadline = format!(
        "<h1>How to appeal against the toll</h1><p>Updated 17 January 2026</p>{PROSE}\
        <p>Appeals must be in by <time>15 April 2026</time>.</p><p>Until 15 April 2026</p>"
    );
    assert_eq!(day(&deadline).as_deref(), Some("2026-01-17"));
}
