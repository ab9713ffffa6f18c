//! Results of a query, as they are given to people and to programs.

use curlew_model::{QueryError, ThumbnailId, Timestamp};
use curlew_ports::PortError;
use serde::{Serialize, Serializer};
use std::ops::Range;

/// Where a page of results begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start<'a> {
    /// After so many hits.
    Offset(usize),
    /// After the page that gave this as [`SearchResults::next`]. One of another query, of another secret, or one that is damaged is
    /// [`QueryError::Cursor`].
    After(&'a str),
}

/// A page of results.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SearchResults {
    /// The number of pages with all words; pages that say the same count as one, and only one of them is given.
    pub total: u64,
    /// The number of pages with only some of the words. They come behind the others, unless they are mixed.
    #[serde(skip_serializing_if = "is_zero")]
    pub partial: u64,
    /// True if the query is a sentence: then pages with all words and pages with some stand among each other.
    #[serde(skip)]
    pub is_mixed: bool,
    /// Words of the query that are in no page at all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// The number of further pages with all words that say the same as one that is counted.
    #[serde(skip_serializing_if = "is_zero")]
    pub copies: u64,
    /// The hits of this page.
    pub hits: Vec<SearchHit>,
    /// Hits on the pages before this one.
    #[serde(skip)]
    pub before: u64,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The query as it may have been meant, if that finds more; plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// What of the query was left out, and why; for programs a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_sentences")]
    pub notes: Vec<QueryError>,
}

/// One result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SearchHit {
    /// The page's URL.
    pub url: String,
    /// Its title.
    pub title: String,
    /// A piece of its text, plain.
    pub snippet: String,
    /// Byte ranges of the snippet that match the query.
    #[serde(skip)]
    pub marks: Vec<Range<usize>>,
    /// The main image's URL.
    pub image: Option<String>,
    /// The thumbnail, if one was made.
    #[serde(skip)]
    pub thumbnail: Option<ThumbnailId>,
    /// The site's name.
    pub site: String,
    /// When it was published.
    pub published: Option<Timestamp>,
    /// False if it lacks words of the query; programs are told only then.
    #[serde(skip_serializing_if = "is_true")]
    pub all_words: bool,
    /// Words of the query that it does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// How its score came about, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// Its language, as its page gives it.
    #[serde(skip)]
    pub language: Option<String>,
    /// How well it matches; only to be compared within one answer.
    pub score: f32,
    /// Later pages that say the same and are not shown.
    #[serde(skip_serializing_if = "is_zero")]
    pub copies: u32,
}

/// How the score of a result came about: it is the sum of the words' times both factors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Words and phrases of the query, and what each adds; zero if the page does not have it.
    pub words: Vec<(String, f32)>,
    /// The factor for words that stand near each other.
    pub proximity: f32,
    /// The factor for what is new.
    pub freshness: f32,
}

/// Why there are no results.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// Nothing of the query can be understood.
    #[error(transparent)]
    BadQuery(QueryError),
    /// The index is out of reach.
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
