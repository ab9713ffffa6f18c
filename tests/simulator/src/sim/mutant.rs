//! Wrappers that take away what politeness rests on, to see that the simulator notices.

use super::Mutation;
use async_trait::async_trait;
use bytes::Bytes;
use curlew_model::{HoldReason, HostKey, HostState, Job, Millis, Ownership, QueueName, Timestamp, Way, Work};
use curlew_ports::{
    Blob, Blobs, Clock, Dead, Delivery, HostLedger, Inbox, PortError, Queue, QueueCount, Receipt, Tag, Version, Waiting,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A ledger that writes whatever it is given, whoever was first.
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

/// A ledger that forgets leases as they end, so that nobody waits a pause after a crash.
pub(super) struct ForgetsLeases {
    pub(super) ledger: Arc<dyn HostLedger>,
    pub(super) clock: Arc<dyn Clock>,
}

#[async_trait]
impl HostLedger for ForgetsLeases {
    async fn load(&self, host: &HostKey) -> Result<(HostState, Version), PortError> {
        let (mut state, version) = self.ledger.load(host).await?;
        state.lease = state.lease.filter(|lease| lease.until > self.clock.now());
        Ok((state, version))
    }

    async fn swap(&self, host: &HostKey, seen: Version, next: HostState) -> Result<Version, PortError> {
        self.ledger.swap(host, seen, next).await
    }
}

/// A ledger that does not take all that is written.
pub(super) struct Forgets(pub(super) Arc<dyn HostLedger>, pub(super) fn(HostState) -> HostState);

/// A state without blocks.
pub(super) fn unblocked(state: HostState) -> HostState {
    HostState { blocked: Default::default(), ..state }
}

/// A state that does not rest.
pub(super) fn restless(state: HostState) -> HostState {
    HostState { hold: state.hold.filter(|hold| hold.reason != HoldReason::Rest), ..state }
}

/// A state without the last look at a home page.
pub(super) fn without_home(state: HostState) -> HostState {
    HostState { home_look: None, ..state }
}

#[async_trait]
impl HostLedger for Forgets {
    async fn load(&self, host: &HostKey) -> Result<(HostState, Version), PortError> {
        self.0.load(host).await
    }

    async fn swap(&self, host: &HostKey, seen: Version, next: HostState) -> Result<Version, PortError> {
        self.0.swap(host, seen, self.1(next)).await
    }
}

/// Objects of which records or raw pages are never erased, in which every claim looks proven, or which lose lists of
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
            // Only erasing changes a segment, or raw pages.
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

/// A queue that takes no removals.
pub(super) struct DropsRemovals(pub(super) Arc<dyn Queue>);

#[async_trait]
impl Queue for DropsRemovals {
    async fn send(&self, jobs: &[(Job, Timestamp)]) -> Result<(), PortError> {
        let others: Vec<_> = jobs.iter().filter(|(job, _)| !matches!(job.work, Work::Remove(_))).cloned().collect();
        if others.is_empty() { Ok(()) } else { self.0.send(&others).await }
    }
}

/// An inbox that forgets a job as it hands it out, so that a crash loses it.
pub(super) struct AcksFirst(pub(super) Arc<dyn Inbox>);

#[async_trait]
impl Inbox for AcksFirst {
    async fn receive(
        &self,
        stage: QueueName,
        max: usize,
        visibility: Millis,
        now: Timestamp,
    ) -> Result<Vec<Delivery>, PortError> {
        let deliveries = self.0.receive(stage, max, visibility, now).await?;
        for delivery in &deliveries {
            self.0.ack(&delivery.receipt).await?;
        }
        Ok(deliveries)
    }

    async fn ack(&self, receipt: &Receipt) -> Result<(), PortError> {
        self.0.ack(receipt).await
    }

    async fn put_back(&self, receipt: &Receipt, due: Timestamp) -> Result<(), PortError> {
        self.0.put_back(receipt, due).await
    }

    async fn dead_letter(&self, receipt: &Receipt, error: &str, now: Timestamp) -> Result<(), PortError> {
        self.0.dead_letter(receipt, error, now).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, PortError> {
        self.0.next_due().await
    }

    async fn counts(&self, now: Timestamp) -> Result<BTreeMap<QueueName, QueueCount>, PortError> {
        self.0.counts(now).await
    }

    async fn waiting(&self, now: Timestamp, limit: usize) -> Result<Vec<Waiting>, PortError> {
        self.0.waiting(now, limit).await
    }

    async fn dead(&self, limit: usize) -> Result<Vec<Dead>, PortError> {
        self.0.dead(limit).await
    }

    async fn redrive(&self, receipt: &Receipt, now: Timestamp) -> Result<(), PortError> {
        self.0.redrive(receipt, now).await
    }

    async fn discard(&self, receipt: &Receipt) -> Result<(), PortError> {
        self.0.discard(receipt).await
    }
}
