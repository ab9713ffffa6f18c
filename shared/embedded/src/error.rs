//! Errors of a store. Each message is one line with the fault and the remedy.

use curlew_model::Millis;
use curlew_ports::PortError;
use rusqlite::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};

/// Time to wait for a file descriptor.
const DESCRIPTOR_WAIT: Millis = Millis::from_secs(1);

/// Reasons why a store was not opened. The store is unchanged when one of them is returned.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process holds the lock.
    #[error(
        "the folder {dir} is in use by another curlew{}: wait until it ends, or name another folder",
        process.map_or_else(String::new, |id| format!(" (process {id})"))
    )]
    InUse {
        /// The store's folder.
        dir: PathBuf,
        /// The other process, if it has written its number.
        process: Option<u32>,
    },
    /// A newer version of Curlew has written the store.
    #[error(
        "the store in {dir} has version {found}, but this program knows only versions up to {known}: use a newer \
         curlew"
    )]
    NewerVersion {
        /// The store's folder.
        dir: PathBuf,
        /// The version of the store.
        found: i64,
        /// The newest version that this program can read.
        known: i64,
    },
    /// The folder or a file in it cannot be written.
    #[error("the folder {dir} cannot be written: change its permissions, or name another folder")]
    ReadOnly {
        /// The store's folder.
        dir: PathBuf,
        /// The system's error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The folder cannot be written, but the latest changes in its database are readable only with write permission.
    #[error(
        "the folder {dir} cannot be written, and the last changes in it are only read with that permission: run \
         `curlew status` on it as the user who crawls, or wait until the crawl ends"
    )]
    Pending {
        /// The store's folder.
        dir: PathBuf,
        /// The system's error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is no such folder.
    #[error("there is no folder {0} yet: crawl something first, or name another folder with --data")]
    Missing(PathBuf),
    /// The path holds something other than a store.
    #[error("{path} is not a store of curlew ({why}): name another folder, or crawl something first")]
    NotAStore {
        /// The path that was examined.
        path: PathBuf,
        /// A description of what was found instead.
        why: String,
    },
    /// The folder holds a backup, which must not change.
    #[error("{0} holds a backup: make a store of it by `curlew restore {0} --data FOLDER`, or name another folder")]
    IsBackup(PathBuf),
    /// A restore was interrupted while it moved files into place.
    #[error("the restore into {0} was cut off: run `curlew restore` again, with --replace")]
    HalfRestored(PathBuf),
    /// The database belongs to a store, but it is damaged.
    #[error("the database {path} is damaged ({why}): put back a copy of it, or move it away to begin anew")]
    Damaged {
        /// The database's file.
        path: PathBuf,
        /// SQLite's error.
        why: String,
    },
    /// The disk is full.
    #[error("the disk that holds {0} is full: free some space and start again; nothing is lost")]
    Full(PathBuf),
    /// Any other error of the operating system.
    #[error("the folder {dir} cannot be opened: {why}")]
    Io {
        /// The store's folder.
        dir: PathBuf,
        /// The operation, and the system's error.
        why: String,
    },
}

impl OpenError {
    /// Converts a file system's error in `dir`.
    pub(crate) fn from_io(dir: &Path, error: io::Error) -> OpenError {
        let dir = dir.to_owned();
        match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                OpenError::ReadOnly { dir, source: error.into() }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => OpenError::Full(dir),
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                OpenError::NotAStore { path: dir, why: "a file is in the way of the folder".into() }
            }
            _ => OpenError::Io { dir, why: error.to_string() },
        }
    }

    /// Converts SQLite's error about the database at `path`.
    pub(crate) fn from_sql(path: &Path, error: &rusqlite::Error) -> OpenError {
        let dir = path.parent().unwrap_or(path).to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => {
                OpenError::NotAStore { path: path.to_owned(), why: "the file is not a database".into() }
            }
            Some(ErrorCode::DatabaseCorrupt) => OpenError::Damaged { path: path.to_owned(), why: error.to_string() },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                OpenError::ReadOnly { dir, source: error.to_string().into() }
            }
            Some(ErrorCode::DiskFull) => OpenError::Full(dir),
            _ => OpenError::Io { dir, why: error.to_string() },
        }
    }
}

/// Error of an operation on the database: SQLite's own, or an outcome that the port defines.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DbError {
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    #[error(transparent)]
    Port(#[from] PortError),
}

impl DbError {
    /// Converts the error of the operation `what` to the port's error.
    pub(crate) fn into_port(self, what: &str) -> PortError {
        match self {
            DbError::Sql(error) => from_sql(what, &error),
            DbError::Port(error) => error,
        }
    }
}

/// Converts an error of SQLite to the port's error. `what` is the operation, such as "keep a page".
pub(crate) fn from_sql(what: &str, error: &rusqlite::Error) -> PortError {
    let why = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            return PortError::Corrupt { what: "the database".into(), why: error.to_string() };
        }
        Some(ErrorCode::DiskFull) => "the disk is full; free some space",
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => "the database cannot be written",
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => "another process keeps the database busy",
        Some(ErrorCode::SystemIoFailure) => "the disk failed",
        _ => "the database failed",
    };
    PortError::unavailable(format!("cannot {what}: {why}"), error.to_string())
}

/// Converts an error of the file system to the port's error. `what` is the operation, such as "write the object a/b".
pub(crate) fn from_io(what: &str, error: io::Error) -> PortError {
    // EMFILE and ENFILE (POSIX, <errno.h>; the same numbers on Linux, macOS and the BSDs): this process, or the whole
    // system, has reached its limit of open files. Others are closed after a while.
    if matches!(error.raw_os_error(), Some(24 | 23)) {
        return PortError::Throttled { retry_after: DESCRIPTOR_WAIT };
    }
    let why = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "the disk is full; free some space",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => "the folder cannot be written",
        _ => "the file system failed",
    };
    PortError::unavailable(format!("cannot {what}: {why}"), error)
}

pub(crate) fn corrupt(what: impl Into<String>, why: impl ToString) -> PortError {
    PortError::Corrupt { what: what.into(), why: why.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn to_have_no_descriptor_left_asks_to_wait_and_is_no_failure_of_the_disk() {
        for number in [23, 24] {
            let error = from_io("read the object a", io::Error::from_raw_os_error(number));
            assert!(matches!(error, PortError::Throttled { retry_after } if retry_after > Millis::ZERO), "{error}");
        }
        let denied = from_io("read the object a", io::Error::from_raw_os_error(13));
        assert!(matches!(denied, PortError::Unavailable { .. }), "{denied}");
    }
}
