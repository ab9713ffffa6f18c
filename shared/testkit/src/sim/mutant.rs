//! Wrappers that take away what politeness rests on, to see that the simulator notices.

use async_trait::async_trait;
use curlew_model::{HostKey, HostState};
use curlew_ports::{Clock, HostLedger, PortError, Version};
use std::sync::Arc;

/// A ledger that writes whatever it is given, whoever was first.
pub(super) struct LastWriterWins(pub(super) Arc<dyn HostLedger>);

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
