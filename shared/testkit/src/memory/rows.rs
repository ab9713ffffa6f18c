//! A map whose values are swapped by version, as all tables of rows are.

use super::lock;
use curlew_ports::{PortError, Version};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Mutex;

/// Values with their versions, in the order of their keys.
#[derive(Debug)]
pub(super) struct Rows<K, V>(Mutex<BTreeMap<K, (V, Version)>>);

impl<K, V> Default for Rows<K, V> {
    fn default() -> Rows<K, V> {
        Rows(Mutex::default())
    }
}

impl<K: Ord + Clone, V: Clone> Rows<K, V> {
    pub(super) fn get(&self, key: &K) -> Option<(V, Version)> {
        lock(&self.0).get(key).cloned()
    }

    /// Writes a row that is not there yet; says whether it did.
    pub(super) fn insert(&self, key: &K, value: V) -> bool {
        let mut rows = lock(&self.0);
        let absent = !rows.contains_key(key);
        if absent {
            rows.insert(key.clone(), (value, Version(1)));
        }
        absent
    }

    /// Replaces a row whose version is `seen` and that `fits`.
    pub(super) fn swap_if(
        &self,
        key: &K,
        seen: Version,
        value: V,
        fits: impl Fn(&V) -> bool,
    ) -> Result<Version, PortError> {
        match lock(&self.0).get_mut(key) {
            Some((held, version)) if *version == seen && fits(held) => {
                *held = value;
                version.0 += 1;
                Ok(*version)
            }
            _ => Err(PortError::Conflict),
        }
    }

    /// Replaces a row whose version is `seen`, or writes one that must not be there.
    pub(super) fn swap_or_make(&self, key: &K, seen: Version, value: V) -> Result<Version, PortError> {
        if seen != Version::ABSENT {
            return self.swap_if(key, seen, value, |_| true);
        }
        if self.insert(key, value) { Ok(Version(1)) } else { Err(PortError::Conflict) }
    }

    /// Rows after a key that pass a filter, at most `limit`.
    pub(super) fn list(&self, after: Option<&K>, limit: usize, wanted: impl Fn(&V) -> bool) -> Vec<(K, V)> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        lock(&self.0)
            .range((from, Bound::Unbounded))
            .filter(|(_, (value, _))| wanted(value))
            .take(limit)
            .map(|(key, (value, _))| (key.clone(), value.clone()))
            .collect()
    }
}
