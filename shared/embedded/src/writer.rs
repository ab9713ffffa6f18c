//! The one connection that writes, on its own thread. Writes that wait together are committed together.

use crate::error::{DbError, from_sql};
use curlew_ports::PortError;
use rusqlite::Connection;
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot};

/// Writes that may wait before callers have to.
const MAX_WAITING: usize = 1_024;
/// Writes that share one transaction at most, so that no caller waits for a very long one.
const MAX_GROUP: usize = 256;

/// Hands writes to the thread that makes them. The thread ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Writer {
    tasks: Option<mpsc::Sender<Box<dyn Task>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread.
    pub(crate) fn start(connection: Connection) -> std::io::Result<Writer> {
        let (tasks, waiting) = mpsc::channel(MAX_WAITING);
        let thread =
            std::thread::Builder::new().name("curlew-writer".into()).spawn(move || serve(&connection, waiting))?;
        Ok(Writer { tasks: Some(tasks), thread: Some(thread) })
    }

    /// Makes a write and returns after it was committed. A write that fails leaves nothing behind.
    pub(crate) async fn write<T, F>(&self, what: &'static str, work: F) -> Result<T, PortError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, DbError> + Send + 'static,
    {
        let stopped = || PortError::unavailable(format!("cannot {what}"), "the store's writer has stopped");
        let (reply, answer) = oneshot::channel();
        let task = Write { what, state: State::Waiting(work), reply };
        let tasks = self.tasks.as_ref().ok_or_else(stopped)?;
        tasks.send(Box::new(task)).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.tasks.take());
        if let Some(thread) = self.thread.take() {
            // A writer that has panicked has said so itself; its callers were told that it has stopped.
            let _ = thread.join();
        }
    }
}

/// A write that waits for its turn, then for the commit.
trait Task: Send {
    /// Makes the write; false if it has to be undone.
    fn run(&mut self, connection: &Connection) -> bool;

    /// Tells the caller: the write's own outcome, or why the transaction that it was part of was not committed.
    fn answer(self: Box<Self>, failure: Option<&rusqlite::Error>);
}

struct Write<T, F> {
    what: &'static str,
    state: State<T, F>,
    reply: oneshot::Sender<Result<T, PortError>>,
}

enum State<T, F> {
    Waiting(F),
    Ran(Result<T, DbError>),
    Taken,
}

impl<T, F> Task for Write<T, F>
where
    T: Send,
    F: FnOnce(&Connection) -> Result<T, DbError> + Send,
{
    fn run(&mut self, connection: &Connection) -> bool {
        if let State::Waiting(work) = std::mem::replace(&mut self.state, State::Taken) {
            let outcome = work(connection);
            let keep = outcome.is_ok();
            self.state = State::Ran(outcome);
            return keep;
        }
        false
    }

    fn answer(self: Box<Self>, failure: Option<&rusqlite::Error>) {
        let answer = match (self.state, failure) {
            // An error of its own says more than the end of the transaction.
            (State::Ran(Err(error)), _) => Err(error.into_port(self.what)),
            (State::Ran(Ok(value)), None) => Ok(value),
            (_, Some(error)) => Err(from_sql(self.what, error)),
            (State::Waiting(_) | State::Taken, None) => {
                Err(PortError::unavailable(format!("cannot {}", self.what), "the write was not made"))
            }
        };
        // The caller may have gone; its write stands all the same.
        let _ = self.reply.send(answer);
    }
}

fn serve(connection: &Connection, mut waiting: mpsc::Receiver<Box<dyn Task>>) {
    while let Some(first) = waiting.blocking_recv() {
        let mut group = vec![first];
        while group.len() < MAX_GROUP {
            let Ok(task) = waiting.try_recv() else { break };
            group.push(task);
        }
        let commit = commit(connection, &mut group);
        for task in group {
            task.answer(commit.as_ref().err());
        }
    }
}

/// Makes all writes of a group in one transaction. A write that fails is undone alone.
fn commit(connection: &Connection, group: &mut [Box<dyn Task>]) -> rusqlite::Result<()> {
    let outcome = attempt(connection, group);
    if outcome.is_err() && !connection.is_autocommit() {
        // SQLite ends some transactions by itself when a disk is full; the others have to be ended here.
        connection.execute_batch("ROLLBACK")?;
    }
    outcome
}

fn attempt(connection: &Connection, group: &mut [Box<dyn Task>]) -> rusqlite::Result<()> {
    connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    for task in group {
        connection.prepare_cached("SAVEPOINT task")?.execute([])?;
        let keep = task.run(connection);
        if connection.is_autocommit() {
            return Err(ended_early());
        }
        if !keep {
            connection.prepare_cached("ROLLBACK TO task")?.execute([])?;
        }
        connection.prepare_cached("RELEASE task")?.execute([])?;
    }
    connection.prepare_cached("COMMIT")?.execute([])?;
    Ok(())
}

/// SQLite undid the whole transaction on an error of one write; those before it have to be told.
fn ended_early() -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL);
    rusqlite::Error::SqliteFailure(code, Some("the transaction was undone since one of its writes failed".into()))
}
