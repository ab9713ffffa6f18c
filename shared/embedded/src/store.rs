//! Opening a store and taking its parts.

use crate::db::{Db, connect};
use crate::lock::Lock;
use crate::schema::{self, Standing};
use crate::{Folder, HostTable, JobTable, MarkTable, OpenError, PageTable, RobotsTable, SourceTable};
use curlew_model::Timestamp;
use curlew_ports::PortError;
use rusqlite::Connection;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// The database's file.
const DATABASE: &str = "curlew.sqlite3";
/// The write-ahead log is cut back to this many bytes after it was larger.
const WAL_LIMIT: i64 = 64 << 20;

/// How a store is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// For crawling and serving: makes the folder if there is none, takes the lock, brings the tables up to date,
    /// sweeps what a crash left behind. One process at a time.
    Exclusive,
    /// For looking, and for small changes to rows such as a block, while another process may be at work.
    /// Makes nothing, migrates nothing, sweeps nothing.
    Shared,
}

/// An open store. Its parts may outlive it; the lock is given up with the last of them.
#[derive(Clone, Debug)]
pub struct Store {
    db: Db,
    objects: Arc<Folder>,
}

impl Store {
    /// Opens the store in `dir`. Blocks for as long as the disk takes.
    ///
    /// # Errors
    /// [`OpenError`], each in one line that says what to do.
    pub fn open(dir: &Path, access: Access) -> Result<Store, OpenError> {
        let lock = match access {
            Access::Exclusive => {
                fs::create_dir_all(dir).map_err(|e| OpenError::from_io(dir, e))?;
                Some(Arc::new(Lock::take(dir)?))
            }
            Access::Shared => None,
        };
        let path = dir.join(DATABASE);
        if access == Access::Shared && !path.is_file() {
            return Err(OpenError::NotAStore { path: dir.to_owned(), why: format!("it has no {DATABASE}") });
        }
        let connection = prepare(&path, access)?;
        let objects = Folder::open(dir, access, lock.clone())?;
        let db = Db::start(connection, &path, lock).map_err(|e| OpenError::from_io(dir, e))?;
        Ok(Store { db, objects: Arc::new(objects) })
    }

    /// After a crash, before the first worker starts: jobs that were handed out are ready again at `now`.
    /// Says how many. Only with [`Access::Exclusive`]: another process's jobs would run twice.
    ///
    /// # Errors
    /// Transport errors.
    pub async fn recover(&self, now: Timestamp) -> Result<u64, PortError> {
        JobTable::new(self.db.clone()).recover(now).await
    }

    /// Host states: `HostLedger` and `Hosts`.
    pub fn hosts(&self) -> Arc<HostTable> {
        Arc::new(HostTable::new(self.db.clone()))
    }

    /// Copies of robots.txt: `RobotsStore`.
    pub fn robots(&self) -> Arc<RobotsTable> {
        Arc::new(RobotsTable::new(self.db.clone()))
    }

    /// Named instants: `Marks`.
    pub fn marks(&self) -> Arc<MarkTable> {
        Arc::new(MarkTable::new(self.db.clone()))
    }

    /// Rows of pages: `Pages`.
    pub fn pages(&self) -> Arc<PageTable> {
        Arc::new(PageTable::new(self.db.clone()))
    }

    /// Rows of feeds and sites: `Sources`.
    pub fn sources(&self) -> Arc<SourceTable> {
        Arc::new(SourceTable::new(self.db.clone()))
    }

    /// The queues: `Queue` and `Inbox`.
    pub fn jobs(&self) -> Arc<JobTable> {
        Arc::new(JobTable::new(self.db.clone()))
    }

    /// Objects: `Blobs`.
    pub fn objects(&self) -> Arc<Folder> {
        Arc::clone(&self.objects)
    }

    #[cfg(test)]
    pub(crate) fn db(&self) -> &Db {
        &self.db
    }
}

/// Opens the database and makes sure that it is a store of the right version.
fn prepare(path: &Path, access: Access) -> Result<Connection, OpenError> {
    let sql = |error: rusqlite::Error| OpenError::from_sql(path, &error);
    let dir = path.parent().unwrap_or(path);
    let mut connection = connect(path, access == Access::Exclusive).map_err(sql)?;
    let known = schema::VERSION;
    let from = match schema::standing(&connection).map_err(sql)? {
        Standing::Store(found) if found > known => {
            return Err(OpenError::NewerVersion { dir: dir.to_owned(), found, known });
        }
        Standing::Foreign => {
            return Err(OpenError::NotAStore { path: path.to_owned(), why: "another program's database".into() });
        }
        Standing::Store(found) => found,
        Standing::Empty if access == Access::Exclusive => 0,
        Standing::Empty => {
            return Err(OpenError::NotAStore { path: path.to_owned(), why: "the database is empty".into() });
        }
    };
    if access == Access::Shared {
        if from < known {
            return Err(OpenError::OlderVersion { dir: dir.to_owned(), found: from, known });
        }
        return Ok(connection);
    }
    use_log(&connection, path)?;
    if from < known {
        schema::migrate(&mut connection, from).map_err(sql)?;
    }
    Ok(connection)
}

/// Switches to a write-ahead log, so that people can look while a crawl runs.
fn use_log(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let sql = |error: rusqlite::Error| OpenError::from_sql(path, &error);
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0)).map_err(sql)?;
    if mode != "wal" {
        let dir = path.parent().unwrap_or(path).to_owned();
        let why = "its file system cannot share memory between processes, as network folders often cannot";
        return Err(OpenError::Io { dir, why: why.into() });
    }
    connection.pragma_update(None, "journal_size_limit", WAL_LIMIT).map_err(sql)
}
