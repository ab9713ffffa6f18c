//! The database: one writer, a few readers, and the lock, which is released after both. [`Db`] implements the ports of
//! rows and queues.

use crate::connect::{Mode, connect};
use crate::error::{DbError, from_io};
use crate::lock::Lock;
use crate::writer::Writer;
use curlew_ports::PortError;
use parking_lot::Mutex;
use rusqlite::{Connection, Params};
use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Maximum number of read connections; more would only wait for the same disk.
const MAX_READERS: usize = 4;

/// Connections that all tables share.
#[derive(Clone, Debug)]
pub(crate) struct Db(Arc<Connections>);

// Rust drops fields in this order, so the lock is released last.
#[derive(Debug)]
struct Connections {
    writer: Writer,
    readers: Arc<Readers>,
    _lock: Option<Arc<Lock>>,
}

/// Read-only connections, opened on demand. Each reads the last committed state.
#[derive(Debug)]
struct Readers {
    path: PathBuf,
    mode: Mode,
    idle: Mutex<Vec<Connection>>,
    free: Arc<Semaphore>,
}

impl Db {
    /// Uses an open connection as the writer.
    pub(crate) fn start(
        connection: Connection,
        path: &Path,
        mode: Mode,
        lock: Option<Arc<Lock>>,
    ) -> std::io::Result<Db> {
        // The file exists, so readers never create it again.
        let mode = if mode == Mode::Create { Mode::Write } else { mode };
        let free = Arc::new(Semaphore::new(MAX_READERS));
        let readers = Arc::new(Readers { path: path.to_owned(), mode, idle: Mutex::default(), free });
        Ok(Db(Arc::new(Connections { writer: Writer::start(connection)?, readers, _lock: lock })))
    }

    pub(crate) async fn write<T, F>(&self, what: &'static str, work: F) -> Result<T, PortError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, DbError> + Send + 'static,
    {
        self.0.writer.write(what, work).await
    }

    /// Reads the last committed state on a thread that may block.
    pub(crate) async fn read<T, F>(&self, what: &'static str, work: F) -> Result<T, PortError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, DbError> + Send + 'static,
    {
        let failed = |error: Box<dyn Error + Send + Sync>| PortError::unavailable(format!("cannot {what}"), error);
        let readers = Arc::clone(&self.0.readers);
        let permit = Arc::clone(&readers.free).acquire_owned().await.map_err(|e| failed(e.into()))?;
        let answer = tokio::task::spawn_blocking(move || {
            let connection = readers.take()?;
            let answer = work(&connection);
            readers.idle.lock().push(connection);
            drop(permit);
            answer
        });
        answer.await.map_err(|e| failed(e.into()))?.map_err(|error| error.into_port(what))
    }
}

impl Readers {
    fn take(&self) -> Result<Connection, DbError> {
        let idle = self.idle.lock().pop();
        if let Some(connection) = idle {
            return Ok(connection);
        }
        let connection = connect(&self.path, self.mode).map_err(|error| match File::open(&self.path) {
            // SQLite does not say why it cannot open a file.
            Err(why) => from_io("open the database", why).into(),
            Ok(_) => DbError::from(error),
        })?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    }
}

/// Runs a statement that returns no rows. Returns the number of rows changed.
pub(crate) fn execute(c: &Connection, sql: &str, params: impl Params) -> Result<usize, DbError> {
    Ok(c.prepare_cached(sql)?.execute(params)?)
}

/// Converts a limit to SQLite's integer type.
pub(crate) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
