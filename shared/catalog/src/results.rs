//! Results of a query, for people and for programs.

use curlew_model::{QueryError, Year};
use curlew_policy::page::offer::Withheld;
use curlew_ports::PortError;
pub use curlew_search::{Query, SearchHit, SiteEntry, SiteProfile};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;

/// Position at which a page of results begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start<'a> {
    /// After this number of hits.
    Offset(usize),
    /// After the page that gave this as [`SearchResults::next`]. A cursor that is damaged, or was made for another
    /// query or with another secret, gives [`QueryError::Cursor`].
    After(&'a str),
}

/// A page of results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SearchResults {
    /// Number of pages that contain all words. Pages with the same content count as one, and only one of them is given.
    pub total: u64,
    /// Number of pages that contain only some of the words.
    #[serde(skip_serializing_if = "is_zero")]
    pub partial: u64,
    /// Number of pages that were not searched, since a part of the index has a format that this version cannot
    /// read. Their pages are missing from the hits and from all numbers.
    #[serde(skip_serializing_if = "is_zero")]
    pub unsearched: u64,
    /// Years whose pages were not searched either, and are not counted in `unsearched`, since this
    /// version cannot read the list of their splits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unsearched_years: Vec<Year>,
    /// Words of the query that occur in no page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// Number of further pages with all words whose content is that of a counted page.
    #[serde(skip_serializing_if = "is_zero")]
    pub copies: u64,
    /// The hits of this page.
    pub hits: Vec<SearchHit>,
    /// Hosts of these hits that have further results on other pages.
    #[serde(skip)]
    pub more_of: BTreeSet<String>,
    /// Number of hits on the pages before this one.
    #[serde(skip)]
    pub before: u64,
    /// Cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// A corrected query, if it finds more; plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// Parts of the query that were left out, with the reason; one sentence each for programs.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_sentences")]
    #[schemars(with = "Vec<String>")]
    pub notes: Vec<QueryError>,
}

/// An indexed page with its text.
#[derive(Clone, Debug, PartialEq)]
pub struct PageText {
    /// The page as a search finds it.
    pub hit: SearchHit,
    /// Its text, or the reason why its site withholds it.
    pub text: Result<String, Withheld>,
}

/// Reasons why there are no results.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// No part of the query can be understood, or the cursor is not the query's.
    #[error(transparent)]
    BadQuery(QueryError),
    /// The index cannot be reached.
    #[error(transparent)]
    Port(#[from] PortError),
}

fn is_zero<N: Default + PartialEq>(n: &N) -> bool {
    *n == N::default()
}

fn as_sentences<S: Serializer>(notes: &[QueryError], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(notes.iter().map(ToString::to_string))
}
