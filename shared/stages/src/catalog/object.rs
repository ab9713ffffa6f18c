//! Small objects that many may change: read, decide, swap, and again if somebody else was first.

use crate::stage::StageError;
use curlew_ports::{Blobs, PortError};
use serde::Serialize;

/// How often an object is tried to be swapped while others swap it.
const TRIES: u32 = 16;

/// Changes an object by compare-and-swap. `decide` is given its bytes, if it is there, and gives what is to stand there, none
/// if that may stay as it is, and an answer.
pub(crate) async fn change<A>(
    blobs: &dyn Blobs,
    key: &str,
    decide: impl Fn(Option<&[u8]>) -> Result<(Option<Vec<u8>>, A), StageError>,
) -> Result<A, StageError> {
    for _ in 0..TRIES {
        let blob = blobs.get(key).await?;
        let (next, answer) = decide(blob.as_ref().map(|blob| blob.bytes.as_ref()))?;
        let Some(next) = next else { return Ok(answer) };
        match blobs.swap(key, blob.as_ref().map(|blob| &blob.tag), next.into()).await {
            Ok(_) => return Ok(answer),
            Err(PortError::Conflict) => {}
            Err(other) => return Err(other.into()),
        }
    }
    Err(PortError::Conflict.into())
}

/// An object as it is written.
pub(crate) fn json(value: &impl Serialize) -> Result<Vec<u8>, StageError> {
    serde_json::to_vec(value).map_err(|e| StageError::Job(e.to_string()))
}
