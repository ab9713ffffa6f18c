//! The database: one writer, a few readers, and the lock, which is held as long as either lives.

use crate::connect::Mode;
use crate::error::DbError;
use crate::lock::Lock;
use crate::readers::Readers;
use crate::writer::Writer;
use curlew_ports::PortError;
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;

/// Connections that all tables share.
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

    /// Reads the last committed state.
    pub(crate) async fn read<T, F>(&self, what: &'static str, work: F) -> Result<T, PortError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, DbError> + Send + 'static,
    {
        self.0.readers.read(what, work).await
    }
}

/// Returns a limit in SQLite's type.
pub(crate) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Returns a version in SQLite's type.
pub(crate) fn version(version: curlew_ports::Version) -> i64 {
    // SQLite never gave out a version that is too large for it, so such a version equals none.
    i64::try_from(version.0).unwrap_or(-1)
}

/// Returns a version in the ports' type.
pub(crate) fn to_version(stored: i64) -> curlew_ports::Version {
    curlew_ports::Version(u64::try_from(stored).unwrap_or(0))
}

/// Returns the version after a swap that has changed `rows` rows.
pub(crate) fn swapped(rows: usize, seen: curlew_ports::Version) -> Result<curlew_ports::Version, DbError> {
    if rows == 1 { Ok(curlew_ports::Version(seen.0.saturating_add(1))) } else { Err(PortError::Conflict.into()) }
}
