//! Errors in a query.

/// Maximum length of a query in bytes.
pub const MAX_QUERY_BYTES: usize = 8 * 1024;
/// Maximum number of filters and words in a query, including the words in phrases.
pub const MAX_QUERY_TERMS: usize = 256;

/// Reason why a query, or a part of it, was ignored; displayed as an English sentence for the person who typed it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The query contains nothing to search for.
    #[error("Type at least one word to look for.")]
    Empty,
    /// The query is longer than [`MAX_QUERY_BYTES`].
    #[error("The query is too long: it has {bytes} bytes, and only the first {MAX_QUERY_BYTES} are read.")]
    TooLong {
        /// Length of the query in bytes.
        bytes: usize,
    },
    /// The query has more terms than [`MAX_QUERY_TERMS`].
    #[error("The query has too many words: only the first {MAX_QUERY_TERMS} words and filters are read.")]
    TooManyTerms,
    /// `NOT` in capitals between words, which is interpreted as `-`.
    #[error(
        "NOT was read as in -word: pages with the word after it are left out; to look for 'not' itself, \
         write it in small letters or in quotation marks."
    )]
    Not,
    /// `AND` or `OR` in capitals between words, which is ignored.
    #[error(
        "{0} between words is not supported and was left out: pages with all of the words rank higher; \
         write +word for one that pages must have."
    )]
    Boolean(String),
    /// A `*` that does not follow the beginning of a word, or follows too short a one.
    #[error("'{0}' was left out: a * stands after at least three letters of a word, as in tid*.")]
    Wildcard(String),
    /// `title:` without a word.
    #[error("'{0}' is not a word; write for example title:tide or title:\"low tide\".")]
    Title(String),
    /// `tag:` or `in:` without a word; contains the name of the filter.
    #[error("{0}: has no name; write for example {0}:birds or {0}:\"sea birds\".")]
    Label(String),
    /// The query has only words that pages must not contain.
    #[error("The query only says what pages must not have; add at least one word that they should have.")]
    OnlyExcluded,
    /// `author:` without a name.
    #[error("'{0}' is not a name; write for example author:Rossi or author:\"Anna Rossi\".")]
    Author(String),
    /// `site:` without a host name.
    #[error("'{0}' is not a host name; write for example site:example.org.")]
    Site(String),
    /// `lang:` without a language.
    #[error("'{0}' is not a language; write its code, for example lang:it.")]
    Language(String),
    /// `before:` or `after:` without a day.
    #[error("'{0}' is not a date; write for example before:2026-05-01 or after:2026-05-01.")]
    Date(String),
    /// `sort:` with an unknown order.
    #[error("'{0}' is not an order; write sort:date or sort:relevance.")]
    Order(String),
    /// An unknown filter name before a `:`, which is searched for as a word.
    #[error(
        "There is no filter '{0}:', so it was looked for as words; there are title:, author:, site:, tag:, in:, \
         lang:, before:, after: and sort:."
    )]
    Filter(String),
    /// The day of `after:` is not earlier than that of `before:`.
    #[error("No day is after one date and before the other; after: takes the earlier day, before: the later one.")]
    NoDays,
    /// A word or phrase that occurs on so many pages that at least a part of it was not searched for.
    #[error("Words of '{0}' are on so many pages that they were not looked for; add rarer ones.")]
    TooCommon(String),
    /// A cursor of another query or another site, or a damaged one.
    #[error("The link to further results is not valid here, so these are counted anew from the first one.")]
    Cursor,
}
