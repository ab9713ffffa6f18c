//! Tombstones and blocked hosts, which hide pages from search.

use crate::manifest::Manifest;
use curlew_model::{PageId, Timestamp};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Pages and hosts that no query may find.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hidden {
    /// Pages that are gone. A split looks up each shared set once, so keep one [`Hidden`] until its manifests change.
    pub tombstones: Arc<BTreeSet<PageId>>,
    /// An earlier set and the pages added since: a split that has looked up the earlier set looks up only these.
    pub since: Option<Since>,
    /// Blocked hosts, lower case, A-labels; their subdomains are hidden too.
    pub hosts: BTreeSet<String>,
}

/// An earlier set of tombstones, and the pages added since.
#[derive(Clone, Debug, PartialEq)]
pub struct Since {
    /// The earlier set; splits recognize it by its address.
    pub earlier: Arc<BTreeSet<PageId>>,
    /// The pages added.
    pub added: Arc<[PageId]>,
}

impl Hidden {
    /// Combines the tombstones and expired pages of some years' manifests with blocked hosts.
    pub fn new<'a>(
        manifests: impl IntoIterator<Item = &'a Manifest>,
        hosts: BTreeSet<String>,
        now: Timestamp,
    ) -> Hidden {
        let tombstones = manifests.into_iter().flat_map(|m| m.tombstones.iter().chain(m.expired(now)).cloned());
        Hidden { tombstones: Arc::new(tombstones.collect()), since: None, hosts }
    }

    /// Sets `since` to the difference from an earlier set, or to `None` if this set lacks some of its tombstones.
    #[must_use]
    pub fn after(self, earlier: &Arc<BTreeSet<PageId>>) -> Hidden {
        let since = earlier
            .is_subset(&self.tombstones)
            .then(|| Since { earlier: earlier.clone(), added: self.tombstones.difference(earlier).cloned().collect() });
        Hidden { since, ..self }
    }
}
