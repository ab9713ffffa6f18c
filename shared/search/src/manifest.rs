//! Manifest of one year: its splits, the pages that must no longer be found, and the segments that the splits contain.
//!
//! Every change derives the next manifest from the present one. The caller stores it by compare-and-swap, and starts
//! over from the stored one if another writer was faster.

use crate::bounds::Bounds;
use crate::error::{Result, SearchError};
use crate::query::Query;
use curlew_model::{Millis, PageId, SegmentKey, Timestamp, Year, with_defaults};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Upper bound on the difference between the clocks of two machines.
const CLOCKS_DIFFER: Millis = Millis::from_mins(5);
const FORM: u32 = 1;

with_defaults! {
    /// Contents of the index of one year.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Manifest {
        /// Format version of this manifest.
        pub version: u32 = FORM,
        /// Year that it covers.
        pub year: Year,
        /// Number of changes so far; each adds one.
        pub generation: u64 = 0,
        /// Splits in the order in which they were added; if a page is in two, the later one counts.
        pub splits: Vec<SplitEntry> = Vec::new(),
        /// Pages that must no longer be found.
        pub tombstones: BTreeSet<PageId> = BTreeSet::new(),
        /// Pages that were republished because they changed: older copies of them are no longer found.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub superseded: BTreeMap<PageId, Superseded> = BTreeMap::new(),
        /// Pages that expire at an instant that became known only after they were indexed.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub expiries: BTreeMap<PageId, Timestamp> = BTreeMap::new(),
        /// Indexed segments of days that are not yet sealed.
        pub segments: BTreeSet<SegmentKey> = BTreeSet::new(),
        /// Every segment of this day (`2026-05-01`) and before is indexed.
        pub sealed_through: Option<String> = None,
        /// Objects that are no longer listed, with the time at which this was noticed; readers of older manifests use
        /// them.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub retired: BTreeMap<String, Timestamp> = BTreeMap::new(),
    }

    /// Returns an empty manifest for a year.
    new(year: Year)
}

/// A page of which a newer copy was published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Superseded {
    /// Generation that published the newer copy. A split with a lower generation is outdated for this page.
    pub generation: u64,
    /// Key of the split with the newer copy, until it is merged; empty if that split is in another year.
    pub split: String,
    /// Time of publication. Once all splits have been purged after this, no outdated copy is left.
    pub at: Timestamp,
}

/// Merge level of a split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// One publishing.
    #[default]
    Delta,
    /// Some publishings of one day.
    Hours,
    /// Publishings of one day.
    Day,
    /// Publishings of one week.
    Week,
    /// Publishings of one month.
    Month,
    /// Publishings of one year.
    Year,
}

/// One split of a manifest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SplitEntry {
    /// Object key of its blob.
    pub key: String,
    /// Number of pages in it.
    pub docs: u64,
    /// Length of its blob in bytes.
    pub bytes: u64,
    /// Languages of its pages; the empty string stands for those whose language is unknown.
    pub languages: BTreeSet<String>,
    /// Time at which it was built.
    pub built_at: Timestamp,
    /// Format version of its blob ([`crate::bundle::FORM`]).
    #[serde(default = "first_form")]
    pub form: u32,
    /// Merge level.
    #[serde(default)]
    pub tier: Tier,
    /// Time at which its oldest part was published; unlike `built_at`, a merge preserves it.
    #[serde(default)]
    pub since: Timestamp,
    /// Instant before which all tombstones have been applied: it contains no page with an older tombstone.
    #[serde(default)]
    pub purged_at: Timestamp,
    /// Generation of the manifest that was read before it was built: it contains nothing newer.
    #[serde(default)]
    pub generation: u64,
    /// Earliest time at which one of its pages expires by its own directive (`unavailable_after`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_expiry: Option<Timestamp>,
    /// Number of bytes at its end that are enough to open it.
    #[serde(default)]
    pub tail: u64,
    /// Bounds on the dates and hosts of its pages.
    #[serde(flatten)]
    pub bounds: Bounds,
}

/// Manifests from before this field existed list splits of the first format.
fn first_form() -> u32 {
    1
}

impl SplitEntry {
    /// True if this version can read the split.
    pub fn is_readable(&self) -> bool {
        crate::bundle::is_readable(self.form)
    }

    /// True if this version writes splits in the same format.
    pub fn is_current(&self) -> bool {
        self.form == crate::bundle::FORM
    }

    /// True if one of its pages may match the query, as far as the manifest knows.
    pub fn may_match(&self, query: &Query) -> bool {
        let asked = &query.only.languages;
        let has_language = asked.is_empty() || self.languages.iter().any(|language| asked.contains(language));
        let has_other = self.languages.is_empty() || !self.languages.is_subset(&query.except.languages);
        has_language && has_other && self.bounds.may_match(query)
    }
}

impl Manifest {
    /// Reads the output of [`Manifest::to_json`].
    pub fn from_json(json: &[u8]) -> Result<Manifest> {
        let damaged = |error: serde_json::Error| SearchError::Damaged { what: "manifest", reason: error.to_string() };
        #[derive(Deserialize)]
        struct FormHeader {
            version: u32,
        }
        let form: FormHeader = serde_json::from_slice(json).map_err(damaged)?;
        if form.version != FORM {
            return Err(SearchError::UnknownForm { what: "manifest", found: form.version });
        }
        serde_json::from_slice(json).map_err(damaged)
    }

    /// Serializes to JSON; the same manifest gives the same bytes.
    pub fn to_json(&self) -> Vec<u8> {
        // Serialization fails only for maps whose keys are not strings, and there is none here.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// True if a segment is in one of the splits.
    pub fn is_indexed(&self, segment: &SegmentKey) -> bool {
        self.is_sealed(segment) || self.segments.contains(segment)
    }

    /// True if it lists splits of an older format.
    pub fn is_outdated(&self) -> bool {
        self.splits.iter().any(|split| split.form < crate::bundle::FORM)
    }

    /// Returns the format of a split that a later version wrote, if any; this version must not change such an index.
    pub fn later_form(&self) -> Option<u32> {
        self.splits.iter().map(|split| split.form).find(|form| *form > crate::bundle::FORM)
    }

    /// Returns the [emptied](Manifest::emptied) manifest if this version cannot read all splits, or else a copy.
    pub fn begun_anew(&self) -> Manifest {
        if self.splits.iter().all(SplitEntry::is_readable) { self.clone() } else { self.emptied() }
    }

    /// Returns the manifest without its splits, as if no segment had been indexed yet; hidden pages stay hidden.
    pub fn emptied(&self) -> Manifest {
        self.changed(|next| {
            next.splits.clear();
            next.superseded.clear();
            next.segments.clear();
            next.sealed_through = None;
        })
    }

    /// Returns the number of pages in all splits, including those with a tombstone.
    pub fn docs(&self) -> u64 {
        self.splits.iter().map(|split| split.docs).sum()
    }

    /// Returns the number of pages in splits that this version cannot read.
    pub fn unreadable_docs(&self) -> u64 {
        self.splits.iter().filter(|split| !split.is_readable()).map(|split| split.docs).sum()
    }

    /// Returns the number of copies of pages that a merge would leave out, as far as is known without opening a split.
    pub fn hidden_copies(&self) -> usize {
        self.tombstones.len() + self.superseded.len()
    }

    /// Returns the number of pages that can be found; a revised page counts twice until a merge drops its older copy.
    pub fn findable(&self) -> u64 {
        self.docs().saturating_sub(self.tombstones.len() as u64)
    }

    /// Adds one split, built from these segments. A split that is already listed is not added again. Fails with
    /// [`SearchError::Stale`] if one of the segments is already in another split: another writer was faster.
    pub fn with_split(&self, entry: SplitEntry, segments: &[SegmentKey]) -> Result<Manifest> {
        if self.splits.iter().any(|split| split.key == entry.key) {
            return Ok(self.clone());
        }
        if let Some(indexed) = segments.iter().find(|segment| self.is_indexed(segment)) {
            return Err(SearchError::Stale(indexed.to_string()));
        }
        Ok(self.changed(|next| {
            next.retired.remove(&entry.key);
            next.splits.push(entry);
            next.add_segments(segments.iter().cloned());
        }))
    }

    /// Adds one split like [`Manifest::with_split`]; `revised` lists those of its pages that replace an older copy.
    /// Also fails with [`SearchError::Stale`] if a newer copy of one was published after the manifest that the split is
    /// based on.
    pub fn with_revisions(
        &self,
        entry: SplitEntry,
        segments: &[SegmentKey],
        revised: &BTreeSet<PageId>,
        now: Timestamp,
    ) -> Result<Manifest> {
        let is_newer = |id: &&PageId| self.superseded.get(*id).is_some_and(|known| known.generation > entry.generation);
        let is_listed = self.splits.iter().any(|split| split.key == entry.key);
        if let Some(id) = revised.iter().find(is_newer).filter(|_| !is_listed) {
            return Err(SearchError::Stale(id.to_string()));
        }
        let split = entry.key.clone();
        let mut next = self.with_split(entry, segments)?;
        if next != *self {
            next.supersede(revised, &split, next.generation, now);
        }
        Ok(next)
    }

    /// Records that newer copies of some pages were published in another year.
    pub fn superseding(&self, ids: &BTreeSet<PageId>, now: Timestamp) -> Manifest {
        // The generation is the one that `changed` will set.
        self.changed(|next| next.supersede(ids, "", self.generation + 1, now))
    }

    fn supersede(&mut self, ids: &BTreeSet<PageId>, split: &str, generation: u64, at: Timestamp) {
        for id in ids {
            let superseded = Superseded { generation, split: split.to_owned(), at };
            self.superseded.insert(id.clone(), superseded);
            // A newer copy carries its own expiry.
            self.expiries.remove(id);
        }
    }

    /// Returns the pages of which a split has only an outdated copy.
    pub fn outdated_in(&self, split: &SplitEntry) -> BTreeSet<PageId> {
        let is_outdated = |by: &Superseded| split.generation < by.generation && split.key != by.split;
        self.superseded.iter().filter(|(_, by)| is_outdated(by)).map(|(id, _)| id.clone()).collect()
    }

    /// Adds segments that contain nothing to index.
    pub fn with_segments(&self, segments: impl IntoIterator<Item = SegmentKey>) -> Manifest {
        self.changed(|next| next.add_segments(segments))
    }

    /// Adds pages that must no longer be found.
    pub fn with_tombstones(&self, ids: impl IntoIterator<Item = PageId>) -> Manifest {
        self.changed(|next| {
            for id in ids {
                next.expiries.remove(&id);
                next.tombstones.insert(id);
            }
        })
    }

    /// Sets the instant from which a page must no longer be found; `None` leaves the expiry to the page's record.
    pub fn with_expiry(&self, id: &PageId, at: Option<Timestamp>) -> Manifest {
        self.changed(|next| {
            next.expiries.remove(id);
            next.expiries.extend(at.map(|at| (id.clone(), at)));
        })
    }

    /// Returns the pages that have expired, as far as the manifest knows.
    pub fn expired(&self, now: Timestamp) -> impl Iterator<Item = &PageId> {
        self.expiries.iter().filter(move |(_, at)| **at <= now).map(|(id, _)| id)
    }

    /// Returns the instant of the next expiry after `now`.
    pub fn next_expiry(&self, now: Timestamp) -> Option<Timestamp> {
        self.expiries.values().copied().filter(|at| *at > now).min()
    }

    /// Replaces splits with the one that they were merged into, if anything was left, and retires them at `now`.
    /// Removes the tombstones of `dropped` pages. Fails with [`SearchError::Stale`] if a split is no longer listed.
    pub fn replaced(
        &self,
        merged: &[String],
        by: Option<SplitEntry>,
        dropped: &BTreeSet<PageId>,
        now: Timestamp,
    ) -> Result<Manifest> {
        if let Some(missing) = merged.iter().find(|key| !self.splits.iter().any(|split| split.key == **key)) {
            return Err(SearchError::Stale(missing.clone()));
        }
        Ok(self.changed(|next| {
            let first = next.splits.iter().position(|split| merged.contains(&split.key)).unwrap_or_default();
            next.splits.retain(|split| !merged.contains(&split.key));
            next.retired.extend(merged.iter().map(|key| (key.clone(), now)));
            // A republished page may have a copy elsewhere.
            next.tombstones.retain(|id| !dropped.contains(id) || next.superseded.contains_key(id));
            if let Some(by) = by {
                next.retired.remove(&by.key);
                next.splits.insert(first.min(next.splits.len()), by);
            }
            next.forget_superseded();
        }))
    }

    /// Records that a split contains no page that had a tombstone before `at`.
    pub fn with_purged(&self, key: &str, at: Timestamp) -> Manifest {
        self.changed(|next| {
            for split in next.splits.iter_mut().filter(|split| split.key == key) {
                split.purged_at = at.max(split.purged_at);
            }
            next.forget_superseded();
        })
    }

    /// Retires objects that are not listed, and drops and returns those retired before `until`, which may be deleted.
    pub fn swept(&self, there: &[String], now: Timestamp, until: Timestamp) -> (Manifest, Vec<String>) {
        let listed: BTreeSet<&str> = self.splits.iter().map(|split| split.key.as_str()).collect();
        let is_over = |key: &&String| self.retired.get(*key).is_some_and(|at| *at < until);
        let (over, left): (Vec<&String>, Vec<&String>) =
            there.iter().filter(|key| !listed.contains(key.as_str())).partition(is_over);
        let retired_at = |key: &String| self.retired.get(key).copied().unwrap_or(now);
        // Objects that no longer exist need no entry either.
        let retired = left.into_iter().map(|key| (key.clone(), retired_at(key))).collect();
        (self.changed(|next| next.retired = retired), over.into_iter().cloned().collect())
    }

    /// Seals the year through a day: all segments of that day and before are indexed, so they need not be listed.
    pub fn seal(&self, day: &str) -> Manifest {
        if self.sealed_through.as_deref().is_some_and(|sealed| day <= sealed) {
            return self.clone();
        }
        self.changed(|next| {
            next.sealed_through = Some(day.to_owned());
            let listed = std::mem::take(&mut next.segments);
            next.add_segments(listed);
        })
    }

    /// Forgets superseded copies once every split has been purged of them.
    fn forget_superseded(&mut self) {
        let purged = self.splits.iter().map(|split| split.purged_at).min();
        self.superseded.retain(|_, by| purged.is_some_and(|purged| purged <= by.at + CLOCKS_DIFFER));
    }

    fn changed(&self, change: impl FnOnce(&mut Manifest)) -> Manifest {
        let mut next = self.clone();
        change(&mut next);
        if next != *self {
            next.generation += 1;
        }
        next
    }

    fn add_segments(&mut self, segments: impl IntoIterator<Item = SegmentKey>) {
        let open: Vec<SegmentKey> = segments.into_iter().filter(|segment| !self.is_sealed(segment)).collect();
        self.segments.extend(open);
    }

    fn is_sealed(&self, segment: &SegmentKey) -> bool {
        self.sealed_through.as_ref().zip(day_of(segment)).is_some_and(|(sealed, day)| day <= *sealed)
    }
}

/// Returns the day of a key such as `segments/2026/05/01/…`; `None` if the key has another form.
fn day_of(segment: &SegmentKey) -> Option<String> {
    let mut parts = segment.as_str().split('/').skip(1);
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let digits = |text: &str, count| text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    (digits(year, 4) && digits(month, 2) && digits(day, 2)).then(|| format!("{year}-{month}-{day}"))
}

#[cfg(test)]
mod tests;
