//! Tests of hostile inputs: each gives a result, in time linear in its length.

use crate::documents::{atom, first_title, read, rss, try_read};
use curlew_feed::{FeedError, Limits, NotAFeed, Repair};

/// Size of the large inputs. A parser that takes quadratic time exceeds the time limit of the test runner.
const LARGE: usize = 10_000_000;

fn item(inside: &str) -> String {
    rss(&format!("<item><link>https://example.org/1</link>{inside}</item>"))
}

fn large(piece: &str) -> String {
    piece.repeat(LARGE / piece.len())
}

#[test]
fn x01_external_entities_are_not_fetched() {
    let doctype = "<!DOCTYPE rss [<!ENTITY x SYSTEM \"file:///etc/hostname\">]>";
    let feed = read(format!("{doctype}{}", item("<title>A&x;B</title>")));
    assert_eq!(first_title(&feed), "A&x;B");
    assert!(feed.repairs.contains(&Repair::Doctype));
}

#[test]
fn x02_entities_that_grow_are_not_expanded() {
    let mut doctype = "<!DOCTYPE rss [<!ENTITY l0 \"curlew\">".to_owned();
    for n in 1..12 {
        doctype += &format!("<!ENTITY l{n} \"{}\">", format!("&l{};", n - 1).repeat(10));
    }
    let body = format!("{doctype}]>{}", item("<description>&l11;</description>"));
    assert_eq!(read(body).entries[0].summary.as_deref(), Some("&l11;"));
}

#[test]
fn x03_a_large_doctype_is_passed_over() {
    let body = format!("<!DOCTYPE rss [{}]>{}", large("<!ENTITY a \"b\">\n"), item("<title>T</title>"));
    assert_eq!(first_title(&read(body)), "T");
    let unclosed = format!("<!DOCTYPE rss [{}{}", large("] "), item("<title>T</title>"));
    assert!(try_read(unclosed).is_ok());
}

#[test]
fn x04_many_attributes_are_not_looked_at() {
    let tag = format!("<enclosure {}/>", (0..300_000).map(|n| format!("a{n}='1' ")).collect::<String>());
    let body = item(&format!("{tag}<title {}>T</title>", large("b=\"2\" ")));
    assert_eq!(first_title(&read(body)), "T");
}

#[test]
fn x05_many_namespace_declarations_are_refused() {
    let tag: String = (0..400_000).map(|n| format!(" xmlns:n{n}='urn:{n}'")).collect();
    let refused = try_read(format!("<rss version='2.0'{tag}><channel></channel></rss>"));
    assert!(matches!(refused, Err(FeedError::TooLarge { what: "namespace declarations", .. })), "{refused:?}");
}

#[test]
fn x06_deep_documents_are_refused() {
    for name in ["a", "div", "media:group"] {
        let nested = large(&format!("<{name}>"));
        for body in [item(&nested), rss(&nested), item(&format!("<description>{nested}</description>"))] {
            let refused = try_read(body);
            assert!(matches!(refused, Err(FeedError::TooLarge { what: "nested elements", .. })), "{name}: {refused:?}");
        }
    }
    // A short document is parsed with the same limits.
    let refused = try_read(item(&"<a>".repeat(300)));
    assert!(matches!(refused, Err(FeedError::TooLarge { .. })), "{refused:?}");
    // Three hundred unclosed line breaks do not count as nesting.
    let body = item(&format!("<description>{}</description>", "a<br>b<p>c<hr/>".repeat(300)));
    assert_eq!(read(body).entries.len(), 1);
}

#[test]
fn tags_of_no_known_prefix_after_blanks_are_read_once() {
    let content = format!("<content type='xhtml'>{}{}</content>", " ".repeat(400_000), "<:/>".repeat(100_000));
    let entries: String = (0..12).map(|n| format!("<entry><id>urn:x:{n}</id>{content}</entry>")).collect();
    assert_eq!(read(atom(&entries)).entries.len(), 12);
}

#[test]
fn hosts_that_no_name_server_knows_are_not_decoded() {
    let link = format!("<item><link>http://xn--b{}</link></item>", "a".repeat(1_985));
    assert!(read(rss(&link.repeat(5_000))).entries.iter().all(|entry| entry.link.is_none()));
}

#[test]
fn members_of_an_author_are_passed_over() {
    let members: String = (0..900_000).map(|n| format!("\"{n}\":1,")).collect();
    let json = format!(
        "{{\"version\":\"https://jsonfeed.org/version/1\",\"title\":\"T\",\"items\":[{{\"id\":\"1\",\"author\":{{{members}\"name\":\"Ada\"}}}}]}}"
    );
    assert_eq!(read(json).entries[0].author.as_deref(), Some("Ada"));
}

#[test]
fn x07_entries_are_kept_up_to_the_limit() {
    let feed = read(rss(&large("<item><title>T</title></item>")));
    assert_eq!(feed.entries.len(), Limits::default().entries);
    assert!(feed.truncated);
    let json = format!("{{\"title\":\"T\",\"items\":[{}{{}}]}}", large("{\"id\":\"a\"},"));
    let feed = read(json);
    assert!(feed.truncated && feed.entries.len() <= Limits::default().entries);
    assert!(read(format!("{{\"title\":\"T\",\"items\":[{}{{}}]}}", large("{},"))).truncated);
}

#[test]
fn x08_one_id_is_one_entry() {
    let one = "<item><guid>https://example.org/1</guid><title>T</title></item>";
    let feed = read(rss(&one.repeat(50_000)));
    assert_eq!(feed.entries.len(), 1);
    assert!(feed.repairs.contains(&Repair::Duplicate));
}

#[test]
fn x09_long_texts_are_cut() {
    let limits = Limits::default();
    let feed = read(item(&format!("<title>{}</title>", large("long "))));
    assert!(first_title(&feed).chars().count() <= limits.title_chars);
    let feed = read(item(&format!("<description>{}</description>", large("\u{e9}"))));
    assert_eq!(feed.entries[0].summary.as_ref().unwrap().chars().count(), limits.text_chars);
    let feed = read(item(&format!("<guid isPermaLink='false'>{}</guid>", large("id"))));
    assert!(feed.entries[0].id.len() <= limits.url_bytes);
}

#[test]
fn x10_x11_forbidden_characters_are_left_out_and_bare_ampersands_and_entities_lose_nothing() {
    for (written, title) in [
        ("A&#0;B&#x1;C&#xFFFF;D", "ABCD"),
        ("A\u{1}B\u{1f}C", "ABC"),
        ("Reed & marsh&nbsp;&mdash; R&D; &lt;3", "Reed & marsh \u{2014} R&D; <3"),
        ("Reed & marsh &copy;&nope;", "Reed & marsh \u{a9}&nope;"),
    ] {
        let feed = read(item(&format!("<title>{written}</title>")));
        assert_eq!(first_title(&feed), title);
        assert_eq!(feed.repairs.contains(&Repair::Reference), written.contains('&'), "{written}");
        assert!(!feed.faults.is_empty(), "{written}");
    }
}

#[test]
fn x12_deep_json_is_refused() {
    assert_eq!(try_read(large("[")), Err(FeedError::NotAFeed(NotAFeed::NoMarkup)));
    let head = "{\"version\":\"https://jsonfeed.org/version/1.1\",\"title\":\"T\",\"items\":";
    for deep in [large("["), large("{\"a\":")] {
        assert!(matches!(try_read(format!("{head}{deep}")), Err(FeedError::Unreadable(_))));
    }
}

#[test]
fn x13_comments_in_dates_may_be_deep() {
    let date = format!("<pubDate>Sun, 03 May 2026 17:05:09 GMT {}</pubDate>", large("("));
    let feed = read(item(&date));
    assert_eq!(feed.entries[0].published.unwrap().to_string(), "2026-05-03T17:05:09Z");
}

#[test]
fn x14_impossible_dates_are_none_and_odd_ones_are_kept() {
    let published = |date: &str| {
        let feed = read(item(&format!("<pubDate>{date}</pubDate>")));
        let at = feed.entries[0].published.map(|t| t.to_string());
        assert_eq!(at.is_none(), feed.repairs.contains(&Repair::Date), "{date}");
        at
    };
    for none in [
        "0000-01-01T00:00:00Z",
        "99999-01-01T00:00:00Z",
        "Mon, 01 Jan 99999 00:00:00 GMT",
        "-5",
        "9999999999999999999",
        "the day before",
    ] {
        assert_eq!(published(none), None, "{none}");
    }
    for (date, at) in [
        ("1900-01-01T00:00:00Z", "1900-01-01T00:00:00Z"),
        ("2076-11-21T00:00:00Z", "2076-11-21T00:00:00Z"),
        ("3 Maggio 2026, 17:05 CEST", "2026-05-03T15:05:00Z"),
    ] {
        assert_eq!(published(date).as_deref(), Some(at));
    }
    assert!(published("9999-12-31T23:59:59-12:00").is_some());
}

#[test]
fn x15_links_that_may_not_be_kept_cost_the_link_only() {
    let long = format!("https://example.org/{}", "a".repeat(100_000));
    for link in ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "mailto:a@example.org", &long] {
        let feed = read(rss(&format!("<item><title>T</title><link>{link}</link></item>")));
        assert_eq!((feed.entries.len(), feed.entries[0].link.as_deref()), (1, None), "{}", &link[..20]);
    }
}

#[test]
fn x16_enclosures_are_not_kept() {
    let body = item(&large("<enclosure url='http://127.0.0.1/a.mp3' length='1' type='audio/mpeg'/>"));
    let feed = read(body);
    assert!(!format!("{feed:?}").contains("127.0.0.1"));
}

#[test]
fn x17_an_id_that_is_an_address_does_not_displace_the_link() {
    let feed = read(item("<guid>https://example.net/theirs</guid>"));
    assert_eq!(feed.entries[0].link.as_deref(), Some("https://example.org/1"));
    assert_eq!(feed.entries[0].id, "https://example.net/theirs");
}

#[test]
fn x18_what_is_no_feed_is_told_from_a_broken_one() {
    for (body, what) in [
        ("", NotAFeed::Empty),
        (" \n\t\u{feff} ", NotAFeed::Empty),
        ("<!DOCTYPE html><html><head><title>This domain is parked</title></head></html>", NotAFeed::WebPage),
        ("<head><title>Oops</title></head><body></body>", NotAFeed::WebPage),
        ("<opml version='2.0'><body/></opml>", NotAFeed::Other("opml".to_owned())),
        ("Not found", NotAFeed::NoMarkup),
        ("{\"error\":404}", NotAFeed::Other("a JSON object".to_owned())),
        (&large("<p>"), NotAFeed::Other("p".to_owned())),
    ] {
        assert_eq!(try_read(body), Err(FeedError::NotAFeed(what)), "{body:.80}");
    }
}

#[test]
fn a_document_beyond_the_byte_limit_is_refused_unread() {
    let refused = try_read(vec![b'<'; Limits::default().bytes + 1]);
    assert!(matches!(refused, Err(FeedError::TooLarge { what: "bytes", .. })));
}

/// Repeated fragments take linear time in every position.
#[test]
fn no_repetition_takes_quadratic_time() {
    let pieces = "\
        <|&|&#|&#x|&amp|]|]]>|<!|<!--|<!-- -->|<![CDATA[|<![CDATA[]]>|<?|<?a?>|</|</x>|</title>|<a b=\"|<a b='|<a b=|\
        <a |<a b=\"<\">|<!DOCTYPE [|(|<item>|<item|<title>|<description>|<link>|<channel>|<image>|<author>|\
        <skipHours><hour>1</hour>|\u{301}|\0|<br/>|<a:b xmlns:a='u'/>|<atom:link rel='hub' href='//a'/>|&#55357;";
    for piece in pieces.split('|') {
        let many = piece.repeat(300_000 / piece.len());
        for body in
            [rss(&many), item(&format!("<title>{many}")), item(&format!("<content:encoded>{many}")), many.clone()]
        {
            // The result does not matter, only that parsing ends. A quadratic parser takes minutes.
            let _ = try_read(body);
        }
    }
}
