//! Bytes of a split that is read by ranges. A read of missing bytes fails and records which bytes are wanted.
//!
//! The caller runs a search; if that fails and some bytes [are wanted](Cold::wanted), it fetches those ranges,
//! [supplies](Cold::supply) them and runs the search again. Each chunk is checked when it arrives.

use crate::error::{Result, SearchError};
use bytes::Bytes;
use lru::LruCache;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::io;
use std::ops::Range;

/// Size of a chunk in bytes; chunks are checked, kept and dropped as a whole.
pub const CHUNK_BYTES: u64 = 64 * 1024;
const SUM_BYTES: usize = 8;
/// Maximum gap in bytes between ranges that are always joined, since another request would take longer.
const NEAR_BYTES: u64 = 256 * 1024;
/// Number of reads at which joining stops, unless gaps within [`FAR_BYTES`] can reduce it.
const READS: usize = 3;
/// Maximum gap in bytes that is read to save a request; ranges further apart are read separately.
const FAR_BYTES: u64 = 4 * 1024 * 1024;

/// Returns the checksums of all chunks of a split's files, concatenated.
pub(crate) fn sums(files: &[u8]) -> Vec<u8> {
    files.chunks(CHUNK_BYTES as usize).flat_map(sum).collect()
}

fn sum(chunk: &[u8]) -> [u8; SUM_BYTES] {
    let hash = Sha256::digest(chunk);
    std::array::from_fn(|at| hash[at])
}

pub(crate) struct Cold {
    /// Ranges that every search needs, sorted.
    hot: Vec<(Range<u64>, Bytes)>,
    sums: Bytes,
    /// Total length of all files in bytes.
    length: u64,
    state: Mutex<State>,
}

struct State {
    /// Chunks by number; [`Cold::trim`] bounds them.
    chunks: LruCache<u64, Bytes>,
    wanted: BTreeSet<u64>,
}

impl Cold {
    pub(crate) fn new(hot: Vec<(Range<u64>, Bytes)>, sums: Bytes, length: u64) -> Cold {
        let state = State { chunks: LruCache::unbounded(), wanted: BTreeSet::new() };
        Cold { hot, sums, length, state: Mutex::new(state) }
    }

    /// Reads a range of the files. Missing chunks become wanted, and the read fails with [`io::ErrorKind::WouldBlock`].
    pub(crate) fn read(&self, range: &Range<u64>) -> io::Result<Vec<u8>> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        if range.end > self.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let at = self.hot.partition_point(|(hot, _)| hot.start <= range.start);
        if let Some((hot, bytes)) =
            at.checked_sub(1).and_then(|at| self.hot.get(at)).filter(|(hot, _)| range.end <= hot.end)
        {
            return Ok(bytes[part(range, hot)].to_vec());
        }
        let mut state = self.state.lock();
        let numbers = range.start / CHUNK_BYTES..=(range.end - 1) / CHUNK_BYTES;
        let missing: Vec<u64> = numbers.clone().filter(|number| !state.chunks.contains(number)).collect();
        if !missing.is_empty() {
            state.wanted.extend(missing);
            return Err(io::Error::new(io::ErrorKind::WouldBlock, "a part of the split is not here yet"));
        }
        let mut bytes = Vec::with_capacity((range.end - range.start) as usize);
        for number in numbers {
            let chunk = self.chunk(number);
            let wanted = range.start.max(chunk.start)..range.end.min(chunk.end);
            if let Some(there) = state.chunks.get(&number) {
                bytes.extend_from_slice(&there[part(&wanted, &chunk)]);
            }
        }
        Ok(bytes)
    }

    /// Returns the missing chunks that reads have asked for, in order, and forgets them.
    pub(crate) fn wanted(&self) -> Vec<Range<u64>> {
        let wanted = std::mem::take(&mut self.state.lock().wanted);
        wanted.into_iter().map(|number| self.chunk(number)).collect()
    }

    /// Accepts bytes that begin at a chunk; incomplete chunks are ignored.
    pub(crate) fn supply(&self, at: u64, bytes: &Bytes) -> Result<()> {
        let mut state = self.state.lock();
        let mut number = at.div_ceil(CHUNK_BYTES);
        loop {
            let chunk = self.chunk(number);
            let end = chunk.end.saturating_sub(at);
            if chunk.is_empty() || end > bytes.len() as u64 {
                return Ok(());
            }
            let chunk = bytes.slice((chunk.start - at) as usize..end as usize);
            let from = number as usize * SUM_BYTES;
            if self.sums.get(from..from + SUM_BYTES) != Some(&sum(&chunk)) {
                return Err(SearchError::damaged_split("a part of it has another checksum"));
            }
            state.chunks.put(number, chunk);
            number += 1;
        }
    }

    /// Returns the number of bytes kept in addition to the hot ranges.
    pub(crate) fn kept(&self) -> u64 {
        self.state.lock().kept()
    }

    /// Drops the least recently read chunks until at most `most` bytes are kept.
    pub(crate) fn trim(&self, most: u64) {
        let mut state = self.state.lock();
        let mut kept = state.kept();
        while kept > most
            && let Some((_, chunk)) = state.chunks.pop_lru()
        {
            kept -= chunk.len() as u64;
        }
    }

    fn chunk(&self, number: u64) -> Range<u64> {
        let from = number.saturating_mul(CHUNK_BYTES).min(self.length);
        from..(from + CHUNK_BYTES).min(self.length)
    }
}

impl State {
    fn kept(&self) -> u64 {
        self.chunks.iter().map(|(_, chunk)| chunk.len() as u64).sum()
    }
}

/// Translates a range into one relative to the start of `of`, which contains it.
fn part(range: &Range<u64>, of: &Range<u64>) -> Range<usize> {
    (range.start - of.start) as usize..(range.end - of.start) as usize
}

/// Joins sorted ranges into as few reads as are worthwhile; also reads gaps where that saves a request.
pub fn joined(ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    let mut joined: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut().filter(|last| range.start - last.end <= NEAR_BYTES) {
            Some(last) => last.end = range.end,
            None => joined.push(range),
        }
    }
    while joined.len() > READS {
        let gap = |at: usize| joined[at + 1].start - joined[at].end;
        let Some(least) = (0..joined.len() - 1).min_by_key(|at| gap(*at)).filter(|at| gap(*at) <= FAR_BYTES) else {
            break;
        };
        joined[least].end = joined[least + 1].end;
        joined.remove(least + 1);
    }
    joined
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    #![allow(clippy::single_range_in_vec_init, reason = "one range is what is wanted")]
    use super::*;

    const MB: u64 = 1024 * 1024;

    fn cold(bytes: &[u8]) -> Cold {
        Cold::new(vec![(10..20, Bytes::copy_from_slice(&bytes[10..20]))], sums(bytes).into(), bytes.len() as u64)
    }

    #[test]
    fn what_is_missing_is_wanted_supplied_and_given_up() {
        let bytes: Vec<u8> = (0..3 * CHUNK_BYTES + 5).map(|n| (n % 251) as u8).collect();
        let cold = cold(&bytes);
        assert_eq!(cold.read(&(12..18)).unwrap(), bytes[12..18]);
        assert!(cold.wanted().is_empty());
        let range = CHUNK_BYTES - 2..CHUNK_BYTES + 3;
        assert_eq!(cold.read(&range).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert_eq!(cold.wanted(), [0..CHUNK_BYTES, CHUNK_BYTES..2 * CHUNK_BYTES]);
        assert!(cold.wanted().is_empty(), "once");
        cold.supply(0, &Bytes::copy_from_slice(&bytes[..2 * CHUNK_BYTES as usize + 7])).unwrap();
        assert_eq!(cold.read(&range).unwrap(), bytes[CHUNK_BYTES as usize - 2..CHUNK_BYTES as usize + 3]);
        assert_eq!(cold.kept(), 2 * CHUNK_BYTES, "a chunk that is cut short is none");
        let last = bytes.len() as u64 - 1;
        assert!(cold.read(&(last..last + 1)).is_err() && cold.wanted() == [3 * CHUNK_BYTES..last + 1]);
        cold.supply(3 * CHUNK_BYTES, &Bytes::copy_from_slice(&bytes[3 * CHUNK_BYTES as usize..])).unwrap();
        assert_eq!(cold.read(&(last..last + 1)).unwrap(), [bytes[last as usize]]);
        assert!(cold.read(&(last..last + 2)).is_err() && cold.wanted().is_empty());
        cold.trim(CHUNK_BYTES);
        assert!(cold.kept() <= CHUNK_BYTES && cold.read(&(last..last + 1)).is_ok(), "the last one read stays");

        let mut wrong = bytes.clone();
        wrong[3] ^= 1;
        assert!(cold.supply(0, &wrong.into()).is_err());
    }

    #[test]
    fn few_reads_fetch_what_lies_near() {
        let spread = |step: u64| (0..10).map(|n| n * step..n * step + CHUNK_BYTES).collect::<Vec<_>>();
        assert_eq!(joined(spread(CHUNK_BYTES)), [0..10 * CHUNK_BYTES]);
        assert_eq!(joined(spread(3 * MB)).len(), READS);
        assert_eq!(joined(spread(9 * MB)).len(), 10, "what lies far apart is not worth what lies between");
        assert!(joined(vec![]).is_empty());
    }
}
