//! Recognizes lines that point to related pages.

use crate::candidates::lines::is_prose;
use crate::candidates::section_names::{LONGEST_NAME, section_named};
use crate::read::outline::{Block, Reason, Section, Tag};
use crate::text;

/// Drops headlines in links with a label before them, in any language, where a few of them stand between two paragraphs. What a
/// colon announces belongs to the text.
pub(super) fn drop_labelled(blocks: &[Block], left: &mut [Option<Reason>]) {
    /// Maximum number of them together.
    const MANY: usize = 5;
    let kept: Vec<usize> = (0..blocks.len()).filter(|at| left.get(*at) == Some(&None)).collect();
    let block = |place: usize| kept.get(place).and_then(|at| blocks.get(*at));
    let mut place = 0;
    while place < kept.len() {
        let run = (place..).take_while(|at| block(*at).is_some_and(labels_link)).count();
        let before = place.checked_sub(1).and_then(block);
        let follows_paragraph = before.is_some_and(|b| is_prose(b) && !b.text.ends_with([':', '：']));
        let goes_on = block(place + run).is_some_and(|b| is_prose(b) || b.link_chars == 0);
        if run <= MANY && follows_paragraph && goes_on {
            for at in kept.get(place..place + run).unwrap_or_default() {
                if let Some(left) = left.get_mut(*at) {
                    *left = Some("headlines of other pages within the text");
                }
            }
        }
        place += run.max(1);
    }
}

/// True if a line is a headline of another page of the site in a link, with a label before it: any with a colon, in any language, or
/// the name of a section of teasers.
fn labels_link(block: &Block) -> bool {
    *block.labels_link.get_or_init(|| has_label(block))
}

fn has_label(block: &Block) -> bool {
    /// Maximum number of words of the label.
    const LABEL_WORDS: usize = 4;
    /// Maximum width of it.
    const LABEL_WIDTH: usize = 30;
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
    let colon = block.text.split_once([':', '：']).filter(|(label, _)| text::words(label) <= LABEL_WORDS);
    let named = || {
        let spaces = block.text.match_indices(' ').take_while(|(end, _)| *end <= LABEL_BYTES).take(LONGEST_NAME);
        let ends = spaces.map(|(end, _)| block.text.split_at(end));
        ends.filter(|(label, _)| section_named(&text::fold(label)) == Some(Section::Teasers)).last()
    };
    let Some((label, headline)) = colon.or_else(named) else { return false };
    let (outside, width) = (block.chars - block.link_chars, text::width(label) + 1);
    text::words(label) > 0
        && width <= LABEL_WIDTH
        && text::words(headline) >= HEADLINE
        && ((outside == 0 && colon.is_some()) || outside.abs_diff(width) <= NEARLY)
}
