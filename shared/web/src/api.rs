//! The API for programs, with the same JSON that the command line prints. On a public site, web pages of every origin
//! may read it. Its paths begin with a version. Paths without a version are deprecated aliases of version 1.

use crate::app::{App, PageRequest};
use crate::hit::web_url;
use crate::language::Language;
use crate::page::{self, A_DAY, REVALIDATED, typed, wait_seconds, waiting};
use crate::params::{MAX_REACH, PAGE_SIZE, Params};
use crate::quota::Allowance;
use crate::site_list::SitePart;
use crate::status::ForPrograms;
use crate::text::clean;
use crate::words::Search;
use askama::Template;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::{ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, HeaderName, HeaderValue, LINK};
use axum::http::{StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use curlew_catalog::results::{FindError, SearchHit, SearchResults, Start};
use curlew_model::{MAX_QUERY_BYTES, Millis, QueryError};
use curlew_ports::stage::StageError;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

pub(crate) const JSON: &str = "application/json";
/// The media type of a problem (RFC 9457 §6.1).
const PROBLEM_JSON: &str = "application/problem+json";
/// Path of the tools for assistants.
pub(crate) const MCP: &str = "/mcp";
/// Prefix of the paths of the API.
pub(crate) const V1: &str = "/api/v1";
/// Prefix of the paths that the API had before it was versioned.
pub(crate) const UNVERSIONED: &str = "/api";
/// Time since which the paths without a version are deprecated (RFC 9745 §2.1): 28 November 2026.
const DEPRECATED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("deprecation"), HeaderValue::from_static("@1795824000"));
/// Maximum number of results of one query that a program may reach by following cursors.
const MAX_DEPTH: usize = 10_000;

/// A kind of problem: its status, the fragment of its type's URI, and its title.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Problem(StatusCode, &'static str, &'static str);

impl Problem {
    pub(crate) const BAD_QUERY: Self = Self(StatusCode::BAD_REQUEST, "bad_query", "The query cannot be read");
    pub(crate) const BAD_CURSOR: Self = Self(StatusCode::BAD_REQUEST, "bad_cursor", "The cursor is not valid");
    pub(crate) const NOT_FOUND: Self = Self(StatusCode::NOT_FOUND, "not_found", "There is nothing at this address");
    pub(crate) const NO_ADDRESS: Self =
        Self(StatusCode::NOT_FOUND, "no_address", "This server does not know its own address");
    pub(crate) const WRONG_METHOD: Self =
        Self(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", "The method is not allowed");
    pub(crate) const WRONG_HOST: Self =
        Self(StatusCode::MISDIRECTED_REQUEST, "wrong_host", "This host name is not ours");
    pub(crate) const TOO_MANY_REQUESTS: Self =
        Self(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", "Too many requests");
    pub(crate) const UNAVAILABLE: Self =
        Self(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "The index is unavailable");
    pub(crate) const INTERNAL: Self =
        Self(StatusCode::INTERNAL_SERVER_ERROR, "internal", "Something went wrong on our side");
}

#[derive(Debug)]
pub(crate) struct Refusal {
    kind: Problem,
    /// A sentence that says what to do.
    pub(crate) detail: String,
    /// Time after which a retry may succeed.
    wait: Option<Millis>,
}

impl Refusal {
    pub(crate) fn new(kind: Problem, detail: impl Into<String>) -> Refusal {
        Refusal { kind, detail: detail.into(), wait: None }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        waiting(problem(self.kind, self.detail), self.wait)
    }
}

/// Returns problem details (RFC 9457). Their type is a fragment of the API's description.
pub(crate) fn problem(kind: Problem, detail: impl Into<String>) -> Response {
    let Problem(status, name, title) = kind;
    let kind = format!("{V1}/openapi.json#{name}");
    let details = ProblemDetails { kind, title, status: status.as_u16(), detail: detail.into() };
    (status, typed(PROBLEM_JSON, "no-store"), Json(details)).into_response()
}

/// A problem (RFC 9457).
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
struct ProblemDetails {
    /// This description, and after its `#` the kind: bad_query, bad_cursor, not_found, no_address, wrong_method,
    /// wrong_host, too_many_requests, unavailable, internal.
    #[serde(rename = "type")]
    #[schemars(extend("format" = "uri-reference"))]
    kind: String,
    title: &'static str,
    /// The status code of the answer.
    status: u16,
    /// A sentence that says what to do.
    detail: String,
}

/// `GET /api/v1/search?q=&limit=&offset=`, or `&cursor=` with `next` of the previous response
pub(crate) async fn search(request: PageRequest, uri: Uri) -> Result<Response, Refusal> {
    Ok(answer(find(&request, &params(&uri)?).await?))
}

pub(crate) async fn find(request: &PageRequest, params: &Params) -> Result<Answer, Refusal> {
    let (query, start, limit) = parse_request(params)?;
    admit(request)?;
    request.app.services.search.find(query, start, limit).await.map(Answer::new).map_err(not_found_out)
}

/// Takes one search from the caller's allowance.
pub(crate) fn admit(request: &PageRequest) -> Result<(), Refusal> {
    let admitted = request.app.admit(Allowance::Search, request.caller);
    admitted.map_err(|wait| later(Problem::TOO_MANY_REQUESTS, "Too many searches from this address", wait))
}

/// Returns the query of a program's request, or an error if it is empty.
pub(crate) fn query(params: &Params) -> Result<&str, Refusal> {
    let query = params.query();
    if query.is_empty() { Err(bad_query(Search::in_language(Language::English).no_question)) } else { Ok(query) }
}

pub(crate) fn params(uri: &Uri) -> Result<Params, Refusal> {
    // Programs get English texts.
    Params::parse(uri).map_err(|wrong| bad_query(wrong.message(Search::in_language(Language::English))))
}

pub(crate) fn answer(found: impl Serialize) -> Response {
    (typed(JSON, REVALIDATED), Json(found)).into_response()
}

pub(crate) fn bad_query(sentence: impl Into<String>) -> Refusal {
    Refusal::new(Problem::BAD_QUERY, sentence)
}

pub(crate) fn not_found_out(error: FindError) -> Refusal {
    match error {
        FindError::BadQuery(QueryError::Cursor) => Refusal::new(
            Problem::BAD_CURSOR,
            "The cursor is not one that was given for this query, or it is too old; ask without it for the first \
             results.",
        ),
        FindError::BadQuery(wrong) => bad_query(wrong.to_string()),
        FindError::Port(error) => out_of_reach("find", &error.into()),
    }
}

/// Returns the refusal for an error of a stage, and logs the error.
pub(crate) fn out_of_reach(tried: &'static str, error: &StageError) -> Refusal {
    match page::outcome(tried, error) {
        (_, Some(wait)) => later(Problem::UNAVAILABLE, "The index is out of reach at the moment", wait),
        (_, None) => Refusal::new(Problem::INTERNAL, "The log of this server says what it is."),
    }
}

/// Returns the refusal of a request that may be repeated after `wait`, which its sentence states.
fn later(kind: Problem, reason: &str, wait: Millis) -> Refusal {
    let remedy = match wait_seconds(wait) {
        1 => "try again in a second".to_owned(),
        seconds => format!("try again in {seconds} seconds"),
    };
    Refusal { wait: Some(wait), ..Refusal::new(kind, format!("{reason}; {remedy}.")) }
}

pub(crate) fn no_such_address() -> Response {
    problem(Problem::NOT_FOUND, "The description at /api/v1/openapi.json names the addresses that there are.")
}

/// True if a path is for programs, which get errors as JSON.
pub(crate) fn is_for_programs(path: &str) -> bool {
    is_of_api(path) || path.starts_with("/feed/") || ["/status.json", "/healthz", MCP].contains(&path)
}

fn is_of_api(path: &str) -> bool {
    path.strip_prefix(UNVERSIONED).is_some_and(|rest| rest.starts_with('/'))
}

/// Lets web pages of every origin read the responses of the API (CORS): it uses no cookies or credentials. Web pages
/// that the user of this machine visits must not read this user's index.
pub(crate) async fn to_every_origin(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let is_open = is_of_api(request.uri().path()) && !app.has_own_names_only();
    let mut response = next.run(request).await;
    if is_open {
        response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    }
    response
}

/// Marks responses of paths without a version as deprecated (RFC 9745), and links their successors in [`V1`] (RFC
/// 5829).
pub(crate) async fn deprecated(request: Request, next: Next) -> Response {
    let path = request.uri().path_and_query().and_then(|path| path.as_str().strip_prefix(UNVERSIONED));
    let successor = format!("<{V1}{}>; rel=\"successor-version\"", path.unwrap_or_default());
    let mut response = next.run(request).await;
    response.headers_mut().extend([DEPRECATED]);
    response.headers_mut().extend(HeaderValue::try_from(successor).map(|link| (LINK, link)));
    response
}

/// `OPTIONS` of a path of the API: answers a browser's CORS preflight request.
pub(crate) async fn preflight() -> Response {
    (StatusCode::NO_CONTENT, [(ACCESS_CONTROL_ALLOW_METHODS, "GET")]).into_response()
}

#[derive(Template)]
#[template(path = "openapi.json", escape = "none")]
struct Description {
    schemas: Value,
    /// True if web pages of every origin may read the responses.
    is_open: bool,
}

/// `GET /api/v1/openapi.json`: the description of the API for programs (OpenAPI 3.1).
pub(crate) async fn description(State(app): State<Arc<App>>) -> Response {
    let description = Description { schemas: schemas(), is_open: !app.has_own_names_only() };
    page::text(StatusCode::OK, JSON, A_DAY, &description)
}

/// Returns the JSON schemas of the responses, generated from their types.
fn schemas() -> Value {
    let mut settings = SchemaSettings::draft2020_12().for_serialize().with_transform(RecursiveTransform(never_null));
    settings.definitions_path = "/components/schemas".into();
    let mut generator = settings.into_generator();
    generator.subschema_for::<Answer>();
    generator.subschema_for::<SitePart>();
    generator.subschema_for::<ForPrograms>();
    generator.subschema_for::<ProblemDetails>();
    Value::Object(generator.take_definitions(true))
}

/// Removes `null` from the types of optional members: a member without a value is left out.
fn never_null(schema: &mut Schema) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| required.as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let members = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (_, member) in members.into_iter().flatten().filter(|(name, _)| !is_required(name)) {
        if let Some(Value::Array(types)) = member.get_mut("type") {
            types.retain(|kind| kind != "null");
        }
        let choices = member.get("anyOf").and_then(Value::as_array);
        let only = choices.and_then(|all| all.iter().find(|one| one["type"] != "null")).cloned();
        if let (Some(only), Some(member)) = (only, member.as_object_mut()) {
            member.remove("anyOf");
            member.extend(only.as_object().cloned().unwrap_or_default());
        }
    }
}

fn parse_request(params: &Params) -> Result<(&str, Start<'_>, usize), Refusal> {
    let query = query(params)?;
    let limit = limit(params, PAGE_SIZE)?;
    if let Some(cursor) = params.get("cursor").filter(|cursor| !cursor.is_empty()) {
        return Ok((query, Start::After(cursor), limit));
    }
    let offset = params.number("offset", 0).ok().filter(|offset| *offset < MAX_REACH);
    let offset = offset.ok_or_else(|| bad_query(format!("offset must be a number from 0 to {}.", MAX_REACH - 1)))?;
    // With an offset, no request reaches beyond `MAX_REACH`.
    Ok((query, Start::Offset(offset), limit.min(MAX_REACH - offset)))
}

/// Returns the parameter `limit`, or `usual` if it is absent; an error unless it is from 1 to [`MAX_REACH`].
pub(crate) fn limit(params: &Params, usual: usize) -> Result<usize, Refusal> {
    let limit = params.number("limit", usual).ok().filter(|n| (1..=MAX_REACH).contains(n));
    limit.ok_or_else(|| bad_query(format!("limit must be a number from 1 to {MAX_REACH}.")))
}

/// Search results with notes as sentences, cleaned for programs.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Found")]
pub(crate) struct Answer {
    #[serde(flatten)]
    found: SearchResults,
    /// Parts of the query that were left out or read in another way, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl Answer {
    fn new(mut found: SearchResults) -> Answer {
        let notes = std::mem::take(&mut found.notes);
        Answer { found: fit_for_programs(found), notes: notes.iter().map(|note| clean(&note.to_string())).collect() }
    }
}

/// Cleans the texts of a hit, and drops an image address that is not a web URL.
pub(crate) fn cleaned(hit: SearchHit) -> SearchHit {
    SearchHit {
        title: clean(&hit.title),
        snippet: clean(&hit.snippet),
        site: clean(&hit.site),
        author: hit.author.as_deref().map(clean),
        categories: hit.categories.iter().map(|name| clean(name)).collect(),
        image: hit.image.filter(|i| web_url(i).is_some()),
        // JSON cannot express NaN or infinity.
        score: if hit.score.is_finite() { hit.score } else { 0.0 },
        ..hit
    }
}

/// Cleans the texts of results, drops hits without a web URL, and cuts the results at [`MAX_DEPTH`].
fn fit_for_programs(mut found: SearchResults) -> SearchResults {
    let room = usize::try_from((MAX_DEPTH as u64).saturating_sub(found.before)).unwrap_or(MAX_DEPTH);
    let is_deepest = found.before + found.hits.len() as u64 >= MAX_DEPTH as u64;
    let hits = std::mem::take(&mut found.hits).into_iter().take(room).filter(|hit| web_url(&hit.url).is_some());
    SearchResults {
        hits: hits.map(cleaned).collect(),
        next: found.next.take().filter(|_| !is_deepest),
        suggestion: found.suggestion.as_deref().map(clean),
        ..found
    }
}
