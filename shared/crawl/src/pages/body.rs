//! Packs fetched documents for extraction: compressed inside the message, or in an object if they are too large.

use bytes::Bytes;
use curlew_catalog::frames::compressed;
use curlew_model::{PageBody, PageId, Timestamp};
use curlew_ports::stage::{Result, StageError};
use curlew_ports::{Blobs, PortError};

/// Maximum bytes of packed document and thumbnail in a message: as base64 they still fit in 1 MiB.
pub const INLINE_LIMIT: usize = 256 * 1024;
/// Maximum decompressed size of a document in bytes, far above the limit of a fetched one.
const UNPACK_LIMIT: usize = 16 * 1024 * 1024;

/// Packs a document for a message that carries `besides` further bytes.
pub async fn pack(blobs: &dyn Blobs, page: &PageId, html: &[u8], besides: usize, now: Timestamp) -> Result<PageBody> {
    let packed = compressed(html)?;
    if packed.len().saturating_add(besides) <= INLINE_LIMIT {
        return Ok(PageBody::Inline(packed.into()));
    }
    let key = format!("bodies/{}/{page}.zst", now.day());
    blobs.put(&key, packed.into()).await?;
    Ok(PageBody::Stored(key))
}

/// Unpacks a document; a job error if it is missing or is not valid zstd.
pub async fn unpack(blobs: &dyn Blobs, body: &PageBody) -> Result<Bytes> {
    let packed = match body {
        PageBody::Inline(bytes) => bytes.clone(),
        PageBody::Stored(key) => {
            let blob = blobs.get(key).await?;
            blob.ok_or_else(|| StageError::Job(PortError::NotFound(key.clone()).to_string()))?.bytes
        }
    };
    // An empty input decompresses without an error, but even an empty document is not empty when packed.
    if packed.is_empty() {
        return Err(StageError::Job("the document is missing".to_owned()));
    }
    let html = zstd::bulk::decompress(&packed, UNPACK_LIMIT)
        .map_err(|e| StageError::Job(format!("the document cannot be unpacked: {e}")))?;
    Ok(html.into())
}

pub(crate) async fn discard(blobs: &dyn Blobs, body: &PageBody) -> Result<()> {
    if let PageBody::Stored(key) = body {
        blobs.delete(key).await?;
    }
    Ok(())
}
