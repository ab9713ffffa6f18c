//! Thumbnails, the only images of results. Browsers load nothing from sites, so sites do not learn of searches.

use crate::app::{ErrorPage, PageRequest};
use crate::page::{FOREVER, typed};
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use curlew_catalog::thumbnails::thumbnail;
use curlew_model::ThumbnailId;

/// First bytes of every JPEG file (ISO/IEC 10918-1 B.1.1.3: SOI, then a marker).
const JPEG: [u8; 3] = [0xff, 0xd8, 0xff];

/// `GET /thumb/{id}`. The id names content, or a position in an object that never changes, so its bytes never change.
pub(crate) async fn show(request: PageRequest, Path(id): Path<String>) -> Result<Response, ErrorPage> {
    let id = ThumbnailId::new(&id).map_err(|_| request.no_such_page())?;
    let bytes = thumbnail(request.app.services.blobs.as_ref(), &id).await;
    let bytes = bytes.map_err(|error| request.failed("thumbnail", error))?;
    // Only a JPEG file is served as `image/jpeg`.
    let bytes = bytes.filter(|bytes| bytes.starts_with(&JPEG)).ok_or_else(|| request.no_such_page())?;
    Ok((typed("image/jpeg", FOREVER), bytes).into_response())
}
