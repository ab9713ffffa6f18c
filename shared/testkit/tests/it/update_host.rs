//! Tests of the ports' compare-and-swap helper: it repeats its decision after each lost race, and finally gives up.

use async_trait::async_trait;
use curlew_model::{HostKey, HostState, Timestamp};
use curlew_ports::{HostLedger, PortError, SWAP_TRIES, Version, update_host};
use curlew_testkit::faults::{Faults, Faulty, Rates};
use curlew_testkit::memory::{MemoryHosts, TokioClock};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A ledger in which another writer wins the first `races_to_lose` swaps.
struct Contended {
    hosts: MemoryHosts,
    races_to_lose: AtomicU32,
}

impl Contended {
    fn new(races_to_lose: u32) -> Contended {
        Contended { hosts: MemoryHosts::default(), races_to_lose: AtomicU32::new(races_to_lose) }
    }
}

#[async_trait]
impl HostLedger for Contended {
    async fn load(&self, host: &HostKey) -> Result<(HostState, Version), PortError> {
        self.hosts.load(host).await
    }

    async fn swap(&self, host: &HostKey, seen: Version, next: HostState) -> Result<Version, PortError> {
        let left = self.races_to_lose.load(Ordering::Relaxed);
        if left > 0 {
            self.races_to_lose.store(left - 1, Ordering::Relaxed);
            let (state, version) = self.hosts.load(host).await?;
            self.hosts.swap(host, version, HostState { failures: state.failures + 1, ..state }).await?;
        }
        self.hosts.swap(host, seen, next).await
    }
}

/// A ledger whose eventually consistent reads always return the initial state.
#[derive(Default)]
struct Outdated(MemoryHosts);

#[async_trait]
impl HostLedger for Outdated {
    async fn load(&self, host: &HostKey) -> Result<(HostState, Version), PortError> {
        self.0.load(host).await
    }

    async fn load_eventual(&self, _: &HostKey) -> Result<(HostState, Version), PortError> {
        Ok((HostState::default(), Version::ABSENT))
    }

    async fn swap(&self, host: &HostKey, seen: Version, next: HostState) -> Result<Version, PortError> {
        self.0.swap(host, seen, next).await
    }
}

fn host() -> HostKey {
    HostKey::new("example.org").expect("a host key")
}

/// Increments the token; returns the number of failures at the time of that decision.
fn count(state: HostState) -> (HostState, u32) {
    let failures = state.failures;
    (HostState { last_token: state.last_token + 1, ..state }, failures)
}

#[tokio::test]
async fn what_others_wrote_is_seen_before_it_is_replaced() {
    let ledger = Contended::new(SWAP_TRIES - 1);
    let seen = update_host(&ledger, &host(), count).await.expect("wins at last");
    assert_eq!(seen, SWAP_TRIES - 1);
    let (state, _) = ledger.load(&host()).await.expect("loads");
    assert_eq!((state.failures, state.last_token), (SWAP_TRIES - 1, 1));
}

#[tokio::test]
async fn it_gives_up_after_so_many_lost_races() {
    let ledger = Contended::new(u32::MAX);
    let lost = update_host(&ledger, &host(), count).await;
    assert!(matches!(lost, Err(PortError::Conflict)), "{lost:?}");
    let (state, _) = ledger.load(&host()).await.expect("loads");
    assert_eq!((state.failures, state.last_token), (SWAP_TRIES, 0));
}

#[tokio::test]
async fn a_decision_that_changes_nothing_writes_nothing() {
    let ledger = MemoryHosts::default();
    update_host(&ledger, &host(), |state| (state, ())).await.expect("decides");
    assert_eq!(ledger.load(&host()).await.expect("loads").1, Version::ABSENT);
}

#[tokio::test]
async fn any_other_error_ends_it_at_once() {
    let clock = Arc::new(TokioClock::starting_at(Timestamp::EPOCH));
    let faults = Faults::seeded(1, Rates { refuse: 1_000, ..Rates::default() }, clock);
    let ledger = Faulty::new(Arc::new(MemoryHosts::default()), Arc::clone(&faults));
    let refused = update_host(&ledger, &host(), count).await;
    assert!(matches!(refused, Err(PortError::Unavailable { .. })), "{refused:?}");
    assert_eq!(faults.calls(), 1);
}

#[tokio::test]
async fn an_outdated_glimpse_decides_nothing() {
    let ledger = Outdated::default();
    let blocked = HostState { failures: 3, blocked: ["example.org".to_owned()].into(), ..HostState::default() };
    ledger.swap(&host(), Version::ABSENT, blocked).await.expect("writes");
    let seen = update_host(&ledger, &host(), count).await.expect("decides anew");
    assert_eq!(seen, 3, "the decision must use the stored state");
    // A stale read that needs no change is not trusted either, so a block that was added in the meantime is removed.
    let unblock = |state| curlew_policy::politeness::admission::unblock(state, "example.org");
    assert!(update_host(&ledger, &host(), unblock).await.expect("decides anew"));
    assert!(ledger.load(&host()).await.expect("loads").0.blocked.is_empty());
}
