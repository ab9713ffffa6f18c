//! Rows of feeds and sites.

use super::rows::Rows;
use async_trait::async_trait;
use curlew_model::{Slot, Source, SourceKey};
use curlew_ports::{PortError, Sources, Version};

/// [`Sources`].
#[derive(Debug, Default)]
pub struct MemorySources {
    rows: Rows<SourceKey, Source>,
}

#[async_trait]
impl Sources for MemorySources {
    async fn get(&self, key: &SourceKey) -> Result<Option<(Source, Version)>, PortError> {
        Ok(self.rows.get(key))
    }

    async fn insert(&self, source: &Source) -> Result<bool, PortError> {
        Ok(self.rows.insert(source.key(), source.clone()))
    }

    async fn swap(&self, seen: Version, source: &Source) -> Result<Version, PortError> {
        // A source of another slot is another row.
        self.rows.swap_if(source.key(), seen, source.clone(), |held| held.slot() == source.slot())
    }

    async fn in_slot(&self, slot: Slot, after: Option<&SourceKey>, limit: usize) -> Result<Vec<Source>, PortError> {
        let found = self.rows.list(after, limit, |source| source.slot() == slot);
        Ok(found.into_iter().map(|(_, source)| source).collect())
    }

    async fn list(&self, after: Option<&SourceKey>, limit: usize) -> Result<Vec<Source>, PortError> {
        Ok(self.rows.list(after, limit, |_| true).into_iter().map(|(_, source)| source).collect())
    }
}
