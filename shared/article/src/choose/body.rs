//! Chooses the part of the page that is the article's text among candidates.

use crate::candidates::candidate::{self, Candidate, Ranking, Weight};
use crate::candidates::parts;
use crate::candidates::sums::covered;
use crate::learned::features::{self, PageFacts, Row};
use crate::learned::{self, Answer, REPEATED};
use crate::read::outline::{Kind, Outline, Tag};
use crate::read::stored::{self, Stored};
use crate::read::{dom, walk};
use crate::text;
use curlew_text::hygiene;
use scraper::Html;
use std::collections::HashSet;

#[derive(Debug, Default)]
pub(crate) struct Body {
    pub(crate) text: String,
    pub(crate) from: &'static str,
    /// First block of the text, and the block after its part of the page; both 0 if the text is not from the body.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) steps: u64,
    pub(crate) table: Vec<Row>,
    pub(crate) learned: Option<Answer>,
}

/// Width below which a candidate with twice as much text is taken, and minimum length of a stored text.
const SHORT: usize = 250;
/// Width below which a page may keep its text outside of its markup: a lead, or a notice that scripts are needed.
const LITTLE: usize = 600;

/// Ranks the candidates. `title` is the headline, folded.
pub(crate) fn weigh(outline: &Outline<'_>, title: &str) -> Ranking {
    let parts = parts::outside(outline);
    let spans = parts.iter().filter(|part| part.kind == Kind::Hidden).map(|part| (part.span.start, part.span.end));
    let hidden = covered(outline.blocks.len(), spans);
    let candidates = candidate::all(outline, &parts, title);
    let longest: Vec<&Candidate> = EXTRACTORS
        .iter()
        .filter_map(|(from, _)| candidates.iter().filter(|c| c.from == *from).max_by_key(|c| c.chars))
        .collect();
    let weights: Vec<Weight> =
        candidates.iter().map(|candidate| weight(candidate, &candidates, &longest, outline)).collect();
    let lines: usize = candidates.iter().map(|candidate| candidate.left.len()).sum();
    let scored = candidates.iter().zip(&weights).enumerate().filter(|(_, (candidate, _))| candidate.chars > 0);
    let best = scored.rev().max_by(|(_, (_, a)), (_, (_, b))| a.score.total_cmp(&b.score)).map(|(at, _)| at);
    let steps = (lines * (1 + 2 * longest.len())) as u64;
    Ranking { candidates, weights, best, steps, hidden }
}

/// The extractors and their priors: an `<article>` may be a teaser, and `<main>` contains everything.
const EXTRACTORS: [(&str, f64); 5] =
    [("microdata", 0.7), ("content", 0.7), ("article", 0.3), ("density", 0.2), ("main", 0.1)];

/// Weighs one candidate. The factors were fitted to one half of a public data set and confirmed on the other.
fn weight(candidate: &Candidate, all: &[Candidate], longest: &[&Candidate], outline: &Outline<'_>) -> Weight {
    /// Factor for the share of its text that the others keep too.
    const CONFIRMED: f64 = 1.0;
    /// Factor for the share of the others' text that it keeps.
    const COMPLETE: f64 = 0.4;
    /// Factor for being long enough to be an article.
    const LENGTH: f64 = 1.0;
    /// Width at which a text is surely an article.
    const ENOUGH: f64 = 1_500.0;
    /// Factor for being as long as the densest part of the page.
    const COVERING: f64 = 0.2;
    /// Bonus for being the only one of its kind: several form a list of posts, or are parts.
    const ONLY: f64 = 0.2;

    let chars = candidate.chars.max(1) as f64;
    let others: Vec<&&Candidate> = longest.iter().filter(|other| other.from != candidate.from).collect();
    // An extractor that answers alone is confirmed by none.
    let mean = |share: &dyn Fn(&Candidate) -> f64| match others.len() {
        0 => 0.0,
        n => others.iter().map(|other| share(other)).sum::<f64>() / n as f64,
    };
    let shared = |other: &Candidate| candidate.shared(other, outline) as f64;
    let confirmed = mean(&|other| shared(other) / chars);
    let complete = mean(&|other| shared(other) / other.chars.max(1) as f64);
    let densest = longest.iter().find(|c| c.from == "density").map_or(chars, |c| c.chars.max(1) as f64);
    let only = all.iter().filter(|other| other.from == candidate.from).count() == 1;
    let prior = EXTRACTORS.iter().find(|(from, _)| *from == candidate.from).map_or(0.0, |(_, prior)| *prior);
    let score = prior
        + CONFIRMED * confirmed
        + COMPLETE * complete
        + LENGTH * (chars / ENOUGH).min(1.0)
        + COVERING * (chars / densest).min(1.0)
        + if only { ONLY } else { 0.0 };
    Weight { agreement: confirmed, prior, score }
}

pub(crate) fn text(tree: &Html, outline: &Outline<'_>, weighed: &Ranking, stated: Option<&str>, title: &str) -> Body {
    let best = weighed.chosen();
    let evidence = PageFacts { outline, weighed, best, title };
    let table = features::table(&evidence);
    let mut chosen = best.map(|candidate| render(outline, candidate, title)).unwrap_or_default();
    let learned = learned::decide(&evidence, &table);
    if let Some(answer) = &learned {
        // Dates and images are searched where the rules found the text.
        let (start, end) = (chosen.start, chosen.end);
        chosen = Body { start, end, ..render(outline, &answer.candidate, title) };
    }
    let mut width = text::width(&chosen.text);
    if width < SHORT {
        let longest = weighed.candidates.iter().max_by_key(|candidate| candidate.chars).cloned();
        let remaining = Some(Candidate::remaining(outline)).filter(|remaining| remaining.chars >= SHORT);
        for other in longest.into_iter().chain(remaining) {
            if width < SHORT && other.chars > 2 * width {
                chosen = render(outline, &other, title);
                width = text::width(&chosen.text);
            }
        }
    }
    // No byte is wider than one column, so a text that is not longer than this is not read.
    if let Some(body) = stated.filter(|body| body.len() > 2 * width) {
        let body = paragraphs(body, outline.limits.text_chars);
        let others = text::width(&body);
        if others > 2 * width {
            chosen = Body { text: body, from: "jsonld", steps: chosen.steps, ..Body::default() };
            width = others;
        }
    }
    if width < LITTLE && !outline.is_paywalled {
        chosen = or_stored(chosen, tree, outline, title);
    }
    Body { steps: chosen.steps + table.len() as u64, table, learned, ..chosen }
}

fn or_stored(mut chosen: Body, tree: &Html, outline: &Outline<'_>, title: &str) -> Body {
    for Stored { html, from, steps } in stored::read(tree) {
        chosen.steps += steps;
        if html.len() < SHORT {
            continue;
        }
        let mut steps = 0;
        let Ok(inner) = dom::build(&html, &outline.limits, &mut steps) else { continue };
        let Ok(inner_outline) = walk::walk(&inner, &outline.page, &outline.limits) else { continue };
        let weighed = weigh(&inner_outline, title);
        let best = weighed.chosen().map(|candidate| render(&inner_outline, candidate, title));
        let found = best.unwrap_or_default();
        steps += chosen.steps + inner_outline.steps + weighed.steps;
        if text::width(&found.text) > 2 * text::width(&chosen.text).max(SHORT / 2) {
            chosen = Body { text: found.text, from, ..Body::default() };
        }
        chosen.steps = steps;
    }
    chosen
}

fn render(outline: &Outline<'_>, candidate: &Candidate, title: &str) -> Body {
    let mut out = String::new();
    let mut left = outline.limits.text_chars;
    let mut seen = HashSet::new();
    let mut last = "";
    for (_, block) in candidate.kept(outline) {
        let may_be_title = matches!(block.tag, Tag::Heading(_)) && out.is_empty();
        if may_be_title && text::ends_with_title(&text::fold(&block.text), title) {
            continue;
        }
        // A repeated long paragraph is a copy for another screen width, or a pull quote.
        if block.chars >= REPEATED && !seen.insert(block.text.as_str()) {
            continue;
        }
        // A line repeated immediately is a copy as well, except in a table.
        if std::mem::replace(&mut last, &block.text) == block.text && !matches!(block.tag, Tag::Cell | Tag::Pre) {
            continue;
        }
        push(&mut out, &block.text, &mut left);
    }
    let start = candidate.kept(outline).next().map_or(candidate.span.start, |(at, _)| at);
    Body { text: out, from: candidate.from, start, end: candidate.span.end, ..Body::default() }
}

fn push(out: &mut String, paragraph: &str, left: &mut usize) {
    if *left == 0 {
        return;
    }
    if !out.is_empty() {
        out.push_str("\n\n");
    }
    out.push_str(hygiene::head(paragraph, *left));
    *left = left.saturating_sub(paragraph.chars().count() + 2);
}

fn paragraphs(raw: &str, max_chars: usize) -> String {
    let (mut out, mut left) = (String::new(), max_chars);
    for paragraph in dom::without_tags(raw).lines() {
        let paragraph = hygiene::line(paragraph, left);
        if !paragraph.is_empty() {
            push(&mut out, &paragraph, &mut left);
        }
    }
    out
}
