//! Candidates for the article's text: the blocks that each extractor selects, and why it leaves out others.

use crate::candidates::sums::{between, covered, sums};
use crate::candidates::{lines, parts, tails};
use crate::read::outline::{Block, Kind, Mark, Outline, Part, PartName, Reason, Span, Tag};
use foldhash::HashMap;

#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) from: &'static str,
    pub(crate) span: Span,
    pub(crate) left: Vec<Option<Reason>>,
    pub(crate) chars: usize,
    pub(crate) link_chars: usize,
}

impl Candidate {
    pub(crate) fn new(outline: &Outline<'_>, parts: &[Part], title: &str, from: &'static str, span: Span) -> Candidate {
        let blocks = outline.blocks.get(span.start..span.end).unwrap_or_default();
        let chars = sums(blocks, |block| block.chars);
        let whole = chars.last().copied().unwrap_or(0);
        // A name that would remove most of the text is wrong.
        let inside = || parts.iter().filter(|part| span.holds(&part.span));
        let within = |part: &Part| (part.span.start - span.start, part.span.end - span.start);
        // Parts are sorted by name, and outer parts precede those inside them.
        let mut of_name: HashMap<PartName, (usize, usize)> = HashMap::default();
        for (name, (start, end)) in inside().filter_map(|part| Some((part.name?, within(part)))) {
            let (sum, last) = of_name.entry(name).or_default();
            *sum += between(&chars, start.max(*last), end);
            *last = end.max(*last);
        }
        let believed = |part: &Part| match part.kind {
            Kind::Hidden | Kind::Comments => true,
            _ => {
                let (start, end) = within(part);
                let together = part.name.and_then(|name| of_name.get(&name)).map_or(0, |(sum, _)| *sum);
                between(&chars, start, end).max(together) * 2 < whole
            }
        };
        let mut left = vec![None; blocks.len()];
        for kind in Kind::ALL {
            let runs = inside().filter(|part| part.kind == kind && believed(part)).map(within);
            let covered = covered(blocks.len(), runs);
            for (reason, _) in left.iter_mut().zip(covered).filter(|(reason, covered)| *covered && reason.is_none()) {
                *reason = Some(kind.reason());
            }
        }
        tails::drop_from(outline, span.start, &mut left);
        lines::drop_from(blocks, title, &mut left);
        Candidate::counted(outline, from, span, left)
    }

    pub(crate) fn whole(outline: &Outline<'_>, from: &'static str, left: Vec<Option<Reason>>) -> Candidate {
        let span = Span { start: 0, end: left.len(), serial: 0, parent: 0 };
        Candidate::counted(outline, from, span, left)
    }

    /// Returns all that stands below the headline, in no other part of the page: the text of a page that no extractor
    /// can tell from labels, such as verses, captions of photographs, or paragraphs set as headings.
    pub(crate) fn remaining(outline: &Outline<'_>) -> Candidate {
        let parts = parts::outside(outline);
        let runs = parts.iter().filter(|part| part.kind != Kind::Caption).map(|part| (part.span.start, part.span.end));
        let headline = outline.headings_of(1).next().map_or(0, |heading| heading.block);
        let reason = |(block, is_outside): (&Block, bool)| {
            if is_outside || block.links() > 0.5 { Some("outside of the article") } else { lines::by_itself(block) }
        };
        let left = outline.blocks.iter().zip(covered(outline.blocks.len(), runs.chain([(0, headline)]))).map(reason);
        Candidate::whole(outline, "remaining", left.collect())
    }

    fn counted(outline: &Outline<'_>, from: &'static str, span: Span, left: Vec<Option<Reason>>) -> Candidate {
        let candidate = Candidate { from, span, left, chars: 0, link_chars: 0 };
        let chars = candidate.kept(outline).map(|(_, block)| block.chars).sum();
        let link_chars = candidate.kept(outline).map(|(_, block)| block.link_chars).sum();
        Candidate { chars, link_chars, ..candidate }
    }

    fn keep_only(&mut self, outline: &Outline<'_>, spans: &[Span], reason: Reason) {
        let runs = spans.iter().map(|span| (span.start.saturating_sub(self.span.start), span.end - self.span.start));
        let kept = covered(self.left.len(), runs);
        for (left, _) in self.left.iter_mut().zip(kept).filter(|(left, kept)| left.is_none() && !kept) {
            *left = Some(reason);
        }
        *self = Candidate::counted(outline, self.from, self.span, std::mem::take(&mut self.left));
    }

    pub(crate) fn shared(&self, other: &Candidate, outline: &Outline<'_>) -> usize {
        let (start, end) = (self.span.start.max(other.span.start), self.span.end.min(other.span.end));
        let keeps = |candidate: &Candidate, at: usize| candidate.left.get(at - candidate.span.start) == Some(&None);
        let blocks = outline.blocks.iter().enumerate().take(end).skip(start);
        blocks.filter(|(at, _)| keeps(self, *at) && keeps(other, *at)).map(|(_, block)| block.chars).sum()
    }

    pub(crate) fn kept<'o>(&self, outline: &'o Outline<'_>) -> impl Iterator<Item = (usize, &'o Block)> {
        let blocks = outline.blocks.iter().enumerate().skip(self.span.start);
        blocks.zip(&self.left).filter(|(_, left)| left.is_none()).map(|(block, _)| block)
    }

    pub(crate) fn links(&self) -> f64 {
        self.link_chars as f64 / self.chars.max(1) as f64
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weight {
    pub(crate) agreement: f64,
    pub(crate) prior: f64,
    pub(crate) score: f64,
}

#[derive(Debug, Default)]
pub(crate) struct Ranking {
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) weights: Vec<Weight>,
    pub(crate) best: Option<usize>,
    pub(crate) hidden: Vec<bool>,
    pub(crate) steps: u64,
}

impl Ranking {
    pub(crate) fn chosen(&self) -> Option<&Candidate> {
        self.candidates.get(self.best?)
    }

    pub(crate) fn end(&self) -> Option<usize> {
        let best = self.chosen()?;
        let last = best.left.iter().rposition(Option::is_none)?;
        Some(best.span.start + last + 1)
    }
}

/// Returns the candidates of every extractor that needs only the outline. `title` is the headline, folded.
pub(crate) fn all(outline: &Outline<'_>, parts: &[Part], title: &str) -> Vec<Candidate> {
    let mut candidates = marked(outline, parts, title);
    let others = [joined(outline, parts, title), posts(outline, parts, title), dense(outline, parts, title)];
    candidates.extend(others.into_iter().flatten());
    candidates
}

fn marked(outline: &Outline<'_>, parts: &[Part], title: &str) -> Vec<Candidate> {
    /// More candidates of one kind are a list of posts, for which the longest suffice.
    const MAX_OF_A_SORT: usize = 4;
    let chars = sums(&outline.blocks, |block| block.chars - block.link_chars);
    let before = parts::before_main(outline);
    let mut out: Vec<Candidate> = Vec::new();
    for wanted in [Mark::ArticleBody, Mark::Content, Mark::Article, Mark::Main] {
        let mut spans: Vec<Span> = outline.marked(wanted).filter(|span| span.end > before).collect();
        spans.sort_by_key(|span| (usize::MAX - between(&chars, span.start, span.end), span.serial));
        spans.truncate(MAX_OF_A_SORT);
        for span in spans {
            let from = wanted.extractor();
            // Nested elements often have the same content.
            let held = |span: &Span| parts.iter().filter(|part| span.holds(&part.span)).count();
            let is_same = |known: &&Candidate| {
                (known.span.start, known.span.end) == (span.start, span.end) && held(&known.span) == held(&span)
            };
            let same = out.iter().find(is_same).map(|known| Candidate { from, span, ..known.clone() });
            out.push(same.unwrap_or_else(|| Candidate::new(outline, parts, title, from, span)));
        }
    }
    out
}

/// Joins the containers into which a long article is often divided, unless each is in a separate `<article>`.
fn joined(outline: &Outline<'_>, parts: &[Part], title: &str) -> Option<Candidate> {
    let outer = outermost(outline, parts, Mark::Content);
    let holds_one = |article: &Span| outer.iter().filter(|span| article.holds(span)).count() == 1;
    if outline.marked(Mark::Article).filter(holds_one).count() > 1 {
        return None;
    }
    // A heading right above a container belongs to it.
    let heading = |block: usize| matches!(outline.blocks.get(block).map(|block| block.tag), Some(Tag::Heading(_)));
    let above = |span: &Span| span.start.checked_sub(1).filter(|above| heading(*above)).unwrap_or(span.start);
    let with_headings: Vec<Span> = outer.iter().map(|span| Span { start: above(span), ..*span }).collect();
    let mut all = around(outline, parts, title, "content", &outer)?;
    all.keep_only(outline, &with_headings, "between the containers of the text");
    Some(all)
}

fn outermost(outline: &Outline<'_>, parts: &[Part], wanted: Mark) -> Vec<Span> {
    let is_inside = |span: &Span| outline.marked(wanted).any(|other| other.holds(span));
    let is_outside = |span: &Span| parts.iter().any(|part| part.span.holds(span));
    outline.marked(wanted).filter(|span| !is_inside(span) && !is_outside(span)).collect()
}

/// Returns the innermost element around several; `None` for fewer than two.
fn around(outline: &Outline<'_>, parts: &[Part], title: &str, from: &'static str, spans: &[Span]) -> Option<Candidate> {
    let [first, .., last] = spans else { return None };
    // Ancestors close after their descendants, so the innermost one is found.
    let around = outline.spans.iter().find(|span| span.holds(first) && span.holds(last))?;
    Some(Candidate::new(outline, parts, title, from, *around))
}

/// Joins several `<article>` elements, none of which is most of the text: the posts of a thread or of a live blog.
fn posts(outline: &Outline<'_>, parts: &[Part], title: &str) -> Option<Candidate> {
    /// Share of the text of all posts, in percent, at which one is the article and the others are teasers.
    const MOST: usize = 60;
    /// Share of links, in percent, at which a post is a teaser.
    const LINKS: usize = 40;
    let chars = sums(&outline.blocks, |block| block.chars);
    let links = sums(&outline.blocks, |block| block.link_chars);
    let sentences = sums(&outline.blocks, |block| if lines::is_sentence(block) { block.chars } else { 0 });
    let size = |span: &Span| between(&chars, span.start, span.end);
    let mut posts = outermost(outline, parts, Mark::Article);
    posts.retain(|span| between(&links, span.start, span.end) * 100 < LINKS * size(span));
    posts.retain(|span| between(&sentences, span.start, span.end) * 2 > size(span));
    posts.sort_unstable_by_key(|span| span.start);
    let together: usize = posts.iter().map(size).sum();
    if posts.iter().any(|span| size(span) * 100 >= MOST * together) {
        return None;
    }
    let mut joined = around(outline, parts, title, "article", &posts)?;
    joined.keep_only(outline, &posts, "between the posts");
    Some(joined)
}

/// Maximum worth of a block in a part that does not belong to the article.
const NOT_OURS: f64 = -5.0;

/// Returns the element whose blocks have the most text that reads like an article, and the least that does not.
fn dense(outline: &Outline<'_>, parts: &[Part], title: &str) -> Option<Candidate> {
    let mut worth: Vec<f64> = outline.blocks.iter().map(worth).collect();
    let named = parts.iter().map(|part| (part.span.start, part.span.end));
    let excluded = covered(outline.blocks.len(), named.chain([(0, parts::before_main(outline))]));
    for (value, _) in worth.iter_mut().zip(&excluded).filter(|(_, excluded)| **excluded) {
        *value = value.min(NOT_OURS);
    }
    let mut sums = vec![0.0];
    for value in &worth {
        sums.push(sums.last().copied().unwrap_or(0.0) + value);
    }
    let score = |span: &Span| sums.get(span.end).zip(sums.get(span.start)).map_or(0.0, |(end, start)| end - start);
    let best = outline.spans.iter().max_by(|a, b| score(a).total_cmp(&score(b)).then(a.serial.cmp(&b.serial)))?;
    Some(Candidate::new(outline, parts, title, "density", *whole_list(outline, best, &score)))
}

/// Returns the element around the best one in which it is one of several, such as posts of a thread, or the best one.
fn whole_list<'o>(outline: &'o Outline<'_>, best: &'o Span, score: &impl Fn(&Span) -> f64) -> &'o Span {
    /// Share of the total worth of its siblings at which the best element is the article.
    const MOST: f64 = 0.6;
    let index: HashMap<usize, &Span> = outline.spans.iter().map(|span| (span.serial, span)).collect();
    let mut worth: HashMap<usize, f64> = HashMap::default();
    for span in &outline.spans {
        *worth.entry(span.parent).or_default() += score(span).max(0.0);
    }
    let (mut chosen, mut at) = (best, best);
    while let Some(parent) = index.get(&at.parent) {
        if score(best) < MOST * worth.get(&parent.serial).copied().unwrap_or(0.0) {
            chosen = parent;
        }
        at = parent;
    }
    chosen
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
