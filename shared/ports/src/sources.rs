use crate::{PortError, Version};
use async_trait::async_trait;
use curlew_model::{Slot, Source, SourceKey};

/// The rows of feeds and of sites. A source's slot follows from its key, by its first 16 digits as a number
/// ([`Slot::from_hash`]); an adapter may find the row by that alone, and refuse one that is elsewhere.
#[async_trait]
pub trait Sources: Send + Sync {
    /// The row and its version.
    ///
    /// # Errors
    /// Transport errors and unreadable rows.
    async fn get(&self, key: &SourceKey) -> Result<Option<(Source, Version)>, PortError>;

    /// Rows of these keys that together cost less than one by one; it may lag behind [`Sources::get`] by a second. A
    /// key that is left out has to be asked for alone: here, all of them.
    ///
    /// # Errors
    /// Transport errors and unreadable rows.
    async fn get_together(&self, _keys: &[SourceKey]) -> Result<Vec<(Source, Version)>, PortError> {
        Ok(Vec::new())
    }

    /// Writes a row that must not exist yet; says whether it was written.
    ///
    /// # Errors
    /// Transport errors. That the row exists is no error.
    async fn insert(&self, source: &Source) -> Result<bool, PortError>;

    /// Replaces a row if its version is still `seen`. A source never changes its slot.
    ///
    /// # Errors
    /// [`PortError::Conflict`] if somebody else was first.
    async fn swap(&self, seen: Version, source: &Source) -> Result<Version, PortError>;

    /// The rows of one slot in the order of their keys, after `after`, at most `limit`.
    ///
    /// # Errors
    /// Transport errors and unreadable rows.
    async fn in_slot(&self, slot: Slot, after: Option<&SourceKey>, limit: usize) -> Result<Vec<Source>, PortError>;

    /// All rows in an order of the adapter's own that does not change, after the key `after`, at most `limit`.
    ///
    /// # Errors
    /// Transport errors and unreadable rows.
    async fn list(&self, after: Option<&SourceKey>, limit: usize) -> Result<Vec<Source>, PortError>;
}
