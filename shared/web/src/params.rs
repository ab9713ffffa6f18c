//! Strict parser of the query part of a URL: its length is limited, and only the first value of a name counts.

use crate::words::Search;
use axum::http::Uri;
use curlew_model::MAX_QUERY_BYTES;
use url::form_urlencoded;

/// Maximum length of a query part, in bytes: twice that of the longest query, percent-encoded, with a cursor. A search
/// query that exceeds its own maximum is cut, and the response says so.
const MAX_RAW: usize = 2 * (3 * MAX_QUERY_BYTES + 1_024);
const MAX_PAIRS: usize = 16;
/// Number of hits on one page of results.
pub(crate) const PAGE_SIZE: usize = 10;
pub(crate) const MAX_PAGE: usize = 10;
/// Maximum number of results that page numbers or offsets reach.
pub(crate) const MAX_REACH: usize = PAGE_SIZE * MAX_PAGE;

/// Prefix that sorts a query by date. As a suffix, it would be cut off with the end of a long query.
pub(crate) const NEWEST_FIRST: &str = "sort:date ";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Params(Vec<(String, String)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadParams {
    TooLong,
    TooMany,
}

impl BadParams {
    pub(crate) fn message(self, t: &Search) -> &'static str {
        match self {
            BadParams::TooLong => t.address_too_long,
            BadParams::TooMany => t.too_many_parameters,
        }
    }
}

impl Params {
    /// Parses the query part of a URI.
    pub(crate) fn parse(uri: &Uri) -> Result<Params, BadParams> {
        let raw = uri.query().unwrap_or_default();
        if raw.len() > MAX_RAW {
            return Err(BadParams::TooLong);
        }
        let pairs: Vec<(String, String)> =
            form_urlencoded::parse(raw.as_bytes()).into_owned().take(MAX_PAIRS + 1).collect();
        if pairs.len() > MAX_PAIRS { Err(BadParams::TooMany) } else { Ok(Params(pairs)) }
    }

    /// Returns parameters that do not come from a URL. Absent values are left out.
    pub(crate) fn of_pairs(pairs: impl IntoIterator<Item = (&'static str, Option<String>)>) -> Params {
        let given = pairs.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Params(given.collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// Returns the query without surrounding white space; empty if there is none.
    pub(crate) fn query(&self) -> &str {
        self.get("q").unwrap_or_default().trim()
    }

    /// Returns a whole number, or the default if it is absent or empty; an error if it is not a whole number.
    pub(crate) fn number(&self, name: &str, default: usize) -> Result<usize, ()> {
        match self.get(name).map(str::trim) {
            None | Some("") => Ok(default),
            // `str::parse` would also accept a sign.
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
        Params::parse(&path.parse().unwrap())
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
        let longest = "%F0%9F%8C%8A".repeat(MAX_QUERY_BYTES / 4);
        let cursor = "f".repeat(962);
        let all = params(&format!("/api/v1/search?q={longest}a&cursor={cursor}&limit=100")).unwrap();
        assert_eq!(all.query().len(), MAX_QUERY_BYTES + 1, "the search cuts it");
        assert_eq!(all.get("cursor"), Some(cursor.as_str()));
        assert!(crate::api::query(&params("/api/v1/search?q=+").unwrap()).is_err());
        assert_eq!(params(&format!("/?q={}", "a".repeat(MAX_RAW))), Err(BadParams::TooLong));
        assert_eq!(params(&format!("/?{}", "a=1&".repeat(100))), Err(BadParams::TooMany));
    }
}
