//! Small objects with many writers: read, decide, compare-and-swap, and retry on a conflict.

use curlew_ports::stage::{Result, StageError};
use curlew_ports::{Blobs, PortError, swapped};
use serde::Serialize;

/// Maximum number of tries of a compare-and-swap while others change the same object.
const TRIES: u32 = 16;

/// Changes an object by compare-and-swap: `decide` returns its new bytes, or `None` to leave it, and a value.
pub async fn change<A>(
    blobs: &dyn Blobs,
    key: &str,
    decide: impl Fn(Option<&[u8]>) -> Result<(Option<Vec<u8>>, A)>,
) -> Result<A> {
    for _ in 0..TRIES {
        let blob = blobs.get(key).await?;
        let (next, answer) = decide(blob.as_ref().map(|blob| blob.bytes.as_ref()))?;
        let Some(next) = next else { return Ok(answer) };
        if swapped(blobs.swap(key, blob.as_ref().map(|blob| &blob.tag), next.into()).await)? {
            return Ok(answer);
        }
    }
    Err(PortError::Conflict.into())
}

/// Returns the JSON of a value as it is stored in an object.
pub fn json(value: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|e| StageError::Job(e.to_string()))
}
