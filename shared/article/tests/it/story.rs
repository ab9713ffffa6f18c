//! Functions that read pages, and paragraphs that many tests share.

use curlew_article::{Article, Limits, extract};

/// Reads a page of the usual test site.
pub(crate) fn read(html: &str) -> Article {
    read_at(html, "https://site.example.org/news/a-story")
}

pub(crate) fn read_at(html: &str, url: &str) -> Article {
    extract(html, &url.parse().unwrap(), &Limits::default()).unwrap()
}

/// Asserts that a text has all of `parts` and none of `others`.
pub(crate) fn assert_parts(text: &str, parts: &[&str], others: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "'{part}' is missing in:\n{text}");
    }
    for other in others {
        assert!(!text.contains(other), "'{other}' is kept in:\n{text}");
    }
}

/// Returns a JSON-LD script.
pub(crate) fn linked(json: &str) -> String {
    format!("<script type=application/ld+json>{json}</script>")
}

/// Two paragraphs.
pub(crate) const TEXT: &str = "<p>The bridge over the weir was closed on Monday after a lorry had taken away most of its northern railing.</p>\
    <p>Engineers from the county said that it would stay closed until the stone had been set again by hand.</p>";

/// Three paragraphs, long enough to be distinguished from their surroundings.
pub(crate) const WALK: [&str; 3] = [
    "The walk along the weir begins at the old mill, crosses the meadow where herons stand in winter, and ends at the bridge, from \
     where a bus leads back to the station every hour.",
    "Whoever has more time can go on to the lock, where the keeper opens the gates by hand for two or three boats a day, and likes \
     to be asked about the floods.",
    "In autumn the path is closed for a few weeks, since the county lays new stones along the bank and needs all of it for its \
     carts, so that walkers take the road.",
];

/// Similar paragraphs as markup: the first one, and the other two.
pub(crate) const FIRST: &str = "<p>The walk along the weir begins at the old mill, crosses the meadow where herons stand in winter, and ends at \
    the bridge, from where a bus leads back to the station every hour until six.</p>";
pub(crate) const REST: &str = "<p>Whoever has more time can go on to the lock, where the keeper opens the gates by hand for two or three boats a \
    day and likes to be asked about the floods that he has seen.</p>\
    <p>In autumn the path is closed for a few weeks, since the county lays new stones along the bank and needs all of it for its carts, \
    so that walkers have to take the road.</p>";
