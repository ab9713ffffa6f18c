//! How often a process died while it ran a message's job alone. A process that dies tells nothing, so it is written
//! down before the job begins, and taken back when the job has returned.

use bytes::Bytes;
use curlew_ports::{Blobs, PortError};
use std::sync::Arc;

/// Prefix of the keys. It lies below the claims, which every queue's function may read and write, and which a lifecycle
/// rule deletes when no message can be as old any more.
const PREFIX: &str = "claims/deaths/";

/// The counts, by message.
#[derive(Clone)]
pub(crate) struct Deaths(pub(crate) Arc<dyn Blobs>);

impl Deaths {
    /// Returns the count of a message; one that cannot be read is none.
    pub(crate) async fn count(&self, message: &str) -> Result<u32, PortError> {
        let count = self.0.get(&format!("{PREFIX}{message}")).await?;
        Ok(count.and_then(|count| std::str::from_utf8(&count.bytes).ok()?.parse().ok()).unwrap_or(0))
    }

    /// Keeps it.
    pub(crate) async fn note(&self, message: &str, deaths: u32) -> Result<(), PortError> {
        self.0.put(&format!("{PREFIX}{message}"), Bytes::from(deaths.to_string())).await
    }
}
