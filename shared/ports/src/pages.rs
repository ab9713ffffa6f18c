use crate::{PortError, Version};
use async_trait::async_trait;
use curlew_model::{Page, PageId};

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
