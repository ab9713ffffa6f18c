//! Which part of the page is the article's text: candidates, and the choice between them.

use crate::boilerplate::Kind;
use crate::jsonld::Linked;
use crate::outline::{Block, Mark, Outline, Span, Tag};
use crate::{Limits, readability, text};
use scraper::Html;

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

/// A text shorter than this, in characters, makes other rules be asked.
const SHORT: usize = 250;

/// Chooses the text.
pub(crate) fn text(
    tree: &Html,
    outline: &Outline<'_>,
    linked: &Linked,
    title: Option<&str>,
    limits: &Limits,
) -> Chosen {
    let mut candidates = marked(outline);
    candidates.extend(dense(outline));
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

/// The candidates that the markup names.
fn marked(outline: &Outline<'_>) -> Vec<Candidate> {
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
            candidate(outline, from, *span)
        })
        .collect()
}

/// The element whose blocks have the most text that reads like an article, and the least that does not.
fn dense(outline: &Outline<'_>) -> Option<Candidate> {
    let mut worth: Vec<f64> = outline.blocks.iter().map(worth).collect();
    for (_, part) in &outline.parts {
        for value in worth.get_mut(part.start..part.end).unwrap_or_default() {
            *value = value.min(-5.0);
        }
    }
    let mut sums = vec![0.0];
    for value in &worth {
        sums.push(sums.last().copied().unwrap_or(0.0) + value);
    }
    let score = |span: &Span| sums.get(span.end).zip(sums.get(span.start)).map_or(0.0, |(end, start)| end - start);
    let best = outline.spans.iter().max_by(|a, b| score(a).total_cmp(&score(b)).then(a.serial.cmp(&b.serial)))?;
    Some(candidate(outline, "density", *best))
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
fn candidate(outline: &Outline<'_>, from: &'static str, span: Span) -> Candidate {
    let mut kept = vec![true; span.end - span.start];
    let chars = |a: usize, b: usize| {
        outline.blocks.get(a..b).unwrap_or_default().iter().map(|block| block.chars).sum::<usize>()
    };
    let whole = chars(span.start, span.end);
    for (kind, part) in outline.parts.iter().filter(|(_, part)| span.holds(part)) {
        let always = matches!(kind, Kind::Hidden | Kind::Comments);
        // A name that would take most of the text away is no name for what is beside it.
        if always || chars(part.start, part.end) * 2 < whole {
            for keep in kept.get_mut(part.start - span.start..part.end - span.start).unwrap_or_default() {
                *keep = false;
            }
        }
    }
    let chars = kept
        .iter()
        .zip(outline.blocks.iter().skip(span.start))
        .filter(|(keep, _)| **keep)
        .map(|(_, block)| block.chars)
        .sum();
    Candidate { from, span, kept, chars }
}

fn pick(candidates: &[Candidate]) -> Option<&Candidate> {
    let dense = candidates.iter().find(|c| c.from == "density");
    let enough = dense.map_or(0, |c| c.chars) * 6 / 10;
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
    for (block, _) in blocks.zip(&candidate.kept).filter(|(_, keep)| **keep) {
        if matches!(block.tag, Tag::Heading(_)) && out.is_empty() && text::fold(&block.text) == title {
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
