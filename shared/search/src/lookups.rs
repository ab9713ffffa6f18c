//! Looks up words of a query by their spelling: words with a given beginning, stand-ins for words that no page has, and
//! the query that the user may have meant.

use crate::analyze::{Analyzers, Mode, compared};
use crate::error::Result;
use crate::hidden::Hidden;
use crate::open_splits::OpenSplits;
use crate::plan::{Plan, Stem, Typed};
use crate::query::{BEGINNING, Query};
use crate::run::{Request, Results, search};
use crate::spelling::{STEMS, Spelling, beginning_with, in_order, similar_words};
use crate::split::Split;
use crate::statistics::Statistics;
use std::collections::BTreeSet;

/// Maximum number of beginnings of a query that are looked up.
const BEGINNINGS: usize = 4;
const STAND_INS: usize = 3;
/// Maximum number of words of a query that are checked.
const DOUBTED: usize = 3;
/// Maximum number of bytes of terms that are compared with one word, over all splits: a few milliseconds.
const STEPS: usize = 60_000;

/// A word that no page has, and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mended {
    pub(crate) word: String,
    pub(crate) meant: String,
    /// The stems of the words that are equally similar to it.
    pub(crate) stems: Vec<Stem>,
}

/// Returns each beginning of a word in a query, as typed, with the stems of the words that start with it.
pub(crate) fn beginnings(
    splits: &[&Split],
    query: &Query,
    analyzers: &mut Analyzers,
) -> Result<Vec<(String, Vec<Stem>)>> {
    let clauses = query.wanted.iter().chain(&query.unwanted);
    let mut words: Vec<&String> = clauses.map(|clause| &clause.text).filter(|text| text.ends_with(BEGINNING)).collect();
    words.sort_unstable();
    words.dedup();
    words.truncate(BEGINNINGS);
    let found =
        look_up_each(&words, |word| beginning_with(splits, word.trim_end_matches(BEGINNING), analyzers))?.into_iter();
    let stems = found.map(|found| found.into_iter().take(STEMS).map(|found| found.stem).collect());
    Ok(words.into_iter().cloned().zip(stems).collect())
}

/// Returns replacements for unknown words, in the languages in which most words of the query are (nearly) known.
pub(crate) fn mend(
    open: &OpenSplits<'_>,
    plan: &Plan,
    unknown: &[Typed],
    statistics: &Statistics,
    analyzers: &mut Analyzers,
) -> Result<Vec<Mended>> {
    let languages: BTreeSet<String> = plan.languages.iter().map(|language| language.rules.clone()).collect();
    let mut mended: Vec<Mended> =
        unknown.iter().filter_map(|word| without_signs(&word.text, &languages, analyzers)).collect();
    let steps = STEPS / open.splits.len().max(1);
    let doubted: Vec<&String> =
        unknown.iter().map(|word| &word.text).filter(|text| compared(text).is_some()).take(DOUBTED).collect();
    let mut like =
        look_up_each(&doubted, |word| similar_words(&open.splits, open.hidden, word, &languages, steps, analyzers))?;
    let spoken = spoken(plan, statistics, &like);
    for (word, like) in doubted.into_iter().zip(&mut like) {
        like.retain(|like| spoken.contains(like.stem.rules.as_str()));
        let Some(Spelling { word: meant, distance: least, .. }) = like.first().cloned() else { continue };
        let stems = like.iter().take_while(|like| like.distance == least).take(STAND_INS);
        mended.push(Mended { word: word.clone(), meant, stems: stems.map(|like| like.stem.clone()).collect() });
    }
    Ok(mended)
}

/// Looks up all words before it returns an error, so that all missing parts of splits become wanted at once.
fn look_up_each(
    words: &[&String],
    mut look_up: impl FnMut(&str) -> Result<Vec<Spelling>>,
) -> Result<Vec<Vec<Spelling>>> {
    let found: Vec<Result<Vec<Spelling>>> = words.iter().map(|word| look_up(word)).collect();
    found.into_iter().map(|found| found.map(in_order)).collect()
}

/// Returns a replacement without signs for a word such as `Disney+`, if it has signs.
fn without_signs(word: &str, languages: &BTreeSet<String>, analyzers: &mut Analyzers) -> Option<Mended> {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    if bare == word || bare.is_empty() || !bare.chars().all(char::is_alphanumeric) {
        return None;
    }
    let mut stems = Vec::new();
    for rules in languages {
        let words = analyzers.for_language(rules).words(bare, Mode::Query);
        stems.extend(words.into_iter().map(|word| Stem { rules: rules.clone(), form: word.form }));
    }
    Some(Mended { word: word.to_owned(), meant: bare.to_owned(), stems })
}

/// Returns the languages in which the most words of a plan are known, are stop words, or resemble known words.
fn spoken<'a>(plan: &'a Plan, statistics: &Statistics, like: &[Vec<Spelling>]) -> BTreeSet<&'a str> {
    let words = plan.languages.iter().enumerate().map(|(number, language)| {
        let rules = language.rules.as_str();
        let known = plan.units.iter().filter(|unit| unit.written[number].is_known(statistics)).count();
        let nearly = like.iter().filter(|like| like.iter().any(|like| like.stem.rules == rules)).count();
        (rules, known + nearly + language.own_stop_words.count())
    });
    let words: Vec<(&str, usize)> = words.collect();
    let most = words.iter().map(|(_, count)| *count).max();
    words.into_iter().filter(|(_, count)| Some(*count) == most).map(|(rules, _)| rules).collect()
}

/// Returns the query that the user may have meant by `text`, for which [`search`] found `found`, if it finds anything.
pub fn suggest(
    splits: &[&Split],
    hidden: &Hidden,
    text: &str,
    request: &Request,
    found: &Results,
) -> Result<Option<String>> {
    let mut meant = String::new();
    let mut done = 0;
    for clause in &request.query.wanted {
        let word = clause.text.to_lowercase();
        let mended = found.mended.iter().find(|mended| mended.word.to_lowercase() == word);
        let (Some(mended), Some(before)) = (mended, text.get(done..clause.at.start)) else { continue };
        meant.push_str(before);
        meant.push_str(&mended.meant);
        done = clause.at.end;
    }
    if done == 0 {
        return Ok(None);
    }
    meant.push_str(text.get(done..).unwrap_or_default());
    if found.partial > 0 {
        return Ok(Some(meant));
    }
    let request = Request::new(Query::read(&meant).0, 0, request.now);
    let Results { total, partial, .. } = search(splits, hidden, &request)?;
    Ok((total + partial > 0).then_some(meant))
}
