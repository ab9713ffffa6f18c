//! Thumbnails. They are the only images of results: nothing is ever loaded from the sites themselves, so sites do not
//! learn who searched for what.

use crate::app::App;
use crate::language::Language;
use crate::page::{no_such_page, stage_error, typed};
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use curlew_catalog::thumbnails::thumbnail;
use curlew_model::ThumbnailId;
use std::sync::Arc;

/// The id names a content, or its place in an object named by content, so the bytes of one id never change.
const FOREVER: &str = "public, max-age=31536000, immutable";
/// First bytes of every JPEG file (ISO/IEC 10918-1 B.1.1.3: SOI, then a marker).
const JPEG: [u8; 3] = [0xff, 0xd8, 0xff];

/// `GET /thumb/{id}`
pub(crate) async fn show(State(app): State<Arc<App>>, language: Language, Path(id): Path<String>) -> Response {
    let site = app.site(language);
    let Ok(id) = ThumbnailId::new(&id) else { return no_such_page(site) };
    match thumbnail(app.services.blobs.as_ref(), &id).await {
        // Bytes that are no JPEG are not served as one.
        Ok(Some(bytes)) if bytes.starts_with(&JPEG) => (typed("image/jpeg", FOREVER), bytes).into_response(),
        Ok(_) => no_such_page(site),
        Err(error) => stage_error(site, "thumbnail", &error.into()),
    }
}
