//! Pages and hosts that no search may find.

use crate::manifest::Manifest;
use curlew_model::{PageId, Timestamp};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Pages and hosts that no query may find.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hidden {
    /// Pages that are gone. Shared, so that a split looks them up once instead of once per query: keep one [`Hidden`]
    /// as long as its manifests stay the same.
    pub tombstones: Arc<BTreeSet<PageId>>,
    /// Blocked hosts, lower case, A-labels; their subdomains are hidden too.
    pub hosts: BTreeSet<String>,
}

impl Hidden {
    /// Combines the tombstones and expired pages of some years' manifests with blocked hosts.
    pub fn of<'a>(
        manifests: impl IntoIterator<Item = &'a Manifest>,
        hosts: BTreeSet<String>,
        now: Timestamp,
    ) -> Hidden {
        let tombstones = manifests.into_iter().flat_map(|m| m.tombstones.iter().chain(m.expired(now)).cloned());
        Hidden { tombstones: Arc::new(tombstones.collect()), hosts }
    }
}
