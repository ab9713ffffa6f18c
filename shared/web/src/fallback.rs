//! Responses to requests that no handler answers: unknown paths, wrong methods, foreign host names, panics.

use crate::api::{self, Problem};
use crate::app::PageRequest;
use crate::origin::is_by_own_name;
use crate::page::{self, internal, no_such_page};
use crate::words::Message;
use axum::Extension;
use axum::extract::Request;
use axum::http::{StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

pub(crate) async fn not_found(request: PageRequest, uri: Uri) -> Response {
    if api::is_for_programs(uri.path()) { api::no_such_address() } else { no_such_page(request.site()) }
}

pub(crate) async fn wrong_method(request: PageRequest, uri: Uri) -> Response {
    if api::is_for_programs(uri.path()) {
        return api::problem(Problem::WRONG_METHOD, "Only GET is understood here.");
    }
    page::wrong_method(request.site())
}

/// Refuses requests under foreign host names if the pages serve only the user of this machine.
pub(crate) async fn own_names_only(asked: PageRequest, request: Request, next: Next) -> Response {
    if !asked.app.has_own_names_only() || is_by_own_name(request.headers()) {
        return next.run(request).await;
    }
    if api::is_for_programs(request.uri().path()) {
        return api::problem(Problem::WRONG_HOST, Message::in_language(asked.language).wrong_host.text);
    }
    page::message(asked.site(), StatusCode::MISDIRECTED_REQUEST, |t| &t.wrong_host)
}

/// Marks the response of a handler that panicked.
#[derive(Clone, Copy)]
struct Panicked;

/// Returns the marked response after a panic, for [`apologise`] to replace; the request is not available here.
pub(crate) fn panicked() -> Response {
    (Extension(Panicked), StatusCode::INTERNAL_SERVER_ERROR).into_response()
}

/// Replaces the response after a panic by a page in the request's language, or by problem details for a program.
pub(crate) async fn apologise(asked: PageRequest, request: Request, next: Next) -> Response {
    let is_program = api::is_for_programs(request.uri().path());
    let response = next.run(request).await;
    match response.extensions().get::<Panicked>() {
        Some(Panicked) if is_program => api::problem(Problem::INTERNAL, "The log of this server says what it is."),
        Some(Panicked) => internal(asked.site()),
        None => response,
    }
}
