//! Writes OPML, the format in which feed readers exchange lists of feeds. `curlew_feed` reads it.

use quick_xml::escape::escape;

/// One outline of an OPML document.
pub(super) fn outline(title: &str, feed: &str, site: Option<&str>) -> String {
    let site = site.map(|s| format!(" htmlUrl=\"{}\"", escape(clean(s)))).unwrap_or_default();
    format!("    <outline type=\"rss\" text=\"{}\" xmlUrl=\"{}\"{site}/>", escape(clean(title)), escape(clean(feed)))
}

/// Removes the characters that XML 1.0 does not allow.
fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let document = format!(
            "<?xml version=\"1.0\"?>\n<opml version=\"2.0\"><body>\n<outline text=\"Folder\">{}</outline>\n{}</body></opml>",
            outline("Hens & \"eggs\" <script>1</script>\u{1b}[31m", "https://example.org/feed?a=1&b=2", None),
            outline("Other\u{0}", "https://example.net/rss.xml", Some("https://example.net/")),
        );
        let feeds = curlew_feed::feeds_of_opml(document.as_bytes()).unwrap_or_default();
        let read: Vec<_> = feeds.iter().map(|feed| (feed.url.as_str(), feed.title.as_deref())).collect();
        let wanted = [
            ("https://example.org/feed?a=1&b=2", Some("Hens & \"eggs\" <script>1</script>[31m")),
            ("https://example.net/rss.xml", Some("Other")),
        ];
        assert_eq!(read, wanted);
        assert!(!document.contains("<script>"), "{document}");
    }
}
