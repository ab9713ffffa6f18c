//! Store of the operator's signing keys: a file on one machine, or an object of a stack.

use async_trait::async_trait;
use curlew_crawl::politeness::signing::KeySource;
use curlew_ports::{Blobs, PortError, Tag};
use curlew_signature::keys::{KeyError, KeyRing, MAX_BYTES};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const FILE: &str = "keys.json";
/// Key of a stack's object, which only the functions that call sites may read.
const OBJECT: &str = "keys/http-signatures.json";
/// Mode of the file: only its owner may read and write it.
const MODE: u32 = 0o600;
/// Permission bits of the group and of others.
const OTHERS: u32 = 0o077;

/// Store of the operator's signing keys.
#[derive(Clone)]
pub enum KeyStore {
    /// A file that only its owner may access.
    File(PathBuf),
    /// An object store, which encrypts the keys at rest.
    Objects(Arc<dyn Blobs>),
}

/// Version of the keys that were read, so that an object store does not overwrite newer keys of another process.
pub struct KeyVersion(Option<Tag>);

impl KeyStore {
    /// Returns the key store in the folder of an embedded store.
    pub fn in_folder(data: &Path) -> KeyStore {
        KeyStore::File(data.join(FILE))
    }

    /// Returns the file path or the object key, for messages to people.
    pub fn place(&self) -> String {
        match self {
            KeyStore::File(path) => path.display().to_string(),
            KeyStore::Objects(_) => OBJECT.to_owned(),
        }
    }

    /// Reads the keys, if there are any. Fails with [`PortError::Corrupt`] if others may access the file.
    pub async fn read(&self) -> Result<Option<(KeyRing, KeyVersion)>, PortError> {
        let (bytes, tag) = match self {
            KeyStore::File(path) => (read_private(path)?, None),
            KeyStore::Objects(blobs) => match blobs.get(OBJECT).await? {
                Some(blob) => (Some(blob.bytes.to_vec()), Some(blob.tag)),
                None => (None, None),
            },
        };
        let corrupt = |e: KeyError| PortError::Corrupt { what: self.place(), why: e.to_string() };
        bytes.map(|bytes| Ok((KeyRing::read(&bytes).map_err(corrupt)?, KeyVersion(tag)))).transpose()
    }

    /// Writes the first keys; returns false if there are keys already.
    pub async fn create(&self, ring: &KeyRing) -> Result<bool, PortError> {
        match self {
            KeyStore::File(path) => write_private(path, &ring.write(), |new, path| match fs::hard_link(new, path) {
                Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(false),
                linked => linked.map(|()| true),
            }),
            KeyStore::Objects(blobs) => blobs.put_if_absent(OBJECT, ring.write().into()).await,
        }
    }

    /// Replaces the keys that were read; an object store fails with [`PortError::Conflict`] if they have changed since.
    pub async fn replace(&self, seen: &KeyVersion, ring: &KeyRing) -> Result<(), PortError> {
        match self {
            KeyStore::File(path) => {
                write_private(path, &ring.write(), |new, path| fs::rename(new, path).map(|()| true)).map(drop)
            }
            KeyStore::Objects(blobs) => blobs.swap(OBJECT, seen.0.as_ref(), ring.write().into()).await.map(drop),
        }
    }
}

#[async_trait]
impl KeySource for KeyStore {
    async fn load(&self) -> Result<Option<KeyRing>, PortError> {
        Ok(self.read().await?.map(|(ring, _)| ring))
    }
}

/// Returns the bytes of a file if it exists; fails if others than its owner may access it.
fn read_private(path: &Path) -> Result<Option<Vec<u8>>, PortError> {
    let what = path.display().to_string();
    let failed = |e: io::Error| PortError::unavailable(format!("{what} cannot be read"), e);
    let file = match File::open(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(failed)?,
    };
    let mode = file.metadata().map_err(failed)?.permissions().mode();
    if mode & OTHERS != 0 {
        let why = format!("others may read it (mode {:04o}): run `chmod 600 {what}`, or make new keys", mode & 0o7777);
        return Err(PortError::Corrupt { what, why });
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some(bytes))
}

/// Writes a private file next to `path`, and calls `put` to move or link it to `path` as a whole.
fn write_private(
    path: &Path,
    bytes: &[u8],
    put: impl FnOnce(&Path, &Path) -> io::Result<bool>,
) -> Result<bool, PortError> {
    let new = path.with_extension("json.new");
    let write = || -> io::Result<bool> {
        // A file left behind by a killed process can be overwritten: nobody uses it.
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(MODE).open(&new)?;
        file.set_permissions(fs::Permissions::from_mode(MODE))?;
        file.write_all(bytes)?;
        file.sync_all()?;
        let done = put(&new, path)?;
        fs::remove_file(&new).or_else(|e| if e.kind() == ErrorKind::NotFound { Ok(()) } else { Err(e) })?;
        if let Some(folder) = path.parent() {
            File::open(folder)?.sync_all()?;
        }
        Ok(done)
    };
    write().map_err(|e| PortError::unavailable(format!("{} cannot be written", path.display()), e))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use curlew_model::Timestamp;
    use curlew_testkit::memory::MemoryBlobs;

    #[tokio::test]
    async fn i01_keys_are_written_once_and_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        for store in [KeyStore::in_folder(folder.path()), KeyStore::Objects(Arc::new(MemoryBlobs::default()))] {
            assert!(store.read().await.unwrap().is_none());
            let ring = KeyRing::new(&crate::random_secret().unwrap(), Timestamp::EPOCH);
            assert!(store.create(&ring).await.unwrap());
            assert!(!store.create(&KeyRing::new(&[1; 32], Timestamp::EPOCH)).await.unwrap(), "there is one");
            let (read, seen) = store.read().await.unwrap().unwrap();
            assert_eq!(read, ring);
            let rotated = ring.rotate(&[2; 32], Timestamp::EPOCH).unwrap();
            store.replace(&seen, &rotated).await.unwrap();
            assert_eq!(store.load().await.unwrap(), Some(rotated));
        }
        let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(files, [FILE]);
    }

    #[tokio::test]
    async fn i01_a_file_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (store, path) = (KeyStore::in_folder(folder.path()), folder.path().join(FILE));
        store.create(&KeyRing::new(&[1; 32], Timestamp::EPOCH)).await.unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, MODE);
        for mode in [0o644, 0o640, 0o602] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let error = store.load().await.unwrap_err();
            assert!(error.to_string().contains("chmod 600") && !error.is_transient(), "{error}");
        }
    }
}
