//! Small feeds for tests, and functions to parse them.

use curlew_feed::{Feed, FeedError, Limits, parse};

pub(crate) fn read_with(body: impl AsRef<[u8]>, limits: &Limits) -> Result<Feed, FeedError> {
    parse(body.as_ref(), None, &"https://mudflat.example/feed".parse().unwrap(), limits)
}

pub(crate) fn try_read(body: impl AsRef<[u8]>) -> Result<Feed, FeedError> {
    read_with(body, &Limits::default())
}

pub(crate) fn read(body: impl AsRef<[u8]>) -> Feed {
    try_read(body).unwrap()
}

pub(crate) fn rss(inside: &str) -> String {
    format!("<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>Waders</title>{inside}</channel></rss>")
}

/// Returns an Atom feed that declares prefixes for its extensions.
pub(crate) fn atom(inside: &str) -> String {
    format!(
        "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:at='http://purl.org/atompub/tombstones/1.0' \
         xmlns:fh='http://purl.org/syndication/history/1.0' xmlns:media='http://search.yahoo.com/mrss/'>\
         <title>W</title>{inside}</feed>"
    )
}

pub(crate) fn first_title(feed: &Feed) -> &str {
    feed.entries[0].title.as_deref().unwrap()
}
