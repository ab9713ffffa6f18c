use crate::PortError;
use async_trait::async_trait;
use curlew_model::Millis;
use parking_lot::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// Size in bytes from which a document is a [`CpuTask::LargeDocument`]: a parsed page takes dozens of times its size.
pub const LARGE_DOCUMENT: usize = 1024 * 1024;

/// Kind of a CPU-bound task, which determines its limits and the tasks it waits for: no query waits for a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CpuTask {
    /// Parsing a document from the web, which is not trusted. Its processor time is limited.
    Document,
    /// Parsing a document that needs much memory: only one runs at a time.
    LargeDocument,
    /// A visitor's query. Its processor time is limited.
    Query,
    /// Building or merging splits, without a time limit; only a few run at a time, which leaves cores to other tasks.
    Build,
}

impl CpuTask {
    /// Returns the kind of task for a document of this many bytes.
    pub fn document(bytes: usize) -> CpuTask {
        if bytes < LARGE_DOCUMENT { CpuTask::Document } else { CpuTask::LargeDocument }
    }
}

/// Error of a task that has no result.
#[derive(Debug, thiserror::Error)]
pub enum CpuError {
    /// The task exceeded the processor time of its kind and was abandoned. Running it again does not help.
    #[error("it takes more than {} s of processor time", .0.0.div_ceil(1000))]
    Overrun(Millis),
    /// The task could not be run now; running it again later may help.
    #[error(transparent)]
    Unavailable(PortError),
}

/// Converts the error for tasks that no document can make overrun.
impl From<CpuError> for PortError {
    fn from(error: CpuError) -> PortError {
        match error {
            CpuError::Overrun(_) => PortError::Unavailable { what: error.to_string(), source: None },
            CpuError::Unavailable(error) => error,
        }
    }
}

/// Runs CPU-bound tasks off the threads that serve sockets and timers, a bounded number of each kind at a time. A task
/// owns its input. A task that exceeds its limit, or whose future is dropped, is abandoned and frees its place.
#[async_trait]
pub trait CpuPool: Send + Sync {
    /// Runs a task, which must not panic (see [`compute`]), to its end. After an error the task may still be running.
    async fn run(&self, kind: CpuTask, work: Box<dyn FnOnce() + Send>) -> Result<(), CpuError>;
}

/// Returns the result of `work`, which runs in the pool; a panic of `work` continues in the caller.
pub async fn compute<T: Send + 'static>(
    pool: &dyn CpuPool,
    kind: CpuTask,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, CpuError> {
    let result = Arc::new(Mutex::new(None));
    let slot = result.clone();
    // The task owns the data that it changes, so nobody can see it half changed after a panic.
    let work = move || {
        let outcome = catch_unwind(AssertUnwindSafe(work));
        *slot.lock() = Some(outcome);
    };
    pool.run(kind, Box::new(work)).await?;
    let outcome = result.lock().take();
    match outcome {
        Some(Ok(value)) => Ok(value),
        Some(Err(panic)) => resume_unwind(panic),
        None => Err(CpuError::Unavailable(PortError::Unavailable {
            what: "a task of the pool ended without a result".to_owned(),
            source: None,
        })),
    }
}

/// Runs each task immediately on its caller's thread, without limits; for simulations and programs with one document.
#[derive(Clone, Copy, Debug, Default)]
pub struct InlinePool;

#[async_trait]
impl CpuPool for InlinePool {
    async fn run(&self, _: CpuTask, work: Box<dyn FnOnce() + Send>) -> Result<(), CpuError> {
        work();
        Ok(())
    }
}
