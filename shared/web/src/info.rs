//! The page about the crawler.

use crate::app::PageRequest;
use crate::language::Language;
use crate::page::{A_DAY, Site};
use crate::settings::OperatorContact;
use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use curlew_crawl::politeness::signing::SignatureMode;
use curlew_policy::politeness::interstitial::HOME_LOOK_EVERY;
use curlew_policy::rules::VISIT_REST;
use curlew_signature::directory::PATH;

#[derive(Template)]
#[template(path = "bot.html")]
struct Bot<'a> {
    site: Site<'a>,
    token: &'a str,
    user_agent: &'a str,
    contact: Option<&'a OperatorContact>,
    polled_every: String,
    polled_apart: Option<String>,
    older_pages: u32,
    pause: String,
    refused: String,
    failed: String,
    rest: String,
    visits: String,
    window: String,
    home_again: String,
    signatures: Option<SignatureMode>,
    directory: &'static str,
    crawl_delay: String,
}

/// `GET /bot`: depends on nothing but the settings, so it answers even when all stores are unreachable.
pub(crate) async fn bot(request: PageRequest) -> Response {
    let (settings, language) = (&request.app.settings, request.language);
    let rules = &settings.rules;
    let page = Bot {
        site: request.site(),
        token: &settings.user_agent_token,
        user_agent: &settings.user_agent,
        contact: request.app.contact.as_ref(),
        polled_every: language.span(rules.poll_interval),
        older_pages: rules.backfill_per_day,
        polled_apart: rules.adaptive.then(|| language.span(rules.poll_floor)),
        pause: language.span(rules.min_pause),
        refused: language.span(rules.hold_refused),
        failed: language.span(rules.hold_server_error),
        rest: language.span(VISIT_REST),
        visits: language.span(rules.window_limit),
        window: language.span(rules.window),
        home_again: language.span(HOME_LOOK_EVERY),
        signatures: settings.signatures,
        directory: PATH,
        crawl_delay: language.span(rules.crawl_delay_cap),
    };
    request.html(StatusCode::OK, A_DAY, &page)
}
