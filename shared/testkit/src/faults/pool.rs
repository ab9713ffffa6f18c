//! A pool that reports document tasks as overrun.

use async_trait::async_trait;
use curlew_model::Millis;
use curlew_ports::{CpuError, CpuPool, CpuTask};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs tasks inline like [`curlew_ports::InlinePool`], but reports all document tasks after the first few as overrun.
#[derive(Debug)]
pub struct OverrunPool {
    spared: AtomicUsize,
}

impl OverrunPool {
    /// Returns a pool that runs the first `spared` document tasks.
    pub fn after(spared: usize) -> OverrunPool {
        OverrunPool { spared: AtomicUsize::new(spared) }
    }
}

#[async_trait]
impl CpuPool for OverrunPool {
    async fn run(&self, kind: CpuTask, work: Box<dyn FnOnce() + Send>) -> Result<(), CpuError> {
        let is_document = matches!(kind, CpuTask::Document | CpuTask::LargeDocument);
        let spare = |left: usize| left.checked_sub(1);
        if is_document && self.spared.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spare).is_err() {
            return Err(CpuError::Overrun(Millis::from_secs(10)));
        }
        work();
        Ok(())
    }
}
