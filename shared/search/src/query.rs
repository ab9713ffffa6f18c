//! The query language: words, `"a phrase"`, `+word`, `-word`, `begin*`, `title:WORD`, `author:NAME`, `site:HOST`,
//! `tag:LABEL`, `in:FOLDER`, `lang:it`, `before:2026-05-01`, `after:…`, `sort:date`.

mod part;

use crate::pieces::has_words;
use crate::schema::label;
use curlew_model::{MAX_QUERY_BYTES, MAX_QUERY_TERMS, PageId, QueryError, Timestamp};
use curlew_text::hygiene::head_bytes;
use part::{NOT, QueryPart, is_space, pieces};
use std::collections::BTreeSet;
use std::ops::Range;
use std::str::FromStr;

/// Maximum number of typed characters that a message repeats.
const MAX_SHOWN_CHARS: usize = 60;

/// Minimum length of the beginning of a word in a query, in characters: too many words share a shorter one.
const MIN_BEGINNING: usize = 3;
/// Sign after the beginning of a word.
pub(crate) const BEGINNING: char = '*';

/// Signs after a word that do not belong to it.
const SENTENCE_SIGNS: [char; 11] = [',', ';', ':', '.', '!', '?', ')', ']', '…', '、', '。'];

/// Minimum length in letters of a name that is taken for the name of a filter.
const MIN_FILTER_NAME: usize = 2;

/// A parsed query.
///
/// Words are looked up in the title, the text and the author's name. Phrases, and words after a `+`, are required. At
/// least one of several `author:`, `site:` or `lang:` has to match, and every `title:`, `tag:` and `in:`. The value of
/// an operator may be quoted. Days are in UTC: `after:` includes its day, `before:` ends at the beginning of its day. A
/// `-`, or a `NOT` between other parts, excludes matching pages. Anything that is not an operator is a word: `12:30`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Words and phrases that a page should have, or must have.
    pub wanted: Vec<Clause>,
    /// Words and phrases that a page must not have.
    pub unwanted: Vec<Clause>,
    /// Filters that a page must pass.
    pub only: Filters,
    /// Filters whose pages are excluded.
    pub except: Filters,
    /// Pages to which the results are limited, unless this is empty.
    pub pages: BTreeSet<PageId>,
    /// Upper bound of the date, exclusive.
    pub before: Option<Timestamp>,
    /// Lower bound of the date, inclusive.
    pub after: Option<Timestamp>,
    /// The order of the results.
    pub sort: Sort,
}

/// Values of filters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    /// Words and phrases of the title.
    pub titles: BTreeSet<String>,
    /// Labels: tags, and folders of the page's feed.
    pub labels: BTreeSet<String>,
    /// Author names: all words of one of them must be adjacent in the author's name.
    pub authors: BTreeSet<String>,
    /// Hosts in lower-case A-label form; their subdomains match too.
    pub sites: BTreeSet<String>,
    /// Primary language subtags.
    pub languages: BTreeSet<String>,
}

/// A word or a phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Text as typed, without quotation marks.
    pub text: String,
    /// True if a page must have it: a phrase, or a word after a `+`.
    pub must: bool,
    /// Position in the typed text, in bytes.
    pub at: Range<usize>,
}

/// The order of the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The best match first.
    #[default]
    Relevance,
    /// The newest first.
    Date,
}

impl Query {
    /// Parses a person's input; fails if any part of it is not understood.
    pub fn parse(text: &str) -> Result<Query, QueryError> {
        let (query, left_out) = Query::read(text);
        left_out.into_iter().next().map_or(Ok(query), Err)
    }

    /// Parses a person's input as far as it is understood; also returns why parts were left out, or why it is empty.
    pub fn read(text: &str) -> (Query, Vec<QueryError>) {
        let mut reading = QueryReader::default();
        let kept = head_bytes(text, MAX_QUERY_BYTES);
        if kept.len() < text.len() {
            reading.left_out.push(QueryError::TooLong { bytes: text.len() });
        }
        let cut_short = kept.len() < text.len() && !text[kept.len()..].starts_with(is_space);
        // The last word was cut in two, and half a word would match something else.
        let kept = kept.rfind(is_space).filter(|_| cut_short).map_or(kept, |end| &kept[..end]);
        let mut pieces = pieces(kept).peekable();
        while let Some(piece) = pieces.next() {
            if pieces.peek().is_some() && reading.take_boolean(&piece) {
                continue;
            }
            if !reading.take(&piece) {
                reading.left_out.push(QueryError::TooManyTerms);
                break;
            }
        }
        reading.end()
    }

    /// True if there is nothing to search for. "The newest of all pages" is a query; "the best of all pages" is not.
    pub fn is_empty(&self) -> bool {
        let is_dated = self.before.is_some() || self.after.is_some() || self.sort == Sort::Date;
        self.wanted.is_empty() && self.pages.is_empty() && self.only == Filters::default() && !is_dated
    }
}

#[derive(Default)]
struct QueryReader {
    query: Query,
    terms: usize,
    left_out: Vec<QueryError>,
    /// True if the input has a part without letters and digits.
    has_signs: bool,
    excludes_next: bool,
}

impl QueryReader {
    /// Reads `AND`, `OR` or `NOT` after another part; returns false if the piece is a word.
    fn take_boolean(&mut self, piece: &QueryPart<'_>) -> bool {
        // `sort:` does not count as another part, since it may be put in front of any query.
        let is_boolean = piece.is_boolean() && (!self.query.wanted.is_empty() || self.unsorted() != Query::default());
        if is_boolean {
            let is_not = piece.text == NOT;
            self.excludes_next |= is_not;
            let why = if is_not { QueryError::Not } else { QueryError::Boolean(piece.text.to_owned()) };
            if !self.left_out.contains(&why) {
                self.left_out.push(why);
            }
        }
        is_boolean
    }

    fn unsorted(&self) -> Query {
        Query { sort: Sort::Relevance, ..self.query.clone() }
    }

    /// Adds a part, or records why not; returns false if it did not fit completely.
    fn take(&mut self, piece: &QueryPart<'_>) -> bool {
        let room = MAX_QUERY_TERMS - self.terms;
        if room == 0 {
            return false;
        }
        let (text, fits) = piece.head(room);
        self.terms += if piece.quoted { text.split_whitespace().count() } else { 1 };
        let negated = piece.negated || std::mem::take(&mut self.excludes_next);
        let piece = QueryPart { text, negated, ..*piece };
        if let Err(why) = self.take_whole(&piece) {
            self.left_out.push(why);
        }
        fits
    }

    fn take_whole(&mut self, piece: &QueryPart<'_>) -> Result<(), QueryError> {
        let query = &mut self.query;
        let operator = match piece.operator {
            Some(name) => Some((name, piece.text)),
            None if piece.quoted => None,
            None => piece.text.split_once(':'),
        };
        let operator = operator.map(|(name, value)| (name.to_ascii_lowercase(), value));
        let filters = if piece.negated { &mut query.except } else { &mut query.only };
        match operator.as_ref().map(|(name, value)| (name.as_str(), *value)) {
            Some(("title", value)) => drop(filters.titles.insert(title(value)?)),
            Some((kind @ ("tag" | "in"), value)) => {
                filters.labels.insert(label(kind, value).ok_or_else(|| QueryError::Label(kind.to_owned()))?);
            }
            Some(("author", value)) => drop(filters.authors.insert(author(value)?)),
            Some(("site", value)) => drop(filters.sites.insert(host(value)?)),
            Some(("lang", value)) => drop(filters.languages.insert(language(value)?)),
            Some(("before", value)) => query.before = query.before.into_iter().chain([day(value)?]).min(),
            Some(("after", value)) => query.after = query.after.max(Some(day(value)?)),
            Some(("sort", value)) => query.sort = value.parse()?,
            _ if !piece.quoted && piece.text.contains(BEGINNING) && !is_beginning(piece.text) => {
                return Err(QueryError::Wildcard(shown(piece.text)));
            }
            Some((name, value)) if looks_like_filter(name, value) => {
                self.left_out.push(QueryError::Filter(shown(name)));
                self.take_words(&QueryPart { text: &piece.text[..name.len()], ..*piece });
                let at = piece.at + piece.text.len() - value.len();
                self.take_words(&QueryPart { text: value, at, ..*piece });
            }
            _ => self.take_words(piece),
        }
        Ok(())
    }

    fn take_words(&mut self, piece: &QueryPart<'_>) {
        // A part without letters, digits or emoji cannot be found, so it is not searched for.
        if has_words(piece.text) {
            let clauses = if piece.negated { &mut self.query.unwanted } else { &mut self.query.wanted };
            let text = match piece.quoted {
                true => piece.text.trim_end_matches(BEGINNING),
                false => piece.text.trim_end_matches(SENTENCE_SIGNS).trim_start_matches(['(', '[', '¿', '¡']),
            };
            let start = piece.at + piece.text.find(text).unwrap_or_default();
            let at = start..start + text.len();
            clauses.push(Clause { text: text.to_owned(), must: piece.quoted || piece.is_strict, at });
        } else {
            self.has_signs = true;
        }
    }

    fn end(mut self) -> (Query, Vec<QueryError>) {
        // Signs alone are nothing to search for, and do not mean "all pages" either.
        let unsorted = self.unsorted();
        if self.has_signs && unsorted.is_empty() {
            self.query = unsorted;
        }
        let query = &self.query;
        if query.is_empty() {
            let excluded = !query.unwanted.is_empty() || query.except != Filters::default();
            self.left_out.push(if excluded { QueryError::OnlyExcluded } else { QueryError::Empty });
        } else if query.after.zip(query.before).is_some_and(|(after, before)| after >= before) {
            self.left_out.push(QueryError::NoDays);
        }
        (self.query, self.left_out)
    }
}

/// True if the input looks like a filter that does not exist: `inurl:tide`, but neither `12:30` nor an address.
fn looks_like_filter(name: &str, value: &str) -> bool {
    let is_word = name.len() >= MIN_FILTER_NAME && name.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_word && value.starts_with(char::is_alphanumeric)
}

/// True for the beginning of a word, such as `tid*`, that is long enough.
fn is_beginning(text: &str) -> bool {
    let begin = text.strip_suffix(BEGINNING).unwrap_or_default();
    begin.chars().count() >= MIN_BEGINNING && begin.chars().all(char::is_alphanumeric)
}

/// Returns typed text as it may appear in a message.
fn shown(text: &str) -> String {
    let mut shown: String = text.chars().filter(|c| !c.is_control()).take(MAX_SHOWN_CHARS).collect();
    if shown.chars().count() < text.chars().count() {
        shown.push('…');
    }
    shown
}

impl FromStr for Sort {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Sort, QueryError> {
        match text.to_ascii_lowercase().as_str() {
            "date" => Ok(Sort::Date),
            "relevance" => Ok(Sort::Relevance),
            _ => Err(QueryError::Order(shown(text))),
        }
    }
}

fn title(text: &str) -> Result<String, QueryError> {
    if has_words(text) { Ok(text.trim().to_owned()) } else { Err(QueryError::Title(shown(text))) }
}

/// Parses the name of `author:`, which must contain a letter or a digit.
fn author(text: &str) -> Result<String, QueryError> {
    let name = text.trim();
    if name.chars().any(char::is_alphanumeric) { Ok(name.to_owned()) } else { Err(QueryError::Author(shown(text))) }
}

/// Parses the host of `site:`, also from a pasted URL.
fn host(text: &str) -> Result<String, QueryError> {
    let wrong = || QueryError::Site(shown(text));
    let after_scheme = text.split_once("://").map_or(text, |(_, rest)| rest);
    let name = after_scheme.split(['/', '?', '#']).next().unwrap_or_default();
    let name = name.trim_start_matches("*.").trim_matches('.');
    let without_port = name.rsplit_once(':').filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    let name = if name.starts_with('[') { name } else { without_port.map_or(name, |(name, _)| name) };
    let host = url::Host::parse(name).map_err(|_| wrong())?.to_string();
    if host.is_empty() || host.contains('*') { Err(wrong()) } else { Ok(host) }
}

fn language(text: &str) -> Result<String, QueryError> {
    let language = crate::schema::primary_language(Some(text));
    if language.is_empty() { Err(QueryError::Language(shown(text))) } else { Ok(language) }
}

fn day(text: &str) -> Result<Timestamp, QueryError> {
    Timestamp::parse_day_or_instant(text).map_err(|_| QueryError::Date(shown(text)))
}

#[cfg(test)]
mod tests;
