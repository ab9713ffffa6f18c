use crate::{PortError, Version};
use async_trait::async_trait;
use curlew_model::{Slot, Source, SourceKey};

/// The rows of feeds and of sites. A source's slot follows from the first 16 digits of its key ([`Slot::from_hash`]),
/// by which an adapter may find the row.
#[async_trait]
pub trait Sources: Send + Sync {
    /// Returns the row and its version.
    async fn get(&self, key: &SourceKey) -> Result<Option<(Source, Version)>, PortError>;

    /// Returns rows that together cost less, perhaps a second old; those left out have to be asked for alone.
    async fn get_together(&self, _keys: &[SourceKey]) -> Result<Vec<(Source, Version)>, PortError> {
        Ok(Vec::new())
    }

    /// Writes a row unless it exists; returns whether it was written.
    async fn insert(&self, source: &Source) -> Result<bool, PortError>;

    /// Replaces a row, whose slot never changes, if its version is still `seen`; otherwise [`PortError::Conflict`].
    async fn swap(&self, seen: Version, source: &Source) -> Result<Version, PortError>;

    /// Returns the rows of one slot in the order of their keys, after `after`, at most `limit`.
    async fn in_slot(&self, slot: Slot, after: Option<&SourceKey>, limit: usize) -> Result<Vec<Source>, PortError>;

    /// Returns all rows in an order that does not change, after the key `after`, at most `limit`.
    async fn list(&self, after: Option<&SourceKey>, limit: usize) -> Result<Vec<Source>, PortError>;
}
