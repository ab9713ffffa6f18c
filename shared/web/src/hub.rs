//! `POST /hub`: feed readers subscribe to our search feeds (WebSub §5.1). Nothing is called here: a job asks the subscriber
//! whether it wants the subscription.

use crate::app::{App, From};
use crate::page::waiting;
use crate::websub::{port_error, said};
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use curlew_stages::operator::watches::{HubRequest, WatchError};
use curlew_stages::stage::StageError;
use std::borrow::Cow;
use std::sync::Arc;
use url::form_urlencoded;

/// Maximum length of a request, in bytes: two addresses and a secret.
const MAX_BODY: usize = 16_384;
/// Maximum number of fields that are read; a request has five.
const MAX_FIELDS: usize = 16;

/// Takes a request to begin or end a subscription.
pub(crate) async fn asked(State(app): State<Arc<App>>, from: From, body: Body) -> Response {
    let Some(feeds) = &app.services.feeds else { return said(StatusCode::NOT_FOUND, String::new()) };
    if let Err(wait) = app.admit_form(from) {
        return waiting(said(StatusCode::TOO_MANY_REQUESTS, String::new()), wait);
    }
    let Ok(body) = to_bytes(body, MAX_BODY).await else {
        return said(StatusCode::PAYLOAD_TOO_LARGE, format!("A request has at most {MAX_BODY} bytes."));
    };
    let fields: Vec<(Cow<'_, str>, Cow<'_, str>)> = form_urlencoded::parse(&body).take(MAX_FIELDS).collect();
    let field = |name: &str| fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_ref());
    let request = HubRequest {
        mode: field("hub.mode").unwrap_or_default(),
        topic: field("hub.topic").unwrap_or_default(),
        callback: field("hub.callback").unwrap_or_default(),
        lease_seconds: field("hub.lease_seconds").and_then(|seconds| seconds.parse().ok()),
        secret: field("hub.secret").filter(|secret| !secret.is_empty()),
    };
    let Some(query) = feeds.query_of(request.topic) else {
        return said(StatusCode::BAD_REQUEST, "hub.topic is no feed of this site, or not its own address.".to_owned());
    };
    if let Err(wait) = app.admit_subscription(&app.services.watches.receiver_host(request.callback)) {
        return waiting(said(StatusCode::TOO_MANY_REQUESTS, String::new()), wait);
    }
    match app.services.watches.subscribe(&request, &query).await {
        Ok(()) => said(StatusCode::ACCEPTED, String::new()),
        Err(WatchError::Refused(why)) => said(StatusCode::BAD_REQUEST, why),
        Err(WatchError::Stage(StageError::Port(error))) => port_error(error),
        Err(WatchError::Stage(StageError::Job(why))) => said(StatusCode::INTERNAL_SERVER_ERROR, why),
    }
}
