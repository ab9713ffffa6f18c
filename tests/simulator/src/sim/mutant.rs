//! Wrappers that take out rules that politeness depends on, to check that the simulator notices.

use super::Mutation;
use async_trait::async_trait;
use bytes::Bytes;
use curlew_model::{HoldReason, HostKey, HostState, Job, Ownership, Timestamp, Way, Work};
use curlew_ports::{Blob, Blobs, Clock, HostLedger, PortError, Queue, Tag, Version};
use std::sync::Arc;

/// A ledger that writes every value, whatever version the caller has seen.
pub struct LastWriterWins(pub Arc<dyn HostLedger>);

#[async_trait]
impl HostLedger for LastWriterWins {
    async fn load(&self, host: &HostKey) -> Result<(HostState, Version), PortError> {
        self.0.load(host).await
    }

    async fn swap(&self, host: &HostKey, _: Version, next: HostState) -> Result<Version, PortError> {
        let (_, present) = self.0.load(host).await?;
        self.0.swap(host, present, next).await
    }
}

/// A ledger that drops part of what is read or written.
pub(super) struct MutantLedger {
    pub(super) plain: Arc<dyn HostLedger>,
    pub(super) mutation: Mutation,
    pub(super) clock: Arc<dyn Clock>,
}

#[async_trait]
impl HostLedger for MutantLedger {
    async fn load(&self, host: &HostKey) -> Result<(HostState, Version), PortError> {
        let (mut state, version) = self.plain.load(host).await?;
        if self.mutation == Mutation::NoPauseAfterLease {
            // Leases are forgotten when they end, so nobody waits for the pause after a crash.
            state.lease = state.lease.filter(|lease| lease.until > self.clock.now());
        }
        Ok((state, version))
    }

    async fn swap(&self, host: &HostKey, seen: Version, mut next: HostState) -> Result<Version, PortError> {
        match self.mutation {
            Mutation::StopIgnored => next.blocked.clear(),
            Mutation::RestForgotten => next.hold = next.hold.filter(|hold| hold.reason != HoldReason::Rest),
            Mutation::HomeLookForgotten => next.home_look = None,
            _ => {}
        }
        self.plain.swap(host, seen, next).await
    }
}

/// An object store that never erases records or raw pages, in which every claim looks proven, or which loses lists of
/// older pages.
pub(super) struct MutantBlobs {
    pub(super) plain: Arc<dyn Blobs>,
    pub(super) mutation: Mutation,
    pub(super) clock: Arc<dyn Clock>,
}

#[async_trait]
impl Blobs for MutantBlobs {
    async fn get(&self, key: &str) -> Result<Option<Blob>, PortError> {
        let Some(mut blob) = self.plain.get(key).await? else { return Ok(None) };
        if self.mutation == Mutation::ClaimantBelieved
            && key.starts_with("owners/")
            && let Ok(mut all) = serde_json::from_slice::<Ownership>(&blob.bytes)
        {
            let now = self.clock.now();
            all.claims.iter_mut().for_each(|claim| claim.proof = Some((Way::File, now)));
            blob.bytes = serde_json::to_vec(&all).map(Bytes::from).unwrap_or(blob.bytes);
        }
        Ok(Some(blob))
    }

    async fn get_range(&self, key: &str, offset: u64, length: u64) -> Result<Bytes, PortError> {
        self.plain.get_range(key, offset, length).await
    }

    async fn put(&self, key: &str, bytes: Bytes) -> Result<(), PortError> {
        if self.mutation == Mutation::HistoryListsDropped && key.starts_with("backfill/") {
            return Ok(());
        }
        self.plain.put(key, bytes).await
    }

    async fn put_if_absent(&self, key: &str, bytes: Bytes) -> Result<bool, PortError> {
        self.plain.put_if_absent(key, bytes).await
    }

    async fn swap(&self, key: &str, seen: Option<&Tag>, bytes: Bytes) -> Result<Tag, PortError> {
        match seen {
            // A swap of an existing segment or of raw pages is always an erasure.
            Some(tag) if self.mutation == Mutation::RecordsKept && key.starts_with("segments/") => Ok(tag.clone()),
            Some(tag) if self.mutation == Mutation::RawPagesKept && key.starts_with("raw/") => Ok(tag.clone()),
            _ => self.plain.swap(key, seen, bytes).await,
        }
    }

    async fn delete(&self, key: &str) -> Result<(), PortError> {
        self.plain.delete(key).await
    }

    async fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<String>, PortError> {
        self.plain.list(prefix, after, limit).await
    }
}

/// A queue that drops removals.
pub(super) struct DropsRemovals(pub(super) Arc<dyn Queue>);

#[async_trait]
impl Queue for DropsRemovals {
    async fn send(&self, jobs: &[(Job, Timestamp)]) -> Result<(), PortError> {
        let others: Vec<_> = jobs.iter().filter(|(job, _)| !matches!(job.work, Work::Remove(_))).cloned().collect();
        if others.is_empty() { Ok(()) } else { self.0.send(&others).await }
    }
}
