//! The form by which anybody may suggest a site. It only passes the address on; nothing is fetched here.

use crate::app::{App, CallerAddress};
use crate::form::{self, Filled, FormError, FormToken, Notice};
use crate::hit::web_url;
use crate::language::Language;
use crate::page::{self, Site};
use crate::quota::Allowance;
use crate::words::{Form, Suggest};
use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use curlew_people::suggest::{SuggestError, SuggestOutcome};
use curlew_policy::address::{MAX_URL, with_scheme};
use std::sync::Arc;

// What the form's box takes is read, whichever script it is in, and refused with the reason if it has too many bytes.
const _: () = assert!(MAX_URL <= form::MAX_LENGTH);

#[derive(Template)]
#[template(path = "suggest.html")]
struct SuggestPage<'a> {
    site: Site<'a>,
    t: &'static Suggest,
    form: &'static Form,
    url: &'a str,
    form_token: &'a FormToken,
    notice: Option<Notice>,
}

/// `GET /suggest`
pub(crate) async fn show(State(app): State<Arc<App>>, language: Language) -> Response {
    answer(&app, language, StatusCode::OK, "", None, None)
}

/// `POST /suggest`
pub(crate) async fn send(
    State(app): State<Arc<App>>,
    caller: CallerAddress,
    language: Language,
    filled: Filled,
) -> Response {
    match admit(&app, caller, language, &filled) {
        Ok(url) => hand_on(&app, language, &url, filled.get("url")).await,
        Err(error) => error
            .answer(&filled, |status, kept, notice| answer(&app, language, status, filled.get("url"), kept, notice)),
    }
}

async fn hand_on(app: &App, language: Language, url: &str, typed: &str) -> Response {
    let t = Suggest::in_language(language);
    let good = |text: String| answer(app, language, StatusCode::OK, "", None, Some(Notice::good(text)));
    match app.services.suggest.offered(url).await {
        Ok(SuggestOutcome::Taken) => good((t.taken)(url)),
        Ok(SuggestOutcome::Known) => good((t.known)(url)),
        Err(SuggestError::Refused(refused)) => {
            let notice = Notice::bad((t.refused)(&refused));
            answer(app, language, StatusCode::UNPROCESSABLE_ENTITY, typed, None, Some(notice))
        }
        Err(SuggestError::Stage(error)) => page::stage_error(app.site(language), "suggest", &error),
    }
}

/// Returns the address if the form may be passed on. Uses up its token.
fn admit(app: &App, caller: CallerAddress, language: Language, filled: &Filled) -> Result<String, FormError> {
    let ticket = form::ticket(app, caller, language, filled)?;
    let url = address(filled.get("url"), Suggest::in_language(language))
        .map_err(|sentence| FormError::kept(StatusCode::UNPROCESSABLE_ENTITY, sentence))?;
    form::spend(app, language, ticket)?;
    let enough = FormError::new(StatusCode::TOO_MANY_REQUESTS, Suggest::in_language(language).enough);
    app.admit(Allowance::Suggestion, caller).map_err(|wait| FormError { wait: Some(wait), ..enough })?;
    Ok(url)
}

/// Returns the typed text as an absolute URL. `example.org`, as people type it, means https.
fn address(typed: &str, t: &Suggest) -> Result<String, &'static str> {
    if typed.is_empty() {
        return Err(t.no_address);
    }
    if typed.len() > MAX_URL {
        return Err(t.address_too_long);
    }
    Ok(web_url(&with_scheme(typed)).ok_or(t.not_of_the_web)?.into())
}

/// Returns the page with its form; with a fresh token unless that of a form is kept.
fn answer(
    app: &App,
    language: Language,
    status: StatusCode,
    url: &str,
    kept: Option<&Filled>,
    notice: Option<Notice>,
) -> Response {
    let (form_token, site, t) = (FormToken::new(app, kept), app.site(language), Suggest::in_language(language));
    let page = SuggestPage { site, t, form: Form::in_language(language), url, form_token: &form_token, notice };
    form::with_form(page::html(language, status, "no-store", &page))
}

#[cfg(test)]
mod tests {
    use crate::language::Language;
    use crate::words::Suggest;

    fn address(typed: &str) -> Result<String, &'static str> {
        super::address(typed, Suggest::in_language(Language::English))
    }

    #[test]
    fn people_may_leave_the_scheme_out() {
        assert_eq!(address("example.org").as_deref(), Ok("https://example.org/"));
        assert_eq!(address("example.org:8080/x").as_deref(), Ok("https://example.org:8080/x"));
        assert_eq!(address("http://example.org/feed").as_deref(), Ok("http://example.org/feed"));
        let long = "a".repeat(3_000);
        for bad in [
            "",
            "javascript:alert(1)",
            "ftp://example.org",
            "https://me:pw@example.org",
            "mailto:me@example.org",
            &long,
        ] {
            assert!(address(bad).is_err(), "{bad}");
        }
    }
}
