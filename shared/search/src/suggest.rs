//! Suggests the query that somebody may have meant.
//!
//! The dictionary holds stems. The word behind a stem is looked up on a page that may be shown, so a word that occurred
//! only on deleted pages is never suggested.

use crate::analyze::Analyzers;
use crate::error::SearchError;
use crate::hidden::Hidden;
use crate::leaf::{Answer, Ask, Leaf, OpenLeaf, PAGES_READ, SpelledPage, ask_each};
use crate::plan::Stem;
use crate::query::{Clause, Query};
use crate::run::{Request, Results, counted, languages_of, search_leaves, similar};
use crate::spelling::{DOUBTED, most_slips, stems_of};
use crate::split::Split;
use crate::statistics::Statistics;
use curlew_model::Timestamp;
use std::collections::BTreeSet;
use strsim::osa_distance as distance;

/// Number of pages from which a word counts as spelled as intended.
const KNOWN_FROM: u64 = 3;
/// Minimum ratio of pages with the other word to pages with the typed word, for a suggestion.
const MORE_BY: u64 = 20;
/// Maximum number of similar stems that are examined closely.
const CLOSE_LOOKS: usize = 6;
/// Number of results from which nobody needs a suggestion.
const ENOUGH: u64 = 3;

/// Returns the query that may have been meant, if it finds more than the original; `text` is the input of
/// [`Query::read`], and `found` the results of that query.
///
/// # Errors
/// If a split cannot be read.
pub fn suggest(
    splits: &[&Split],
    hidden: &Hidden,
    (text, query): (&str, &Query),
    found: &Results,
    now: Timestamp,
) -> Result<Option<String>, SearchError> {
    let leaf = OpenLeaf::new(splits.iter().copied().enumerate(), hidden);
    suggest_leaves(&[&leaf], (text, query), found, now)
}

/// As [`suggest`], over the splits of some leaves.
///
/// # Errors
/// If a leaf has not answered yet, or cannot read its splits.
pub fn suggest_leaves(
    leaves: &[&dyn Leaf],
    (text, query): (&str, &Query),
    found: &Results,
    now: Timestamp,
) -> Result<Option<String>, SearchError> {
    if found.total >= ENOUGH {
        return Ok(None);
    }
    let mut meant = String::new();
    let mut done = 0;
    for (clause, word) in words_meant(leaves, query, found)? {
        let Some(before) = text.get(done..clause.at.start) else { continue };
        meant.push_str(before);
        meant.push_str(&word);
        done = clause.at.end;
    }
    if done == 0 {
        return Ok(None);
    }
    meant.push_str(text.get(done..).unwrap_or_default());
    let (query, _) = Query::read(&meant);
    let Results { total, partial, unknown, .. } = search_leaves(leaves, Request::new(&query, 0, now))?;
    let is_better = total > found.total || (found.total == 0 && partial > 0 && unknown.is_empty());
    Ok(is_better.then_some(meant))
}

/// A clause of one word that few pages have.
struct Doubted<'a> {
    clause: &'a Clause,
    /// In lower case.
    word: String,
    /// Number of pages that have it.
    known: u64,
}

/// Returns clauses with the words that were meant by them.
fn words_meant<'a>(
    leaves: &[&dyn Leaf],
    query: &'a Query,
    found: &Results,
) -> Result<Vec<(&'a Clause, String)>, SearchError> {
    let (mut analyzers, languages) = (Analyzers::default(), languages_of(leaves, query));
    let clauses = query.wanted.iter().map(|clause| {
        let word = clause.text.to_lowercase();
        let stems: Vec<String> = stems_of(&word, &languages, &mut analyzers).iter().map(Stem::text).collect();
        (clause, word, stems)
    });
    let clauses: Vec<(&Clause, String, Vec<String>)> = clauses.filter(|(_, _, stems)| !stems.is_empty()).collect();
    // The search has looked up most of them already.
    let terms =
        clauses.iter().flat_map(|(_, _, stems)| stems).filter(|term| found.statistics.pages_with(term).is_none());
    let terms: BTreeSet<String> = terms.cloned().collect();
    let further = match terms.is_empty() {
        true => Statistics::default(),
        false => counted(leaves, &terms.into_iter().collect::<Vec<String>>(), None)?,
    };
    let counted = further.with_terms_of(found.statistics.clone());
    let clauses = clauses.into_iter().map(|(clause, word, stems)| {
        let known = stems.iter().filter_map(|stem| counted.pages_with(stem)).max().unwrap_or_default();
        Doubted { clause, word, known }
    });
    let doubted: Vec<Doubted<'_>> = clauses.filter(|doubted| doubted.known < KNOWN_FROM).take(DOUBTED).collect();

    let words = doubted.iter().map(|doubted| &doubted.word).filter(|word| !found.neighbours.contains_key(*word));
    let looked_up = similar(leaves, words.cloned(), &languages, &mut analyzers)?;
    let near = doubted.iter().map(|Doubted { word, known, .. }| {
        let near = found.neighbours.get(word).or_else(|| looked_up.get(word)).into_iter().flatten();
        let common = near.filter(|other| other.pages > known.saturating_mul(MORE_BY));
        common.take(CLOSE_LOOKS).map(|other| (other.stem.clone(), word.clone())).collect()
    });
    let near: Vec<Vec<(Stem, String)>> = near.collect();
    let mut spelled = spelled(leaves, near.concat())?.into_iter();
    let meant = doubted.into_iter().zip(near).filter_map(|(Doubted { clause, word, .. }, near)| {
        // One more than for the stem, since the two words may be inflected differently.
        let most = most_slips(&word) + 1;
        let found = spelled.by_ref().take(near.len()).flatten().filter(|found| *found != word);
        let found = found.map(|found| (distance(&word, &found), found)).filter(|(apart, _)| *apart <= most);
        let (_, best) = found.min_by_key(|(apart, _)| *apart)?;
        Some((clause, best))
    });
    Ok(meant.collect())
}

/// Returns for each stem the word with it that is most similar to another word, from the first pages that may be shown.
fn spelled(leaves: &[&dyn Leaf], stems: Vec<(Stem, String)>) -> Result<Vec<Option<String>>, SearchError> {
    if stems.is_empty() {
        return Ok(Vec::new());
    }
    let requests = leaves.iter().map(|leaf| (*leaf, Ask::Spell { stems: stems.clone() }));
    let answers = ask_each(requests, |answer| match answer {
        Answer::Spelled(words) => Some(words),
        _ => None,
    })?;
    let best = (0..stems.len()).map(|at| {
        let mut pages: Vec<&SpelledPage> = answers.iter().filter_map(|of| of.get(at)).flatten().collect();
        pages.sort_by_key(|(split, _)| *split);
        let words = pages.into_iter().take(PAGES_READ).filter_map(|(_, word)| word.as_ref());
        words.min_by_key(|(apart, _)| *apart).map(|(_, word)| word.clone())
    });
    Ok(best.collect())
}
