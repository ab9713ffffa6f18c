//! Recognizes lines that point to related pages.

use crate::read::outline::{Block, Tag};
use crate::text;

/// True if a line sends its reader to another page.
pub(super) fn is_pointer(line: &str) -> bool {
    let related = || line.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("related"));
    let named = || line.find([':', '：']).is_some_and(|at| at < RELATED);
    (related() && named()) || POINTERS.iter().any(|pointer| points(line, pointer))
}

/// True if a line is a headline of another page of the site in a link, with a label and a colon before it, in any language.
pub(super) fn labels_link(block: &Block) -> bool {
    /// Maximum number of words of the label, and its width.
    const LABEL: (usize, usize) = (4, 30);
    /// Minimum number of words of a headline.
    const HEADLINE: usize = 4;
    let is_line = matches!(block.tag, Tag::Paragraph | Tag::Other);
    let Some((label, headline)) = block.text.split_once([':', '：']).filter(|_| is_line) else { return false };
    let width = text::width(label) + 1;
    let outside = block.chars - block.link_chars;
    (1..=LABEL.0).contains(&text::words(label))
        && width <= LABEL.1
        && text::words(headline) >= HEADLINE
        && block.own_link_chars == block.link_chars
        && (outside == 0 || outside.abs_diff(width) <= 1)
}

/// True if a line begins with a word such as "Related" and a colon.
fn points(line: &str, pointer: &str) -> bool {
    let Some(start) = line.get(..pointer.len()) else { return false };
    let rest = line.get(pointer.len()..).unwrap_or_default().trim_start();
    rest.starts_with([':', '：', '–', '>', '»', '|']) && start.to_lowercase() == pointer
}

/// Maximum length of a word for related pages, up to its colon, in bytes.
const RELATED: usize = 24;
/// Words before a colon that point to another page.
const POINTERS: [&str; 31] = [
    "also check",
    "also see",
    "check also",
    "you may also check",
    "related",
    "related article",
    "related articles",
    "related story",
    "related post",
    "related reading",
    "see also",
    "read also",
    "also read",
    "read more",
    "read next",
    "don’t miss",
    "don't miss",
    "recommended",
    "leggi anche",
    "approfondisci",
    "lire aussi",
    "à lire aussi",
    "lees ook",
    "lesen sie auch",
    "mehr zum thema",
    "lee también",
    "te puede interesar",
    "leia também",
    "veja também",
    "関連記事",
    "관련기사",
];
