//! Finds the lists that a page consists of: the goods of a category, the offers of a directory, the dishes of a menu. Each entry is
//! a few lines, often inside one link, so that no rule for running text takes it.

use crate::candidates::candidate::Candidate;
use crate::candidates::lines;
use crate::candidates::section_names::section_named;
use crate::candidates::sums::{between, covered, sums};
use crate::read::outline::{Block, Kind, Outline, Part, Section, Span, Tag};
use crate::text;
use std::collections::{BTreeMap, HashMap};

/// Number of entries from which elements side by side are a list.
const FEWEST: usize = 4;
/// Minimum and maximum width of an entry; what is shorter is a menu, and what is longer has a text of its own.
const WIDTH: (usize, usize) = (20, 1_500);
/// Minimum number of lines of an entry: a name, and something about it.
const LINES: usize = 2;
/// Minimum width of all lists.
const ALL: usize = 300;
/// Number of times that the lists must be as wide as the text beside them, if that has at least so many paragraphs; else the lists
/// must be as wide as it.
const TIMES: usize = 2;
const PARAGRAPHS: usize = 3;

/// Elements side by side, each an entry.
#[derive(Clone, Default)]
struct List {
    entries: Vec<Span>,
    chars: usize,
    link_chars: usize,
    /// Number of headings of the first level: where an entry has the headline in it, these are sections of one text.
    headlines: usize,
}

impl List {
    /// True if its entries lead to other pages, and are not only told of here.
    fn leads_elsewhere(&self) -> bool {
        self.link_chars * 4 > self.chars
    }
}

/// Returns the lists with the text beside them, if they are most of what the page says: of a page without an article, `best` is the
/// best of the other candidates. Lists below one heading each, of one grandparent, belong together.
pub(crate) fn listed(outline: &Outline<'_>, parts: &[Part], title: &str, best: &Candidate) -> Option<Candidate> {
    let lists = lists(outline, parts);
    let (main, widest) = lists.iter().max_by_key(|(parent, list)| (list.chars, usize::MAX - **parent))?;
    let parents: HashMap<usize, usize> = outline.spans.iter().map(|span| (span.serial, span.parent)).collect();
    let above = |parent: &usize| {
        let one = parents.get(parent);
        [one, one.and_then(|one| parents.get(one))]
    };
    let known = above(main);
    let together = |other: &usize| above(other).iter().zip(&known).any(|(one, two)| one.is_some() && one == two);
    let mut entries: Vec<Span> = widest.entries.clone();
    for (parent, list) in &lists {
        if parent != main && together(parent) && list.leads_elsewhere() == widest.leads_elsewhere() {
            entries.extend(&list.entries);
        }
    }
    entries.sort_unstable_by_key(|span| (span.start, usize::MAX - span.end));
    let chars = sums(&outline.blocks, |block| block.chars);
    let of_entries = covered(outline.blocks.len(), entries.iter().map(|span| (span.start, span.end)));
    let inside = |at: usize| of_entries.get(at) == Some(&true);
    // What bears a date outside of its lists is an article with lists around it, however short.
    if outline.moments.iter().any(|moment| !moment.outside && !inside(moment.block)) {
        return None;
    }
    let all: usize = entries.iter().map(|span| between(&chars, span.start, span.end)).sum();
    let (mut beside, mut prose) = (0, 0);
    for (_, block) in best.kept(outline).filter(|(at, _)| !inside(*at)) {
        beside += block.chars;
        prose += usize::from(lines::is_prose(block));
    }
    let times = if prose < PARAGRAPHS { 1 } else { TIMES };
    if all < ALL || all < times * beside || all < best.chars {
        return None;
    }
    let (first, last) = (entries.first()?.start, entries.iter().map(|span| span.end).max()?);
    let kept = |at: usize| at >= best.span.start && best.left.get(at - best.span.start) == Some(&None);
    let start = best.kept(outline).next().map_or(first, |(at, _)| at).min(first.saturating_sub(1));
    let end = best.kept(outline).last().map_or(last, |(at, _)| (at + 1).max(last));
    let span = Span { start, end, serial: 0, parent: 0 };
    let mut whole = Candidate::new(outline, parts, title, "entries", span);
    let again = repeated(outline, &entries);
    for (at, left) in (start..end).zip(&mut whole.left) {
        let Some(block) = outline.blocks.get(at) else { continue };
        let is_beside = left.is_some_and(|why| Kind::ALL.iter().any(|kind| kind.reason() == why));
        let heads = matches!(block.tag, Tag::Heading(_)) && inside(at + 1) && !lines::is_headline(block, title);
        *left = match left {
            _ if is_beside => *left,
            _ if inside(at) && again.get(block.text.as_str()).is_some_and(|times| *times >= FEWEST) => {
                Some("a line that each entry of the list has")
            }
            _ if inside(at) => lines::by_itself(block).filter(|why| *why != lines::LINK_ALONE),
            _ if heads || kept(at) => None,
            _ => Some("between the entries of a list"),
        };
    }
    whole.count(outline);
    Some(whole)
}

/// Returns the lists of the page by the number of the element around each, without those in parts beside the article and those below
/// a heading that names other pages.
fn lists(outline: &Outline<'_>, parts: &[Part]) -> BTreeMap<usize, List> {
    let chars = sums(&outline.blocks, |block| block.chars);
    let links = sums(&outline.blocks, |block| block.link_chars);
    let headlines = sums(&outline.blocks, |block| usize::from(block.tag == Tag::Heading(1)));
    let beside = covered(outline.blocks.len(), parts.iter().map(|part| (part.span.start, part.span.end)));
    let mut lists: BTreeMap<usize, List> = BTreeMap::new();
    for span in &outline.spans {
        let width = between(&chars, span.start, span.end);
        let is_entry = span.end - span.start >= LINES && (WIDTH.0..=WIDTH.1).contains(&width);
        if is_entry && beside.get(span.start) == Some(&false) {
            let list = lists.entry(span.parent).or_default();
            list.entries.push(*span);
            list.chars += width;
            list.link_chars += between(&links, span.start, span.end);
            list.headlines += between(&headlines, span.start, span.end);
        }
    }
    lists.retain(|_, list| {
        let is_list = list.entries.len() >= FEWEST && list.headlines == 0;
        is_list && is_alike(&chars, list) && !is_of_others(outline, list)
    });
    lists
}

/// True if most entries have about as many lines, and are about as wide, as the one in the middle: the sections of a page differ more.
fn is_alike(chars: &[usize], list: &List) -> bool {
    /// Share of the entries, in percent.
    const MOST: usize = 75;
    /// Number of lines by which entries may differ, besides half of them.
    const LINES: usize = 1;
    let middle = |mut sizes: Vec<usize>| {
        sizes.sort_unstable();
        sizes.get(sizes.len() / 2).copied().unwrap_or_default()
    };
    let width = |span: &Span| between(chars, span.start, span.end);
    let lines = middle(list.entries.iter().map(|span| span.end - span.start).collect());
    let wide = middle(list.entries.iter().map(width).collect());
    let is_like = |span: &&Span| {
        (span.end - span.start).abs_diff(lines) <= LINES + lines / 2
            && (wide / 2..=wide.saturating_mul(2)).contains(&width(span))
    };
    list.entries.iter().filter(is_like).count() * 100 >= MOST * list.entries.len()
}

/// True for a list whose heading says that it is about other pages.
fn is_of_others(outline: &Outline<'_>, list: &List) -> bool {
    /// Maximum number of lines between the heading and the list.
    const NEAR: usize = 3;
    /// Maximum width of the heading.
    const NAME: usize = 60;
    let Some(start) = list.entries.iter().map(|span| span.start).min() else { return true };
    let above = outline.blocks.get(start.saturating_sub(NEAR)..start).unwrap_or_default();
    let names =
        |block: &Block| block.chars <= NAME && section_named(&text::fold(&block.text)) == Some(Section::Teasers);
    above.iter().any(names)
}

/// Returns how often each line stands in entries.
fn repeated<'o>(outline: &'o Outline<'_>, entries: &[Span]) -> HashMap<&'o str, usize> {
    let mut times = HashMap::new();
    for block in entries.iter().flat_map(|span| outline.blocks.get(span.start..span.end).unwrap_or_default()) {
        *times.entry(block.text.as_str()).or_default() += 1;
    }
    times
}
