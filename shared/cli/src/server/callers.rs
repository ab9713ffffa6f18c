//! Connections of each address: a bounded share, so that one address does not take all connections.

use curlew_web::networks;
use ipnet::IpNet;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of addresses whose connections a network of many may have: with the usual limits, half of all.
const NETWORK_SHARE: usize = 2;

/// Counts the connections of addresses, as the [`networks`] that they belong to.
#[derive(Clone)]
pub(super) struct Callers {
    most: usize,
    held: Arc<Mutex<HashMap<IpNet, usize>>>,
}

/// A connection that is counted until this is dropped.
pub(super) struct Share {
    callers: Callers,
    networks: Vec<IpNet>,
}

impl Callers {
    /// Creates a counter that allows at most `most` connections of one address.
    pub(super) fn new(most: usize) -> Callers {
        Callers { most, held: Arc::default() }
    }

    /// Counts one more connection of an address, unless it or its network has reached its limit.
    pub(super) fn take(&self, address: IpAddr) -> Option<Share> {
        let networks = networks(address);
        let mut held = self.held();
        let most = [self.most, self.most.saturating_mul(NETWORK_SHARE)];
        if networks.iter().zip(most).any(|(network, most)| held.get(network).copied().unwrap_or(0) >= most) {
            return None;
        }
        networks.iter().for_each(|network| *held.entry(*network).or_default() += 1);
        Some(Share { callers: self.clone(), networks })
    }

    fn held(&self) -> MutexGuard<'_, HashMap<IpNet, usize>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut held = self.callers.held();
        for network in &self.networks {
            if let Some(count) = held.get_mut(network) {
                *count -= 1;
                if *count == 0 {
                    held.remove(network);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn an_address_has_its_share_and_gets_back_what_it_lets_go() {
        let callers = Callers::new(2);
        let take = |address: &str| callers.take(address.parse().unwrap());
        let (first, second) = (take("192.0.2.1"), take("::ffff:192.0.2.1"));
        assert!(first.is_some() && second.is_some() && take("192.0.2.1").is_none());
        assert!(take("192.0.2.2").is_some(), "another address has its own");
        drop(first);
        assert!(take("192.0.2.1").is_some());
        let (one, other) = (take("2001:db8::1"), take("2001:db8::ffff"));
        assert!(one.is_some() && other.is_some() && take("2001:db8::2").is_none() && take("2001:db8:0:1::1").is_some());
        drop((second, one, other));
        assert!(callers.held().is_empty(), "who is gone is forgotten");
    }

    #[test]
    fn a_network_has_the_share_of_a_few_addresses() {
        let callers = Callers::new(2);
        let take = |address: &str| callers.take(address.parse().unwrap());
        let held: Vec<Share> = (0..9).filter_map(|n| take(&format!("2001:db8:7:{n}::1"))).collect();
        assert_eq!(held.len(), 2 * NETWORK_SHARE);
        assert!(take("2001:db8:8::1").is_some(), "another network has its own");
        drop(held);
        assert!(take("2001:db8:7:1::1").is_some());
        assert!(callers.held().is_empty());
    }
}
