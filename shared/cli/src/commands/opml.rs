//! Writes OPML, the format in which feed readers exchange lists of feeds. `curlew_feed` reads it.

use quick_xml::escape::escape;
use std::collections::BTreeMap;

/// Returns an OPML document of feeds in folders. Each feed is an [`outline`].
pub(super) fn document(feeds: &BTreeMap<Vec<String>, Vec<String>>) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<opml version=\"2.0\">\n  <head><title>Curlew</title></head>\n  <body>\n",
    );
    let indent = |depth: usize| "  ".repeat(depth + 2);
    let mut open: &[String] = &[];
    // A folder comes before those in it, and these before the next.
    for (folder, outlines) in feeds.iter().map(|(folder, outlines)| (folder.as_slice(), outlines)).chain([END]) {
        let common = open.iter().zip(folder).take_while(|(a, b)| a == b).count();
        for depth in (common..open.len()).rev() {
            text += &format!("{}</outline>\n", indent(depth));
        }
        for (depth, name) in folder.iter().enumerate().skip(common) {
            text += &format!("{}<outline text=\"{}\">\n", indent(depth), escape(clean(name)));
        }
        for outline in outlines {
            text += &format!("{}{outline}\n", indent(folder.len()));
        }
        open = folder;
    }
    text + "  </body>\n</opml>\n"
}

/// The place after the last folder.
const END: (&[String], &Vec<String>) = (&[], &Vec::new());

/// Returns an outline of an OPML document.
pub(super) fn outline(title: &str, feed: &str, site: Option<&str>) -> String {
    let site = site.map(|s| format!(" htmlUrl=\"{}\"", escape(clean(s)))).unwrap_or_default();
    format!("<outline type=\"rss\" text=\"{}\" xmlUrl=\"{}\"{site}/>", escape(clean(title)), escape(clean(feed)))
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
        let folder = |path: &[&str]| path.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let other = outline("Other\u{0}", "https://example.net/rss.xml", Some("https://example.net/"));
        let hens = "Hens & \"eggs\" <script>1</script>\u{1b}[31m";
        let document = document(&BTreeMap::from([
            (folder(&["A & B", "Inner"]), vec![outline(hens, "https://example.org/feed?a=1&b=2", None)]),
            (folder(&["A & B", "Other"]), vec![other.clone()]),
            (folder(&["A & B"]), vec![other.clone()]),
            (folder(&["Z", "Inner"]), vec![other.clone()]),
            (vec![], vec![other]),
        ]));
        let feeds = curlew_feed::feeds_of_opml(document.as_bytes()).unwrap_or_default();
        let folders: Vec<String> = feeds.iter().map(|feed| feed.folder.join("/")).collect();
        assert_eq!(folders, ["", "A & B", "A & B/Inner", "A & B/Other", "Z/Inner"], "{document}");
        assert_eq!(document.matches("<outline").count(), 5 + 5, "each folder once");
        let read: Vec<_> = feeds.iter().map(|feed| (feed.url.as_str(), feed.title.as_deref())).collect();
        let other = ("https://example.net/rss.xml", Some("Other"));
        let hens = ("https://example.org/feed?a=1&b=2", Some("Hens & \"eggs\" <script>1</script>[31m"));
        assert_eq!(read, [other, other, hens, other, other]);
        assert!(!document.contains("<script>"), "{document}");
    }
}
