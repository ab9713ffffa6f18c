//! Parses OPML 1.0 and 2.0, the exchange format of feed readers, as tolerantly as a feed.

use crate::token::{Tag, Token, Tokens};
use crate::{text, work::Work};
use curlew_text::charset::{self, Document};
use curlew_text::references;

const MAX_FEEDS: usize = 1_000_000;
const MAX_TITLE: usize = 200;
const MAX_FOLDER: usize = 100;
/// Maximum nesting of folders. Feeds in deeper folders count as being in the deepest allowed one.
const MAX_FOLDERS: usize = 8;
/// Attributes with the address of a feed: OPML's own, and a variant that other programs write.
const ADDRESSES: [&str; 2] = ["xmlUrl", "feedUrl"];

/// A feed in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpmlFeed {
    /// Address as written, with references resolved. Not validated.
    pub url: String,
    /// Title given by the list, as plain text.
    pub title: Option<String>,
    /// Names of the enclosing folders, outermost first.
    pub folder: Vec<String>,
}

/// Reason why a document is not an OPML list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotOpml {
    /// The document contains neither `<opml>` nor a feed.
    #[error("it is not OPML: it has no <opml> element")]
    NoOpml,
    /// The document names too many feeds.
    #[error("it names more than {MAX_FEEDS} feeds")]
    TooMany,
}

/// Returns the feeds in a list with their folders, in document order, however broken the document.
pub fn feeds_of_opml(body: &[u8]) -> Result<Vec<OpmlFeed>, NotOpml> {
    let decoded = charset::decode(body, None, Document::Feed);
    let work = Work::default();
    let mut tokens = Tokens::new(&decoded.text, &work);
    let mut feeds = Vec::new();
    let mut is_opml = false;
    let mut folders = Folders::default();
    while let Some(token) = tokens.next() {
        let tag = match token {
            Token::Start(tag) => tag,
            Token::End(name) if name.eq_ignore_ascii_case("outline") => {
                folders.open.pop_if(|(depth, _)| *depth == folders.depth);
                folders.depth = folders.depth.saturating_sub(1);
                continue;
            }
            _ => continue,
        };
        is_opml |= tag.name.eq_ignore_ascii_case("opml");
        if !tag.name.eq_ignore_ascii_case("outline") {
            continue;
        }
        let feed = feed(&tag, &folders);
        if !tag.empty {
            folders.depth += 1;
            if feed.is_none() && folders.open.len() < MAX_FOLDERS {
                folders.open.extend(name(&tag, MAX_FOLDER).map(|name| (folders.depth, name)));
            }
        }
        if let Some(feed) = feed {
            if feeds.len() == MAX_FEEDS {
                return Err(NotOpml::TooMany);
            }
            feeds.push(feed);
        }
    }
    if is_opml || !feeds.is_empty() { Ok(feeds) } else { Err(NotOpml::NoOpml) }
}

#[derive(Default)]
struct Folders {
    depth: usize,
    /// Names of the open folders, each with the depth of its outline.
    open: Vec<(usize, String)>,
}

fn feed(tag: &Tag<'_>, folders: &Folders) -> Option<OpmlFeed> {
    Some(OpmlFeed {
        url: ADDRESSES.iter().find_map(|name| value(tag, name))?,
        title: name(tag, MAX_TITLE),
        folder: folders.open.iter().map(|(_, name)| name.clone()).collect(),
    })
}

fn name(tag: &Tag<'_>, max_chars: usize) -> Option<String> {
    let name = value(tag, "title").or_else(|| value(tag, "text"))?;
    text::plain(&name, true, max_chars)
}

fn value(tag: &Tag<'_>, wanted: &str) -> Option<String> {
    let found = tag.attributes().find(|(name, value)| name.eq_ignore_ascii_case(wanted) && !value.trim().is_empty());
    found.map(|(_, value)| references::decode(value).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &[u8]) -> Vec<OpmlFeed> {
        feeds_of_opml(body).unwrap_or_else(|error| panic!("{error}"))
    }

    fn urls(body: &[u8]) -> Vec<String> {
        read(body).into_iter().map(|feed| feed.url).collect()
    }

    fn list(outlines: &str) -> Vec<String> {
        urls(format!("<?xml version='1.0'?><opml version='2.0'><body>{outlines}</body></opml>").as_bytes())
    }

    #[test]
    fn feeds_are_found_in_folders_of_any_depth_with_their_titles() {
        let body = "<opml version='1.1'><head><title>All</title></head><body>\
            <outline text='Folder'><outline text='Waders &amp; co' type='rss' xmlUrl=' https://a.example/f '/>\
              <outline text='Inner'><OUTLINE TEXT='B' TITLE='Terns' XMLURL='https://b.example/f?x=1&amp;y=2'></OUTLINE></outline>\
            </outline><outline type='link' url='https://c.example/' text='no feed'/>\
            <outline xmlUrl='https://d.example/f' htmlUrl='https://d.example/'/></body></opml>";
        let feeds = read(body.as_bytes());
        let said: Vec<_> = feeds.iter().map(|f| (f.url.as_str(), f.title.as_deref(), f.folder.join("/"))).collect();
        let expected = [
            ("https://a.example/f", Some("Waders & co"), "Folder".to_owned()),
            ("https://b.example/f?x=1&y=2", Some("Terns"), "Folder/Inner".to_owned()),
            ("https://d.example/f", None, String::new()),
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn folders_without_end_cost_little_and_keep_their_feeds() {
        let deep = format!("{}<outline xmlUrl='https://a.example/f'/>", "<outline text='x'>".repeat(100_000));
        let body = format!("<opml>{deep}{}<outline xmlUrl='https://b.example/f'/>", "</outline>".repeat(200_000));
        let feeds = read(body.as_bytes());
        let folders: Vec<usize> = feeds.iter().map(|feed| feed.folder.len()).collect();
        assert_eq!(folders, [MAX_FOLDERS, 0]);
        let long = format!("<outline text='{}'><outline xmlUrl='https://a.example/f'/>", "é".repeat(9_999));
        let feeds = read(long.as_bytes());
        assert!(feeds[0].folder[0].chars().count() <= MAX_FOLDER);
    }

    #[test]
    fn what_is_not_well_formed_costs_no_feed() {
        let two = "<outline text='B' xmlUrl='https://b.example/f'/>";
        for (broken, url) in [
            ("<outline text='A' xmlUrl='https://a.example/f?u=1&id=2'/>", "https://a.example/f?u=1&id=2"),
            ("<outline text=\"Nerd's | R&D\" xmlUrl=\"https://a.example/f&x=1\"/>", "https://a.example/f&x=1"),
            ("<outline text='a < b' xmlUrl='https://a.example/f'/>", "https://a.example/f"),
            ("<outline text=\"<b>A</b> & <i\" xmlUrl=\"https://a.example/f\"/>", "https://a.example/f"),
            ("<outline text='A' xmlUrl='https://a.example/f'>", "https://a.example/f"),
            ("<outline text='A' xmlUrl=https://a.example/f />", "https://a.example/f"),
            ("<outline text='A' xmlUrl='' xmlUrl='https://a.example/f'/>", "https://a.example/f"),
            ("<outline text='A&nbsp;&hellip;&nope;' xmlUrl='https://a.example/f'/>", "https://a.example/f"),
            (
                "<outline description=\"It is \"the world's best,\"\" xmlUrl=\"https://a.example/f\"/>",
                "https://a.example/f",
            ),
            ("</body></outline><outline xmlUrl='https://a.example/f'/>", "https://a.example/f"),
            ("<!-- a -- b --><outline xmlUrl='https://a.example/f'/>", "https://a.example/f"),
        ] {
            assert_eq!(list(&format!("{broken}{two}")), [url, "https://b.example/f"], "{broken}");
            assert_eq!(list(&format!("{two}{broken}")), ["https://b.example/f", url], "{broken}");
        }
        let cut = "<outline xmlUrl='https://a.example/f'/><outline xmlUrl='https://b";
        assert_eq!(urls(cut.as_bytes()), ["https://a.example/f"]);
    }

    #[test]
    fn every_encoding_of_a_list_is_the_same_list() {
        let text = "<?xml version='1.0'?>\n<opml><body><outline text='Br\u{fc}cke' xmlUrl='https://a.example/br\u{fc}cke'/></body></opml>";
        let utf_16 = |mark: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            format!("{mark}{text}").encode_utf16().flat_map(bytes).collect()
        };
        let latin: Vec<u8> = text.replace("'1.0'", "'1.0' encoding='iso-8859-1'").chars().map(|c| c as u8).collect();
        for body in [
            text.as_bytes().to_vec(),
            format!("\u{feff}{text}").into_bytes(),
            utf_16("\u{feff}", u16::to_le_bytes),
            utf_16("\u{feff}", u16::to_be_bytes),
            utf_16("", u16::to_le_bytes),
            latin,
        ] {
            assert_eq!(urls(&body), ["https://a.example/br\u{fc}cke"]);
        }
    }

    #[test]
    fn what_is_no_opml_is_said_to_be_none() {
        for text in ["", "hello", "<html><body></body></html>", "<rss><channel/></rss>", "{}"] {
            assert_eq!(feeds_of_opml(text.as_bytes()), Err(NotOpml::NoOpml), "{text:?}");
        }
        assert_eq!(feeds_of_opml(b"<opml><body/></opml>"), Ok(Vec::new()));
    }
}
