//! A query as it is asked of splits.

use curlew_model::{PageId, Timestamp};
use curlew_policy::address::{canonical, current_version, page_id, parse};
use curlew_search::{Cursor, Hidden, Query, Request, Results, SearchError, Split, search, suggest};
use std::collections::BTreeSet;

/// Returns the pages of a pasted address: either scheme, with and without a last slash; none if it is no address.
pub(crate) fn pages_at(text: &str) -> BTreeSet<PageId> {
    let text = text.trim();
    let is_web = |scheme: &str| scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
    let rest = text.split_once("://").filter(|(scheme, _)| is_web(scheme)).map(|(_, rest)| rest);
    // Without a scheme a host alone may be a word, such as `node.js`.
    let rest = rest.or_else(|| {
        Some(text).filter(|text| text.contains('/') && text.split('/').next().is_some_and(|host| host.contains('.')))
    });
    let Some(rest) = rest.filter(|rest| !rest.contains(char::is_whitespace)) else { return BTreeSet::new() };
    let mut pages = BTreeSet::new();
    for scheme in ["https", "http"] {
        let Ok(mut url) = parse(&format!("{scheme}://{rest}"), None).map(|url| current_version(&url)) else { continue };
        let path = url.path().trim_end_matches('/').to_owned();
        for path in [format!("{path}/"), path] {
            url.set_path(&path);
            pages.insert(page_id(&canonical(&url)));
        }
    }
    pages
}

pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) query: Query,
    pub(crate) after: Option<Cursor>,
    pub(crate) now: Timestamp,
    pub(crate) offset: usize,
    pub(crate) limit: usize,
    pub(crate) explain: bool,
    pub(crate) with_records: bool,
}

pub(crate) type Answered = (Results, Option<String>);

impl Question {
    pub(crate) fn look(&self, splits: &[&Split], hidden: &Hidden) -> Result<Answered, SearchError> {
        let Question { text, query, after, now, offset, limit, explain, with_records } = self;
        let after = after.as_ref();
        let (explain, with_records) = (*explain, *with_records);
        let request = Request { offset: *offset, after, explain, with_records, ..Request::new(query, *limit, *now) };
        let results = search(splits, hidden, request)?;
        let suggestion = suggest(splits, hidden, text, query, &results, *now)?;
        Ok((results, suggestion))
    }
}
