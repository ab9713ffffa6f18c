//! Links that change a search: set its order, add a filter, or remove one.

use crate::language::Language;
use crate::words::Search;
use curlew_catalog::results::SearchHit;
use curlew_model::primary_language;
use url::form_urlencoded;

/// Maximum number of languages and of years that are offered.
const MOST: usize = 4;
/// Maximum length of the address of a changed search, in bytes.
const MAX_HREF: usize = 1_024;
/// Maximum length of a displayed filter, in characters.
const MAX_FILTER: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) label: String,
    /// Address of the changed search; `None` for the current order.
    pub(crate) href: Option<String>,
    /// True if the change removes a filter.
    pub(crate) removes: bool,
    /// True if the change only sets the order.
    pub(crate) orders: bool,
}

/// Returns the changes that are offered for the results of a query.
pub(crate) fn changes(query: &str, hits: &[SearchHit], language: Language) -> Vec<Change> {
    let t = Search::in_language(language);
    let sorted = parts(query).any(|part| part.eq_ignore_ascii_case(BY_DATE));
    let bare = without(query, |part| has_name(part, "sort"));
    let order = |label: &str, query: String, present: bool| Change {
        label: label.to_owned(),
        href: (!present).then(|| address(&query)),
        removes: false,
        orders: true,
    };
    let mut changes = Vec::new();
    // Without words, no page matches better than another, so no order is offered.
    if parts(&bare).any(|part| !is_filter(part)) {
        changes.push(order(t.best_first, bare.clone(), !sorted));
        changes.push(order(t.newest_first, with(&bare, BY_DATE), sorted));
    }
    let year = year_of(query);
    if let Some(year) = year {
        changes.push(removal(year.to_string(), &without(query, is_day)));
    }
    for part in parts(query).filter(|part| is_filter(part) && !has_name(part, "sort")) {
        if year.is_none() || !is_day(part) {
            changes.push(removal(filter_label(part, language), &without(query, |other| other == part)));
        }
    }
    let add = |label: String, filter: &str| {
        let href = Some(address(&with(query, filter)));
        Change { label, href, removes: false, orders: false }
    };
    if !parts(query).any(|part| has_name(part, "lang")) {
        let tags = hits.iter().filter_map(|hit| primary_language(hit.language.as_deref()?));
        let tags = distinct(tags);
        if tags.len() > 1 {
            changes.extend(tags.iter().map(|tag| add(language.full_name_of(tag), &format!("lang:{tag}"))));
        }
    }
    if !parts(query).any(is_day) {
        let mut years = distinct(hits.iter().filter_map(|hit| hit.published).map(|at| at.year()));
        years.sort_unstable_by(|one, two| two.cmp(one));
        if years.len() > 1 {
            changes.extend(years.iter().map(|year| add(year.to_string(), &year_filter(*year))));
        }
    }
    changes.retain(|change| change.href.as_ref().is_none_or(|href| href.len() <= MAX_HREF));
    changes
}

pub(crate) fn address(query: &str) -> String {
    format!("/?{}", query_string(query))
}

/// Returns the query part of the URL of a page of results or a feed: `q=…`.
pub(crate) fn query_string(query: &str) -> String {
    form_urlencoded::Serializer::new(String::new()).append_pair("q", query).finish()
}

/// Returns a query with a filter in front: at the end, an unclosed quotation mark would enclose the filter.
pub(crate) fn with(query: &str, filter: &str) -> String {
    format!("{filter} {}", query.trim()).trim_end().to_owned()
}

pub(crate) fn has_site(query: &str) -> bool {
    parts(query).any(|part| has_name(part, "site"))
}

const BY_DATE: &str = "sort:date";

fn removal(label: String, query: &str) -> Change {
    // An empty query shows the start page.
    let href = if query.is_empty() { "/".to_owned() } else { address(query) };
    Change { label, href: Some(href), removes: true, orders: false }
}

fn filter_label(part: &str, language: Language) -> String {
    match part.split_once(':') {
        Some((name, tag)) if name.eq_ignore_ascii_case("lang") => language.full_name_of(tag),
        _ => crate::text::clipped(part, MAX_FILTER),
    }
}

fn year_filter(year: impl Into<i64>) -> String {
    let year = year.into();
    format!("after:{year:04}-01-01 before:{:04}-01-01", year + 1)
}

/// Returns the year that the `after:` and `before:` of a query select, if they select exactly one.
fn year_of(query: &str) -> Option<i64> {
    let mut days = parts(query).filter(|part| is_day(part));
    let (one, two) = (days.next()?, days.next()?);
    let year: i64 = one.strip_prefix("after:")?.get(..4)?.parse().ok()?;
    (days.next().is_none() && format!("{one} {two}") == year_filter(year)).then_some(year)
}

fn is_day(part: &str) -> bool {
    has_name(part, "after") || has_name(part, "before")
}

fn is_filter(part: &str) -> bool {
    is_day(part) || ["sort", "lang", "site", "author", "title", "tag", "in"].iter().any(|name| has_name(part, name))
}

/// True if a part has the form `name:value`, with the name in upper or lower case.
fn has_name(part: &str, name: &str) -> bool {
    part.split_once(':').is_some_and(|(before, value)| before.eq_ignore_ascii_case(name) && !value.is_empty())
}

fn without(query: &str, goes: impl Fn(&str) -> bool) -> String {
    parts(query).filter(|part| !goes(part)).collect::<Vec<_>>().join(" ")
}

/// Splits a query at white space outside quotation marks.
fn parts(query: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    let is_between = move |c: char| {
        is_quoted ^= c == '"';
        c.is_whitespace() && !is_quoted
    };
    query.split(is_between).filter(|part| !part.is_empty())
}

fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for value in values {
        if distinct.len() < MOST && !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;
    use curlew_model::Timestamp;

    fn hit(day: &str, language: &str) -> SearchHit {
        SearchHit {
            published: Timestamp::parse_day_or_instant(day).ok(),
            language: Some(language.to_owned()),
            ..SearchHit::default()
        }
    }

    /// Returns each change as `label > query`, with a minus in front of a removal.
    fn shown(query: &str, hits: &[SearchHit]) -> Vec<String> {
        let decoded = |href: Option<String>| {
            let href = href.unwrap_or_default();
            let query = href.strip_prefix("/?").unwrap_or_default();
            form_urlencoded::parse(query.as_bytes()).next().map_or_else(|| href.clone(), |(_, q)| q.into_owned())
        };
        let sign = |removes: bool| if removes { "-" } else { "" };
        let changes = changes(query, hits, Language::English).into_iter();
        changes.map(|of| format!("{}{} > {}", sign(of.removes), of.label, decoded(of.href))).collect()
    }

    #[test]
    fn changes_are_offered_where_results_differ_and_what_was_chosen_can_be_taken_away() {
        let hits = [hit("2025-03-01", "it-IT"), hit("2026-01-09", "en"), hit("2026-02-09", "EN"), hit("", "")];
        for (query, hits, expected) in [
            (
                "mud \"sort:date x\"",
                &hits[..],
                &[
                    "Best first > ",
                    "Newest first > sort:date mud \"sort:date x\"",
                    "Italian > lang:it mud \"sort:date x\"",
                    "English > lang:en mud \"sort:date x\"",
                    "2026 > after:2026-01-01 before:2027-01-01 mud \"sort:date x\"",
                    "2025 > after:2025-01-01 before:2026-01-01 mud \"sort:date x\"",
                ][..],
            ),
            ("mud", &hits[1..3], &["Best first > ", "Newest first > sort:date mud"]),
            // An unclosed quotation mark encloses no filter.
            (
                "lang:it \"mud flats",
                &hits[..2],
                &[
                    "Best first > ",
                    "Newest first > sort:date lang:it \"mud flats",
                    "-Italian > \"mud flats",
                    "2026 > after:2026-01-01 before:2027-01-01 lang:it \"mud flats",
                    "2025 > after:2025-01-01 before:2026-01-01 lang:it \"mud flats",
                ],
            ),
            (
                "after:2026-01-01 before:2027-01-01 sort:date \"mud flats",
                &[],
                &[
                    "Best first > after:2026-01-01 before:2027-01-01 \"mud flats",
                    "Newest first > ",
                    "-2026 > sort:date \"mud flats",
                ],
            ),
            (
                "mud sort:date lang:it after:2025-01-01 before:2026-01-01 site:tide.example",
                &[],
                &[
                    "Best first > mud lang:it after:2025-01-01 before:2026-01-01 site:tide.example",
                    "Newest first > ",
                    "-2025 > mud sort:date lang:it site:tide.example",
                    "-Italian > mud sort:date after:2025-01-01 before:2026-01-01 site:tide.example",
                    "-site:tide.example > mud sort:date lang:it after:2025-01-01 before:2026-01-01",
                ],
            ),
            ("site:tide.example", &[], &["-site:tide.example > /"]),
            (
                "mud before:2026-02-03",
                &[],
                &["Best first > ", "Newest first > sort:date mud before:2026-02-03", "-before:2026-02-03 > mud"],
            ),
        ] {
            assert_eq!(shown(query, hits), expected, "{query}");
        }
        assert_eq!(with("\"mud flats", "site:tide.example"), "site:tide.example \"mud flats");
    }

    #[test]
    fn a_query_that_is_too_long_for_more_is_not_lengthened() {
        let long = "m".repeat(MAX_HREF - 5);
        assert_eq!(shown(&long, &[]), ["Best first > "]);
    }
}
