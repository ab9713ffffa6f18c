//! Errors, classified by what the caller does next.

use std::io::ErrorKind;
use tantivy::TantivyError;
use tantivy::directory::error::OpenReadError;

/// Result of reading or building a part of the index.
pub(crate) type Result<T, E = SearchError> = std::result::Result<T, E>;

/// Reasons why a split, a manifest or a search failed.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The bytes differ from what was written: fetch them again, or rebuild them from the segments.
    #[error("the {what} is damaged: {reason}")]
    Damaged {
        /// `split` or `manifest`.
        what: &'static str,
        /// Description of the damage.
        reason: String,
    },
    /// The bytes are intact, but this version cannot read their format: rebuild them.
    #[error("the {what} has form {found}, which this version does not read")]
    UnknownForm {
        /// `split` or `manifest`.
        what: &'static str,
        /// Format version found.
        found: u32,
    },
    /// Only the end of a split is present, and it is shorter than its tail: read `need` bytes from the end.
    #[error("the tail of the split has {need} bytes")]
    Short {
        /// Length of the tail in bytes.
        need: u64,
    },
    /// There is no record to build a split from: write nothing.
    #[error("there are no records to index")]
    Empty,
    /// A limit of the budget was exceeded: build several smaller splits.
    #[error("a split holds at most {limit} {unit}")]
    TooLarge {
        /// The limit.
        limit: u64,
        /// Unit of the limit.
        unit: &'static str,
    },
    /// The manifest no longer lists a split that was to be replaced: load it again and decide again.
    #[error("the manifest no longer lists the split {0}")]
    Stale(String),
    /// The engine failed; retrying with the same bytes will not help.
    #[error("the search engine failed")]
    Engine(#[from] tantivy::TantivyError),
}

impl SearchError {
    /// True if only a part of a split that is read by ranges is missing: see [`crate::Split::wanted`] and try again.
    pub fn is_not_here(&self) -> bool {
        let error = match self {
            SearchError::Engine(TantivyError::IoError(error)) => error,
            SearchError::Engine(TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. })) => io_error,
            _ => return false,
        };
        error.kind() == ErrorKind::WouldBlock
    }

    pub(crate) fn damaged_split(reason: impl Into<String>) -> SearchError {
        SearchError::Damaged { what: "split", reason: reason.into() }
    }
}

impl From<std::io::Error> for SearchError {
    fn from(error: std::io::Error) -> SearchError {
        SearchError::Engine(error.into())
    }
}
