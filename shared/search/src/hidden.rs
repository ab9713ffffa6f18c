//! Pages and hosts that no search may find.

use crate::manifest::Manifest;
use curlew_model::{PageId, Timestamp};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What must not be found, whatever is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hidden {
    /// Pages that are gone. Shared, so that a split looks them up once and not with every query: keep one [`Hidden`]
    /// for as long as its manifests stay the same.
    pub tombstones: Arc<BTreeSet<PageId>>,
    /// Blocked hosts, lower case, A-labels; what is below them is hidden too.
    pub hosts: BTreeSet<String>,
}

impl Hidden {
    /// The tombstones of some years, the pages whose time is over, and blocked hosts.
    pub fn of<'a>(
        manifests: impl IntoIterator<Item = &'a Manifest>,
        hosts: BTreeSet<String>,
        now: Timestamp,
    ) -> Hidden {
        let tombstones = manifests.into_iter().flat_map(|m| m.tombstones.iter().chain(m.expired(now)).cloned());
        Hidden { tombstones: Arc::new(tombstones.collect()), hosts }
    }
}
