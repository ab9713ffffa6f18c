//! Recognizes lines that point to related pages.

use crate::candidates::section_names::{LONGEST_NAME, section_named};
use crate::lists::POINTERS;
use crate::read::outline::{Block, Section, Tag};
use crate::text;

/// True if a line sends its reader to another page.
pub(super) fn is_pointer(line: &str) -> bool {
    let related = || line.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("related"));
    let named = || line.find([':', '：']).is_some_and(|at| at < RELATED);
    (related() && named()) || POINTERS.iter().any(|pointer| points(line, pointer))
}

/// True if a line is a headline of another page of the site in a link, with a label before it: any with a colon, in any language, or
/// the name of a section of teasers.
pub(super) fn labels_link(block: &Block) -> bool {
    *block.labels_link.get_or_init(|| has_label(block))
}

fn has_label(block: &Block) -> bool {
    /// Maximum number of words of the label, and its width.
    const LABEL: (usize, usize) = (4, 30);
    /// Maximum length of it in bytes.
    const LABEL_BYTES: usize = 120;
    /// Minimum number of words of a headline.
    const HEADLINE: usize = 4;
    /// Maximum difference of widths: blanks, and marks that are written in one character or two.
    const NEARLY: usize = 3;
    let is_linked = block.own_link_chars == block.link_chars && block.link_chars * 2 > block.chars;
    if !is_linked || !matches!(block.tag, Tag::Paragraph | Tag::Other) {
        return false;
    }
    let colon = block.text.split_once([':', '：']).filter(|(label, _)| text::words(label) <= LABEL.0);
    let named = || {
        let spaces = block.text.match_indices(' ').take_while(|(end, _)| *end <= LABEL_BYTES).take(LONGEST_NAME);
        let ends = spaces.map(|(end, _)| block.text.split_at(end));
        ends.filter(|(label, _)| section_named(&text::fold(label)) == Some(Section::Teasers)).last()
    };
    let Some((label, headline)) = colon.or_else(named) else { return false };
    let (outside, width) = (block.chars - block.link_chars, text::width(label) + 1);
    text::words(label) > 0
        && width <= LABEL.1
        && text::words(headline) >= HEADLINE
        && ((outside == 0 && colon.is_some()) || outside.abs_diff(width) <= NEARLY)
}

/// True if a line begins with a word such as "Related" and a colon.
fn points(line: &str, pointer: &str) -> bool {
    let Some(start) = line.get(..pointer.len()) else { return false };
    let rest = line.get(pointer.len()..).unwrap_or_default().trim_start();
    rest.starts_with([':', '：', '–', '>', '»', '|']) && start.to_lowercase() == pointer
}

/// Maximum length of a word for related pages, up to its colon, in bytes.
const RELATED: usize = 24;
