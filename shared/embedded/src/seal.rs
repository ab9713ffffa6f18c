//! The format of a backup: `backup.json` describes it, `SHA256SUMS` has the checksum of each file in the format of
//! `sha256sum`. Pure, except for reading files.

use crate::error::OpenError;
use crate::layout::{BESIDE, DATABASE, OBJECTS, SEAL};
use crate::{keys, schema};
use curlew_model::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Version of the format of backups.
const FORM: i64 = 1;
const PIECE: usize = 256 << 10;

/// Reasons why a backup was not taken or not restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// The folder for the backup is not empty.
    #[error("the folder {0} is not empty: name a new one")]
    NotEmpty(PathBuf),
    /// The folder holds an unfinished backup.
    #[error("the backup in {0} was not finished: delete that folder, and take or name another one")]
    Unfinished(PathBuf),
    /// The folder for the backup is inside the store, or the store is inside that folder.
    #[error("{0} lies in the store's folder, or the store in it: name a folder elsewhere")]
    Inside(PathBuf),
    /// The folder holds no backup.
    #[error("{0} is not a backup (it has no {SEAL}): name a folder that `curlew backup` has written")]
    NotABackup(PathBuf),
    /// A newer version of Curlew has taken the backup.
    #[error(
        "the backup in {dir} has version {found}, but this program knows only versions up to {known}: use a newer \
         curlew"
    )]
    Newer {
        /// The backup's folder.
        dir: PathBuf,
        /// The version of the backup or of the store in it.
        found: i64,
        /// The newest version that this program can read.
        known: i64,
    },
    /// A file of the backup is missing or has been changed.
    #[error("the backup in {dir} is damaged ({file} {why}): nothing was restored; take another backup")]
    Altered {
        /// The backup's folder.
        dir: PathBuf,
        /// The file in it.
        file: String,
        /// The fault.
        why: String,
    },
    /// The folder to restore into is not empty.
    #[error("the folder {0} is not empty: name another one with --data, or put what is there aside with --replace")]
    Occupied(PathBuf),
    /// A file could not be read or written; the unfinished copy is of no use.
    #[error(
        "{dir} cannot be finished ({why}): delete it, free some space or name another folder, and start again; the \
         store is as it was"
    )]
    Disk {
        /// The folder that was being written.
        dir: PathBuf,
        /// The file, and the system's error.
        why: String,
    },
}

/// Content of `backup.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seal {
    pub(crate) form: i64,
    /// Version of the store in the backup.
    pub(crate) store: i64,
    pub(crate) taken_at: Timestamp,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    /// Checksum of `SHA256SUMS`; absent while the backup is being written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sums: Option<String>,
}

impl Seal {
    /// Returns the seal of an unfinished backup.
    pub(crate) fn begun(store: i64, taken_at: Timestamp) -> Seal {
        Seal { form: FORM, store, taken_at, files: 0, bytes: 0, sums: None }
    }

    /// Reads and checks the seal of a backup that is to be restored.
    pub(crate) fn read(dir: &Path) -> Result<Seal, BackupError> {
        let damaged =
            |why: String| BackupError::Altered { dir: dir.to_owned(), file: SEAL.to_owned(), why: format!("({why})") };
        let text = match std::fs::read(dir.join(SEAL)) {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Err(BackupError::NotABackup(dir.to_owned()));
            }
            Err(error) => return Err(damaged(error.to_string())),
        };
        let seal: Seal = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        for (found, known) in [(seal.form, FORM), (seal.store, schema::VERSION)] {
            if found > known {
                return Err(BackupError::Newer { dir: dir.to_owned(), found, known });
            }
        }
        if seal.sums.is_none() { Err(BackupError::Unfinished(dir.to_owned())) } else { Ok(seal) }
    }
}

/// A file of a backup: its name below the folder, and its SHA-256 in hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SummedFile {
    pub(crate) name: String,
    pub(crate) sum: String,
}

/// Returns the text of `SHA256SUMS`.
pub(crate) fn write_sums(files: &[SummedFile]) -> String {
    files.iter().map(|file| format!("{}  {}\n", file.sum, file.name)).collect()
}

/// Parses `SHA256SUMS`. The error is the first line that is malformed or names no file of a store.
pub(crate) fn read_sums(text: &str) -> Result<Vec<SummedFile>, String> {
    let read = |line: &str| {
        let (sum, name) = line.split_once("  ")?;
        let is_sum = sum.len() == 64 && sum.bytes().all(|b| b.is_ascii_hexdigit());
        let is_of_store = name == DATABASE || BESIDE.contains(&name) || object_key(name).is_some_and(keys::is_key);
        (is_sum && is_of_store).then(|| SummedFile { name: name.to_owned(), sum: sum.to_owned() })
    };
    text.lines().map(|line| read(line).ok_or_else(|| line.chars().take(80).collect())).collect()
}

/// Returns the key of an object by the name of its file below the store's folder.
pub(crate) fn object_key(name: &str) -> Option<&str> {
    name.strip_prefix(OBJECTS)?.strip_prefix('/')
}

/// Returns the SHA-256 and the length in bytes of a file.
pub(crate) fn sum_of(path: &Path) -> io::Result<(String, u64)> {
    let mut file = File::open(path)?;
    let (mut hash, mut piece, mut length) = (Sha256::new(), vec![0; PIECE], 0);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok((curlew_model::hex(&hash.finalize()), length)),
            read => {
                hash.update(&piece[..read]);
                length += read as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_name_files_of_a_store_and_no_others() {
        let sum = "0".repeat(64);
        let good = ["curlew.sqlite3", "keys.json", "objects/a/b-c_d.e"];
        let files = good.map(|name| SummedFile { name: name.to_owned(), sum: sum.clone() });
        assert_eq!(read_sums(&write_sums(&files)), Ok(files.to_vec()));
        for name in
            ["", "..", "../x", "/etc/passwd", "objects", "objects/", "objects/../x", "objects//a", "curlew.lock"]
        {
            assert!(read_sums(&format!("{sum}  {name}\n")).is_err(), "{name}");
        }
        for line in ["x", "  keys.json", "0  keys.json", &format!("{sum} keys.json")] {
            assert!(read_sums(line).is_err(), "{line}");
        }
    }
}
