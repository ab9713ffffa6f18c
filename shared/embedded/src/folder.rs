//! Objects as files.
//!
//! A file is written in `incoming/`, flushed, and then moved to `objects/` by a rename or a hard link, so an object is
//! either complete or absent. The folder that contains it is flushed too.

use crate::error::{OpenError, corrupt, from_io};
use crate::keys::{Listing, is_key};
use crate::layout::{INCOMING, OBJECTS};
use crate::lock::{Access, Lock};
use crate::private::{self, flush_folder};
use crate::staging;
use async_trait::async_trait;
use bytes::Bytes;
use curlew_ports::{Blob, Blobs, PortError, Tag};
use parking_lot::{Mutex, MutexGuard};
use sha2::{Digest, Sha256};
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

/// Minimum size in bytes of objects that are memory-mapped, and whose tags are made from samples.
const MAP_FROM: u64 = 1 << 20;
/// Number of bytes at each end of a mapped object that go into its tag.
const SAMPLE: usize = 64 << 10;
/// Number of bytes of the hash that a tag keeps.
const TAG_BYTES: usize = 16;
/// Number of latches: enough that changes to different keys seldom wait for each other.
const LATCHES: usize = 64;
/// Number in the name of the next file in `incoming/`; shared by all stores that this process has open.
static NEXT_FILE: AtomicU64 = AtomicU64::new(0);

/// The objects of a store, as files in a folder.
#[derive(Clone, Debug)]
pub struct Folder {
    inner: Arc<Directories>,
}

#[derive(Debug)]
struct Directories {
    objects: PathBuf,
    incoming: PathBuf,
    latches: [Mutex<()>; LATCHES],
    _lock: Option<Arc<Lock>>,
}

impl Folder {
    /// Opens the folders in `dir`. Exclusive access also creates them and deletes the remains of a crash.
    pub(crate) fn open(dir: &Path, access: Access, lock: Option<Arc<Lock>>) -> Result<Folder, OpenError> {
        let inner = Directories {
            objects: dir.join(OBJECTS),
            incoming: dir.join(INCOMING),
            latches: std::array::from_fn(|_| Mutex::new(())),
            _lock: lock,
        };
        if access == Access::Exclusive {
            inner.prepare(dir).map_err(|error| OpenError::from_io(dir, error))?;
        }
        Ok(Folder { inner: Arc::new(inner) })
    }

    /// Runs file operations on a thread that may block.
    async fn run<T: Send + 'static>(
        &self,
        what: &'static str,
        key: &str,
        work: impl FnOnce(&Directories, &Path) -> Result<T, FolderError> + Send + 'static,
    ) -> Result<T, PortError> {
        if !is_key(key) {
            let given: String = key.chars().take(80).collect();
            return Err(corrupt(format!("the key '{}'", given.escape_debug()), "it is not a key of an object"));
        }
        let path = self.inner.objects.join(key);
        let inner = Arc::clone(&self.inner);
        let what = format!("{what} the object {key}");
        let done = tokio::task::spawn_blocking(move || work(&inner, &path)).await;
        match done {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(FolderError::Port(error))) => Err(error),
            Ok(Err(FolderError::Io(error))) if is_misplaced(&error) => Err(corrupt(
                what,
                "its key conflicts with another object's: one would be a folder, the other a file of the same name",
            )),
            Ok(Err(FolderError::Io(error))) => Err(from_io(&what, error)),
            Err(error) => Err(PortError::unavailable(format!("cannot {what}"), error)),
        }
    }
}

#[async_trait]
impl Blobs for Folder {
    async fn get(&self, key: &str) -> Result<Option<Blob>, PortError> {
        self.run("read", key, |_, path| Ok(read(path)?)).await
    }

    async fn get_range(&self, key: &str, offset: u64, length: u64) -> Result<Bytes, PortError> {
        let name = key.to_owned();
        self.run("read", key, move |_, path| read_range(path, &name, offset, length)).await
    }

    async fn put(&self, key: &str, bytes: Bytes) -> Result<(), PortError> {
        self.run("write", key, move |inner, path| {
            let file = inner.write(&bytes)?;
            let _latch = inner.latch(path);
            file.replace(path, inner, None)?;
            Ok(())
        })
        .await
    }

    async fn put_if_absent(&self, key: &str, bytes: Bytes) -> Result<bool, PortError> {
        self.run("write", key, move |inner, path| {
            if exists(path)? {
                return Ok(false);
            }
            let file = inner.write(&bytes)?;
            let _latch = inner.latch(path);
            Ok(file.link(path, inner)?)
        })
        .await
    }

    async fn swap(&self, key: &str, seen: Option<&Tag>, bytes: Bytes) -> Result<Tag, PortError> {
        let seen = seen.cloned();
        self.run("write", key, move |inner, path| {
            let file = inner.write(&bytes)?;
            // A move preserves the tag. It is read first, because another writer may replace the file right after the
            // move.
            let tag = current_tag(&file.path)?;
            let _latch = inner.latch(path);
            let is_moved = match &seen {
                None => file.link(path, inner)?,
                seen => file.replace(path, inner, seen.as_ref())?,
            };
            tag.filter(|_| is_moved).ok_or(PortError::Conflict.into())
        })
        .await
    }

    async fn delete(&self, key: &str) -> Result<(), PortError> {
        self.run("delete", key, |inner, path| {
            let _latch = inner.latch(path);
            let gate = gate(&inner.objects, File::lock_shared)?;
            let removed = fs::remove_file(path);
            drop(gate);
            match removed {
                Ok(()) => Ok(flush_folder(parent(path))?),
                Err(error) if is_absent(&error) => Ok(()),
                Err(error) => Err(error.into()),
            }
        })
        .await
    }

    async fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<String>, PortError> {
        let (prefix, after) = (prefix.to_owned(), after.map(str::to_owned));
        let inner = Arc::clone(&self.inner);
        let listed = tokio::task::spawn_blocking(move || {
            Listing { prefix: &prefix, after: after.as_deref(), limit }.read(&inner.objects)
        });
        match listed.await {
            Ok(keys) => keys.map_err(|error| from_io("list the objects", error)),
            Err(error) => Err(PortError::unavailable("cannot list the objects", error)),
        }
    }
}

/// An outcome that the port defines, or an error of the file system.
#[derive(Debug, thiserror::Error)]
enum FolderError {
    #[error(transparent)]
    Port(#[from] PortError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Directories {
    /// Creates the folders and deletes unfinished files.
    fn prepare(&self, dir: &Path) -> io::Result<()> {
        for folder in [&self.objects, &self.incoming] {
            private::create_dir_all(folder)?;
            private::tighten(folder)?;
        }
        for entry in fs::read_dir(&self.incoming)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() { staging::sweep(&entry.path())? } else { fs::remove_file(entry.path())? }
        }
        flush_folder(dir)?;
        // The entry of the store's own folder must be durable as well. A parent folder that cannot be read is skipped.
        let dir = dir.canonicalize()?;
        match dir.parent().map(flush_folder) {
            Some(Err(error)) if error.kind() != ErrorKind::PermissionDenied => Err(error),
            _ => Ok(()),
        }
    }

    /// Writes and flushes a file in `incoming/`.
    fn write(&self, bytes: &[u8]) -> io::Result<Incoming> {
        let number = NEXT_FILE.fetch_add(1, Ordering::Relaxed);
        let path = self.incoming.join(format!("{}-{number}", std::process::id()));
        let mut file = private::create_new(&path)?;
        let incoming = Incoming { path };
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(incoming)
    }

    /// Locks the key of an object while its file is moved. The file is written and flushed before that.
    fn latch(&self, path: &Path) -> MutexGuard<'_, ()> {
        let name = path.as_os_str().as_encoded_bytes();
        let sum = name.iter().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(*byte)));
        self.latches[sum % LATCHES].lock()
    }

    /// Creates the folders above an object, and flushes each new entry.
    fn make_parents(&self, path: &Path) -> io::Result<()> {
        let parent = parent(path);
        if parent.is_dir() || !parent.starts_with(&self.objects) {
            return Ok(());
        }
        self.make_parents(parent)?;
        match private::create_dir(parent) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => flush_folder(self::parent(parent)),
        }
    }
}

/// A complete file that has not been moved to its place; deleted on drop.
struct Incoming {
    path: PathBuf,
}

impl Incoming {
    /// Moves the file to its place and replaces an existing one; with `seen`, only if the object has this tag. Returns
    /// true if the file was moved. No process can change the object between the comparison and the move.
    fn replace(&self, path: &Path, inner: &Directories, seen: Option<&Tag>) -> io::Result<bool> {
        if seen.is_none() {
            inner.make_parents(path)?;
        }
        let gate = gate(&inner.objects, if seen.is_some() { File::lock } else { File::lock_shared })?;
        if seen.is_some() && current_tag(path)?.as_ref() != seen {
            return Ok(false);
        }
        fs::rename(&self.path, path)?;
        drop(gate);
        flush_folder(parent(path))?;
        Ok(true)
    }

    /// Moves the file to its place if there is no object; returns true if the file was moved.
    fn link(&self, path: &Path, inner: &Directories) -> io::Result<bool> {
        inner.make_parents(path)?;
        match fs::hard_link(&self.path, path) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return if path.is_dir() { Err(ErrorKind::IsADirectory.into()) } else { Ok(false) };
            }
            // The file system has no hard links; the exclusive gate excludes other writers.
            Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::PermissionDenied) => {
                let _gate = gate(&inner.objects, File::lock)?;
                if exists(path)? {
                    return Ok(false);
                }
                fs::rename(&self.path, path)?;
            }
            Err(error) => return Err(error),
        }
        flush_folder(parent(path))?;
        Ok(true)
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        // A renamed file is gone already; the next start deletes a file that cannot be deleted now.
        let _ = fs::remove_file(&self.path);
    }
}

fn read(path: &Path) -> io::Result<Option<Blob>> {
    let Some((file, data)) = open(path)? else { return Ok(None) };
    let bytes = content(file, data.len())?;
    Ok(Some(Blob { tag: tag(&data, &bytes)?, bytes }))
}

fn read_range(path: &Path, key: &str, offset: u64, length: u64) -> Result<Bytes, FolderError> {
    let (mut file, data) = open(path)?.ok_or_else(|| PortError::NotFound(format!("the object {key}")))?;
    let size = data.len();
    let inside = offset.checked_add(length).is_some_and(|end| end <= size);
    let (true, Ok(length)) = (inside, usize::try_from(length)) else {
        let why = format!("it has {size} bytes, but {length} from byte {offset} were asked for");
        return Err(corrupt(format!("the object {key}"), why).into());
    };
    let mut bytes = vec![0; length];
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes.into())
}

/// Opens a file and reads its metadata; returns `None` if there is no object.
fn open(path: &Path) -> io::Result<Option<(File, Metadata)>> {
    let file = match File::open(path) {
        Err(error) if is_absent(&error) => return Ok(None),
        file => file?,
    };
    let data = file.metadata()?;
    // A folder is part of the keys of other objects, not an object.
    Ok(data.is_file().then_some((file, data)))
}

fn content(mut file: File, length: u64) -> io::Result<Bytes> {
    if length >= MAP_FROM {
        // SAFETY: an object's file is never modified or truncated once it is in its place. It is only replaced by a
        // rename or removed, and the map keeps the old file. Only this program writes in the store's folder.
        #[allow(unsafe_code)]
        let map = unsafe { memmap2::Mmap::map(&file)? };
        return Ok(Bytes::from_owner(map));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.read_to_end(&mut bytes)?;
    Ok(bytes.into())
}

/// Returns the tag of the current object.
fn current_tag(path: &Path) -> io::Result<Option<Tag>> {
    Ok(read(path)?.map(|blob| blob.tag))
}

/// Returns the tag of an object. A small object is hashed in full. For a large one the hash is over the file's metadata
/// and samples of the content, since reading all of it would defeat the purpose of the map.
fn tag(data: &Metadata, bytes: &[u8]) -> io::Result<Tag> {
    let mut hash = Sha256::new();
    if data.len() < MAP_FROM {
        hash.update(bytes);
    } else {
        let changed = data.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        hash.update(data.len().to_be_bytes());
        hash.update(changed.as_nanos().to_be_bytes());
        hash.update(data.ino().to_be_bytes());
        hash.update(&bytes[..SAMPLE.min(bytes.len())]);
        hash.update(&bytes[bytes.len().saturating_sub(SAMPLE)..]);
    }
    Ok(Tag(curlew_model::hex(&hash.finalize()[..TAG_BYTES])))
}

fn exists(path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Err(error) if is_absent(&error) => Ok(false),
        data => Ok(data?.is_file()),
    }
}

/// True if the error means that there is no object: no file, a folder in place of the file, or a file in place of a
/// folder.
fn is_absent(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound || is_misplaced(error)
}

fn is_misplaced(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotADirectory | ErrorKind::IsADirectory)
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// Locks the folder `objects` with `lock`, after waiting for conflicting locks, until the returned file is closed. A
/// shared lock keeps backups from freezing the objects ([`shut`]); an exclusive lock also excludes all other
/// replacements and deletions.
fn gate(objects: &Path, lock: fn(&File) -> io::Result<()>) -> io::Result<Option<File>> {
    let folder = File::open(objects)?;
    match lock(&folder) {
        // A file system without locks has no backups either, since `shut` fails on it.
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        locked => locked.map(|()| Some(folder)),
    }
}

/// Keeps all processes from replacing and deleting objects until the returned file is closed. New objects may be added.
pub(crate) fn shut(objects: &Path) -> io::Result<File> {
    let folder = File::open(objects)?;
    folder.lock()?;
    Ok(folder)
}
