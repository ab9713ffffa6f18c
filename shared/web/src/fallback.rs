//! Answers for requests without a handler's answer: an unknown address, a wrong method, a name of others, a panic.

use crate::api::{self, Problem};
use crate::app::App;
use crate::language::Language;
use crate::origin::is_by_own_name;
use crate::page::{self, internal, no_such_page};
use crate::words;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// Renders the page for an unknown address.
pub(crate) async fn not_found(State(app): State<Arc<App>>, language: Language, uri: Uri) -> Response {
    if api::is_for_programs(uri.path()) {
        return api::no_such_address();
    }
    no_such_page(app.site(language))
}

/// Renders the page for a method that an address does not support.
pub(crate) async fn wrong_method(State(app): State<Arc<App>>, language: Language, uri: Uri) -> Response {
    if api::is_for_programs(uri.path()) {
        return api::problem(Problem::WrongMethod, "Only GET is understood here.");
    }
    page::status_message(
        app.site(language),
        StatusCode::METHOD_NOT_ALLOWED,
        &words::Message::in_language(language).wrong_method,
    )
}

/// Refuses a request under a name of others, if the pages are for the user of this machine.
pub(crate) async fn own_names_only(
    State(app): State<Arc<App>>,
    language: Language,
    request: Request,
    next: Next,
) -> Response {
    if !app.has_own_names_only() || is_by_own_name(request.headers()) {
        return next.run(request).await;
    }
    let said = &words::Message::in_language(language).wrong_host;
    if api::is_for_programs(request.uri().path()) {
        return api::problem(Problem::WrongHost, said.text);
    }
    page::status_message(app.site(language), StatusCode::MISDIRECTED_REQUEST, said)
}

/// Marks the answer that replaces that of a panicked handler.
#[derive(Clone, Copy)]
struct Panicked;

/// Returns the answer after a panic, where the request is no longer known.
pub(crate) fn panicked() -> Response {
    (Extension(Panicked), StatusCode::INTERNAL_SERVER_ERROR).into_response()
}

/// Replaces the answer after a panic with a page in the request's language, or with a problem for a program.
pub(crate) async fn apologise(
    State(app): State<Arc<App>>,
    language: Language,
    request: Request,
    next: Next,
) -> Response {
    let is_program = api::is_for_programs(request.uri().path());
    let response = next.run(request).await;
    match response.extensions().get::<Panicked>() {
        Some(Panicked) if is_program => api::problem(Problem::Internal, "The log of this server says what it is."),
        Some(Panicked) => internal(app.site(language)),
        None => response,
    }
}
