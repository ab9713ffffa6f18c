//! One blob that contains the files of one index, and a read-only view of it for tantivy.
//!
//! ```text
//! file 0 … file n-1 | hot | checksums of the chunks | contents (JSON) | lengths of these three (u64 each)
//!   | SHA-256 of all since the files | SHA-256 of all before | form (u32) | "CURLEWSP"
//! ```
//!
//! Numbers are little-endian. `hot` repeats the ranges of the files that every search reads first, so that a split can
//! be opened from its tail, which is everything after the files. A truncated blob lacks the magic at its end; a
//! modified one fails its checksum. So tantivy, which trusts its files, only sees bytes that it wrote.

use crate::cold::{Cold, sums};
use crate::error::{Result, SearchError};
use bytes::Bytes;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{DirectoryLock, FileHandle, Lock, OwnedBytes, WatchCallback, WatchHandle, WritePtr};
use tantivy::{Directory, HasLen};

/// Format version that is written. It increases with every change of the schema, of word splitting, or of the fields
/// that a manifest has for a split. Format 9 is format 8 plus a dictionary of words as they are spelled.
pub const FORM: u32 = 9;
/// Oldest format version that is read, so that all splits are searched while an upgrade rewrites them one by one.
pub const OLDEST_FORM: u32 = 8;
const MAGIC: &[u8; 8] = b"CURLEWSP";
const CHECKSUM_BYTES: usize = 32;
const TAIL_BYTES: usize = 4 + MAGIC.len();
/// Length of the three lengths: hot ranges, checksums, contents.
const LENGTHS_BYTES: usize = 3 * 8;
/// Length of everything after the contents.
const TRAILER_BYTES: usize = LENGTHS_BYTES + 2 * CHECKSUM_BYTES + TAIL_BYTES;
/// Maximum length of a hot range in bytes. Columns and field lengths, which every search reads, are exempt.
const HOT_BYTES: u64 = 64 * 1024;
/// Extensions of files whose ranges are hot regardless of their length.
const ALWAYS_HOT: [&str; 3] = [".fast", ".fieldnorm", ".store"];

/// Description of a blob, stored inside it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Contents {
    pub(crate) docs: u64,
    /// Languages of the pages; the empty string stands for pages whose language is unknown.
    pub(crate) languages: BTreeSet<String>,
    files: Vec<FileEntry>,
    /// Position of the hot ranges in the files: first byte and length.
    hot: Vec<(u64, u64)>,
    /// Format version of the blob.
    #[serde(skip)]
    pub(crate) form: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct FileEntry {
    name: String,
    offset: u64,
    length: u64,
}

/// Packs files, in the order of their names; the ranges that `open` reads become hot. Returns the blob, and the length
/// of its tail in bytes.
pub(crate) fn pack(
    docs: u64,
    languages: BTreeSet<String>,
    files: BTreeMap<String, OwnedBytes>,
    open: impl FnOnce(Contents, BundleDirectory) -> Result<()>,
) -> Result<(Vec<u8>, u64)> {
    let mut bytes = Vec::with_capacity(files.values().map(|file| file.len()).sum());
    let mut entries = Vec::with_capacity(files.len());
    for (name, file) in files {
        entries.push(FileEntry { name, offset: bytes.len() as u64, length: file.len() as u64 });
        bytes.extend_from_slice(&file);
    }
    let mut contents = Contents { docs, languages, files: entries, hot: Vec::new(), form: FORM };
    let (bytes, reads) = (Bytes::from(bytes), Arc::default());
    let source = Source::Recorded(bytes.clone(), Arc::clone(&reads));
    open(contents.clone(), contents.directory(source, bytes.len() as u64)?)?;
    contents.set_hot(std::mem::take(&mut *reads.lock()));
    seal(&contents, bytes.into())
}

/// Appends the tail to the files. Returns the blob, and the length of its tail in bytes.
fn seal(contents: &Contents, mut blob: Vec<u8>) -> Result<(Vec<u8>, u64)> {
    let files = blob.len();
    let sums = sums(&blob);
    let mut hot = Vec::new();
    for (offset, length) in &contents.hot {
        hot.extend_from_slice(&blob[*offset as usize..(offset + length) as usize]);
    }
    let contents = serde_json::to_vec(contents).map_err(io::Error::from)?;
    for part in [&hot, &sums, &contents] {
        blob.extend_from_slice(part);
    }
    for part in [&hot, &sums, &contents] {
        blob.extend_from_slice(&(part.len() as u64).to_le_bytes());
    }
    let checksum = Sha256::digest(&blob[files..]);
    blob.extend_from_slice(&checksum);
    let checksum = Sha256::digest(&blob);
    blob.extend_from_slice(&checksum);
    blob.extend_from_slice(&FORM.to_le_bytes());
    blob.extend_from_slice(MAGIC);
    let tail = (blob.len() - files) as u64;
    Ok((blob, tail))
}

pub(crate) fn is_readable(form: u32) -> bool {
    (OLDEST_FORM..=FORM).contains(&form)
}

/// Returns a hash of a whole blob and its format as 32 hexadecimal digits; the same records give the same hash.
pub(crate) fn name(blob: &[u8]) -> String {
    let checksum_and_form = blob.len().checked_sub(TAIL_BYTES + CHECKSUM_BYTES).and_then(|at| blob.get(at..));
    curlew_model::hex(&Sha256::digest(checksum_and_form.unwrap_or_default())[..16])
}

/// Opens a blob, checking every byte.
pub(crate) fn unpack(blob: &Bytes) -> Result<(Contents, BundleDirectory)> {
    let trailer = Trailer::read(blob)?;
    let whole = blob.len() - TAIL_BYTES - CHECKSUM_BYTES;
    if Sha256::digest(&blob[..whole]).as_slice() != &blob[whole..whole + CHECKSUM_BYTES] {
        return Err(damaged("its checksum is another one"));
    }
    let files = trailer.files(blob.len() as u64)?;
    let contents = trailer.contents(blob)?;
    let directory = contents.directory(Source::Whole(blob.clone()), files)?;
    Ok((contents, directory))
}

/// Opens a blob of `length` bytes from its end. Fails with [`SearchError::Short`] if `end` lacks a part of the tail.
pub(crate) fn unpack_tail(end: &Bytes, length: u64) -> Result<(Contents, BundleDirectory, Arc<Cold>)> {
    let trailer = Trailer::read(end)?;
    let files = trailer.files(length)?;
    let need = length - files;
    let begin = (end.len() as u64).checked_sub(need).ok_or(SearchError::Short { need })?;
    let tail = end.slice(begin as usize..);
    let checked = tail.len() - TAIL_BYTES - 2 * CHECKSUM_BYTES;
    if Sha256::digest(&tail[..checked]).as_slice() != &tail[checked..checked + CHECKSUM_BYTES] {
        return Err(damaged("the checksum of its tail is another one"));
    }
    let contents = trailer.contents(&tail)?;
    let (hot, sums) = (trailer.hot as usize, trailer.sums as usize);
    let mut from = 0_usize;
    let mut ranges = Vec::with_capacity(contents.hot.len());
    for (offset, length) in &contents.hot {
        let to = from.saturating_add(*length as usize);
        let end = offset.checked_add(*length).filter(|end| *end <= files && to <= hot);
        let end = end.ok_or_else(|| damaged("a hot range lies outside of it"))?;
        ranges.push((*offset..end, tail.slice(from..to)));
        from = to;
    }
    let cold = Arc::new(Cold::new(ranges, tail.slice(hot..hot + sums), files));
    cold.supply(files - begin, &end.slice(..begin as usize))?;
    let directory = contents.directory(Source::Cold(Arc::clone(&cold)), files)?;
    Ok((contents, directory, cold))
}

fn damaged(reason: &str) -> SearchError {
    SearchError::damaged_split(reason)
}

/// Lengths of the sections between the files and the trailer.
struct Trailer {
    form: u32,
    hot: u64,
    sums: u64,
    contents: u64,
}

impl Trailer {
    fn read(bytes: &[u8]) -> Result<Trailer> {
        let at = bytes.len().checked_sub(TRAILER_BYTES).ok_or_else(|| damaged("it is too short"))?;
        let trailer = &bytes[at..];
        if !trailer.ends_with(MAGIC) {
            return Err(damaged("its end is missing"));
        }
        let form = &trailer[TRAILER_BYTES - TAIL_BYTES..TRAILER_BYTES - MAGIC.len()];
        let form = u32::from_le_bytes(form.try_into().unwrap_or_default());
        if !is_readable(form) {
            return Err(SearchError::UnknownForm { what: "split", found: form });
        }
        let length = |at: usize| u64::from_le_bytes(trailer[at..at + 8].try_into().unwrap_or_default());
        Ok(Trailer { form, hot: length(0), sums: length(8), contents: length(16) })
    }

    /// Returns the length of the files in a blob of `length` bytes.
    fn files(&self, length: u64) -> Result<u64> {
        let parts = [self.hot, self.sums, self.contents, TRAILER_BYTES as u64];
        let tail = parts.into_iter().try_fold(0_u64, u64::checked_add);
        tail.and_then(|tail| length.checked_sub(tail)).ok_or_else(|| damaged("its contents are too long"))
    }

    /// Reads the contents from bytes that end where the blob ends.
    fn contents(&self, bytes: &[u8]) -> Result<Contents> {
        let end = bytes.len() - TRAILER_BYTES;
        let json = end.checked_sub(self.contents as usize).and_then(|from| bytes.get(from..end));
        let json = json.ok_or_else(|| damaged("its contents are too long"))?;
        let contents: Contents = serde_json::from_slice(json).map_err(|error| damaged(&error.to_string()))?;
        Ok(Contents { form: self.form, ..contents })
    }
}

impl Contents {
    fn directory(&self, source: Source, end: u64) -> Result<BundleDirectory> {
        let mut files = BTreeMap::new();
        for entry in &self.files {
            let range = entry.offset..entry.offset.saturating_add(entry.length);
            if range.end > end {
                return Err(damaged("a file lies outside of it"));
            }
            files.insert(PathBuf::from(&entry.name), range);
        }
        Ok(BundleDirectory { files: Arc::new(files), source })
    }

    /// Marks those of the ranges as hot that every search reads first; joins overlapping ones.
    fn set_hot(&mut self, mut reads: Vec<Range<u64>>) {
        let always = |file: &FileEntry| ALWAYS_HOT.iter().any(|kind| file.name.ends_with(kind));
        reads.retain(|range| {
            let inside = |file: &&FileEntry| file.offset <= range.start && range.end <= file.offset + file.length;
            range.end - range.start <= HOT_BYTES || self.files.iter().find(inside).is_some_and(always)
        });
        reads.sort_by_key(|range| (range.start, range.end));
        let mut hot: Vec<Range<u64>> = Vec::new();
        for range in reads {
            match hot.last_mut().filter(|last| range.start <= last.end) {
                Some(last) => last.end = last.end.max(range.end),
                None => hot.push(range),
            }
        }
        self.hot = hot.into_iter().map(|range| (range.start, range.end - range.start)).collect();
    }
}

#[derive(Clone)]
enum Source {
    Whole(Bytes),
    /// Like `Whole`, but every read is recorded.
    Recorded(Bytes, Arc<Mutex<Vec<Range<u64>>>>),
    Cold(Arc<Cold>),
}

impl Source {
    fn read(&self, range: Range<u64>) -> io::Result<OwnedBytes> {
        let bytes = match self {
            Source::Cold(cold) => return cold.read(&range).map(OwnedBytes::new),
            Source::Whole(bytes) => bytes,
            Source::Recorded(bytes, reads) => {
                reads.lock().push(range.clone());
                bytes
            }
        };
        let part = bytes.get(range.start as usize..range.end as usize).ok_or(io::ErrorKind::UnexpectedEof)?;
        // A copy: lending the bytes would need `unsafe` code (`StableDeref`).
        Ok(OwnedBytes::new(part.to_vec()))
    }
}

#[derive(Clone)]
pub(crate) struct BundleDirectory {
    files: Arc<BTreeMap<PathBuf, Range<u64>>>,
    source: Source,
}

impl BundleDirectory {
    fn file(&self, path: &Path) -> Result<BundleFile, OpenReadError> {
        let range = self.files.get(path).ok_or_else(|| OpenReadError::FileDoesNotExist(path.to_owned()))?;
        Ok(BundleFile { range: range.clone(), source: self.source.clone() })
    }
}

impl fmt::Debug for BundleDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.files.keys()).finish()
    }
}

impl Directory for BundleDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        Ok(Arc::new(self.file(path)?))
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.files.contains_key(path))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let file = self.file(path)?;
        let bytes = file.source.read(file.range.clone());
        let bytes = bytes.map_err(|error| OpenReadError::wrap_io_error(error, path.to_owned()))?;
        Ok(bytes.to_vec())
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

    // Nothing is ever written, so no lock is needed.
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

/// One file; only the ranges that tantivy asks for are read.
struct BundleFile {
    range: Range<u64>,
    source: Source,
}

impl fmt::Debug for BundleFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BundleFile({} bytes)", self.len())
    }
}

impl HasLen for BundleFile {
    fn len(&self) -> usize {
        (self.range.end - self.range.start) as usize
    }
}

impl FileHandle for BundleFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.end > self.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let from = self.range.start;
        self.source.read(from + range.start as u64..from + range.end as u64)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    #![allow(clippy::single_range_in_vec_init, reason = "one range is what is wanted")]
    use super::*;

    fn blob() -> (Vec<u8>, u64) {
        let files = [("a", b"first".to_vec()), ("b", Vec::new()), ("c", b"third".to_vec())];
        let files = files.into_iter().map(|(name, data)| (name.to_owned(), OwnedBytes::new(data))).collect();
        let read = |_, directory: BundleDirectory| {
            directory.atomic_read(Path::new("c")).map(drop).map_err(|_| SearchError::Empty)
        };
        pack(7, ["it".to_owned()].into(), files, read).unwrap()
    }

    #[test]
    fn what_was_packed_is_unpacked() {
        let (contents, directory) = unpack(&Bytes::from(blob().0)).unwrap();
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
    fn the_tail_alone_gives_what_is_read_first() {
        let (whole, tail) = blob();
        let length = whole.len() as u64;
        let end = Bytes::copy_from_slice(&whole[whole.len() - tail as usize..]);
        let (contents, directory, cold) = unpack_tail(&end, length).unwrap();
        assert_eq!(contents.docs, 7);
        assert_eq!(directory.atomic_read(Path::new("c")).unwrap(), b"third");
        assert!(directory.atomic_read(Path::new("a")).is_err());
        assert_eq!(cold.wanted(), [0..10]);
        cold.supply(0, &Bytes::copy_from_slice(&whole[..10])).unwrap();
        assert_eq!(directory.atomic_read(Path::new("a")).unwrap(), b"first");
        // Bytes beyond the tail are accepted as well.
        let (_, directory, _) = unpack_tail(&Bytes::from(whole.clone()), length).unwrap();
        assert_eq!(directory.atomic_read(Path::new("a")).unwrap(), b"first");
        for short in 0..tail as usize {
            let end = Bytes::copy_from_slice(&whole[whole.len() - short..]);
            let refused = unpack_tail(&end, length).err();
            let known = short >= TRAILER_BYTES;
            assert!(matches!(refused, Some(SearchError::Short { need }) if known && need == tail) || !known, "{short}");
        }
        for at in 0..end.len() - TAIL_BYTES - CHECKSUM_BYTES {
            let mut changed = end.to_vec();
            changed[at] ^= 0x20;
            assert!(unpack_tail(&changed.into(), length).is_err(), "changed at {at}");
        }
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_noticed() {
        let (whole, _) = blob();
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
        let (mut other, _) = blob();
        let at = other.len() - TAIL_BYTES;
        other[at] = 99;
        assert!(matches!(unpack(&Bytes::from(other)), Err(SearchError::UnknownForm { found: 99, .. })));
    }
}
