//! Folders below `incoming/` in which a backup or a restore collects its files. A folder left by a dead process is
//! deleted by the next process that creates one or opens the store exclusively.

use crate::layout::INCOMING;
use crate::private::{self, flush_folder};
use crate::seal::object_key;
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A temporary folder, deleted on drop. It is locked, so that other processes do not delete it.
pub(crate) struct Staging {
    path: PathBuf,
    _lock: File,
}

impl Staging {
    /// Creates a folder below `incoming/`, named after its purpose and this process. Deletes the folders of dead
    /// processes first: a process may serve for years without another start, and in a container the next process
    /// often has the same number.
    pub(crate) fn create(dir: &Path, purpose: &str) -> io::Result<Staging> {
        let incoming = dir.join(INCOMING);
        private::create_dir_all(&incoming)?;
        for entry in fs::read_dir(&incoming)? {
            let entry = entry?;
            // A writer may have removed its file by now.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                sweep(&entry.path())?;
            }
        }
        let path = incoming.join(format!("{purpose}-{}", std::process::id()));
        private::create_dir(&path)?;
        let lock = File::open(&path)?;
        lock.lock()?;
        Ok(Staging { path, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // The next start deletes a folder that cannot be deleted now.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Deletes a staging folder, unless its process is alive.
pub(crate) fn sweep(path: &Path) -> io::Result<()> {
    let folder = match File::open(path) {
        // The folder's own process has just deleted it.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    match folder.try_lock() {
        Ok(()) => fs::remove_dir_all(path),
        Err(TryLockError::WouldBlock) => Ok(()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// A target folder for files, and the folders that were created in it.
pub(crate) struct Placement {
    root: PathBuf,
    folders: BTreeSet<PathBuf>,
}

impl Placement {
    pub(crate) fn new(root: &Path) -> Placement {
        Placement { root: root.to_owned(), folders: BTreeSet::from([root.to_owned()]) }
    }

    /// Creates the folders above the file `name` and returns the file's path.
    pub(crate) fn path(&mut self, name: &str) -> io::Result<PathBuf> {
        let path = self.root.join(name);
        let missing: Vec<PathBuf> =
            path.ancestors().skip(1).take_while(|folder| !self.folders.contains(*folder)).map(Path::to_owned).collect();
        for folder in missing.into_iter().rev() {
            match private::create_dir(&folder) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                _ => drop(self.folders.insert(folder)),
            }
        }
        Ok(path)
    }

    /// Places the file `name` of the folder `from`. An object never changes, so it becomes a hard link where possible.
    /// All other files are copied.
    pub(crate) fn place(&mut self, from: &Path, name: &str) -> io::Result<PathBuf> {
        let (from, path) = (from.join(name), self.path(name)?);
        if object_key(name).is_some() {
            match fs::hard_link(&from, &path) {
                Ok(()) => return Ok(path),
                Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {
                    return Err(error);
                }
                // The target is on another file system, links are unsupported, or the file has too many of them.
                Err(_) => {}
            }
        }
        let (mut from, mut to) = (File::open(from)?, private::create_new(&path)?);
        io::copy(&mut from, &mut to)?;
        to.sync_all()?;
        Ok(path)
    }

    /// Flushes the entries of all folders.
    pub(crate) fn flush(&self) -> io::Result<()> {
        self.folders.iter().try_for_each(|folder| flush_folder(folder))
    }
}
