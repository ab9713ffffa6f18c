//! WebSub callbacks: hubs verify subscriptions and send notifications. Only a notification's signature is checked.

use crate::app::{ErrorPage, PageRequest};
use crate::form::content_length;
use crate::page::{outcome, typed, waiting};
use crate::quota::Allowance;
use axum::body::{Body, HttpBody};
use axum::extract::{Path, RawQuery};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use curlew_crawl::feeds::websub_delivery::{HubAnswer, HubAsks, HubDelivery, SignedBody};
use curlew_ports::PortError;
use std::borrow::Cow;
use std::future::poll_fn;
use std::pin::pin;
use url::form_urlencoded;

/// Maximum length of a notification, in bytes. Updates of a larger feed are found by polling.
const MAX_BODY: usize = 1 << 20;
/// Header with the hub's signature of a notification (WebSub §7.1).
const SIGNATURE: &str = "x-hub-signature";
/// Maximum length of a challenge that is echoed, in bytes.
const MAX_CHALLENGE: usize = 1_024;
/// Maximum number of query fields that are read; a verification has five.
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
    request: PageRequest,
    Path(callback): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, ErrorPage> {
    admit(&request)?;
    let query = query.unwrap_or_default();
    let asked = read(&query);
    let is_denial = asked.mode == "denied";
    if asked.challenge.len() > MAX_CHALLENGE || (asked.challenge.is_empty() && !is_denial) {
        return Ok(empty(StatusCode::NOT_FOUND));
    }
    let question = HubAsks { mode: &asked.mode, topic: &asked.topic, lease_seconds: asked.lease_seconds };
    Ok(match request.app.services.pushes.verify_intent(&callback, &question).await.map_err(failed)? {
        HubAnswer::Yes if is_denial => empty(StatusCode::OK),
        HubAnswer::Yes => plain_text(StatusCode::OK, asked.challenge.into_owned()),
        // Not 410 (RFC 9110) for a former callback: a verifying hub expects 404 (WebSub §5.3).
        HubAnswer::No | HubAnswer::Unknown => empty(StatusCode::NOT_FOUND),
    })
}

/// `POST /websub/…`: a hub's notification (WebSub §7).
pub(crate) async fn deliver(
    request: PageRequest,
    Path(callback): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ErrorPage> {
    admit(&request)?;
    if content_length(&headers).is_some_and(|length| length > MAX_BODY as u64) {
        return Ok(empty(StatusCode::PAYLOAD_TOO_LARGE));
    }
    let pushes = &request.app.services.pushes;
    let signature = headers.get(SIGNATURE).and_then(|v| v.to_str().ok());
    let signed = match pushes.delivers(&callback, signature).await.map_err(failed)? {
        HubDelivery::Signed(body) => body,
        HubDelivery::Unsigned => return Ok(empty(StatusCode::ACCEPTED)),
        HubDelivery::Unknown => return Ok(empty(StatusCode::GONE)),
    };
    let is_genuine = is_genuine(signed, body).await.map_err(empty)?;
    let is_unknown = is_genuine && pushes.delivered(&callback).await.map_err(failed)? == HubAnswer::Unknown;
    // The response does not reveal that a signature is wrong (WebSub §8).
    Ok(empty(if is_unknown { StatusCode::GONE } else { StatusCode::ACCEPTED }))
}

fn admit(request: &PageRequest) -> Result<(), ErrorPage> {
    let admitted = request.app.admit(Allowance::HubCall, request.caller);
    admitted.map_err(|wait| waiting(empty(StatusCode::TOO_MANY_REQUESTS), Some(wait)).into())
}

/// Reads a body to its end without storing it. Returns true if its signature is valid.
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

/// Returns a plain-text response, so that a browser never renders a challenge as HTML.
fn plain_text(status: StatusCode, text: String) -> Response {
    (status, typed("text/plain; charset=utf-8", "no-store"), text).into_response()
}

fn empty(status: StatusCode) -> Response {
    plain_text(status, String::new())
}

fn failed(error: PortError) -> Response {
    let (status, wait) = outcome("websub", &error.into());
    waiting(empty(status), wait)
}
