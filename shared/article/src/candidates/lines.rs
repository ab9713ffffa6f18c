//! Drops single lines of an article by content and position: buttons, bylines, links below the text, dumps of data.

use crate::lists::{ACTIONS, PAGES, PHRASES, POINTERS};
use crate::read::outline::{Block, Reason, Tag};
use crate::text::{self, alike};
use aho_corasick::{AhoCorasick, MatchKind};
use std::sync::LazyLock;

static ABOUT_THE_PAGE: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder().ascii_case_insensitive(true).match_kind(MatchKind::LeftmostFirst).build(PHRASES.iter()).ok()
});
/// Minimum width of a block that is running text, if it has few links and ends like a sentence.
const PROSE: usize = 110;
/// Minimum width of running text in Chinese and Japanese, where forty characters are a sentence of twenty words.
const DENSE_PROSE: usize = 80;
/// Width at which a line is too long for a byline.
const LABEL: usize = 80;
/// Maximum width of a button, a credit, or a pointer to another page.
const SHORT: usize = 140;
/// Maximum width of a paragraph that is only about the page, such as a note on commissions.
const SENTENCES: usize = 320;
/// Share of a line inside links above which the whole line counts as a link.
const LINKED: f64 = 0.8;

/// Drops lines that do not belong to the text from the kept blocks. `title` is the headline, folded.
pub(crate) fn drop_from(blocks: &[Block], title: &str, left: &mut [Option<Reason>]) {
    let kept = |at: &usize| left.get(*at) == Some(&None);
    let is_paragraph = |at: &usize| kept(at) && blocks.get(*at).is_some_and(is_prose);
    let first = (0..blocks.len()).find(is_paragraph).unwrap_or(0);
    let last = (0..blocks.len()).rfind(is_paragraph).unwrap_or(usize::MAX);
    let plain = blocks.get(last).is_some_and(|block| block.tag == Tag::Other);
    let is_heading = |at: &usize| kept(at) && matches!(blocks[*at].tag, Tag::Heading(_));
    let headed = (last.saturating_add(1)..blocks.len()).find(is_heading).unwrap_or(usize::MAX);
    for (at, (block, left)) in blocks.iter().zip(left.iter_mut()).enumerate().filter(|(_, (_, left))| left.is_none()) {
        *left = block
            .by_itself
            .get_or_init(|| by_itself(block))
            .or_else(|| if at < first { above(block, title) } else { None })
            .or_else(|| if at > last { below(block, plain || at > headed) } else { None });
    }
}

pub(crate) fn is_prose(block: &Block) -> bool {
    (block.chars >= PROSE || (block.chars >= DENSE_PROSE && block.text.contains(text::is_unspaced)))
        && block.links() < 0.5
        && !matches!(block.tag, Tag::Heading(_) | Tag::Cell)
        && ends_as_sentence(block)
}

fn is_pointer(line: &str) -> bool {
    /// Maximum offset of the colon in a line that begins with "related", in bytes.
    const RELATED: usize = 24;
    const MARKS: [char; 6] = [':', '：', '–', '>', '»', '|'];
    let related = || line.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("related"));
    let named = || line.find([':', '：']).is_some_and(|at| at < RELATED);
    let points = |pointer: &&str| {
        let parts = line.split_at_checked(pointer.len());
        parts.is_some_and(|(start, rest)| rest.trim_start().starts_with(MARKS) && start.to_lowercase() == **pointer)
    };
    (related() && named()) || POINTERS.iter().any(points)
}

fn ends_as_sentence(block: &Block) -> bool {
    *block.ends_as_sentence.get_or_init(|| text::ends_sentence(&block.text) || text::has_no_marks(&block.text))
}

pub(crate) fn is_sentence(block: &Block) -> bool {
    /// Shorter lines are labels and buttons with a full stop.
    const MIN_WIDTH: usize = 25;
    block.chars >= MIN_WIDTH && block.links() < 0.5 && !matches!(block.tag, Tag::Heading(_)) && ends_as_sentence(block)
}

pub(crate) fn by_itself(block: &Block) -> Option<Reason> {
    if matches!(block.tag, Tag::Pre) {
        return None;
    }
    if !text::has_letters(&block.text) {
        return Some("no letters");
    }
    let is_braced = |open: &str, close: &str| block.text.starts_with(open) && block.text.ends_with(close);
    if (is_braced("{", "}") || is_braced("[{", "}]")) && block.text.contains("\":") {
        return Some("data for a script");
    }
    if block.chars < SENTENCES && block.tag != Tag::Cell && is_about_the_page(&block.text) {
        return Some("about the page, not of its matter");
    }
    if block.links() > if block.chars < SHORT { 0.3 } else { LINKED } && is_pointer(&block.text) {
        return Some("a pointer to another page");
    }
    if block.chars >= SHORT {
        return None;
    }
    if block.links() > LINKED && block.tag == Tag::Other {
        return Some("a link that stands alone");
    }
    let line = text::fold(&block.text);
    if !matches!(block.tag, Tag::Heading(_) | Tag::Cell) && ACTIONS.contains(line.as_str()) {
        return Some("a button or a label");
    }
    (block.tag != Tag::Cell && is_page_number(&line)).then_some("the number of the page")
}

/// True if a short paragraph has a phrase that occurs only in sentences about the page, such as the footer of feeds.
fn is_about_the_page(text: &str) -> bool {
    let is_feed_footer = || text.starts_with("The post ") && text.contains(" appeared first on ");
    ABOUT_THE_PAGE.as_ref().is_some_and(|phrases| phrases.is_match(text)) || is_reading_time(text) || is_feed_footer()
}

/// True for `5 min read`, `Lesezeit: 3 Minuten`, `Tempo di lettura: 4 minuti`.
fn is_reading_time(text: &str) -> bool {
    const MAX_BYTES: usize = 60;
    text.len() <= MAX_BYTES && text.contains(|c: char| c.is_ascii_digit()) && {
        let line = text::fold(text);
        let time = ["min", "mins", "minute", "minutes", "minuten", "minuti", "minutos"];
        let read = [" read", "lesezeit", "lettura", "lectura", "lecture", "leitura", "leestijd"];
        line.split(' ').any(|word| time.contains(&word)) && read.iter().any(|word| line.contains(word))
    }
}

fn is_page_number(line: &str) -> bool {
    const MAX_WORDS: usize = 4;
    let mut numbers = line.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse::<u16>().ok());
    let (one, all, more) = (numbers.next(), numbers.next(), numbers.next());
    let mut words = line.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).take(MAX_WORDS + 1);
    one > Some(0)
        && one <= all
        && more.is_none()
        && words.clone().count() <= MAX_WORDS
        && words.any(|word| PAGES.contains(word))
}

fn above(block: &Block, title: &str) -> Option<Reason> {
    /// Width at which a headline is the text itself, such as a long question.
    const QUESTION: usize = 250;
    let label = block.chars < LABEL && !text::ends_sentence(&block.text);
    match block.tag {
        Tag::Other if block.chars < SHORT && (label || block.links() > 0.5) => Some("a label above the text"),
        Tag::Paragraph if label => Some("a label above the text"),
        Tag::Item if label && block.own_links() > LINKED => Some("a link to another page of the site, above the text"),
        Tag::Heading(_) if block.chars < QUESTION && is_headline(block, title) => Some("the headline"),
        _ => None,
    }
}

pub(crate) fn is_headline(block: &Block, title: &str) -> bool {
    const ALIKE: f64 = 0.75;
    let repeats = || !title.is_empty() && alike(&text::fold(&block.text), title, ALIKE) >= ALIKE;
    *block.repeats_headline.get_or_init(repeats)
}

/// Returns the reason to drop a line below the text. If `plain` is set, a sentence without a paragraph is kept.
fn below(block: &Block, plain: bool) -> Option<Reason> {
    match block.tag {
        Tag::Other if plain && block.link_chars == 0 && text::ends_sentence(&block.text) => None,
        Tag::Other if block.chars < SHORT => Some("a label below the text"),
        Tag::Heading(_) if block.own_links() > LINKED => Some("a headline of another page, below the text"),
        Tag::Paragraph if block.links() > LINKED => Some("a link below the text"),
        Tag::Item if block.own_links() > LINKED => Some("a link to another page of the site, below the text"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_advertisements_are_told_from_lines_about_them() {
        let reason = |text: &str| by_itself(&Block { text: text.into(), chars: text.len(), ..Block::default() });
        for line in [
            "Story continues below advertisement",
            "Weiter nach der Werbung",
            "La suite après cette publicité",
            "โฆษณา",
        ] {
            assert!(reason(line).is_some(), "{line}");
        }
        assert_eq!(reason("The story continues below the lock"), None);
    }

    #[test]
    fn sentences_about_the_page_are_told_from_those_of_the_text() {
        for line in [
            "Get the best of our stories delivered to your inbox.",
            "Iscriviti alla newsletter",
            "저작권자 © 무단 전재 및 재배포 금지",
            "記事・写真の無断転載を禁じます。",
            "The post A bridge falls appeared first on The Weir.",
            "5 min read",
            "Lesezeit: 3 Minuten",
        ] {
            assert!(is_about_the_page(line), "{line}");
        }
        for line in [
            "The harbour was closed for 5 minutes.",
            "He read the letter.",
            "They signed the treaty in May.",
            "The county's paper was first published on the first of May, and its keeper appeared first on its front page.",
            "Bei der Prüfung wurden mehrere Fehler gefunden.",
        ] {
            assert!(!is_about_the_page(line), "{line}");
        }
    }
}
