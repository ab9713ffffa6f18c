//! Rows of pages.

use crate::item::{self, Item, KEY, text_of};
use crate::pack::pack;
use crate::table::{Read, Span, Table};
use async_trait::async_trait;
use curlew_model::{Page, PageId};
use curlew_ports::{Pages, PortError, Version};

/// Rows of pages: one item for each URL that was ever discovered.
#[derive(Clone, Debug)]
pub(crate) struct PageTable(pub(crate) Table);

impl PageTable {
    async fn read(&self, id: &PageId, read: Read) -> Result<Option<(Page, Version)>, PortError> {
        let found = self.0.get("read a page's row", item::key(id.as_str()), read).await?;
        found.map(|item| item::versioned(|| what(id), &item)).transpose()
    }
}

#[async_trait]
impl Pages for PageTable {
    async fn get(&self, id: &PageId) -> Result<Option<(Page, Version)>, PortError> {
        self.read(id, Read::Strong).await
    }

    /// Reads eventually consistently, for half the price of [`Pages::get`].
    async fn load_eventual(&self, id: &PageId) -> Result<Option<(Page, Version)>, PortError> {
        self.read(id, Read::Eventual).await
    }

    async fn insert(&self, page: &Page) -> Result<bool, PortError> {
        let state = pack(|| what(&page.id), page)?;
        self.0.insert("keep a page's row", item::key(page.id.as_str()), state).await
    }

    async fn swap(&self, seen: Version, page: &Page) -> Result<Version, PortError> {
        let state = pack(|| what(&page.id), page)?;
        self.0.swap_existing("keep a page's row", item::key(page.id.as_str()), seen, state).await
    }

    /// Lists pages in the order of DynamoDB's hashes of their ids.
    async fn list(&self, after: Option<&PageId>, limit: usize) -> Result<Vec<Page>, PortError> {
        let after = after.map(|id| item::key(id.as_str()));
        let items = self.0.list("list the pages", &Span::All, after, limit).await?;
        let what = |item: &Item| format!("the row of page {}", text_of(item, KEY).unwrap_or_default());
        items.iter().map(|item| item::value(|| what(item), item)).collect()
    }
}

fn what(id: &PageId) -> String {
    format!("the row of page {id}")
}
