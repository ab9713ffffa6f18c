//! The query part of a URL, read strictly: bounded, the first value of a name counts, the rest is ignored.

use crate::language::Language;
use crate::words::Search;
use axum::http::Uri;
use curlew_model::MAX_QUERY_BYTES;
use url::form_urlencoded;

/// Longest query part in bytes: a query of [`MAX_QUERY_CHARS`] takes 3,072 when each of its characters has four bytes and
/// each of these is percent-encoded.
const MAX_RAW: usize = 4_096;
/// Parameters in one query part.
const MAX_PAIRS: usize = 16;
/// Hits on one page of results.
pub(crate) const PAGE_SIZE: usize = 10;
/// Pages of results that can be asked for.
pub(crate) const MAX_PAGE: usize = 10;
/// How deep into the results anybody may look, page or API.
pub(crate) const MAX_REACH: usize = PAGE_SIZE * MAX_PAGE;

/// Longest query that programs may send, in characters. Of one that has more bytes than are read, as in other scripts than
/// Latin, the beginning is looked for, and the answer says so.
pub(crate) const MAX_QUERY_CHARS: usize = MAX_QUERY_BYTES;
/// Put before a query that says nothing of the order: at its end it would be cut off with what is too long.
pub(crate) const NEWEST_FIRST: &str = "sort:date ";
/// Longest query of a feed, in characters.
pub(crate) const MAX_FEED_QUERY_CHARS: usize = MAX_QUERY_CHARS - NEWEST_FIRST.len();

/// The parameters of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Params(Vec<(String, String)>);

/// Why a query part is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadParams {
    /// It is longer than [`MAX_RAW`].
    TooLong,
    /// It has more than [`MAX_PAIRS`] parameters.
    TooMany,
}

impl BadParams {
    /// As a sentence.
    pub(crate) fn said(self, t: &Search) -> &'static str {
        match self {
            BadParams::TooLong => t.address_too_long,
            BadParams::TooMany => t.too_many_parameters,
        }
    }
}

impl Params {
    /// Reads a URI's query part.
    ///
    /// # Errors
    /// What is wrong with it, to be said to the person who sent it.
    pub(crate) fn of(uri: &Uri) -> Result<Params, BadParams> {
        let raw = uri.query().unwrap_or_default();
        if raw.len() > MAX_RAW {
            return Err(BadParams::TooLong);
        }
        let pairs: Vec<(String, String)> =
            form_urlencoded::parse(raw.as_bytes()).into_owned().take(MAX_PAIRS + 1).collect();
        if pairs.len() > MAX_PAIRS {
            return Err(BadParams::TooMany);
        }
        Ok(Params(pairs))
    }

    /// The first value of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// What is searched for, without blanks around it; empty if nothing is.
    pub(crate) fn query(&self) -> &str {
        self.get("q").unwrap_or_default().trim()
    }

    /// What a program searches for, in so many characters at most.
    ///
    /// # Errors
    /// If there is nothing to search for, or too much; as a sentence.
    pub(crate) fn query_of_program(&self, max_chars: usize) -> Result<&str, String> {
        let query = self.query();
        if query.is_empty() {
            return Err(Search::of(Language::English).no_question.to_owned());
        }
        if query.chars().nth(max_chars).is_some() {
            return Err(format!("q must have from 1 to {max_chars} characters."));
        }
        Ok(query)
    }

    /// A whole number, or the default where there is none.
    ///
    /// # Errors
    /// If there is a value that is no whole number.
    pub(crate) fn number(&self, name: &str, default: usize) -> Result<usize, ()> {
        match self.get(name).map(str::trim) {
            None | Some("") => Ok(default),
            // `str::parse` would also take a sign.
            Some(text) if text.bytes().all(|b| b.is_ascii_digit()) => text.parse().map_err(|_| ()),
            Some(_) => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn params(path: &str) -> Result<Params, BadParams> {
        Params::of(&path.parse().unwrap())
    }

    #[test]
    fn the_first_value_counts() {
        let p = params("/?q=mud+flats%26more&q=second&page=2").unwrap();
        assert_eq!(p.query(), "mud flats&more");
        assert_eq!(p.number("page", 1), Ok(2));
        assert_eq!(p.number("limit", 10), Ok(10));
        assert_eq!(params("/?q=%FF").unwrap().query(), "\u{fffd}");
    }

    #[test]
    fn numbers_are_digits() {
        for bad in ["-1", "+1", "1e3", "0x1", "99999999999999999999999", "٣"] {
            let path = format!("/?page={}", form_urlencoded::byte_serialize(bad.as_bytes()).collect::<String>());
            assert_eq!(params(&path).unwrap().number("page", 1), Err(()), "{bad}");
        }
    }

    #[test]
    fn length_and_count_are_bounded() {
        assert_eq!(params(&format!("/?q={}", "a".repeat(5_000))), Err(BadParams::TooLong));
        assert_eq!(params(&format!("/?{}", "a=1&".repeat(100))), Err(BadParams::TooMany));
    }
}
