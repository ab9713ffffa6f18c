//! Sign-in, sign-out, and identification of the operator. Either a trusted proxy names the operator in a header, or
//! there is a session: a cookie with a sealed key, whose hash is in the store. The key of a session is derived from
//! that of the sign-in token, so no random source is needed here.

use super::seal::{LOGIN, SESSION, seal, session_of, unseal};
use super::{Admin, ENGLISH};
use crate::app::{Caller, ThroughProxy};
use crate::form::{self, Notice};
use crate::page::{self, Site, waiting};
use crate::quota::Allowance;
use askama::Template;
use axum::body::Body;
use axum::http::header::{COOKIE, HeaderValue, SET_COOKIE, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use curlew_people::sessions::{SESSION_VALID_FOR, operator_name};
use curlew_ports::stage::StageError;

/// Maximum length of the form's body, in bytes.
const MAX_BODY: usize = 1_024;
/// Maximum number of cookies of one request that are examined.
const MAX_COOKIES: usize = 64;
/// The challenge of a 401 (RFC 9110 §11.6.1), in the form of draft-broyer-http-cookie-auth.
const CHALLENGE: &str = "Cookie realm=\"operators\", form-action=\"/admin/login\"";

/// An operator who is signed in.
#[derive(Clone)]
pub(super) struct Operator {
    pub(super) name: String,
    /// Key of the session; `None` if a proxy named the operator.
    session: Option<[u8; 32]>,
}

impl Operator {
    /// Returns the text to which the tokens of this operator's forms for `act` are bound.
    pub(super) fn bound_to(&self, act: &str) -> String {
        match &self.session {
            Some(key) => format!("session {} {act}", curlew_model::hex(key)),
            None => format!("proxy {act} {}", self.name),
        }
    }

    pub(super) fn has_session(&self) -> bool {
        self.session.is_some()
    }
}

#[derive(Template)]
#[template(path = "admin_login.html")]
struct SignInPage<'a> {
    site: Site<'a>,
    notice: Option<Notice>,
}

pub(super) fn sign_in_page(admin: &Admin, status: StatusCode, notice: Option<Notice>) -> Response {
    let page = SignInPage { site: admin.app.site(ENGLISH), notice };
    let mut response = form::with_form(page::html(ENGLISH, status, "no-store", &page));
    if status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(CHALLENGE));
    }
    response
}

/// Returns the operator who sent a request, or `None` if nobody is signed in.
pub(super) async fn operator(admin: &Admin, request: &Parts) -> Result<Option<Operator>, StageError> {
    if let Some(name) = named_by_proxy(admin, request) {
        return Ok(Some(Operator { name, session: None }));
    }
    let secret = &admin.app.settings.secret;
    let Some(key) = cookie(admin, &request.headers).and_then(|sealed| unseal(secret, SESSION, sealed)) else {
        return Ok(None);
    };
    let name = admin.services.sessions.find(&key).await?;
    Ok(name.map(|name| Operator { name, session: Some(key) }))
}

/// Returns the name from the header of a trusted proxy. Repeated headers are ignored: the caller may have added one.
fn named_by_proxy(admin: &Admin, request: &Parts) -> Option<String> {
    let header = admin.services.trusted_header.as_ref()?;
    if request.extensions.get::<ThroughProxy>() != Some(&ThroughProxy(true)) {
        return None;
    }
    let mut values = request.headers.get_all(header).iter();
    let name = std::str::from_utf8(values.next()?.as_bytes()).ok()?;
    if values.next().is_some() { None } else { operator_name(name).map(str::to_owned) }
}

pub(super) async fn sign_in(admin: &Admin, caller: Caller, headers: &HeaderMap, body: Body) -> Response {
    let refused = |status, text: &str| sign_in_page(admin, status, Some(Notice::bad(text)));
    if let Err(wait) = admin.app.admit(Allowance::SignIn, caller) {
        let text = "That was tried too often from your address. Please wait a minute.";
        return waiting(refused(StatusCode::TOO_MANY_REQUESTS, text), Some(wait));
    }
    let filled = match form::read(&admin.app, ENGLISH, headers, body, MAX_BODY).await {
        Ok(filled) => filled,
        Err(error) => return refused(error.status, &error.text),
    };
    let secret = &admin.app.settings.secret;
    let unknown =
        "This token is not known, was used, or is older than ten minutes: `curlew admin login` prints another.";
    let Some(login) = unseal(secret, LOGIN, filled.get("token")) else {
        return refused(StatusCode::UNAUTHORIZED, unknown);
    };
    let session = session_of(secret, &login);
    match admin.services.sessions.begin(&login, &session).await {
        Ok(Some(name)) => {
            tracing::info!(%name, "an operator has signed in");
            let age = SESSION_VALID_FOR.0 / 1_000;
            to_overview(cookie_of(admin, &seal(secret, SESSION, &session), age))
        }
        Ok(None) => refused(StatusCode::UNAUTHORIZED, unknown),
        Err(error) => page::stage_error(admin.app.site(ENGLISH), "sign in", &error),
    }
}

pub(super) async fn sign_out(admin: &Admin, operator: &Operator) -> Result<Response, StageError> {
    if let Some(key) = &operator.session {
        admin.services.sessions.end(key).await?;
        tracing::info!(name = %operator.name, "an operator has signed out");
    }
    Ok(to_overview(cookie_of(admin, "", 0)))
}

fn to_overview(cookie: String) -> Response {
    ([(SET_COOKIE, cookie)], Redirect::to("/admin")).into_response()
}

fn is_over_tls(admin: &Admin) -> bool {
    admin.app.origin.as_ref().is_some_and(|origin| origin.starts_with("https:"))
}

/// Returns the cookie's name. Browsers accept `__Host-` only from the host itself over TLS (RFC 6265bis §4.1.3.2).
fn cookie_name(admin: &Admin) -> &'static str {
    if is_over_tls(admin) { "__Host-curlew-operator" } else { "curlew-operator" }
}

fn cookie_of(admin: &Admin, value: &str, max_age: u64) -> String {
    // The prefix `__Host-` requires the path `/`.
    let scope = if is_over_tls(admin) { "Path=/; Secure" } else { "Path=/admin" };
    format!("{}={value}; {scope}; HttpOnly; SameSite=Strict; Max-Age={max_age}", cookie_name(admin))
}

fn cookie<'a>(admin: &Admin, headers: &'a HeaderMap) -> Option<&'a str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).take(MAX_COOKIES);
    pairs.find_map(|pair| pair.trim().strip_prefix(cookie_name(admin))?.strip_prefix('='))
}
