use crate::{PortError, Version};
use async_trait::async_trait;
use curlew_model::{Page, PageId, Slot, Source, SourceKey};

/// Stores the rows of pages.
#[async_trait]
pub trait Pages: Send + Sync {
    /// Returns the row and its version.
    async fn get(&self, id: &PageId) -> Result<Option<(Page, Version)>, PortError>;

    /// Returns the row with eventual consistency, which may cost less than [`Pages::get`].
    async fn load_eventual(&self, id: &PageId) -> Result<Option<(Page, Version)>, PortError> {
        self.get(id).await
    }

    /// Writes a row unless it exists; returns whether it was written.
    async fn insert(&self, page: &Page) -> Result<bool, PortError>;

    /// Replaces a row if its version is still `seen`; otherwise [`PortError::Conflict`].
    async fn swap(&self, seen: Version, page: &Page) -> Result<Version, PortError>;

    /// Returns at most `limit` rows after the position of `after`, in a stable order.
    async fn list(&self, after: Option<&PageId>, limit: usize) -> Result<Vec<Page>, PortError>;
}

/// Stores the rows of feeds and sites. The first 16 digits of a source's key determine its slot ([`Slot::from_hash`]),
/// so an adapter can find the row by its key.
#[async_trait]
pub trait Sources: Send + Sync {
    /// Returns the row and its version.
    async fn get(&self, key: &SourceKey) -> Result<Option<(Source, Version)>, PortError>;

    /// Returns rows, perhaps a second old, if that costs less together; missing rows must be requested one by one.
    async fn get_together(&self, _keys: &[SourceKey]) -> Result<Vec<(Source, Version)>, PortError> {
        Ok(Vec::new())
    }

    /// Writes a row unless it exists; returns whether it was written.
    async fn insert(&self, source: &Source) -> Result<bool, PortError>;

    /// Replaces a row, whose slot never changes, if its version is still `seen`; otherwise [`PortError::Conflict`].
    async fn swap(&self, seen: Version, source: &Source) -> Result<Version, PortError>;

    /// Returns at most `limit` rows of one slot after `after`, in the order of their keys.
    async fn in_slot(&self, slot: Slot, after: Option<&SourceKey>, limit: usize) -> Result<Vec<Source>, PortError>;

    /// Returns at most `limit` rows after the key `after`, in a stable order.
    async fn list(&self, after: Option<&SourceKey>, limit: usize) -> Result<Vec<Source>, PortError>;
}
