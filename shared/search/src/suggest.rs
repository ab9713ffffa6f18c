//! Suggests the query that somebody may have meant.

use crate::error::SearchError;
use crate::leaf::Leaf;
use crate::query::Query;
use crate::run::{Request, Results, search_leaves};
use curlew_model::Timestamp;

/// Number of results from which nobody needs a suggestion.
const ENOUGH: u64 = 3;

/// Returns the query that may have been meant, if it finds more than the original; `text` is the input of
/// [`Query::read`], and `found` what [`search_leaves`] has found for it.
///
/// # Errors
/// If a leaf has not answered yet, or cannot read its splits.
pub fn suggest(
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
    for clause in &query.wanted {
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
    let (query, _) = Query::read(&meant);
    let Results { total, partial, unknown, .. } = search_leaves(leaves, Request::new(&query, 0, now))?;
    let is_better = total > found.total || (found.total == 0 && partial > 0 && unknown.is_empty());
    Ok(is_better.then_some(meant))
}
