//! Pages: how a template becomes an answer, and the pages that only say something.

use crate::app::App;
use askama::Template;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use curlew_model::Millis;
use curlew_ports::PortError;
use std::sync::Arc;

/// How long to wait before asking again when a store is out of reach and does not say so itself.
const RETRY: Millis = Millis::from_secs(30);
/// May be kept, but has to be asked for again each time: what is gone must not be found from a cache.
pub(crate) const REVALIDATED: &str = "no-cache";
/// For pages that only change with the configuration.
pub(crate) const AN_HOUR: &str = "public, max-age=3600";
/// For pages that hardly ever change.
pub(crate) const A_DAY: &str = "public, max-age=86400";

/// What every page shows.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// The search engine's name.
    pub(crate) title: String,
    /// Whether there is an OpenSearch description.
    pub(crate) opensearch: bool,
    /// Tells one style sheet from the next.
    pub(crate) style: String,
}

#[derive(Template)]
#[template(path = "message.html")]
struct Message<'a> {
    site: &'a Site,
    heading: &'a str,
    text: &'a str,
}

/// Renders a template.
pub(crate) fn html(status: StatusCode, cache: &'static str, template: &impl Template) -> Response {
    text(status, "text/html; charset=utf-8", cache, template)
}

/// Renders a template of any media type.
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

/// The two headers that every body has.
pub(crate) fn typed(media_type: &'static str, cache: &'static str) -> [(HeaderName, HeaderValue); 2] {
    [(CONTENT_TYPE, HeaderValue::from_static(media_type)), (CACHE_CONTROL, HeaderValue::from_static(cache))]
}

/// A page that only says something.
pub(crate) fn message(site: &Site, status: StatusCode, heading: &str, text: &str) -> Response {
    html(status, "no-store", &Message { site, heading, text })
}

/// The page for an address that leads nowhere.
pub(crate) async fn not_found(State(app): State<Arc<App>>) -> Response {
    no_such_page(&app.site)
}

/// The same, for handlers.
pub(crate) fn no_such_page(site: &Site) -> Response {
    message(site, StatusCode::NOT_FOUND, "Nothing here", "There is no page at this address.")
}

/// The page for a method that an address does not know.
pub(crate) async fn wrong_method(State(app): State<Arc<App>>) -> Response {
    let text = "This address does not take requests of this kind.";
    message(&app.site, StatusCode::METHOD_NOT_ALLOWED, "Not like this", text)
}

/// The page for a fault of ours.
pub(crate) fn internal(site: &Site) -> Response {
    let text = "Something went wrong on our side. It has been written down; please try again in a while.";
    message(site, StatusCode::INTERNAL_SERVER_ERROR, "That went wrong", text)
}

/// The page for a caller that has used up its allowance.
pub(crate) fn too_many(site: &Site, wait: Millis) -> Response {
    let text = "That was a lot at once. Please wait a moment and try again.";
    waiting(message(site, StatusCode::TOO_MANY_REQUESTS, "One moment, please", text), wait)
}

/// The page for a port's error, which is logged here.
pub(crate) fn trouble(site: &Site, tried: &'static str, error: &PortError) -> Response {
    let (status, wait) = outcome(tried, error);
    match wait {
        Some(wait) => {
            let text = "What is behind this page is out of reach at the moment. Please try again in a while.";
            waiting(message(site, status, "Please come back later", text), wait)
        }
        None => internal(site),
    }
}

/// The status for a port's error, and how long to wait if trying again may help. Logs it.
pub(crate) fn outcome(tried: &'static str, error: &PortError) -> (StatusCode, Option<Millis>) {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    tracing::error!(tried, error = %error, cause, "a request could not be answered");
    match error {
        PortError::Throttled { retry_after } => (StatusCode::SERVICE_UNAVAILABLE, Some(*retry_after)),
        error if error.is_transient() => (StatusCode::SERVICE_UNAVAILABLE, Some(RETRY)),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, None),
    }
}

/// Adds `Retry-After` (RFC 9110 §10.2.3), in whole seconds and at least one.
pub(crate) fn waiting(mut response: Response, wait: Millis) -> Response {
    let seconds = wait.0.div_ceil(1_000).max(1);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}
