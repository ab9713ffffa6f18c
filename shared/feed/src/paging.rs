//! Older documents of a feed: those that it links to (RFC 5005), and those at well-known addresses of common programs.

use serde::Serialize;
use url::Url;

/// Links of a document to older documents of the same feed (RFC 5005, JSON Feed 1.1 `next_url`). They are absolute but
/// otherwise unchecked: they may lead to another host, or form a loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Paging {
    /// Document with the next entries: `rel="next"` of a paged feed (RFC 5005 §3), or `next_url`.
    pub next: Option<String>,
    /// Archive document with the preceding entries: `rel="prev-archive"` (RFC 5005 §4).
    pub prev_archive: Option<String>,
    /// True for an archive document (`fh:archive`), which is not expected to change.
    pub is_archive: bool,
    /// True if the document contains all entries of its feed (`fh:complete`, RFC 5005 §2).
    pub is_complete: bool,
    /// Total number of entries in the feed, as stated (`openSearch:totalResults`).
    pub total: Option<u32>,
}

/// Program that generated a feed, if it serves older documents at well-known addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Generator {
    /// WordPress: `?paged=N`. A number past the last document gets a 404.
    WordPress,
    /// Blogger: `?start-index=N&max-results=M`. Past the last entry, the document is empty.
    Blogger,
}

impl Generator {
    pub(crate) fn recognise(text: &str) -> Option<Generator> {
        let text = text.trim();
        let text = text[..text.floor_char_boundary(MAX_NAME)].to_ascii_lowercase();
        if text.contains("wordpress") {
            return Some(Generator::WordPress);
        }
        (text == "blogger" || text.contains("www.blogger.com")).then_some(Generator::Blogger)
    }
}

const MAX_NAME: usize = 200;
/// Number of entries requested from Blogger per document; it serves no more.
pub const BLOGGER_ENTRIES: u32 = 150;

/// Returns the well-known address of a feed's document number `document` (from 2), which follows `entries` entries.
pub fn usual(feed: &Url, generator: Generator, document: u32, entries: u32) -> Option<Url> {
    if document < 2 {
        return None;
    }
    Some(match generator {
        Generator::WordPress => with_query(feed, &[("paged", document)]),
        Generator::Blogger => {
            with_query(feed, &[("start-index", entries.checked_add(1)?), ("max-results", BLOGGER_ENTRIES)])
        }
    })
}

/// Returns the URL with these query parameters, which replace any of the same names.
fn with_query(url: &Url, fields: &[(&str, u32)]) -> Url {
    let others = url.query().unwrap_or_default().split('&').filter(|field| {
        let name = field.split('=').next().unwrap_or_default();
        !field.is_empty() && fields.iter().all(|(own, _)| *own != name)
    });
    let own = fields.iter().map(|(name, value)| format!("{name}={value}"));
    let query: Vec<String> = others.map(str::to_owned).chain(own).collect();
    let mut url = url.clone();
    url.set_query(Some(&query.join("&")));
    url.set_fragment(None);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_recognised_by_its_name_or_address() {
        for text in ["https://wordpress.org/?v=6.4.2", " WordPress ", "http://wordpress.com/", "WordPress/2.0"] {
            assert_eq!(Generator::recognise(text), Some(Generator::WordPress), "{text}");
        }
        for text in ["Blogger", "http://www.blogger.com", "https://www.blogger.com/"] {
            assert_eq!(Generator::recognise(text), Some(Generator::Blogger), "{text}");
        }
        for text in ["", "Hugo -- gohugo.io", "a happy blogger", "Ghost 5", &"wordpres".repeat(100_000)] {
            assert_eq!(Generator::recognise(text), None);
        }
    }

    #[test]
    fn usual_addresses_keep_the_rest_of_the_query() {
        let usual = |feed: &str, generator, document, entries| {
            let feed = feed.parse().unwrap_or_else(|error| panic!("{error}"));
            super::usual(&feed, generator, document, entries).map(String::from)
        };
        let (wordpress, blogger) = (Generator::WordPress, Generator::Blogger);
        let posts = "https://b.example/feeds/posts/default?alt=rss";
        for (feed, generator, document, entries, expected) in [
            ("https://a.example/feed/", wordpress, 2, 10, "https://a.example/feed/?paged=2"),
            ("https://a.example/?feed=rss2", wordpress, 3, 20, "https://a.example/?feed=rss2&paged=3"),
            ("https://a.example/?paged=3&x=a%20b&&f#top", wordpress, 4, 9, "https://a.example/?x=a%20b&f&paged=4"),
            (&format!("{posts}&max-results=5"), blogger, 2, 25, &format!("{posts}&start-index=26&max-results=150")),
        ] {
            assert_eq!(usual(feed, generator, document, entries).as_deref(), Some(expected));
        }
        assert_eq!(usual("https://a.example/feed/", wordpress, 1, 0), None);
        assert_eq!(usual("https://a.example/feed/", blogger, 9, u32::MAX), None);
    }
}
