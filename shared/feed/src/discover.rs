//! Finds the feeds that a page names in `<link rel="alternate" type="…" href="…">` elements, in `Link` headers, and in
//! the links of its text.

use crate::{Limits, comments, text};
use curlew_text::charset::{self, Document};
use curlew_text::html::{Piece, Pieces};
use curlew_text::{links, references, url::parse};
use serde::Serialize;
use std::collections::HashSet;
use url::Url;

const MAX_LINKS: usize = 200;
const MAX_ATTRIBUTES: usize = 64;

/// A feed that a page names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FeedLink {
    /// Absolute address of the feed.
    pub url: Url,
    /// Title given by the page, as plain text.
    pub title: Option<String>,
    /// Media type given by the page, lower case; empty for `rel="feed"` without one.
    #[serde(rename = "type")]
    pub media_type: String,
    /// True if the feed's address, its title or its relation to the page shows that it contains comments, not articles.
    #[serde(skip)]
    pub of_comments: bool,
}

/// Returns the distinct feeds that a page names: first in document order, then in the order of its `Link` headers, with
/// feeds of comments last. Never fails: a page that exceeds a limit yields the feeds found so far.
///
/// Two kinds of links are returned only if no other link announces a feed: a link to plain XML without a sign that this
/// is a feed, and an `<a>` to a usual address of feeds, such as `/blog/index.xml`, on the page's own host. `<base href>`
/// applies anywhere in the page (HTML §4.2.3). Only `http` and `https` addresses are returned.
pub fn discover(html: &[u8], content_type: Option<&str>, page: &Url, link_headers: &[String]) -> Vec<FeedLink> {
    let text = charset::decode(html, content_type, Document::Feed).text;
    let mut found = collect(&text);
    let headers = link_headers.iter().flat_map(|header| links::split(header)).take(links::MOST_LINKS);
    found.links.extend(headers.filter_map(|link| of_header(link, page)));
    let limits = Limits::default();
    let base = found.base.as_deref().and_then(|base| parse(base, Some(page)).ok());
    let base = base.as_ref().filter(|base| matches!(base.scheme(), "http" | "https")).unwrap_or(page);
    let mut seen = HashSet::new();
    let mut feeds: Vec<(Announced, FeedLink)> = Vec::new();
    for link in found.links {
        let Some(url) = address(&link.href, base, &limits) else { continue };
        let title = text::plain(&link.title, true, limits.title_chars);
        let announced = announced(&link, &url, title.as_deref());
        // Pages link in their text to the feeds of other sites too.
        let [host, own] = [&url, page].map(|url| url.host_str().map(|host| host.trim_start_matches("www.")));
        let is_foreign = link.is_anchor && host != own;
        if announced != Announced::No && !is_foreign && seen.insert(sameness(&url)) {
            // A feed of replies contains comments (RFC 4685 §4).
            let is_replies = link.rel.split_whitespace().any(|r| r == "replies");
            let of_comments = is_replies || speaks_of_comments(&url, title.as_deref());
            feeds.push((announced, FeedLink { url, title, media_type: link.media_type, of_comments }));
        }
    }
    let best = feeds.iter().map(|(announced, _)| *announced).max();
    feeds.retain(|(announced, _)| Some(*announced) == best);
    let mut feeds: Vec<FeedLink> = feeds.into_iter().map(|(_, link)| link).collect();
    feeds.sort_by_key(|link| link.of_comments);
    feeds
}

#[derive(Default)]
struct PageLinks {
    base: Option<String>,
    links: Vec<Link>,
}

struct Link {
    rel: String,
    media_type: String,
    href: String,
    title: String,
    /// True for a link in the text, which people follow.
    is_anchor: bool,
}

fn collect(html: &str) -> PageLinks {
    let mut found = PageLinks::default();
    let mut pieces = Pieces::new(html, MAX_ATTRIBUTES);
    while let Some(piece) = pieces.next_without_tree() {
        let Piece::Start(tag) = piece else { continue };
        let value = |name: &str| references::decode(pieces.attribute(name).unwrap_or_default()).trim().to_owned();
        if tag.name.eq_ignore_ascii_case("base") {
            let href = value("href");
            if found.base.is_none() && !href.is_empty() {
                found.base = Some(href);
            }
            continue;
        }
        let is_anchor = tag.name.eq_ignore_ascii_case("a");
        if (is_anchor || tag.name.eq_ignore_ascii_case("link")) && found.links.len() < MAX_LINKS {
            let rel = value("rel").to_ascii_lowercase();
            let words = |word: &str| rel.split_whitespace().any(|r| r == word);
            let (media_type, href) = (media_type(&value("type")), value("href"));
            let in_text = is_anchor && (!media_type.is_empty() || is_usual(&href));
            if (in_text || words("alternate") || words("feed")) && !words("stylesheet") {
                found.links.push(Link { rel, media_type, href, title: value("title"), is_anchor });
            }
        }
    }
    found
}

/// Returns the link in a `Link` header, if it may lead to a feed. `<base>` does not apply (RFC 8288 §3.2).
fn of_header(link: &str, page: &Url) -> Option<Link> {
    let href = links::target(link, "alternate").or_else(|| links::target(link, "feed"))?;
    let value = |name: &str| links::parameter(link, name).unwrap_or_default().to_owned();
    let (rel, media_type) = (value("rel").to_ascii_lowercase(), media_type(&value("type")));
    Some(Link { rel, media_type, href: parse(href, Some(page)).ok()?.into(), title: value("title"), is_anchor: false })
}

fn media_type(stated: &str) -> String {
    stated.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn address(href: &str, base: &Url, limits: &Limits) -> Option<Url> {
    let mut url: Url = crate::link::resolve(href, base, limits.url_bytes)?.parse().ok()?;
    url.set_fragment(None);
    Some(url)
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Announced {
    No,
    /// The link leads to XML of an unknown kind, or to a usual address of feeds.
    Perhaps,
    Clearly,
}

/// Judges a link by its media type. For JSON and plain XML, the address or title must mention a feed.
fn announced(link: &Link, url: &Url, title: Option<&str>) -> Announced {
    let (kind, address) = (link.media_type.as_str(), url.as_str().to_ascii_lowercase());
    let says = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    let speaks_of_feeds = |text: &str| says(text, &["feed", "rss", "atom"]);
    let is_named = speaks_of_feeds(&address) || title.is_some_and(|title| speaks_of_feeds(&title.to_ascii_lowercase()));
    match kind {
        "application/rdf+xml" | "application/feed+json" => Announced::Clearly,
        _ if says(kind, &["rss", "atom"]) => Announced::Clearly,
        _ if says(&address, &["oembed", "/wp-json/", "sitemap"]) => Announced::No,
        "application/xml" | "text/xml" | "text/rdf+xml" | "application/json" if is_named => Announced::Clearly,
        "application/xml" | "text/xml" => Announced::Perhaps,
        _ if link.is_anchor && is_usual(&link.href) => Announced::Perhaps,
        "" if link.rel.split_whitespace().any(|r| r == "feed") => Announced::Clearly,
        _ => Announced::No,
    }
}

/// True if the last part of an address's path is usual for feeds.
fn is_usual(href: &str) -> bool {
    let path = href.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    matches!(&*name, "feed" | "rss" | "atom" | "index.xml" | "feed.xml" | "rss.xml" | "atom.xml")
        || [".rss", ".atom"].iter().any(|end| name.ends_with(end))
}

/// True if a feed's address or title shows that it contains comments instead of articles.
pub fn speaks_of_comments(url: &Url, title: Option<&str>) -> bool {
    comments::speaks_of(&url[url::Position::BeforePath..]) || title.is_some_and(comments::speaks_of)
}

/// Returns a key that is equal for addresses that differ only in TLS, a final slash or an empty query.
fn sameness(url: &Url) -> String {
    let rest = &url[url::Position::BeforeHost..url::Position::AfterPath];
    let rest = rest.trim_end_matches('/').replacen(if url.scheme() == "http" { ":80/" } else { ":443/" }, "/", 1);
    match url.query().filter(|q| !q.is_empty()) {
        Some(query) => format!("{rest}?{query}"),
        None => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(html: &str, headers: &[String]) -> Vec<String> {
        let page: Url = "https://example.org/blog/".parse().expect("a URL");
        discover(html.as_bytes(), None, &page, headers).into_iter().map(|f| f.url.into()).collect()
    }

    fn found(html: &str) -> Vec<String> {
        named(html, &[])
    }

    #[test]
    fn feeds_come_in_order_and_comments_last() {
        let html = "<link rel=alternate type=application/rss+xml href=comments/feed title='Comments'>\
            <LINK REL='Alternate' TYPE='application/atom+xml' HREF='atom.xml?a=1&amp;b=2' title='A &amp; B'>\
            <link rel=alternate type='application/rss+xml; charset=utf-8' href='/feed'><link rel=alternate type=application/rss+xml href='/feed#x'>";
        let all = ["blog/atom.xml?a=1&b=2", "feed", "blog/comments/feed"];
        assert_eq!(found(html), all.map(|path| format!("https://example.org/{path}")));
    }

    #[test]
    fn base_counts_wherever_it_stands() {
        let html = "<link rel=alternate type=application/rss+xml href=rss><base target=_top><base href='https://example.net/x/'><base href=/y/>";
        assert_eq!(found(html), ["https://example.net/x/rss"]);
        assert_eq!(found("<base href='javascript:x'><link rel=feed href=f>"), ["https://example.org/blog/f"]);
    }

    #[test]
    fn what_is_no_feed_is_left_out() {
        let html = "<link rel=alternate type=application/json href=/wp-json/wp/v2/posts/feed><link rel=alternate hreflang=de href=/de/>\
            <link rel='alternate stylesheet' type=application/rss+xml href=a><link rel=alternate type=text/xml+oembed href=/rss>\
            <link rel=alternate type=application/rss+xml href='javascript:feed'><!-- <link rel=feed href=b> -->\
            <script>'<link rel=feed href=c>'</script>";
        assert_eq!(found(html), [""; 0]);
        let scheme = "<link rel=alternate type=application/rss+xml href='feed:https://example.org/r'>";
        assert_eq!(found(scheme), ["https://example.org/r"]);
    }

    #[test]
    fn a_link_to_xml_is_known_by_its_title_or_where_nothing_else_announces_a_feed() {
        let of = |attributes: &str| format!("<link rel=alternate {attributes}>");
        let all = "https://example.org/notes/all.xml";
        for named in [
            "type=text/xml title=RSS href=/notes/all.xml",
            "type=application/xml title='Waders: Atom feed' href=/notes/all.xml",
            "type='application/x-rss' href=/notes/all.xml",
            "type='text/xml; charset=utf-8' href=/notes/all.xml",
        ] {
            assert_eq!(found(&of(named)), [all], "{named}");
        }
        let bare = of("type=text/xml href=/notes/all.xml");
        let both = bare.clone() + &of("type=application/rss+xml href=/rss");
        assert_eq!(found(&both), ["https://example.org/rss"]);
        for other in [
            "type=text/xml href=/sitemap.xml",
            "type=application/json title=Post href=/notes/1",
            "type=application/xml+oembed title=RSS href=/embed",
        ] {
            assert_eq!(found(&of(other)), [""; 0], "{other}");
        }
    }

    #[test]
    fn a_link_in_the_text_to_an_own_feed_is_taken_where_nothing_else_announces_one() {
        let of = |attributes: &str| found(&format!("<nav><a {attributes}>RSS</a></nav>"));
        for path in ["blog/index.xml", "feed/", "notes/rss.xml?x", "a.atom", "notes/feed#top", "RSS"] {
            let url = format!("https://example.org/{}", path.trim_end_matches("#top"));
            assert_eq!(of(&format!("href='https://www.example.org/{path}'")), [url.replace("//", "//www.")], "{path}");
            assert_eq!(of(&format!("href='/{path}'")), [url], "{path}");
        }
        assert_eq!(of("type=application/atom+xml href=/notes"), ["https://example.org/notes"]);
        for other in [
            "href=/feeding",
            "href=/about/rss/help",
            "href='https://example.net/feed'",
            "rel=alternate type=application/rss+xml href='https://example.net/feed'",
            "rel=alternate hreflang=de href=/de/",
            "href=/sitemap.xml",
        ] {
            assert_eq!(of(other), [""; 0], "{other}");
        }
        let named = "<a href=/index.xml>RSS</a><link rel=alternate type=application/rss+xml href=/news>";
        assert_eq!(found(named), ["https://example.org/news"]);
        let comments = "<a href=/comments/feed/>Comments</a><a href=/rss>RSS</a>";
        assert_eq!(found(comments), ["https://example.org/rss", "https://example.org/comments/feed/"]);
    }

    #[test]
    fn link_headers_name_feeds_too_after_those_of_the_document() {
        let headers = [
            "<rss>; rel=\"alternate\"; type=\"application/rss+xml\"; title=\"All\", <../notes.atom>; rel=feed"
                .to_owned(),
            "</p/1>; rel=alternate; type=application/json, </de/>; rel=alternate; hreflang=de, <x>; rel=hub".to_owned(),
        ];
        let (rss, atom) = ("https://example.org/blog/rss", "https://example.org/notes.atom");
        assert_eq!(named("<base href='https://example.net/'>", &headers), [rss, atom]);
        let html = "<link rel=alternate type=application/rss+xml href=/own><link rel=alternate type=application/rss+xml href=/blog/rss>";
        assert_eq!(named(html, &headers), ["https://example.org/own", rss, atom]);
    }

    #[test]
    fn a_feed_under_two_addresses_is_one() {
        let link = |href: &str| format!("<link rel=alternate type=application/rss+xml href='{href}'>");
        let same = ["/feed", "/feed/", "http://example.org:80/feed", "/feed?", "/feed#top"].map(link);
        let all = same.concat() + &["/feed?tag=1", "/feed/?tag=1", "/Feed"].map(link).concat();
        let kept = ["https://example.org/feed", "https://example.org/feed?tag=1", "https://example.org/Feed"];
        assert_eq!(found(&all), kept);
    }

    #[test]
    fn comments_come_last_by_address_title_or_relation() {
        let html = "<link rel='alternate replies' type=application/atom+xml href=/a>\
            <link rel=alternate type=application/rss+xml href=/b title='Mudflat &raquo; Kommentar-Feed'>\
            <link rel=alternate type=application/rss+xml href='/?feed=comments-rss2'>\
            <link rel=alternate type=application/rss+xml href=/commentary/feed title='Commentary'>\
            <link rel=alternate type=application/rss+xml href=/c>\
            <link rel=alternate type=application/rss+xml href=/d><link rel=alternate type=application/rss+xml href=/e>";
        let paths = ["/commentary/feed", "/c", "/d", "/e", "/a", "/b", "/?feed=comments-rss2"];
        assert_eq!(found(html), paths.map(|path| format!("https://example.org{path}")));
    }

    #[test]
    fn a_page_of_links_is_looked_at_up_to_a_limit() {
        let many: String = (0..5_000).map(|n| format!("<link rel=feed href='/{n}'>")).collect();
        assert_eq!(found(&many).len(), MAX_LINKS);
        assert_eq!(found(&"<link rel=feed href='/".repeat(50_000)), [""; 0]);
    }
}
