use async_trait::async_trait;
use bytes::Bytes;
use std::ops::Range;

/// Pieces of objects that never change, kept near their reader. A range cache may drop anything at any time, so it has
/// no errors, and checks nothing: the caller verifies each piece.
#[async_trait]
pub trait RangeCache: Send + Sync {
    /// The pieces of an object at these places, in bytes from its beginning, as far as they are here. Only what was put
    /// as one piece is here as one.
    async fn get(&self, key: &str, places: &[Range<u64>]) -> Vec<Option<Bytes>>;

    /// Keeps pieces of an object, each with the place where it begins, instead of what was kept for the same places.
    async fn put(&self, key: &str, pieces: Vec<(u64, Bytes)>);

    /// Gives up the pieces of all objects but these.
    async fn keep_only(&self, keys: &[&str]);
}
