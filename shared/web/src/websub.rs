//! WebSub callbacks: hubs verify that a subscription is ours, and deliver updates. Nothing is fetched here, and of a
//! delivery only the signature is checked.

use crate::app::{App, CallerAddress};
use crate::page::{outcome, typed, waiting};
use crate::quota::Allowance;
use axum::body::{Body, HttpBody};
use axum::extract::{Path, RawQuery, State};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use curlew_crawl::feeds::websub_delivery::{HubAnswer, HubAsks, HubDelivery, SignedBody};
use curlew_ports::PortError;
use std::borrow::Cow;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use url::form_urlencoded;

/// Maximum length of a delivery that is read, in bytes. A delivery only signals an update; updates of a larger feed are
/// found by polling it.
const MAX_BODY: usize = 1 << 20;
/// The header with a hub's signature of a delivery (WebSub §7.1).
const SIGNATURE: &str = "x-hub-signature";
/// Maximum length of a challenge that is echoed, in bytes.
const MAX_CHALLENGE: usize = 1_024;
/// Maximum number of fields of a verification that are read; it has five.
const MAX_FIELDS: usize = 16;

#[derive(Default)]
struct Asked<'a> {
    mode: Cow<'a, str>,
    topic: Cow<'a, str>,
    challenge: Cow<'a, str>,
    lease_seconds: Option<u64>,
}

/// `GET /websub/…`: a hub's verification of intent (WebSub §5.3).
pub(crate) async fn verify_intent(
    State(app): State<Arc<App>>,
    caller: CallerAddress,
    Path(callback): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    if let Err(wait) = app.admit(Allowance::HubCall, caller) {
        return waiting(plain_text(StatusCode::TOO_MANY_REQUESTS, String::new()), wait);
    }
    let query = query.unwrap_or_default();
    let asked = read(&query);
    let is_denial = asked.mode == "denied";
    if asked.challenge.len() > MAX_CHALLENGE || (asked.challenge.is_empty() && !is_denial) {
        return plain_text(StatusCode::NOT_FOUND, String::new());
    }
    let question = HubAsks { mode: &asked.mode, topic: &asked.topic, lease_seconds: asked.lease_seconds };
    match app.services.pushes.verify_intent(&callback, &question).await {
        Ok(HubAnswer::Yes) if is_denial => plain_text(StatusCode::OK, String::new()),
        Ok(HubAnswer::Yes) => plain_text(StatusCode::OK, asked.challenge.into_owned()),
        // RFC 9110 would have 410 for a former one; a hub that verifies expects 404 (WebSub §5.3).
        Ok(HubAnswer::No | HubAnswer::Unknown) => plain_text(StatusCode::NOT_FOUND, String::new()),
        Err(error) => port_error(error),
    }
}

/// `POST /websub/…`: a delivery (WebSub §7).
pub(crate) async fn deliver(
    State(app): State<Arc<App>>,
    caller: CallerAddress,
    Path(callback): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    if let Err(wait) = app.admit(Allowance::HubCall, caller) {
        return waiting(plain_text(StatusCode::TOO_MANY_REQUESTS, String::new()), wait);
    }
    let length = headers.get(CONTENT_LENGTH).and_then(|v| v.to_str().ok()).and_then(|v| v.parse::<u64>().ok());
    if length.is_some_and(|length| length > MAX_BODY as u64) {
        return plain_text(StatusCode::PAYLOAD_TOO_LARGE, String::new());
    }
    let signature = headers.get(SIGNATURE).and_then(|v| v.to_str().ok());
    let signed = match app.services.pushes.delivers(&callback, signature).await {
        Ok(HubDelivery::Signed(body)) => body,
        Ok(HubDelivery::Unsigned) => return plain_text(StatusCode::ACCEPTED, String::new()),
        Ok(HubDelivery::Unknown) => return plain_text(StatusCode::GONE, String::new()),
        Err(error) => return port_error(error),
    };
    match is_genuine(signed, body).await {
        Ok(true) => match app.services.pushes.delivered(&callback).await {
            Ok(HubAnswer::Yes | HubAnswer::No) => plain_text(StatusCode::ACCEPTED, String::new()),
            Ok(HubAnswer::Unknown) => plain_text(StatusCode::GONE, String::new()),
            Err(error) => port_error(error),
        },
        // The sender is not told that the signature is wrong (WebSub §8).
        Ok(false) => plain_text(StatusCode::ACCEPTED, String::new()),
        Err(status) => plain_text(status, String::new()),
    }
}

/// Reads a body to its end and stores nothing of it; returns true if its signature is right.
async fn is_genuine(mut signed: Box<dyn SignedBody>, body: Body) -> Result<bool, StatusCode> {
    let (mut body, mut length) = (pin!(body), 0_usize);
    while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
        let frame = frame.map_err(|_cut_short| StatusCode::BAD_REQUEST)?;
        let Some(piece) = frame.data_ref() else { continue };
        length = length.saturating_add(piece.len());
        if length > MAX_BODY {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        signed.take(piece);
    }
    Ok(signed.is_genuine())
}

fn read(query: &str) -> Asked<'_> {
    let mut asked = Asked::default();
    for (name, value) in form_urlencoded::parse(query.as_bytes()).take(MAX_FIELDS) {
        match name.as_ref() {
            "hub.mode" => asked.mode = value,
            "hub.topic" => asked.topic = value,
            "hub.challenge" => asked.challenge = value,
            "hub.lease_seconds" => asked.lease_seconds = value.parse().ok(),
            _ => {}
        }
    }
    asked
}

/// Returns plain text, so that a challenge is never taken for a page.
pub(crate) fn plain_text(status: StatusCode, text: String) -> Response {
    (status, typed("text/plain; charset=utf-8", "no-store"), text).into_response()
}

pub(crate) fn port_error(error: PortError) -> Response {
    let (status, wait) = outcome("websub", &error.into());
    match wait {
        Some(wait) => waiting(plain_text(status, String::new()), wait),
        None => plain_text(status, String::new()),
    }
}
