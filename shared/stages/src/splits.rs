//! The splits that are open: read by ranges, opened by their tails, kept within bounds.

use crate::StageError;
use crate::index::search_error;
use bytes::Bytes;
use curlew_ports::{Blobs, PortError};
use curlew_search::{SearchError, Split, SplitEntry};
use futures::future::try_join_all;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So much of the end of a split is read to open it, in bytes: with small ones that is all there is.
const FIRST_READ: u64 = 256 * 1024;
/// Bytes that are kept of all splits together, besides what every search needs.
const KEPT_BYTES: u64 = 32 * 1024 * 1024;

/// A split that a manifest lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    key: String,
    bytes: u64,
    tail: u64,
}

impl Listed {
    pub(crate) fn of(entry: &SplitEntry) -> Listed {
        Listed { key: entry.key.clone(), bytes: entry.bytes, tail: entry.tail }
    }
}

/// An open split and where it lies.
#[derive(Clone)]
pub(crate) struct Opened {
    key: Arc<str>,
    pub(crate) split: Arc<Split>,
}

/// Splits that are open. They never change, so one that is open stays open for as long as a manifest lists it.
pub(crate) struct Splits {
    blobs: Arc<dyn Blobs>,
    open: Mutex<HashMap<String, Opened>>,
}

impl Splits {
    pub(crate) fn new(blobs: Arc<dyn Blobs>) -> Splits {
        Splits { blobs, open: Mutex::default() }
    }

    /// These splits and no others, in their order.
    pub(crate) async fn all(&self, listed: &[Listed]) -> Result<Vec<Opened>, StageError> {
        let known: Vec<Option<Opened>> = {
            let open = self.open();
            listed.iter().map(|split| open.get(&split.key).cloned()).collect()
        };
        let splits = listed.iter().zip(known).map(async |(listed, known)| match known {
            Some(split) => Ok(split),
            None => self.open_one(listed).await,
        });
        let splits = try_join_all(splits).await?;
        *self.open() = listed.iter().map(|split| split.key.clone()).zip(splits.iter().cloned()).collect();
        Ok(splits)
    }

    async fn open_one(&self, listed: &Listed) -> Result<Opened, StageError> {
        let Listed { key, bytes, tail } = listed;
        let mut length = FIRST_READ.max(*tail).min(*bytes);
        loop {
            let end: Bytes = self.blobs.get_range(key, bytes - length, length).await?;
            match Split::open_cold(end, *bytes) {
                Ok(split) => return Ok(Opened { key: key.as_str().into(), split: Arc::new(split) }),
                Err(SearchError::Short { need }) if length < need && need <= *bytes => length = need,
                Err(error) => return Err(search_error(error)),
            }
        }
    }

    /// Reads what has been asked for of some splits, all at once; says whether there was anything.
    pub(crate) async fn fetch(&self, splits: &[Opened]) -> Result<bool, StageError> {
        let wanted =
            splits.iter().flat_map(|opened| opened.split.wanted().into_iter().map(move |range| (opened, range)));
        let reads = wanted.map(async |(opened, range)| {
            let bytes = self.blobs.get_range(&opened.key, range.start, range.end - range.start).await?;
            opened.split.supply(range.start, &bytes).map_err(search_error)?;
            Ok::<(), StageError>(())
        });
        Ok(!try_join_all(reads).await?.is_empty())
    }

    /// Gives up what was read the longest ago, so that not more is kept than there is room for.
    pub(crate) fn trim(&self) {
        let open = self.open();
        let kept: u64 = open.values().map(|opened| opened.split.kept()).sum();
        if kept > KEPT_BYTES {
            let room = KEPT_BYTES / 2 / open.len().max(1) as u64;
            open.values().for_each(|opened| opened.split.trim(room));
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Opened>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What to say of a search that goes on asking for more.
pub(crate) fn endless() -> StageError {
    let why = "a search asks for more of the index again and again".to_owned();
    StageError::Port(PortError::Corrupt { what: "the index".into(), why })
}
