//! Rate limits per address: a token bucket for each, in memory, in bounded number.
//!
//! Addresses themselves are never stored. A bucket's key is a keyed hash with the day mixed in, so that the memory
//! reveals nothing once the secret is gone, and nothing about yesterday even before that.

use crate::secret::keyed;
use curlew_model::{Millis, Timestamp};
use hmac::Mac;
use lru::LruCache;
use sha2::{Digest, Sha256};
use std::net::IpAddr;
use std::num::NonZeroUsize;

/// Maximum number of addresses that are remembered; beyond it the one that was quiet for longest is forgotten.
const MAX_ADDRESSES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4_095);
/// Name of this use of the secret, which keeps it apart from all others.
const PURPOSE: &[u8] = b"curlew caller's address 1";

/// Buckets of one kind of call.
#[derive(Debug)]
pub(crate) struct Quota {
    calls: u32,
    /// Time in which an empty bucket fills up.
    refill: Millis,
    buckets: LruCache<u64, Bucket>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Calls that are left, in thousandths.
    milli: u64,
    /// Time at which `milli` was computed, on the monotonic clock.
    at: Millis,
}

impl Quota {
    /// Allows `calls` calls a minute, all of which may come at once.
    pub(crate) fn a_minute(calls: u32) -> Quota {
        Quota { calls, refill: Millis::from_mins(1), buckets: LruCache::sparse(MAX_ADDRESSES) }
    }

    /// Allows `calls` calls a day, all of which may come at once.
    pub(crate) fn a_day(calls: u32) -> Quota {
        Quota { refill: Millis::from_days(1), ..Quota::a_minute(calls) }
    }

    /// Takes one call from the allowance of `key`, or returns the time to wait for one.
    pub(crate) fn take(&mut self, key: u64, now: Millis) -> Result<(), Millis> {
        if self.calls == 0 {
            return Err(self.refill);
        }
        let capacity = u64::from(self.calls) * 1_000;
        let bucket = self.buckets.peek(&key).copied().unwrap_or(Bucket { milli: capacity, at: now });
        let gained = now.saturating_sub(bucket.at).0.saturating_mul(capacity) / self.refill.0;
        let milli = bucket.milli.saturating_add(gained).min(capacity);
        if milli < 1_000 {
            // Not written back: a caller that keeps asking must not lose the allowance that it gains in between.
            return Err(Millis(((1_000 - milli) * self.refill.0).div_ceil(capacity)));
        }
        self.buckets.put(key, Bucket { milli: milli - 1_000, at: now });
        Ok(())
    }
}

/// Returns the key for an address and a host; each pair has an allowance of its own.
pub(crate) fn key_for(key: u64, host: &str) -> u64 {
    let hash = Sha256::new().chain_update(key.to_be_bytes()).chain_update(host).finalize();
    hash.iter().take(8).fold(0, |key, byte| (key << 8) | u64::from(*byte))
}

/// Returns the key of an address on the day of `now`. An IPv6 address counts as its /64, the usual assignment to one
/// household or machine; all unknown addresses share one key.
pub(crate) fn key(secret: &[u8; 32], address: Option<IpAddr>, now: Timestamp) -> u64 {
    let mut mac = keyed(secret, PURPOSE);
    mac.update(&now.as_millis().div_euclid(86_400_000).to_be_bytes());
    match address.map(|a| a.to_canonical()) {
        Some(IpAddr::V4(v4)) => mac.update(&v4.octets()),
        Some(IpAddr::V6(v6)) => mac.update(&v6.octets()[..8]),
        None => {}
    }
    let hash = mac.finalize().into_bytes();
    hash.iter().take(8).fold(0, |key, byte| (key << 8) | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn a_bucket_empties_and_fills_again() {
        let mut quota = Quota::a_minute(3);
        for _ in 0..3 {
            assert_eq!(quota.take(1, Millis(0)), Ok(()));
        }
        assert_eq!(quota.take(1, Millis(0)), Err(Millis::from_secs(20)));
        assert_eq!(quota.take(1, Millis::from_secs(19)), Err(Millis::from_secs(1)));
        assert_eq!(quota.take(2, Millis(0)), Ok(()), "another address has its own");
        assert_eq!(quota.take(1, Millis::from_secs(20)), Ok(()));
        assert!(quota.take(1, Millis::from_secs(20)).is_err());
    }

    #[test]
    fn what_is_counted_by_the_day_comes_back_within_one() {
        let mut quota = Quota::a_day(2);
        assert_eq!([quota.take(1, Millis(0)), quota.take(1, Millis(0))], [Ok(()), Ok(())]);
        assert_eq!(quota.take(1, Millis(0)), Err(Millis::from_hours(12)));
        assert_eq!(quota.take(1, Millis::from_hours(12)), Ok(()));
    }

    #[test]
    fn nothing_a_minute_lets_nothing_through() {
        assert_eq!(Quota::a_minute(0).take(1, Millis(0)), Err(Millis::from_mins(1)));
    }

    #[test]
    fn memory_is_bounded_and_the_quietest_goes_first() {
        let mut quota = Quota::a_minute(1);
        let most = MAX_ADDRESSES.get() as u64;
        for key in 0..most * 2 {
            assert_eq!(quota.take(key, Millis(key)), Ok(()));
        }
        assert_eq!(quota.buckets.len() as u64, most);
        assert!(quota.buckets.contains(&(most * 2 - 1)));
        assert!(!quota.buckets.contains(&0));
    }

    #[test]
    fn keys_follow_address_day_and_secret() {
        let (a, b) = ([1; 32], [2; 32]);
        let day = Timestamp::from_millis(1_800_000_000_000);
        let k = |secret: &[u8; 32], ip: &str, now| key(secret, Some(ip.parse().unwrap()), now);
        assert_eq!(k(&a, "192.0.2.1", day), k(&a, "::ffff:192.0.2.1", day));
        assert_eq!(k(&a, "2001:db8::1", day), k(&a, "2001:db8::ffff", day));
        assert_ne!(k(&a, "2001:db8::1", day), k(&a, "2001:db8:0:1::1", day));
        assert_ne!(k(&a, "192.0.2.1", day), k(&a, "192.0.2.2", day));
        assert_ne!(k(&a, "192.0.2.1", day), k(&b, "192.0.2.1", day));
        assert_ne!(k(&a, "192.0.2.1", day), k(&a, "192.0.2.1", day + Millis::from_days(1)));
        assert_ne!(key(&a, None, day), k(&a, "192.0.2.1", day));
    }
}
