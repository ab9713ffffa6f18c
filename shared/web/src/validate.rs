//! Conditional requests: weak entity tags for cacheable responses (RFC 9110 §§8.8.3, 13.1.2).

use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, VARY,
};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use curlew_model::hex;
use sha2::{Digest, Sha256};

/// Maximum length of a body that gets a tag, in bytes; pages and feeds are all shorter.
const MAX_TAGGED: u64 = 1 << 20;
/// Number of bytes of the hash in a tag.
const TAG_BYTES: usize = 8;

/// Adds an entity tag to the response to a GET, and returns a 304 instead if the caller already has this version. The
/// tag is weak because the response may be compressed.
pub(crate) async fn tagged(request: Request, next: Next) -> Response {
    let known = (request.method() == Method::GET).then(|| request.headers().clone());
    let response = next.run(request).await;
    match known {
        Some(known) if is_to_be_tagged(&response) => tag(&known, response).await,
        _ => response,
    }
}

/// True if a response gets a tag. A `no-store` response needs none, and an `immutable` one is not requested again.
fn is_to_be_tagged(response: &Response) -> bool {
    let cache = response.headers().get(CACHE_CONTROL).and_then(|v| v.to_str().ok()).unwrap_or("no-store");
    let fits = response.body().size_hint().exact().is_some_and(|length| length <= MAX_TAGGED);
    response.status() == StatusCode::OK && fits && !cache.contains("no-store") && !cache.contains("immutable")
}

async fn tag(known: &HeaderMap, response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, MAX_TAGGED as usize).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let tag = format!("\"{}\"", hex(&Sha256::digest(&bytes)[..TAG_BYTES]));
    // A tagged response may be compressed, and a 304 has the same `Vary` as its 200 (RFC 9110 §15.4.5).
    parts.headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    if let Ok(tag) = HeaderValue::try_from(format!("W/{tag}")) {
        parts.headers.insert(ETAG, tag);
    }
    if !is_known(known, &tag) {
        return Response::from_parts(parts, bytes.into());
    }
    parts.status = StatusCode::NOT_MODIFIED;
    // A 304 has no body to describe.
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.remove(CONTENT_TYPE);
    Response::from_parts(parts, Body::empty())
}

/// True if `If-None-Match` contains this tag (by weak comparison) or `*`.
fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let lines = headers.get_all(IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim).any(|one| one == "*" || one.trim_start_matches("W/") == tag)
}
