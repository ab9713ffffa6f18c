//! JSON objects: single ones, changed by compare-and-swap, and many, read for a list.

use curlew_catalog::listing::each_key;
use curlew_catalog::object;
use curlew_ports::stage::Result;
use curlew_ports::{Blob, Blobs, PortError};
use futures::{Stream, StreamExt, TryStreamExt, stream};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Maximum number of objects that are read concurrently; S3 takes about 20 ms for one.
const AT_ONCE: usize = 32;

pub(crate) fn from_json<T: DeserializeOwned>(key: &str, bytes: &[u8]) -> Result<T, PortError> {
    serde_json::from_slice(bytes).map_err(|e| PortError::Corrupt { what: key.to_owned(), why: e.to_string() })
}

pub(crate) async fn load<T: DeserializeOwned>(blobs: &dyn Blobs, key: &str) -> Result<Option<T>> {
    let blob = blobs.get(key).await?;
    Ok(blob.map(|blob| from_json(key, &blob.bytes)).transpose()?)
}

/// Changes an object by compare-and-swap, starting from `empty` if it is missing. An unchanged object is not written.
pub(crate) async fn change<T: Serialize + DeserializeOwned, A>(
    blobs: &dyn Blobs,
    key: &str,
    empty: impl Fn() -> T,
    change: impl Fn(&mut T) -> Result<A>,
) -> Result<A> {
    object::change(blobs, key, |bytes| {
        let mut value = bytes.map(|bytes| from_json(key, bytes)).transpose()?.unwrap_or_else(&empty);
        let before = object::json(&value)?;
        let answer = change(&mut value)?;
        let after = object::json(&value)?;
        Ok(((after != before).then_some(after), answer))
    })
    .await
}

/// Streams all objects under a prefix with their keys, one after the other.
pub(crate) fn each_object<'a>(
    blobs: &'a dyn Blobs,
    prefix: &'a str,
) -> impl Stream<Item = Result<(String, Blob), PortError>> + Unpin + 'a {
    let read = move |key: String| async move { Ok(blobs.get(&key).await?.map(|blob| (key, blob))) };
    Box::pin(each_key(blobs, prefix, None).try_filter_map(read))
}

/// Returns the objects with these keys, in the order of the keys; skips missing and damaged ones.
pub(crate) async fn readable<T: DeserializeOwned>(
    blobs: &dyn Blobs,
    keys: impl IntoIterator<Item = String, IntoIter: Send>,
) -> Result<Vec<(String, T)>> {
    let reads = stream::iter(keys).map(async |key| Ok::<_, PortError>((blobs.get(&key).await?, key)));
    let blobs: Vec<_> = reads.buffered(AT_ONCE).try_collect().await?;
    let read = |(blob, key): (Option<Blob>, String)| match serde_json::from_slice(&blob?.bytes) {
        Ok(object) => Some((key, object)),
        Err(error) => {
            tracing::error!(key, %error, "an object cannot be read, and is left out");
            None
        }
    };
    Ok(blobs.into_iter().filter_map(read).collect())
}
