//! Connections of each address: a bounded share, so that one address does not take all connections.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts the connections of addresses. An IPv6 address counts as its /64, the usual assignment to one household or
/// machine.
#[derive(Clone)]
pub(super) struct Callers {
    most: usize,
    held: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// A connection that is counted until this is dropped.
pub(super) struct Share {
    callers: Callers,
    address: IpAddr,
}

impl Callers {
    /// Creates a counter that allows at most `most` connections of one address.
    pub(super) fn new(most: usize) -> Callers {
        Callers { most, held: Arc::default() }
    }

    /// Counts one more connection of an address, unless it has reached its limit.
    pub(super) fn take(&self, address: IpAddr) -> Option<Share> {
        let address = counted_as(address);
        let mut held = self.held();
        let count = held.entry(address).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(Share { callers: self.clone(), address })
    }

    fn held(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut held = self.callers.held();
        if let Some(count) = held.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                held.remove(&self.address);
            }
        }
    }
}

fn counted_as(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        v4 => v4,
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
}
