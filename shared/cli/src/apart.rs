//! Separate threads for work that no visit may delay: serving pages, and handling signals.

use anyhow::Result;
use std::future::Future;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

/// Runs `work` and its sockets on a separate runtime and thread. Returns a receiver for the result.
pub(crate) fn run<T: Send + 'static>(
    name: &str,
    mut threads: Builder,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<oneshot::Receiver<T>> {
    let runtime = threads.thread_name(name).enable_all().build()?;
    let (ended, end) = oneshot::channel();
    std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        // Sending fails if the caller has dropped the receiver, which is fine.
        let _unheard = ended.send(runtime.block_on(work));
        runtime.shutdown_background();
    })?;
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    #[tokio::test]
    async fn work_apart_goes_on_while_all_threads_of_the_caller_are_busy() {
        for threads in [Builder::new_multi_thread(), Builder::new_current_thread()] {
            let (over, waits) = mpsc::channel();
            let work = async move {
                tokio::time::sleep(Duration::from_millis(5)).await;
                over.send(7).is_ok()
            };
            let end = run("apart", threads, work).map(|end| (waits.recv(), end));
            // `recv` blocked the only thread of the test's runtime until the work was done.
            let Ok((waited, end)) = end else { panic!("{end:?}") };
            assert_eq!((waited, end.await), (Ok(7), Ok(true)));
        }
    }
}
