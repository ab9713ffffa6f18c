//! Drops sections inside an article that do not belong to it, by their headings: "Related posts", "Leggi anche".

use crate::candidates::lines::is_sentence;
use crate::lists::{NOTICES, TEASERS};
use crate::read::outline::{Block, Outline, Reason, Section, Tag};
use crate::text;
use foldhash::HashMap;
use std::sync::LazyLock;

static NAMES: LazyLock<HashMap<&str, Section>> = LazyLock::new(|| {
    let notices = NOTICES.iter().map(|name| (*name, Section::Notice));
    notices.chain(TEASERS.iter().map(|name| (*name, Section::Teasers))).collect()
});
const MAX_WORDS: usize = 6;
const MAX_WIDTH: usize = 60;
/// Width above which a paragraph with few links continues the article.
const PROSE: usize = 280;
/// Width of the sentences below a section at which the article continues there.
const GOES_ON: usize = 400;
/// Maximum number of paragraphs of a notice if the article continues below it.
const NOTICE: usize = 2;
/// Number of blocks of sections that are examined for each block of a page: sections may overlap.
const LOOKS: usize = 4;
/// Maximum number of blocks from a title or an excerpt to the next link of the same section.
const NEAR: usize = 2;

pub(crate) fn drop_from(outline: &Outline<'_>, start: usize, left: &mut [Option<Reason>]) {
    let blocks = outline.blocks.get(start..start + left.len()).unwrap_or_default();
    let kept = || blocks.iter().zip(left.iter()).filter(|(_, left)| left.is_none()).map(|(block, _)| block);
    let total: usize = kept().map(|block| block.chars).sum();
    let mut said_left: usize = kept().filter(|block| is_sentence(block)).map(|block| block.chars).sum();
    let mut before = 0;
    let mut at = 0;
    let mut looks = LOOKS * blocks.len();
    while let Some(block) = blocks.get(at) {
        let is_kept = left.get(at) == Some(&None);
        let named = if is_kept { *block.names_section.get_or_init(|| named(block)) } else { None };
        let mut next = at + 1;
        if let Some(section) = named {
            let own = outline.own_box(start + at).map(|end| end - start);
            let place = SectionPlace { own, late: before * 3 >= total, said_left };
            let run = run_below(blocks.get(..at + 1 + looks).unwrap_or(blocks), at, &place);
            looks -= run.len();
            outline.looks.set(outline.looks.get() + run.len() as u64);
            next = section_end(run, at, section, &place);
            for reason in left.get_mut(at..next).unwrap_or_default() {
                *reason = reason.or(Some("a section named as other articles, sharing or signing up"));
            }
        } else {
            before += block.chars;
        }
        let said = blocks.get(at..next).unwrap_or_default().iter().filter(|block| is_kept && is_sentence(block));
        said_left = said_left.saturating_sub(said.map(|block| block.chars).sum());
        at = next;
    }
}

fn named(block: &Block) -> Option<Section> {
    if block.chars > MAX_WIDTH || matches!(block.tag, Tag::Pre | Tag::Cell) {
        return None;
    }
    let line = text::fold(block.text.trim_start_matches(|c: char| !c.is_alphabetic()));
    let whole = NAMES.get(line.as_str()).copied();
    if whole.is_some() || !matches!(block.tag, Tag::Heading(_)) {
        return whole;
    }
    // In a heading a few more words may follow a name; a line of text must consist of the name alone.
    let ends = line.match_indices(' ').take(MAX_WORDS).map(|(end, _)| line.split_at(end));
    let may_go_on = |(name, rest): &(&str, &str)| {
        (name.contains(' ') || *name == "related") && rest.split_whitespace().count() <= MAX_WORDS
    };
    ends.filter(may_go_on).find_map(|(name, _)| NAMES.get(name).copied())
}

struct SectionPlace {
    /// End of the element that begins with the heading and contains more than it, if there is one.
    own: Option<usize>,
    late: bool,
    said_left: usize,
}

/// Returns the blocks below a section's heading up to the next such heading, the end of its box, or running text.
fn run_below<'b>(blocks: &'b [Block], at: usize, place: &SectionPlace) -> &'b [Block] {
    let level = if let Some(Block { tag: Tag::Heading(level), .. }) = blocks.get(at) { *level } else { 7 };
    let limit = place.own.unwrap_or(blocks.len()).min(blocks.len());
    let rest = blocks.get(at + 1..limit).unwrap_or_default();
    let length = rest.iter().take_while(|block| {
        let linked = block.links() > 0.5;
        match block.tag {
            Tag::Heading(next) => linked || next > level,
            // Teasers have a few lines of text, but only below the article.
            Tag::Paragraph | Tag::Other | Tag::Quote => linked || (place.late && level < 7 && block.chars < PROSE),
            Tag::Item => linked || (place.late && level < 7),
            Tag::Cell | Tag::Pre => linked,
        }
    });
    rest.get(..length.count()).unwrap_or_default()
}

/// Returns the end of a section; if the article continues below, a section without a separate box has a few lines.
fn section_end(run: &[Block], at: usize, section: Section, place: &SectionPlace) -> usize {
    let boxed = place.own.is_some_and(|end| end <= at + 1 + run.len());
    let said: usize = run.iter().filter(|block| is_sentence(block)).map(|block| block.chars).sum();
    let last = place.said_left.saturating_sub(said) < GOES_ON;
    if boxed || (last && section == Section::Notice) {
        return at + 1 + run.len();
    }
    at + 1 + inserted(run, section)
}

fn inserted(run: &[Block], section: Section) -> usize {
    let is_plain = |block: &Block| block.links() <= 0.5 && !matches!(block.tag, Tag::Heading(_));
    let linked = run.iter().filter(|block| block.links() > 0.5).count();
    let plain = run.iter().filter(|block| is_plain(block)).count();
    match section {
        Section::Teasers if linked > 0 && plain <= linked + 1 => run.len(),
        Section::Teasers => {
            let links = (0..run.len()).filter(|at| run[*at].links() > 0.5);
            links.fold(0, |end, at| if at <= end + NEAR { at + 1 } else { end })
        }
        Section::Notice => {
            let mut plain = (0..run.len()).filter(|at| is_plain(&run[*at]));
            plain.nth(NOTICE).unwrap_or(run.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_WORDS, NAMES, NOTICES, TEASERS};

    #[test]
    fn a_name_has_one_meaning_and_few_words() {
        assert!(NAMES.keys().all(|name| name.split(' ').count() <= MAX_WORDS));
        assert_eq!(NAMES.len(), TEASERS.len() + NOTICES.len());
    }
}
