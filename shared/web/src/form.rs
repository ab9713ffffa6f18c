//! Reads submitted forms, and checks that each is one of ours, filled in by a person. The checks run in this order,
//! cheapest first: sent from our own page, short enough, media type of a form, within the allowance, hidden field
//! empty, token valid, open for long enough during a rush. The token is used up last, after all other checks.

use crate::app::{App, PageRequest};
use crate::language::Language;
use crate::page::waiting;
use crate::quota::Allowance;
use crate::token::{self, Fault, Ticket};
use crate::{origin, words};
use askama::Template;
use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, REFERRER_POLICY};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use curlew_model::Millis;
use serde::de::value::Error;
use serde::de::{DeserializeOwned, IntoDeserializer};
use std::convert::Infallible;
use std::sync::Arc;
use url::form_urlencoded;

/// Maximum total length of the fields that a person fills in, as [`length`] counts.
pub(crate) const MAX_LENGTH: usize = 3_500;
/// Maximum number of bytes per UTF-16 unit: three bytes of UTF-8, percent-encoded. A surrogate pair has only four.
const BYTES_OF_UNIT: usize = 9;
/// Maximum length of a body, in bytes: the longest fields, their names, the token and the choices.
const MAX_BODY: usize = BYTES_OF_UNIT * MAX_LENGTH + 1_024;
/// Maximum number of fields that are read; the longest form has seven.
const MAX_FIELDS: usize = 8;
/// Name of the hidden field, which people leave empty and bots fill in.
const TRAP: &str = "subject";

/// Minimum age of a form during a rush.
const RUSH_AGE: Millis = Millis::from_mins(1);

pub(crate) struct Notice {
    pub(crate) good: bool,
    pub(crate) text: String,
}

impl Notice {
    pub(crate) fn good(text: impl Into<String>) -> Notice {
        Notice { good: true, text: text.into() }
    }

    pub(crate) fn bad(text: impl Into<String>) -> Notice {
        Notice { good: false, text: text.into() }
    }
}

/// A form that was sent from one of our pages. A rejected form has no fields; `unread` is the reason.
#[derive(Default)]
pub(crate) struct Filled {
    fields: Vec<(String, String)>,
    unread: Option<FormError>,
}

#[derive(Clone)]
pub(crate) struct FormError {
    pub(crate) status: StatusCode,
    pub(crate) text: String,
    /// True if the form may be sent again with the same token once the fault is fixed.
    is_kept: bool,
    /// Time to wait, if waiting is the remedy.
    pub(crate) wait: Option<Millis>,
}

impl FormError {
    pub(crate) fn new(status: StatusCode, text: impl Into<String>) -> FormError {
        FormError { status, text: text.into(), is_kept: false, wait: None }
    }

    /// Returns the refusal of a form with a fault that its sender can fix.
    pub(crate) fn unfit(text: &str) -> FormError {
        FormError { is_kept: true, ..FormError::new(StatusCode::UNPROCESSABLE_ENTITY, text) }
    }

    /// Returns the refusal of a form from a sender who has to wait.
    pub(crate) fn too_many(text: &str, wait: Millis) -> FormError {
        FormError { wait: Some(wait), ..FormError::new(StatusCode::TOO_MANY_REQUESTS, text) }
    }
}

impl Filled {
    /// Returns a field without surrounding spaces; empty if it was not sent.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.fields.iter().rev().find(|(field, _)| field == name).map(|(_, value)| value.trim()).unwrap_or_default()
    }

    /// Parses a field as a value of `T`; `None` if it names none.
    pub(crate) fn choice<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        T::deserialize(IntoDeserializer::<Error>::into_deserializer(self.get(name))).ok()
    }
}

impl FromRequest<Arc<App>> for Filled {
    type Rejection = Infallible;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Filled, Infallible> {
        let (mut parts, body) = request.into_parts();
        let PageRequest { language, .. } = PageRequest::from_request_parts(&mut parts, app).await?;
        let read = read(app, language, &parts.headers, body, MAX_BODY).await;
        Ok(read.unwrap_or_else(|error| Filled { unread: Some(error), ..Filled::default() }))
    }
}

/// Returns the length of a field as browsers count it: in UTF-16 code units, a line break as one (HTML §4.10.18.3).
pub(crate) fn length(field: &str) -> usize {
    field.encode_utf16().count() - field.matches("\r\n").count()
}

pub(crate) async fn read(
    app: &App,
    language: Language,
    headers: &HeaderMap,
    body: Body,
    max_body: usize,
) -> Result<Filled, FormError> {
    let t = words::Form::in_language(language);
    if !origin::is_ours(headers, app.origin.as_deref()) {
        return Err(FormError::new(StatusCode::FORBIDDEN, t.not_from_here));
    }
    let too_long = || FormError::new(StatusCode::PAYLOAD_TOO_LARGE, t.too_long);
    if content_length(headers).is_some_and(|length| length > max_body as u64) {
        return Err(too_long());
    }
    let media_type = headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(FormError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, t.no_form));
    }
    let bytes = to_bytes(body, max_body).await.map_err(|_| too_long())?;
    let fields = form_urlencoded::parse(&bytes).into_owned().take(MAX_FIELDS).collect();
    Ok(Filled { fields, unread: None })
}

/// Returns the `Content-Length` of a request.
pub(crate) fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Counts a form against its caller's allowance. Fails without counting if the form could not be read.
pub(crate) fn allow(request: &PageRequest, filled: &Filled) -> Result<(), FormError> {
    if let Some(error) = &filled.unread {
        return Err(error.clone());
    }
    admit(request, Allowance::Form, words::Form::in_language(request.language).too_many)
}

/// Takes one call from the caller's allowance, or returns the refusal with this text.
pub(crate) fn admit(request: &PageRequest, allowance: Allowance, text: &str) -> Result<(), FormError> {
    let admitted = request.app.admit(allowance, request.caller);
    admitted.map_err(|wait| FormError::too_many(text, wait))
}

/// Checks a form and returns its ticket, which the caller must use up with [`spend`].
pub(crate) fn ticket(request: &PageRequest, filled: &Filled) -> Result<Ticket, FormError> {
    allow(request, filled)?;
    let (app, t) = (&request.app, words::Form::in_language(request.language));
    let bad = |text| FormError::new(StatusCode::BAD_REQUEST, text);
    if !filled.get(TRAP).is_empty() {
        return Err(bad(t.trapped));
    }
    let now = app.clock.now();
    let ticket = token::check(&app.settings.secret, filled.get("token"), now).map_err(|fault| match fault {
        Fault::TooYoung => FormError { is_kept: true, ..bad(t.too_young) },
        Fault::TooOld => bad(t.too_old),
        Fault::Forged => bad(t.forged),
    })?;
    if is_rush(app) {
        let too_soon = |wait| FormError { is_kept: true, ..FormError::too_many(t.rushed, wait) };
        let wait = RUSH_AGE.saturating_sub(ticket.age(now));
        if wait > Millis::ZERO {
            return Err(too_soon(wait));
        }
        // Needed because one sender can open any number of forms and let them all wait at once.
        app.admit(Allowance::RushForm, request.caller).map_err(too_soon)?;
    }
    Ok(ticket)
}

/// True if all callers together are sending many forms at the moment.
fn is_rush(app: &App) -> bool {
    app.spent.lock().is_rush(app.settings.calm_forms_per_hour, app.clock.now())
}

pub(crate) fn spend(request: &PageRequest, ticket: Ticket) -> Result<(), FormError> {
    let t = words::Form::in_language(request.language);
    let is_fresh = request.app.spent.lock().spend(ticket, request.app.clock.now());
    if is_fresh { Ok(()) } else { Err(FormError::new(StatusCode::BAD_REQUEST, t.sent_before)) }
}

/// A form as a page shows it: to be filled in, or after it was sent.
pub(crate) struct FormView {
    pub(crate) t: &'static words::Form,
    pub(crate) token: String,
    /// True if the form can be sent only once it has been open for [`RUSH_AGE`].
    pub(crate) is_rush: bool,
    pub(crate) notice: Option<Notice>,
    status: StatusCode,
    wait: Option<Millis>,
}

impl FormView {
    pub(crate) fn fresh(request: &PageRequest, notice: Option<Notice>) -> FormView {
        let app = &request.app;
        FormView {
            t: words::Form::in_language(request.language),
            token: token::issue(&app.settings.secret, app.clock.now(), app.next_serial()),
            is_rush: is_rush(app),
            notice,
            status: StatusCode::OK,
            wait: None,
        }
    }

    /// Returns a form that was rejected, with its old token if that stays valid.
    pub(crate) fn refused(request: &PageRequest, filled: &Filled, error: FormError) -> FormView {
        let fresh = FormView::fresh(request, Some(Notice::bad(error.text)));
        let token = if error.is_kept { filled.get("token").to_owned() } else { fresh.token };
        FormView { token, status: error.status, wait: error.wait, ..fresh }
    }

    /// True if the form was accepted, so nothing is left to fill in.
    pub(crate) fn is_done(&self) -> bool {
        self.notice.as_ref().is_some_and(|notice| notice.good)
    }

    pub(crate) fn render(&self, request: &PageRequest, page: &impl Template) -> Response {
        waiting(with_form(request.html(self.status, "no-store", page)), self.wait)
    }
}

/// Sets the referrer policy of a page with forms. Under `no-referrer`, browsers send `Origin: null` with a POST (Fetch
/// standard, "append a request Origin header"), so a form could not be recognized as ours.
pub(crate) fn with_form(mut response: Response) -> Response {
    response.headers_mut().insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}
