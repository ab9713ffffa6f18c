//! Forms of the operator's pages. The sender must be signed in. A form must be from our pages, and is accepted once.

use super::acts::{self, ActReport};
use super::view::{self, AdminPage};
use super::{AdminRequest, ENGLISH, access};
use crate::form::{self, Notice};
use crate::page;
use crate::token::{self, Fault};
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use curlew_model::Millis;
use curlew_ports::stage::StageError;
use std::panic::resume_unwind;
use std::sync::Arc;

/// Maximum length of a form's body, in bytes; large enough for a pasted list of feeds.
const MAX_BODY: usize = 2 << 20;
/// Maximum time that a response waits for an act; shorter than the server's response timeout.
const PATIENCE: Millis = Millis::from_secs(20);
/// Maximum length of the subject of an act, in bytes.
const MAX_ABOUT: usize = 2_048;

/// `POST /admin/do`
pub(super) async fn take(request: AdminRequest, headers: &HeaderMap, body: Body) -> Response {
    let request = Arc::new(request);
    let (admin, operator, app) = (&request.admin, &request.operator, &request.admin.app);
    let refused = |status, text: &str| {
        let done = ActReport { title: "This was not done", notice: Notice::bad(text), then: vec![] };
        answer(&request, status, done)
    };
    let filled = match form::read(app, ENGLISH, headers, body, MAX_BODY).await {
        Ok(filled) => filled,
        Err(error) => return refused(error.status, &error.text),
    };
    let (bound_to, now) = (operator.bound_to(filled.get("act")), app.clock.now());
    let ticket = match token::check_for(&app.settings.secret, &bound_to, filled.get("token"), now) {
        Ok(ticket) if ticket.age(now) <= now.since(admin.started) => ticket,
        Ok(_) | Err(Fault::TooOld | Fault::TooYoung) => {
            return refused(StatusCode::BAD_REQUEST, "This form is too old. Open its page again, and nothing is lost.");
        }
        Err(Fault::Forged) => {
            return refused(StatusCode::FORBIDDEN, "This form does not belong to your session.");
        }
    };
    if !admin.spent.lock().spend(ticket, now) {
        return refused(StatusCode::CONFLICT, "This form was sent before. Nothing was done a second time.");
    }
    if ["about", "about_typed", "url", "query"].iter().any(|name| filled.get(name).len() > MAX_ABOUT) {
        return refused(StatusCode::UNPROCESSABLE_ENTITY, "The address or the query is too long.");
    }
    if filled.get("act") == "sign_out" {
        let out = access::sign_out(admin, operator).await;
        return out.unwrap_or_else(|error| page::stage_error(app.site(ENGLISH), "sign out", &error));
    }
    // A separate task: the act continues if its caller disconnects, and after `PATIENCE`.
    let acting = tokio::spawn({
        let request = request.clone();
        async move { acts::run(&request, &filled).await }
    });
    let outcome = tokio::select! {
        biased;
        outcome = acting => outcome.unwrap_or_else(|panic| resume_unwind(panic.into_panic())),
        () = app.clock.sleep(PATIENCE) => {
            return answer(&request, StatusCode::ACCEPTED, ActReport::under_way());
        }
    };
    match outcome {
        Ok(done) => answer(&request, StatusCode::OK, done),
        // The act cannot be done; `why` is a sentence for the operator.
        Err(StageError::Job(why)) => refused(StatusCode::UNPROCESSABLE_ENTITY, &why),
        Err(error) => page::stage_error(app.site(ENGLISH), "admin", &error),
    }
}

fn answer(request: &AdminRequest, status: StatusCode, done: ActReport) -> Response {
    let ActReport { title, notice, then } = done;
    view::answer(status, &AdminPage { notice: Some(notice), forms: then, ..request.page("", title, "") })
}
