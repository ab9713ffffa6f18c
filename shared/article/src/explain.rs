//! Explains the extraction of a page, for a site's owner with `curlew check page --explain`.

use crate::candidates::candidate::Ranking;
use crate::choose::body::Body;
use crate::learned::{self, features::is_kept};
use crate::read::outline::Outline;
use std::borrow::Cow;

/// Explanation of how a page was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// Every candidate for the text, in the order in which the extractors ran.
    pub candidates: Vec<ScoredCandidate>,
    /// Every line of the page's body in document order, with the reason why the chosen candidate leaves it out.
    pub lines: Vec<Line>,
    /// Source of the main image: the name of a meta tag, `jsonld`, `microdata`, `image_src`, or `body` (of the text).
    pub image_by: Option<&'static str>,
    /// Source of the canonical URL: `link`, `og:url`, `jsonld`, `twitter:url` or `microdata`.
    pub canonical_by: Option<&'static str>,
}

/// One candidate for the text, and the factors of its score.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredCandidate {
    /// Name of the rule: `microdata`, `content` (a class name of WordPress and the like), `article`, `main`, `density`.
    pub from: &'static str,
    /// Number of characters that it keeps, without white space.
    pub chars: usize,
    /// Share of them inside links, from 0 to 1.
    pub links: f64,
    /// Agreement of the other extractors, from 0 to 1.
    pub agreement: f64,
    /// Prior of the extractor, independent of the page, from 0 to 1.
    pub prior: f64,
    /// Total score, by which the choice was made.
    pub score: f64,
    /// True if its text was taken.
    pub chosen: bool,
    /// Lines that it keeps, as indexes into [`Explanation::lines`]; empty if it did not choose among them.
    pub lines: Vec<usize>,
}

/// A line of the page's body.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Text of the block.
    pub text: String,
    /// Kind of element that contains it: `paragraph`, `heading`, `item`, `cell`, `quote`, `code` or `other`.
    pub kind: &'static str,
    /// Share of its characters inside links, from 0 to 1.
    pub links: f64,
    /// Reason why it is left out; `None` if it is part of the text.
    pub left_out: Option<Cow<'static, str>>,
}

impl Explanation {
    pub(crate) fn new(outline: &Outline<'_>, body: &Body, weighed: &Ranking) -> Explanation {
        let chosen = weighed.chosen();
        let learned = body.learned.as_ref().map(|answer| (answer, learned::reasons(&body.table, &answer.scores)));
        let by_rules = |at: usize| match chosen {
            Some(chosen) if (chosen.span.start..chosen.span.end).contains(&at) => {
                chosen.left.get(at - chosen.span.start).copied().flatten()
            }
            _ => Some("outside of the article"),
        };
        let weighed_candidates = weighed.candidates.iter().zip(&weighed.weights).enumerate();
        let candidates = weighed_candidates.map(|(at, (candidate, weight))| ScoredCandidate {
            from: candidate.from,
            chars: candidate.chars,
            links: candidate.links(),
            agreement: weight.agreement,
            prior: weight.prior,
            score: weight.score,
            chosen: learned.is_none() && weighed.best == Some(at),
            lines: candidate.kept(outline).map(|(at, _)| at).collect(),
        });
        let lines = outline.blocks.iter().enumerate().map(|(at, block)| Line {
            text: block.text.clone(),
            kind: block.tag.name(),
            links: block.links(),
            left_out: match &learned {
                None => by_rules(at).map(Cow::from),
                Some((answer, _)) if is_kept(Some(&answer.candidate), at) => None,
                Some((_, reasons)) => Some(reasons.get(at).cloned().unwrap_or_default().into()),
            },
        });
        Explanation { candidates: candidates.collect(), lines: lines.collect(), ..Explanation::default() }
    }
}
