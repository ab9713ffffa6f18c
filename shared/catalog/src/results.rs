//! Results of a query, for people and for programs.

use curlew_model::{QueryError, ThumbnailId, Timestamp, Year};
use curlew_policy::page::offer::Withheld;
use curlew_ports::PortError;
use curlew_search::Explanation;
pub use curlew_search::{Query, SiteEntry, SiteProfile};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;
use std::ops::Range;

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

/// A result of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Hit")]
pub struct SearchHit {
    /// The page's URL.
    #[schemars(extend("format" = "uri"))]
    pub url: String,
    /// Title of the page.
    pub title: String,
    /// An excerpt of its text, plain.
    pub snippet: String,
    /// Byte ranges of the snippet that match the query.
    #[serde(skip)]
    pub marks: Vec<Range<usize>>,
    /// The main image's URL.
    #[schemars(extend("format" = "uri"))]
    pub image: Option<String>,
    /// The thumbnail, if one was made.
    #[serde(skip)]
    pub thumbnail: Option<ThumbnailId>,
    /// The site's name.
    pub site: String,
    /// The author's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The categories that the feed gave it, as its author wrote them; `tag:` finds them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// URL of the feed that named the page.
    #[serde(skip)]
    pub feed: Option<String>,
    /// Time of publication.
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub published: Option<Timestamp>,
    /// The date by which it is filtered and sorted: that of publication, or the time of the fetch if the page states
    /// none or a later one.
    #[serde(skip)]
    pub date: Timestamp,
    /// False if it lacks words of the query; programs see this field only then.
    #[serde(skip_serializing_if = "is_true")]
    pub all_words: bool,
    /// Words of the query that the page lacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Explanation of its score, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub explanation: Option<Explanation>,
    /// Language of the page, as the page declares it.
    #[serde(skip)]
    pub language: Option<String>,
    /// Relevance score; comparable only within one answer.
    pub score: f32,
    /// Number of later pages with the same content, which are not shown.
    #[serde(skip_serializing_if = "is_zero")]
    pub copies: u32,
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
    /// Nothing of the query can be understood.
    #[error(transparent)]
    BadQuery(QueryError),
    /// The index cannot be reached.
    #[error(transparent)]
    Port(#[from] PortError),
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_true(flag: &bool) -> bool {
    *flag
}

fn is_zero<N: Default + PartialEq>(n: &N) -> bool {
    *n == N::default()
}

fn as_sentences<S: Serializer>(notes: &[QueryError], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(notes.iter().map(ToString::to_string))
}
