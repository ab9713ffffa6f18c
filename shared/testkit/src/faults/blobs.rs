//! An object store in which a test decides the outcome of each call.

use async_trait::async_trait;
use bytes::Bytes;
use curlew_ports::{Blob, Blobs, PortError, Tag};
use std::sync::Arc;

/// Operation of an object store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlobCall {
    /// [`Blobs::get`].
    Get,
    /// [`Blobs::get_range`].
    GetRange,
    /// [`Blobs::put`].
    Put,
    /// [`Blobs::put_if_absent`].
    PutIfAbsent,
    /// [`Blobs::swap`].
    Swap,
    /// [`Blobs::delete`].
    Delete,
    /// [`Blobs::list`], with its prefix as the key.
    List,
}

/// Decision about a call.
#[derive(Debug)]
pub enum BlobFate {
    /// The call is made.
    Pass,
    /// The call fails without effect.
    Fail(PortError),
    /// The call never returns.
    Hang,
}

type BlobJudge = dyn Fn(BlobCall, &str) -> BlobFate + Send + Sync;

/// An object store that calls a judge before each operation; the judge may also count, or panic.
pub struct JudgedBlobs {
    plain: Arc<dyn Blobs>,
    judge: Box<BlobJudge>,
}

impl JudgedBlobs {
    /// Wraps an object store with a judge.
    pub fn new(
        plain: Arc<dyn Blobs>,
        judge: impl Fn(BlobCall, &str) -> BlobFate + Send + Sync + 'static,
    ) -> Arc<JudgedBlobs> {
        Arc::new(JudgedBlobs { plain, judge: Box::new(judge) })
    }

    async fn judged(&self, call: BlobCall, key: &str) -> Result<&dyn Blobs, PortError> {
        match (self.judge)(call, key) {
            BlobFate::Pass => Ok(self.plain.as_ref()),
            BlobFate::Fail(error) => Err(error),
            BlobFate::Hang => std::future::pending().await,
        }
    }
}

#[async_trait]
impl Blobs for JudgedBlobs {
    async fn get(&self, key: &str) -> Result<Option<Blob>, PortError> {
        self.judged(BlobCall::Get, key).await?.get(key).await
    }

    async fn get_range(&self, key: &str, offset: u64, length: u64) -> Result<Bytes, PortError> {
        self.judged(BlobCall::GetRange, key).await?.get_range(key, offset, length).await
    }

    async fn put(&self, key: &str, bytes: Bytes) -> Result<(), PortError> {
        self.judged(BlobCall::Put, key).await?.put(key, bytes).await
    }

    async fn put_if_absent(&self, key: &str, bytes: Bytes) -> Result<bool, PortError> {
        self.judged(BlobCall::PutIfAbsent, key).await?.put_if_absent(key, bytes).await
    }

    async fn swap(&self, key: &str, seen: Option<&Tag>, bytes: Bytes) -> Result<Tag, PortError> {
        self.judged(BlobCall::Swap, key).await?.swap(key, seen, bytes).await
    }

    async fn delete(&self, key: &str) -> Result<(), PortError> {
        self.judged(BlobCall::Delete, key).await?.delete(key).await
    }

    async fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<String>, PortError> {
        self.judged(BlobCall::List, prefix).await?.list(prefix, after, limit).await
    }
}
