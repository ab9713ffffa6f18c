//! Fuzz targets of feeds, lists of feeds, and the discovery of feeds in pages.

use crate::input::{first_line, unfolded, within};
use curlew_feed::sitemap::{self, SitemapLimits};
use curlew_feed::{Limits, feeds_of_opml, parse, parse_counted};
use std::collections::HashSet;
use url::Url;

/// Maximum number of parsing steps: for an empty feed, and for each byte of a feed.
const FEED: (u64, u64) = (300_000, 300);

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none()
}

/// Parses a document as a feed and as a sitemap. The first line of the input is the `Content-Type`.
pub(crate) fn feed(data: &[u8]) {
    let (head, body) = first_line(data);
    let (content_type, body) = (String::from_utf8_lossy(head), unfolded(body));
    let Ok(url) = Url::parse("https://feeds.example/all") else { return };
    sitemap(&body, &content_type, &url);
    let limits =
        Limits { entries: 8, title_chars: 40, text_chars: 200, url_bytes: 120, faults: 6, ..Limits::default() };
    let (read, steps) = parse_counted(&body, Some(&content_type), &url, &limits);
    within(steps, FEED.0, FEED.1, body.len());
    let Ok(feed) = read else { return };
    assert_eq!(Ok(&feed), parse(&body, Some(&content_type), &url, &limits).as_ref(), "the same twice");
    assert!(feed.entries.len() <= limits.entries && feed.deleted.len() <= limits.entries);
    assert!(feed.faults.first.len() <= limits.faults && feed.faults.first.len() <= feed.faults.count as usize);
    for fault in &feed.faults.first {
        assert!(fault.line >= 1 && fault.column >= 1 && !fault.to_string().is_empty());
    }
    for entry in &feed.entries {
        assert!(!entry.id.is_empty());
        assert!(feed.deleted.iter().all(|deleted| deleted.id != entry.id), "an entry is there or deleted");
        if let Some(link) = &entry.link {
            assert!(link.len() <= limits.url_bytes && Url::parse(link).is_ok_and(|link| is_web(&link)));
        }
        for (text, most) in [(&entry.title, limits.title_chars), (&entry.summary, limits.text_chars)] {
            assert!(text.as_ref().is_none_or(|text| !text.is_empty() && text.chars().count() <= most));
        }
    }
}

fn sitemap(body: &[u8], content_type: &str, url: &Url) {
    let limits = SitemapLimits { bytes: 64 * 1024, urls: 8, url_bytes: 120, title_chars: 40 };
    let read = sitemap::parse(body, Some(content_type), url, &limits);
    assert_eq!(read, sitemap::parse(body, Some(content_type), url, &limits), "the same twice");
    let Ok(sitemap) = read else { return };
    assert!(sitemap.sitemaps.len() + sitemap.pages.len() <= limits.urls);
    let images = sitemap.pages.iter().filter_map(|page| page.image.as_ref());
    let locs = sitemap.sitemaps.iter().map(|link| &link.loc).chain(sitemap.pages.iter().map(|page| &page.loc));
    for loc in locs.chain(images) {
        assert!(loc.len() <= limits.url_bytes && Url::parse(loc).is_ok_and(|loc| is_web(&loc)));
    }
    for title in sitemap.pages.iter().filter_map(|page| page.title.as_ref()) {
        assert!(!title.is_empty() && title.chars().count() <= limits.title_chars);
    }
}

/// Finds the feeds that a page links to.
pub(crate) fn discover(data: &[u8]) {
    let page = unfolded(data);
    let Ok(url) = Url::parse("https://site.example/blog/") else { return };
    let links = curlew_feed::discover(&page, None, &url, &[]);
    assert_eq!(links, curlew_feed::discover(&page, None, &url, &[]), "the same twice");
    let mut seen = HashSet::new();
    for link in &links {
        assert!(is_web(&link.url) && link.url.fragment().is_none());
        assert!(seen.insert(link.url.as_str()), "each address once");
    }
}

/// Reads a list of feeds (OPML), such as people export from other programs.
pub(crate) fn opml(data: &[u8]) {
    let list = unfolded(data);
    let Ok(feeds) = feeds_of_opml(&list) else { return };
    assert_eq!(Ok(&feeds), feeds_of_opml(&list).as_ref(), "the same twice");
    for feed in &feeds {
        assert!(!feed.url.is_empty() && feed.url.trim() == feed.url);
        assert!(feed.title.as_ref().is_none_or(|title| !title.is_empty() && !title.contains(char::is_control)));
    }
}
