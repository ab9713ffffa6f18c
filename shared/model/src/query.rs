//! Errors of a query.

use std::fmt;

/// Maximum length of a query in bytes.
pub const MAX_QUERY_BYTES: usize = 8 * 1024;
/// Maximum number of words (including those in phrases) and filters together.
pub const MAX_QUERY_TERMS: usize = 256;

/// Reason why part of a query, or all of it, was left out. It is displayed as an English sentence for the person who
/// typed it; localized messages are made from the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryError {
    /// Nothing to search for.
    Empty,
    /// Longer than [`MAX_QUERY_BYTES`].
    TooLong {
        /// Length of the query in bytes.
        bytes: usize,
    },
    /// More terms than [`MAX_QUERY_TERMS`].
    TooManyTerms,
    /// `NOT` in capitals between words; it was read as a `-`.
    Not,
    /// `AND` or `OR` in capitals between words; it was left out.
    Boolean(String),
    /// A `*` anywhere but after the beginning of a word, or after too short a one.
    Wildcard(String),
    /// `title:` without a word.
    Title(String),
    /// `tag:` or `in:`, by its name, without a word.
    Label(String),
    /// Only words that pages must not have.
    OnlyExcluded,
    /// `author:` without a name.
    Author(String),
    /// `site:` without a host name.
    Site(String),
    /// `lang:` without a language.
    Language(String),
    /// `before:` or `after:` without a day.
    Date(String),
    /// `sort:` with an unknown order.
    Order(String),
    /// An unknown filter name before a `:`; it was searched for as a word.
    Filter(String),
    /// `after:` with a day that is not before that of `before:`.
    NoDays,
    /// A word or a phrase that is on so many pages that at least a part of it was not looked for.
    TooCommon(String),
    /// A cursor of another query or of another site, or a damaged one.
    Cursor,
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueryError::Empty => f.write_str("Type at least one word to look for."),
            QueryError::TooLong { bytes } => {
                write!(f, "The query is too long: it has {bytes} bytes, and only the first {MAX_QUERY_BYTES} are read.")
            }
            QueryError::TooManyTerms => {
                write!(f, "The query has too many words: only the first {MAX_QUERY_TERMS} words and filters are read.")
            }
            QueryError::Not => f.write_str(
                "NOT was read as in -word: pages with the word after it are left out; to look for 'not' itself, write it in small letters or in quotation marks.",
            ),
            QueryError::Boolean(typed) => {
                write!(
                    f,
                    "{typed} between words is not supported and was left out: pages with all of the words rank higher; write +word for one that pages must have."
                )
            }
            QueryError::Wildcard(typed) => {
                write!(f, "'{typed}' was left out: a * stands after at least three letters of a word, as in tid*.")
            }
            QueryError::Title(typed) => {
                write!(f, "'{typed}' is not a word; write for example title:tide or title:\"low tide\".")
            }
            QueryError::Label(name) => {
                write!(f, "{name}: has no name; write for example {name}:birds or {name}:\"sea birds\".")
            }
            QueryError::OnlyExcluded => f.write_str(
                "The query only says what pages must not have; add at least one word that they should have.",
            ),
            QueryError::Author(typed) => {
                write!(f, "'{typed}' is not a name; write for example author:Rossi or author:\"Anna Rossi\".")
            }
            QueryError::Site(typed) => {
                write!(f, "'{typed}' is not a host name; write for example site:example.org.")
            }
            QueryError::Language(typed) => {
                write!(f, "'{typed}' is not a language; write its code, for example lang:it.")
            }
            QueryError::Date(typed) => {
                write!(f, "'{typed}' is not a date; write for example before:2026-05-01 or after:2026-05-01.")
            }
            QueryError::Order(typed) => write!(f, "'{typed}' is not an order; write sort:date or sort:relevance."),
            QueryError::Filter(typed) => {
                write!(
                    f,
                    "There is no filter '{typed}:', so it was looked for as words; there are title:, author:, site:, tag:, in:, lang:, before:, after: and sort:."
                )
            }
            QueryError::NoDays => f.write_str(
                "No day is after one date and before the other; after: takes the earlier day, before: the later one.",
            ),
            QueryError::TooCommon(typed) => {
                write!(f, "Words of '{typed}' are on so many pages that they were not looked for; add rarer ones.")
            }
            QueryError::Cursor => f.write_str(
                "The link to further results is not valid here, so these are counted anew from the first one.",
            ),
        }
    }
}

impl std::error::Error for QueryError {}
