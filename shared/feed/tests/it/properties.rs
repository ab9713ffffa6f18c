//! Tests of properties that hold for every document, valid or not.

use crate::documents::{read, read_with, try_read};
use curlew_feed::sitemap::{self, SitemapLimits};
use curlew_feed::{Feed, Limits, discover};
use proptest::prelude::*;
use url::Url;

const FIXTURES: [&[u8]; 8] = [
    include_bytes!("fixtures/rss2.xml"),
    include_bytes!("fixtures/rss1.xml"),
    include_bytes!("fixtures/rss09.xml"),
    include_bytes!("fixtures/atom.xml"),
    include_bytes!("fixtures/atom03.xml"),
    include_bytes!("fixtures/feed.json"),
    include_bytes!("fixtures/broken.xml"),
    include_bytes!("fixtures/sitemap.xml"),
];

/// Fragments with a meaning for feed parsers, separated by `|`.
const PIECES: &str = "\
    <|>|&|;|\"|'|<![CDATA[|]]>|<!--|-->|<?xml encoding='utf-16'?>|<!DOCTYPE [|<item>|</item>|<title type='xhtml'>|\
    </title>|<entry>|<link href='|xmlns=''|<rss>|\0|\u{FEFF}|{\"items\":[|<author>|<url>|</loc>|<image:image>";

fn page() -> Url {
    "https://page.example/feed".parse().unwrap()
}

fn small() -> Limits {
    Limits { entries: 3, title_chars: 20, text_chars: 40, url_bytes: 60, ..Limits::default() }
}

/// Checks all guarantees about a feed, whatever its source.
fn check(feed: &Feed, limits: &Limits) {
    assert!(feed.entries.len() <= limits.entries);
    for entry in &feed.entries {
        assert!(!entry.id.is_empty() && entry.id.len() <= limits.url_bytes.max(43));
        if let Some(link) = &entry.link {
            let url: Url = link.parse().unwrap();
            assert!(matches!(url.scheme(), "http" | "https") && link.len() <= limits.url_bytes);
            assert!(url.username().is_empty() && url.password().is_none());
        }
        for (text, limit) in [
            (&entry.title, limits.title_chars),
            (&entry.author, limits.title_chars),
            (&entry.summary, limits.text_chars),
        ] {
            if let Some(text) = text {
                assert!(!text.is_empty() && text.chars().count() <= limit);
                assert!(!text.contains(
                    |c: char| c.is_control() && c != '\n' && c != '\t' || ('\u{202A}'..='\u{202E}').contains(&c)
                ));
            }
        }
    }
}

/// Parses a document as a sitemap, and checks all guarantees about the result.
fn check_sitemap(body: &[u8]) {
    let limits = SitemapLimits { bytes: 2_000, urls: 2, url_bytes: 60, title_chars: 20 };
    let read = sitemap::parse(body, None, &page(), &limits);
    assert_eq!(read, sitemap::parse(body, None, &page(), &limits));
    let Ok(sitemap) = read else { return };
    assert!(sitemap.sitemaps.len() + sitemap.pages.len() <= limits.urls);
    for loc in sitemap.sitemaps.iter().map(|s| &s.loc).chain(sitemap.pages.iter().map(|p| &p.loc)) {
        let url: Url = loc.parse().unwrap();
        assert!(matches!(url.scheme(), "http" | "https") && loc.len() <= limits.url_bytes);
    }
    for title in sitemap.pages.iter().filter_map(|page| page.title.as_ref()) {
        assert!(!title.is_empty() && title.chars().count() <= limits.title_chars);
    }
}

/// Generates fixtures with some bytes removed, duplicated, or replaced by a fragment.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let edit = (
        any::<prop::sample::Index>(),
        0_usize..40,
        0_u8..4,
        prop::sample::select(PIECES.split('|').collect::<Vec<_>>()),
    );
    (prop::sample::select(&FIXTURES[..]), prop::collection::vec(edit, 1..12)).prop_map(|(fixture, edits)| {
        let mut body = fixture.to_vec();
        for (at, length, what, piece) in edits {
            let from = at.index(body.len() + 1);
            let to = (from + length).min(body.len());
            let middle = match what {
                0 => Vec::new(),
                1 => body[from..to].repeat(2),
                2 => piece.as_bytes().to_vec(),
                _ => [&body[from..to], piece.as_bytes()].concat(),
            };
            body.splice(from..to, middle);
        }
        body
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_are_read_or_refused(body in prop::collection::vec(any::<u8>(), 0..600)) {
        if let Ok(feed) = read_with(&body, &small()) {
            check(&feed, &small());
        }
        discover(&body, None, &page(), &[]);
        check_sitemap(&body);
    }

    #[test]
    fn mutated_feeds_keep_every_promise_and_read_the_same_twice(body in mutated()) {
        for limits in [small(), Limits::default()] {
            let once = read_with(&body, &limits);
            if let Ok(feed) = &once {
                check(feed, &limits);
            }
            prop_assert_eq!(once, read_with(&body, &limits));
        }
        check_sitemap(&body);
    }

    #[test]
    fn a_feed_cut_anywhere_keeps_what_came_whole(at in any::<prop::sample::Index>()) {
        let document = FIXTURES[0].trim_ascii_end();
        let whole = read(document);
        let body = &document[..at.index(document.len())];
        let complete = body.windows(7).filter(|w| w == b"</item>").count();
        if let Ok(cut) = try_read(body) {
            prop_assert!(cut.entries.len() >= complete);
            prop_assert_eq!(&cut.entries[..complete], &whole.entries[..complete]);
            prop_assert!(cut.truncated);
        } else {
            prop_assert_eq!(complete, 0);
        }
    }

    #[test]
    fn every_encoding_of_a_feed_is_the_same_feed(which in 0_usize..5) {
        let text = std::str::from_utf8(FIXTURES[which]).unwrap();
        let bare = text.find("?>").map_or(text, |at| &text[at + 2..]).trim_start();
        let utf_16: Vec<u8> = bare.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let entries = |bytes: &[u8]| try_read(bytes).map(|feed| feed.entries);
        prop_assert_eq!(entries(&utf_16), entries(text.as_bytes()));
    }
}
