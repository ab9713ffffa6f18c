//! Suggests the query that somebody may have meant.

use crate::error::Result;
use crate::hidden::Hidden;
use crate::query::Query;
use crate::run::{Request, Results, search};
use crate::split::Split;
use curlew_model::Timestamp;

/// Returns the query that may have been meant by an input for which [`search`] has found `found`, if it finds anything.
pub fn suggest(
    splits: &[&Split],
    hidden: &Hidden,
    text: &str,
    query: &Query,
    found: &Results,
    now: Timestamp,
) -> Result<Option<String>> {
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
    let Results { total, partial, .. } = search(splits, hidden, Request::new(&query, 0, now))?;
    Ok((total + partial > 0).then_some(meant))
}
