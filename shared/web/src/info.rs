//! The page about the crawler.

use crate::app::App;
use crate::language::Language;
use crate::page::{self, A_DAY, Site};
use crate::page_settings::ShownSignatures;
use crate::settings::OperatorContact;
use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use curlew_signature::directory::PATH;
use std::sync::Arc;

#[derive(Template)]
#[template(path = "bot.html")]
struct Bot<'a> {
    site: Site<'a>,
    token: &'a str,
    user_agent: &'a str,
    contact: Option<&'a OperatorContact>,
    polled_every: String,
    polled_apart: Option<String>,
    pause: String,
    refused: String,
    failed: String,
    signatures: ShownSignatures,
    directory: &'static str,
    crawl_delay: String,
    aipref: bool,
    tdmrep: bool,
}

/// `GET /bot`: depends on nothing but the settings, so it answers even when all stores are unreachable.
pub(crate) async fn bot(State(app): State<Arc<App>>, language: Language) -> Response {
    let politeness = &app.settings.politeness;
    let page = Bot {
        site: app.site(language),
        token: &app.settings.user_agent_token,
        user_agent: &app.settings.user_agent,
        contact: app.contact.as_ref(),
        polled_every: language.span(politeness.poll_interval),
        polled_apart: politeness.poll_floor.map(|floor| language.span(floor)),
        pause: language.span(politeness.min_pause),
        refused: language.span(politeness.hold_refused),
        failed: language.span(politeness.hold_server_error),
        signatures: app.settings.signatures,
        directory: PATH,
        crawl_delay: language.span(politeness.crawl_delay),
        aipref: politeness.aipref,
        tdmrep: politeness.tdmrep,
    };
    page::html(language, StatusCode::OK, A_DAY, &page)
}
