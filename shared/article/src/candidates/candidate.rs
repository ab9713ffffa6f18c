//! Candidates for the article's text: the blocks of the page that each extractor takes, and the reasons why it leaves
//! out others.

use crate::candidates::lines;
use crate::candidates::tails;
use crate::read::outline::{Block, Kind, Mark, Outline, Reason, Span, Tag};
use crate::text;
use std::collections::HashSet;

/// One extractor's answer: the blocks that form the text.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) from: &'static str,
    pub(crate) span: Span,
    /// Reason why each block from `span.start` on is left out; `None` if it is kept.
    pub(crate) left: Vec<Option<Reason>>,
    /// Characters of the kept blocks.
    pub(crate) chars: usize,
    /// Characters of the kept blocks that are inside links.
    pub(crate) link_chars: usize,
}

/// Width of running text from which a part is no navigation, whatever its name says.
const NO_MENU: usize = 1_000;

impl Candidate {
    /// Takes a span without the parts in it that do not belong to the article.
    pub(crate) fn new(
        outline: &Outline<'_>,
        parts: &[(Kind, Span)],
        title: &str,
        from: &'static str,
        span: Span,
    ) -> Candidate {
        let blocks = outline.blocks.get(span.start..span.end).unwrap_or_default();
        let chars = sums(blocks, |block| block.chars);
        let whole = chars.last().copied().unwrap_or(0);
        // A name that would remove most of the text is wrong.
        let prose = sums(blocks, |block| if lines::is_prose(block) { block.chars } else { 0 });
        let believed = |kind: Kind, start, end| match kind {
            Kind::Hidden | Kind::Comments => true,
            // Navigation contains no paragraphs; a wrapper may be named after the table of contents in it.
            Kind::Chrome if between(&prose, start, end) > NO_MENU => false,
            _ => between(&chars, start, end) * 2 < whole,
        };
        let mut left = vec![None; blocks.len()];
        for kind in Kind::ALL {
            let runs =
                parts.iter().filter(|(known, part)| *known == kind && span.holds(part)).filter_map(|(_, part)| {
                    let (start, end) = (part.start - span.start, part.end - span.start);
                    believed(kind, start, end).then_some((start, end))
                });
            let covered = covered(blocks.len(), runs);
            for (reason, _) in left.iter_mut().zip(covered).filter(|(reason, covered)| *covered && reason.is_none()) {
                *reason = Some(kind.reason());
            }
        }
        tails::drop_from(outline, span.start, &mut left);
        lines::drop_from(blocks, title, &mut left);
        let mut candidate = Candidate { from, span, left, chars: 0, link_chars: 0 };
        candidate.count(outline);
        candidate
    }

    /// Returns the blocks that an extractor gave as paragraphs of plain text; `None` if few of them are found in the
    /// page.
    pub(crate) fn of_paragraphs(
        outline: &Outline<'_>,
        title: &str,
        from: &'static str,
        paragraphs: &str,
    ) -> Option<Candidate> {
        let known: HashSet<String> = paragraphs.split("\n\n").map(text::fold).filter(|line| !line.is_empty()).collect();
        let mut left: Vec<Option<Reason>> = outline
            .blocks
            .iter()
            .map(|block| (!known.contains(&text::fold(&block.text))).then_some("not in the readable part"))
            .collect();
        let start = left.iter().position(Option::is_none)?;
        let end = left.iter().rposition(Option::is_none)? + 1;
        left.truncate(end);
        left.drain(..start);
        let span = Span { start, end, serial: 0, parent: 0 };
        let blocks = outline.blocks.get(start..end)?;
        tails::drop_from(outline, span.start, &mut left);
        lines::drop_from(blocks, title, &mut left);
        let mut candidate = Candidate { from, span, left, chars: 0, link_chars: 0 };
        candidate.count(outline);
        (candidate.chars > 0).then_some(candidate)
    }

    /// Returns the number of characters that both keep.
    pub(crate) fn shared(&self, other: &Candidate, outline: &Outline<'_>) -> usize {
        let (start, end) = (self.span.start.max(other.span.start), self.span.end.min(other.span.end));
        let keeps = |candidate: &Candidate, at: usize| candidate.left.get(at - candidate.span.start) == Some(&None);
        let blocks = outline.blocks.iter().enumerate().take(end).skip(start);
        blocks.filter(|(at, _)| keeps(self, *at) && keeps(other, *at)).map(|(_, block)| block.chars).sum()
    }

    /// Returns the kept blocks, each with its index in the page.
    pub(crate) fn kept<'o>(&self, outline: &'o Outline<'_>) -> impl Iterator<Item = (usize, &'o Block)> {
        let blocks = outline.blocks.iter().enumerate().skip(self.span.start);
        blocks.zip(&self.left).filter(|(_, left)| left.is_none()).map(|(block, _)| block)
    }

    /// Returns the share of the kept characters that is inside links.
    pub(crate) fn links(&self) -> f64 {
        self.link_chars as f64 / self.chars.max(1) as f64
    }

    /// Counts the characters that are kept.
    fn count(&mut self, outline: &Outline<'_>) {
        let (mut chars, mut link_chars) = (0, 0);
        for (_, block) in self.kept(outline) {
            chars += block.chars;
            link_chars += block.link_chars;
        }
        (self.chars, self.link_chars) = (chars, link_chars);
    }
}

/// Returns the candidates of every extractor that needs only the outline. `title` is the headline, folded.
pub(crate) fn all(outline: &Outline<'_>, title: &str) -> Vec<Candidate> {
    let parts = parts(outline);
    let mut candidates = marked(outline, &parts, title);
    candidates.extend(joined(outline, &parts, title));
    candidates.extend(dense(outline, &parts, title));
    candidates
}

/// Returns the parts that do not belong to the article, except those that hold most of the readable text: a page whose
/// wrapper is called "newsletter" or is hidden until a script has run is still a page.
fn parts(outline: &Outline<'_>) -> Vec<(Kind, Span)> {
    named(outline, false).copied().collect()
}

/// Returns the serial numbers of elements whose names are not believed, because they hold most of the readable text.
pub(crate) fn misnamed(outline: &Outline<'_>) -> HashSet<usize> {
    named(outline, true).map(|(_, span)| span.serial).collect()
}

/// Returns the parts whose names exclude them from the article: with `wrong` those that hold most of the text, else the
/// others.
fn named<'o>(outline: &'o Outline<'_>, wrong: bool) -> impl Iterator<Item = &'o (Kind, Span)> {
    let prose =
        sums(
            &outline.blocks,
            |block| if matches!(block.tag, Tag::Heading(_)) { 0 } else { block.chars - block.link_chars },
        );
    let all = prose.last().copied().unwrap_or(0);
    outline.parts.iter().filter(move |(_, span)| (all > 0 && between(&prose, span.start, span.end) * 2 >= all) == wrong)
}

/// Returns the candidates that the markup names: the few longest of each sort.
fn marked(outline: &Outline<'_>, parts: &[(Kind, Span)], title: &str) -> Vec<Candidate> {
    /// Maximum number of candidates of one sort. More of them form a list of posts, and the longest suffice to show it.
    const OF_A_SORT: usize = 4;
    let chars = sums(&outline.blocks, |block| block.chars - block.link_chars);
    let mut out = Vec::new();
    for wanted in [Mark::ArticleBody, Mark::Content, Mark::Article, Mark::Main] {
        let mut spans: Vec<Span> =
            outline.marks.iter().filter(|(mark, ..)| *mark == wanted).map(|(_, span, _)| *span).collect();
        spans.sort_by_key(|span| (usize::MAX - between(&chars, span.start, span.end), span.serial));
        spans.truncate(OF_A_SORT);
        out.extend(spans.into_iter().map(|span| Candidate::new(outline, parts, title, wanted.extractor(), span)));
    }
    out
}

/// Joins containers of the same name, into which a long article is often cut, unless each lies in an `<article>` of its
/// own, as on a page that lists posts.
fn joined(outline: &Outline<'_>, parts: &[(Kind, Span)], title: &str) -> Option<Candidate> {
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
    // Ancestors close after their descendants, so the first span that holds both is the nearest one.
    let around = outline.spans.iter().find(|span| span.holds(first) && span.holds(last))?;
    let mut all = Candidate::new(outline, parts, title, "content", *around);
    for (at, left) in all.left.iter_mut().enumerate() {
        let block = around.start + at;
        if left.is_none() && !outer.iter().any(|span| (span.start..span.end).contains(&block)) {
            *left = Some("between the containers of the text");
        }
    }
    all.count(outline);
    Some(all)
}

/// Worth of a block in a part that does not belong to the article.
const NOT_OURS: f64 = -5.0;

/// Returns the element whose blocks have the most text that reads like an article, and the least that does not.
fn dense(outline: &Outline<'_>, parts: &[(Kind, Span)], title: &str) -> Option<Candidate> {
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
    Some(Candidate::new(outline, parts, title, "density", *best))
}

/// Returns the evidence that a block is part of an article; negative if it is not.
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

/// Returns for each of `blocks` blocks true if it lies in one of the runs. Runs nest, and a page may have very many of
/// them, so only their beginnings and ends are counted.
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

/// Returns the running sums of a number of each block, beginning with zero.
fn sums(blocks: &[Block], number: impl Fn(&Block) -> usize) -> Vec<usize> {
    let mut out = vec![0];
    let mut sum = 0;
    for block in blocks {
        sum += number(block);
        out.push(sum);
    }
    out
}

/// Returns the sum from one block up to another.
fn between(sums: &[usize], start: usize, end: usize) -> usize {
    let at = |index: usize| sums.get(index).or(sums.last()).copied().unwrap_or(0);
    at(end).saturating_sub(at(start))
}
