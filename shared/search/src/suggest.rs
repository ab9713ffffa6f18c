//! Suggests the query that somebody may have meant.

use crate::error::SearchError;
use crate::leaf::Leaf;
use crate::query::Query;
use crate::run::{Request, Results, search_leaves};
use curlew_model::Timestamp;

/// Returns the query that may have been meant, if it finds anything; `text` is the input of
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
    if found.partial > 0 {
        return Ok(Some(meant));
    }
    let (query, _) = Query::read(&meant);
    let Results { total, partial, .. } = search_leaves(leaves, Request::new(&query, 0, now))?;
    Ok((total + partial > 0).then_some(meant))
}
