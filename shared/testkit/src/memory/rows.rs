//! In-memory tables with compare-and-swap by version, and copies of robots.txt.

use super::lock;
use async_trait::async_trait;
use curlew_model::{HostKey, HostState, Origin, Page, PageId, Slot, Source, SourceKey, Timestamp};
use curlew_ports::{HostLedger, Hosts, Marks, Pages, PortError, RobotsCopy, RobotsStore, Sources, Version};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Mutex;

/// Values with versions, in the order of their keys.
#[derive(Debug)]
struct Rows<K, V>(Mutex<BTreeMap<K, (V, Version)>>);

impl<K, V> Default for Rows<K, V> {
    fn default() -> Rows<K, V> {
        Rows(Mutex::default())
    }
}

impl<K: Ord + Clone, V: Clone> Rows<K, V> {
    fn get(&self, key: &K) -> Option<(V, Version)> {
        lock(&self.0).get(key).cloned()
    }

    /// Inserts a row unless it exists; returns true if it was inserted.
    fn insert(&self, key: &K, value: V) -> bool {
        let mut rows = lock(&self.0);
        let absent = !rows.contains_key(key);
        if absent {
            rows.insert(key.clone(), (value, Version(1)));
        }
        absent
    }

    /// Replaces a row if its version is `seen` and `fits` accepts its value.
    fn swap_if(&self, key: &K, seen: Version, value: V, fits: impl Fn(&V) -> bool) -> Result<Version, PortError> {
        match lock(&self.0).get_mut(key) {
            Some((held, version)) if *version == seen && fits(held) => {
                *held = value;
                version.0 += 1;
                Ok(*version)
            }
            _ => Err(PortError::Conflict),
        }
    }

    /// Replaces a row if its version is `seen`; inserts it if `seen` is [`Version::ABSENT`].
    fn swap_or_make(&self, key: &K, seen: Version, value: V) -> Result<Version, PortError> {
        if seen != Version::ABSENT {
            return self.swap_if(key, seen, value, |_| true);
        }
        if self.insert(key, value) { Ok(Version(1)) } else { Err(PortError::Conflict) }
    }

    fn list(&self, after: Option<&K>, limit: usize) -> Vec<(K, V)> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let rows = lock(&self.0);
        let rows = rows.range((from, Bound::Unbounded)).take(limit);
        rows.map(|(key, (value, _))| (key.clone(), value.clone())).collect()
    }
}

/// In-memory [`HostLedger`] and [`Hosts`].
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
        Ok(self.rows.list(after, limit))
    }
}

/// In-memory [`RobotsStore`].
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

/// In-memory [`Marks`].
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

/// In-memory [`Pages`].
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
        Ok(self.rows.list(after, limit).into_iter().map(|(_, page)| page).collect())
    }
}

/// In-memory [`Sources`].
#[derive(Debug, Default)]
pub struct MemorySources {
    rows: Rows<SourceKey, Source>,
    /// Keys by slot; a source never changes its slot.
    slots: Mutex<BTreeMap<Slot, BTreeSet<SourceKey>>>,
}

#[async_trait]
impl Sources for MemorySources {
    async fn get(&self, key: &SourceKey) -> Result<Option<(Source, Version)>, PortError> {
        Ok(self.rows.get(key))
    }

    async fn insert(&self, source: &Source) -> Result<bool, PortError> {
        let new = self.rows.insert(source.key(), source.clone());
        if new {
            lock(&self.slots).entry(source.slot()).or_default().insert(source.key().clone());
        }
        Ok(new)
    }

    async fn swap(&self, seen: Version, source: &Source) -> Result<Version, PortError> {
        // The slot is part of a row's identity.
        self.rows.swap_if(source.key(), seen, source.clone(), |held| held.slot() == source.slot())
    }

    async fn in_slot(&self, slot: Slot, after: Option<&SourceKey>, limit: usize) -> Result<Vec<Source>, PortError> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let slots = lock(&self.slots);
        let keys = slots.get(&slot).into_iter().flat_map(|keys| keys.range::<SourceKey, _>((from, Bound::Unbounded)));
        Ok(keys.take(limit).filter_map(|key| self.rows.get(key)).map(|(source, _)| source).collect())
    }

    async fn list(&self, after: Option<&SourceKey>, limit: usize) -> Result<Vec<Source>, PortError> {
        Ok(self.rows.list(after, limit).into_iter().map(|(_, source)| source).collect())
    }
}
