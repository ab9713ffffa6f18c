//! Rate limits per address and per network: token buckets in memory, in bounded number.
//!
//! Addresses are never stored. A bucket's key is a keyed hash of the address and the day. Without the secret, the
//! memory reveals no address, and calls from one address on different days cannot be linked.

use crate::page_settings::PageSettings;
use crate::secret::keyed;
use curlew_model::{Millis, Timestamp};
use curlew_policy::address::hash64;
use hmac::Mac;
use ipnet::IpNet;
use lru::LruCache;
use std::net::IpAddr;
use std::num::NonZeroUsize;

/// Maximum number of addresses, and of networks. Beyond it, the one that has been quiet for longest is forgotten.
const MAX_ADDRESSES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4_095);
/// Allowance of a network, as a multiple of an address's: one person may control many /64s, as an organization does.
const NETWORK_SHARE: u32 = 8;
/// Label that separates this use of the secret from all others.
const PURPOSE: &[u8] = b"curlew caller's address 1";

/// A kind of call that is limited for each caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Allowance {
    Search,
    Form,
    RushForm,
    /// A request from a hub; one hub announces updates of many feeds.
    HubCall,
    /// A message to the operator. All callers together also have a daily limit.
    Message,
    /// A suggested site. All callers together also have a daily limit.
    Suggestion,
    /// A check for a proof. It may query a name server of the caller's choice, so all callers together are limited too.
    Look,
    /// A check that calls one host for a proof. One caller may use half of the host's daily number.
    CallOfHost,
    SignIn,
}

impl Allowance {
    pub(crate) fn quota(self, settings: &PageSettings) -> Quota {
        match self {
            Allowance::Search => Quota::a_minute(settings.searches_per_minute),
            Allowance::Form => Quota::a_minute(10),
            Allowance::RushForm => Quota::a_minute(1),
            Allowance::HubCall => Quota::a_minute(600),
            Allowance::Message => Quota::a_day(5),
            Allowance::Suggestion => Quota::a_day(20),
            Allowance::Look => Quota::a_day(30).of_all_a_minute(60),
            Allowance::CallOfHost => Quota::a_day(6),
            Allowance::SignIn => Quota::a_minute(10),
        }
    }
}

/// Returns the networks against which an address is counted. For IPv4, this is the address itself. For IPv6, these are
/// the /64, usually one household or machine, and the /48, the largest assignment to a site (RFC 6177 §2).
pub fn networks(address: IpAddr) -> Vec<IpNet> {
    let address = address.to_canonical();
    let lengths: &[u8] = if address.is_ipv4() { &[32] } else { &[64, 48] };
    lengths.iter().filter_map(|bits| Some(IpNet::new(address, *bits).ok()?.trunc())).collect()
}

/// Keys of a caller's buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallerKey {
    address: u64,
    /// Key of the largest network; equal to `address` if there is no larger network.
    network: u64,
}

impl CallerKey {
    /// Returns the keys of a caller on the day of `now` (UTC). All unknown addresses share one key.
    pub(crate) fn new(secret: &[u8; 32], address: Option<IpAddr>, now: Timestamp) -> CallerKey {
        let day = now.as_millis().div_euclid(86_400_000).to_be_bytes();
        let key = |network: Option<&IpNet>| {
            let network = network.map(IpNet::to_string).unwrap_or_default();
            let mac = keyed(secret, PURPOSE).chain_update(day).chain_update(network);
            mac.finalize().into_bytes().iter().take(8).fold(0, |key, byte| (key << 8) | u64::from(*byte))
        };
        let networks = address.map(networks).unwrap_or_default();
        CallerKey { address: key(networks.first()), network: key(networks.last()) }
    }

    /// Returns the key of the caller's network and a host. Each such pair has one allowance, which the network shares.
    pub(crate) fn with_host(self, host: &str) -> CallerKey {
        let key = hash64(&format!("{} {host}", self.network));
        CallerKey { address: key, network: key }
    }
}

#[derive(Debug)]
pub(crate) struct Quota {
    /// Buckets of each address, of each network, and, for some calls, one of all callers together.
    levels: Vec<Buckets>,
}

/// Buckets of equal size.
#[derive(Debug)]
struct Buckets {
    calls: u32,
    /// Time in which an empty bucket fills up.
    refill: Millis,
    all: LruCache<u64, Bucket>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Calls that are left, in thousandths.
    milli: u64,
    /// Time at which `milli` was computed, on the monotonic clock.
    at: Millis,
}

impl Quota {
    /// Allows each address `calls` calls per minute, all of which may come at once.
    fn a_minute(calls: u32) -> Quota {
        Quota::every(Millis::from_mins(1), calls)
    }

    /// Allows each address `calls` calls per day, all of which may come at once.
    fn a_day(calls: u32) -> Quota {
        Quota::every(Millis::from_days(1), calls)
    }

    fn every(refill: Millis, calls: u32) -> Quota {
        Quota { levels: [1, NETWORK_SHARE].map(|times| Buckets::new(refill, calls.saturating_mul(times))).into() }
    }

    /// Also limits all callers together to `calls` calls per minute.
    fn of_all_a_minute(mut self, calls: u32) -> Quota {
        self.levels.push(Buckets::new(Millis::from_mins(1), calls));
        self
    }

    /// Takes one call from each allowance of a caller. If one is used up, takes nothing and returns the time to wait.
    pub(crate) fn take(&mut self, key: CallerKey, now: Millis) -> Result<(), Millis> {
        let keys = [key.address, key.network, 0];
        let less = self.levels.iter().zip(keys).map(|(level, key)| level.less(key, now));
        let left = less.collect::<Result<Vec<_>, _>>()?;
        for ((level, key), bucket) in self.levels.iter_mut().zip(keys).zip(left) {
            level.all.put(key, bucket);
        }
        Ok(())
    }
}

impl Buckets {
    fn new(refill: Millis, calls: u32) -> Buckets {
        Buckets { calls, refill, all: LruCache::sparse(MAX_ADDRESSES) }
    }

    /// Returns the bucket of `key` with one call fewer, or the time until a call is available. In the latter case
    /// nothing is written back, so a caller that keeps trying does not lose the fraction of a call that it has gained.
    fn less(&self, key: u64, now: Millis) -> Result<Bucket, Millis> {
        if self.calls == 0 {
            return Err(self.refill);
        }
        let capacity = u64::from(self.calls) * 1_000;
        let bucket = self.all.peek(&key).copied().unwrap_or(Bucket { milli: capacity, at: now });
        let gained = now.saturating_sub(bucket.at).0.saturating_mul(capacity) / self.refill.0;
        let milli = bucket.milli.saturating_add(gained).min(capacity);
        if milli < 1_000 {
            return Err(Millis(((1_000 - milli) * self.refill.0).div_ceil(capacity)));
        }
        Ok(Bucket { milli: milli - 1_000, at: now })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    const DAY: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    /// The key of a caller that has no network beyond its address.
    fn alone(key: u64) -> CallerKey {
        CallerKey { address: key, network: key }
    }

    fn key(secret: u8, address: &str, now: Timestamp) -> CallerKey {
        CallerKey::new(&[secret; 32], Some(address.parse().unwrap()), now)
    }

    #[test]
    fn a_bucket_empties_and_fills_again() {
        let mut quota = Quota::a_minute(3);
        for _ in 0..3 {
            assert_eq!(quota.take(alone(1), Millis(0)), Ok(()));
        }
        assert_eq!(quota.take(alone(1), Millis(0)), Err(Millis::from_secs(20)));
        assert_eq!(quota.take(alone(1), Millis::from_secs(19)), Err(Millis::from_secs(1)));
        assert_eq!(quota.take(alone(2), Millis(0)), Ok(()), "another address has its own");
        assert_eq!(quota.take(alone(1), Millis::from_secs(20)), Ok(()));
        assert!(quota.take(alone(1), Millis::from_secs(20)).is_err());
    }

    #[test]
    fn what_is_counted_by_the_day_comes_back_within_one() {
        let mut quota = Quota::a_day(2);
        assert_eq!([quota.take(alone(1), Millis(0)), quota.take(alone(1), Millis(0))], [Ok(()), Ok(())]);
        assert_eq!(quota.take(alone(1), Millis(0)), Err(Millis::from_hours(12)));
        assert_eq!(quota.take(alone(1), Millis::from_hours(12)), Ok(()));
    }

    #[test]
    fn nothing_a_minute_lets_nothing_through() {
        assert_eq!(Quota::a_minute(0).take(alone(1), Millis(0)), Err(Millis::from_mins(1)));
    }

    #[test]
    fn many_addresses_of_one_network_have_a_few_allowances_and_push_nobody_out() {
        let mut quota = Quota::a_day(2);
        let most = MAX_ADDRESSES.get() as u64;
        for _ in 0..2 {
            assert_eq!(quota.take(key(1, "192.0.2.1", DAY), Millis(0)), Ok(()));
        }
        let addresses = (0..2 * most).map(|n| format!("2001:db8:7:{n:x}::1"));
        let taken = addresses.filter(|address| quota.take(key(1, address, DAY), Millis(0)).is_ok()).count();
        assert_eq!(taken, 2 * NETWORK_SHARE as usize);
        assert!(quota.take(key(1, "192.0.2.1", DAY), Millis(0)).is_err(), "it is not forgotten");
        assert_eq!(quota.take(key(1, "2001:db8:8::1", DAY), Millis(0)), Ok(()), "another network has its own");
    }

    #[test]
    fn a_call_that_one_allowance_refuses_takes_nothing_from_another() {
        let mut quota = Quota::a_day(3).of_all_a_minute(4);
        let mut taken =
            |key, seconds| (0..9).filter(|_| quota.take(alone(key), Millis::from_secs(seconds)).is_ok()).count();
        assert_eq!([taken(1, 0), taken(2, 0)], [3, 1], "one caller does not use up what all have");
        assert_eq!([taken(1, 60), taken(2, 60), taken(3, 60)], [0, 2, 2]);
    }

    #[test]
    fn memory_is_bounded_and_the_quietest_goes_first() {
        let mut quota = Quota::a_minute(1);
        let most = MAX_ADDRESSES.get() as u64;
        for key in 0..most * 2 {
            assert_eq!(quota.take(alone(key), Millis(key)), Ok(()));
        }
        for Buckets { all, .. } in &quota.levels {
            assert_eq!(all.len() as u64, most);
            assert!(all.contains(&(most * 2 - 1)) && !all.contains(&0));
        }
    }

    #[test]
    fn keys_follow_address_day_and_secret() {
        let k = |secret, address, now| key(secret, address, now).address;
        assert_eq!(k(1, "192.0.2.1", DAY), k(1, "::ffff:192.0.2.1", DAY));
        assert_eq!(k(1, "2001:db8::1", DAY), k(1, "2001:db8::ffff", DAY));
        assert_ne!(k(1, "2001:db8::1", DAY), k(1, "2001:db8:0:1::1", DAY));
        assert_ne!(k(1, "192.0.2.1", DAY), k(1, "192.0.2.2", DAY));
        assert_ne!(k(1, "192.0.2.1", DAY), k(2, "192.0.2.1", DAY));
        assert_ne!(k(1, "192.0.2.1", DAY), k(1, "192.0.2.1", DAY + Millis::from_days(1)));
        assert_ne!(CallerKey::new(&[1; 32], None, DAY).address, k(1, "192.0.2.1", DAY));
        let of_host = |address, host| key(1, address, DAY).with_host(host);
        assert_eq!(of_host("2001:db8::1", "a.example"), of_host("2001:db8:0:1::1", "a.example"), "of one network");
        assert_ne!(of_host("2001:db8::1", "a.example"), of_host("2001:db8:1::1", "a.example"));
        assert_ne!(of_host("192.0.2.1", "a.example"), of_host("192.0.2.1", "b.example"));
    }
}
