//! A range cache in a folder: a function's `/tmp` lives as long as its instance, and holds more than its memory can.
#![allow(clippy::disallowed_methods, reason = "it keeps files, in a folder of its own")]

use async_trait::async_trait;
use bytes::Bytes;
use curlew_ports::RangeCache;
use lru::LruCache;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use std::{fs, io};

/// Maximum size of the cache in bytes: half of a function's `/tmp` of 512 MB.
pub(crate) const RANGE_CACHE_BYTES: u64 = 256 * 1024 * 1024;
/// Divisor of the cache size that gives the space to free when the cache is full.
const PARTS: u64 = 8;
/// Prefix of the names of unfinished files.
const UNFINISHED: &str = "unfinished-";
/// Replaces the slash of a key in file names; keys never contain it.
const SLASH: &str = "+";

/// Cached ranges, as the most recently used files of one folder. A file gets its final name when it is complete, and is
/// ignored if its length is wrong.
pub(crate) struct FolderRangeCache(Arc<Mutex<Folder>>);

struct Folder {
    path: PathBuf,
    /// Maximum total size of the files, in bytes.
    most: u64,
    /// `None` until the folder has been listed.
    files: Option<Files>,
    /// True if a warning about a failed write was already logged.
    told: bool,
}

struct Files {
    /// Length of each file in bytes, by name.
    known: LruCache<String, u64>,
    bytes: u64,
}

impl FolderRangeCache {
    /// Opens a cache of at most `most` bytes in this folder, which is created if it is missing. Files of earlier
    /// processes count.
    pub(crate) fn new(path: PathBuf, most: u64) -> FolderRangeCache {
        FolderRangeCache(Arc::new(Mutex::new(Folder { path, most, files: None, told: false })))
    }

    /// Runs `work` on a thread that may block; returns `None` if it panics.
    async fn with<T: Send + 'static>(&self, work: impl FnOnce(&mut Folder) -> T + Send + 'static) -> Option<T> {
        let folder = self.0.clone();
        let work = move || work(&mut folder.lock().unwrap_or_else(PoisonError::into_inner));
        tokio::task::spawn_blocking(work).await.ok()
    }
}

#[async_trait]
impl RangeCache for FolderRangeCache {
    async fn get(&self, key: &str, places: &[Range<u64>]) -> Vec<Option<Bytes>> {
        let names: Vec<(String, u64)> = places.iter().map(|place| named(key, place)).collect();
        let found = self.with(move |folder| names.iter().map(|(name, length)| folder.get(name, *length)).collect());
        found.await.unwrap_or_else(|| vec![None; places.len()])
    }

    async fn put(&self, key: &str, pieces: Vec<(u64, Bytes)>) {
        let named = |(at, bytes): (u64, Bytes)| (named(key, &(at..at + bytes.len() as u64)).0, bytes);
        let pieces: Vec<(String, Bytes)> = pieces.into_iter().map(named).collect();
        self.with(move |folder| {
            for (name, bytes) in pieces {
                if let Err(error) = folder.put(name, &bytes) {
                    return folder.tell(&error);
                }
            }
        })
        .await;
    }

    async fn keep_only(&self, keys: &[&str]) {
        let keys: Vec<String> = keys.iter().map(|key| key.replace('/', SLASH)).collect();
        self.with(move |folder| {
            let is_other =
                |name: &&String| name.rsplit_once(SLASH).is_none_or(|(key, _)| keys.iter().all(|k| k != key));
            let others: Vec<String> =
                folder.files().known.iter().map(|(name, _)| name).filter(is_other).cloned().collect();
            others.iter().for_each(|name| folder.give_up(name));
        })
        .await;
    }
}

/// Returns the name of a range's file, and its length.
fn named(key: &str, place: &Range<u64>) -> (String, u64) {
    let length = place.end.saturating_sub(place.start);
    (format!("{}{SLASH}{:x}-{length:x}", key.replace('/', SLASH), place.start), length)
}

impl Folder {
    fn files(&mut self) -> &mut Files {
        let path = &self.path;
        self.files.get_or_insert_with(|| found(path))
    }

    fn get(&mut self, name: &str, length: u64) -> Option<Bytes> {
        self.files().known.get(name)?;
        let bytes = fs::read(self.path.join(name)).ok().filter(|bytes| bytes.len() as u64 == length);
        if bytes.is_none() {
            self.give_up(name);
        }
        bytes.map(Bytes::from)
    }

    fn put(&mut self, name: String, bytes: &[u8]) -> io::Result<()> {
        let length = bytes.len() as u64;
        self.give_up(&name);
        if length > self.most {
            return Ok(());
        }
        if self.files().bytes + length > self.most {
            self.make_room(self.most - (self.most / PARTS).max(length).min(self.most));
        }
        fs::create_dir_all(&self.path)?;
        let unfinished = self.path.join(format!("{UNFINISHED}{}", std::process::id()));
        let written = fs::write(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, self.path.join(&name)));
        if let Err(error) = written {
            // If this fails too, the next process deletes the file.
            let _ = fs::remove_file(&unfinished);
            return Err(error);
        }
        let files = self.files();
        files.bytes += length;
        files.known.put(name, length);
        Ok(())
    }

    /// Deletes the least recently used files until at most `most` bytes are left.
    fn make_room(&mut self, most: u64) {
        while self.files().bytes > most
            && let Some(name) = self.files().known.peek_lru().map(|(name, _)| name.clone())
        {
            self.give_up(&name);
        }
    }

    fn give_up(&mut self, name: &str) {
        let files = self.files();
        if let Some(length) = files.known.pop(name) {
            files.bytes -= length;
            // If a file cannot be deleted, the next process counts it; its content stays valid.
            let _ = fs::remove_file(self.path.join(name));
        }
    }

    /// Logs once why nothing can be cached; searching works without the cache.
    fn tell(&mut self, error: &io::Error) {
        if !std::mem::replace(&mut self.told, true) {
            tracing::warn!(
                folder = %self.path.display(),
                %error,
                "what is read of the index cannot be kept on local disk"
            );
        }
    }
}

/// Lists the files of earlier processes, with the latest as the most recently used.
fn found(path: &Path) -> Files {
    let mut there: Vec<(SystemTime, String, u64)> = Vec::new();
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.starts_with(UNFINISHED) {
            // An unfinished file that cannot be deleted does no harm.
            let _ = fs::remove_file(entry.path());
        } else if let Ok(data) = entry.metadata() {
            there.push((data.modified().unwrap_or(SystemTime::UNIX_EPOCH), name, data.len()));
        }
    }
    there.sort_unstable();
    let mut files = Files { known: LruCache::unbounded(), bytes: 0 };
    for (_, name, length) in there {
        files.bytes += length;
        files.known.put(name, length);
    }
    files
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    #![allow(clippy::single_range_in_vec_init, reason = "one range is what is wanted")]
    use super::*;
    use curlew_testkit::conformance;
    use curlew_testkit::conformance::Fresh;

    fn fresh() -> Fresh<Arc<dyn RangeCache>> {
        let dir = tempfile::tempdir().unwrap();
        let cache = FolderRangeCache::new(dir.path().join("ranges"), RANGE_CACHE_BYTES);
        Fresh::with(Arc::new(cache) as Arc<dyn RangeCache>, dir)
    }

    conformance!(range_cache, fresh());

    const KEY: &str = "splits/2026/one.split";

    fn piece(at: u64) -> (u64, Bytes) {
        (at, Bytes::from(vec![at as u8; 100]))
    }

    async fn there(cache: &FolderRangeCache) -> Vec<u64> {
        let places: Vec<Range<u64>> = (0..20).map(|at| at..at + 100).collect();
        let found = cache.get(KEY, &places).await;
        (0..20).zip(found).filter_map(|(at, bytes)| bytes.map(|bytes| (at, bytes))).map(assert_whole).collect()
    }

    fn assert_whole((at, bytes): (u64, Bytes)) -> u64 {
        assert_eq!((at, bytes), piece(at));
        at
    }

    fn bytes_in(folder: &Path) -> u64 {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
    }

    #[tokio::test]
    async fn what_was_used_the_longest_ago_makes_room() {
        let dir = tempfile::tempdir().unwrap();
        let cache = FolderRangeCache::new(dir.path().to_owned(), 1_000);
        for at in 0..10 {
            cache.put(KEY, vec![piece(at)]).await;
        }
        cache.get(KEY, &[0..100]).await;
        cache.put(KEY, vec![piece(10), piece(11)]).await;
        assert_eq!(there(&cache).await, [0, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        for at in 0..20 {
            cache.put(KEY, vec![piece(at)]).await;
            assert!(bytes_in(dir.path()) <= 1_000);
        }
        cache.put(KEY, vec![(0, vec![0; 1_001].into())]).await;
        assert_eq!(cache.get(KEY, &[0..1_001]).await, [None], "larger than the cache");
    }

    #[tokio::test]
    async fn what_another_process_has_left_is_used_counted_and_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let cache = FolderRangeCache::new(dir.path().to_owned(), 1_000);
        cache.put(KEY, (0..10).map(piece).collect()).await;
        drop(cache);
        // A process was killed while it wrote one file, and a machine crashed while it wrote another.
        fs::write(dir.path().join(format!("{UNFINISHED}77")), [0; 500]).unwrap();
        fs::write(dir.path().join(named(KEY, &(3..103)).0), [3; 99]).unwrap();
        let cache = FolderRangeCache::new(dir.path().to_owned(), 1_000);
        assert_eq!(there(&cache).await, [0, 1, 2, 4, 5, 6, 7, 8, 9]);
        cache.put(KEY, vec![piece(3), piece(12), piece(13)]).await;
        assert!(bytes_in(dir.path()) <= 1_000);
        assert!(there(&cache).await.ends_with(&[12, 13]));
    }

    #[tokio::test]
    async fn where_nothing_can_be_written_nothing_is_kept_and_nothing_fails() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "no folder").unwrap();
        let cache = FolderRangeCache::new(file.join("ranges"), 1_000);
        cache.put(KEY, vec![piece(1), piece(2)]).await;
        assert_eq!(there(&cache).await, [0; 0]);
        cache.keep_only(&[]).await;
        // This name is too long for the file system.
        let cache = FolderRangeCache::new(dir.path().join("ranges"), 1_000);
        let long = format!("splits/{}", "x".repeat(400));
        cache.put(&long, vec![piece(1)]).await;
        assert_eq!(cache.get(&long, &[1..101]).await, [None]);
        // Another process deletes the folder.
        cache.put(KEY, vec![piece(1)]).await;
        fs::remove_dir_all(dir.path().join("ranges")).unwrap();
        assert_eq!(there(&cache).await, [0; 0]);
        cache.put(KEY, vec![piece(2)]).await;
        assert_eq!(there(&cache).await, [2]);
    }
}
