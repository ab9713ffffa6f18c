//! OPML, as feed readers exchange their lists of feeds.

use anyhow::{Result, bail};
use quick_xml::escape::escape;
use quick_xml::events::Event;
use quick_xml::{Reader, XmlVersion};

/// The most feeds of one file.
const MOST_FEEDS: usize = 1_000_000;

/// The addresses of the feeds in an OPML document, in its order.
pub(super) fn feeds(text: &str) -> Result<Vec<String>> {
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
    reader.config_mut().check_end_names = false;
    let mut feeds = Vec::new();
    let mut is_opml = false;
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) => {
                is_opml |= tag.name().as_ref().eq_ignore_ascii_case("opml");
                if !tag.name().as_ref().eq_ignore_ascii_case("outline") {
                    continue;
                }
                let address = tag
                    .attributes()
                    .with_checks(false)
                    .flatten()
                    .find(|a| a.key.as_ref().eq_ignore_ascii_case("xmlUrl"))
                    .and_then(|a| a.normalized_value(XmlVersion::Explicit1_0).ok().map(|v| v.trim().to_owned()));
                feeds.extend(address.filter(|a| !a.is_empty()));
                if feeds.len() > MOST_FEEDS {
                    bail!("it names more than {MOST_FEEDS} feeds");
                }
            }
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(error) => bail!("it is no OPML: {error} at byte {}", reader.error_position()),
        }
    }
    if !is_opml {
        bail!("it is no OPML: there is no <opml> in it");
    }
    Ok(feeds)
}

/// One outline of an OPML document.
pub(super) fn outline(title: &str, feed: &str, site: Option<&str>) -> String {
    let site = site.map(|s| format!(" htmlUrl=\"{}\"", escape(clean(s)))).unwrap_or_default();
    format!("    <outline type=\"rss\" text=\"{}\" xmlUrl=\"{}\"{site}/>", escape(clean(title)), escape(clean(feed)))
}

/// Without the characters that XML 1.0 does not allow.
fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() -> Result<()> {
        let document = format!(
            "<?xml version=\"1.0\"?>\n<opml version=\"2.0\"><body>\n<outline text=\"Folder\">{}</outline>\n{}</body></opml>",
            outline("Hens & \"eggs\" <1>", "https://example.org/feed?a=1&b=2", None),
            outline("Other\u{0}", "https://example.net/rss.xml", Some("https://example.net/")),
        );
        assert_eq!(feeds(&document)?, ["https://example.org/feed?a=1&b=2", "https://example.net/rss.xml"]);
        Ok(())
    }

    #[test]
    fn what_is_no_opml_is_said_to_be_none() {
        for text in ["", "hello", "<html><body></body></html>", "<opml><outline xmlUrl='x'"] {
            assert!(feeds(text).is_err(), "{text:?}");
        }
    }
}
