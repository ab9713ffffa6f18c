//! A query as it is asked of splits.

use curlew_model::Timestamp;
use curlew_search::{Cursor, Leaf, Query, Request, Results, SearchError, search_leaves, suggest};

/// A query with its options.
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) query: Query,
    pub(crate) after: Option<Cursor>,
    pub(crate) now: Timestamp,
    pub(crate) offset: usize,
    pub(crate) limit: usize,
    pub(crate) explain: bool,
}

/// Results, and the query that may have been meant.
pub(crate) type Answered = (Results, Option<String>);

impl Question {
    /// Searches what leaves have, as far as they have answered.
    pub(crate) fn look(&self, leaves: &[&dyn Leaf]) -> Result<Answered, SearchError> {
        let Question { text, query, after, now, offset, limit, explain } = self;
        let after = after.as_ref();
        let request = Request { offset: *offset, after, explain: *explain, ..Request::new(query, *limit, *now) };
        let results = search_leaves(leaves, request)?;
        let suggestion = suggest(leaves, (text, query), &results, *now)?;
        Ok((results, suggestion))
    }
}
