//! The operator's pages, under `/admin`. They do nothing of their own: what is shown is read, and what is asked for is
//! done, by [`curlew_people`], as by the command line.
//!
//! All requests pass one gate ([`access`]): whoever is not signed in gets the sign-in page with 401 at any address
//! below `/admin`, whether it exists or not. All changes are POSTs to one address, `/admin/do`, with a token that is
//! bound to the session and to the kind of act, and is good once. The pages are in English, as the command line and the
//! reasons that the store holds are.

mod access;
mod act;
mod acts;
mod log;
mod mail;
mod overview;
mod screening;
pub(crate) mod seal;
mod settings;
mod sources;
mod view;
mod watches;

use crate::app::{App, CallerAddress};
use crate::language::Language;
use crate::page;
use crate::params::Params;
use crate::services::AdminServices;
use crate::token::Spent;
use crate::words;
use access::Operator;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, Uri};
use axum::response::Response;
use axum::routing::any;
use curlew_model::Timestamp;
use std::sync::{Arc, Mutex};

/// The language of the pages.
const ENGLISH: Language = Language::English;

/// State of the operator's pages.
pub(crate) struct Admin {
    app: Arc<App>,
    services: AdminServices,
    /// Time at which this process began: it does not know which older forms were sent already.
    started: Timestamp,
    /// Forms that were sent.
    spent: Mutex<Spent>,
}

/// Returns the routes.
pub(crate) fn router(app: Arc<App>, services: AdminServices) -> Router {
    let started = app.clock.now();
    let admin = Arc::new(Admin { app, services, started, spent: Mutex::default() });
    Router::new()
        .route("/admin", any(serve))
        .route("/admin/", any(serve))
        .route("/admin/{*rest}", any(serve))
        .with_state(admin)
}

/// Answers all requests.
async fn serve(State(admin): State<Arc<Admin>>, caller: CallerAddress, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().strip_prefix("/admin").unwrap_or_default().trim_matches('/').to_owned();
    if parts.method == Method::POST && path == "login" {
        return access::sign_in(&admin, caller, &parts.headers, body).await;
    }
    let operator = match access::operator(&admin, &parts).await {
        Ok(Some(operator)) => operator,
        Ok(None) => return access::sign_in_page(&admin, StatusCode::UNAUTHORIZED, None),
        Err(error) => return page::stage_error(admin.app.site(ENGLISH), "admin", &error),
    };
    match (parts.method.as_str(), path.as_str()) {
        ("POST", "do") => act::take(&admin, &operator, &parts.headers, body).await,
        ("GET" | "HEAD", _) => show(&admin, &operator, &path, &parts.uri).await,
        _ => page::status_message(
            admin.app.site(ENGLISH),
            StatusCode::METHOD_NOT_ALLOWED,
            &words::Message::in_language(ENGLISH).wrong_method,
        ),
    }
}

async fn show(admin: &Admin, operator: &Operator, path: &str, uri: &Uri) -> Response {
    let site = || admin.app.site(ENGLISH);
    let Ok(params) = Params::parse(uri) else { return page::no_such_page(site()) };
    let page = match path {
        "" | "login" => overview::page(admin, operator).await.map(Some),
        "sources" => sources::list(admin, operator, &params).await,
        "holds" => sources::holds(admin, operator, &params).await,
        "screening" => screening::rejected(admin, operator, &params).await,
        "overrides" => screening::overrides(admin, operator, &params).await.map(Some),
        "dead" => mail::dead(admin, operator).await.map(Some),
        "messages" => mail::messages(admin, operator, &params).await.map(Some),
        "owners" => mail::owners(admin, operator, &params).await.map(Some),
        "watches" => watches::page(admin, operator).await.map(Some),
        "settings" => Ok(Some(settings::page(admin, operator))),
        "audit" => log::page(admin, operator).await.map(Some),
        other => match other.strip_prefix("site/") {
            Some(host) => sources::site(admin, operator, host).await,
            None => Ok(None),
        },
    };
    match page {
        Ok(Some(page)) => view::answer(StatusCode::OK, &page),
        Ok(None) => page::no_such_page(site()),
        Err(error) => page::stage_error(site(), "admin", &error),
    }
}
