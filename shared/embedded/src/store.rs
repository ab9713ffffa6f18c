//! Opens a store and returns its ports.

use crate::connect::{Mode, connect};
use crate::db::Db;
use crate::error::OpenError;
use crate::folder::Folder;
use crate::layout::{DATABASE, OBJECTS, RESTORING, SEAL};
use crate::lock::{self, Access, Lock};
use crate::private;
use crate::schema::{self, Standing};
use curlew_ports::Ports;
use rusqlite::Connection;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Size in bytes to which a larger write-ahead log is truncated.
const WAL_LIMIT: i64 = 64 << 20;

/// An open store. Its ports may outlive it; the lock is released with the last of them.
#[derive(Clone, Debug)]
pub struct Store {
    dir: PathBuf,
    db: Db,
    objects: Arc<Folder>,
}

impl Store {
    /// Opens the store in `dir`. Blocks for the disk.
    pub fn open(dir: &Path, access: Access) -> Result<Store, OpenError> {
        let io = |error| OpenError::from_io(dir, error);
        let path = dir.join(DATABASE);
        refuse_unfit(dir)?;
        let lock = match access {
            Access::Exclusive => {
                private::create_dir_all(dir).map_err(io)?;
                let lock = Lock::take(dir)?;
                keep_private(&path).map_err(io)?;
                Some(Arc::new(lock))
            }
            Access::Shared if !dir.exists() => return Err(OpenError::Missing(dir.to_owned())),
            Access::Shared => {
                require_database(dir)?;
                None
            }
        };
        let (connection, mode) = prepare(&path, access)?;
        let objects = Folder::open(dir, access, lock.clone())?;
        let db = Db::start(connection, &path, mode, lock).map_err(io)?;
        Ok(Store { dir: dir.to_owned(), db, objects: Arc::new(objects) })
    }

    /// Returns the ports of the store.
    pub fn ports(&self) -> Ports {
        let rows = Arc::new(self.db.clone());
        Ports {
            ledger: rows.clone(),
            hosts: rows.clone(),
            robots: rows.clone(),
            marks: rows.clone(),
            pages: rows.clone(),
            sources: rows.clone(),
            queue: rows.clone(),
            inbox: rows,
            blobs: self.objects.clone(),
            is_billed: false,
        }
    }

    /// Returns the objects.
    pub fn objects(&self) -> Arc<Folder> {
        Arc::clone(&self.objects)
    }

    /// Returns the paths of the write-ahead log, the database, and the folder of objects.
    pub(crate) fn places(&self) -> [PathBuf; 3] {
        let database = self.dir.join(DATABASE);
        [beside(&database, "-wal"), database, self.dir.join(OBJECTS)]
    }

    pub(crate) fn db(&self) -> &Db {
        &self.db
    }
}

/// Creates the database file with private permissions before SQLite creates it readable by everybody. SQLite gives its
/// other files the permissions of this one.
fn keep_private(path: &Path) -> io::Result<()> {
    private::open_or_create(path)?;
    [path.to_owned(), beside(path, "-wal"), beside(path, "-shm")].iter().try_for_each(|file| private::tighten(file))
}

/// Refuses a backup, and a store whose restore was interrupted.
pub(crate) fn refuse_unfit(dir: &Path) -> Result<(), OpenError> {
    if dir.join(SEAL).exists() {
        return Err(OpenError::IsBackup(dir.to_owned()));
    }
    if dir.join(RESTORING).exists() {
        return Err(OpenError::HalfRestored(dir.to_owned()));
    }
    Ok(())
}

/// Refuses a folder without a database.
pub(crate) fn require_database(dir: &Path) -> Result<(), OpenError> {
    if dir.join(DATABASE).is_file() {
        return Ok(());
    }
    Err(OpenError::NotAStore { path: dir.to_owned(), why: format!("it has no {DATABASE}") })
}

/// Returns the path of a file that SQLite keeps next to the database.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Opens the database if it belongs to a store of a known version. Also returns that version, 0 for a new database.
pub(crate) fn examine(path: &Path, access: Access) -> Result<(Connection, i64, Mode), OpenError> {
    let sql = |error: rusqlite::Error| OpenError::from_sql(path, &error);
    let (connection, standing, mode) = match access {
        Access::Exclusive => stand(path, Mode::Create).map_err(sql)?,
        Access::Shared => match stand(path, Mode::Write).map_err(sql) {
            Err(OpenError::ReadOnly { source, .. }) => look(path, source)?,
            opened => opened?,
        },
    };
    let not_a_store = |why: &str| OpenError::NotAStore { path: path.to_owned(), why: why.to_owned() };
    let known = schema::VERSION;
    match standing {
        Standing::Store(found) if found > known => {
            let dir = path.parent().unwrap_or(path).to_owned();
            Err(OpenError::NewerVersion { dir, found, known })
        }
        Standing::Foreign => Err(not_a_store("another program's database")),
        Standing::Store(found) => Ok((connection, found, mode)),
        Standing::Empty if access == Access::Exclusive => Ok((connection, 0, mode)),
        Standing::Empty => Err(not_a_store("the database is empty")),
    }
}

/// Opens the database for use, and creates its tables if it is new and the access exclusive.
fn prepare(path: &Path, access: Access) -> Result<(Connection, Mode), OpenError> {
    let (mut connection, version, mode) = examine(path, access)?;
    if access == Access::Exclusive {
        use_log(&connection, path)?;
        if version == 0 {
            schema::create(&mut connection).map_err(|error| OpenError::from_sql(path, &error))?;
        }
    }
    Ok((connection, mode))
}

fn stand(path: &Path, mode: Mode) -> rusqlite::Result<(Connection, Standing, Mode)> {
    let connection = connect(path, mode)?;
    let standing = schema::standing(&connection)?;
    Ok((connection, standing, mode))
}

/// Opens a database that cannot be written, such as on a read-only medium. Even readers of the write-ahead log need
/// write access, so the file is read without it, provided that the log is empty and no other process is running.
fn look(
    path: &Path,
    source: Box<dyn std::error::Error + Send + Sync>,
) -> Result<(Connection, Standing, Mode), OpenError> {
    let dir = path.parent().unwrap_or(path);
    let is_changing = lock::is_held(dir) || beside(path, "-wal").metadata().is_ok_and(|log| log.len() > 0);
    if is_changing {
        return Err(OpenError::Pending { dir: dir.to_owned(), source });
    }
    stand(path, Mode::Frozen).map_err(|error| OpenError::from_sql(path, &error))
}

/// Switches to a write-ahead log, so that other processes can read during a crawl.
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

#[cfg(test)]
mod tests {
    use super::*;
    use curlew_model::Timestamp;
    use curlew_ports::{Marks, Version};
    use std::collections::BTreeSet;
    use std::fs;

    fn names(dir: &Path) -> BTreeSet<String> {
        let name =
            |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name().to_string_lossy().into_owned();
        fs::read_dir(dir).expect("lists").map(name).collect()
    }

    async fn filled(dir: &Path) -> Store {
        let store = Store::open(dir, Access::Exclusive).expect("opens");
        store.ports().marks.swap("m", Version::ABSENT, Timestamp::MAX).await.expect("swaps");
        store
    }

    fn frozen(dir: &Path) -> Result<(Connection, Standing, Mode), OpenError> {
        look(&dir.join(DATABASE), "it may not be written".into())
    }

    #[tokio::test]
    async fn a_store_that_may_not_be_written_is_read_as_it_lies_there() {
        let dir = tempfile::tempdir().expect("a folder");
        let dir = dir.path().join("odd ?#%&ü name");
        drop(filled(&dir).await);
        let before = names(&dir);
        let (connection, standing, mode) = frozen(&dir).expect("opens");
        assert!(matches!(standing, Standing::Store(_)) && mode == Mode::Frozen);
        let store = Db::start(connection, &dir.join(DATABASE), mode, None).expect("starts");
        let (at, seen) = Marks::load(&store, "m").await.expect("reads");
        assert_eq!(at, Some(Timestamp::MAX));
        let refused = Marks::swap(&store, "m", seen, Timestamp::MIN).await.expect_err("nothing is written");
        assert!(refused.to_string().contains("cannot be written"), "{refused}");
        assert_eq!(names(&dir), before, "nothing is made beside it");
    }

    #[tokio::test]
    async fn what_stands_in_the_log_or_is_being_changed_is_not_left_out_in_silence() {
        let (dir, copy) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let working = filled(dir.path()).await;
        assert!(matches!(frozen(dir.path()), Err(OpenError::Pending { .. })), "somebody is at work");
        for name in [DATABASE, "curlew.sqlite3-wal"] {
            fs::copy(dir.path().join(name), copy.path().join(name)).expect("copies");
        }
        drop(working);
        let error = frozen(copy.path()).expect_err("its log was never read");
        assert!(matches!(error, OpenError::Pending { .. }) && !error.to_string().contains('\n'), "{error}");
        assert!(frozen(dir.path()).is_ok(), "it was ended well");
    }
}
