//! Restores a store from a backup.
//!
//! All files are placed in a separate folder and checked before any of them is moved into place. Existing files are
//! moved aside and never deleted.

use crate::error::OpenError;
use crate::layout::{BESIDE, DATABASE, INCOMING, LOCK, OBJECTS, RESTORING, SUMS};
use crate::lock::Lock;
use crate::private::{self, flush_folder};
use crate::seal::{BackupError, Seal, read_sums, sum_of};
use crate::staging::{Placement, Staging};
use curlew_model::Timestamp;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A finished restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreReport {
    /// Time at which the backup was taken.
    pub taken_at: Timestamp,
    /// Number of files.
    pub files: u64,
    /// Length of the files in bytes.
    pub bytes: u64,
    /// Folder into which the earlier store was moved.
    pub aside: Option<PathBuf>,
}

/// Makes a store in `dir` from the backup in `from`. Fails if the folder is not empty, unless `replace` is set: the
/// earlier store is then moved aside. Blocks until the files have reached the disk. If the move into place fails, the
/// restore must be run again; any earlier error leaves the store unchanged.
pub fn restore(from: &Path, dir: &Path, replace: bool, now: Timestamp) -> Result<RestoreReport, BackupError> {
    let seal = Seal::read(from)?;
    let altered = |file: &str, why: &dyn std::fmt::Display| BackupError::Altered {
        dir: from.to_owned(),
        file: file.to_owned(),
        why: why.to_string(),
    };
    let missing = |file: &str, error: &io::Error| match error.kind() {
        io::ErrorKind::NotFound => altered(file, &"is missing"),
        _ => altered(file, &format!("cannot be read: {error}")),
    };
    let (sum, _) = sum_of(&from.join(SUMS)).map_err(|e| missing(SUMS, &e))?;
    if seal.sums != Some(sum) {
        return Err(altered(SUMS, &"has been changed or cut short"));
    }
    let sums = fs::read_to_string(from.join(SUMS)).map_err(|e| missing(SUMS, &e))?;
    let files = read_sums(&sums).map_err(|line| altered(SUMS, &format!("has a line that is none: {line}")))?;

    let refused = |error| BackupError::from(OpenError::from_io(dir, error));
    private::create_dir_all(dir).map_err(refused)?;
    let _lock = Lock::take(dir)?;
    let is_occupied = is_occupied(dir).map_err(refused)?;
    if is_occupied && !replace {
        return Err(BackupError::Occupied(dir.to_owned()));
    }
    let staging = Staging::create(dir, "restore").map_err(refused)?;
    let mut placed = Placement::new(staging.path());
    for file in &files {
        if !from.join(&file.name).is_file() {
            return Err(altered(&file.name, &"is missing"));
        }
        let disk = |error: io::Error| BackupError::Disk { dir: staging.path().to_owned(), why: error.to_string() };
        let placed = placed.place(from, &file.name).map_err(disk)?;
        let (sum, _) = sum_of(&placed).map_err(disk)?;
        if sum != file.sum {
            return Err(altered(&file.name, &"has been changed or cut short"));
        }
    }
    placed.flush().map_err(refused)?;
    let aside = is_occupied.then(|| dir.join(format!("before-restore-{}", now.to_string().replace(':', ""))));
    take_places(dir, staging.path(), aside.as_deref()).map_err(refused)?;
    Ok(RestoreReport { taken_at: seal.taken_at, files: seal.files, bytes: seal.bytes, aside })
}

/// True if a folder has anything in it except a lock file and the remains of a failed restore.
fn is_occupied(dir: &Path) -> io::Result<bool> {
    let names = fs::read_dir(dir)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
    Ok(names.iter().any(|name| name != LOCK && name != INCOMING))
}

/// Moves the earlier store aside and the new one into its place. An interruption leaves [`RESTORING`] behind.
fn take_places(dir: &Path, new: &Path, aside: Option<&Path>) -> io::Result<()> {
    let mark = dir.join(RESTORING);
    private::open_or_create(&mark)?.sync_all()?;
    flush_folder(dir)?;
    if let Some(aside) = aside {
        private::create_dir(aside)?;
        let (log, memory) = (format!("{DATABASE}-wal"), format!("{DATABASE}-shm"));
        for name in [DATABASE, &log, &memory, OBJECTS].into_iter().chain(BESIDE) {
            if dir.join(name).exists() {
                fs::rename(dir.join(name), aside.join(name))?;
            }
        }
        flush_folder(aside)?;
    }
    for name in [OBJECTS, DATABASE].into_iter().chain(BESIDE) {
        if new.join(name).exists() {
            fs::rename(new.join(name), dir.join(name))?;
        }
    }
    flush_folder(dir)?;
    fs::remove_file(mark)?;
    flush_folder(dir)
}
