//! In-memory objects.

use super::lock;
use async_trait::async_trait;
use bytes::Bytes;
use curlew_ports::{Blob, Blobs, PortError, Tag};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Mutex;

const MAX_KEY: usize = 512;

/// In-memory [`Blobs`].
#[derive(Debug, Default)]
pub struct MemoryBlobs {
    state: Mutex<BlobsState>,
}

#[derive(Debug, Default)]
struct BlobsState {
    /// Number of writes; it is the tag of the last one.
    writes: u64,
    objects: BTreeMap<String, Blob>,
}

impl BlobsState {
    fn put(&mut self, key: &str, bytes: Bytes) -> Tag {
        self.writes += 1;
        let tag = Tag(self.writes.to_string());
        self.objects.insert(key.to_owned(), Blob { bytes, tag: tag.clone() });
        tag
    }
}

fn check(key: &str) -> Result<(), PortError> {
    let is_part = |part: &str| {
        !matches!(part, "" | "." | "..") && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
    };
    if key.len() <= MAX_KEY && key.split('/').all(is_part) {
        return Ok(());
    }
    let given: String = key.chars().take(80).collect();
    Err(PortError::Corrupt { what: format!("the key {given:?}"), why: "it is not a key of an object".into() })
}

#[async_trait]
impl Blobs for MemoryBlobs {
    async fn get(&self, key: &str) -> Result<Option<Blob>, PortError> {
        check(key)?;
        Ok(lock(&self.state).objects.get(key).cloned())
    }

    async fn get_range(&self, key: &str, offset: u64, length: u64) -> Result<Bytes, PortError> {
        let Some(blob) = self.get(key).await? else {
            return Err(PortError::NotFound(format!("the object {key}")));
        };
        let from = usize::try_from(offset).ok();
        let to = offset.checked_add(length).and_then(|end| usize::try_from(end).ok());
        match (from, to) {
            (Some(from), Some(to)) if to <= blob.bytes.len() => Ok(blob.bytes.slice(from..to)),
            _ => Err(PortError::Corrupt {
                what: format!("the object {key}"),
                why: format!("{length} bytes from byte {offset} were asked for, but it has {}", blob.bytes.len()),
            }),
        }
    }

    async fn put(&self, key: &str, bytes: Bytes) -> Result<(), PortError> {
        check(key)?;
        lock(&self.state).put(key, bytes);
        Ok(())
    }

    async fn put_if_absent(&self, key: &str, bytes: Bytes) -> Result<bool, PortError> {
        check(key)?;
        let mut state = lock(&self.state);
        let absent = !state.objects.contains_key(key);
        if absent {
            state.put(key, bytes);
        }
        Ok(absent)
    }

    async fn swap(&self, key: &str, seen: Option<&Tag>, bytes: Bytes) -> Result<Tag, PortError> {
        check(key)?;
        let mut state = lock(&self.state);
        if state.objects.get(key).map(|blob| &blob.tag) != seen {
            return Err(PortError::Conflict);
        }
        Ok(state.put(key, bytes))
    }

    async fn delete(&self, key: &str) -> Result<(), PortError> {
        check(key)?;
        lock(&self.state).objects.remove(key);
        Ok(())
    }

    async fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<String>, PortError> {
        let from = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        let state = lock(&self.state);
        let keys = state.objects.range::<str, _>((from, Bound::Unbounded)).map(|(key, _)| key);
        Ok(keys.take_while(|key| key.starts_with(prefix)).take(limit).cloned().collect())
    }
}
