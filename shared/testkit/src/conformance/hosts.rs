//! Behaviours of [`HostLedger`] and [`Hosts`].

use super::samples::{INCREMENTS, RACERS, assert_conflict, at, by_pages, full_state, host, one_wins, race};
use curlew_model::{HostKey, HostState, Millis};
use curlew_ports::{HostLedger, Hosts, PortError, Version};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Both ports of one adapter.
#[derive(Clone)]
pub struct HostPorts {
    /// Port that loads and swaps states.
    pub ledger: Arc<dyn HostLedger>,
    /// Port that lists states.
    pub hosts: Arc<dyn Hosts>,
}

impl HostPorts {
    /// Returns the ports of an adapter of both traits.
    pub fn new<T: HostLedger + Hosts + 'static>(adapter: Arc<T>) -> HostPorts {
        HostPorts { ledger: adapter.clone(), hosts: adapter }
    }
}

fn failures(n: u32) -> HostState {
    HostState { failures: n, ..HostState::default() }
}

/// A missing host has the default state.
pub async fn an_unknown_host_has_the_default_state(ports: &HostPorts) {
    let loaded = ports.ledger.load(&host("example.org")).await.expect("loads");
    assert_eq!(loaded, (HostState::default(), Version::ABSENT));
}

/// Every field of a state is read back.
pub async fn a_swapped_state_is_read_back(ports: &HostPorts) {
    let key = host("[2001:db8::1]");
    let version = ports.ledger.swap(&key, Version::ABSENT, full_state()).await.expect("swaps");
    assert_ne!(version, Version::ABSENT);
    assert_eq!(ports.ledger.load(&key).await.expect("loads"), (full_state(), version));
    let version = ports.ledger.swap(&key, version, HostState::default()).await.expect("swaps");
    assert_eq!(ports.ledger.load(&key).await.expect("loads"), (HostState::default(), version));
}

/// A writer with a stale version must load the state again.
pub async fn a_stale_swap_conflicts_and_writes_nothing(ports: &HostPorts) {
    let key = host("example.org");
    let first = ports.ledger.swap(&key, Version::ABSENT, failures(1)).await.expect("swaps");
    let second = ports.ledger.swap(&key, first, failures(2)).await.expect("swaps");
    for stale in [Version::ABSENT, first, Version(second.0 + 1), Version(u64::MAX)] {
        assert_conflict(ports.ledger.swap(&key, stale, failures(9)).await);
    }
    assert_eq!(ports.ledger.load(&key).await.expect("loads"), (failures(2), second));
    assert_conflict(ports.ledger.swap(&host("example.net"), first, failures(9)).await);
    assert_eq!(ports.ledger.load(&host("example.net")).await.expect("loads").1, Version::ABSENT);
}

/// A version that was used twice would let a late writer succeed.
pub async fn no_version_comes_twice(ports: &HostPorts) {
    let key = host("example.org");
    let mut seen = BTreeSet::from([Version::ABSENT]);
    let mut version = Version::ABSENT;
    for _ in 0..50 {
        // The state is always the same: versions distinguish writes, not contents.
        version = ports.ledger.swap(&key, version, failures(1)).await.expect("swaps");
        assert!(seen.insert(version), "{version:?} was there before");
    }
}

/// Only one of several swaps with the same version succeeds; the first version is "absent".
pub async fn each_version_is_won_once(ports: &HostPorts) {
    let key = host("example.org");
    for round in 0..20 {
        let (before, seen) = ports.ledger.load(&key).await.expect("loads");
        assert_eq!(before.last_token, round);
        let (winner, _) = one_wins(|n| {
            let (ledger, key) = (Arc::clone(&ports.ledger), key.clone());
            let next = HostState { last_token: round + 1, ..failures(n as u32) };
            async move { ledger.swap(&key, seen, next).await }
        })
        .await;
        assert_eq!(ports.ledger.load(&key).await.expect("loads").0.failures, winner as u32);
    }
}

/// No update is lost among concurrent increments.
pub async fn racing_increments_are_all_counted(ports: &HostPorts) {
    race((0..RACERS).map(|_| {
        let ledger = Arc::clone(&ports.ledger);
        async move {
            let mut left = INCREMENTS;
            while left > 0 {
                let (state, seen) = ledger.load(&host("example.org")).await.expect("loads");
                let next = HostState { last_token: state.last_token + 1, ..state };
                match ledger.swap(&host("example.org"), seen, next).await {
                    Ok(_) => left -= 1,
                    Err(PortError::Conflict) => {}
                    Err(other) => panic!("{other}"),
                }
            }
        }
    }))
    .await;
    assert_eq!(ports.ledger.load(&host("example.org")).await.expect("loads").0.last_token, RACERS * INCREMENTS);
}

/// A swap conflicts only with swaps of the same host.
pub async fn hosts_do_not_disturb_each_other(ports: &HostPorts) {
    let keys: Vec<_> = (0..50).map(|n| host(&format!("site-{n}.example"))).collect();
    let swaps = race(keys.iter().cloned().zip(0..).map(|(key, n)| {
        let ledger = Arc::clone(&ports.ledger);
        async move { ledger.swap(&key, Version::ABSENT, failures(n)).await }
    }))
    .await;
    assert!(swaps.iter().all(Result::is_ok), "{swaps:?}");
    for (key, n) in keys.iter().zip(0..) {
        assert_eq!(ports.ledger.load(key).await.expect("loads").0.failures, n);
    }
}

/// The order is the same each time, for keys of any characters, without duplicates or gaps.
pub async fn hosts_are_listed_page_by_page(ports: &HostPorts) {
    assert_eq!(ports.hosts.list(None, 10).await.expect("lists"), []);
    let names = ["[::1]", "a-b.example", "a.example", "a_b.example", "ab.example", "10.0.0.1", "z", "xn--p1ai"];
    for (name, n) in names.iter().zip(0..) {
        let state = HostState { last_response: Millis(n), not_before: at(0), ..HostState::default() };
        ports.ledger.swap(&host(name), Version::ABSENT, state).await.expect("swaps");
    }
    let mut expected: Vec<_> = names.iter().map(|name| host(name)).collect();
    expected.sort();
    let listed =
        by_pages(3, async |last: Option<&(HostKey, HostState)>| ports.hosts.list(last.map(|(key, _)| key), 3).await)
            .await;
    assert_eq!(ports.hosts.list(None, 100).await.expect("lists"), listed);
    for (key, state) in &listed {
        assert_eq!(ports.ledger.load(key).await.expect("loads").0, *state);
    }
    let mut listed: Vec<HostKey> = listed.into_iter().map(|(key, _)| key).collect();
    listed.sort();
    assert_eq!(listed, expected);
}
