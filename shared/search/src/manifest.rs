//! The manifest of one year: its splits, what must no longer be found, and which segments are in them.
//!
//! Every change makes the next manifest of the present one; the caller swaps it in by compare-and-swap, and starts
//! over from what it finds when somebody was faster.

use crate::error::SearchError;
use curlew_model::{Millis, PageId, SegmentKey, Timestamp, Year};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Clocks of two machines differ by less.
const CLOCKS_DIFFER: Millis = Millis::from_mins(5);
/// The form that is written and read.
const FORM: u32 = 1;

/// What the index of one year consists of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The form of this manifest.
    pub version: u32,
    /// The year that it is of.
    pub year: Year,
    /// Grows by one with every change.
    pub generation: u64,
    /// The splits, in the order in which they were added; of a page that is in two, the later one counts.
    pub splits: Vec<SplitEntry>,
    /// Pages that must no longer be found.
    pub tombstones: BTreeSet<PageId>,
    /// Pages that were published anew, since they had changed: older copies of them are no longer found.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub superseded: BTreeMap<PageId, Superseded>,
    /// Pages that must no longer be found from an instant on, where that was learned after they were indexed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub expiries: BTreeMap<PageId, Timestamp>,
    /// Indexed segments of days that are not yet sealed.
    pub segments: BTreeSet<SegmentKey>,
    /// Every segment of this day (`2026-05-01`) and before is indexed.
    pub sealed_through: Option<String>,
    /// Objects that are no longer listed, or never were since a program died, and when that was noticed: whoever still
    /// reads by an older manifest gets some time before they are deleted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub retired: BTreeMap<String, Timestamp>,
}

/// A page of which a newer copy was published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Superseded {
    /// The generation in which it was. A split that knows less is outdated for this page.
    pub generation: u64,
    /// The split of the newer copy, until it is merged; empty if that is in another year.
    pub split: String,
    /// When it was published. Once all splits were purged after this, no outdated copy is left.
    pub at: Timestamp,
}

/// How far a split has been merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// One publishing.
    #[default]
    Delta,
    /// What was published in a day.
    Day,
    /// In a week.
    Week,
    /// In a month.
    Month,
    /// In a year.
    Year,
}

/// One split of a manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SplitEntry {
    /// Where its blob lies.
    pub key: String,
    /// Pages in it.
    pub docs: u64,
    /// Length of its blob.
    pub bytes: u64,
    /// Languages of its pages; the empty word stands for those whose language is not known.
    pub languages: BTreeSet<String>,
    /// When it was built.
    pub built_at: Timestamp,
    /// The form of its blob ([`crate::bundle::FORM`]).
    #[serde(default = "first_form")]
    pub form: u32,
    /// How far it has been merged.
    #[serde(default)]
    pub tier: Tier,
    /// When the oldest part of it was published; unlike `built_at` this stays when it is merged.
    #[serde(default)]
    pub since: Timestamp,
    /// It holds no page that had a tombstone before this instant.
    #[serde(default)]
    pub purged_at: Timestamp,
    /// The generation of the manifest that was read before it was built: it holds nothing newer.
    #[serde(default)]
    pub generation: u64,
    /// When the first of its pages is to vanish by its own directive (`unavailable_after`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_expiry: Option<Timestamp>,
    /// Bytes at its end that are enough to open it.
    #[serde(default)]
    pub tail: u64,
}

/// Manifests of before forms were noted list splits of the first one.
fn first_form() -> u32 {
    1
}

impl SplitEntry {
    /// True if this version reads it.
    pub fn is_readable(&self) -> bool {
        self.form == crate::bundle::FORM
    }
}

impl Default for Manifest {
    fn default() -> Manifest {
        Manifest::new(0)
    }
}

impl Manifest {
    /// An empty year.
    pub fn new(year: Year) -> Manifest {
        Manifest {
            version: FORM,
            year,
            generation: 0,
            splits: Vec::new(),
            tombstones: BTreeSet::new(),
            superseded: BTreeMap::new(),
            expiries: BTreeMap::new(),
            segments: BTreeSet::new(),
            sealed_through: None,
            retired: BTreeMap::new(),
        }
    }

    /// Reads what [`Manifest::to_json`] wrote.
    ///
    /// # Errors
    /// [`SearchError::Damaged`] or [`SearchError::UnknownForm`].
    pub fn from_json(json: &[u8]) -> Result<Manifest, SearchError> {
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

    /// As JSON; the same manifest gives the same bytes.
    pub fn to_json(&self) -> Vec<u8> {
        // Only a map with keys that are no text cannot be written, and there is none here.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// True if a segment is in one of the splits.
    pub fn is_indexed(&self, segment: &SegmentKey) -> bool {
        self.is_sealed(segment) || self.segments.contains(segment)
    }

    /// True if it lists splits that another version wrote and this one does not read.
    pub fn is_outdated(&self) -> bool {
        self.splits.iter().any(|split| !split.is_readable())
    }

    /// Without its splits if this version does not read all of them, as if no segment had been indexed yet; what must not
    /// be found stays so. Unchanged if all can be read.
    #[must_use]
    pub fn begun_anew(&self) -> Manifest {
        if !self.is_outdated() {
            return self.clone();
        }
        self.changed(|next| {
            next.splits.clear();
            next.superseded.clear();
            next.segments.clear();
            next.sealed_through = None;
        })
    }

    /// Pages in all splits, those with a tombstone included.
    pub fn docs(&self) -> u64 {
        self.splits.iter().map(|split| split.docs).sum()
    }

    /// True if it lists copies of pages that a merge would leave out.
    pub fn hides_any(&self) -> bool {
        !self.tombstones.is_empty() || !self.superseded.is_empty()
    }

    /// How many pages can be found, as far as it can be told without opening a split: a page that was revised counts twice until
    /// a merge has left its older copy out.
    pub fn findable(&self) -> u64 {
        self.docs().saturating_sub(self.tombstones.len() as u64)
    }

    /// With one more split, made of these segments. A split that is listed already is not listed twice.
    ///
    /// # Errors
    /// [`SearchError::Stale`] if one of the segments is in another split already: somebody else was faster.
    pub fn with_split(&self, entry: SplitEntry, segments: &[SegmentKey]) -> Result<Manifest, SearchError> {
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

    /// With one more split, as [`Manifest::with_split`]; `revised` are those of its pages that replace an older copy, which is
    /// outdated at the same moment.
    ///
    /// # Errors
    /// [`SearchError::Stale`] as there, and if a newer copy of one of these pages was published after the manifest was read
    /// that the split was built by: which of the two is newer has to be looked up again.
    pub fn with_revisions(
        &self,
        entry: SplitEntry,
        segments: &[SegmentKey],
        revised: &BTreeSet<PageId>,
        now: Timestamp,
    ) -> Result<Manifest, SearchError> {
        let is_newer = |id: &&PageId| self.superseded.get(*id).is_some_and(|known| known.generation > entry.generation);
        let is_listed = self.splits.iter().any(|split| split.key == entry.key);
        if let Some(id) = revised.iter().find(is_newer).filter(|_| !is_listed) {
            return Err(SearchError::Stale(id.to_string()));
        }
        let split = entry.key.clone();
        let mut next = self.with_split(entry, segments)?;
        if next != *self {
            next.supersede(revised, &split, now);
        }
        Ok(next)
    }

    /// With the note that newer copies of some pages were published in another year.
    #[must_use]
    pub fn superseding(&self, ids: &BTreeSet<PageId>, now: Timestamp) -> Manifest {
        self.changed(|next| {
            // What `changed` will make of it.
            next.generation += 1;
            next.supersede(ids, "", now);
            next.generation -= 1;
        })
    }

    fn supersede(&mut self, ids: &BTreeSet<PageId>, split: &str, at: Timestamp) {
        for id in ids {
            let superseded = Superseded { generation: self.generation, split: split.to_owned(), at };
            self.superseded.insert(id.clone(), superseded);
            // A newer copy says itself when it expires.
            self.expiries.remove(id);
        }
    }

    /// The pages of which a split has only an outdated copy, if it has any.
    pub fn outdated_in(&self, split: &SplitEntry) -> BTreeSet<PageId> {
        let is_outdated = |by: &Superseded| split.generation < by.generation && split.key != by.split;
        self.superseded.iter().filter(|(_, by)| is_outdated(by)).map(|(id, _)| id.clone()).collect()
    }

    /// With segments that hold nothing to index.
    #[must_use]
    pub fn with_segments(&self, segments: impl IntoIterator<Item = SegmentKey>) -> Manifest {
        self.changed(|next| next.add_segments(segments))
    }

    /// With more pages that must no longer be found.
    #[must_use]
    pub fn with_tombstones(&self, ids: impl IntoIterator<Item = PageId>) -> Manifest {
        self.changed(|next| {
            for id in ids {
                next.expiries.remove(&id);
                next.tombstones.insert(id);
            }
        })
    }

    /// With a page that must no longer be found from an instant on; without one, nothing but its record says so.
    #[must_use]
    pub fn with_expiry(&self, id: &PageId, at: Option<Timestamp>) -> Manifest {
        self.changed(|next| match at {
            Some(at) => {
                next.expiries.insert(id.clone(), at);
            }
            None => {
                next.expiries.remove(id);
            }
        })
    }

    /// The pages whose time is over, as far as the manifest knows.
    pub fn expired(&self, now: Timestamp) -> impl Iterator<Item = &PageId> {
        self.expiries.iter().filter(move |(_, at)| **at <= now).map(|(id, _)| id)
    }

    /// The next instant at which there will be one more.
    pub fn next_expiry(&self, now: Timestamp) -> Option<Timestamp> {
        self.expiries.values().copied().filter(|at| *at > now).min()
    }

    /// With some splits replaced by the one that they were merged into, or by none if nothing was left of them; noticed
    /// at `now` for the sweep.
    ///
    /// The tombstones of pages that the merge left out (`dropped`) are no longer needed and go too, since a page is in one
    /// split only. A tombstone whose page was in none of them stays: the page may be elsewhere, or in a segment that is
    /// still to be indexed.
    ///
    /// # Errors
    /// [`SearchError::Stale`] if one of the splits is no longer listed.
    pub fn replaced(
        &self,
        merged: &[String],
        by: Option<SplitEntry>,
        dropped: &BTreeSet<PageId>,
        now: Timestamp,
    ) -> Result<Manifest, SearchError> {
        if let Some(missing) = merged.iter().find(|key| !self.splits.iter().any(|split| split.key == **key)) {
            return Err(SearchError::Stale(missing.clone()));
        }
        Ok(self.changed(|next| {
            let first = next.splits.iter().position(|split| merged.contains(&split.key)).unwrap_or_default();
            next.splits.retain(|split| !merged.contains(&split.key));
            next.retired.extend(merged.iter().map(|key| (key.clone(), now)));
            // Of a page that was published anew there may be a copy elsewhere.
            next.tombstones.retain(|id| !dropped.contains(id) || next.superseded.contains_key(id));
            if let Some(by) = by {
                next.retired.remove(&by.key);
                next.splits.insert(first.min(next.splits.len()), by);
            }
            next.forget_superseded();
        }))
    }

    /// With the note that a split holds no page that had a tombstone before `at`.
    #[must_use]
    pub fn with_purged(&self, key: &str, at: Timestamp) -> Manifest {
        self.changed(|next| {
            for split in next.splits.iter_mut().filter(|split| split.key == key) {
                split.purged_at = at.max(split.purged_at);
            }
            next.forget_superseded();
        })
    }

    /// With the objects that are there and not listed noted as retired at `now`, and without those that were noted
    /// before `until`: these may be deleted, and are given back.
    pub fn swept(&self, there: &[String], now: Timestamp, until: Timestamp) -> (Manifest, Vec<String>) {
        let listed: BTreeSet<&str> = self.splits.iter().map(|split| split.key.as_str()).collect();
        let unlisted = there.iter().filter(|key| !listed.contains(key.as_str()));
        let unlisted: Vec<&String> = unlisted.collect();
        let over: Vec<String> = unlisted
            .iter()
            .filter(|key| self.retired.get(**key).is_some_and(|at| *at < until))
            .map(|key| (*key).clone())
            .collect();
        let next = self.changed(|next| {
            // What is no longer there need not be known either.
            next.retired.retain(|key, _| there.contains(key) && !over.contains(key) && !listed.contains(key.as_str()));
            for key in unlisted.iter().filter(|key| !over.contains(key)) {
                next.retired.entry((*key).clone()).or_insert(now);
            }
        });
        (next, over)
    }

    /// Sealed through a day: all its segments and those of the days before are indexed, so they need not be listed.
    /// An earlier day than the present one changes nothing.
    #[must_use]
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

    /// Forgets superseded copies once every split was purged of them.
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
        for segment in segments {
            if !self.is_sealed(&segment) {
                self.segments.insert(segment);
            }
        }
    }

    fn is_sealed(&self, segment: &SegmentKey) -> bool {
        match (&self.sealed_through, day_of(segment)) {
            (Some(sealed), Some(day)) => day <= *sealed,
            _ => false,
        }
    }
}

/// The day of `segments/2026/05/01/…`; none if the key is of another form.
fn day_of(segment: &SegmentKey) -> Option<String> {
    let mut parts = segment.as_str().split('/').skip(1);
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let digits = |text: &str, count| text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    (digits(year, 4) && digits(month, 2) && digits(day, 2)).then(|| format!("{year}-{month}-{day}"))
}

#[cfg(test)]
mod tests;
