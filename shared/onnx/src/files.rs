//! Reads files of limited size, and formats hexadecimal numbers.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// A file that could not be read, written or removed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The operating system reported an error: check the path and its permissions.
    #[error("{} cannot be {what}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// `read`, `written` or `removed`.
        what: &'static str,
        /// Reason.
        #[source]
        source: io::Error,
    },
    /// The file is too large to be the expected one.
    #[error("{} is longer than {limit} bytes", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// Maximum number of bytes.
        limit: u64,
    },
}

impl FileError {
    /// Returns a function that adds the path and the failed operation to an I/O error.
    pub(crate) fn at<'a>(path: &'a Path, what: &'static str) -> impl Fn(io::Error) -> FileError + use<'a> {
        move |source| FileError::Io { path: path.to_owned(), what, source }
    }
}

pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let cannot = FileError::at(path, "read");
    let mut bytes = Vec::new();
    File::open(path).map_err(&cannot)?.take(limit + 1).read_to_end(&mut bytes).map_err(&cannot)?;
    if bytes.len() as u64 > limit { Err(FileError::TooLong { path: path.to_owned(), limit }) } else { Ok(bytes) }
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
