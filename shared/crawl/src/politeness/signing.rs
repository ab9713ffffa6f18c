//! Signs requests with the operator's keys (Web Bot Auth), and publishes the directory of their public keys.

use async_trait::async_trait;
use curlew_model::{Millis, SignatureHeaders, Timestamp};
use curlew_ports::{Blobs, PortError};
use curlew_signature::directory::{LIFETIME, SignedDirectory};
use curlew_signature::keys::KeyRing;
use curlew_signature::request;
use std::sync::{Arc, Mutex, PoisonError};
use url::{Position, Url};

/// Key of the signed directory that the web function serves. The directory contains no secret.
pub const DIRECTORY: &str = "web/signature-directory.json";
/// Time after which keys are read again; a new key waits far longer before it signs.
const REREAD_AFTER: Millis = Millis::from_mins(10);

/// Interval at which a process checks whether the stored directory is stale.
const LOOKED_AT_EVERY: Millis = Millis::from_hours(1);

/// Selects the requests to sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureMode {
    /// Requests to hosts that asked for a signature when they refused a request without one.
    Asked,
    /// All requests.
    Always,
}

/// Store of the operator's keys.
#[async_trait]
pub trait KeySource: Send + Sync {
    /// Reads the keys; `None` if there are none. The error contains no secret.
    async fn load(&self) -> Result<Option<KeyRing>, PortError>;
}

/// A process's copy of the keys, with the time of the last read.
#[derive(Debug, Default)]
pub struct KnownKeys {
    ring: Mutex<Option<(Timestamp, Option<Arc<KeyRing>>)>>,
    published: Mutex<Option<Timestamp>>,
}

/// Signs requests.
#[derive(Clone)]
pub struct Signer {
    /// The requests to sign.
    pub mode: SignatureMode,
    /// Our own origin, which serves the directory of the keys.
    pub agent: Url,
    /// The store of the keys.
    pub keys: Arc<dyn KeySource>,
    /// This process's copy of the keys.
    pub known: Arc<KnownKeys>,
}

impl Signer {
    /// Signs a request to `url`; `unique` is a random number. Returns `None` if there is no key.
    pub async fn sign(&self, url: &Url, now: Timestamp, unique: u64) -> Option<SignatureHeaders> {
        let key = self.ring(now).await?.signing(now)?;
        let agent = self.agent.origin().ascii_serialization();
        Some(request::sign(&key, authority(url), &agent, now, unique))
    }

    /// Returns true if there is a key.
    pub async fn has_key(&self, now: Timestamp) -> bool {
        self.ring(now).await.is_some()
    }

    /// Signs the directory and stores it, unless the stored one is still good. Does nothing without a key.
    pub async fn publish(&self, blobs: &dyn Blobs, now: Timestamp, unique: u64) -> Result<(), PortError> {
        let Some(ring) = self.ring(now).await else { return Ok(()) };
        let authority = authority(&self.agent);
        if stored(blobs).await?.is_some_and(|stored| !stored.is_stale(&ring, authority, now)) {
            return Ok(());
        }
        let directory = SignedDirectory::new(&ring, authority, now, unique);
        let bytes = serde_json::to_vec(&directory).map_err(|e| PortError::unavailable("a directory of keys", e))?;
        blobs.put(DIRECTORY, bytes.into()).await
    }

    /// Calls [`Signer::publish`] at most once an hour for each process, whether it fails or not.
    pub async fn publish_hourly(&self, blobs: &dyn Blobs, now: Timestamp, unique: u64) -> Result<(), PortError> {
        let is_due = {
            let mut last = self.known.published.lock().unwrap_or_else(PoisonError::into_inner);
            let is_due = last.is_none_or(|at| now.since(at) >= LOOKED_AT_EVERY);
            *last = last.filter(|_| !is_due).or(Some(now));
            is_due
        };
        if is_due { self.publish(blobs, now, unique).await } else { Ok(()) }
    }

    /// Returns the keys, read at most ten minutes ago; the last known ones while the store is unavailable.
    async fn ring(&self, now: Timestamp) -> Option<Arc<KeyRing>> {
        let last = self.known.ring.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let before = match last {
            Some((at, ring)) if now.since(at) < REREAD_AFTER => return ring,
            other => other.and_then(|(_, ring)| ring),
        };
        let ring = match self.keys.load().await {
            Ok(ring) => ring.map(Arc::new),
            // The store may be available again the next time.
            Err(error) if error.is_transient() => {
                tracing::warn!(%error, "the keys that sign requests are out of reach");
                before
            }
            Err(error) => {
                tracing::error!(%error, "requests are not signed");
                None
            }
        };
        *self.known.ring.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, ring.clone()));
        ring
    }
}

/// Returns the stored directory, if its signatures have not expired.
pub async fn directory(blobs: &dyn Blobs, now: Timestamp) -> Result<Option<SignedDirectory>, PortError> {
    Ok(stored(blobs).await?.filter(|directory| now.since(directory.signed_at) < LIFETIME))
}

/// Returns the stored directory; `None` if it cannot be parsed, so that it is signed again.
async fn stored(blobs: &dyn Blobs) -> Result<Option<SignedDirectory>, PortError> {
    let Some(blob) = blobs.get(DIRECTORY).await? else { return Ok(None) };
    Ok(serde_json::from_slice(&blob.bytes).ok())
}

/// Returns the host of a URL in lower case, with its port unless that is the scheme's default (RFC 9421 §2.2.3).
fn authority(url: &Url) -> &str {
    &url[Position::BeforeHost..Position::AfterPort]
}
