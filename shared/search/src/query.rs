//! The query language: words, `"a phrase"`, `-word`, `site:HOST`, `lang:it`, `before:2026-05-01`, `after:…`, `sort:date`.

use crate::QueryError;
use curlew_model::Timestamp;
use std::collections::BTreeSet;
use std::str::FromStr;

/// Longest query that is read.
pub const MAX_QUERY_BYTES: usize = 256;
/// Most words (those in phrases counted one by one) and filters together.
pub const MAX_QUERY_TERMS: usize = 16;

/// What is looked for.
///
/// All words must be found. Of several `site:` or `lang:` one is enough. A day is taken in UTC: `after:` includes it,
/// `before:` ends as it begins. A `-` before a word, phrase, `site:` or `lang:` leaves out what has it. What is no
/// operator is a word: `12:30` is looked for as a phrase of two numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Words and phrases that a page must have.
    pub wanted: Vec<Clause>,
    /// Words and phrases that it must not have.
    pub unwanted: Vec<Clause>,
    /// Hosts in lower-case A-label form; pages of what is below them count.
    pub sites: BTreeSet<String>,
    /// Hosts that are left out.
    pub not_sites: BTreeSet<String>,
    /// Primary language subtags.
    pub languages: BTreeSet<String>,
    /// Languages that are left out.
    pub not_languages: BTreeSet<String>,
    /// Only what is older than this.
    pub before: Option<Timestamp>,
    /// Only what is at least as new as this.
    pub after: Option<Timestamp>,
    /// The order of the results.
    pub sort: Sort,
}

/// A word or a phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// As it was typed, without quotation marks.
    pub text: String,
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
    /// Reads what a person typed.
    ///
    /// # Errors
    /// If it is too long, asks for nothing, or an operator's value cannot be read.
    pub fn parse(text: &str) -> Result<Query, QueryError> {
        if text.len() > MAX_QUERY_BYTES {
            return Err(QueryError::TooLong { bytes: text.len() });
        }
        let mut query = Query::default();
        let mut terms = 0;
        for piece in pieces(text) {
            terms += piece.terms();
            if terms > MAX_QUERY_TERMS {
                return Err(QueryError::TooManyTerms);
            }
            query.take(&piece)?;
        }
        query.checked()
    }

    fn take(&mut self, piece: &Piece<'_>) -> Result<(), QueryError> {
        if piece.quoted {
            self.take_words(piece.text, piece.negated);
            return Ok(());
        }
        let operator = piece.text.split_once(':').map(|(name, value)| (name.to_ascii_lowercase(), value));
        match operator.as_ref().map(|(name, value)| (name.as_str(), *value)) {
            Some(("site", value)) => {
                let sites = if piece.negated { &mut self.not_sites } else { &mut self.sites };
                sites.insert(host(value)?);
            }
            Some(("lang", value)) => {
                let languages = if piece.negated { &mut self.not_languages } else { &mut self.languages };
                languages.insert(language(value)?);
            }
            Some(("before", value)) => self.before = Some(earlier(self.before, day(value)?)),
            Some(("after", value)) => self.after = self.after.max(Some(day(value)?)),
            Some(("sort", value)) => self.sort = value.parse()?,
            _ if piece.text.contains('*') => return Err(QueryError::Wildcard(piece.text.to_owned())),
            _ => self.take_words(piece.text, piece.negated),
        }
        Ok(())
    }

    fn take_words(&mut self, text: &str, negated: bool) {
        // What holds no letter and no digit cannot be found, so it is not asked for.
        if text.chars().any(char::is_alphanumeric) {
            let clauses = if negated { &mut self.unwanted } else { &mut self.wanted };
            clauses.push(Clause { text: text.to_owned() });
        }
    }

    fn checked(self) -> Result<Query, QueryError> {
        let filtered = !self.sites.is_empty() || !self.languages.is_empty();
        if !self.wanted.is_empty() || filtered || self.before.is_some() || self.after.is_some() {
            return Ok(self);
        }
        let excluded = !self.unwanted.is_empty() || !self.not_sites.is_empty() || !self.not_languages.is_empty();
        Err(if excluded { QueryError::OnlyExcluded } else { QueryError::Empty })
    }
}

impl FromStr for Sort {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Sort, QueryError> {
        match text.to_ascii_lowercase().as_str() {
            "date" => Ok(Sort::Date),
            "relevance" => Ok(Sort::Relevance),
            _ => Err(QueryError::Order(text.to_owned())),
        }
    }
}

/// What stands between spaces, or between quotation marks.
struct Piece<'a> {
    text: &'a str,
    quoted: bool,
    negated: bool,
}

impl Piece<'_> {
    fn terms(&self) -> usize {
        if self.quoted { self.text.split_whitespace().count() } else { 1 }
    }
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(is_space);
        let negated = rest.starts_with('-');
        if negated {
            rest = &rest[1..];
        }
        let first = rest.chars().next()?;
        if is_quote(first) {
            let inside = &rest[first.len_utf8()..];
            // A quotation mark that is never closed reaches to the end.
            let end = inside.find(is_quote).unwrap_or(inside.len());
            rest = inside[end..].trim_start_matches(is_quote);
            return Some(Piece { text: &inside[..end], quoted: true, negated });
        }
        let end = rest.find(|c| is_space(c) || is_quote(c)).unwrap_or(rest.len());
        let piece = &rest[..end];
        rest = &rest[end..];
        Some(Piece { text: piece, quoted: false, negated })
    })
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '«' | '»' | '「' | '」')
}

/// The host of `site:`, also when a whole URL was pasted.
fn host(text: &str) -> Result<String, QueryError> {
    let wrong = || QueryError::Site(text.to_owned());
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
    if language.is_empty() { Err(QueryError::Language(text.to_owned())) } else { Ok(language) }
}

fn day(text: &str) -> Result<Timestamp, QueryError> {
    Timestamp::parse_day_or_instant(text).map_err(|_| QueryError::Date(text.to_owned()))
}

fn earlier(one: Option<Timestamp>, two: Timestamp) -> Timestamp {
    one.map_or(two, |one| one.min(two))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::*;
    use proptest::prelude::*;

    fn texts(clauses: &[Clause]) -> Vec<&str> {
        clauses.iter().map(|c| c.text.as_str()).collect()
    }

    #[test]
    fn all_of_the_language_is_read() {
        let query = Query::parse(
            "pane \"olio nuovo\" -burro -\"due parole\" site:Example.ORG -site:https://blog.example.org/x \
             lang:it before:2026-05-01 after:2026-04-01 sort:date 12:30",
        );
        let query = query.unwrap();
        assert_eq!(texts(&query.wanted), ["pane", "olio nuovo", "12:30"]);
        assert_eq!(texts(&query.unwanted), ["burro", "due parole"]);
        assert_eq!(query.sites, ["example.org".to_owned()].into());
        assert_eq!(query.not_sites, ["blog.example.org".to_owned()].into());
        assert_eq!(query.languages, ["it".to_owned()].into());
        assert_eq!(query.before, Timestamp::parse_day_or_instant("2026-05-01").ok());
        assert_eq!(query.after, Timestamp::parse_day_or_instant("2026-04-01").ok());
        assert_eq!(query.sort, Sort::Date);
    }

    #[test]
    fn hosts_are_brought_into_one_form() {
        for (typed, host) in [
            ("site:Bücher.example", "xn--bcher-kva.example"),
            ("site:example.org.", "example.org"),
            ("site:example.org:8080", "example.org"),
            ("site:*.example.org", "example.org"),
            ("site:.it", "it"),
            ("site:[2001:DB8::1]", "[2001:db8::1]"),
        ] {
            assert_eq!(Query::parse(typed).unwrap().sites, [host.to_owned()].into(), "{typed}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_in_words() {
        for (typed, error) in [
            ("", QueryError::Empty),
            (" \u{0} ", QueryError::Empty),
            ("… ---", QueryError::Empty),
            ("sort:date", QueryError::Empty),
            ("-pane", QueryError::OnlyExcluded),
            ("*pane", QueryError::Wildcard("*pane".into())),
            ("pa*ne", QueryError::Wildcard("pa*ne".into())),
            ("site:", QueryError::Site(String::new())),
            ("lang:italian!", QueryError::Language("italian!".into())),
            ("before:soon", QueryError::Date("soon".into())),
            ("a sort:size", QueryError::Order("size".into())),
        ] {
            let refused = Query::parse(typed).unwrap_err();
            assert_eq!(refused, error, "{typed}");
            assert!(refused.to_string().ends_with('.'), "{refused}");
        }
    }

    #[test]
    fn limits_hold() {
        assert_eq!(Query::parse(&"a ".repeat(10_000)), Err(QueryError::TooLong { bytes: 20_000 }));
        assert_eq!(Query::parse(&"a ".repeat(17)), Err(QueryError::TooManyTerms));
        assert_eq!(Query::parse(&format!("\"{}\"", "a ".repeat(17))), Err(QueryError::TooManyTerms));
        assert!(Query::parse(&"a ".repeat(16)).is_ok());
        assert_eq!(Query::parse(&"(".repeat(200)), Err(QueryError::Empty));
    }

    #[test]
    fn an_open_quotation_mark_reaches_to_the_end() {
        assert_eq!(texts(&Query::parse("a \"b c").unwrap().wanted), ["a", "b c"]);
        assert_eq!(texts(&Query::parse("a“b c”d").unwrap().wanted), ["a", "b c", "d"]);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _ = Query::parse(&text);
        }

        #[test]
        fn no_row_of_operators_makes_it_panic(text in "([a-zà-ü東\"“: *()-]|site:|lang:|before:|after:|sort:|2026-13-01|\\[){0,40}") {
            if let Ok(query) = Query::parse(&text) {
                prop_assert!(query.wanted.len() + query.unwanted.len() <= MAX_QUERY_TERMS);
            }
        }
    }
}
