use crate::{PortError, Version};
use async_trait::async_trait;
use curlew_model::{Page, PageId};

/// The rows of pages.
#[async_trait]
pub trait Pages: Send + Sync {
    /// The row and its version.
    ///
    /// # Errors
    /// Transport errors and unreadable rows.
    async fn get(&self, id: &PageId) -> Result<Option<(Page, Version)>, PortError>;

    /// Writes a row that must not exist yet; says whether it was written.
    ///
    /// # Errors
    /// Transport errors. That the row exists is no error.
    async fn insert(&self, page: &Page) -> Result<bool, PortError>;

    /// Replaces a row if its version is still `seen`.
    ///
    /// # Errors
    /// [`PortError::Conflict`] if somebody else was first.
    async fn swap(&self, seen: Version, page: &Page) -> Result<Version, PortError>;

    /// Rows in the order of their ids, after `after`, at most `limit`.
    ///
    /// # Errors
    /// Transport errors and unreadable rows.
    async fn list(&self, after: Option<&PageId>, limit: usize) -> Result<Vec<Page>, PortError>;
}
