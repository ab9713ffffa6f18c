//! From a new URL to a record: fetching, extraction, screening, re-checks.

pub mod body;
pub mod extract;
pub mod fetch;
pub mod fingerprint;
pub mod image;
pub mod import;
pub mod judge;
pub mod overrides;
pub mod reextract;
pub mod sample;
pub mod variant;

use crate::parsing::{Overrun, parsed};
use bytes::Bytes;
use curlew_article::{HeadScan, Limits, decode, scan_head};
use curlew_model::Rejection;
use curlew_ports::stage::{Result, StageError};
use curlew_ports::{CpuPool, PortError};
use url::Url;

/// Reason for making no record of a page: it is rejected, or could not be judged now.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotTaken {
    #[error(transparent)]
    Rejected(#[from] Rejection),
    #[error(transparent)]
    Failed(#[from] StageError),
}

impl From<Overrun> for NotTaken {
    fn from(overrun: Overrun) -> NotTaken {
        NotTaken::Rejected(Rejection::Limit(overrun.to_string()))
    }
}

impl From<PortError> for NotTaken {
    fn from(error: PortError) -> NotTaken {
        NotTaken::Failed(error.into())
    }
}

/// Separates a rejection, which is a result, from a failure.
pub(crate) fn rejected_apart<T>(made: Result<T, NotTaken>) -> Result<Result<T, Rejection>> {
    match made {
        Ok(made) => Ok(Ok(made)),
        Err(NotTaken::Rejected(why)) => Ok(Err(why)),
        Err(NotTaken::Failed(error)) => Err(error),
    }
}

/// Decodes a document and scans its head; returns the text and the scan.
pub(crate) async fn scanned(
    pool: &dyn CpuPool,
    body: Bytes,
    media: Option<String>,
    url: &Url,
) -> Result<(String, HeadScan), NotTaken> {
    let (bytes, base) = (body.len(), url.clone());
    let read = move || {
        let html = decode(&body, media.as_deref()).into_owned();
        scan_head(&html, &base, &Limits::default()).map(|head| (html, head))
    };
    Ok(parsed(pool, bytes, read).await??.map_err(|why| Rejection::Unreadable(why.to_string()))?)
}
