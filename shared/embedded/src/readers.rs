//! A few read-only connections, shared by all callers.

use crate::connect::{Mode, connect};
use crate::error::{DbError, from_io};
use curlew_ports::PortError;
use rusqlite::Connection;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// Maximum number of connections; more of them would only wait for the same disk.
const MAX_READERS: usize = 4;

/// Lends connections. Each reads the last committed state.
#[derive(Debug)]
pub(crate) struct Readers {
    path: PathBuf,
    mode: Mode,
    idle: Mutex<Vec<Connection>>,
    free: Arc<Semaphore>,
}

impl Readers {
    /// Creates the pool for the database at `path`, which was opened in this mode before. Connections are opened when
    /// needed.
    pub(crate) fn new(path: PathBuf, mode: Mode) -> Readers {
        // The file exists, so it is never created again.
        let mode = if mode == Mode::Create { Mode::Write } else { mode };
        Readers { path, mode, idle: Mutex::default(), free: Arc::new(Semaphore::new(MAX_READERS)) }
    }

    /// Reads on a thread that may block.
    pub(crate) async fn read<T, F>(self: &Arc<Readers>, what: &'static str, work: F) -> Result<T, PortError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, DbError> + Send + 'static,
    {
        let failed =
            |error: Box<dyn std::error::Error + Send + Sync>| PortError::unavailable(format!("cannot {what}"), error);
        let permit = Arc::clone(&self.free).acquire_owned().await.map_err(|e| failed(e.into()))?;
        let readers = Arc::clone(self);
        let answer = tokio::task::spawn_blocking(move || {
            let connection = readers.take()?;
            let answer = work(&connection);
            readers.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            drop(permit);
            answer
        });
        answer.await.map_err(|e| failed(e.into()))?.map_err(|error| error.into_port(what))
    }

    fn take(&self) -> Result<Connection, DbError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(connection) = idle {
            return Ok(connection);
        }
        // SQLite does not give the reason why it cannot open a file.
        let opened = connect(&self.path, self.mode).map_err(|error| match File::open(&self.path) {
            Err(why) => from_io("open the database", why).into(),
            Ok(_) => DbError::from(error),
        });
        let connection = opened?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    }
}
