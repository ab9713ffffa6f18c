//! Interrupts the jobs of a runner that is ending: lets a running call finish, and starts no other.

use async_trait::async_trait;
use curlew_model::{Millis, Timestamp};
use curlew_ports::{Call, Clock, Fetch, FetchError, Reply};
use std::future::{Future, pending};
use std::sync::Arc;
use tokio::sync::{Notify, watch};

tokio::task_local! {
    static JOB: Interruptible;
}

#[derive(Clone)]
struct Interruptible {
    is_ending: watch::Receiver<bool>,
    between_calls: Arc<Notify>,
}

/// Runs a job. Returns `None` if its runner is ending and the job was interrupted between two calls.
pub(crate) async fn unless_interrupted<T>(is_ending: watch::Receiver<bool>, job: impl Future<Output = T>) -> Option<T> {
    let between_calls = Arc::new(Notify::new());
    let here = Interruptible { is_ending, between_calls: between_calls.clone() };
    tokio::select! {
        done = JOB.scope(here, job) => Some(done),
        () = between_calls.notified() => None,
    }
}

/// Waits until the runner is ending, then interrupts this task's job. Never returns; outside of a job it only waits.
async fn interrupted() {
    if let Ok(mut job) = JOB.try_with(Clone::clone)
        && job.is_ending.wait_for(|is_ending| *is_ending).await.is_ok()
    {
        job.between_calls.notify_one();
    }
    pending().await
}

/// A [`Fetch`] that interrupts jobs before a call.
pub(crate) struct InterruptibleCalls(pub(crate) Arc<dyn Fetch>);

#[async_trait]
impl Fetch for InterruptibleCalls {
    async fn call(&self, call: &Call) -> Result<Reply, FetchError> {
        if JOB.try_with(|job| *job.is_ending.borrow()).unwrap_or_default() {
            interrupted().await;
        }
        self.0.call(call).await
    }

    fn vet(&self, url: &str) -> Result<(), String> {
        self.0.vet(url)
    }
}

/// A [`Clock`] that interrupts jobs during a pause.
pub(crate) struct InterruptiblePauses<C>(pub(crate) C);

#[async_trait]
impl<C: Clock> Clock for InterruptiblePauses<C> {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn monotonic(&self) -> Millis {
        self.0.monotonic()
    }

    async fn sleep(&self, time: Millis) {
        tokio::select! {
            () = self.0.sleep(time) => {}
            () = interrupted() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use curlew_app::SystemClock;
    use curlew_model::Validators;
    use curlew_ports::CallKind;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Default)]
    struct SlowCalls {
        begun: AtomicUsize,
        ended: AtomicUsize,
    }

    #[async_trait]
    impl Fetch for SlowCalls {
        async fn call(&self, _: &Call) -> Result<Reply, FetchError> {
            self.begun.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(Millis::from_secs(2).as_duration()).await;
            self.ended.fetch_add(1, Ordering::Relaxed);
            Err(FetchError::Local("there is nobody".into()))
        }

        fn vet(&self, _: &str) -> Result<(), String> {
            Ok(())
        }
    }

    /// Makes three calls, each followed by a pause of an hour if `pauses` is set.
    async fn calls(web: Arc<SlowCalls>, pauses: bool) {
        let (calls, clock) = (InterruptibleCalls(web), InterruptiblePauses(SystemClock::new()));
        let url = "https://example.org/".to_owned();
        let (validators, time) = (Validators::default(), Millis::from_secs(30));
        let call = Call { url, kind: CallKind::Page, validators, post: None, signature: None, time };
        for _ in 0..3 {
            calls.call(&call).await.unwrap_err();
            if pauses {
                clock.sleep(Millis::from_hours(1)).await;
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn of_a_runner_that_ends_the_call_under_way_ends_and_no_other_begins() {
        for pauses in [false, true] {
            let web = Arc::new(SlowCalls::default());
            let (ending, is_ending) = watch::channel(false);
            let job = tokio::spawn(unless_interrupted(is_ending, calls(web.clone(), pauses)));
            tokio::time::sleep(Millis::from_secs(1).as_duration()).await;
            ending.send_replace(true);
            assert_eq!(job.await.unwrap(), None);
            assert_eq!((web.begun.load(Ordering::Relaxed), web.ended.load(Ordering::Relaxed)), (1, 1));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn other_tasks_and_jobs_of_a_runner_that_goes_on_are_not_interrupted() {
        let web = Arc::new(SlowCalls::default());
        let (_ending, is_ending) = watch::channel(false);
        assert_eq!(unless_interrupted(is_ending, calls(web.clone(), true)).await, Some(()));
        calls(web.clone(), true).await;
        assert_eq!(web.ended.load(Ordering::Relaxed), 6);
    }
}
