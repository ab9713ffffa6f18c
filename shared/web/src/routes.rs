//! The routes, and the layers that every response passes through.

use crate::app::App;
use crate::page_settings::PageSettings;
use crate::services::Services;
use crate::{
    admin, api, compress, contact, fallback, feeds, files, headers, info, mcp, owner, random, search, site_list, sites,
    status, suggest, validate, websub,
};
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state, map_response};
use axum::routing::get;
use curlew_signature::directory::PATH;
use std::sync::Arc;
use tower_http::catch_panic::CatchPanicLayer;

/// Returns the router of the pages, the API and the forms, with the operator's pages if [`Services::admin`] is set. Set
/// [`crate::Caller`] as an extension of each request; without it, all callers share one allowance.
pub fn router(mut services: Services, settings: PageSettings) -> Router {
    let for_admin = services.admin.take();
    let app = Arc::new(App::new(services, settings));
    let outer = Arc::clone(&app);
    let operators = for_admin.map(|services| admin::router(app.clone(), services)).unwrap_or_default();
    Router::new()
        .route("/", get(search::show))
        .merge(api_below(api::V1))
        .merge(api_below(api::UNVERSIONED).route_layer(from_fn(api::deprecated)))
        .route("/feed/{form}", get(feeds::show))
        .route("/thumb/{id}", get(files::thumb))
        .route("/sites", get(site_list::show))
        .route("/random", get(random::show))
        .route("/site/{host}", get(sites::show))
        .route("/c/{name}", get(sites::collection))
        .route("/suggest", get(suggest::show).post(suggest::send))
        .route("/contact", get(contact::show).post(contact::send))
        .route("/owner", get(owner::begin).post(owner::claim))
        .route("/owner/{host}/{key}", get(owner::show).post(owner::request))
        .route("/websub/{callback}", get(websub::verify_intent).post(websub::deliver))
        .route("/bot", get(info::bot))
        .route("/status", get(status::show))
        .route("/status.json", get(status::json))
        .route("/healthz", get(status::health))
        .merge(mcp::route(&outer))
        .route("/.well-known/security.txt", get(files::security))
        .route(PATH, get(files::keys))
        .merge(files::fixed())
        .route("/opensearch.xml", get(files::opensearch))
        .fallback(fallback::not_found)
        .method_not_allowed_fallback(fallback::wrong_method)
        .with_state(app)
        .merge(operators)
        .layer(from_fn_with_state(outer.clone(), api::to_every_origin))
        .layer(CatchPanicLayer::custom(|_| fallback::panicked()))
        .layer(from_fn_with_state(outer.clone(), fallback::apologise))
        .layer(from_fn_with_state(outer, fallback::own_names_only))
        .layer(from_fn(validate::tagged))
        .layer(compress::layer())
        .layer(map_response(headers::secure))
}

fn api_below(prefix: &str) -> Router<Arc<App>> {
    Router::new()
        .route(&format!("{prefix}/search"), get(api::search).options(api::preflight))
        .route(&format!("{prefix}/sites"), get(site_list::answer).options(api::preflight))
        .route(&format!("{prefix}/openapi.json"), get(api::description))
}
