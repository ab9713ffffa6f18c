//! Reading documents that strangers wrote: in the pool, under a limit of processor time.

use crate::stage::StageError;
use curlew_ports::{CpuError, CpuPool, CpuTask, compute};
use std::fmt;

/// A document took more processor time than it may; displayed as the reason to give for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Overrun(String);

impl fmt::Display for Overrun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns what `work` makes of a document of this many bytes, which it owns.
///
/// # Errors
/// The inner error if the document overran its limit, the outer one if it could not be read now.
pub(crate) async fn parsed<T: Send + 'static>(
    pool: &dyn CpuPool,
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Result<T, Overrun>, StageError> {
    within(pool, CpuTask::document(bytes), work).await
}

/// As above, for a document whose need of memory its length does not tell.
pub(crate) async fn within<T: Send + 'static>(
    pool: &dyn CpuPool,
    kind: CpuTask,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Result<T, Overrun>, StageError> {
    told(compute(pool, kind, work).await)
}

/// Distinguishes a document that overran, which is a result, from one that could not be read now.
pub(crate) fn told<T>(read: Result<T, CpuError>) -> Result<Result<T, Overrun>, StageError> {
    match read {
        Ok(value) => Ok(Ok(value)),
        Err(CpuError::Unavailable(error)) => Err(error.into()),
        Err(overrun @ CpuError::Overrun(_)) => Ok(Err(Overrun(overrun.to_string()))),
    }
}
