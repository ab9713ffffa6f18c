//! The search API: the same JSON that the command line prints. That of a public site is open to every origin, for reading
//! only.

use crate::app::{App, CallerAddress};
use crate::hit::web_url;
use crate::language::Language;
use crate::page::{self, A_DAY, REVALIDATED, typed, waiting};
use crate::params::{MAX_REACH, PAGE_SIZE, Params};
use crate::quota::Allowance;
use crate::text::clean;
use crate::words::Search;
use askama::Template;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::{ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue};
use axum::http::{StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use curlew_catalog::results::{FindError, SearchHit, SearchResults, Start};
use curlew_model::{MAX_QUERY_BYTES, Millis, QueryError};
use curlew_ports::stage::StageError;
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;

/// The media type of JSON (RFC 8259 §11).
pub(crate) const JSON: &str = "application/json";
/// Beginning of the paths of the API.
const API: &str = "/api/";

/// `GET /api/search?q=&limit=&offset=`, or `&cursor=` with `next` of the answer before
pub(crate) async fn search(State(app): State<Arc<App>>, caller: CallerAddress, uri: Uri) -> Response {
    let bad_query = |sentence: String| failure(StatusCode::BAD_REQUEST, "bad_query", sentence);
    let params = match Params::parse(&uri) {
        Ok(params) => params,
        // Programs are answered in one language.
        Err(wrong) => return bad_query(wrong.message(Search::in_language(Language::English)).to_owned()),
    };
    let (query, start, limit) = match parse_request(&params) {
        Ok(asked) => asked,
        Err(sentence) => return bad_query(sentence),
    };
    if let Err(wait) = app.admit(Allowance::Search, caller) {
        return too_many(wait);
    }
    match app.services.search.find(query, start, limit).await {
        Ok(found) => (typed(JSON, REVALIDATED), Json(Answer::new(found))).into_response(),
        Err(error) => not_found_out(error),
    }
}

/// Returns the answer to a program whose search failed.
pub(crate) fn not_found_out(error: FindError) -> Response {
    match error {
        FindError::BadQuery(QueryError::Cursor) => failure(
            StatusCode::BAD_REQUEST,
            "bad_cursor",
            "The cursor is not one that was given for this query, or it is too old; ask without it for the first results.",
        ),
        FindError::BadQuery(wrong) => failure(StatusCode::BAD_REQUEST, "bad_query", wrong.to_string()),
        FindError::Port(error) => out_of_reach("find", &error.into()),
    }
}

/// Returns the answer to a program for an error of a stage, and logs the error.
pub(crate) fn out_of_reach(tried: &'static str, error: &StageError) -> Response {
    match page::outcome(tried, error) {
        (status, Some(wait)) => {
            waiting(failure(status, "unavailable", "The index is out of reach at the moment."), wait)
        }
        (status, None) => failure(status, "internal", "Something went wrong on our side."),
    }
}

/// Returns the answer to a program that has used up its allowance.
pub(crate) fn too_many(wait: Millis) -> Response {
    let sentence = "Too many searches from this address; see Retry-After.";
    waiting(failure(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", sentence), wait)
}

/// Returns the answer to a program for an unknown address.
pub(crate) fn no_such_address() -> Response {
    failure(StatusCode::NOT_FOUND, "not_found", "There is nothing at this address.")
}

/// True if a path is for programs, which are answered in JSON whatever goes wrong.
pub(crate) fn is_for_programs(path: &str) -> bool {
    path.starts_with(API) || path.starts_with("/feed/") || path == "/status.json"
}

/// Lets pages of every origin read what the API answers; there is no cookie or credential that they could use. An index for
/// the user of this machine is not for the pages of others that this user visits.
pub(crate) async fn to_every_origin(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let is_open = request.uri().path().starts_with(API) && !app.has_own_names_only();
    let mut response = next.run(request).await;
    if is_open {
        response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    }
    response
}

/// `OPTIONS /api/search`: answers a browser's preflight request.
pub(crate) async fn preflight() -> Response {
    let methods = (ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET"));
    (StatusCode::NO_CONTENT, [methods]).into_response()
}

/// Description of the API for programs, with its limits.
#[derive(Template)]
#[template(path = "openapi.json", escape = "none")]
struct Description {
    /// True if pages of every origin may read the answers.
    is_open: bool,
    max_query_bytes: usize,
    usual_limit: usize,
    max_limit: usize,
    max_offset: usize,
}

/// `GET /api/openapi.json`: the description of the API for programs (OpenAPI 3.1).
pub(crate) async fn description(State(app): State<Arc<App>>) -> Response {
    let description = Description {
        is_open: !app.has_own_names_only(),
        max_query_bytes: MAX_QUERY_BYTES,
        usual_limit: PAGE_SIZE,
        max_limit: MAX_REACH,
        max_offset: MAX_REACH - 1,
    };
    page::text(StatusCode::OK, JSON, A_DAY, &description)
}

fn parse_request(params: &Params) -> Result<(&str, Start<'_>, usize), String> {
    let query = params.query_of_program()?;
    let limit = params.number("limit", PAGE_SIZE).ok().filter(|n| (1..=MAX_REACH).contains(n));
    let limit = limit.ok_or_else(|| format!("limit must be a number from 1 to {MAX_REACH}."))?;
    if let Some(cursor) = params.get("cursor").filter(|cursor| !cursor.is_empty()) {
        return Ok((query, Start::After(cursor), limit));
    }
    let offset = params.number("offset", 0).ok().filter(|offset| *offset < MAX_REACH);
    let offset = offset.ok_or_else(|| format!("offset must be a number from 0 to {}.", MAX_REACH - 1))?;
    // Up to the maximum depth for anybody, and no further.
    Ok((query, Start::Offset(offset), limit.min(MAX_REACH - offset)))
}

pub(crate) fn failure(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Response {
    let failure = json!({ "error": { "kind": kind, "message": message.into() } });
    (status, typed(JSON, "no-store"), Json(failure)).into_response()
}

/// Search results with notes as sentences, cleaned for programs.
#[derive(Serialize)]
struct Answer {
    #[serde(flatten)]
    found: SearchResults,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl Answer {
    fn new(mut found: SearchResults) -> Answer {
        let notes = std::mem::take(&mut found.notes);
        Answer { found: fit_for_programs(found), notes: notes.iter().map(|note| clean(&note.to_string())).collect() }
    }
}

/// Removes content that could mislead a program: characters that XML forbids, and addresses that are no web URLs.
fn fit_for_programs(mut found: SearchResults) -> SearchResults {
    let room = usize::try_from((MAX_REACH as u64).saturating_sub(found.before)).unwrap_or(MAX_REACH);
    let reached = found.before + found.hits.len() as u64;
    let hits =
        std::mem::take(&mut found.hits).into_iter().take(room).filter(|h| web_url(&h.url).is_some()).map(|hit| {
            SearchHit {
                title: clean(&hit.title),
                snippet: clean(&hit.snippet),
                site: clean(&hit.site),
                author: hit.author.as_deref().map(clean),
                image: hit.image.filter(|i| web_url(i).is_some()),
                // JSON cannot express NaN or infinity.
                score: if hit.score.is_finite() { hit.score } else { 0.0 },
                ..hit
            }
        });
    let hits: Vec<SearchHit> = hits.collect();
    SearchResults {
        hits,
        // Cursors reach as deep as offsets, and no deeper.
        next: found.next.take().filter(|_| reached < MAX_REACH as u64),
        suggestion: found.suggestion.as_deref().map(clean),
        ..found
    }
}
