use crate::{PortError, Version};
use async_trait::async_trait;
use curlew_model::{Page, PageId, Slot, Source, SourceKey};

/// The rows of pages.
#[async_trait]
pub trait Pages: Send + Sync {
    /// Returns the row and its version.
    async fn get(&self, id: &PageId) -> Result<Option<(Page, Version)>, PortError>;

    /// Returns the row as it is now or was a moment ago; may cost less than [`Pages::get`].
    async fn load_eventual(&self, id: &PageId) -> Result<Option<(Page, Version)>, PortError> {
        self.get(id).await
    }

    /// Writes a row unless it exists; returns whether it was written.
    async fn insert(&self, page: &Page) -> Result<bool, PortError>;

    /// Replaces a row if its version is still `seen`; otherwise [`PortError::Conflict`].
    async fn swap(&self, seen: Version, page: &Page) -> Result<Version, PortError>;

    /// Returns rows in an order that does not change, after the place of `after`, at most `limit`.
    async fn list(&self, after: Option<&PageId>, limit: usize) -> Result<Vec<Page>, PortError>;
}

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
