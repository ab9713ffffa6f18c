//! Objects that are read for a list: many at once, and all but those that are damaged.

use curlew_ports::Blobs;
use curlew_ports::stage::StageError;
use futures::{StreamExt, TryStreamExt, stream};
use serde::de::DeserializeOwned;

/// Number of objects that are read concurrently; S3 takes some 20 ms for one.
const AT_ONCE: usize = 32;

/// Returns the objects with these keys, in their order. One that was deleted meanwhile is left out, and so is a damaged
/// one, which must not hide the others.
///
/// # Errors
/// The object store's error.
pub(crate) async fn readable<T: DeserializeOwned>(
    blobs: &dyn Blobs,
    keys: impl IntoIterator<Item = String, IntoIter: Send>,
) -> Result<Vec<(String, T)>, StageError> {
    let reads = stream::iter(keys).map(async |key| Ok::<_, StageError>((blobs.get(&key).await?, key)));
    let blobs: Vec<_> = reads.buffered(AT_ONCE).try_collect().await?;
    let read = |(blob, key): (Option<curlew_ports::Blob>, String)| match serde_json::from_slice(&blob?.bytes) {
        Ok(object) => Some((key, object)),
        Err(error) => {
            tracing::error!(key, %error, "an object cannot be read, and is left out");
            None
        }
    };
    Ok(blobs.into_iter().filter_map(read).collect())
}
