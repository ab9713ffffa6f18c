//! Turns templates into responses, and renders the pages that only show a message.

use crate::files::STYLE;
use crate::language::Language;
use crate::words::{Frame, Message, Said};
use askama::Template;
use axum::http::header::{CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_TYPE, HeaderValue, RETRY_AFTER, VARY};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use curlew_model::{JobFailure, Millis, hex};
use curlew_ports::stage::StageError;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// Value of `Retry-After` if a store is unreachable and states no time itself.
const RETRY: Millis = Millis::from_secs(30);
/// `Cache-Control` of responses that caches must revalidate each time, because they may name pages that were removed.
pub(crate) const REVALIDATED: &str = "no-cache";
/// `Cache-Control` of pages that change only with the configuration.
pub(crate) const AN_HOUR: &str = "public, max-age=3600";
/// `Cache-Control` of pages that hardly ever change.
pub(crate) const A_DAY: &str = "public, max-age=86400";
/// `Cache-Control` of content whose URL changes with it.
pub(crate) const FOREVER: &str = "public, max-age=31536000, immutable";

/// Data that every page needs, in the language of the request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    pub(crate) title: &'a str,
    /// True if there is an OpenSearch description.
    pub(crate) opensearch: bool,
    pub(crate) language: Language,
    pub(crate) t: &'static Frame,
}

impl Site<'_> {
    /// Returns the version of the style sheet (a hash), which is part of its URL.
    pub(crate) fn style(&self) -> &'static str {
        static VERSION: LazyLock<String> = LazyLock::new(|| hex(&Sha256::digest(STYLE)[..4]));
        &VERSION
    }
}

#[derive(Template)]
#[template(path = "message.html")]
struct MessagePage<'a> {
    site: Site<'a>,
    back: &'static str,
    said: &'static Said,
}

pub(crate) fn html(language: Language, status: StatusCode, cache: &'static str, page: &impl Template) -> Response {
    spoken(language, text(status, "text/html; charset=utf-8", cache, page))
}

pub(crate) fn text(
    status: StatusCode,
    media_type: &'static str,
    cache: &'static str,
    template: &impl Template,
) -> Response {
    match template.render() {
        Ok(body) => (status, typed(media_type, cache), body).into_response(),
        Err(error) => {
            tracing::error!(%error, "a page could not be rendered");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Adds `Content-Language` and `Vary: accept-language` (RFC 9110 §§8.5, 12.5.5), so that a cache does not serve the
/// response to callers who prefer another language.
pub(crate) fn spoken(language: Language, mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CONTENT_LANGUAGE, HeaderValue::from_static(language.tag()));
    headers.insert(VARY, HeaderValue::from_static("accept-language"));
    response
}

/// Returns the headers `Content-Type` and `Cache-Control`.
pub(crate) fn typed(media_type: &'static str, cache: &'static str) -> [(HeaderName, HeaderValue); 2] {
    [(CONTENT_TYPE, HeaderValue::from_static(media_type)), (CACHE_CONTROL, HeaderValue::from_static(cache))]
}

pub(crate) fn message(site: Site<'_>, status: StatusCode, choose: fn(&Message) -> &Said) -> Response {
    let t = Message::in_language(site.language);
    html(site.language, status, "no-store", &MessagePage { site, back: t.back, said: choose(t) })
}

pub(crate) fn no_such_page(site: Site<'_>) -> Response {
    message(site, StatusCode::NOT_FOUND, |t| &t.no_such_page)
}

pub(crate) fn wrong_method(site: Site<'_>) -> Response {
    message(site, StatusCode::METHOD_NOT_ALLOWED, |t| &t.wrong_method)
}

pub(crate) fn internal(site: Site<'_>) -> Response {
    message(site, StatusCode::INTERNAL_SERVER_ERROR, |t| &t.internal)
}

pub(crate) fn too_many(site: Site<'_>, wait: Millis) -> Response {
    waiting(message(site, StatusCode::TOO_MANY_REQUESTS, |t| &t.too_many), Some(wait))
}

/// Renders the page for an error of a stage, and logs the error.
pub(crate) fn stage_error(site: Site<'_>, tried: &'static str, error: &StageError) -> Response {
    match outcome(tried, error) {
        (status, Some(wait)) => waiting(message(site, status, |t| &t.unavailable), Some(wait)),
        (_, None) => internal(site),
    }
}

/// Returns the status for an error of a stage, and the time to wait if a retry may succeed. Logs the error.
pub(crate) fn outcome(tried: &'static str, error: &StageError) -> (StatusCode, Option<Millis>) {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    tracing::error!(tried, error = %error, cause, "a request could not be answered");
    match error.kind() {
        JobFailure::Throttled(asked) => (StatusCode::SERVICE_UNAVAILABLE, Some(asked)),
        JobFailure::Transient => (StatusCode::SERVICE_UNAVAILABLE, Some(RETRY)),
        JobFailure::Permanent => (StatusCode::INTERNAL_SERVER_ERROR, None),
    }
}

/// Adds `Retry-After` (RFC 9110 §10.2.3) if there is a time to wait, in whole seconds and at least one.
pub(crate) fn waiting(mut response: Response, wait: Option<Millis>) -> Response {
    let seconds = wait.map(|wait| HeaderValue::from(wait_seconds(wait)));
    response.headers_mut().extend(seconds.map(|seconds| (RETRY_AFTER, seconds)));
    response
}

/// Returns a time to wait in whole seconds, at least one.
pub(crate) fn wait_seconds(wait: Millis) -> u64 {
    wait.0.div_ceil(1_000).max(1)
}

#[cfg(test)]
mod tests {
    use super::{RETRY, outcome};
    use axum::http::StatusCode;
    use curlew_model::Millis;
    use curlew_ports::PortError;
    use curlew_ports::stage::StageError;

    #[test]
    fn only_what_may_succeed_later_is_to_be_tried_again() {
        let unavailable = PortError::Unavailable { what: "the store".into(), source: None };
        let corrupt = PortError::Corrupt { what: "an object".into(), why: "it is torn".into() };
        let asked = Millis::from_secs(7);
        for (error, expected) in [
            (StageError::Job("it is never done".into()), (StatusCode::INTERNAL_SERVER_ERROR, None)),
            (corrupt.into(), (StatusCode::INTERNAL_SERVER_ERROR, None)),
            (unavailable.into(), (StatusCode::SERVICE_UNAVAILABLE, Some(RETRY))),
            (PortError::Throttled { retry_after: asked }.into(), (StatusCode::SERVICE_UNAVAILABLE, Some(asked))),
        ] {
            assert_eq!(outcome("test", &error), expected, "{error}");
        }
    }
}
