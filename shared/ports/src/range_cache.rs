use async_trait::async_trait;
use bytes::Bytes;
use std::ops::Range;

/// Caches pieces of immutable objects near their reader. A cache may drop anything at any time, so it returns no
/// errors, and it checks nothing: the caller verifies each piece.
#[async_trait]
pub trait RangeCache: Send + Sync {
    /// Returns the cached pieces of an object at these ranges, in bytes from its beginning; `None` for a piece that is
    /// missing or was put as several pieces.
    async fn get(&self, key: &str, places: &[Range<u64>]) -> Vec<Option<Bytes>>;

    /// Stores pieces of an object, each with its offset, and replaces pieces at the same offsets.
    async fn put(&self, key: &str, pieces: Vec<(u64, Bytes)>);

    /// Drops the pieces of all objects except these.
    async fn keep_only(&self, keys: &[&str]);
}
