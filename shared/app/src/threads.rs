//! Runs CPU-bound tasks on separate threads.
//!
//! Every task except a build has a limit of processor time, so that a document has the same outcome on an idle and a
//! busy machine, and a longer limit of wall-clock time. Where processor time is not known, wall-clock time replaces it.
//!
//! A thread cannot be stopped. A task that overruns its limit is abandoned: its place is free at once, and it
//! continues. A task whose caller is gone keeps its place until it ends or overruns. The threads are not tokio's, so
//! none keeps the process from ending. While [`MAX_ABANDONED`] abandoned tasks are running, the pool refuses tasks, and
//! the program should be restarted. A thread whose task has ended waits for another, since its memory is warm.

use async_trait::async_trait;
use curlew_model::Millis;
use curlew_ports::{CpuError, CpuPool, CpuTask, PortError};
use parking_lot::Mutex;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak, mpsc};
use std::thread;
use std::time::Instant;
use tokio::sync::{Semaphore, oneshot};

/// Processor time limit of a document or query: over twenty times that of the slowest page (BENCHMARKS.md).
pub(crate) const PARSE_TIME: Millis = Millis::from_secs(10);
/// Ratio of a task's wall-clock limit to its processor time limit, for tasks that get only a part of a core.
const WALL_FACTOR: u64 = 12;
/// Minimum interval between two reads of a thread's processor time.
const LEAST_WAIT: Millis = Millis(20);
/// Stack size of a thread, in bytes; hostile pages fit into an eighth of it (`hostile`, an example of `article`).
const STACK: usize = 8 * 1024 * 1024;
/// Number of abandoned tasks at which the pool is worn out. Each may use as much memory as a large document.
const MAX_ABANDONED: usize = 8;

/// Runs at most one document and one query per core at a time, half as many builds, and one large document.
pub(crate) struct CpuThreads {
    parse_time: Millis,
    documents: Arc<Semaphore>,
    large_documents: Arc<Semaphore>,
    queries: Arc<Semaphore>,
    builds: Arc<Semaphore>,
    pub(crate) builders: usize,
    abandoned: Arc<AtomicUsize>,
    idle: Arc<IdleThreads>,
}

impl CpuThreads {
    /// Returns a pool with this limit of processor time for documents and queries.
    pub(crate) fn new(parse_time: Millis) -> CpuThreads {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let builders = (cores / 2).max(1);
        let places = |number| Arc::new(Semaphore::new(number));
        CpuThreads {
            parse_time,
            builders,
            documents: places(cores),
            large_documents: places(1),
            queries: places(cores),
            builds: places(builders),
            abandoned: Arc::default(),
            idle: Arc::default(),
        }
    }

    /// True if so many abandoned tasks are still running that the pool refuses tasks.
    pub(crate) fn is_worn_out(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed) >= MAX_ABANDONED
    }
}

#[async_trait]
impl CpuPool for CpuThreads {
    async fn run(&self, kind: CpuTask, work: Box<dyn FnOnce() + Send>) -> Result<(), CpuError> {
        let unavailable =
            |what: &str, source| CpuError::Unavailable(PortError::Unavailable { what: what.into(), source });
        let (places, limit) = match kind {
            CpuTask::Document => (&self.documents, Some(self.parse_time)),
            CpuTask::LargeDocument => (&self.large_documents, Some(self.parse_time)),
            CpuTask::Query => (&self.queries, Some(self.parse_time)),
            CpuTask::Build => (&self.builds, None),
        };
        // The pool's semaphores are never closed.
        let place = places.clone().acquire_owned().await;
        if self.is_worn_out() {
            return Err(unavailable("too many documents are still being parsed beyond their limit", None));
        }
        let task = Arc::new(Task { state: Mutex::new(State::Starting), abandoned: self.abandoned.clone() });
        let (ended, end) = oneshot::channel();
        let ending = Ending(task.clone());
        let run = move || {
            if ending.0.begin() {
                work();
            }
            drop(ending);
            // Nobody listens if the task was abandoned.
            let _ = ended.send(());
        };
        let handed_over = self.idle.hand_over(Box::new(run));
        handed_over.map_err(|error| unavailable("a thread could not be had", Some(Box::new(error))))?;
        let watched = Watched(task);
        let watch = async move {
            let _place = place;
            watched.until(end, kind, limit).await
        };
        tokio::spawn(watch).await.unwrap_or_else(|error| Err(unavailable("the runtime ends", Some(Box::new(error)))))
    }
}

/// Work of a thread: a whole task.
type Work = Box<dyn FnOnce() + Send>;

/// Threads that wait for their next task, about as many as tasks run at a time. They end with the pool.
#[derive(Default)]
struct IdleThreads(Mutex<Vec<mpsc::Sender<Work>>>);

impl IdleThreads {
    /// Gives work to the thread that has waited for the shortest time, whose memory is warmest, or to a new thread.
    fn hand_over(self: &Arc<Self>, work: Work) -> std::io::Result<()> {
        let waiting = self.0.lock().pop();
        let work = match waiting {
            None => work,
            Some(thread) => match thread.send(work) {
                Ok(()) => return Ok(()),
                Err(mpsc::SendError(work)) => work,
            },
        };
        let pool = Arc::downgrade(self);
        let thread = thread::Builder::new().name("curlew-cpu".to_owned()).stack_size(STACK);
        thread.spawn(move || serve(&pool, work)).map(drop)
    }
}

/// Does the first work and all work handed over later, until the pool is gone. A panic ends the thread.
fn serve(pool: &Weak<IdleThreads>, first: Work) {
    let mut next = Some(first);
    while let Some(work) = next {
        work();
        let (thread, waiting) = mpsc::channel();
        let Some(pool) = pool.upgrade() else { return };
        pool.0.lock().push(thread);
        drop(pool);
        next = waiting.recv().ok();
    }
}

/// Abandons its task when dropped, unless the task has ended.
struct Watched(Arc<Task>);

impl Watched {
    /// Waits until the task has ended or has overrun its limit.
    async fn until(&self, end: oneshot::Receiver<()>, kind: CpuTask, limit: Option<Millis>) -> Result<(), CpuError> {
        let Some(limit) = limit else {
            let _ = end.await;
            return Ok(());
        };
        let began = Instant::now();
        tokio::pin!(end);
        loop {
            let lasted = Millis(u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX));
            let used = self.0.processor_time().unwrap_or(lasted);
            if used >= limit || lasted >= limit.saturating_mul(WALL_FACTOR) {
                tracing::warn!(
                    kind = ?kind,
                    processor_ms = used.0,
                    wall_ms = lasted.0,
                    "a task overran its limit and is abandoned"
                );
                return Err(CpuError::Overrun(limit));
            }
            // Processor time passes no faster than wall-clock time, so no limit can be reached before the wait ends.
            let wait = limit.saturating_sub(used).max(LEAST_WAIT);
            if tokio::time::timeout(wait.as_duration(), &mut end).await.is_ok() {
                return Ok(());
            }
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        if matches!(*state, State::Starting | State::Running(..)) {
            *state = State::Abandoned;
            self.0.abandoned.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Records the end of its task when dropped, also during a panic.
struct Ending(Arc<Task>);

impl Drop for Ending {
    fn drop(&mut self) {
        let before = std::mem::replace(&mut *self.0.state.lock(), State::Ended);
        if matches!(before, State::Abandoned) {
            self.0.abandoned.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

struct Task {
    state: Mutex<State>,
    /// Number of the pool's abandoned tasks that are still running.
    abandoned: Arc<AtomicUsize>,
}

#[derive(Clone, Copy)]
enum State {
    Starting,
    /// Thread id, if the platform reports it, and processor time of that thread before the task.
    Running(Option<u64>, Millis),
    Abandoned,
    Ended,
}

impl Task {
    /// Records the thread of the task; returns false if the task is no longer wanted.
    fn begin(&self) -> bool {
        let mut state = self.state.lock();
        let is_wanted = matches!(*state, State::Starting);
        if is_wanted {
            *state = State::Running(NUMBER.with(|number| *number), own_time());
        }
        is_wanted
    }

    /// Returns the processor time that the task has used, if the platform reports it.
    fn processor_time(&self) -> Option<Millis> {
        match *self.state.lock() {
            State::Running(thread, before) => Some(time_of(thread)?.saturating_sub(before)),
            // The thread has not started yet, or the task has just ended.
            State::Starting | State::Abandoned | State::Ended => Some(Millis::ZERO),
        }
    }
}

thread_local! {
    /// Kernel id of the current thread, if the platform reports it.
    static NUMBER: Option<u64> = {
        let link = std::fs::read_link("/proc/thread-self").ok();
        link.and_then(|link| link.file_name()?.to_str()?.parse().ok())
    };
}

/// Returns the processor time of a thread of this process; `None` except on Linux (proc(5)).
fn time_of(thread: Option<u64>) -> Option<Millis> {
    /// Ticks per second (`sysconf(_SC_CLK_TCK)`), the same on all Linux platforms.
    const TICKS: u64 = 100;
    /// Index of `utime` among the fields after the command name; `stime` follows.
    const UTIME: usize = 11;
    let stat = std::fs::read_to_string(format!("/proc/self/task/{}/stat", thread?)).ok()?;
    // The command name may contain blanks and brackets, and ends at the last bracket.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(UTIME);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Millis((ticks()? + ticks()?) * 1_000 / TICKS))
}

/// Returns the processor time of the current thread; zero where the times of other threads cannot be read.
#[cfg(target_os = "linux")]
fn own_time() -> Millis {
    crate::clock::kernel_time(rustix::time::ClockId::ThreadCPUTime)
}

#[cfg(not(target_os = "linux"))]
fn own_time() -> Millis {
    Millis::ZERO
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use curlew_ports::compute;
    use curlew_testkit::conformance;
    use curlew_testkit::conformance::Fresh;
    use std::cell::RefCell;
    use std::sync::atomic::AtomicBool;

    conformance!(cpu, Fresh::new(Arc::new(CpuThreads::new(PARSE_TIME))));

    const SHORT: Millis = Millis(30);

    /// A task that uses processor time until [`Busy::stop`] is called.
    #[derive(Clone, Default)]
    struct Busy(Arc<AtomicBool>);

    impl Busy {
        fn work(&self) -> impl FnOnce() + Send + 'static {
            let stop = self.0.clone();
            move || {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }
        }

        fn stop(&self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    async fn until(mut is_so: impl FnMut() -> bool) {
        while !is_so() {
            tokio::time::sleep(SHORT.as_duration()).await;
        }
    }

    #[tokio::test]
    async fn what_overruns_is_abandoned_and_its_place_is_free() {
        let (pool, busy) = (CpuThreads::new(SHORT), Busy::default());
        // Large documents run one at a time, so the second would wait forever for the first.
        for abandoned in 1..=2 {
            let overrun = compute(&pool, CpuTask::LargeDocument, busy.work()).await;
            assert!(matches!(overrun, Err(CpuError::Overrun(SHORT))), "{overrun:?}");
            assert_eq!(pool.abandoned.load(Ordering::Relaxed), abandoned);
        }
        assert!(matches!(compute(&pool, CpuTask::LargeDocument, || 7).await, Ok(7)));
        busy.stop();
        until(|| pool.abandoned.load(Ordering::Relaxed) == 0).await;
    }

    #[tokio::test]
    async fn queries_do_not_wait_for_documents() {
        // No task overruns here: all places of documents stay occupied.
        let (pool, busy) = (Arc::new(CpuThreads::new(PARSE_TIME)), Busy::default());
        let documents: Vec<_> = (0..100)
            .map(|_| {
                let (pool, work) = (pool.clone(), busy.work());
                tokio::spawn(async move { compute(pool.as_ref(), CpuTask::Document, work).await })
            })
            .collect();
        until(|| pool.documents.available_permits() == 0).await;
        assert!(matches!(compute(pool.as_ref(), CpuTask::Query, || 7).await, Ok(7)));
        assert!(matches!(compute(pool.as_ref(), CpuTask::Build, || 7).await, Ok(7)));
        busy.stop();
        for document in documents {
            assert!(document.await.unwrap().is_ok());
        }
    }

    /// Tasks whose callers are gone still count against the limit of concurrent tasks.
    #[tokio::test]
    async fn a_task_whose_caller_is_gone_keeps_its_place_until_it_ends() {
        let (pool, running) = (Arc::new(CpuThreads::new(PARSE_TIME)), Arc::new(AtomicUsize::new(0)));
        let stop = Busy::default();
        for _ in 0..2 * MAX_ABANDONED {
            let (pool, running, wait) = (pool.clone(), running.clone(), stop.work());
            let work = move || {
                running.fetch_add(1, Ordering::Relaxed);
                wait();
            };
            let caller = tokio::spawn(async move { compute(pool.as_ref(), CpuTask::LargeDocument, work).await });
            tokio::time::sleep(Millis(5).as_duration()).await;
            caller.abort();
        }
        until(|| running.load(Ordering::Relaxed) == 1).await;
        assert_eq!((pool.abandoned.load(Ordering::Relaxed), pool.large_documents.available_permits()), (0, 0));
        stop.stop();
        assert!(matches!(compute(pool.as_ref(), CpuTask::LargeDocument, || 7).await, Ok(7)));
        assert_eq!(running.load(Ordering::Relaxed), 1, "what nobody waits for does not begin");
    }

    #[tokio::test]
    async fn a_task_whose_caller_is_gone_may_overrun() {
        let (pool, busy) = (Arc::new(CpuThreads::new(SHORT)), Busy::default());
        let (caller, work) = (pool.clone(), busy.work());
        let caller = tokio::spawn(async move { compute(caller.as_ref(), CpuTask::LargeDocument, work).await });
        until(|| pool.large_documents.available_permits() == 0).await;
        caller.abort();
        assert!(matches!(compute(pool.as_ref(), CpuTask::LargeDocument, || 7).await, Ok(7)));
        assert_eq!(pool.abandoned.load(Ordering::Relaxed), 1);
        busy.stop();
        until(|| pool.abandoned.load(Ordering::Relaxed) == 0).await;
    }

    #[tokio::test]
    async fn too_many_abandoned_tasks_wear_the_pool_out() {
        let (pool, busy) = (CpuThreads::new(SHORT), Busy::default());
        for _ in 0..MAX_ABANDONED {
            assert!(!pool.is_worn_out());
            assert!(matches!(compute(&pool, CpuTask::Document, busy.work()).await, Err(CpuError::Overrun(_))));
        }
        assert!(pool.is_worn_out());
        assert!(matches!(compute(&pool, CpuTask::Query, || 7).await, Err(CpuError::Unavailable(_))));
        busy.stop();
        until(|| !pool.is_worn_out()).await;
        assert!(matches!(compute(&pool, CpuTask::Query, || 7).await, Ok(7)));
    }

    #[tokio::test]
    async fn a_thread_is_used_again_and_each_task_has_its_own_time() {
        let pool = CpuThreads::new(Millis(200));
        let mut threads = std::collections::HashSet::new();
        for _ in 0..4 {
            // The tasks together take more than the limit.
            let began = Instant::now();
            let busy = move || {
                while began.elapsed() < Millis(100).as_duration() {
                    std::hint::spin_loop();
                }
                thread::current().id()
            };
            threads.insert(compute(&pool, CpuTask::Document, busy).await.unwrap());
        }
        // A thread that has just reported the end of its task may not be waiting yet.
        assert!(threads.len() < 4, "{threads:?}");
    }

    #[tokio::test]
    async fn a_panic_ends_its_thread_alone() {
        let pool = CpuThreads::new(PARSE_TIME);
        let panics = pool.run(CpuTask::Document, Box::new(|| std::panic::resume_unwind(Box::new(())))).await;
        assert!(panics.is_ok(), "{panics:?}");
        assert!(matches!(compute(&pool, CpuTask::Document, || 7).await, Ok(7)));
    }

    #[test]
    fn threads_end_with_their_pool() {
        thread_local! {
            static HELD: RefCell<Option<mpsc::Sender<()>>> = const { RefCell::new(None) };
        }
        let (pool, (held, end)) = (Arc::new(IdleThreads::default()), mpsc::channel());
        pool.hand_over(Box::new(move || HELD.set(Some(held)))).unwrap();
        while pool.0.lock().is_empty() {
            thread::yield_now();
        }
        drop(pool);
        assert_eq!(end.recv(), Err(mpsc::RecvError));
    }

    /// Simulates a machine whose cores are kept busy by other processes.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn only_processor_time_counts() {
        let pool = CpuThreads::new(Millis(100));
        let waits = compute(&pool, CpuTask::Document, || thread::park_timeout(Millis(300).as_duration())).await;
        assert!(waits.is_ok(), "{waits:?}");
    }
}
