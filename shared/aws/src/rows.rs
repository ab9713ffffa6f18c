//! Rows of hosts, marks and pages. The first two share a table.

use crate::error::corrupt;
use crate::item::{self, Item, KEY, text, text_of};
use crate::pack::pack;
use crate::table::{Read, Span, Table, existing};
use async_trait::async_trait;
use curlew_model::{HostKey, HostState, Page, PageId, Timestamp};
use curlew_ports::{HostLedger, Hosts, Marks, Pages, PortError, Version};

/// Prefix of the keys of host states; marks and robots.txt copies share the table.
const HOST: &str = "h#";
/// Prefix of the keys of marks.
const MARK: &str = "m#";

/// States of hosts, one item for each host key; and marks, one item for each name.
#[derive(Clone, Debug)]
pub(crate) struct HostTable(pub(crate) Table);

/// Rows of pages: one item for each URL that was ever discovered.
#[derive(Clone, Debug)]
pub(crate) struct PageTable(pub(crate) Table);

impl HostTable {
    async fn read(&self, host: &HostKey, read: Read) -> Result<(HostState, Version), PortError> {
        let found = self.0.get("read the state of a host", host_key(host), read).await?;
        found.map_or(Ok((HostState::default(), Version::ABSENT)), |item| item::versioned(|| state_of(host), &item))
    }
}

#[async_trait]
impl HostLedger for HostTable {
    async fn load(&self, host: &HostKey) -> Result<(HostState, Version), PortError> {
        self.read(host, Read::Strong).await
    }

    /// Reads eventually consistently, for half the price of [`HostLedger::load`].
    async fn load_eventual(&self, host: &HostKey) -> Result<(HostState, Version), PortError> {
        self.read(host, Read::Eventual).await
    }

    async fn swap(&self, host: &HostKey, seen: Version, next: HostState) -> Result<Version, PortError> {
        let state = pack(|| state_of(host), &next)?;
        self.0.swap("keep the state of a host", host_key(host), seen, state).await
    }
}

#[async_trait]
impl Hosts for HostTable {
    /// Lists the states. Reads and bills the whole table page by page, so it is only for operators.
    async fn list(&self, after: Option<&HostKey>, limit: usize) -> Result<Vec<(HostKey, HostState)>, PortError> {
        let span = Span::Beginning(KEY, HOST);
        let items = self.0.list("list the hosts", &span, after.map(host_key), limit).await?;
        let mut hosts = Vec::with_capacity(items.len());
        for item in items {
            let name = text_of(&item, KEY).and_then(|k| k.strip_prefix(HOST)).unwrap_or_default();
            let host = HostKey::new(name).map_err(|e| corrupt("a host key", e))?;
            let state = item::value(|| state_of(&host), &item)?;
            hosts.push((host, state));
        }
        Ok(hosts)
    }
}

/// The state of a mark is its instant in RFC 3339 format.
#[async_trait]
impl Marks for HostTable {
    async fn load(&self, name: &str) -> Result<(Option<Timestamp>, Version), PortError> {
        let Some(item) = self.0.get("read a mark", mark_key(name), Read::Strong).await? else {
            return Ok((None, Version::ABSENT));
        };
        let (at, version) = item::versioned_text(|| format!("the mark {name}"), &item)?;
        Ok((Some(at), version))
    }

    async fn swap(&self, name: &str, seen: Version, next: Timestamp) -> Result<Version, PortError> {
        self.0.swap("keep a mark", mark_key(name), seen, text(next.to_string())).await
    }
}

impl PageTable {
    async fn read(&self, id: &PageId, read: Read) -> Result<Option<(Page, Version)>, PortError> {
        let found = self.0.get("read a page's row", item::key(id.as_str()), read).await?;
        found.map(|item| item::versioned(|| row_of(id), &item)).transpose()
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
        let state = pack(|| row_of(&page.id), page)?;
        self.0.insert("keep a page's row", item::key(page.id.as_str()), state).await
    }

    async fn swap(&self, seen: Version, page: &Page) -> Result<Version, PortError> {
        let state = pack(|| row_of(&page.id), page)?;
        self.0.swap("keep a page's row", item::key(page.id.as_str()), existing(seen)?, state).await
    }

    /// Lists pages in the order of DynamoDB's hashes of their ids.
    async fn list(&self, after: Option<&PageId>, limit: usize) -> Result<Vec<Page>, PortError> {
        let after = after.map(|id| item::key(id.as_str()));
        let items = self.0.list("list the pages", &Span::All, after, limit).await?;
        let id = |item: &'_ Item| text_of(item, KEY).unwrap_or_default().to_owned();
        items.iter().map(|item| item::value(|| row_of(id(item)), item)).collect()
    }
}

fn host_key(host: &HostKey) -> Item {
    item::key(format!("{HOST}{host}"))
}

fn mark_key(name: &str) -> Item {
    item::key(format!("{MARK}{name}"))
}

fn state_of(host: &HostKey) -> String {
    format!("the state of {host}")
}

fn row_of(id: impl std::fmt::Display) -> String {
    format!("the row of page {id}")
}
