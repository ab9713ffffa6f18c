//! A page's address and paragraphs that many tests share.

use curlew_article::{Article, Limits, extract};

/// Reads a page of a site.
pub(crate) fn read(html: &str) -> Article {
    extract(html, &"https://site.example.org/news/a-story".parse().unwrap(), &Limits::default()).unwrap()
}

/// Two paragraphs.
pub(crate) const TEXT: &str = "<p>The bridge over the weir was closed on Monday after a lorry had taken away most of its northern railing.</p>\
    <p>Engineers from the county said that it would stay closed until the stone had been set again by hand.</p>";

/// Three paragraphs, long enough to be distinguished from their surroundings.
pub(crate) const PROSE: &str = "<p>The walk along the weir begins at the old mill, crosses the meadow where herons stand in winter, and ends at \
    the bridge, from where a bus leads back to the station every hour until six.</p>\
    <p>Whoever has more time can go on to the lock, where the keeper opens the gates by hand for two or three boats a day and likes \
    to be asked about the floods that he has seen.</p>\
    <p>In autumn the path is closed for a few weeks, since the county lays new stones along the bank and needs all of it for its carts, \
    so that walkers have to take the road.</p>";
