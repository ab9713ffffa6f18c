//! The fallback: a port of Mozilla's Readability, the crate `dom_smoothie`.
//!
//! It builds its own tree and is slow on deep ones, so it is given a reduced page: block elements, links and text,
//! without formatting, scripts, and attributes other than names.

use crate::read::attributes::Attributes;
use crate::read::boilerplate::{Names, kind};
use crate::read::dom::attr;
use crate::read::elements::{heading, is_mute};
use crate::read::gate::{Limits, is_formatting};
use crate::read::outline::Kind;
use curlew_text::hygiene;
use dom_smoothie::{Config, Readability, TextMode};
use ego_tree::iter::Edge;
use scraper::{Html, Node};

/// Maximum length of the reduced page, in bytes.
const LONGEST: usize = 1024 * 1024;
/// Maximum work handed on: the sum of the depths of all elements, plus [`EACH`] per element. The fallback's time grows
/// with the former and its memory with the latter; real pages stay well below.
const WORK: usize = 500_000;
/// Work per element; see [`WORK`].
const EACH: usize = 20;
/// Bytes of the longest heading that count as one unit of work for each of them: one is the title, and the fallback compares all with it.
const HEADING_BYTES: usize = 8;
/// First of the private characters (plane 16) that stand in for `&`, `<`, `>`, `"` and all that begin with the byte of
/// a no-break space. The fallback writes its tree anew, and for each of these searches all of the text after it.
const STAND_INS: u32 = 0x10_FF00;
/// Bytes of text that count as one unit of work: each element around a text reads it.
const TEXT_BYTES: usize = 64;

/// Number of times that a text counts which is not ASCII alone: finding its words and small letters takes that much longer.
const NOT_ASCII: usize = 4;

/// Returns the text that the fallback finds (empty if none), and the work that it was given.
pub(crate) fn read(tree: &Html, limits: &Limits) -> (String, u64) {
    let Some((reduced, work)) = reduced(tree) else { return (String::new(), WORK as u64) };
    (found(reduced, limits).unwrap_or_default(), work as u64)
}

fn found(reduced: String, limits: &Limits) -> Option<String> {
    let config = Config { text_mode: TextMode::Formatted, disable_json_ld: true, ..Config::default() };
    let article = Readability::new(reduced, None, Some(config)).ok()?.parse().ok()?;
    let mut out = String::new();
    let mut left = limits.text_chars;
    let mut last = String::new();
    for paragraph in article.text_content.lines() {
        let paragraph = hygiene::line(&paragraph.chars().map(meant).collect::<String>(), left);
        // The same line twice in a row is a copy for another width of screen.
        if paragraph.is_empty() || paragraph == last {
            continue;
        }
        last.clone_from(&paragraph);
        if !out.is_empty() {
            out.push_str("\n\n");
        }
        out.push_str(&paragraph);
        left = left.saturating_sub(paragraph.chars().count() + 2);
        if left == 0 {
            break;
        }
    }
    Some(out)
}

/// Writes the page as HTML again, with only the parts that the fallback uses, and counts its work; `None` if that is
/// too much.
fn reduced(tree: &Html) -> Option<(String, usize)> {
    let mut out = String::from("<!DOCTYPE html><html><body>");
    let mut names = Names::default();
    let mut skipping = None;
    let (mut depth, mut work) = (0, 0);
    let mut headings = Headings::default();
    for edge in tree.tree.root().traverse() {
        match edge {
            Edge::Open(node) if skipping.is_none() => match node.value() {
                Node::Text(text) => {
                    let end = text.floor_char_boundary(LONGEST.saturating_sub(out.len()));
                    headings.text(end);
                    out.extend(text.get(..end).unwrap_or_default().chars().map(stand_in));
                    let weight = if text.is_ascii() { 1 } else { NOT_ASCII };
                    work += depth * end * weight / TEXT_BYTES;
                    if work > WORK {
                        return None;
                    }
                }
                Node::Element(element) => {
                    let name = element.name();
                    let attributes = Attributes::read(element);
                    let kind = kind(name, &attributes, &names.of_element(&attributes));
                    if is_mute(name)
                        || matches!(name, "head" | "math")
                        || out.len() >= LONGEST
                        || matches!(kind, Some((Kind::Hidden, _)))
                    {
                        skipping = Some(node.id());
                    } else if emitted(name) {
                        depth += usize::from(!is_void(name));
                        work += depth + EACH;
                        if heading(name).is_some() {
                            headings.open();
                        }
                        if work > WORK {
                            return None;
                        }
                        out.push('<');
                        out.push_str(name);
                        for key in ["class", "id", "href", "role"] {
                            if let Some(value) = attr(element, key).filter(|value| value.len() < 256) {
                                out.push(' ');
                                out.push_str(key);
                                out.push_str("=\"");
                                out.extend(value.chars().map(stand_in));
                                out.push('"');
                            }
                        }
                        out.push('>');
                    }
                }
                _ => {}
            },
            Edge::Close(node) if skipping.is_some() => {
                if skipping == Some(node.id()) {
                    skipping = None;
                }
            }
            Edge::Close(node) => {
                if let Node::Element(element) = node.value()
                    && emitted(element.name())
                    && !is_void(element.name())
                {
                    depth -= 1;
                    if heading(element.name()).is_some() {
                        headings.close();
                    }
                    out.push_str("</");
                    out.push_str(element.name());
                    out.push('>');
                }
            }
            Edge::Open(_) => {}
        }
    }
    work += headings.number * headings.longest / HEADING_BYTES;
    (work <= WORK).then_some((out, work))
}

/// The headings of a page that is handed on.
#[derive(Default)]
struct Headings {
    number: usize,
    /// Length of the longest, in bytes, with all that is in it.
    longest: usize,
    /// Number of those that are open, and the bytes in the outermost one.
    open: usize,
    inside: usize,
}

impl Headings {
    fn open(&mut self) {
        self.number += 1;
        self.open += 1;
    }

    fn text(&mut self, bytes: usize) {
        if self.open > 0 {
            self.inside += bytes;
            self.longest = self.longest.max(self.inside);
        }
    }

    fn close(&mut self) {
        self.open -= 1;
        if self.open == 0 {
            self.inside = 0;
        }
    }
}

/// True for elements without an end (HTML, "void elements"), of those that are handed on.
fn is_void(tag: &str) -> bool {
    matches!(tag, "br" | "hr" | "img")
}

fn emitted(tag: &str) -> bool {
    tag == "a"
        || (!is_formatting(tag)
            && !matches!(
                tag,
                "html" | "body" | "span" | "img" | "input" | "wbr" | "picture" | "source" | "link" | "meta"
            )
            && tag.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// Returns what is handed on for a character; see [`STAND_INS`]. White space is folded, so a no-break space is a blank.
fn stand_in(c: char) -> char {
    match c {
        '\u{A0}' => ' ',
        '&' | '<' | '>' | '"' | '\u{80}'..='\u{BF}' => char::from_u32(STAND_INS + u32::from(c)).unwrap_or(' '),
        c => c,
    }
}

/// Returns the character that a stand-in means; any other one is itself.
fn meant(c: char) -> char {
    let byte = u32::from(c).checked_sub(STAND_INS).and_then(|byte| u8::try_from(byte).ok());
    byte.map_or(c, char::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_handed_on_that_the_fallback_searches_the_text_for() {
        let signs: String = ('\u{80}'..='\u{BF}').collect();
        let prose =
            "The ferry sails again once the storm has passed over the bay, and takes the mail with it. ".repeat(8);
        let page = format!("<p class='a&amp;b\u{B7}'>{prose}a &lt;b&gt; &amp; \"c\" · «d» 5 µ\u{AD}m {signs}</p>");
        let tree = Html::parse_document(&page);
        let (reduced, _) = reduced(&tree).unwrap_or_default();
        assert!(reduced.contains("ferry") && !reduced.bytes().any(|byte| matches!(byte, b'&' | 0xC2)), "{reduced}");
        let (text, _) = read(&tree, &Limits::default());
        assert!(text.contains("a <b> & \"c\" · «d» 5 µm") && text.contains('¿'), "{text}");
        for c in ('\0'..='\u{2FF}').filter(|c| *c != '\u{A0}') {
            assert_eq!(meant(stand_in(c)), c);
        }
    }
}
