//! Wrappers that take away what politeness rests on, to see that the simulator notices.

use async_trait::async_trait;
use curlew_model::{HostKey, HostState, Millis, Stage, Timestamp};
use curlew_ports::{Clock, Dead, Delivery, HostLedger, Inbox, PortError, QueueCount, Receipt, Version, Waiting};
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

/// An inbox that forgets a job as it hands it out, so that a crash loses it.
pub(super) struct AcksFirst(pub(super) Arc<dyn Inbox>);

#[async_trait]
impl Inbox for AcksFirst {
    async fn receive(
        &self,
        stage: Stage,
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

    async fn count(&self, stage: Stage, now: Timestamp) -> Result<QueueCount, PortError> {
        self.0.count(stage, now).await
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
}
