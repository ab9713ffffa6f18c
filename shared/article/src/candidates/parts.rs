//! Decides which parts of a page do not belong to the article.

use crate::candidates::lines;
use crate::candidates::sums::{between, sums};
use crate::read::outline::{Block, Kind, Mark, Outline, Part, PartName, Span, Tag, Trust};
use std::collections::HashSet;

/// Returns the parts that do not belong to the article, sorted by name and position: no panels of accordions, and no
/// parts with most of the readable text, since a page whose wrapper is called "newsletter" is still a page.
pub(crate) fn outside(outline: &Outline<'_>) -> Vec<Part> {
    let (mut parts, wrong) = sorted(outline);
    parts.retain(|part| !wrong(part));
    parts
}

pub(crate) fn misnamed(outline: &Outline<'_>) -> HashSet<usize> {
    let (parts, wrong) = sorted(outline);
    parts.iter().filter(|part| wrong(part)).map(|part| part.span.serial).collect()
}

/// Returns all parts, sorted by name, and a function that tells which of them belong to the article after all.
fn sorted(outline: &Outline<'_>) -> (Vec<Part>, impl Fn(&Part) -> bool) {
    let is_heading = |block: &Block| matches!(block.tag, Tag::Heading(_));
    let prose = |block: &Block| if is_heading(block) { 0 } else { block.chars - block.link_chars };
    let prose = sums(&outline.blocks, prose);
    let all = prose.last().copied().unwrap_or(0);
    let mut parts = outline.parts.clone();
    parts.sort_unstable_by_key(|part| (part.name, part.span.start, usize::MAX - part.span.end));
    let (names, panels) = (wrong_names(outline, &parts), panels(outline));
    let (before, is_paywalled) = (before_main(outline), outline.is_paywalled);
    // Paragraphs that are hidden one by one are shown by a script as the reader scrolls.
    let is_single = |part: &Part| part.kind == Kind::Hidden && part.span.end - part.span.start == 1;
    let single: Vec<&Part> = parts.iter().filter(|part| is_single(part)).collect();
    let said: usize = single.iter().map(|part| between(&prose, part.span.start, part.span.end)).sum();
    let scrolls = single.len() > 2 && said * 2 >= all;
    let wrong = move |part: &Part| {
        if is_paywalled && part.kind == Kind::Hidden {
            return false;
        }
        let most = all > 0 && part.span.end > before && between(&prose, part.span.start, part.span.end) * 2 >= all;
        let is_shown = panels.contains(&part.span.serial) || (scrolls && is_single(part));
        most || is_shown || part.name.is_some_and(|name| names.contains(&name))
    };
    (parts, wrong)
}

/// Returns the number of blocks before the only `<main>` with a headline and a sentence (HTML, section 4.4.14), or 0.
pub(crate) fn before_main(outline: &Outline<'_>) -> usize {
    *outline.before_main.get_or_init(|| {
        let Some(Span { start, end, .. }) = only_main(outline) else { return 0 };
        let inside = outline.blocks.get(start..end).unwrap_or_default();
        let mut below = inside.iter().skip_while(|block| block.tag != Tag::Heading(1));
        if below.any(lines::is_sentence) { start } else { 0 }
    })
}

fn only_main(outline: &Outline<'_>) -> Option<Span> {
    let mut mains = outline.marked(Mark::Main);
    mains.next().filter(|_| mains.next().is_none())
}

/// Returns the serial numbers of panels of accordions: folded parts in a row, each with sentences, below a short line.
fn panels(outline: &Outline<'_>) -> HashSet<usize> {
    /// Two may be a menu and a dialog.
    const FEWEST: usize = 3;
    const MAX_LABEL_LINES: usize = 2;
    const MAX_LABEL_WIDTH: usize = 150;
    let blocks = |from: usize, to: usize| outline.blocks.get(from..to).unwrap_or_default();
    let mut folded: Vec<&Part> = outline.parts.iter().filter(|part| part.folded).collect();
    folded.sort_unstable_by_key(|part| (part.span.start, usize::MAX - part.span.end));
    let chars = sums(&outline.blocks, |block| block.chars);
    let links = sums(&outline.blocks, |block| block.link_chars);
    let said = sums(&outline.blocks, |block| usize::from(lines::is_sentence(block)));
    // A part that its markup calls a panel may be the only one.
    let is_text = |span: &Span| {
        between(&said, span.start, span.end) > 0
            && between(&links, span.start, span.end) * 2 <= between(&chars, span.start, span.end)
    };
    let marked = folded.iter().filter(|part| part.panel && is_text(&part.span));
    let mut panels: HashSet<usize> = marked.map(|part| part.span.serial).collect();
    let (mut run, mut end) = (Vec::new(), 0);
    for Part { span, .. } in folded {
        if span.start < end {
            continue;
        }
        let label = blocks(end.max(span.start.saturating_sub(MAX_LABEL_LINES)), span.start);
        let is_labelled = label.last().is_some_and(|line| line.chars <= MAX_LABEL_WIDTH && line.link_chars == 0);
        if span.start - end > MAX_LABEL_LINES || !is_labelled {
            run.clear();
        }
        end = span.end;
        if !is_labelled || !is_text(span) {
            run.clear();
            continue;
        }
        run.push(span.serial);
        // After the third panel of a run, only the last one is new.
        let new = match run.len() {
            FEWEST => FEWEST,
            len => usize::from(len > FEWEST),
        };
        outline.looks.set(outline.looks.get() + new as u64);
        panels.extend(run.iter().rev().take(new).copied());
    }
    panels
}

/// Returns the names of parts that together read like an article: names exclude only links and short lines.
fn wrong_names(outline: &Outline<'_>, parts: &[Part]) -> HashSet<PartName> {
    /// Share of sentences, in percent, at which parts with a layout name belong to the article.
    const LAYOUT: usize = 50;
    /// Share of running text, in percent, at which parts with other names do, if they are as long as an article.
    const USUAL: usize = 80;
    /// Width of running text above which a part is not navigation.
    const NO_MENU: usize = 1_000;
    /// Maximum share of links in running text, in percent.
    const LINKS: usize = 10;
    /// Width at which navigation inside `<main>` and without links is something else, such as a list of dishes.
    const DISHES: usize = 200;
    let chars = sums(&outline.blocks, |block| block.chars);
    let links = sums(&outline.blocks, |block| block.link_chars);
    let prose = sums(&outline.blocks, |block| if lines::is_prose(block) { block.chars } else { 0 });
    let sentences = sums(&outline.blocks, |block| if lines::is_sentence(block) { block.chars } else { 0 });
    let main = only_main(outline);
    let mut wrong = HashSet::new();
    for parts in parts.chunk_by(|one, two| one.name == two.name) {
        let Some(name) = parts.first().and_then(|part| part.name) else { continue };
        let (mut all, mut linked, mut running, mut said, mut end) = (0, 0, 0, 0, 0);
        for Part { span, .. } in parts {
            let start = span.start.max(end);
            end = end.max(span.end);
            all += between(&chars, start, end);
            linked += between(&links, start, end);
            running += between(&prose, start, end);
            said += between(&sentences, start, end);
        }
        let plain = linked * 100 <= LINKS * all;
        if match name.trust {
            Trust::Layout => said > 0 && said * 100 >= LAYOUT * all,
            Trust::Usual => {
                let is_long = running * 100 >= USUAL * all && running > NO_MENU;
                let in_main = |part: &Part| main.is_some_and(|main| main.holds(&part.span));
                let is_menu = |part: &Part| part.kind == Kind::Chrome && in_main(part);
                plain && (is_long || (all >= DISHES && parts.iter().all(is_menu)))
            }
            Trust::Wordy => false,
        } {
            wrong.insert(name);
        }
    }
    wrong
}
