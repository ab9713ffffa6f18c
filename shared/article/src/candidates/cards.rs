//! Drops what points to other pages between two paragraphs: short lists, cards and labelled links.

use crate::candidates::lines::is_prose;
use crate::candidates::pointers::labels_link;
use crate::read::outline::{Block, Reason, Tag};
use crate::text;

/// Maximum number of lines that point to other pages together.
const MANY: usize = 5;

/// Drops short lists of linked headlines of the site, cards (a few lines of one link), and headlines in links with a label before them,
/// in any language, where they stand between two paragraphs. What a colon announces belongs to the text.
pub(super) fn drop_from(blocks: &[Block], left: &mut [Option<Reason>]) {
    /// Minimum number of lines of a card.
    const CARD: usize = 2;
    let kept: Vec<usize> = (0..blocks.len()).filter(|at| left.get(*at) == Some(&None)).collect();
    let block = |place: usize| kept.get(place).and_then(|at| blocks.get(*at));
    let run_of = |place: usize, is: fn(&Block) -> bool| (place..).take_while(|at| block(*at).is_some_and(is)).count();
    let mut place = 0;
    while place < kept.len() {
        let (items, lines, labelled) =
            (run_of(place, is_headline), run_of(place, is_of_card), run_of(place, labels_link));
        let run = items.max(lines).max(labelled);
        let before = place.checked_sub(1).and_then(block);
        let goes_on = |b: &Block| is_prose(b) || (items == 0 && matches!(b.tag, Tag::Heading(_)));
        let is_within = before.is_some_and(is_prose) && block(place + run).is_some_and(goes_on);
        let is_announced = before.is_some_and(|b| b.text.ends_with([':', '：']));
        let points = items > 0 || lines >= CARD || labelled > 0;
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
    const LINKED: f64 = 0.7;
    block.tag == Tag::Item && block.own_links() > LINKED && text::words(&block.text) >= WORDS
}

/// True for a line all of which is a link, as those of a card are.
fn is_of_card(block: &Block) -> bool {
    const LINKED: f64 = 0.95;
    !matches!(block.tag, Tag::Item | Tag::Cell | Tag::Pre) && block.links() > LINKED
}
