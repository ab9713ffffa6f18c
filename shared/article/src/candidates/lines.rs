//! Drops single lines inside an article that do not belong to it, recognized by content and position: buttons, bylines
//! above the first paragraph, links below the last one, dumps of data.

use crate::candidates::phrases;
use crate::candidates::pointers::is_pointer;
use crate::lists::{ACTIONS, BYLINES, CONTENTS, LIVES, PAGES, TURNS};
use crate::read::outline::{Block, Reason, Tag};
use crate::text::{self, alike};
use std::collections::{HashMap, HashSet};
use url::Url;

/// Minimum width of a block that is running text, if it has few links and ends like a sentence.
const PROSE: usize = 110;
/// As above in Chinese and Japanese: forty characters are a sentence of twenty words.
const DENSE_PROSE: usize = 80;
/// Width from which a line is too long for a byline.
const LABEL: usize = 80;
/// Maximum width of a button, a credit, or a pointer to another page.
const SHORT: usize = 140;
/// Maximum width of a paragraph that is only about the page, such as a note on commissions.
const SENTENCES: usize = 320;
/// Share of a line inside links from which the whole line counts as a link.
const LINKED: f64 = 0.8;
/// Share of a line inside links from which it may lead to the previous or next page: the title of that page stands
/// beside a word and an arrow.
const TURNING: f64 = 0.3;
/// Number of occurrences from which a short linked line is not part of a text.
const OFTEN: usize = 3;

/// Reason why a line that is all link is left out.
pub(crate) const LINK_ALONE: Reason = "a link that stands alone";

/// Drops such lines from the kept blocks. `title` is the headline, folded; `page` is the page's address.
pub(crate) fn drop_from(blocks: &[Block], title: &str, page: &Url, left: &mut [Option<Reason>]) {
    let mut prose = Vec::new();
    let mut step = 0;
    let mut times: HashMap<&str, usize> = HashMap::new();
    for (at, block) in blocks.iter().enumerate().filter(|(at, _)| left.get(*at) == Some(&None)) {
        if is_prose(block) {
            prose.push(at);
        }
        if is_sentence(block) && block.tag == Tag::Item {
            step = at;
        }
        let button = matches!(block.tag, Tag::Paragraph | Tag::Other) && block.chars < LABEL;
        if button && block.links() > LINKED {
            *times.entry(block.text.as_str()).or_default() += 1;
        }
    }
    // The text ends with its last paragraph, or with the last step of a list below that.
    let last = prose.last().map_or(usize::MAX, |last| step.max(*last));
    let first = prose.first().copied().unwrap_or(0);
    let plain = blocks.get(last).is_some_and(|block| block.tag == Tag::Other);
    let is_heading = |at: &usize| left.get(*at) == Some(&None) && matches!(blocks[*at].tag, Tag::Heading(_));
    let headed = (last.saturating_add(1)..blocks.len()).find(is_heading).unwrap_or(usize::MAX);
    let listed = listed_above(blocks.get(..first).unwrap_or_default(), title, left);
    for (at, (block, left)) in blocks.iter().zip(left.iter_mut()).enumerate().filter(|(_, (_, left))| left.is_none()) {
        let often = times.get(block.text.as_str()).is_some_and(|n| *n >= OFTEN);
        *left = block
            .by_itself
            .get_or_init(|| {
                by_itself(block).or_else(|| is_own_address(block, page).then_some("the page's own address"))
            })
            .or_else(|| often.then_some("a link that stands there again and again"))
            .or_else(|| if at < first && !listed.contains(&at) { above(block, title) } else { None })
            .or_else(|| if at > last { below(block, plain || at > headed) } else { None });
    }
    drop_headings_of_nothing(blocks, left);
}

/// Returns the lines that a section above the first paragraph lists, such as the ingredients of a recipe: several in a row without links,
/// below a heading that is not the headline.
fn listed_above(blocks: &[Block], title: &str, left: &[Option<Reason>]) -> HashSet<usize> {
    /// Minimum number of lines.
    const LINES: usize = 3;
    let mut found = HashSet::new();
    let kept: Vec<usize> = (0..blocks.len()).filter(|at| left.get(*at) == Some(&None)).collect();
    let is_heading = |at: usize| matches!(blocks[at].tag, Tag::Heading(_));
    for section in kept.chunk_by(|_, next| !is_heading(*next)) {
        let [heading, lines @ ..] = section else { continue };
        // A link below the list, such as to a shop, is none of its lines.
        let lists = |at: &usize| blocks[*at].links() <= LINKED;
        let lines = lines.get(..lines.iter().rposition(lists).map_or(0, |last| last + 1)).unwrap_or_default();
        let links: usize = lines.iter().map(|at| blocks[*at].link_chars).sum();
        let says = lines.iter().filter(|at| blocks[**at].text.contains(char::is_alphabetic)).count();
        // Headlines are compared last: that reads both.
        if says >= LINES && links == 0 && is_heading(*heading) && !is_headline(&blocks[*heading], title) {
            found.extend(lines);
        }
    }
    found
}

/// Returns for each block true if it belongs to a table of contents: a short line that repeats a heading further down,
/// among several.
pub(crate) fn of_contents(blocks: &[Block]) -> Vec<bool> {
    /// Number of such lines, one shortly after the other, that are a table.
    const MANY: usize = 3;
    /// Maximum number of blocks from one to the next.
    const NEAR: usize = 2;
    /// Maximum number of blocks that are examined, from the top.
    const BLOCKS: usize = 4_000;
    let mut found = vec![false; blocks.len()];
    let blocks = blocks.get(..BLOCKS).unwrap_or(blocks);
    let mut headings: HashMap<String, usize> = HashMap::new();
    for (at, block) in blocks.iter().enumerate().filter(|(_, block)| matches!(block.tag, Tag::Heading(_))) {
        headings.insert(text::fold(&block.text), at);
    }
    if headings.len() < MANY {
        return found;
    }
    let repeats = |at: usize, block: &Block| {
        block.chars < SHORT
            && !matches!(block.tag, Tag::Heading(_) | Tag::Cell | Tag::Pre)
            && headings.get(&text::fold(&block.text)).is_some_and(|heading| *heading > at)
    };
    let lines: Vec<usize> =
        blocks.iter().enumerate().filter(|(at, block)| repeats(*at, block)).map(|(at, _)| at).collect();
    for run in lines.chunk_by(|one, two| two - one <= NEAR).filter(|run| run.len() >= MANY) {
        for at in run {
            found.get_mut(*at).into_iter().for_each(|found| *found = true);
        }
    }
    found
}

/// Drops headings at the end, whose sections are not kept.
fn drop_headings_of_nothing(blocks: &[Block], left: &mut [Option<Reason>]) {
    let kept = |at: &usize| left.get(*at) == Some(&None);
    let is_heading = |at: &usize| blocks.get(*at).is_some_and(|block| matches!(block.tag, Tag::Heading(_)));
    let last: Vec<usize> = (0..blocks.len()).rev().filter(kept).take_while(is_heading).collect();
    // A page that consists only of headings keeps them.
    if last.len() < (0..blocks.len()).filter(kept).count() {
        for at in last {
            if let Some(left) = left.get_mut(at) {
                *left = Some("a heading with no text below it");
            }
        }
    }
}

/// True if a block is a paragraph of the text; the text begins with the first of them.
pub(crate) fn is_prose(block: &Block) -> bool {
    (block.chars >= PROSE || (block.chars >= DENSE_PROSE && block.text.contains(text::is_unspaced)))
        && block.links() < 0.5
        && !matches!(block.tag, Tag::Heading(_) | Tag::Cell)
        && ends_as_sentence(block)
}

/// True if a block ends like a sentence, or is in a script that has no mark for that.
fn ends_as_sentence(block: &Block) -> bool {
    *block.ends_as_sentence.get_or_init(|| text::ends_sentence(&block.text) || text::has_no_marks(&block.text))
}

/// True if a block is a sentence outside of links, of any length but the shortest.
pub(crate) fn is_sentence(block: &Block) -> bool {
    /// Minimum width of a sentence; shorter ones are labels and buttons with a full stop.
    const SHORTEST: usize = 25;
    block.chars >= SHORTEST && block.links() < 0.5 && !matches!(block.tag, Tag::Heading(_)) && ends_as_sentence(block)
}

/// Returns the reason why a line is no text, regardless of its position.
pub(crate) fn by_itself(block: &Block) -> Option<Reason> {
    if matches!(block.tag, Tag::Pre) {
        return None;
    }
    if !block.text.contains(char::is_alphanumeric) {
        return Some("no letters");
    }
    if is_data(&block.text) {
        return Some("data for a script");
    }
    let bare = ["http://", "https://"].iter().any(|scheme| block.text.starts_with(scheme));
    if bare && block.links() > LINKED && !block.text.contains(char::is_whitespace) {
        return Some("a bare address");
    }
    if block.chars < SENTENCES && block.tag != Tag::Cell && phrases::is_about_the_page(&block.text) {
        return Some("about the page, not of its matter");
    }
    if block.chars < SENTENCES && (block.turns() > TURNING || (block.links() > TURNING && turns(&block.text))) {
        return Some("a button, or a link to the page before or after this one");
    }
    if block.links() > if block.chars < SHORT { 0.3 } else { LINKED } && is_pointer(&block.text) {
        return Some("a pointer to another page");
    }
    if block.chars >= SHORT {
        return None;
    }
    if block.links() > LINKED && block.tag == Tag::Other {
        return Some(LINK_ALONE);
    }
    let line = text::fold(&block.text);
    if !matches!(block.tag, Tag::Heading(_) | Tag::Cell) && ACTIONS.contains(line.as_str()) {
        return Some("a button or a label");
    }
    if matches!(block.tag, Tag::Heading(_)) && CONTENTS.contains(line.as_str()) {
        return Some("the table of contents");
    }
    let label = block.chars < LABEL && !matches!(block.tag, Tag::Cell | Tag::Item);
    if label && BYLINES.iter().any(|start| line.starts_with(start)) {
        return Some("a byline");
    }
    if label && !matches!(block.tag, Tag::Heading(_)) && phrases::says_where_it_goes_on(&line) {
        return Some("a note on where the text goes on");
    }
    if block.tag != Tag::Cell && is_page_number(&line) {
        return Some("the number of the page");
    }
    let notice = block.text.starts_with('©') || (block.text.contains('©') && line.starts_with("copyright"));
    notice.then_some("a copyright notice")
}

/// True if a folded line says which of several pages this one is.
fn is_page_number(line: &str) -> bool {
    /// Maximum number of words.
    const FEW: usize = 4;
    let mut numbers = line.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse::<u16>().ok());
    let (one, all, more) = (numbers.next(), numbers.next(), numbers.next());
    let mut words = line.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).take(FEW + 1);
    one > Some(0)
        && one <= all
        && more.is_none()
        && words.clone().count() <= FEW
        && words.any(|word| PAGES.contains(word))
}

/// True if a line says that a link leads to the previous or next post: such a word, with an arrow before it, or a mark
/// or line break after it.
fn turns(line: &str) -> bool {
    let is_arrow =
        |c: char| matches!(c, '←' | '→' | '«' | '»' | '‹' | '›' | '<' | '>' | '⟵' | '⟶' | '⇐' | '⇒' | '◀' | '▶');
    let word = line.trim_start_matches(|c: char| is_arrow(c) || c.is_whitespace());
    let arrow = word.len() < line.len();
    TURNS.iter().any(|turn| {
        let Some(start) = word.get(..turn.len()) else { return false };
        let rest = word.get(turn.len()..).unwrap_or_default();
        let behind = rest.trim_start_matches(' ');
        let ends = !rest.starts_with(char::is_alphanumeric);
        let marked = behind.starts_with(|c: char| is_arrow(c) || matches!(c, ':' | '：' | '\n' | '|' | '–' | '—'));
        ends && (arrow || marked) && start.to_lowercase() == *turn
    })
}

/// True if a line tells who a person is whose name, folded, it begins with; or if it is the name alone.
pub(crate) fn is_life(line: &str, name: &str) -> bool {
    let folded = text::folded_beginning(line, name.len());
    let Some(rest) = folded.strip_prefix(name) else { return false };
    rest.is_empty() || LIVES.iter().any(|word| rest.strip_prefix(' ').is_some_and(|rest| rest.starts_with(word)))
}

/// True if a line is the page's own address and nothing else but a short label, as print views end.
fn is_own_address(block: &Block, page: &Url) -> bool {
    /// Maximum length of the label, in bytes.
    const LABEL: usize = 40;
    let line = block.text.trim();
    let beginning = line.get(..line.ceil_char_boundary(LABEL + "https://".len())).unwrap_or(line);
    let at = ["http://", "https://", "www."].iter().filter_map(|start| beginning.find(start)).min();
    let Some((label, address)) = at.filter(|at| *at <= LABEL).map(|at| line.split_at(at)) else { return false };
    let plain = address.trim_end_matches(['.', ')', ']', '>', '/']);
    let bare = |address: &str| {
        let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
        rest.strip_prefix("www.").unwrap_or(rest).to_ascii_lowercase()
    };
    let host = page.host_str().map(bare).unwrap_or_default();
    let own = format!("{host}{}", page.path().trim_end_matches('/'));
    let told = bare(plain);
    let told = told.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let same_host = told.strip_prefix(host.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let alone = label.trim().is_empty() && same_host;
    !host.is_empty()
        && !address.contains(char::is_whitespace)
        && !matches!(block.tag, Tag::Pre | Tag::Cell)
        && (alone || told == own.to_ascii_lowercase())
}

/// True if a line is JSON.
fn is_data(line: &str) -> bool {
    let braced = (line.starts_with('{') && line.ends_with('}')) || (line.starts_with("[{") && line.ends_with("}]"));
    braced && line.contains("\":")
}

/// Width from which a headline is the text itself, as that of a question may be.
const QUESTION: usize = 250;

/// Returns the reason to drop a line above the first paragraph: site, section, byline, date, buttons.
fn above(block: &Block, title: &str) -> Option<Reason> {
    // What ends so is an item of an enumeration, as laws have them.
    let goes_on = [";", "; and", "; or"].iter().any(|end| block.text.ends_with(end));
    let label = block.chars < LABEL && !text::ends_sentence(&block.text) && !goes_on;
    match block.tag {
        Tag::Other if block.chars < SHORT && (label || block.links() > 0.5) => Some("a label above the text"),
        Tag::Paragraph if label => Some("a label above the text"),
        Tag::Item if label && block.own_links() > LINKED => Some("a link to another page of the site, above the text"),
        Tag::Heading(_) => {
            let byline = text::fold(&block.text).starts_with("by ");
            (byline || (block.chars < QUESTION && is_headline(block, title))).then_some("the headline or a byline")
        }
        _ => None,
    }
}

/// True if a heading repeats the page's headline, `title`, which is folded.
pub(crate) fn is_headline(block: &Block, title: &str) -> bool {
    /// Share of words in common from which it does.
    const ALIKE: f64 = 0.75;
    let repeats = || !title.is_empty() && alike(&text::fold(&block.text), title, ALIKE) >= ALIKE;
    *block.repeats_headline.get_or_init(repeats)
}

/// Returns the reason to drop a line below the last paragraph, such as offers to those who have read so far.
///
/// `plain` is true if the text itself has line breaks instead of paragraphs, so that its last line may be short, or if a heading
/// stands above the line.
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
