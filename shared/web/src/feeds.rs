//! Search results as feeds, so that people can follow a search in a feed reader: Atom (RFC 4287), RSS 2.0 and JSON Feed
//! 1.1, newest pages first. Feeds contain absolute URLs, so without a configured origin there are none.

use crate::api::{self, Problem, Refusal};
use crate::app::PageRequest;
use crate::hit::web_url;
use crate::language::Language;
use crate::page::{REVALIDATED, typed};
use crate::params::NEWEST_FIRST;
use crate::refine::query_string;
use crate::text::{MAX_SITE, MAX_TITLE, clean, clipped};
use crate::words::Search;
use askama::Template;
use axum::extract::Path;
use axum::http::header::{HeaderName, HeaderValue, LINK};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use curlew_catalog::results::{FindError, Query, SearchHit, Start};
use curlew_model::{QueryError, Timestamp, hex};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const ENTRIES: usize = 30;
/// Minutes after which a reader may poll again: the default interval of publishing on AWS.
const TTL_MINUTES: u32 = 480;
/// `Cache-Control` of feeds for which all pages were searched.
const AS_OFTEN: &str = "public, max-age=3600";
/// Error text if no origin is configured.
const NO_ADDRESS: &str = "Feeds name the address of this server: its operator sets it in the \
    settings, as base_url in the table [web], or as CURLEW_WEB_BASE_URL.";
/// Other search engines must not index our results.
const NOINDEX: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex"));

/// Names of the formats, as in the paths of feeds, with their media types.
const FORMATS: [(&str, &str); 3] = [
    (ATOM, "application/atom+xml; charset=utf-8"),
    (RSS, "application/rss+xml; charset=utf-8"),
    ("json", "application/feed+json"),
];
const ATOM: &str = "atom";
const RSS: &str = "rss";

struct Feed<'a> {
    id: String,
    title: String,
    name: &'a str,
    page: String,
    own: String,
    updated: Timestamp,
    /// Sentences about pages that were not searched, and about parts of the query that were left out.
    note: Option<String>,
    /// Hits with a web URL. The author defaults to the site; a publication date after [`SearchHit::date`] is left out.
    entries: Vec<SearchHit>,
}

#[derive(Template)]
#[template(path = "atom.xml")]
struct Atom<'a> {
    feed: &'a Feed<'a>,
}

#[derive(Template)]
#[template(path = "rss.xml")]
struct Rss<'a> {
    feed: &'a Feed<'a>,
}

/// `GET /feed/atom?q=`, `/feed/rss?q=`, `/feed/json?q=`
pub(crate) async fn show(request: PageRequest, Path(form): Path<String>, uri: Uri) -> Result<Response, Refusal> {
    let app = &request.app;
    let known = FORMATS.into_iter().find(|(name, _)| *name == form);
    let Some((form, media_type)) = known else { return Ok(api::no_such_address()) };
    let origin = app.origin.as_deref().ok_or_else(|| Refusal::new(Problem::NO_ADDRESS, NO_ADDRESS))?;
    // Programs read feeds, and get English texts.
    let t = Search::in_language(Language::English);
    let params = api::params(&uri)?;
    let query = api::query(&params)?;
    if let Some(why) = unreadable(query) {
        return Err(api::not_found_out(FindError::BadQuery(why)));
    }
    api::admit(&request)?;
    let found = app.services.search.find(&newest_first(query), Start::Offset(0), ENTRIES).await;
    let found = found.map_err(api::not_found_out)?;
    let not_searched = t.unsearched_parts(&found, Language::English);
    let caching = if not_searched.is_some() { REVALIDATED } else { AS_OFTEN };
    let notes: Vec<String> = found.notes.iter().map(t.misread).chain(not_searched).collect();
    let note = (!notes.is_empty()).then(|| clean(&notes.join(" ")));
    let feed = Feed { note, ..Feed::new(&app.settings.title, origin, query, form, &found.hits) };
    let body = match form {
        ATOM => Atom { feed: &feed }.render(),
        RSS => Rss { feed: &feed }.render(),
        _ => Ok(json_feed(&feed).to_string()),
    };
    let Ok(body) = body.inspect_err(|error| tracing::error!(%error, "a feed could not be rendered")) else {
        return Ok(StatusCode::INTERNAL_SERVER_ERROR.into_response());
    };
    let own = [(LINK, format!("<{}>; rel=\"self\"", feed.own))];
    Ok(([NOINDEX], typed(media_type, caching), own, body).into_response())
}

/// Escapes a text for an RSS `description`, which contains HTML, so that markup in the text has no effect.
fn as_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns the error if no part of a query is understood. Sorted by date, such a query would find all pages.
fn unreadable(query: &str) -> Option<QueryError> {
    let (_, notes) = Query::read(query);
    let is_empty = notes.last() == Some(&QueryError::Empty);
    notes.into_iter().next().filter(|_| is_empty)
}

/// Adds `sort:date` to a query, unless the query names an order itself.
pub(crate) fn newest_first(query: &str) -> String {
    let is_sorted = query.split_whitespace().any(|word| word.starts_with("sort:"));
    if is_sorted { query.to_owned() } else { format!("{NEWEST_FIRST}{query}") }
}

impl Feed<'_> {
    fn new<'a>(name: &'a str, origin: &str, query: &str, form: &str, hits: &[SearchHit]) -> Feed<'a> {
        let entries: Vec<SearchHit> = hits.iter().filter_map(entry).collect();
        Feed {
            id: urn(query),
            title: format!("{} – {name}", clipped(query, MAX_TITLE)),
            name,
            page: format!("{origin}/?{}", query_string(query)),
            own: format!("{origin}/feed/{form}?{}", query_string(query)),
            // A feed without entries must not change from one response to the next either.
            updated: entries.iter().map(|entry| entry.date).max().unwrap_or(Timestamp::EPOCH),
            note: None,
            entries,
        }
    }
}

fn entry(hit: &SearchHit) -> Option<SearchHit> {
    let title = clipped(&hit.title, MAX_TITLE);
    let author = hit.author.as_deref().map(|name| clipped(name, MAX_SITE)).filter(|name| !name.is_empty());
    Some(SearchHit {
        url: web_url(&hit.url)?.into(),
        title: if title.is_empty() { clipped(&hit.url, MAX_TITLE) } else { title },
        snippet: clean(&hit.snippet),
        author: author.or_else(|| Some(clipped(&hit.site, MAX_SITE)).filter(|site| !site.is_empty())),
        categories: hit.categories.iter().map(|name| clipped(name, MAX_SITE)).collect(),
        image: hit.image.as_deref().and_then(web_url).map(String::from),
        published: hit.published.filter(|published| *published <= hit.date),
        date: hit.date,
        ..SearchHit::default()
    })
}

fn json_feed(feed: &Feed<'_>) -> Value {
    let items = feed.entries.iter().map(|entry| {
        let author = entry.author.as_ref().map(|author| json!([{"name": author}]));
        let tags = Some(&entry.categories).filter(|tags| !tags.is_empty());
        without_nulls(json!({
            "id": entry.url, "url": entry.url, "title": entry.title, "content_text": entry.snippet,
            "date_modified": entry.date, "date_published": entry.published, "authors": author, "tags": tags,
            "image": entry.image
        }))
    });
    without_nulls(json!({
        "version": "https://jsonfeed.org/version/1.1", "title": feed.title, "home_page_url": feed.page,
        "feed_url": feed.own, "items": items.collect::<Vec<_>>(), "description": feed.note
    }))
}

fn without_nulls(mut object: Value) -> Value {
    if let Value::Object(members) = &mut object {
        members.retain(|_, value| !value.is_null());
    }
    object
}

/// Returns an identifier of the search that does not depend on our origin: a UUID of version 8 (RFC 9562 §5.8).
fn urn(query: &str) -> String {
    let hex = hex(&Sha256::digest(query)[..16]);
    format!("urn:uuid:{}-{}-8{}-8{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn a_search_keeps_its_name_and_its_own_order() {
        assert_eq!(urn("mud flats"), urn("mud flats"));
        assert_ne!(urn("mud flats"), urn("mud"));
        assert_eq!(urn("mud").len(), "urn:uuid:00000000-0000-8000-8000-000000000000".len());
        assert_eq!(newest_first("mud flats"), "sort:date mud flats");
        assert_eq!(newest_first("mud sort:relevance"), "mud sort:relevance");
    }
}
