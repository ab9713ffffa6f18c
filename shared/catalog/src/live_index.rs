//! The live index: the manifests of all years, combined for the queries that run over them.

use curlew_model::{PageId, Timestamp, Year};
use curlew_ports::Tag;
use curlew_search::{Hidden, Manifest, SplitEntry};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The manifests of all years, and the pages that they hide. It is rebuilt only when a manifest changes or a page
/// expires, since a split caches the positions of one set of tombstones.
#[derive(Default)]
pub(crate) struct LiveIndex {
    pub(crate) tags: Vec<(Year, Option<Tag>)>,
    pub(crate) entries: Vec<SplitEntry>,
    /// Pages of which the split at the same index has only an outdated copy.
    pub(crate) outdated: Vec<Arc<BTreeSet<PageId>>>,
    /// The pages that no query may find, without those of blocked hosts.
    pub(crate) hidden: Hidden,
    /// Time at which the next page expires.
    pub(crate) until: Option<Timestamp>,
    pub(crate) unreadable: Unsearched,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unsearched {
    pub(crate) pages: u64,
    /// Years whose manifests cannot be read, so that the number of their pages is unknown.
    pub(crate) years: Vec<Year>,
}

impl LiveIndex {
    /// Combines the manifests of all years, in the order of `tags`; one that cannot be read is `None`. Unchanged parts
    /// keep their address, by which open splits know that they need not look them up again.
    pub(crate) fn combine(
        manifests: &[Arc<Option<Manifest>>],
        tags: Vec<(Year, Option<Tag>)>,
        now: Timestamp,
        last: &LiveIndex,
    ) -> LiveIndex {
        let years = tags.iter().zip(manifests).filter(|(_, manifest)| manifest.is_none()).map(|((year, _), _)| *year);
        let years = years.collect();
        let manifests: Vec<&Manifest> = manifests.iter().filter_map(|manifest| (**manifest).as_ref()).collect();
        // Splits of a format that cannot be read are left out until the next publishing has replaced them. All of their
        // pages count as not searched, since bounds of another version do not tell whether a split may match.
        let pages = manifests.iter().map(|manifest| manifest.unreadable_docs()).sum();
        let known: HashMap<&str, &Arc<BTreeSet<PageId>>> =
            last.entries.iter().map(|entry| entry.key.as_str()).zip(&last.outdated).collect();
        let readable = manifests.iter().flat_map(|m| m.splits.iter().filter(|s| s.is_readable()).map(move |s| (m, s)));
        let (mut entries, mut outdated) = (Vec::new(), Vec::new());
        for (manifest, entry) in readable {
            let pages = manifest.outdated_in(entry);
            let same = known.get(entry.key.as_str()).filter(|known| BTreeSet::eq(known, &pages));
            outdated.push(same.map_or_else(|| Arc::new(pages), |known| Arc::clone(known)));
            entries.push(entry.clone());
        }
        let hidden = Hidden::new(manifests.iter().copied(), BTreeSet::new(), now);
        let hidden = match hidden.tombstones == last.hidden.tombstones {
            true => last.hidden.clone(),
            false => hidden.after(&last.hidden.tombstones),
        };
        let until = manifests.iter().filter_map(|manifest| manifest.next_expiry(now)).min();
        LiveIndex { tags, entries, outdated, hidden, until, unreadable: Unsearched { pages, years } }
    }
}
