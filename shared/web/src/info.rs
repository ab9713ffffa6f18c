//! The page about the crawler.

use crate::app::PageRequest;
use crate::language::Language;
use crate::page::{A_DAY, Site};
use crate::page_settings::{OperatorContact, PageSettings};
use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use curlew_crawl::politeness::signing::SignatureMode;
use curlew_model::Millis;
use curlew_policy::politeness::interstitial::HOME_LOOK_EVERY;
use curlew_policy::rules::{Rules, VISIT_REST};
use curlew_signature::directory::PATH;
use std::borrow::Borrow;

#[derive(Template)]
#[template(path = "bot.html")]
struct Bot<'a> {
    site: Site<'a>,
    settings: &'a PageSettings,
    rules: &'a Rules,
    token: &'a str,
    contact: Option<&'a OperatorContact>,
}

impl Bot<'_> {
    fn span(&self, time: impl Borrow<Millis>) -> String {
        self.site.language.span(*time.borrow())
    }
}

/// `GET /bot`. It needs only the settings, so it works even if all stores are unreachable.
pub(crate) async fn bot(request: PageRequest) -> Response {
    let (site, settings, contact) = (request.site(), &request.app.settings, request.app.contact.as_ref());
    let page = Bot { site, settings, rules: &settings.rules, token: &settings.user_agent_token, contact };
    request.html(StatusCode::OK, A_DAY, &page)
}
