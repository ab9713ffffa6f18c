//! Backups of a store that may be in use.
//!
//! A backup has the state that a crash at one moment would leave, from which every start can recover. At that moment,
//! [`shut`] keeps objects from being replaced and deleted until a read transaction holds the state of the database and
//! a second link holds each object. The files are copied after that, without blocking writers.

use crate::connect::Mode;
use crate::error::OpenError;
use crate::folder::shut;
use crate::keys::Listing;
use crate::layout::{BESIDE, DATABASE, OBJECTS, SEAL, SUMS};
use crate::lock::Access;
use crate::private::{self, flush_folder};
use crate::seal::{BackupError, Seal, SummedFile, sum_of, write_sums};
use crate::staging::{Placement, Staging};
use crate::store::{examine, refuse_unfit, require_database};
use curlew_model::Timestamp;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Number of database pages that are copied in one step.
const PAGES: i32 = 1_024;

/// A finished backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupReport {
    /// Number of files in the backup.
    pub files: u64,
    /// Length of the files in bytes.
    pub bytes: u64,
}

/// Writes a backup of the store in `dir` into the new folder `to`, while other processes may use the store. Blocks
/// until the files have reached the disk. Objects become hard links where the file system allows it. An unfinished
/// backup is never restored.
pub fn backup(dir: &Path, to: &Path, now: Timestamp) -> Result<BackupReport, BackupError> {
    refuse_unfit(dir)?;
    require_database(dir)?;
    let (connection, version, mode) = examine(&dir.join(DATABASE), Access::Shared)?;
    let disk = |path: &Path, error: &dyn std::fmt::Display| BackupError::Disk {
        dir: to.to_owned(),
        why: format!("{}: {error}", path.display()),
    };
    create(dir, to)?;
    let seal = Seal::begun(version, now);
    write_seal(to, &seal).map_err(|e| disk(&to.join(SEAL), &e))?;

    let frozen = Frozen::begin(dir, &connection, mode).map_err(|e| disk(dir, &e))?;
    let mut placed = Placement::new(to);
    let path = placed.path(DATABASE).map_err(|e| disk(to, &e))?;
    copy_database(&connection, &path).map_err(|e| disk(&path, &e))?;
    drop(connection);
    let mut files = vec![DATABASE.to_owned()];
    for name in &frozen.names {
        placed.place(&frozen.root, name).map_err(|e| disk(&to.join(name), &e))?;
        files.push(name.clone());
    }
    let (mut sums, mut bytes) = (Vec::with_capacity(files.len()), 0);
    for name in files {
        let (sum, length) = sum_of(&to.join(&name)).map_err(|e| disk(&to.join(&name), &e))?;
        bytes += length;
        sums.push(SummedFile { name, sum });
    }
    let path = to.join(SUMS);
    write_new(&path, write_sums(&sums).as_bytes()).map_err(|e| disk(&path, &e))?;
    placed.flush().map_err(|e| disk(to, &e))?;
    let files = sums.len() as u64;
    let sums = Some(sum_of(&path).map_err(|e| disk(&path, &e))?.0);
    write_seal(to, &Seal { files, bytes, sums, ..seal }).map_err(|e| disk(&to.join(SEAL), &e))?;
    Ok(BackupReport { files, bytes })
}

/// Creates the folder for a backup; fails if it exists and is not empty.
fn create(dir: &Path, to: &Path) -> Result<(), BackupError> {
    let refused = |error| BackupError::from(OpenError::from_io(to, error));
    if to.join(SEAL).exists() {
        // Only a finished backup has a seal that can be read.
        return Err(match Seal::read(to) {
            Err(unfinished @ BackupError::Unfinished(_)) => unfinished,
            _ => BackupError::NotEmpty(to.to_owned()),
        });
    }
    private::create_dir_all(to).map_err(refused)?;
    if fs::read_dir(to).map_err(refused)?.next().is_some() {
        return Err(BackupError::NotEmpty(to.to_owned()));
    }
    let (store, folder) = (dir.canonicalize().map_err(refused)?, to.canonicalize().map_err(refused)?);
    if folder.starts_with(&store) || store.starts_with(&folder) {
        // The folder is empty, and may have been created just now.
        let _ = fs::remove_dir(to);
        return Err(BackupError::Inside(to.to_owned()));
    }
    Ok(())
}

/// The files of a store at one moment.
struct Frozen {
    /// Folder whose files do not change.
    root: PathBuf,
    /// Names of the files below the root, in order.
    names: Vec<String>,
    _staging: Option<Staging>,
}

impl Frozen {
    /// Begins the transaction that holds the state of the database, and links all objects as they are at that moment.
    fn begin(dir: &Path, connection: &Connection, mode: Mode) -> io::Result<Frozen> {
        let hold = || -> rusqlite::Result<()> {
            connection.execute_batch("BEGIN")?;
            // SQLite takes the snapshot at the first read, not at BEGIN.
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
        };
        if mode == Mode::Frozen {
            hold().map_err(io::Error::other)?;
            return Ok(Frozen { root: dir.to_owned(), names: names(dir)?, _staging: None });
        }
        let staging = Staging::create(dir, "backup")?;
        let mut placed = Placement::new(staging.path());
        let shut = shut(&dir.join(OBJECTS))?;
        hold().map_err(io::Error::other)?;
        let names = names(dir)?;
        for name in &names {
            placed.place(dir, name)?;
        }
        drop(shut);
        Ok(Frozen { root: staging.path().to_owned(), names, _staging: Some(staging) })
    }
}

/// Returns the names of all files of a store except its database.
fn names(dir: &Path) -> io::Result<Vec<String>> {
    let keys = Listing { prefix: "", after: None, limit: usize::MAX }.read(&dir.join(OBJECTS))?;
    let beside = BESIDE.into_iter().filter(|name| dir.join(name).is_file()).map(str::to_owned);
    Ok(beside.chain(keys.into_iter().map(|key| format!("{OBJECTS}/{key}"))).collect())
}

/// Copies the state that a connection sees, with SQLite's online backup (sqlite.org/backup.html).
fn copy_database(from: &Connection, to: &Path) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    drop(private::create_new(to)?);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut copy = Connection::open_with_flags(to, flags)?;
    // A copy needs no rollback and is flushed once, as a whole.
    copy.pragma_update_and_check(None, "journal_mode", "off", |_| Ok(()))?;
    copy.pragma_update(None, "synchronous", "off")?;
    let backup = Backup::new(from, &mut copy)?;
    loop {
        match backup.step(PAGES)? {
            StepResult::Done => break,
            StepResult::More => {}
            _ => return Err("another process keeps the database busy".into()),
        }
    }
    drop(backup);
    copy.close().map_err(|(_, error)| error)?;
    Ok(File::open(to)?.sync_all()?)
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = private::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Replaces the seal atomically.
fn write_seal(dir: &Path, seal: &Seal) -> io::Result<()> {
    let new = dir.join(format!("{SEAL}.new"));
    write_new(&new, &serde_json::to_vec(seal).map_err(io::Error::other)?)?;
    fs::rename(&new, dir.join(SEAL))?;
    flush_folder(dir)
}
