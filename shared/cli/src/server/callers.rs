//! Limits the connections of each address to a share, which shrinks as free places become few.

use curlew_web::networks;
use ipnet::IpNet;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

/// Number of addresses whose shares one network may use: with the default limits, half of all connections.
const NETWORK_SHARE: usize = 2;
/// Number of free places that each connection of an address requires.
const FREE_FOR_EACH: usize = 4;
/// Number of connections that an address may have while any place is free: as many as a browser opens to a server.
const OF_BROWSER: usize = 6;

/// Counts connections by address and network; see [`networks`].
#[derive(Clone)]
pub(super) struct Callers {
    most: usize,
    held: Arc<Mutex<HashMap<IpNet, usize>>>,
}

pub(super) struct Share {
    callers: Callers,
    networks: Vec<IpNet>,
}

impl Callers {
    pub(super) fn new(most: usize) -> Callers {
        Callers { most, held: Arc::default() }
    }

    /// Counts a connection; `None` if its address or network has reached its limit, given `free` free places.
    pub(super) fn take(&self, address: IpAddr, free: usize) -> Option<Share> {
        let networks = networks(address);
        let mut held = self.held.lock();
        let most = self.most.min((free / FREE_FOR_EACH).max(OF_BROWSER));
        let most = [most, most.saturating_mul(NETWORK_SHARE)];
        if networks.iter().zip(most).any(|(network, most)| held.get(network).copied().unwrap_or(0) >= most) {
            return None;
        }
        networks.iter().for_each(|network| *held.entry(*network).or_default() += 1);
        Some(Share { callers: self.clone(), networks })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut held = self.callers.held.lock();
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
        let take = |address: &str| callers.take(address.parse().unwrap(), 256);
        let (first, second) = (take("192.0.2.1"), take("::ffff:192.0.2.1"));
        assert!(first.is_some() && second.is_some() && take("192.0.2.1").is_none());
        assert!(take("192.0.2.2").is_some(), "another address has its own");
        drop(first);
        assert!(take("192.0.2.1").is_some());
        let (one, other) = (take("2001:db8::1"), take("2001:db8::ffff"));
        assert!(one.is_some() && other.is_some() && take("2001:db8::2").is_none() && take("2001:db8:0:1::1").is_some());
        drop((second, one, other));
        assert!(callers.held.lock().is_empty(), "who is gone is forgotten");
    }

    #[test]
    fn few_addresses_do_not_take_all_places_and_each_has_those_of_a_browser() {
        let (callers, places) = (Callers::new(64), 256);
        let mut held: Vec<Share> = Vec::new();
        let mut fill = |address: u8| {
            let before = held.len();
            while held.len() < places
                && let Some(share) = callers.take(IpAddr::from([192, 0, 2, address]), places - held.len())
            {
                held.push(share);
            }
            held.len() - before
        };
        let taken: Vec<usize> = (0..10).map(&mut fill).collect();
        assert!(taken.is_sorted_by(|a, b| a >= b) && taken[0] > 40, "{taken:?}");
        assert!(taken.iter().sum::<usize>() < places - OF_BROWSER, "{taken:?}");
        assert_eq!(fill(99), OF_BROWSER);
    }

    #[test]
    fn a_network_has_the_share_of_a_few_addresses() {
        let callers = Callers::new(2);
        let take = |address: &str| callers.take(address.parse().unwrap(), 256);
        let held: Vec<Share> = (0..9).filter_map(|n| take(&format!("2001:db8:7:{n}::1"))).collect();
        assert_eq!(held.len(), 2 * NETWORK_SHARE);
        assert!(take("2001:db8:8::1").is_some(), "another network has its own");
        drop(held);
        assert!(take("2001:db8:7:1::1").is_some());
        assert!(callers.held.lock().is_empty());
    }
}
