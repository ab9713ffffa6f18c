//! Feeds that a page names in its head: `<link rel="alternate" type="…" href="…">`.

use crate::{Limits, decode, entity, text};
use lol_html::{ElementContentHandlers, HtmlRewriter, MemorySettings, Selector, Settings};
use serde::Serialize;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;
use url::Url;

/// Links of a page that are looked at; a page has a handful.
const MAX_LINKS: usize = 200;
/// Memory that parsing a page may take.
const MAX_MEMORY: usize = 8 * 1024 * 1024;

/// A feed that a page names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FeedLink {
    /// Its address; absolute.
    pub url: Url,
    /// The title that the page gives it, as plain text.
    pub title: Option<String>,
    /// The media type that the page gives it, lower case; empty for `rel="feed"` without one.
    #[serde(rename = "type")]
    pub media_type: String,
}

/// The feeds that a page names, in the order of the document, those of comments last, each address once.
///
/// `<base href>` is honoured wherever it stands (HTML §4.2.3); only `http` and `https` addresses are given back.
/// Never fails: a page that breaks a limit gives what was found until then.
pub fn discover(html: &[u8], content_type: Option<&str>, page: &Url) -> Vec<FeedLink> {
    let found = RefCell::new(Found::default());
    let text = decode::decode(html, content_type).text;
    collect(&text, &found);
    let found = found.into_inner();
    let limits = Limits::default();
    let base = found.base.as_deref().and_then(|b| page.join(b).ok()).filter(|b| matches!(b.scheme(), "http" | "https"));
    let base = base.as_ref().unwrap_or(page);
    let mut seen = HashSet::new();
    let mut feeds: Vec<FeedLink> = Vec::new();
    for link in found.links {
        let Some(url) = address(&link.href, base, &limits) else { continue };
        if is_feed(&link, &url) && seen.insert(url.clone()) {
            let title = text::plain(&link.title, true, limits.title_chars);
            feeds.push(FeedLink { url, title, media_type: link.media_type });
        }
    }
    feeds.sort_by_key(is_comments);
    feeds
}

#[derive(Default)]
struct Found {
    base: Option<String>,
    links: Vec<Link>,
}

struct Link {
    rel: String,
    media_type: String,
    href: String,
    title: String,
}

fn collect(html: &str, found: &RefCell<Found>) {
    let Ok(selector) = "link, base".parse::<Selector>() else { return };
    let handler = ElementContentHandlers::default().element(|element: &mut lol_html::html_content::Element<'_, '_>| {
        let value = |name: &str| entity::decode(&element.get_attribute(name).unwrap_or_default()).trim().to_owned();
        let mut found = found.borrow_mut();
        if element.tag_name() == "base" {
            let href = value("href");
            if found.base.is_none() && !href.is_empty() {
                found.base = Some(href);
            }
        } else if found.links.len() < MAX_LINKS {
            let rel = value("rel").to_ascii_lowercase();
            let words = |word: &str| rel.split_whitespace().any(|r| r == word);
            if (words("alternate") || words("feed")) && !words("stylesheet") {
                let media_type = value("type").to_ascii_lowercase();
                let media_type = media_type.split(';').next().unwrap_or_default().trim().to_owned();
                found.links.push(Link { rel, media_type, href: value("href"), title: value("title") });
            }
        }
        Ok(())
    });
    let memory = MemorySettings::new().with_max_allowed_memory_usage(MAX_MEMORY);
    let settings = Settings::new()
        .append_element_content_handler((Cow::Owned(selector), handler))
        .with_memory_settings(memory)
        .with_strict(false);
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    if rewriter.write(html.as_bytes()).is_ok() {
        // What was found stays found, whatever the end of the page is like.
        let _ = rewriter.end();
    }
}

/// The link's address; `feed:` in front of it, an old custom, is taken off.
fn address(href: &str, base: &Url, limits: &Limits) -> Option<Url> {
    let href = href.strip_prefix("feed:").map_or(href, |rest| rest);
    let href = if href.starts_with("//") { format!("{}:{href}", base.scheme()) } else { href.to_owned() };
    let mut url: Url = crate::link::resolve(&href, base, limits.url_bytes)?.parse().ok()?;
    url.set_fragment(None);
    Some(url)
}

/// Whether a link promises a feed. JSON and plain XML are promised for other things too, so those need another sign.
fn is_feed(link: &Link, url: &Url) -> bool {
    let named = || {
        let path = url.as_str().to_ascii_lowercase();
        ["feed", "rss", "atom"].iter().any(|word| path.contains(word)) && !path.contains("oembed")
    };
    match link.media_type.as_str() {
        "application/rss+xml"
        | "application/atom+xml"
        | "application/rdf+xml"
        | "application/feed+json"
        | "text/rss+xml"
        | "text/atom+xml"
        | "application/rss"
        | "application/atom"
        | "application/x-rss+xml"
        | "application/x-atom+xml" => true,
        "application/xml" | "text/xml" | "text/rdf+xml" | "text/rss" | "application/json" => {
            named() && !url.path().contains("/wp-json/")
        }
        "" => link.rel.split_whitespace().any(|r| r == "feed"),
        _ => false,
    }
}

/// Whether a feed carries comments instead of articles, by its address or its title.
fn is_comments(feed: &FeedLink) -> bool {
    let url = feed.url.as_str().to_ascii_lowercase();
    let title = feed.title.as_deref().unwrap_or_default().to_lowercase();
    url.contains("comment")
        || ["comment", "kommentar", "commentaire", "comentario", "commenti", "reacties"]
            .iter()
            .any(|w| title.contains(w))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(html: &str) -> Vec<String> {
        let page: Url = "https://example.org/blog/".parse().expect("a URL");
        discover(html.as_bytes(), None, &page).into_iter().map(|f| f.url.into()).collect()
    }

    #[test]
    fn feeds_come_in_order_and_comments_last() {
        let html = "<link rel=alternate type=application/rss+xml href=comments/feed title='Comments'>\
            <LINK REL='Alternate' TYPE='application/atom+xml' HREF='atom.xml?a=1&amp;b=2' title='A &amp; B'>\
            <link rel=alternate type='application/rss+xml; charset=utf-8' href='/feed'><link rel=alternate type=application/rss+xml href='/feed#x'>";
        let all = [
            "https://example.org/blog/atom.xml?a=1&b=2",
            "https://example.org/feed",
            "https://example.org/blog/comments/feed",
        ];
        assert_eq!(found(html), all);
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
        assert_eq!(
            found("<link rel=alternate type=application/rss+xml href='feed:https://example.org/r'>"),
            ["https://example.org/r"]
        );
    }
}
