//! Rows of pages.

use super::rows::Rows;
use async_trait::async_trait;
use curlew_model::{Page, PageId};
use curlew_ports::{Pages, PortError, Version};

/// [`Pages`].
#[derive(Debug, Default)]
pub struct MemoryPages {
    rows: Rows<PageId, Page>,
}

#[async_trait]
impl Pages for MemoryPages {
    async fn get(&self, id: &PageId) -> Result<Option<(Page, Version)>, PortError> {
        Ok(self.rows.get(id))
    }

    async fn insert(&self, page: &Page) -> Result<bool, PortError> {
        Ok(self.rows.insert(&page.id, page.clone()))
    }

    async fn swap(&self, seen: Version, page: &Page) -> Result<Version, PortError> {
        self.rows.swap_if(&page.id, seen, page.clone(), |_| true)
    }

    async fn list(&self, after: Option<&PageId>, limit: usize) -> Result<Vec<Page>, PortError> {
        Ok(self.rows.list(after, limit, |_| true).into_iter().map(|(_, page)| page).collect())
    }
}
