//! Drops what points to other pages between two paragraphs: short lists, cards and labelled links.

use crate::candidates::lines::is_prose;
use crate::candidates::pointers::labels_link;
use crate::read::outline::{Block, Reason, Tag};
use crate::text;

/// Maximum number of lines that point to other pages together.
const MANY: usize = 5;

/// Share inside links from which a line is one.
const LINKED: f64 = 0.95;

/// Drops short lists of linked headlines of the site, cards (a few lines of one link), and headlines in links with a label before them,
/// in any language, where they stand between two paragraphs. What a colon announces belongs to the text.
pub(super) fn drop_from(blocks: &[Block], left: &mut [Option<Reason>]) {
    /// Minimum number of lines of a card.
    const CARD: usize = 2;
    /// Minimum number of headings of a text that has sections.
    const HEADINGS: usize = 3;
    let kept: Vec<usize> = (0..blocks.len()).filter(|at| left.get(*at) == Some(&None)).collect();
    let block = |place: usize| kept.get(place).and_then(|at| blocks.get(*at));
    let run_of = |place: usize, is: fn(&Block) -> bool| (place..).take_while(|at| block(*at).is_some_and(is)).count();
    let headings = kept.iter().filter_map(|at| blocks.get(*at)).filter(|b| matches!(b.tag, Tag::Heading(_)));
    // Where several headings are links, the page is about what they lead to.
    let alone = headings.clone().count() >= HEADINGS && headings.filter(|b| is_linked_heading(b)).count() == 1;
    let mut place = 0;
    while place < kept.len() {
        let (items, lines, labelled) =
            (run_of(place, is_headline), run_of(place, is_of_card), run_of(place, labels_link));
        let run = items.max(lines).max(labelled);
        let before = place.checked_sub(1).and_then(block);
        let goes_on = |b: &Block| {
            is_prose(b) || (items == 0 && matches!(b.tag, Tag::Heading(_))) || (labelled > 0 && b.link_chars == 0)
        };
        let is_within = before.is_some_and(is_prose) && block(place + run).is_some_and(goes_on);
        let is_announced = before.is_some_and(|b| b.text.ends_with([':', '：']));
        let headline = alone && lines == 1 && block(place).is_some_and(is_linked_heading);
        let points = items > 0 || lines >= CARD || labelled > 0 || headline;
        if points && run <= MANY && is_within && !is_announced {
            for at in kept.get(place..place + run).unwrap_or_default() {
                if let Some(left) = left.get_mut(*at) {
                    *left = Some("headlines of other pages within the text");
                }
            }
        }
        place += run.max(1);
    }
}

/// True for an item of a list that is a headline of the site.
fn is_headline(block: &Block) -> bool {
    /// Minimum number of words.
    const WORDS: usize = 4;
    /// Share inside links; a number or a label may stand before them.
    const MOSTLY: f64 = 0.7;
    block.tag == Tag::Item && block.own_links() > MOSTLY && text::words(&block.text) >= WORDS
}

/// True for a heading that leads to another page of the site.
fn is_linked_heading(block: &Block) -> bool {
    matches!(block.tag, Tag::Heading(_)) && block.own_links() > LINKED
}

/// True for a line all of which is a link, as those of a card are.
fn is_of_card(block: &Block) -> bool {
    !matches!(block.tag, Tag::Item | Tag::Cell | Tag::Pre) && block.links() > LINKED
}
