//! Finds the stems of splits that begin like a word, within a number of terms.

use crate::error::SearchError;
use crate::leaf::{Answer, Ask, Leaf, ask_each};
use crate::plan::Stem;
use crate::query::{BEGINNING, Query};
use crate::spelling::{STEMS, in_order};

/// Maximum number of beginnings of a query that are looked up.
const BEGINNINGS: usize = 4;

/// Returns the stems that begin with each beginning of a word in a query, with this beginning as typed.
pub(crate) fn beginnings(leaves: &[&dyn Leaf], query: &Query) -> Result<Vec<(String, Vec<Stem>)>, SearchError> {
    let clauses = query.wanted.iter().chain(&query.unwanted);
    let mut words: Vec<&String> = clauses.map(|clause| &clause.text).filter(|text| text.ends_with(BEGINNING)).collect();
    words.sort_unstable();
    words.dedup();
    words.truncate(BEGINNINGS);
    let ask = |word: &str| Ask::Beginning { with: word.trim_end_matches(BEGINNING).to_owned() };
    let requests = words.iter().flat_map(|word| leaves.iter().map(|leaf| (*leaf, ask(word))));
    let answers = ask_each(requests, |answer| match answer {
        Answer::Similar(near) => Some(near),
        _ => None,
    })?;
    let stems = answers.chunks(leaves.len().max(1)).map(|near| in_order(near.iter().flatten()));
    let stems = stems.map(|near| near.into_iter().take(STEMS).map(|near| near.stem).collect());
    Ok(words.into_iter().cloned().zip(stems).collect())
}
