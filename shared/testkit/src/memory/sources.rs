//! Rows of feeds and sites.

use super::lock;
use super::rows::Rows;
use async_trait::async_trait;
use curlew_model::{Slot, Source, SourceKey};
use curlew_ports::{PortError, Sources, Version};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Mutex;

/// [`Sources`].
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
        // A source of another slot is another row.
        self.rows.swap_if(source.key(), seen, source.clone(), |held| held.slot() == source.slot())
    }

    async fn in_slot(&self, slot: Slot, after: Option<&SourceKey>, limit: usize) -> Result<Vec<Source>, PortError> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let slots = lock(&self.slots);
        let keys = slots.get(&slot).into_iter().flat_map(|keys| keys.range::<SourceKey, _>((from, Bound::Unbounded)));
        Ok(keys.take(limit).filter_map(|key| self.rows.get(key)).map(|(source, _)| source).collect())
    }

    async fn list(&self, after: Option<&SourceKey>, limit: usize) -> Result<Vec<Source>, PortError> {
        Ok(self.rows.list(after, limit, |_| true).into_iter().map(|(_, source)| source).collect())
    }
}
