//! Leaves in the process of their root.

use crate::catalog::find::Finder;
use crate::catalog::leaves::Leaves;
use crate::stage::StageError;
use async_trait::async_trait;
use bytes::Bytes;
use curlew_ports::PortError;
use std::sync::Arc;

/// Leaves in this process, each with caches of its own.
pub struct LocalLeaves(pub Vec<Arc<Finder>>);

#[async_trait]
impl Leaves for LocalLeaves {
    fn count(&self) -> usize {
        self.0.len()
    }

    async fn ask(&self, leaf: usize, request: Bytes) -> Result<Bytes, PortError> {
        let leaf = self.0.get(leaf).ok_or_else(|| PortError::NotFound(format!("leaf {leaf}")))?;
        let failed = |error: StageError| match error {
            StageError::Port(error) => error,
            StageError::Job(why) => PortError::Corrupt { what: "a request to a leaf".into(), why },
        };
        leaf.answer_as_leaf(&request).await.map_err(failed)
    }
}
