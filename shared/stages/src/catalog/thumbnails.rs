//! Where thumbnails lie: that of a page's own image beside the page's record, that of an image which had a visit of its own
//! as an object under the hash of its URL.

use crate::catalog::segment;
use crate::stage::StageError;
use bytes::Bytes;
use curlew_model::{ImageId, ThumbnailId};
use curlew_ports::{Blobs, PortError};
use std::collections::HashMap;

/// Where thumbnails that are objects of their own are kept.
pub const THUMBNAIL_PREFIX: &str = "thumbnails/";

/// A thumbnail's JPEG bytes, if there is one.
///
/// # Errors
/// What the object store says.
pub async fn thumbnail(blobs: &dyn Blobs, id: &ThumbnailId) -> Result<Option<Bytes>, PortError> {
    match id {
        ThumbnailId::Frame(at) => segment::thumbnail(blobs, at).await,
        ThumbnailId::Object(image) => Ok(tried(blobs, image).await?.flatten()),
    }
}

/// The key of a thumbnail that is an object of its own. An empty object says for good that the image gives none, so that
/// it is not asked for with each page that shows it.
pub fn thumbnail_key(image: &ImageId) -> String {
    format!("{THUMBNAIL_PREFIX}{}/{image}.jpg", &image.as_str()[..2])
}

/// The thumbnail of an image, or that it gives none, if it had a visit of its own before.
pub(crate) async fn tried(blobs: &dyn Blobs, image: &ImageId) -> Result<Option<Option<Bytes>>, PortError> {
    let blob = blobs.get(&thumbnail_key(image)).await?;
    Ok(blob.map(|blob| Some(blob.bytes).filter(|jpeg| !jpeg.is_empty())))
}

/// Keeps the thumbnail of an image that had a visit of its own, or that there is none.
pub(crate) async fn keep(blobs: &dyn Blobs, image: &ImageId, thumbnail: Option<Bytes>) -> Result<(), StageError> {
    Ok(blobs.put(&thumbnail_key(image), thumbnail.unwrap_or_default()).await?)
}

/// Thumbnails that are objects of their own, each read once for a batch of pages.
#[derive(Default)]
pub(crate) struct Pictures(HashMap<ImageId, Option<Option<Bytes>>>);

impl Pictures {
    /// What the image gave, if it had a visit of its own before, with or without success.
    pub(crate) async fn get(&mut self, blobs: &dyn Blobs, image: &ImageId) -> Result<Option<Option<Bytes>>, PortError> {
        if let Some(known) = self.0.get(image) {
            return Ok(known.clone());
        }
        let tried = tried(blobs, image).await?;
        self.0.insert(image.clone(), tried.clone());
        Ok(tried)
    }
}
