//! One blob that holds the files of one index, and a read-only view of it for tantivy.
//!
//! ```text
//! file 0 … file n-1 | contents (JSON) | length of the contents (u64) | SHA-256 of all before | form (u32) | "CURLEWSP"
//! ```
//!
//! Numbers are little-endian. What was cut short has no magic at its end; what was changed has another checksum; so
//! tantivy, which trusts its files, only ever sees what it has written.

use crate::SearchError;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{DirectoryLock, FileHandle, Lock, OwnedBytes, WatchCallback, WatchHandle, WritePtr};
use tantivy::{Directory, HasLen};

/// The form that is written and read. It grows with every change of the schema or of the way words are taken apart.
pub const FORM: u32 = 2;
const MAGIC: &[u8; 8] = b"CURLEWSP";
const CHECKSUM_BYTES: usize = 32;
/// Form and magic.
const TAIL_BYTES: usize = 4 + MAGIC.len();
/// What follows the contents.
const TRAILER_BYTES: usize = 8 + CHECKSUM_BYTES + TAIL_BYTES;

/// What a blob says of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Contents {
    /// Pages.
    pub(crate) docs: u64,
    /// Languages of the pages; the empty word stands for pages whose language is not known.
    pub(crate) languages: BTreeSet<String>,
    /// Where each file lies.
    files: Vec<FileEntry>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct FileEntry {
    name: String,
    offset: u64,
    length: u64,
}

/// Lays files one after the other, in the order of their names.
pub(crate) fn pack(
    docs: u64,
    languages: BTreeSet<String>,
    files: BTreeMap<String, OwnedBytes>,
) -> Result<Vec<u8>, SearchError> {
    let total: usize = files.values().map(|file| file.len()).sum();
    let mut blob = Vec::with_capacity(total + 4096);
    let mut entries = Vec::with_capacity(files.len());
    for (name, file) in files {
        entries.push(FileEntry { name, offset: blob.len() as u64, length: file.len() as u64 });
        blob.extend_from_slice(&file);
    }
    let contents = serde_json::to_vec(&Contents { docs, languages, files: entries }).map_err(io::Error::from)?;
    blob.extend_from_slice(&contents);
    blob.extend_from_slice(&(contents.len() as u64).to_le_bytes());
    let checksum = Sha256::digest(&blob);
    blob.extend_from_slice(&checksum);
    blob.extend_from_slice(&FORM.to_le_bytes());
    blob.extend_from_slice(MAGIC);
    Ok(blob)
}

/// The checksum of a whole blob, as 32 hexadecimal digits: the same records give the same one.
pub(crate) fn name(blob: &[u8]) -> String {
    let checksum = blob.len().checked_sub(TAIL_BYTES + CHECKSUM_BYTES).and_then(|at| blob.get(at..at + 16));
    checksum.unwrap_or_default().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Takes a blob apart; every byte of it is checked.
pub(crate) fn unpack(blob: &Bytes) -> Result<(Contents, BundleDirectory), SearchError> {
    let damaged = |reason: &str| SearchError::damaged_split(reason);
    let trailer_at = blob.len().checked_sub(TRAILER_BYTES).ok_or_else(|| damaged("it is too short"))?;
    let trailer = &blob[trailer_at..];
    let (length, rest) = trailer.split_at(8);
    let (checksum, rest) = rest.split_at(CHECKSUM_BYTES);
    let (form, magic) = rest.split_at(4);
    if magic != MAGIC {
        return Err(damaged("its end is missing"));
    }
    let form = u32::from_le_bytes(form.try_into().unwrap_or_default());
    if form != FORM {
        return Err(SearchError::UnknownForm { what: "split", found: form });
    }
    if Sha256::digest(&blob[..trailer_at + 8]).as_slice() != checksum {
        return Err(damaged("its checksum is another one"));
    }
    let length = usize::try_from(u64::from_le_bytes(length.try_into().unwrap_or_default())).unwrap_or(usize::MAX);
    let contents_at = trailer_at.checked_sub(length).ok_or_else(|| damaged("its contents are too long"))?;
    let contents: Contents =
        serde_json::from_slice(&blob[contents_at..trailer_at]).map_err(|error| damaged(&error.to_string()))?;
    let mut files = BTreeMap::new();
    for entry in &contents.files {
        let range = entry.range(contents_at).ok_or_else(|| damaged("a file lies outside of it"))?;
        files.insert(PathBuf::from(&entry.name), blob.slice(range));
    }
    Ok((contents, BundleDirectory { files: Arc::new(files) }))
}

impl FileEntry {
    fn range(&self, end: usize) -> Option<Range<usize>> {
        let from = usize::try_from(self.offset).ok()?;
        let to = from.checked_add(usize::try_from(self.length).ok()?)?;
        (to <= end).then_some(from..to)
    }
}

/// The files of one blob, as a directory that is only read.
#[derive(Clone)]
pub(crate) struct BundleDirectory {
    files: Arc<BTreeMap<PathBuf, Bytes>>,
}

impl BundleDirectory {
    fn file(&self, path: &Path) -> Result<&Bytes, OpenReadError> {
        self.files.get(path).ok_or_else(|| OpenReadError::FileDoesNotExist(path.to_owned()))
    }
}

impl fmt::Debug for BundleDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.files.keys()).finish()
    }
}

impl Directory for BundleDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        Ok(Arc::new(BundleFile(self.file(path)?.clone())))
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.files.contains_key(path))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.file(path).map(|file| file.to_vec())
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError { io_error: Arc::new(read_only()), filepath: path.to_owned() })
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::IoError { io_error: Arc::new(read_only()), filepath: path.to_owned() })
    }

    fn atomic_write(&self, _path: &Path, _data: &[u8]) -> io::Result<()> {
        Err(read_only())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    // Nothing is ever written, so there is nothing to lock out.
    fn acquire_lock(&self, _lock: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _watch_callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "a split is only read")
}

/// One file. Tantivy asks for the parts that it needs — a posting list, a block of stored text — and only those are
/// copied out; handing out the bytes themselves would take an `unsafe` promise about where they lie.
struct BundleFile(Bytes);

impl fmt::Debug for BundleFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BundleFile({} bytes)", self.0.len())
    }
}

impl HasLen for BundleFile {
    fn len(&self) -> usize {
        self.0.len()
    }
}

impl FileHandle for BundleFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let part = self.0.get(range).ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(OwnedBytes::new(part.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::*;

    fn blob() -> Vec<u8> {
        let files = [("a", b"first".to_vec()), ("b", Vec::new()), ("c", b"third".to_vec())];
        let files = files.into_iter().map(|(name, data)| (name.to_owned(), OwnedBytes::new(data))).collect();
        pack(7, ["it".to_owned()].into(), files).unwrap()
    }

    #[test]
    fn what_was_packed_is_unpacked() {
        let (contents, directory) = unpack(&Bytes::from(blob())).unwrap();
        assert_eq!((contents.docs, contents.languages.len()), (7, 1));
        assert_eq!(directory.atomic_read(Path::new("a")).unwrap(), b"first");
        assert_eq!(directory.atomic_read(Path::new("b")).unwrap(), b"");
        let third = directory.get_file_handle(Path::new("c")).unwrap();
        assert_eq!(third.read_bytes(1..3).unwrap().as_slice(), b"hi");
        assert!(third.read_bytes(1..9).is_err());
        assert!(directory.atomic_read(Path::new("d")).is_err());
        assert!(directory.atomic_write(Path::new("d"), b"").is_err());
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_noticed() {
        let whole = blob();
        for length in 0..whole.len() {
            assert!(unpack(&Bytes::copy_from_slice(&whole[..length])).is_err(), "cut to {length}");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x20;
            assert!(unpack(&Bytes::from(changed)).is_err(), "changed at {at}");
        }
    }

    #[test]
    fn another_form_is_told_from_damage() {
        let mut other = blob();
        let at = other.len() - TAIL_BYTES;
        other[at] = 9;
        assert!(matches!(unpack(&Bytes::from(other)), Err(SearchError::UnknownForm { found: 9, .. })));
    }
}
