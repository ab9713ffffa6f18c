//! A ledger whose eventually consistent reads are slightly stale.

use crate::memory::{MemoryHosts, TokioClock};
use async_trait::async_trait;
use curlew_model::{HostKey, HostState, Millis, Timestamp};
use curlew_policy::chance::mix;
use curlew_policy::politeness::visit::LOOK_SELDOM;
use curlew_ports::{Clock, HostLedger, PortError, Version};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum age of the answer of `load_eventual`.
const LATE: Millis = Millis::from_secs(1);
/// A block, an owner's stop or a hold may take effect this late on a visit under way, because the visit reads the
/// ledger only now and then. The invariants allow for no more.
pub(crate) const TOO_LATE: Millis = Millis(LOOK_SELDOM.0 + LATE.0);

#[derive(Debug)]
struct Replaced {
    at: Timestamp,
    state: HostState,
    version: Version,
}

/// A [`HostLedger`] over the true one.
#[derive(Debug)]
pub(super) struct Late {
    hosts: Arc<MemoryHosts>,
    clock: Arc<TokioClock>,
    /// Recently replaced values, the oldest first.
    before: Mutex<BTreeMap<HostKey, Vec<Replaced>>>,
    /// Counts eventually consistent reads, which determine their luck.
    reads: AtomicU64,
}

impl Late {
    pub(super) fn new(hosts: Arc<MemoryHosts>, clock: Arc<TokioClock>) -> Late {
        Late { hosts, clock, before: Mutex::default(), reads: AtomicU64::new(0) }
    }

    /// Returns the state as it was `time` ago, or `None` if it has not changed since.
    pub(super) fn ago(&self, host: &HostKey, time: Millis) -> Option<HostState> {
        let then = self.clock.now() - time;
        let before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        before.get(host)?.iter().find(|replaced| replaced.at > then).map(|replaced| replaced.state.clone())
    }
}

#[async_trait]
impl HostLedger for Late {
    async fn load(&self, host: &HostKey) -> Result<(HostState, Version), PortError> {
        self.hosts.load(host).await
    }

    async fn load_eventual(&self, host: &HostKey) -> Result<(HostState, Version), PortError> {
        let luck = mix(self.reads.fetch_add(1, Ordering::Relaxed));
        let from = self.clock.now() - LATE;
        let old = {
            let before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
            let mut old = before.get(host).into_iter().flatten().filter(|replaced| replaced.at > from);
            old.next_back().filter(|_| luck.is_multiple_of(2)).map(|old| (old.state.clone(), old.version))
        };
        match old {
            Some(old) => Ok(old),
            None => self.hosts.load(host).await,
        }
    }

    async fn swap(&self, host: &HostKey, seen: Version, next: HostState) -> Result<Version, PortError> {
        let (state, version) = self.hosts.load(host).await?;
        let now = self.hosts.swap(host, seen, next).await?;
        let at = self.clock.now();
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let before = before.entry(host.clone()).or_default();
        before.retain(|replaced| replaced.at > at - TOO_LATE);
        before.push(Replaced { at, state, version });
        Ok(now)
    }
}
