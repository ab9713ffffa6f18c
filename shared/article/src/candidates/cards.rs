//! Drops lists and cards within the text that point to other pages.

use crate::candidates::lines::is_prose;
use crate::read::outline::{Block, Reason, Tag};
use crate::text;

/// Drops short lists of linked headlines of the site between two paragraphs, which point to related pages, and cards: a few lines of one
/// link. A list that a colon announces belongs to the text.
pub(super) fn drop_from(blocks: &[Block], left: &mut [Option<Reason>]) {
    /// Maximum number of items or lines.
    const MANY: usize = 5;
    /// Minimum number of words of a headline.
    const WORDS: usize = 4;
    /// Share of an item inside links; a number or a label may stand before them.
    const LINKED: f64 = 0.7;
    /// Minimum number of lines of a card, and their share inside links.
    const CARD: (usize, f64) = (2, 0.95);
    let kept: Vec<usize> = (0..blocks.len()).filter(|at| left.get(*at) == Some(&None)).collect();
    let block = |place: usize| kept.get(place).and_then(|at| blocks.get(*at));
    let is_item = |b: &Block| b.tag == Tag::Item && b.own_links() > LINKED && text::words(&b.text) >= WORDS;
    let is_of_card = |b: &Block| !matches!(b.tag, Tag::Item | Tag::Cell | Tag::Pre) && b.links() > CARD.1;
    let run_of = |place: usize, is: &dyn Fn(&Block) -> bool| {
        (place..kept.len()).take_while(|at| block(*at).is_some_and(is)).count()
    };
    let mut place = 0;
    while place < kept.len() {
        let (items, lines) = (run_of(place, &is_item), run_of(place, &is_of_card));
        let run = items.max(lines);
        let before = place.checked_sub(1).and_then(block);
        let goes_on = |b: &Block| is_prose(b) || (items == 0 && matches!(b.tag, Tag::Heading(_)));
        let is_within = before.is_some_and(is_prose) && block(place + run).is_some_and(goes_on);
        let is_announced = before.is_some_and(|b| b.text.ends_with([':', '：']));
        if (1..=MANY).contains(&run) && (items > 0 || lines >= CARD.0) && is_within && !is_announced {
            for at in kept.get(place..place + run).unwrap_or_default() {
                if let Some(left) = left.get_mut(*at) {
                    *left = Some("headlines of other pages within the text");
                }
            }
        }
        place += run.max(1);
    }
}
