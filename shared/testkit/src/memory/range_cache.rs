//! In-memory ranges of objects.

use super::lock;
use async_trait::async_trait;
use bytes::Bytes;
use curlew_ports::RangeCache;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

/// In-memory [`RangeCache`] without a size limit.
#[derive(Debug, Default)]
pub struct MemoryRangeCache {
    pieces: Mutex<BTreeMap<(String, u64), Bytes>>,
}

impl MemoryRangeCache {
    /// Returns the number of cached ranges.
    pub fn len(&self) -> usize {
        lock(&self.pieces).len()
    }

    /// Returns true if the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Changes the last byte of every cached range.
    pub fn damage(&self) {
        for piece in lock(&self.pieces).values_mut() {
            let mut bytes = piece.to_vec();
            bytes.iter_mut().last().into_iter().for_each(|byte| *byte ^= 1);
            *piece = bytes.into();
        }
    }
}

#[async_trait]
impl RangeCache for MemoryRangeCache {
    async fn get(&self, key: &str, places: &[Range<u64>]) -> Vec<Option<Bytes>> {
        let pieces = lock(&self.pieces);
        let piece = |place: &Range<u64>| pieces.get(&(key.to_owned(), place.start)).cloned();
        places.iter().map(|place| piece(place).filter(|p| p.len() as u64 == place.end - place.start)).collect()
    }

    async fn put(&self, key: &str, pieces: Vec<(u64, Bytes)>) {
        lock(&self.pieces).extend(pieces.into_iter().map(|(at, bytes)| ((key.to_owned(), at), bytes)));
    }

    async fn keep_only(&self, keys: &[&str]) {
        lock(&self.pieces).retain(|(key, _), _| keys.contains(&key.as_str()));
    }
}
