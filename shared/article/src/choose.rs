//! Which part of the page is the article's text: candidates, and the choice between them.

use crate::boilerplate::Kind;
use crate::jsonld::Linked;
use crate::outline::{Block, Mark, Outline, Span, Tag};
use crate::{Limits, readability, tails, text};
use scraper::Html;
use std::collections::HashSet;

/// The text, and where in the page it stands.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) text: String,
    /// Which rule gave it.
    pub(crate) from: &'static str,
    /// The blocks that it lies between; empty when it does not come from the page's body.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// One rule's answer: which blocks are the text.
#[derive(Clone, Debug)]
struct Candidate {
    from: &'static str,
    span: Span,
    /// For each block from `span.start` on, whether it is kept.
    kept: Vec<bool>,
    /// Characters of the kept blocks.
    chars: usize,
}

impl Candidate {
    /// Counts the characters that are kept.
    fn count(&mut self, outline: &Outline<'_>) {
        let blocks = outline.blocks.iter().skip(self.span.start);
        self.chars = self.kept.iter().zip(blocks).filter(|(keep, _)| **keep).map(|(_, block)| block.chars).sum();
    }
}

/// A text shorter than this, in characters, makes other rules be asked.
const SHORT: usize = 250;
/// A paragraph of so many characters does not occur twice by chance.
const REPEATED: usize = 50;

/// Chooses the text.
pub(crate) fn text(
    tree: &Html,
    outline: &Outline<'_>,
    linked: &Linked,
    title: Option<&str>,
    limits: &Limits,
) -> Chosen {
    let parts = parts(outline);
    let mut candidates = marked(outline, &parts);
    candidates.extend(joined(outline, &parts));
    candidates.extend(dense(outline, &parts));
    let best = pick(&candidates);
    let mut chosen = best.map(|candidate| render(outline, candidate, title, limits)).unwrap_or_default();
    if chosen.text.chars().count() < SHORT {
        let other = readability::read(tree, limits);
        if other.chars().count() > chosen.text.chars().count() {
            chosen = Chosen { text: other, from: "readability", start: 0, end: 0 };
        }
    }
    if let Some(body) = &linked.body {
        let body = paragraphs(body, limits);
        if text::dense_chars(&body) > 2 * text::dense_chars(&chosen.text) {
            chosen = Chosen { text: body, from: "jsonld", start: 0, end: 0 };
        }
    }
    chosen
}

/// The parts that are something else than the article, but for those that hold most of what there is to read: a page
/// whose wrapper is called "newsletter" or is hidden until a script has run is still a page.
fn parts(outline: &Outline<'_>) -> Vec<(Kind, Span)> {
    let prose =
        sums(
            &outline.blocks,
            |block| if matches!(block.tag, Tag::Heading(_)) { 0 } else { block.chars - block.link_chars },
        );
    let all = prose.last().copied().unwrap_or(0);
    outline.parts.iter().filter(|(_, span)| between(&prose, span.start, span.end) * 2 < all).copied().collect()
}

/// The candidates that the markup names.
fn marked(outline: &Outline<'_>, parts: &[(Kind, Span)]) -> Vec<Candidate> {
    outline
        .marks
        .iter()
        .map(|(mark, span, _)| {
            let from = match mark {
                Mark::ArticleBody => "microdata",
                Mark::Content => "wordpress",
                Mark::Article => "article",
                Mark::Main => "main",
            };
            candidate(outline, parts, from, *span)
        })
        .collect()
}

/// A long read is often cut into several containers of the same name: all of them together, unless each lies in an
/// `<article>` of its own, as on a page that lists posts.
fn joined(outline: &Outline<'_>, parts: &[(Kind, Span)]) -> Option<Candidate> {
    let marks = |wanted: Mark| outline.marks.iter().filter(move |(mark, ..)| *mark == wanted).map(|(_, span, _)| span);
    let outer: Vec<&Span> = marks(Mark::Content)
        .filter(|span| !marks(Mark::Content).any(|other| other.holds(span)))
        .filter(|span| !parts.iter().any(|(_, part)| part.holds(span)))
        .collect();
    let (first, last) = (outer.first()?, outer.last()?);
    let lists =
        marks(Mark::Article).filter(|article| outer.iter().filter(|span| article.holds(span)).count() == 1).count() > 1;
    if outer.len() < 2 || lists {
        return None;
    }
    // Ancestors close after what they hold, so the first span that holds both is the nearest one.
    let around = outline.spans.iter().find(|span| span.holds(first) && span.holds(last))?;
    let mut all = candidate(outline, parts, "wordpress", *around);
    for (at, keep) in all.kept.iter_mut().enumerate() {
        let block = around.start + at;
        *keep &= outer.iter().any(|span| (span.start..span.end).contains(&block));
    }
    all.count(outline);
    Some(all)
}

/// What a block counts for that lies in a part that is something else.
const NOT_OURS: f64 = -5.0;

/// The element whose blocks have the most text that reads like an article, and the least that does not.
fn dense(outline: &Outline<'_>, parts: &[(Kind, Span)]) -> Option<Candidate> {
    let mut worth: Vec<f64> = outline.blocks.iter().map(worth).collect();
    for (value, covered) in
        worth.iter_mut().zip(covered(outline.blocks.len(), parts.iter().map(|(_, part)| (part.start, part.end))))
    {
        if covered {
            *value = value.min(NOT_OURS);
        }
    }
    let mut sums = vec![0.0];
    for value in &worth {
        sums.push(sums.last().copied().unwrap_or(0.0) + value);
    }
    let score = |span: &Span| sums.get(span.end).zip(sums.get(span.start)).map_or(0.0, |(end, start)| end - start);
    let best = outline.spans.iter().max_by(|a, b| score(a).total_cmp(&score(b)).then(a.serial.cmp(&b.serial)))?;
    Some(candidate(outline, parts, "density", *best))
}

/// How much a block speaks for being part of an article.
fn worth(block: &Block) -> f64 {
    let chars = block.chars as f64;
    let links = block.link_chars as f64 / chars.max(1.0);
    match block.tag {
        Tag::Heading(_) => 0.0,
        _ if links > 0.5 => -chars.min(60.0),
        Tag::Paragraph | Tag::Quote | Tag::Pre => chars * (1.0 - links) - 10.0,
        Tag::Item | Tag::Cell => chars * (1.0 - links) - 30.0,
        Tag::Other => chars * (1.0 - links) - 40.0,
    }
}

/// What is left of a span without the parts in it that are something else.
fn candidate(outline: &Outline<'_>, parts: &[(Kind, Span)], from: &'static str, span: Span) -> Candidate {
    let blocks = outline.blocks.get(span.start..span.end).unwrap_or_default();
    let chars = sums(blocks, |block| block.chars);
    let whole = chars.last().copied().unwrap_or(0);
    // A name that would take most of the text away is no name for what is beside it.
    let believed = |kind: Kind, start, end| {
        matches!(kind, Kind::Hidden | Kind::Comments) || between(&chars, start, end) * 2 < whole
    };
    let runs = parts.iter().filter(|(_, part)| span.holds(part)).filter_map(|(kind, part)| {
        let (start, end) = (part.start - span.start, part.end - span.start);
        believed(*kind, start, end).then_some((start, end))
    });
    let mut kept: Vec<bool> = covered(blocks.len(), runs).into_iter().map(|covered| !covered).collect();
    tails::drop_from(blocks, &mut kept);
    let mut candidate = Candidate { from, span, kept, chars: 0 };
    candidate.count(outline);
    candidate
}

/// Which of so many blocks lie in one of the runs. Runs nest, and a page may have very many of them, so they are
/// counted where they begin and end.
fn covered(blocks: usize, runs: impl Iterator<Item = (usize, usize)>) -> Vec<bool> {
    let mut change = vec![0_i32; blocks + 1];
    for (start, end) in runs {
        change.get_mut(start).into_iter().for_each(|n| *n += 1);
        change.get_mut(end).into_iter().for_each(|n| *n -= 1);
    }
    let mut open = 0;
    change
        .iter()
        .take(blocks)
        .map(|n| {
            open += n;
            open > 0
        })
        .collect()
}

/// Running sums of a number of each block, beginning with nothing.
fn sums(blocks: &[Block], number: impl Fn(&Block) -> usize) -> Vec<usize> {
    let mut out = vec![0];
    let mut sum = 0;
    for block in blocks {
        sum += number(block);
        out.push(sum);
    }
    out
}

/// The sum from one block up to another.
fn between(sums: &[usize], start: usize, end: usize) -> usize {
    let at = |index: usize| sums.get(index).or(sums.last()).copied().unwrap_or(0);
    at(end).saturating_sub(at(start))
}

fn pick(candidates: &[Candidate]) -> Option<&Candidate> {
    let dense = candidates.iter().find(|c| c.from == "density");
    let enough = dense.map_or(0, |c| c.chars) * 7 / 10;
    for rule in ["microdata", "wordpress", "article"] {
        let best = candidates.iter().filter(|c| c.from == rule).max_by_key(|c| c.chars);
        if let Some(best) = best.filter(|c| c.chars > 0 && c.chars >= enough) {
            return Some(best);
        }
    }
    dense
}

/// The kept blocks as text.
fn render(outline: &Outline<'_>, candidate: &Candidate, title: Option<&str>, limits: &Limits) -> Chosen {
    let mut out = String::new();
    let mut left = limits.text_chars;
    let title = title.map(text::fold).unwrap_or_default();
    let blocks = outline.blocks.iter().skip(candidate.span.start);
    let mut seen = HashSet::new();
    for (block, _) in blocks.zip(&candidate.kept).filter(|(_, keep)| **keep) {
        if matches!(block.tag, Tag::Heading(_)) && out.is_empty() && text::fold(&block.text) == title {
            continue;
        }
        // The same long paragraph twice is a copy for another width of screen, or a pulled quote.
        if block.chars >= REPEATED && !seen.insert(block.text.as_str()) {
            continue;
        }
        push(&mut out, &block.text, &mut left);
    }
    Chosen { text: out, from: candidate.from, start: candidate.span.start, end: candidate.span.end }
}

fn push(out: &mut String, paragraph: &str, left: &mut usize) {
    if *left == 0 {
        return;
    }
    if !out.is_empty() {
        out.push_str("\n\n");
    }
    out.extend(paragraph.chars().take(*left));
    *left = left.saturating_sub(paragraph.chars().count() + 2);
}

/// A text from elsewhere, cleaned; tags in it are dropped.
fn paragraphs(raw: &str, limits: &Limits) -> String {
    let mut out = String::new();
    let mut left = limits.text_chars;
    let plain = readability::without_tags(raw);
    for paragraph in plain.lines() {
        let paragraph = text::line(paragraph, left);
        if !paragraph.is_empty() {
            push(&mut out, &paragraph, &mut left);
        }
    }
    out
}
