//! The page of results. Without a query, the start page is shown.

use crate::app::{App, ErrorPage, PageRequest};
use crate::hit::{HitView, web_url};
use crate::home::{self, Example, examples};
use crate::language::Language;
use crate::page::{self, REVALIDATED, Site};
use crate::params::{MAX_PAGE, MAX_REACH, PAGE_SIZE, Params};
use crate::quota::Allowance;
use crate::refine::{self, Change, changes};
use crate::sites;
use crate::text::clipped;
use crate::words::Search;
use askama::Template;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use curlew_catalog::results::{FindError, SearchHit, SearchResults, Start};
use curlew_model::{MAX_QUERY_BYTES, QueryError, Timestamp};
use curlew_text::hygiene::head_bytes;
use std::collections::HashMap;
use url::form_urlencoded;

/// Maximum length in bytes of a query that every link repeats. A longer one is only in the link to the next page.
const LONG: usize = 256;
/// Maximum number of notes and of unknown words on a page.
const MOST_NOTES: usize = 12;
/// Parameter that turns off the correction of a query.
const AS_TYPED: &str = "typed";

#[derive(Template)]
#[template(path = "results.html")]
struct ResultsPage<'a> {
    site: Site<'a>,
    t: &'static Search,
    typed: &'a str,
    query: &'a str,
    notice: Option<&'a str>,
    found: Found<'a>,
    orders: Vec<Change>,
    filters: Vec<Change>,
    examples: Vec<Example>,
    /// Query part of the feeds' URLs, if there are feeds.
    follow: Option<String>,
}

/// The results of a query as the page shows them; empty if the query was refused.
#[derive(Default)]
struct Found<'a> {
    /// Address of the results of the typed query, if those of a corrected query are shown.
    as_typed: Option<String>,
    /// One sentence for each part of the query that was left out.
    notes: Vec<String>,
    /// The suggested query, and the link to it.
    meant: Option<(&'a str, String)>,
    /// Sentences about pages that were not searched.
    not_searched: Option<String>,
    /// A sentence about words that no page contains.
    unknown: Option<String>,
    total: u64,
    total_shown: String,
    /// A sentence with the number of pages that contain all words, if others contain only some.
    all_words: Option<String>,
    /// A sentence about copies that are not counted.
    copies: Option<String>,
    hits: Vec<HitView>,
    pages: Pages,
}

/// `GET /`. With `site=`, which a site's own search box sends, it redirects to a search of that site.
pub(crate) async fn show(request: PageRequest, uri: Uri) -> Result<Response, ErrorPage> {
    let (app, site, t) = (&request.app, request.site(), Search::in_language(request.language));
    let params = match Params::parse(&uri) {
        Ok(params) => params,
        Err(wrong) => return Ok(refused(site, "", wrong.message(t))),
    };
    let query = params.query();
    if let Some(host) = params.get("site").and_then(sites::host_name) {
        return Ok(Redirect::to(&refine::address(&refine::with(query, &format!("site:{host}")))).into_response());
    }
    if query.is_empty() {
        return Ok(home::show(&request).await);
    }
    request.admit(Allowance::Search)?;
    let Ok(number @ 1..=MAX_PAGE) = params.number("page", 1) else {
        return Ok(refused(site, query, t.only_ten_pages));
    };
    let offset = Start::Offset((number - 1) * PAGE_SIZE);
    let cursor = params.get("from").filter(|cursor| !cursor.is_empty());
    let found = match app.services.search.find(query, cursor.map_or(offset, Start::After), PAGE_SIZE).await {
        // The link's cursor was made with another secret or format, so the page number is used instead.
        Err(FindError::BadQuery(QueryError::Cursor)) => {
            let counted = app.services.search.find(query, offset, PAGE_SIZE).await;
            counted.map(|found| SearchResults { notes: [vec![QueryError::Cursor], found.notes].concat(), ..found })
        }
        found => found,
    };
    match found {
        Ok(found) if found.before >= MAX_REACH as u64 => Ok(refused(site, query, t.only_ten_pages)),
        Ok(found) => {
            let mended = mended(app, &found, &params).await;
            let (meant, found) = match mended {
                Some(mended) => (found.suggestion.unwrap_or_default(), mended),
                None => (query.to_owned(), found),
            };
            let is_empty = in_all(&found) == 0;
            let newest = if is_empty { home::newest(app, PAGE_SIZE).await } else { None };
            Ok(results(site, query, &meant, &found, &newest.unwrap_or_default(), app.clock.now()))
        }
        Err(FindError::BadQuery(wrong)) => Ok(refused(site, query, &(t.misread)(&wrong))),
        Err(FindError::Port(error)) => Err(request.failed("find", error)),
    }
}

/// Returns the results of the suggested query if no page has all typed words, unless the request turns this off.
async fn mended(app: &App, found: &SearchResults, params: &Params) -> Option<SearchResults> {
    let is_first = params.get("page").is_none()
        && params.get(AS_TYPED).is_none()
        && found.total == 0
        && params.query().len() <= LONG;
    let meant = found.suggestion.as_deref().filter(|_| is_first)?;
    let found = app.services.search.find(meant, Start::Offset(0), PAGE_SIZE).await;
    found.ok().filter(|found| in_all(found) > 0)
}

fn results(
    site: Site<'_>,
    typed: &str,
    query: &str,
    found: &SearchResults,
    newest: &SearchResults,
    now: Timestamp,
) -> Response {
    let (language, t) = (site.language, Search::in_language(site.language));
    let pages = Pages::new(query, found);
    // The rest of a longer query was ignored.
    let (typed, query) = (head_bytes(typed, MAX_QUERY_BYTES), head_bytes(query, MAX_QUERY_BYTES));
    let (total, is_long) = (in_all(found), query.len() > LONG);
    let mut changes = if is_long { Vec::new() } else { changes(query, &found.hits, language) };
    // If nothing was found, another order or a further filter finds nothing either.
    changes.retain(|change| change.removes || total > 0);
    let (orders, filters) = changes.into_iter().partition(|change| change.orders);
    let meant = found.suggestion.as_deref().filter(|meant| meant.len() <= LONG);
    let has_partial = found.partial > 0 && (found.total > 0 || found.unknown.is_empty());
    let shown = Found {
        as_typed: (typed != query).then(|| format!("{}&{AS_TYPED}=1", link(typed, 1, None))),
        notes: found.notes.iter().take(MOST_NOTES).map(t.misread).collect(),
        meant: meant.map(|meant| (meant, link(meant, 1, None))),
        not_searched: t.unsearched_parts(found, language),
        unknown: (!found.unknown.is_empty()).then(|| (t.in_no_page)(&quoted(&found.unknown))),
        total,
        total_shown: language.number(total),
        all_words: has_partial.then(|| (t.have_all_words)(found.total, &language.number(found.total))),
        copies: (found.copies > 0).then(|| (t.copies_of_them)(found.copies, &language.number(found.copies))),
        hits: hits(query, found, language, now),
        pages,
    };
    let view = ResultsPage {
        site,
        t,
        typed,
        query: head_bytes(query, LONG),
        notice: None,
        found: shown,
        orders,
        filters,
        examples: if total == 0 { examples(&newest.hits, language) } else { Vec::new() },
        follow: (site.opensearch && !is_long).then(|| refine::query_string(query)),
    };
    page::html(language, StatusCode::OK, REVALIDATED, &view)
}

/// Returns the number of pages that contain all or some of the words.
fn in_all(found: &SearchResults) -> u64 {
    found.total.saturating_add(found.partial)
}

/// Maximum length of a word that a sentence repeats, in characters.
const MAX_WORD: usize = 40;

fn quoted(words: &[String]) -> String {
    let quoted: Vec<String> =
        words.iter().take(MOST_NOTES).map(|word| format!("“{}”", clipped(word, MAX_WORD))).collect();
    quoted.join(", ")
}

fn hits(query: &str, found: &SearchResults, language: Language, now: Timestamp) -> Vec<HitView> {
    let hits = found.hits.get(..PAGE_SIZE).unwrap_or(&found.hits);
    // The link to more results of a site is below its last result on this page.
    let host_of = |hit: &SearchHit| web_url(&hit.url)?.host_str().map(str::to_owned);
    let mut last: HashMap<String, &str> = HashMap::new();
    for hit in hits.iter().filter(|_| query.len() <= LONG && !refine::has_site(query)) {
        last.extend(host_of(hit).filter(|host| found.more_of.contains(host)).map(|host| (host, hit.url.as_str())));
    }
    let view = |hit: &SearchHit| {
        let view = HitView::new(hit, language, now);
        let is_last = host_of(hit).is_some_and(|host| last.get(&host) == Some(&hit.url.as_str()));
        HitView { more: is_last.then(|| view.more_of(query, language)).flatten(), ..view }
    };
    hits.iter().map(view).collect()
}

/// Renders the form with the typed query and a message, with status 400.
fn refused(site: Site<'_>, query: &str, sentence: &str) -> Response {
    let view = ResultsPage {
        site,
        t: Search::in_language(site.language),
        typed: head_bytes(query, MAX_QUERY_BYTES),
        query: head_bytes(query, LONG),
        notice: Some(sentence),
        found: Found::default(),
        orders: Vec::new(),
        filters: Vec::new(),
        examples: examples(&[], site.language),
        follow: None,
    };
    page::html(site.language, StatusCode::BAD_REQUEST, REVALIDATED, &view)
}

/// Returns the address of a page of results. With a cursor, it begins after the page that gave the cursor.
fn link(query: &str, number: usize, cursor: Option<&str>) -> String {
    let mut pairs = form_urlencoded::Serializer::new(String::new());
    pairs.append_pair("q", query);
    if number > 1 {
        pairs.append_pair("page", &number.to_string());
    }
    if let Some(cursor) = cursor {
        pairs.append_pair("from", cursor);
    }
    format!("/?{}", pairs.finish())
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Pages {
    previous: Option<String>,
    next: Option<String>,
    /// Number and link of each page, and whether it is the current one; empty if the query is longer than [`LONG`].
    all: Vec<(usize, String, bool)>,
    /// Range of the results on this page, such as `11–20`, if there are several pages.
    shown: Option<String>,
    number: usize,
    /// True if there are more results than can be shown.
    cut: bool,
    last: bool,
}

impl Pages {
    fn new(query: &str, found: &SearchResults) -> Pages {
        let whole = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let (total, number) = (whole(in_all(found)), whole(found.before) / PAGE_SIZE + 1);
        let count = total.div_ceil(PAGE_SIZE).min(MAX_PAGE);
        // An explicit page number turns off the correction of a query without full matches.
        let as_typed = if found.total == 0 { "&page=1" } else { "" };
        let numbered = |n: usize| format!("{}{}", link(query, n, None), if n == 1 { as_typed } else { "" });
        let first = (number - 1) * PAGE_SIZE + 1;
        // A cursor belongs to the whole query, so a link with a cut query has none.
        let is_short = query.len() <= LONG;
        let cursor = found.next.as_deref().filter(|_| query.len() <= MAX_QUERY_BYTES);
        let is_one_of_several = is_short && count > 1 && number <= count;
        Pages {
            previous: (is_short && number > 1).then(|| numbered((number - 1).min(count.max(1)))),
            next: (number < count).then(|| link(head_bytes(query, MAX_QUERY_BYTES), number + 1, cursor)),
            all: (1..=count).filter(|_| is_short).map(|n| (n, numbered(n), n == number)).collect(),
            shown: is_one_of_several.then(|| format!("{first}–{}", (number * PAGE_SIZE).min(total))),
            number,
            cut: total > MAX_REACH,
            last: number >= count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(query: &str, number: u64, total: u64, next: Option<&str>) -> Pages {
        let before = (number - 1) * PAGE_SIZE as u64;
        Pages::new(query, &SearchResults { total, before, next: next.map(str::to_owned), ..SearchResults::default() })
    }

    #[test]
    fn there_are_as_many_pages_as_results_and_at_most_ten() {
        let count = |total| pages("q", 1, total, None).all.len();
        assert_eq!([count(0), count(1), count(10), count(11), count(100), count(u64::MAX)], [0, 1, 1, 2, 10, 10]);
        let partial = Pages::new("q", &SearchResults { partial: 25, before: 10, ..SearchResults::default() });
        assert_eq!(partial.previous.as_deref(), Some("/?q=q&page=1"), "as it was typed");
        let middle = pages("a&b=c", 2, 35, Some("x+y"));
        assert_eq!(middle.previous.as_deref(), Some("/?q=a%26b%3Dc"));
        assert_eq!(middle.next.as_deref(), Some("/?q=a%26b%3Dc&page=3&from=x%2By"));
        assert_eq!(middle.shown.as_deref(), Some("11–20"));
        assert_eq!(pages("q", 4, 35, None).shown.as_deref(), Some("31–35"));
        assert_eq!(pages("q", 10, u64::MAX, Some("x")).next, None);
    }

    #[test]
    fn a_page_beyond_the_end_leads_back_to_the_last() {
        let beyond = pages("q", 9, 15, None);
        assert_eq!(beyond.previous.as_deref(), Some("/?q=q&page=2"));
        assert_eq!((beyond.next, beyond.shown), (None, None));
    }
}
