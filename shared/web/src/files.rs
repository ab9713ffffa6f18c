//! Small files: the style sheet, the icon, files that programs request from any site, and thumbnails.

use crate::app::{App, ErrorPage, PageRequest};
use crate::page::{self, A_DAY, AN_HOUR, FOREVER, spoken, typed};
use crate::words::Frame;
use askama::Template;
use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use curlew_catalog::thumbnails::thumbnail;
use curlew_crawl::politeness::signing::directory;
use curlew_model::{Millis, ThumbnailId};
use curlew_signature::directory::MEDIA_TYPE;
use std::sync::Arc;

pub(crate) const STYLE: &str = include_str!("../assets/style.css");
const FAVICON: &[u8] = include_bytes!("../assets/favicon.svg");
const OLD_FAVICON: &[u8] = include_bytes!("../assets/favicon.ico");
const PLAIN: &str = "text/plain; charset=utf-8";
const RULES: &[u8] =
    b"User-agent: *\nAllow: /\nAllow: /bot\nDisallow: /?\nDisallow: /api/\nDisallow: /random\nDisallow: /thumb/\n";
/// `Cache-Control` of the key directory, with `directory::MAX_AGE`.
const FOR_VERIFIERS: &str = "public, max-age=43200";
/// Validity of a security.txt; RFC 9116 §2.5.5 recommends less than a year.
const SECURITY_EXPIRES: Millis = Millis::from_days(180);
/// Maximum length of the name in an OpenSearch description ("OpenSearch 1.1 Draft 6", ShortName).
const MAX_SHORT_NAME: usize = 16;

/// First bytes of every JPEG file (ISO/IEC 10918-1 B.1.1.3: SOI, then a marker).
const JPEG: [u8; 3] = [0xff, 0xd8, 0xff];

#[derive(Template)]
#[template(path = "opensearch.xml")]
struct OpenSearch<'a> {
    short_name: String,
    origin: &'a str,
    t: &'static Frame,
}

/// Returns the routes of the files that are the same in every installation. The style sheet is cached for a year,
/// because its URL contains its version. robots.txt keeps other search engines away from results and thumbnails.
pub(crate) fn fixed() -> Router<Arc<App>> {
    let files = [
        ("/style.css", "text/css; charset=utf-8", FOREVER, STYLE.as_bytes()),
        ("/favicon.svg", "image/svg+xml", A_DAY, FAVICON),
        ("/favicon.ico", "image/vnd.microsoft.icon", A_DAY, OLD_FAVICON),
        ("/robots.txt", PLAIN, A_DAY, RULES),
    ];
    files.into_iter().fold(Router::new(), |router, (path, media_type, cache, body)| {
        router.route(path, get(move || async move { (typed(media_type, cache), body) }))
    })
}

/// `GET /.well-known/security.txt` (RFC 9116), if there is a contact that may be listed in it.
pub(crate) async fn security(request: PageRequest) -> Result<Response, ErrorPage> {
    let app = &request.app;
    let contact = app.contact.as_ref().filter(|c| c.fit_for_security_txt).and_then(|c| c.uri.as_deref());
    let contact = contact.ok_or_else(|| request.no_such_page())?;
    let expires = (app.clock.now() + SECURITY_EXPIRES).day();
    let canonical = app.origin.as_deref().filter(|o| o.starts_with("https:"));
    let canonical = canonical.map(|o| format!("Canonical: {o}/.well-known/security.txt\n")).unwrap_or_default();
    let text = format!("Contact: {contact}\nExpires: {expires}T00:00:00Z\nPreferred-Languages: en\n{canonical}");
    Ok((typed(PLAIN, AN_HOUR), text).into_response())
}

/// `GET /.well-known/http-message-signatures-directory`: the keys with which sites verify our requests, if any.
pub(crate) async fn keys(request: PageRequest) -> Result<Response, ErrorPage> {
    let directory = directory(request.app.services.blobs.as_ref(), request.app.clock.now());
    let directory = request.tried("the directory of keys", directory).await?.ok_or_else(|| request.no_such_page())?;
    let mut response = (typed(MEDIA_TYPE, FOR_VERIFIERS), directory.body).into_response();
    for (name, text) in [("signature-input", directory.input), ("signature", directory.signature)] {
        if let Ok(value) = HeaderValue::try_from(text) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    Ok(response)
}

/// `GET /opensearch.xml`, if our origin is configured: the description must contain it.
pub(crate) async fn opensearch(request: PageRequest) -> Result<Response, ErrorPage> {
    let origin = request.app.origin.as_deref().ok_or_else(|| request.no_such_page())?;
    let short_name = request.app.settings.title.chars().take(MAX_SHORT_NAME).collect();
    let description = OpenSearch { short_name, origin, t: Frame::in_language(request.language) };
    let description = page::text(StatusCode::OK, "application/opensearchdescription+xml", A_DAY, &description);
    Ok(spoken(request.language, description))
}

/// `GET /thumb/{id}`. Thumbnails are the only images of results: browsers load nothing from sites, so sites do not
/// learn of searches. The id names content, or a position in an object that never changes, so its bytes never change.
pub(crate) async fn thumb(request: PageRequest, Path(id): Path<String>) -> Result<Response, ErrorPage> {
    let id = ThumbnailId::new(&id).map_err(|_| request.no_such_page())?;
    let bytes = request.tried("thumbnail", thumbnail(request.app.services.blobs.as_ref(), &id)).await?;
    // Only a JPEG file is served as `image/jpeg`.
    let bytes = bytes.filter(|bytes| bytes.starts_with(&JPEG)).ok_or_else(|| request.no_such_page())?;
    Ok((typed("image/jpeg", FOREVER), bytes).into_response())
}
