//! Tests that broken but readable documents are parsed.

use crate::documents::{first_title, read, rss, try_read};
use curlew_feed::{Feed, FeedError, Format, NotAFeed, Repair};

/// Parses a feed, and checks that the given repair was made and reported as a fault.
fn mended(body: &str, repair: Repair) -> Feed {
    let feed = read(body);
    assert!(feed.repairs.contains(&repair), "{:?} in {body}", feed.repairs);
    assert!(!feed.faults.is_empty(), "{body}");
    feed
}

#[test]
fn missing_namespaces_are_taken_as_they_are_meant() {
    let feed =
        read(rss("<item><title>T</title><dc:creator>Bo</dc:creator><content:encoded>C</content:encoded></item>"));
    assert_eq!((feed.entries[0].author.as_deref(), feed.entries[0].content.as_deref()), (Some("Bo"), Some("C")));
    assert!(!feed.faults.is_empty());
    let feed = read("<feed><title>Waders</title><entry><title>T</title><link href='/1'/></entry></feed>");
    assert_eq!((feed.format, first_title(&feed)), (Format::Atom, "T"));
    let feed = read(
        "<RDF><channel><title>W</title></channel><item><title>T</title><link>https://a.example/</link></item></RDF>",
    );
    assert_eq!((feed.format, first_title(&feed)), (Format::Rss1, "T"));
}

#[test]
fn a_complaint_before_the_document_is_passed_over() {
    for complaint in ["<br />\n<b>Warning</b>: line 3<br />\n", "[24-May-2026] {notice} line 3\n"] {
        let body = format!("{complaint}{}", rss("<item><title>T</title></item>"));
        assert_eq!(first_title(&mended(&body, Repair::LeadingJunk)), "T");
    }
    let refused = FeedError::NotAFeed(NotAFeed::Other("a JSON object".to_owned()));
    assert_eq!(try_read("{\"error\": \"<b>no</b>\"}"), Err(refused));
}

#[test]
fn a_truncated_end_costs_what_was_cut_only() {
    let whole = rss("<item><title>One</title></item><item><title>Two</title><description>and so</description></item>");
    let feed = mended(&whole[..whole.find("so</").unwrap()], Repair::Cut);
    assert_eq!((feed.entries.len(), first_title(&feed), feed.truncated), (2, "One", true));
    assert_eq!(feed.entries[1].summary.as_deref(), Some("and"));
}

#[test]
fn a_feed_in_a_web_page_is_read() {
    let feed = "<feed xmlns='http://www.w3.org/2005/Atom'><title>Waders</title>\
        <entry><id>1</id><title>T</title><link href='/1'/></entry></feed>";
    let page = |body: &str| {
        format!(
            "<!DOCTYPE html><html><head><title>Page</title><script>'<feed xmlns=\"http://www.w3.org/2005/Atom\">'</script></head>\
             <body><p>Hello{body}<title>Not this</title><p><a href='/x'>x</a></body></html>"
        )
    };
    let read_in_page = read(page(feed));
    assert_eq!((read_in_page.title.as_deref(), first_title(&read_in_page)), (Some("Waders"), "T"));
    assert_eq!((read_in_page.entries.len(), read_in_page.truncated), (1, false));
    let prefixed = feed.replace("</", "</a:").replace("xmlns=", "xmlns:a=");
    let prefixed = ["feed", "title>", "entry", "id", "link"]
        .iter()
        .fold(prefixed, |feed, name| feed.replace(&format!("<{name}"), &format!("<a:{name}")));
    assert_eq!(read(page(&prefixed)).entries, read_in_page.entries);
    let item = "<item><title>T</title><link>/1</link></item>";
    let in_rdf = format!(
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'>{item}</rdf:RDF>"
    );
    for body in [rss(item), in_rdf] {
        let feed = read(page(&body));
        assert_eq!((feed.entries.len(), first_title(&feed), feed.truncated), (1, "T", false), "{body}");
    }
    for none in [
        "",
        "<feed><entry><title>T</title></entry></feed>",
        "<rss><channel><item><title>T</title></item></channel></rss>",
        "<rss version='2.0'><channel><title>T</title></channel></rss>",
        "<textarea><rss version='2.0'><channel><item/></channel></rss></textarea>",
    ] {
        assert_eq!(try_read(page(none)), Err(FeedError::NotAFeed(NotAFeed::WebPage)), "{none}");
    }
}

#[test]
fn what_the_document_says_is_told_without_controls() {
    let escape = "\u{1b}]0;PWNED\u{7}\u{9b}31m\u{202e}";
    for body in [
        format!("<rdf{escape}x><a/></rdf{escape}x>"),
        format!("<x{escape}>"),
        format!(
            "{{\"version\": \"https://jsonfeed.org/version/1.1\", \"title\": \"T\", \"items\": [\"a\" \"{escape}\"]}}"
        ),
        format!("{{\"version\": \"https://jsonfeed.org/version/1.1\", \"items\": [\"{}", "x".repeat(9_000)),
        format!("{{\"version\": \"https://jsonfeed.org/version/1.1\", \"items\": {escape}}}"),
    ] {
        let told = try_read(&body).unwrap_err().to_string();
        assert!(!told.contains(|c: char| c.is_control() || c == '\u{202e}'), "{told:?}");
        assert!(told.chars().count() < 300, "{told}");
    }
    let feed = read(rss(&format!("<item><pubDate>{escape}</pubDate><x{escape}>a</item>")));
    let told: String = feed.faults.first.iter().map(|f| format!("{f} {} {}", f.at, f.found)).collect();
    assert!(!feed.faults.is_empty() && !told.contains(|c: char| c.is_control() || c == '\u{202e}'), "{told:?}");
}

#[test]
fn an_address_without_its_scheme_is_that_of_the_host_that_it_names() {
    let link = |link: &str| {
        let feed = read(rss(&format!("<item><title>T</title><link>{link}</link></item>")));
        feed.entries[0].link.clone().unwrap_or_default()
    };
    for (written, meant) in [
        ("www.example.org/a/1", "https://www.example.org/a/1"),
        ("WWW.example.org", "https://www.example.org/"),
        ("www.example.org:8080/a", "https://www.example.org:8080/a"),
        ("mudflat.example/a?b", "https://mudflat.example/a?b"),
        ("www.html", "https://mudflat.example/www.html"),
        ("other.example/a", "https://mudflat.example/other.example/a"),
        ("https:/a.example/1", "https://a.example/1"),
        ("https://https://a.example/1", "https://a.example/1"),
        ("feed://a.example/1", "https://a.example/1"),
    ] {
        assert_eq!(link(written), meant, "{written}");
    }
}

#[test]
fn json_with_raw_line_breaks_and_commas_at_ends_is_read() {
    let json = "{\"version\":\"https://jsonfeed.org/version/1.1\",\"title\":\"W\",\"items\":[\n\
        {\"id\":\"1\",\"title\":\"One\ntwo \\\"three\\\" ,]\",\"content_text\":\"a\tb\",},\n\
        {\"id\":\"2\",\"title\":\"T\\\\\",\"authors\":{\"name\":\"Ana\"}},\n]\n}";
    let feed = read(json);
    assert!(feed.repairs.contains(&Repair::BareMarkup), "{:?}", feed.repairs);
    assert_eq!((feed.entries.len(), first_title(&feed)), (2, "One two \"three\" ,]"));
    assert_eq!((feed.entries[1].title.as_deref(), feed.entries[1].author.as_deref()), (Some("T\\"), Some("Ana")));
}
