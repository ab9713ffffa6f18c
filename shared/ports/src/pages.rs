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

    /// The row and its version as they are now or were a moment ago; may cost less than [`Pages::get`]. For questions
    /// to which a late answer does no harm.
    ///
    /// # Errors
    /// Transport errors and unreadable rows.
    async fn load_eventual(&self, id: &PageId) -> Result<Option<(Page, Version)>, PortError> {
        self.get(id).await
    }

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

    /// Rows in an order of the adapter's own that does not change, after the place of `after`, whether or not there is
    /// such a row, at most `limit`.
    ///
    /// # Errors
    /// Transport errors and unreadable rows.
    async fn list(&self, after: Option<&PageId>, limit: usize) -> Result<Vec<Page>, PortError>;
}
