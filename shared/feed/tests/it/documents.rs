//! Small feeds for tests, and how they are read.

use curlew_feed::{Feed, Limits, parse};

pub(crate) fn read_bytes(body: &[u8]) -> Feed {
    parse(body, None, &"https://mudflat.example/feed".parse().unwrap(), &Limits::default()).unwrap()
}

pub(crate) fn read(body: &str) -> Feed {
    read_bytes(body.as_bytes())
}

pub(crate) fn rss(inside: &str) -> String {
    format!("<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>Waders</title>{inside}</channel></rss>")
}

pub(crate) fn first_title(feed: &Feed) -> &str {
    feed.entries[0].title.as_deref().unwrap()
}
