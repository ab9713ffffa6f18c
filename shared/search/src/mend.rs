//! Finds what a word that no page has may have been meant to be: stems of the index that are like its own, and the
//! words behind them.
//!
//! The dictionary holds stems. The word behind a stem is looked up on a page that may be shown, so a word that occurred
//! only on deleted pages is never suggested.

use crate::analyze::{Analyzers, Mode};
use crate::error::SearchError;
use crate::leaf::{Answer, Ask, Leaf, PAGES_READ, SpelledPage, ask_each};
use crate::plan::{Plan, Stem, Typed};
use crate::spelling::{Neighbour, SHORTEST, in_order};
use crate::statistics::Statistics;
use std::collections::BTreeSet;

/// Length from which a word may have two wrong letters, in characters.
const LONG: usize = 8;
/// Maximum length of a word that is looked up, in characters.
const LONGEST: usize = 32;
/// Maximum number of stems that replace one word, and whose words are read.
const STAND_INS: usize = 3;
/// Maximum number of words of a query that are checked.
const DOUBTED: usize = 3;
/// Maximum number of bytes of terms that are compared with one word, over all splits: a few milliseconds.
const STEPS: usize = 60_000;

/// A word that no page has, and what it is taken for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mended {
    /// The word as typed.
    pub(crate) word: String,
    /// The word that is most like it.
    pub(crate) meant: String,
    /// The stems of words that are as much like it.
    pub(crate) stems: Vec<Stem>,
}

/// Returns what some words that no page has are taken for, in the languages of the query: those in which most of its
/// words are known, or nearly.
pub(crate) fn mend(
    leaves: &[&dyn Leaf],
    plan: &Plan,
    unknown: &[Typed],
    statistics: &Statistics,
    analyzers: &mut Analyzers,
) -> Result<Vec<Mended>, SearchError> {
    let languages: Vec<&String> = plan.languages.iter().map(|language| &language.rules).collect();
    let unsigned = unknown.iter().filter_map(|word| without_signs(&word.text, &languages, analyzers));
    let unsigned: Vec<Mended> = unsigned.collect();
    let steps = STEPS / leaves.iter().map(|leaf| leaf.splits().len()).sum::<usize>().max(1);
    let stems = unknown.iter().map(|word| (&word.text, stems_of(&word.text.to_lowercase(), &languages, analyzers)));
    let words: Vec<(&String, Vec<Stem>)> = stems.filter(|(_, stems)| !stems.is_empty()).take(DOUBTED).collect();
    let asks = words.iter().map(|(word, stems)| Ask::Similar { stems: stems.clone(), most: most_slips(word), steps });
    let asks: Vec<Ask> = asks.collect();
    let requests = asks.iter().flat_map(|ask| leaves.iter().map(|leaf| (*leaf, ask.clone())));
    let answers = ask_each(requests, |answer| match answer {
        Answer::Similar(near) => Some(near),
        _ => None,
    })?;
    let near = answers.chunks(leaves.len().max(1)).map(|near| in_order(near.iter().flatten()));
    let mut near: Vec<Vec<Neighbour>> = near.collect();
    let spoken = spoken(plan, statistics, &near);
    for near in &mut near {
        near.retain(|near| spoken.contains(near.stem.rules.as_str()));
        near.truncate(STAND_INS);
    }
    let typed = words.iter().zip(&near).flat_map(|((word, _), near)| near.iter().map(move |near| (near, *word)));
    let typed: Vec<(Stem, String)> = typed.map(|(near, word)| (near.stem.clone(), word.to_lowercase())).collect();
    let mut spelled = spelled(leaves, typed)?.into_iter();
    let mended = words.into_iter().zip(near).filter_map(|((word, _), near)| {
        let lower = word.to_lowercase();
        let spelled = spelled.by_ref().take(near.len());
        let like = near.into_iter().zip(spelled).filter_map(|(near, spelled)| {
            let (apart, other) = spelled?;
            // Two words of one stem may be inflected differently.
            let inflected = near.distance <= most_slips(word) && other.chars().next() == lower.chars().next();
            let is_like = 0 < apart && apart <= most_slips(word) + usize::from(inflected);
            is_like.then_some((apart, other, near.stem))
        });
        let mut like: Vec<(usize, String, Stem)> = like.collect();
        like.sort_by_key(|(apart, ..)| *apart);
        let (least, meant, _) = like.first()?;
        let stems = like.iter().filter(|(apart, ..)| apart == least).map(|(.., stem)| stem.clone());
        Some(Mended { word: word.clone(), meant: meant.clone(), stems: stems.collect() })
    });
    Ok(mended.chain(unsigned).collect())
}

/// Returns the word for one whose name has signs, such as `Disney+`.
fn without_signs(word: &str, languages: &[&String], analyzers: &mut Analyzers) -> Option<Mended> {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    let is_signed = bare != word && !bare.is_empty() && bare.chars().all(char::is_alphanumeric);
    let stems = is_signed.then(|| stems_in(bare, languages, analyzers))?;
    Some(Mended { word: word.to_owned(), meant: bare.to_owned(), stems })
}

/// Returns the languages in which the most words of a plan are known, are stop words, or have neighbours.
fn spoken<'a>(plan: &'a Plan, statistics: &Statistics, near: &[Vec<Neighbour>]) -> BTreeSet<&'a str> {
    let words = plan.languages.iter().enumerate().map(|(number, language)| {
        let rules = language.rules.as_str();
        let known = plan.units.iter().filter(|unit| unit.written[number].is_known(statistics)).count();
        let nearly = near.iter().filter(|near| near.iter().any(|near| near.stem.rules == rules)).count();
        (rules, known + nearly + language.own_stop_words.count())
    });
    let words: Vec<(&str, usize)> = words.collect();
    let most = words.iter().map(|(_, count)| *count).max();
    words.into_iter().filter(|(_, count)| Some(*count) == most).map(|(rules, _)| rules).collect()
}

/// Returns the stems of a word that may be mistyped, in some languages; nothing for words of unsuitable length.
fn stems_of(word: &str, languages: &[&String], analyzers: &mut Analyzers) -> Vec<Stem> {
    if !(SHORTEST..=LONGEST).contains(&word.chars().count()) || !word.chars().all(char::is_alphabetic) {
        return Vec::new();
    }
    stems_in(word, languages, analyzers)
}

fn stems_in(word: &str, languages: &[&String], analyzers: &mut Analyzers) -> Vec<Stem> {
    let mut stems = Vec::new();
    for rules in languages {
        let words = analyzers.of(rules).words(word, Mode::Query);
        let [only] = words.as_slice() else { return Vec::new() };
        let forms = [Some(only.form.clone()), only.other.clone()].into_iter().flatten();
        stems.extend(forms.map(|form| Stem { rules: (*rules).clone(), form }));
    }
    stems
}

/// Returns the maximum number of typos in a word.
fn most_slips(word: &str) -> usize {
    if word.chars().count() < LONG { 1 } else { 2 }
}

/// Returns for each stem the word with it that is most similar to another word, from the first pages that may be shown,
/// and its distance.
fn spelled(leaves: &[&dyn Leaf], stems: Vec<(Stem, String)>) -> Result<Vec<Option<(usize, String)>>, SearchError> {
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
        words.min_by_key(|(apart, _)| *apart).cloned()
    });
    Ok(best.collect())
}
