//! Behaviours of [`CpuPool`], with tasks that keep their limits.

use curlew_ports::{CpuPool, CpuTask, compute};
use futures::FutureExt;
use futures::future::join_all;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

const KINDS: [CpuTask; 4] = [CpuTask::Document, CpuTask::LargeDocument, CpuTask::Query, CpuTask::Build];

/// A task of each kind returns its result.
pub async fn a_result_comes_back(pool: &Arc<dyn CpuPool>) {
    for kind in KINDS {
        let text = format!("{kind:?}");
        let length = compute(pool.as_ref(), kind, move || text.len()).await.expect("it is run");
        assert_eq!(length, format!("{kind:?}").len());
    }
}

/// A task's panic continues in its caller, and the pool keeps working.
pub async fn a_panic_continues_in_the_caller(pool: &Arc<dyn CpuPool>) {
    for kind in KINDS {
        let task = compute(pool.as_ref(), kind, || panic!("too much"));
        let panic = AssertUnwindSafe(task).catch_unwind().await.expect_err("it panics");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"too much"));
        assert!(matches!(compute(pool.as_ref(), kind, || 1).await, Ok(1)));
    }
}

/// More tasks than the pool has places for are all run.
pub async fn all_tasks_have_their_turn(pool: &Arc<dyn CpuPool>) {
    let tasks = (0..200).map(|n| compute(pool.as_ref(), KINDS[n % KINDS.len()], move || n));
    let done: Vec<usize> = join_all(tasks).await.into_iter().map(|done| done.expect("it is run")).collect();
    assert_eq!(done, (0..200).collect::<Vec<_>>());
}
