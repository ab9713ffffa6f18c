//! Open splits: read by ranges within a memory limit; a range cache may store what was read.

use crate::manifest::search_error;
use bytes::Bytes;
use curlew_ports::stage::{Result, StageError};
use curlew_ports::{Blobs, PortError, RangeCache};
use curlew_search::{CHUNK_BYTES, SearchError, Split, SplitEntry, joined};
use futures::future::try_join_all;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// Number of bytes at the end of a split that are read to open it. Small splits are read whole.
const FIRST_READ: u64 = 256 * 1024;
/// Maximum number of bytes that are kept of all splits together, in addition to the parts that every search needs.
const KEPT_BYTES: u64 = 32 * 1024 * 1024;

/// Maximum number of rounds of reading split data for one query.
pub(crate) const ROUNDS: u32 = 64;

#[derive(Clone)]
pub(crate) struct OpenSplit {
    key: Arc<str>,
    pub(crate) split: Arc<Split>,
}

/// The open splits. A split never changes, so it stays open for as long as a manifest lists it.
pub(crate) struct Splits {
    blobs: Arc<dyn Blobs>,
    cache: Option<Arc<dyn RangeCache>>,
    open: Mutex<HashMap<String, OpenSplit>>,
}

impl Splits {
    pub(crate) fn new(blobs: Arc<dyn Blobs>) -> Splits {
        Splits { blobs, cache: None, open: Mutex::default() }
    }

    pub(crate) fn with_range_cache(self, cache: Arc<dyn RangeCache>) -> Splits {
        Splits { cache: Some(cache), ..self }
    }

    /// Returns those of the listed splits that a query wants, in their order; closes splits that are not listed.
    pub(crate) async fn wanted(&self, listed: &[SplitEntry], wanted: &[usize]) -> Result<Vec<OpenSplit>> {
        let wanted: Vec<&SplitEntry> = wanted.iter().filter_map(|at| listed.get(*at)).collect();
        let known: Vec<Option<OpenSplit>> = {
            let open = self.open.lock();
            wanted.iter().map(|split| open.get(&split.key).cloned()).collect()
        };
        let are_new = known.iter().any(Option::is_none);
        let splits = wanted.iter().zip(known).map(async |(listed, known)| match known {
            Some(split) => Ok(split),
            None => self.open_one(listed).await,
        });
        let splits = try_join_all(splits).await?;
        let keys: HashSet<&str> = listed.iter().map(|split| split.key.as_str()).collect();
        let were_closed = {
            let mut open = self.open.lock();
            open.extend(wanted.iter().map(|split| split.key.clone()).zip(splits.iter().cloned()));
            let before = open.len();
            open.retain(|key, _| keys.contains(key.as_str()));
            open.len() < before
        };
        if let Some(cache) = self.cache.as_ref().filter(|_| are_new || were_closed) {
            cache.keep_only(&keys.into_iter().collect::<Vec<&str>>()).await;
        }
        Ok(splits)
    }

    async fn open_one(&self, listed: &SplitEntry) -> Result<OpenSplit> {
        let SplitEntry { key, bytes, tail, .. } = listed;
        let opened = |split| OpenSplit { key: key.as_str().into(), split: Arc::new(split) };
        let mut length = FIRST_READ.max(*tail).min(*bytes);
        loop {
            let place = bytes - length..*bytes;
            let near = self.near(key, std::slice::from_ref(&place)).await.pop().flatten();
            if let Some(split) = near.and_then(|end| Split::open_cold(end, *bytes).ok()) {
                return Ok(opened(split));
            }
            let end: Bytes = self.blobs.get_range(key, place.start, length).await?;
            match Split::open_cold(end.clone(), *bytes) {
                Ok(split) => {
                    self.keep_near(key, vec![(place.start, end)]).await;
                    return Ok(opened(split));
                }
                Err(SearchError::Short { need }) if length < need && need <= *bytes => length = need,
                Err(error) => return Err(search_error(error)),
            }
        }
    }

    /// Reads the wanted chunks of some splits concurrently; returns true if there were any.
    pub(crate) async fn fetch(&self, splits: &[OpenSplit]) -> Result<bool> {
        let wanted =
            splits.iter().map(|opened| (opened, opened.split.wanted())).filter(|(_, chunks)| !chunks.is_empty());
        let reads = wanted.map(async |(opened, chunks)| self.supply(opened, chunks).await);
        Ok(!try_join_all(reads).await?.is_empty())
    }

    async fn supply(&self, opened: &OpenSplit, chunks: Vec<Range<u64>>) -> Result<()> {
        let OpenSplit { key, split } = opened;
        let near = self.near(key, &chunks).await;
        // A damaged cached piece is treated as missing, and replaced.
        let is_here =
            |chunk: &Range<u64>, near: Option<Bytes>| near.is_some_and(|b| split.supply(chunk.start, &b).is_ok());
        let far = chunks.into_iter().zip(near).filter_map(|(chunk, near)| (!is_here(&chunk, near)).then_some(chunk));
        let reads = joined(far.collect()).into_iter().map(async |range| {
            let bytes = self.blobs.get_range(key, range.start, range.end - range.start).await?;
            split.supply(range.start, &bytes).map_err(search_error)?;
            Ok::<_, StageError>(in_chunks(range.start, bytes))
        });
        let read = try_join_all(reads).await?;
        self.keep_near(key, read.into_iter().flatten().collect()).await;
        Ok(())
    }

    async fn near(&self, key: &str, places: &[Range<u64>]) -> Vec<Option<Bytes>> {
        if let Some(cache) = &self.cache { cache.get(key, places).await } else { vec![None; places.len()] }
    }

    async fn keep_near(&self, key: &str, pieces: Vec<(u64, Bytes)>) {
        if let Some(cache) = self.cache.as_ref().filter(|_| !pieces.is_empty()) {
            cache.put(key, pieces).await;
        }
    }

    pub(crate) fn trim(&self) {
        let open = self.open.lock();
        let kept: u64 = open.values().map(|opened| opened.split.kept()).sum();
        if kept > KEPT_BYTES {
            let room = KEPT_BYTES / 2 / open.len().max(1) as u64;
            open.values().for_each(|opened| opened.split.trim(room));
        }
    }
}

fn in_chunks(at: u64, bytes: Bytes) -> Vec<(u64, Bytes)> {
    let length = bytes.len() as u64;
    let chunk = |from: u64| (at + from, bytes.slice(from as usize..(from + CHUNK_BYTES).min(length) as usize));
    (0..length).step_by(CHUNK_BYTES as usize).map(chunk).collect()
}

pub(crate) fn endless() -> StageError {
    let why = "a search kept asking for more of the index and was stopped".to_owned();
    StageError::Port(PortError::Corrupt { what: "the index".into(), why })
}
