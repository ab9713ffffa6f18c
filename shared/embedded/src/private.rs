//! Files and folders that only their owner can read: the store holds the secret that signs forms, and messages to the
//! operator. Also flushes folders.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Permissions of a folder: owner only.
const FOLDER: u32 = 0o700;
/// Permissions of a file: owner only.
const FILE: u32 = 0o600;

/// Creates a folder and all missing folders above it.
pub(crate) fn create_dir_all(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(FOLDER).recursive(true).create(path)
}

pub(crate) fn create_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(FOLDER).create(path)
}

/// Creates a file that must not exist yet.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().mode(FILE).write(true).create_new(true).open(path)
}

/// Opens a file for reading and writing without truncating it; creates it if it is missing.
pub(crate) fn open_or_create(path: &Path) -> io::Result<File> {
    OpenOptions::new().mode(FILE).read(true).write(true).create(true).truncate(false).open(path)
}

/// Makes the entries of a folder durable: Unix flushes them separately from the files.
pub(crate) fn flush_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Restricts a folder or file to its owner. Skips a missing one, and one of another owner, who decides its permissions.
pub(crate) fn tighten(path: &Path) -> io::Result<()> {
    let done = fs::metadata(path).and_then(|data| {
        let wanted = if data.is_dir() { FOLDER } else { FILE };
        if data.permissions().mode() & 0o777 & !wanted == 0 {
            return Ok(());
        }
        fs::set_permissions(path, Permissions::from_mode(wanted))
    });
    match done {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => Ok(()),
        done => done,
    }
}
