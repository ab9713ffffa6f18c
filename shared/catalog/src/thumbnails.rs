//! Thumbnails. That of a page's own image is stored next to the page's record; that of an image fetched by a separate
//! visit is an object named by the hash of its URL.

use crate::segment;
use bytes::Bytes;
use curlew_model::{ImageId, ThumbnailId};
use curlew_ports::stage::Result;
use curlew_ports::{Blobs, PortError};
use std::collections::HashMap;

/// Prefix of the keys of thumbnails that are separate objects.
pub const THUMBNAIL_PREFIX: &str = "thumbnails/";

/// Returns a thumbnail's JPEG bytes, if it exists.
pub async fn thumbnail(blobs: &dyn Blobs, id: &ThumbnailId) -> Result<Option<Bytes>, PortError> {
    match id {
        ThumbnailId::Frame(at) => segment::thumbnail(blobs, at).await,
        ThumbnailId::Object(image) => Ok(tried(blobs, image).await?.flatten()),
    }
}

/// True if an image that had a separate visit yielded a thumbnail. Reads one byte of it.
pub(crate) async fn has_thumbnail(blobs: &dyn Blobs, image: &ImageId) -> Result<bool, PortError> {
    match blobs.get_range(&thumbnail_key(image), 0, 1).await {
        Ok(_) => Ok(true),
        // An empty object has no first byte.
        Err(PortError::NotFound(_) | PortError::Corrupt { .. }) => Ok(false),
        Err(other) => Err(other),
    }
}

/// Returns the key of a thumbnail object. An empty object records for good that the image yields no thumbnail.
pub fn thumbnail_key(image: &ImageId) -> String {
    format!("{THUMBNAIL_PREFIX}{}/{image}.jpg", &image.as_str()[..2])
}

/// Returns the outcome of an image's separate visit, if it had one: its thumbnail, or an inner `None` if it has none.
pub async fn tried(blobs: &dyn Blobs, image: &ImageId) -> Result<Option<Option<Bytes>>, PortError> {
    let blob = blobs.get(&thumbnail_key(image)).await?;
    Ok(blob.map(|blob| Some(blob.bytes).filter(|jpeg| !jpeg.is_empty())))
}

/// Stores the outcome of an image's separate visit: its thumbnail, or that it yields none.
pub async fn keep(blobs: &dyn Blobs, image: &ImageId, thumbnail: Option<Bytes>) -> Result<()> {
    Ok(blobs.put(&thumbnail_key(image), thumbnail.unwrap_or_default()).await?)
}

/// Thumbnails that are separate objects, each read once for a batch of pages.
#[derive(Default)]
pub struct Pictures(HashMap<ImageId, Option<Option<Bytes>>>);

impl Pictures {
    /// Returns the outcome of an image's separate visit, if it had one, like [`tried`].
    pub async fn get(&mut self, blobs: &dyn Blobs, image: &ImageId) -> Result<Option<Option<Bytes>>, PortError> {
        if let Some(known) = self.0.get(image) {
            return Ok(known.clone());
        }
        let tried = tried(blobs, image).await?;
        self.0.insert(image.clone(), tried.clone());
        Ok(tried)
    }
}
