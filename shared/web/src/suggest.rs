//! The form by which anybody may suggest a site. It only hands the address on; nothing is fetched here.
//!
//! In this order, cheapest first: sent from our own page? short enough? a form? within the allowance? the
//! hidden field empty? the token good? an address of the web? only then is it handed on.

use crate::app::{App, From, held};
use crate::hit::web_url;
use crate::language::Language;
use crate::origin;
use crate::page::{self, Site, waiting};
use crate::token::{self, Fault, Ticket};
use crate::words::Suggest;
use askama::Template;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, REFERRER_POLICY};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use curlew_ports::{SuggestError, Suggested};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use url::form_urlencoded;

/// Longest body that is read, in bytes.
const MAX_BODY: usize = 4_096;
/// Longest address that is taken, in bytes.
const MAX_URL: usize = 2_048;
/// Fields that are looked at; the form has three.
const MAX_FIELDS: usize = 8;

#[derive(Template)]
#[template(path = "suggest.html")]
struct Page<'a> {
    site: Site<'a>,
    t: &'static Suggest,
    url: &'a str,
    token: &'a str,
    notice: Option<Notice<'a>>,
}

/// What is said above the form.
struct Notice<'a> {
    good: bool,
    text: &'a str,
}

#[derive(Default)]
struct Form {
    url: String,
    token: String,
    /// The hidden field, which people leave empty.
    trap: String,
}

/// Why a form is not handed on: the status, what is said, and whether its token stays good.
struct No(StatusCode, &'static str, bool);

/// `GET /suggest`
pub(crate) async fn show(State(app): State<Arc<App>>, language: Language) -> Response {
    answer(&app, language, StatusCode::OK, "", None, None)
}

/// `POST /suggest`
pub(crate) async fn send(
    State(app): State<Arc<App>>,
    from: From,
    language: Language,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let t = Suggest::of(language);
    if !origin::is_ours(&headers, app.origin.as_deref()) {
        return bad(&app, language, StatusCode::FORBIDDEN, "", t.not_from_here);
    }
    let form = match read(&headers, body, t).await {
        Ok(form) => form,
        Err((status, sentence)) => return bad(&app, language, status, "", sentence),
    };
    if let Err(wait) = app.admit_suggestion(from) {
        return waiting(bad(&app, language, StatusCode::TOO_MANY_REQUESTS, &form.url, t.too_many), wait);
    }
    match admit(&app, &form, t) {
        Ok(url) => hand_on(&app, language, &url, &form.url).await,
        Err(No(status, sentence, keep)) => {
            let token = keep.then_some(form.token.as_str());
            answer(&app, language, status, &form.url, token, Some(Notice { good: false, text: sentence }))
        }
    }
}

async fn hand_on(app: &App, language: Language, url: &str, typed: &str) -> Response {
    let t = Suggest::of(language);
    let good = |text: &str| answer(app, language, StatusCode::OK, "", None, Some(Notice { good: true, text }));
    match app.front.suggest(url).await {
        Ok(Suggested::Taken) => good(&(t.taken)(url)),
        Ok(Suggested::Known) => good(&(t.known)(url)),
        Err(SuggestError::Refused(refused)) => {
            bad(app, language, StatusCode::UNPROCESSABLE_ENTITY, typed, &(t.refused)(&refused))
        }
        Err(SuggestError::Port(error)) => page::trouble(app.site(language), "suggest", &error),
    }
}

/// Reads the form, never more than [`MAX_BODY`] of it.
async fn read(headers: &HeaderMap, body: Body, t: &Suggest) -> Result<Form, (StatusCode, &'static str)> {
    let too_long = (StatusCode::PAYLOAD_TOO_LARGE, t.too_long);
    let told = headers.get(CONTENT_LENGTH).and_then(|v| v.to_str().ok()).and_then(|v| v.parse::<u64>().ok());
    if told.is_some_and(|n| n > MAX_BODY as u64) {
        return Err(too_long);
    }
    let media_type = headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, t.no_form));
    }
    let bytes = to_bytes(body, MAX_BODY).await.map_err(|_| too_long)?;
    let mut form = Form::default();
    for (name, value) in form_urlencoded::parse(&bytes).take(MAX_FIELDS) {
        let field = match name.as_ref() {
            "url" => &mut form.url,
            "token" => &mut form.token,
            "subject" => &mut form.trap,
            _ => continue,
        };
        *field = value.trim().to_owned();
    }
    Ok(form)
}

/// The address to hand on, if the form may be handed on. Uses up its token.
fn admit(app: &App, form: &Form, t: &Suggest) -> Result<String, No> {
    if !form.trap.is_empty() {
        return Err(No(StatusCode::BAD_REQUEST, t.trapped, false));
    }
    let now = app.clock.now();
    let ticket = token::check(&app.settings.secret, &form.token, now).map_err(|fault| match fault {
        Fault::TooYoung => No(StatusCode::BAD_REQUEST, t.too_young, true),
        Fault::TooOld => No(StatusCode::BAD_REQUEST, t.too_old, false),
        Fault::Forged => No(StatusCode::BAD_REQUEST, t.forged, false),
    })?;
    let url = address(&form.url, t).map_err(|sentence| No(StatusCode::UNPROCESSABLE_ENTITY, sentence, true))?;
    spend(app, ticket, t)?;
    Ok(url)
}

fn spend(app: &App, ticket: Ticket, t: &Suggest) -> Result<(), No> {
    if held(&app.spent).spend(ticket, app.clock.now()) {
        Ok(())
    } else {
        Err(No(StatusCode::BAD_REQUEST, t.sent_before, false))
    }
}

/// What was typed as an absolute URL. `example.org` is what people type, and means https.
fn address(typed: &str, t: &Suggest) -> Result<String, &'static str> {
    if typed.is_empty() {
        return Err(t.no_address);
    }
    if typed.len() > MAX_URL {
        return Err(t.address_too_long);
    }
    let absolute = if typed.contains("://") { typed.to_owned() } else { format!("https://{typed}") };
    Ok(web_url(&absolute).ok_or(t.not_of_the_web)?.into())
}

fn bad(app: &App, language: Language, status: StatusCode, url: &str, text: &str) -> Response {
    answer(app, language, status, url, None, Some(Notice { good: false, text }))
}

/// The page with its form; with a fresh token unless one is kept.
fn answer(
    app: &App,
    language: Language,
    status: StatusCode,
    url: &str,
    token: Option<&str>,
    notice: Option<Notice<'_>>,
) -> Response {
    let serial = app.serial.fetch_add(1, Ordering::Relaxed);
    let fresh = token::issue(&app.settings.secret, app.clock.now(), serial);
    let (site, t) = (app.site(language), Suggest::of(language));
    let page = Page { site, t, url, token: token.unwrap_or(&fresh), notice };
    let mut response = page::html(language, status, "no-store", &page);
    // Under `no-referrer` browsers send `Origin: null` with a POST (Fetch standard, "append a request Origin
    // header"), which would hide whether the form came from here. Other sites learn no more by this.
    response.headers_mut().insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

#[cfg(test)]
mod tests {
    use crate::language::Language;
    use crate::words::Suggest;

    fn address(typed: &str) -> Result<String, &'static str> {
        super::address(typed, Suggest::of(Language::English))
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
