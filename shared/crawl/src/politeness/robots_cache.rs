//! The process's cache of compiled robots.txt rules. An entry expires with the stored copy, so no process uses rules
//! for longer than RFC 9309 §2.4 allows.

use curlew_model::{Origin, Timestamp};
use curlew_policy::robots::Robots;
use lru::LruCache;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) const MAX_ORIGINS: usize = 10_000;
/// Maximum total size of cached rules, in bytes; the least recently used are evicted first.
pub(crate) const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Recently used rules, by origin.
#[derive(Debug)]
pub struct KnownRobots {
    inner: Mutex<Inner>,
    origins: usize,
    bytes: usize,
}

impl Default for KnownRobots {
    fn default() -> KnownRobots {
        KnownRobots::with_room(MAX_ORIGINS, MAX_BYTES)
    }
}

#[derive(Debug)]
struct Inner {
    known: LruCache<Origin, KnownRules>,
    bytes: usize,
}

#[derive(Debug)]
struct KnownRules {
    rules: Arc<Robots>,
    until: Timestamp,
    bytes: usize,
}

impl KnownRobots {
    /// Creates a cache of at most this number of origins and bytes.
    pub fn with_room(origins: usize, bytes: usize) -> KnownRobots {
        KnownRobots { inner: Mutex::new(Inner { known: LruCache::unbounded(), bytes: 0 }), origins, bytes }
    }

    pub(crate) fn get(&self, origin: &Origin, now: Timestamp) -> Option<Arc<Robots>> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = inner.known.get(origin).filter(|known| now < known.until) {
            return Some(known.rules.clone());
        }
        inner.remove(origin);
        None
    }

    /// Caches rules until an instant. Rules that exceed the cache's size are not cached.
    pub(crate) fn keep(&self, origin: &Origin, rules: Arc<Robots>, until: Timestamp) {
        let bytes = rules.weight() + origin.as_str().len();
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.remove(origin);
        if bytes > self.bytes {
            return;
        }
        while inner.known.len() >= self.origins || inner.bytes + bytes > self.bytes {
            let Some((_, oldest)) = inner.known.pop_lru() else { return };
            inner.bytes -= oldest.bytes;
        }
        inner.bytes += bytes;
        inner.known.put(origin.clone(), KnownRules { rules, until, bytes });
    }
}

impl Inner {
    fn remove(&mut self, origin: &Origin) {
        if let Some(known) = self.known.pop(origin) {
            self.bytes -= known.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use curlew_model::Millis;

    fn origin(n: u32) -> Origin {
        Origin::new(&format!("https://h{n}.example:443")).unwrap()
    }

    fn rules(n: usize) -> Arc<Robots> {
        Arc::new(Robots::parse(format!("User-agent: *\n{}", "Disallow: /abc\n".repeat(n)).as_bytes(), "CurlewBot"))
    }

    #[test]
    fn r10_rules_are_known_until_their_time_is_over() {
        let known = KnownRobots::default();
        let now = Timestamp::EPOCH;
        known.keep(&origin(1), rules(1), now + Millis::from_hours(1));
        assert!(known.get(&origin(1), now).is_some());
        assert!(known.get(&origin(2), now).is_none());
        assert!(known.get(&origin(1), now + Millis::from_hours(1)).is_none());
        assert!(known.get(&origin(1), now).is_none(), "and are forgotten then");
    }

    #[test]
    fn what_was_not_asked_for_the_longest_makes_room() {
        let known = KnownRobots::with_room(3, MAX_BYTES);
        let (now, until) = (Timestamp::EPOCH, Timestamp::MAX);
        (1..=3).for_each(|n| known.keep(&origin(n), rules(1), until));
        assert!(known.get(&origin(1), now).is_some());
        known.keep(&origin(4), rules(1), until);
        let left: Vec<u32> = (1..=4).filter(|n| known.get(&origin(*n), now).is_some()).collect();
        assert_eq!(left, [1, 3, 4]);
    }

    #[test]
    fn bytes_are_bounded_too_and_given_back() {
        let room = 4 * rules(10).weight();
        let known = KnownRobots::with_room(100, room);
        let now = Timestamp::EPOCH;
        (0..50).for_each(|n| known.keep(&origin(n), rules(10), Timestamp::MAX));
        known.keep(&origin(99), rules(10_000), Timestamp::MAX);
        assert!(known.get(&origin(99), now).is_none(), "too large to be kept");
        let inner = known.inner.lock().unwrap();
        assert!((2..=4).contains(&inner.known.len()));
        assert_eq!(inner.bytes, inner.known.iter().map(|(_, k)| k.bytes).sum::<usize>());
    }
}
