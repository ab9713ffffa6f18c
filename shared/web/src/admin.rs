//! The operator's pages, under `/admin`. They contain no logic: [`curlew_people`] reads the data and carries out the
//! acts, as it does for the command line.
//!
//! All requests pass one gate ([`access`]): a caller who is not signed in gets the sign-in page with status 401 at any
//! path below `/admin`, whether it exists or not. All changes are POSTs to `/admin/do`, with a single-use token that is
//! bound to the session and to the kind of act. The pages are in English, like the command line and the stored reasons.

mod access;
mod act;
mod acts;
mod mail;
mod overview;
mod screening;
pub(crate) mod seal;
mod sources;
mod view;

use crate::app::{App, Caller};
use crate::language::Language;
use crate::page;
use crate::params::Params;
use crate::services::AdminServices;
use crate::token::Spent;
use access::Operator;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, Uri};
use axum::response::Response;
use axum::routing::any;
use curlew_model::Timestamp;
use curlew_ports::stage::StageError;
use parking_lot::Mutex;
use std::sync::Arc;
use view::AdminPage;

const ENGLISH: Language = Language::English;

pub(crate) struct Admin {
    app: Arc<App>,
    services: AdminServices,
    /// Start time of this process, which refuses older forms because it does not know whether they were sent already.
    started: Timestamp,
    spent: Mutex<Spent>,
}

struct AdminRequest {
    admin: Arc<Admin>,
    operator: Operator,
    params: Params,
}

/// A page, or `None` if its path or the position in its list does not exist.
type FoundPage<'a> = Result<Option<AdminPage<'a>>, StageError>;

pub(crate) fn router(app: Arc<App>, services: AdminServices) -> Router {
    let started = app.clock.now();
    let admin = Arc::new(Admin { app, services, started, spent: Mutex::default() });
    Router::new()
        .route("/admin", any(serve))
        .route("/admin/", any(serve))
        .route("/admin/{*rest}", any(serve))
        .with_state(admin)
}

async fn serve(State(admin): State<Arc<Admin>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().strip_prefix("/admin").unwrap_or_default().trim_matches('/').to_owned();
    if parts.method == Method::POST && path == "login" {
        return access::sign_in(&admin, Caller::of(&parts.extensions), &parts.headers, body).await;
    }
    let operator = match access::operator(&admin, &parts).await {
        Ok(Some(operator)) => operator,
        Ok(None) => return access::sign_in_page(&admin, StatusCode::UNAUTHORIZED, None),
        Err(error) => return page::stage_error(admin.app.site(ENGLISH), "admin", &error),
    };
    let request = AdminRequest { admin, operator, params: Params::default() };
    match (parts.method.as_str(), path.as_str()) {
        ("POST", "do") => act::take(request, &parts.headers, body).await,
        ("GET" | "HEAD", _) => show(request, &path, &parts.uri).await,
        _ => page::wrong_method(request.admin.app.site(ENGLISH)),
    }
}

async fn show(mut request: AdminRequest, path: &str, uri: &Uri) -> Response {
    let Ok(params) = Params::parse(uri) else { return page::no_such_page(request.admin.app.site(ENGLISH)) };
    request.params = params;
    let page = match path {
        "" | "login" => overview::page(&request).await,
        "sources" => sources::list(&request).await,
        "holds" => sources::holds(&request).await,
        "screening" => screening::rejected(&request).await,
        "overrides" => screening::overrides(&request).await,
        "dead" => mail::dead(&request).await,
        "messages" => mail::messages(&request).await,
        "owners" => mail::owners(&request).await,
        "watches" => mail::watches(&request).await,
        "settings" => Ok(Some(overview::settings(&request))),
        "audit" => overview::audit_log(&request).await,
        other => match other.strip_prefix("site/") {
            Some(host) => sources::site(&request, host).await,
            None => Ok(None),
        },
    };
    match page {
        Ok(Some(page)) => view::answer(StatusCode::OK, &page),
        Ok(None) => page::no_such_page(request.admin.app.site(ENGLISH)),
        Err(error) => page::stage_error(request.admin.app.site(ENGLISH), "admin", &error),
    }
}
