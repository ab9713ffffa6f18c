//! Host states, robots.txt copies and marks.

use super::lock;
use super::rows::Rows;
use async_trait::async_trait;
use curlew_model::{HostKey, HostState, Origin, Timestamp};
use curlew_ports::{HostLedger, Hosts, Marks, PortError, RobotsCopy, RobotsStore, Version};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// [`HostLedger`] and [`Hosts`].
#[derive(Debug, Default)]
pub struct MemoryHosts {
    rows: Rows<HostKey, HostState>,
}

#[async_trait]
impl HostLedger for MemoryHosts {
    async fn load(&self, host: &HostKey) -> Result<(HostState, Version), PortError> {
        Ok(self.rows.get(host).unwrap_or((HostState::default(), Version::ABSENT)))
    }

    async fn swap(&self, host: &HostKey, seen: Version, next: HostState) -> Result<Version, PortError> {
        self.rows.swap_or_make(host, seen, next)
    }
}

#[async_trait]
impl Hosts for MemoryHosts {
    async fn list(&self, after: Option<&HostKey>, limit: usize) -> Result<Vec<(HostKey, HostState)>, PortError> {
        Ok(self.rows.list(after, limit, |_| true))
    }
}

/// [`RobotsStore`].
#[derive(Debug, Default)]
pub struct MemoryRobots {
    copies: Mutex<BTreeMap<Origin, RobotsCopy>>,
}

#[async_trait]
impl RobotsStore for MemoryRobots {
    async fn get(&self, origin: &Origin) -> Result<Option<RobotsCopy>, PortError> {
        Ok(lock(&self.copies).get(origin).cloned())
    }

    async fn put(&self, origin: &Origin, copy: &RobotsCopy) -> Result<(), PortError> {
        lock(&self.copies).insert(origin.clone(), copy.clone());
        Ok(())
    }
}

/// [`Marks`].
#[derive(Debug, Default)]
pub struct MemoryMarks {
    rows: Rows<String, Timestamp>,
}

#[async_trait]
impl Marks for MemoryMarks {
    async fn load(&self, name: &str) -> Result<(Option<Timestamp>, Version), PortError> {
        Ok(self.rows.get(&name.to_owned()).map_or((None, Version::ABSENT), |(at, version)| (Some(at), version)))
    }

    async fn swap(&self, name: &str, seen: Version, next: Timestamp) -> Result<Version, PortError> {
        self.rows.swap_or_make(&name.to_owned(), seen, next)
    }
}
