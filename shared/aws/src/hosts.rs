//! Host states.

use crate::error::corrupt;
use crate::item::{self, Item, KEY, text_of};
use crate::pack::pack;
use crate::table::{Read, Span, Table};
use async_trait::async_trait;
use curlew_model::{HostKey, HostState};
use curlew_ports::{HostLedger, Hosts, PortError, Version};

/// Prefix of the keys of host states; marks and robots.txt copies share the table.
const PREFIX: &str = "h#";

/// States of hosts: one item for each host key.
#[derive(Clone, Debug)]
pub(crate) struct HostTable(pub(crate) Table);

impl HostTable {
    async fn read(&self, host: &HostKey, read: Read) -> Result<(HostState, Version), PortError> {
        let found = self.0.get("read the state of a host", key(host), read).await?;
        found.map_or(Ok((HostState::default(), Version::ABSENT)), |item| item::versioned(|| what(host), &item))
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
        let state = pack(|| what(host), &next)?;
        self.0.swap("keep the state of a host", key(host), seen, state).await
    }
}

#[async_trait]
impl Hosts for HostTable {
    /// Lists the states. Reads and bills the whole table page by page, so it is only for operators.
    async fn list(&self, after: Option<&HostKey>, limit: usize) -> Result<Vec<(HostKey, HostState)>, PortError> {
        let span = Span::Beginning(KEY, PREFIX);
        let items = self.0.list("list the hosts", &span, after.map(key), limit).await?;
        let mut hosts = Vec::with_capacity(items.len());
        for item in items {
            let name = text_of(&item, KEY).and_then(|k| k.strip_prefix(PREFIX)).unwrap_or_default();
            let host = HostKey::new(name).map_err(|e| corrupt("a host key", e))?;
            let state = item::value(|| what(&host), &item)?;
            hosts.push((host, state));
        }
        Ok(hosts)
    }
}

fn key(host: &HostKey) -> Item {
    item::key(format!("{PREFIX}{host}"))
}

fn what(host: &HostKey) -> String {
    format!("the state of {host}")
}
