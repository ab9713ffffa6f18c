//! The database: one writer, a few readers, and the lock that is held as long as either lives.

use crate::error::DbError;
use crate::lock::Lock;
use crate::readers::Readers;
use crate::writer::Writer;
use curlew_ports::PortError;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long a statement waits for another process to finish its transaction.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Prepared statements that a connection keeps.
const STATEMENTS: usize = 64;

/// What the tables share.
#[derive(Clone, Debug)]
pub(crate) struct Db(Arc<Inner>);

// Fields are dropped in this order: the lock goes last.
#[derive(Debug)]
struct Inner {
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
        Ok(Db(Arc::new(Inner { writer, readers, _lock: lock })))
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

/// How the database's file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It is made if there is none.
    Create,
    /// It has to be there.
    Write,
    /// It is read as it lies there, and nothing beside it: neither the log nor the memory that processes share. Only for
    /// a file that nobody changes.
    Frozen,
}

/// Opens a connection with the settings that all of them share.
pub(crate) fn connect(path: &Path, mode: Mode) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match mode {
        Mode::Create => {
            let flags = flags | OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
            Connection::open_with_flags(path, flags)?
        }
        Mode::Write => Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_WRITE)?,
        Mode::Frozen => {
            let flags = flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(frozen_uri(path), flags)?
        }
    };
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // FULL: a commit has reached the disk when it returns, so that an answer that was given survives a power cut.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(connection)
}

/// The file's name with the parameter that says that it does not change ("URI Filenames", sqlite.org/uri.html).
fn frozen_uri(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let escaped = path.as_os_str().as_encoded_bytes().iter().map(|byte| match plain(*byte) {
        true => char::from(*byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    format!("file:{}?immutable=1", escaped.collect::<String>())
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
