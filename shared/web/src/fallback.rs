//! Answers for requests without a handler's answer: an unknown address, a wrong method, a name of others, a panic.

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
        return api::problem(Problem::WrongMethod, "Only GET is understood here.");
    }
    page::wrong_method(request.site())
}

/// Refuses a request under a name of others, if the pages are for the user of this machine.
pub(crate) async fn own_names_only(asked: PageRequest, request: Request, next: Next) -> Response {
    if !asked.app.has_own_names_only() || is_by_own_name(request.headers()) {
        return next.run(request).await;
    }
    if api::is_for_programs(request.uri().path()) {
        return api::problem(Problem::WrongHost, Message::in_language(asked.language).wrong_host.text);
    }
    page::message(asked.site(), StatusCode::MISDIRECTED_REQUEST, |t| &t.wrong_host)
}

/// Marks the answer that replaces that of a panicked handler.
#[derive(Clone, Copy)]
struct Panicked;

/// Returns the answer after a panic, where the request is no longer known.
pub(crate) fn panicked() -> Response {
    (Extension(Panicked), StatusCode::INTERNAL_SERVER_ERROR).into_response()
}

/// Replaces the answer after a panic with a page in the request's language, or with a problem for a program.
pub(crate) async fn apologise(asked: PageRequest, request: Request, next: Next) -> Response {
    let is_program = api::is_for_programs(request.uri().path());
    let response = next.run(request).await;
    match response.extensions().get::<Panicked>() {
        Some(Panicked) if is_program => api::problem(Problem::Internal, "The log of this server says what it is."),
        Some(Panicked) => internal(asked.site()),
        None => response,
    }
}
