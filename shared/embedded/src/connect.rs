//! Opening a connection to the database.

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// Maximum time for which a statement waits for another process's transaction.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
const STATEMENTS: usize = 64;

/// Mode in which the database's file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Creates the file if there is none.
    Create,
    /// Requires the file to exist.
    Write,
    /// Reads only the file, without the write-ahead log and the shared memory; for a file that nobody changes.
    Frozen,
}

/// Opens a connection with the settings that all of them share.
pub(crate) fn connect(path: &Path, mode: Mode) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX
        | match mode {
            Mode::Create => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
            Mode::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
            Mode::Frozen => OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
        };
    let file = if mode == Mode::Frozen { frozen_uri(path).into() } else { path.to_owned() };
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Without this, SQLite prepares a cached statement again for each value that might change the query plan.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // FULL: a commit is on disk when it returns, so an acknowledged write survives a power cut.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(connection)
}

/// Returns the file's URI with the parameter `immutable=1` ("URI Filenames", sqlite.org/uri.html).
fn frozen_uri(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let escaped = path.as_os_str().as_encoded_bytes().iter().map(|byte| match plain(*byte) {
        true => char::from(*byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    format!("file:{}?immutable=1", escaped.collect::<String>())
}
