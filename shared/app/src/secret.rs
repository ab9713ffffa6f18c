//! The secret of the web pages, from which keys for forms, callers' addresses and hub callbacks are derived.

use curlew_crawl::feeds::websub::{SECRET_BYTES as BYTES, WEB_SECRET};
use curlew_ports::{Blobs, PortError};
use std::io::Read;

const RANDOM: &str = "/dev/urandom";

/// Returns the secret shared by all processes that serve this store's pages. The first process generates it.
pub async fn web_secret(blobs: &dyn Blobs) -> Result<[u8; BYTES], PortError> {
    for _ in 0..2 {
        if let Some(secret) = curlew_crawl::feeds::websub::web_secret(blobs).await? {
            return Ok(secret);
        }
        let drawn = random_secret().map_err(|e| PortError::unavailable(RANDOM, e))?;
        // If another process was faster, its secret stays; the next round reads it.
        blobs.put_if_absent(WEB_SECRET, drawn.to_vec().into()).await?;
    }
    Err(PortError::Corrupt { what: WEB_SECRET.into(), why: "it was written and is not there".into() })
}

/// Returns random bytes from the kernel.
pub fn random_secret() -> std::io::Result<[u8; BYTES]> {
    let mut drawn = [0; BYTES];
    std::fs::File::open(RANDOM)?.read_exact(&mut drawn)?;
    Ok(drawn)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[tokio::test]
    async fn all_instances_have_the_same_secret() {
        let blobs = curlew_testkit::memory::MemoryBlobs::default();
        let first = web_secret(&blobs).await.unwrap();
        assert_eq!(web_secret(&blobs).await.unwrap(), first);
        assert_ne!(first, [0; BYTES]);
        blobs.put(WEB_SECRET, "short".into()).await.unwrap();
        assert!(web_secret(&blobs).await.is_err());
    }
}
