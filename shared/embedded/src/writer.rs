//! The one write connection, on its own thread. Writes that wait at the same time are committed together.

use crate::error::{DbError, from_sql};
use curlew_ports::PortError;
use rusqlite::Connection;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Maximum number of writes in the channel; further callers wait for a place.
const MAX_WAITING: usize = 1_024;
/// Maximum number of writes in one transaction, so that no caller waits for a very long one.
const MAX_GROUP: usize = 256;
/// Time for which the thread waits for further writes when they come in quick succession: a commit costs more than the
/// writes in it, and a writer has a host's pause, which is longer, to wait in.
const GATHER: Duration = Duration::from_millis(50);

/// Passes writes to the writer's thread. The thread ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct Writer {
    tasks: Option<mpsc::Sender<Box<dyn Task>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(connection: Connection) -> std::io::Result<Writer> {
        let (tasks, waiting) = mpsc::channel(MAX_WAITING);
        let thread =
            std::thread::Builder::new().name("curlew-writer".into()).spawn(move || serve(&connection, waiting))?;
        Ok(Writer { tasks: Some(tasks), thread: Some(thread) })
    }

    /// Runs a write and returns after its commit. A failed write changes nothing.
    pub(crate) async fn write<T, F>(&self, what: &'static str, work: F) -> Result<T, PortError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, DbError> + Send + 'static,
    {
        let stopped = || PortError::unavailable(format!("cannot {what}"), "the store's writer has stopped");
        let (reply, answer) = oneshot::channel();
        let task = Write { what, work: Some(work), outcome: None, reply };
        let tasks = self.tasks.as_ref().ok_or_else(stopped)?;
        tasks.send(Box::new(task)).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.tasks.take());
        if let Some(thread) = self.thread.take() {
            // A writer that panicked has printed its own message, and its callers have received an error.
            let _ = thread.join();
        }
    }
}

/// A write that waits for its turn and then for the commit.
trait Task: Send {
    /// Runs the write; returns false if it must be undone.
    fn run(&mut self, connection: &Connection) -> bool;

    /// Returns the code of the SQLite error that the write ended with, if there was one.
    fn code(&self) -> Option<rusqlite::ffi::Error>;

    /// Sends the caller the outcome of the write, or the reason why its transaction was not committed.
    fn answer(self: Box<Self>, failure: Option<&rusqlite::Error>);
}

struct Write<T, F> {
    what: &'static str,
    work: Option<F>,
    outcome: Option<Result<T, DbError>>,
    reply: oneshot::Sender<Result<T, PortError>>,
}

impl<T, F> Task for Write<T, F>
where
    T: Send,
    F: FnOnce(&Connection) -> Result<T, DbError> + Send,
{
    fn run(&mut self, connection: &Connection) -> bool {
        self.outcome = self.work.take().map(|work| work(connection));
        matches!(self.outcome, Some(Ok(_)))
    }

    fn code(&self) -> Option<rusqlite::ffi::Error> {
        if let Some(Err(DbError::Sql(error))) = &self.outcome { error.sqlite_error().copied() } else { None }
    }

    fn answer(self: Box<Self>, failure: Option<&rusqlite::Error>) {
        let answer = match (self.outcome, failure) {
            // The write's own error is more specific than the failure of the transaction.
            (Some(Err(error)), _) => Err(error.into_port(self.what)),
            (Some(Ok(value)), None) => Ok(value),
            (_, Some(error)) => Err(from_sql(self.what, error)),
            (None, None) => Err(PortError::unavailable(format!("cannot {}", self.what), "the write was not made")),
        };
        // The caller may be gone; its write is still valid.
        let _ = self.reply.send(answer);
    }
}

fn serve(connection: &Connection, mut waiting: mpsc::Receiver<Box<dyn Task>>) {
    // After several writes at once, more are likely to follow. The first single write after them waits in vain, once.
    let mut are_many = false;
    while let Some(first) = waiting.blocking_recv() {
        let mut group = vec![first];
        fill(&mut group, &mut waiting);
        if are_many && group.len() < MAX_GROUP {
            #[allow(clippy::disallowed_methods, reason = "the writer's thread waits here as it waits for the disk")]
            std::thread::sleep(GATHER);
            fill(&mut group, &mut waiting);
        }
        are_many = group.len() > 1;
        let commit = commit(connection, &mut group);
        for task in group {
            task.answer(commit.as_ref().err());
        }
    }
}

/// Adds waiting writes to the group.
fn fill(group: &mut Vec<Box<dyn Task>>, waiting: &mut mpsc::Receiver<Box<dyn Task>>) {
    while group.len() < MAX_GROUP {
        let Ok(task) = waiting.try_recv() else { break };
        group.push(task);
    }
}

/// Runs all writes of a group in one transaction. A failed write is undone by itself.
fn commit(connection: &Connection, group: &mut [Box<dyn Task>]) -> rusqlite::Result<()> {
    let outcome = attempt(connection, group);
    if outcome.is_err() && !connection.is_autocommit() {
        // On a full disk SQLite ends some transactions itself; the others must be ended here.
        connection.execute_batch("ROLLBACK")?;
    }
    outcome
}

fn attempt(connection: &Connection, group: &mut [Box<dyn Task>]) -> rusqlite::Result<()> {
    let execute = |statement| connection.prepare_cached(statement)?.execute([]);
    execute("BEGIN IMMEDIATE")?;
    for (place, task) in group.iter_mut().enumerate() {
        // The first task is undone with the whole transaction, so it needs no savepoint.
        let is_first = place == 0;
        if !is_first {
            execute("SAVEPOINT task")?;
        }
        let keep = task.run(connection);
        if connection.is_autocommit() {
            // SQLite has rolled back the whole transaction because of an error in this write, such as a full disk.
            let code = task.code().unwrap_or_else(|| rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ABORT));
            let why = "the transaction was undone since one of its writes failed";
            return Err(rusqlite::Error::SqliteFailure(code, Some(why.into())));
        }
        let end: &[&str] = match (is_first, keep) {
            (true, true) => &[],
            (true, false) => &["ROLLBACK", "BEGIN IMMEDIATE"],
            (false, true) => &["RELEASE task"],
            (false, false) => &["ROLLBACK TO task", "RELEASE task"],
        };
        end.iter().try_for_each(|statement| execute(statement).map(drop))?;
    }
    execute("COMMIT")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, Store};
    use curlew_model::{Job, PollJob, QueueName, SourceKey, Timestamp};
    use curlew_ports::Version;
    use curlew_testkit::sample::poll_number;
    use rusqlite::params;

    fn job(n: u64, length: usize) -> Job {
        let feed = SourceKey::new(&format!("{n:032x}")).expect("a key");
        Job::new(PollJob::new(feed, "x".repeat(length)))
    }

    fn mark(c: &Connection, name: &str) -> rusqlite::Result<usize> {
        c.execute("INSERT INTO marks (name, version, at) VALUES (?1, 1, 0)", params![name])
    }

    /// Sends many jobs concurrently, some of them large; returns the numbers of the accepted ones.
    async fn send_many(store: &Store, numbers: std::ops::Range<u64>) -> Vec<u64> {
        let sends: Vec<_> = numbers
            .map(|n| {
                let jobs = store.ports().queue;
                let length = if n % 7 == 0 { 100_000 } else { 100 };
                tokio::spawn(async move { (n, jobs.send(&[(job(n, length), Timestamp::EPOCH)]).await) })
            })
            .collect();
        let mut taken = Vec::new();
        for send in sends {
            match send.await.expect("ends") {
                (n, Ok(())) => taken.push(n),
                (_, Err(error)) => assert!(error.to_string().contains("disk is full"), "{error}"),
            }
        }
        taken
    }

    #[tokio::test]
    async fn a_write_that_fails_is_undone_alone() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(dir.path(), Access::Exclusive).expect("opens");
        let db = store.db().clone();
        let failing = db.write("fail", |c| {
            mark(c, "half")?;
            mark(c, "half")?;
            Ok(())
        });
        let conflicting = db.write("lose", |c| {
            mark(c, "lost")?;
            Err::<(), _>(PortError::Conflict.into())
        });
        let good = db.write("win", |c| Ok(mark(c, "good")?));
        let (failed, lost, good) = tokio::join!(failing, conflicting, good);
        assert!(matches!(failed, Err(PortError::Unavailable { .. })), "{failed:?}");
        assert!(matches!(lost, Err(PortError::Conflict)), "{lost:?}");
        assert_eq!(good.expect("is kept"), 1);
        for (name, version) in [("half", Version::ABSENT), ("lost", Version::ABSENT), ("good", Version(1))] {
            assert_eq!(store.ports().marks.load(name).await.expect("loads").1, version, "{name}");
        }
    }

    #[tokio::test]
    async fn a_full_disk_loses_nothing_that_was_taken() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(dir.path(), Access::Exclusive).expect("opens");
        let limit = |pages: u32| {
            store.db().write("set a limit", move |c| Ok(c.pragma_update(None, "max_page_count", pages)?))
        };
        limit(400).await.expect("is set");
        let mut taken = Vec::new();
        for round in 0..4 {
            taken.extend(send_many(&store, round * 100..(round + 1) * 100).await);
        }
        assert!((1..400).contains(&taken.len()), "{} were taken", taken.len());
        limit(100_000).await.expect("is set");
        taken.extend(send_many(&store, 400..410).await);

        let hour = curlew_model::Millis::from_hours(1);
        let received =
            store.ports().inbox.receive(QueueName::Poll, 1_000, hour, Timestamp::EPOCH).await.expect("receives");
        let mut kept: Vec<u64> = received.iter().map(|delivery| poll_number(&delivery.job)).collect();
        kept.sort_unstable();
        assert_eq!(kept, taken);
    }

    #[tokio::test]
    async fn writes_that_wait_together_are_flushed_together() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(dir.path(), Access::Exclusive).expect("opens");
        let db = store.db().clone();
        let transaction = |c: &Connection| Ok(c.total_changes());
        // The first write blocks the writer until the others are queued.
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let first = tokio::spawn({
            let db = db.clone();
            async move { db.write("wait", move |_| Ok(wait.recv().is_ok())).await }
        });
        let data_version = |c: &Connection| c.query_row("PRAGMA data_version", [], |row| row.get::<_, i64>(0));
        let watcher =
            crate::connect::connect(&dir.path().join("curlew.sqlite3"), crate::connect::Mode::Write).expect("connects");
        let before = data_version(&watcher).expect("reads");
        let waiting: Vec<_> = (0..100)
            .map(|n| {
                let db = db.clone();
                tokio::spawn(async move {
                    db.write("mark", move |c| {
                        mark(c, &n.to_string())?;
                        transaction(c)
                    })
                    .await
                })
            })
            .collect();
        tokio::task::yield_now().await;
        go.send(()).expect("waits");
        assert!(first.await.expect("ends").expect("is made"));
        for write in waiting {
            write.await.expect("ends").expect("is made");
        }
        assert_ne!(data_version(&watcher).expect("reads"), before);
        let frames = std::fs::metadata(dir.path().join("curlew.sqlite3-wal")).expect("a log").len() / 4_096;
        assert!(frames < 100, "{frames} pages were written for 100 marks");
    }
}
