//! Measurements for monitoring: the size of a store, and since when jobs have been due.

use crate::store::Store;
use curlew_model::{QueueName, Timestamp};
use curlew_ports::PortError;
use rusqlite::{Connection, OptionalExtension};
use std::fs;
use std::path::PathBuf;

// The index returns the earliest row of a stage first.
pub(crate) const OLDEST: &str = "SELECT due FROM jobs WHERE stage = ?1 ORDER BY due LIMIT 1";
/// Maximum number of files and folders whose sizes are added.
const MOST_FILES: usize = 2_000_000;

/// Size of a store, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreSize {
    /// Size of the database with its write-ahead log.
    pub database: u64,
    /// Size of the objects; files and folders beyond the first two million are not counted.
    pub objects: u64,
}

impl Store {
    /// Returns the time since which the oldest ready job of a stage has been due. Jobs that are handed out do not
    /// count. A job that a crash interrupted has been due since the epoch.
    pub async fn due_since(&self, stage: QueueName, now: Timestamp) -> Result<Option<Timestamp>, PortError> {
        let oldest = move |c: &Connection| {
            Ok(c.prepare_cached(OLDEST)?.query_row([stage.as_str()], |row| row.get(0)).optional()?)
        };
        let oldest: Option<i64> = self.db().read("read the queues", oldest).await?;
        Ok(oldest.map(Timestamp::from_millis).filter(|due| *due <= now))
    }

    /// Adds up the sizes of the store's files. Reads the metadata of every file, so call it rarely.
    pub async fn size(&self) -> StoreSize {
        let [log, database, objects] = self.places();
        let sum = move || {
            let length = |path: PathBuf| fs::metadata(path).map_or(0, |file| file.len());
            StoreSize { database: length(database) + length(log), objects: size_of(objects) }
        };
        tokio::task::spawn_blocking(sum).await.unwrap_or_default()
    }
}

/// Adds up the sizes of all files below a folder. A file that vanishes meanwhile counts as nothing.
fn size_of(folder: PathBuf) -> u64 {
    let (mut folders, mut sum, mut seen) = (vec![folder], 0, 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST_FILES {
                return sum;
            }
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(entry.path()),
                Ok(found) => sum += found.len(),
                Err(_) => {}
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::Access;
    use curlew_ports::Blobs;

    #[tokio::test]
    async fn the_size_grows_with_the_objects() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::open(dir.path(), Access::Exclusive).expect("opens");
        let before = store.size().await;
        assert!(before.database > 0, "{before:?}");
        store.objects().put("some/where/deep.json", vec![7; 3_000].into()).await.expect("puts");
        assert_eq!(store.size().await.objects, before.objects + 3_000);
    }
}
