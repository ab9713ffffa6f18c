//! Parses untrusted documents in the CPU pool, under a limit on processor time.

use curlew_ports::stage::{Result, panic_message};
use curlew_ports::{CpuError, CpuPool, CpuTask, compute};
use futures::FutureExt;
use std::panic::AssertUnwindSafe;

/// A document exceeded its processor time, or its parser panicked; displayed as the reason for rejecting it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Overrun(String);

/// Runs `work` on a document of this many bytes; the inner error means that it overran its limit or panicked. A panic
/// would recur on every attempt, and a failed job would leave the lease of its visit in force and the visit's other
/// documents unread.
pub async fn parsed<T: Send + 'static>(
    pool: &dyn CpuPool,
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Result<T, Overrun>> {
    within(pool, CpuTask::document(bytes), work).await
}

/// Does the same as [`parsed`] for a document whose memory use does not follow from its length.
pub(crate) async fn within<T: Send + 'static>(
    pool: &dyn CpuPool,
    kind: CpuTask,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Result<T, Overrun>> {
    let read = AssertUnwindSafe(compute(pool, kind, work)).catch_unwind().await;
    read.map_or_else(
        |panic| {
            let why = panic_message(panic.as_ref());
            tracing::error!(why, "the reader of a document panicked");
            Ok(Err(Overrun("its reader panicked".to_owned())))
        },
        overrun_apart,
    )
}

/// Separates a document that overran, which is a result, from one that could not be parsed now.
pub(crate) fn overrun_apart<T>(read: Result<T, CpuError>) -> Result<Result<T, Overrun>> {
    match read {
        Ok(value) => Ok(Ok(value)),
        Err(CpuError::Unavailable(error)) => Err(error.into()),
        Err(overrun @ CpuError::Overrun(_)) => Ok(Err(Overrun(overrun.to_string()))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]
    use super::*;
    use curlew_ports::InlinePool;

    #[tokio::test]
    async fn a_document_that_makes_its_reader_panic_is_one_that_cannot_be_read() {
        assert_eq!(parsed(&InlinePool, 9, || 7).await.unwrap(), Ok(7));
        let read = parsed(&InlinePool, 9, || -> u8 { panic!("this document is too much") }).await.unwrap();
        assert_eq!(read.unwrap_err().to_string(), "its reader panicked");
    }
}
