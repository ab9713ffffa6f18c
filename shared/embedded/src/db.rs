//! The database: one writer, a few readers, and the lock that is held as long as either lives.

use crate::connect::Mode;
use crate::error::DbError;
use crate::lock::Lock;
use crate::readers::Readers;
use crate::writer::Writer;
use curlew_ports::PortError;
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;

/// What the tables share.
#[derive(Clone, Debug)]
pub(crate) struct Db(Arc<Connections>);

// Fields are dropped in this order: the lock goes last.
#[derive(Debug)]
struct Connections {
    writer: Writer,
    readers: Arc<Readers>,
    _lock: Option<Arc<Lock>>,
}

impl Db {
    /// Takes over an open connection as the writer.
    pub(crate) fn start(
        connection: Connection,
        path: &Path,
        mode: Mode,
        lock: Option<Arc<Lock>>,
    ) -> std::io::Result<Db> {
        let writer = Writer::start(connection)?;
        let readers = Arc::new(Readers::new(path.to_owned(), mode));
        Ok(Db(Arc::new(Connections { writer, readers, _lock: lock })))
    }

    /// Makes a write; returns after it has reached the disk.
    pub(crate) async fn write<T, F>(&self, what: &'static str, work: F) -> Result<T, PortError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, DbError> + Send + 'static,
    {
        self.0.writer.write(what, work).await
    }

    /// Reads what was committed last.
    pub(crate) async fn read<T, F>(&self, what: &'static str, work: F) -> Result<T, PortError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, DbError> + Send + 'static,
    {
        self.0.readers.read(what, work).await
    }
}

/// A limit as SQLite wants it.
pub(crate) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// A version as SQLite keeps it.
pub(crate) fn version(version: curlew_ports::Version) -> i64 {
    // A version too large for SQLite was not given out by it, and is equal to none.
    i64::try_from(version.0).unwrap_or(-1)
}

/// A version as the ports know it.
pub(crate) fn to_version(stored: i64) -> curlew_ports::Version {
    curlew_ports::Version(u64::try_from(stored).unwrap_or(0))
}

/// The version after a swap that has changed `rows` rows.
pub(crate) fn swapped(rows: usize, seen: curlew_ports::Version) -> Result<curlew_ports::Version, DbError> {
    if rows == 1 { Ok(curlew_ports::Version(seen.0.saturating_add(1))) } else { Err(PortError::Conflict.into()) }
}
