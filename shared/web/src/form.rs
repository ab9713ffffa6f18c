//! Forms: reads a form that was sent, and checks that it is one of ours, filled in by a person.
//!
//! The checks run in this order, cheapest first: sent from our own page? short enough? a form? within the allowance?
//! the hidden field empty? the token good? open for long enough during a rush? The token is used up last, when all
//! else is right.

use crate::app::{App, CallerAddress, held};
use crate::language::Language;
use crate::origin;
use crate::page::waiting;
use crate::quota::Allowance;
use crate::token::{self, Fault, Ticket};
use crate::words;
use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, REFERRER_POLICY};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use curlew_model::Millis;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use url::form_urlencoded;

/// Maximum length of all fields together that a person fills in, as browsers count it.
pub(crate) const MAX_LENGTH: usize = 3_500;
/// Maximum number of bytes of one unit of that length: three of UTF-8, each percent-encoded. A pair of units has four.
const BYTES_OF_UNIT: usize = 9;
/// Maximum length of a body that is read, in bytes: beside those fields it has their names, the token and what is
/// chosen.
const MAX_BODY: usize = BYTES_OF_UNIT * MAX_LENGTH + 1_024;
/// Maximum number of fields that are read; the longest form has seven.
const MAX_FIELDS: usize = 8;
/// The hidden field, which people leave empty.
const TRAP: &str = "subject";

/// Minimum age of a form during a rush.
const RUSH_AGE: Millis = Millis::from_mins(1);

/// The message above a form.
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

/// A form as it was sent from a page of ours; a rejected one has no fields but the reason.
#[derive(Default)]
pub(crate) struct Filled {
    fields: Vec<(String, String)>,
    unread: Option<FormError>,
}

/// The reason why a form is not read or not taken: the status, the message, and whether it may be sent again unchanged.
#[derive(Clone, Copy)]
pub(crate) struct FormError {
    pub(crate) status: StatusCode,
    pub(crate) text: &'static str,
    /// True if its token stays valid.
    pub(crate) keep: bool,
    /// Time to wait, if waiting is the remedy.
    pub(crate) wait: Option<Millis>,
}

impl FormError {
    pub(crate) fn new(status: StatusCode, text: &'static str) -> FormError {
        FormError { status, text, keep: false, wait: None }
    }

    /// Returns a refusal of a form that may be sent again with the same token once the fault is mended.
    pub(crate) fn kept(status: StatusCode, text: &'static str) -> FormError {
        FormError { keep: true, ..FormError::new(status, text) }
    }

    /// Returns the page of a form that is not taken, which `page` builds with the form to give out again and the
    /// message.
    pub(crate) fn answer<'f>(
        self,
        filled: &'f Filled,
        page: impl FnOnce(StatusCode, Option<&'f Filled>, Option<Notice>) -> Response,
    ) -> Response {
        self.with_wait(page(self.status, self.keep.then_some(filled), Some(Notice::bad(self.text))))
    }

    /// Adds the time to wait, if there is one.
    pub(crate) fn with_wait(self, response: Response) -> Response {
        match self.wait {
            Some(wait) => waiting(response, wait),
            None => response,
        }
    }
}

impl Filled {
    /// Returns a field without surrounding spaces; empty if it was not sent.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.fields.iter().rev().find(|(field, _)| field == name).map(|(_, value)| value.trim()).unwrap_or_default()
    }
}

impl FromRequest<Arc<App>> for Filled {
    type Rejection = Infallible;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Filled, Infallible> {
        let (mut parts, body) = request.into_parts();
        let language = Language::from_request_parts(&mut parts, app).await?;
        let read = read(app, language, &parts.headers, body, MAX_BODY).await;
        Ok(read.unwrap_or_else(|error| Filled { unread: Some(error), ..Filled::default() }))
    }
}

/// Returns the length of a field as browsers count it for `maxlength`: in UTF-16 code units, a line break as one (HTML
/// §4.10.18.3), although it is sent as two.
pub(crate) fn length(field: &str) -> usize {
    field.encode_utf16().count() - field.matches("\r\n").count()
}

/// Reads a form that was sent from a page of ours, up to so many bytes.
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
    let told = headers.get(CONTENT_LENGTH).and_then(|v| v.to_str().ok()).and_then(|v| v.parse::<u64>().ok());
    if told.is_some_and(|n| n > max_body as u64) {
        return Err(too_long());
    }
    let media_type = headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(FormError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, t.no_form));
    }
    let bytes = to_bytes(body, max_body).await.map_err(|_| too_long())?;
    let fields = form_urlencoded::parse(&bytes).take(MAX_FIELDS);
    let fields = fields.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
    Ok(Filled { fields, unread: None })
}

/// Counts a form against its caller's allowance, unless it could not be read.
pub(crate) fn allow(app: &App, caller: CallerAddress, language: Language, filled: &Filled) -> Result<(), FormError> {
    if let Some(error) = filled.unread {
        return Err(error);
    }
    let too_many = || FormError::new(StatusCode::TOO_MANY_REQUESTS, words::Form::in_language(language).too_many);
    app.admit(Allowance::Form, caller).map_err(|wait| FormError { wait: Some(wait), ..too_many() })
}

/// Returns the ticket of a form that a person has filled in; it still has to be used up.
pub(crate) fn ticket(
    app: &App,
    caller: CallerAddress,
    language: Language,
    filled: &Filled,
) -> Result<Ticket, FormError> {
    allow(app, caller, language, filled)?;
    let t = words::Form::in_language(language);
    if !filled.get(TRAP).is_empty() {
        return Err(FormError::new(StatusCode::BAD_REQUEST, t.trapped));
    }
    let (token, now) = (filled.get("token"), app.clock.now());
    let ticket = token::check(&app.settings.secret, token, now).map_err(|fault| match fault {
        Fault::TooYoung => FormError::kept(StatusCode::BAD_REQUEST, t.too_young),
        Fault::TooOld => FormError::new(StatusCode::BAD_REQUEST, t.too_old),
        Fault::Forged => FormError::new(StatusCode::BAD_REQUEST, t.forged),
    })?;
    if is_rush(app) {
        let too_soon =
            |wait| FormError { wait: Some(wait), ..FormError::kept(StatusCode::TOO_MANY_REQUESTS, t.rushed) };
        let wait = RUSH_AGE.saturating_sub(ticket.age(now));
        if wait > Millis::ZERO {
            return Err(too_soon(wait));
        }
        // Any number of forms may be opened and wait side by side.
        app.admit(Allowance::RushForm, caller).map_err(too_soon)?;
    }
    Ok(ticket)
}

/// True if many forms are being sent at the moment, by all callers together.
fn is_rush(app: &App) -> bool {
    held(&app.spent).is_rush(app.settings.calm_forms_per_hour, app.clock.now())
}

/// Uses a ticket up.
pub(crate) fn spend(app: &App, language: Language, ticket: Ticket) -> Result<(), FormError> {
    if held(&app.spent).spend(ticket, app.clock.now()) {
        Ok(())
    } else {
        Err(FormError::new(StatusCode::BAD_REQUEST, words::Form::in_language(language).sent_before))
    }
}

/// The token that a form carries.
pub(crate) struct FormToken {
    pub(crate) token: String,
    /// True if the form can be sent only once it has been open for [`RUSH_AGE`].
    pub(crate) is_rush: bool,
}

impl FormToken {
    /// Returns a token for a form that is given out now, or given out again with its token.
    pub(crate) fn new(app: &App, kept: Option<&Filled>) -> FormToken {
        let fresh = || {
            let serial = app.serial.fetch_add(1, Ordering::Relaxed);
            token::issue(&app.settings.secret, app.clock.now(), serial)
        };
        FormToken { token: kept.map_or_else(fresh, |filled| filled.get("token").to_owned()), is_rush: is_rush(app) }
    }
}

/// Returns the page of a form.
pub(crate) fn with_form(mut response: Response) -> Response {
    // Under `no-referrer` browsers send `Origin: null` with a POST (Fetch standard, "append a request Origin header"),
    // which would hide whether the form came from here. Other sites learn no more by this.
    response.headers_mut().insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}
