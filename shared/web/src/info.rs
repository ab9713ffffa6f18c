//! The pages about ourselves: what the crawler is, and what it is doing.

use crate::api::JSON;
use crate::app::App;
use crate::language::Language;
use crate::page::{self, A_DAY, Site, typed};
use crate::settings::Contact;
use crate::text::clean;
use crate::words;
use askama::Template;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use curlew_ports::StatusLine;
use serde::Serialize;
use std::sync::Arc;

#[derive(Template)]
#[template(path = "bot.html")]
struct Bot<'a> {
    site: Site<'a>,
    token: &'a str,
    user_agent: &'a str,
    contact: Option<&'a Contact>,
    polled_every: String,
    pause: String,
    refused: String,
    failed: String,
}

#[derive(Template)]
#[template(path = "status.html")]
struct Status<'a> {
    site: Site<'a>,
    t: &'static words::Status,
    lines: &'a [StatusLine],
}

#[derive(Serialize)]
struct StatusJson {
    status: Vec<StatusLine>,
}

/// `GET /bot`: depends on nothing but the settings, so it answers when all else is out of reach.
pub(crate) async fn bot(State(app): State<Arc<App>>, language: Language) -> Response {
    let manners = &app.settings.manners;
    let page = Bot {
        site: app.site(language),
        token: &app.settings.user_agent_token,
        user_agent: &app.settings.user_agent,
        contact: app.contact.as_ref(),
        polled_every: language.span(manners.poll_interval),
        pause: language.span(manners.min_pause),
        refused: language.span(manners.hold_refused),
        failed: language.span(manners.hold_server_error),
    };
    page::html(language, StatusCode::OK, A_DAY, &page)
}

/// `GET /status`
pub(crate) async fn status(State(app): State<Arc<App>>, language: Language) -> Response {
    let site = app.site(language);
    match lines(&app, site).await {
        Ok(lines) => page::html(
            language,
            StatusCode::OK,
            "no-store",
            &Status { site, t: words::Status::of(language), lines: &lines },
        ),
        Err(trouble) => trouble,
    }
}

/// `GET /status.json`
pub(crate) async fn status_json(State(app): State<Arc<App>>, language: Language) -> Response {
    match lines(&app, app.site(language)).await {
        Ok(status) => (typed(JSON, "no-store"), Json(StatusJson { status })).into_response(),
        Err(trouble) => trouble,
    }
}

async fn lines(app: &App, site: Site<'_>) -> Result<Vec<StatusLine>, Response> {
    let lines = app.front.status().await.map_err(|error| page::trouble(site, "status", &error))?;
    Ok(lines.into_iter().map(|l| StatusLine { name: clean(&l.name), value: clean(&l.value) }).collect())
}
