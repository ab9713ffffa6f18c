//! Finds the stems of splits that begin like a word, within a number of terms.

use crate::error::SearchError;
use crate::plan::Stem;
use crate::query::{BEGINNING, Query};
use crate::spelling::{Neighbour, STEMS, beginning_with, in_order};
use crate::split::Split;

/// Maximum number of beginnings of a query that are looked up.
const BEGINNINGS: usize = 4;

/// Returns the stems that begin with each beginning of a word in a query, with this beginning as typed.
pub(crate) fn beginnings(splits: &[&Split], query: &Query) -> Result<Vec<(String, Vec<Stem>)>, SearchError> {
    let clauses = query.wanted.iter().chain(&query.unwanted);
    let mut words: Vec<&String> = clauses.map(|clause| &clause.text).filter(|text| text.ends_with(BEGINNING)).collect();
    words.sort_unstable();
    words.dedup();
    words.truncate(BEGINNINGS);
    let look_up = |word: &String| beginning_with(splits, word.trim_end_matches(BEGINNING));
    // All are looked up before the first missing part of a split ends it, so that all parts become wanted at once.
    let found: Vec<Result<Vec<Neighbour>, SearchError>> = words.iter().map(|word| look_up(word)).collect();
    let found = found.into_iter().collect::<Result<Vec<Vec<Neighbour>>, SearchError>>()?;
    let stems = found.iter().map(|near| in_order(near).into_iter().take(STEMS).map(|near| near.stem).collect());
    Ok(words.into_iter().cloned().zip(stems).collect())
}
