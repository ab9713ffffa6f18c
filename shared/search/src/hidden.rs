//! Pages and hosts that no search may find.

use crate::manifest::Manifest;
use curlew_model::{PageId, Timestamp};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Pages and hosts that no query may find.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hidden {
    /// Pages that are gone. Splits look up a shared set once: keep one [`Hidden`] while its manifests stay the same.
    pub tombstones: Arc<BTreeSet<PageId>>,
    /// An earlier set and the pages that have been added to it since: whoever has looked up those need not do so again.
    pub since: Option<Since>,
    /// Blocked hosts, lower case, A-labels; their subdomains are hidden too.
    pub hosts: BTreeSet<String>,
}

/// An earlier set of tombstones, and what has been added to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Since {
    /// The set, by whose address whoever has looked it up knows it.
    pub earlier: Arc<BTreeSet<PageId>>,
    /// The pages that have been added.
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

    /// States which set of tombstones came before this one, if all of them are still among these.
    #[must_use]
    pub fn after(self, earlier: &Arc<BTreeSet<PageId>>) -> Hidden {
        let since = earlier
            .is_subset(&self.tombstones)
            .then(|| Since { earlier: earlier.clone(), added: self.tombstones.difference(earlier).cloned().collect() });
        Hidden { since, ..self }
    }
}
