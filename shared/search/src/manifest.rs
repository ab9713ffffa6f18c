//! The manifest of one year: its splits, what must no longer be found, and which segments are in them.
//!
//! Every change makes the next manifest of the present one; the caller swaps it in by compare-and-swap, and starts
//! over from what it finds when somebody was faster.

use crate::SearchError;
use curlew_model::{PageId, SegmentKey, Timestamp, Year};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

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
    /// Pages that must no longer be found from an instant on, where that was learned after they were indexed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub expiries: BTreeMap<PageId, Timestamp>,
    /// Indexed segments of days that are not yet sealed.
    pub segments: BTreeSet<SegmentKey>,
    /// Every segment of this day (`2026-05-01`) and before is indexed.
    pub sealed_through: Option<String>,
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
            expiries: BTreeMap::new(),
            segments: BTreeSet::new(),
            sealed_through: None,
        }
    }

    /// Reads what [`Manifest::to_json`] wrote.
    ///
    /// # Errors
    /// [`SearchError::Damaged`] or [`SearchError::UnknownForm`].
    pub fn from_json(json: &[u8]) -> Result<Manifest, SearchError> {
        let damaged = |error: serde_json::Error| SearchError::Damaged { what: "manifest", reason: error.to_string() };
        #[derive(Deserialize)]
        struct Form {
            version: u32,
        }
        let form: Form = serde_json::from_slice(json).map_err(damaged)?;
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

    /// Whether a segment is in one of the splits.
    pub fn is_indexed(&self, segment: &SegmentKey) -> bool {
        self.is_sealed(segment) || self.segments.contains(segment)
    }

    /// Pages in all splits, those with a tombstone included.
    pub fn docs(&self) -> u64 {
        self.splits.iter().map(|split| split.docs).sum()
    }

    /// With one more split, made of these segments. A split that is listed already is not listed twice.
    #[must_use]
    pub fn with_split(&self, entry: SplitEntry, segments: impl IntoIterator<Item = SegmentKey>) -> Manifest {
        self.changed(|next| {
            next.splits.retain(|split| split.key != entry.key);
            next.splits.push(entry);
            next.add_segments(segments);
        })
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

    /// With pages that may be found again.
    #[must_use]
    pub fn without_tombstones<'a>(&self, ids: impl IntoIterator<Item = &'a PageId>) -> Manifest {
        self.changed(|next| {
            for id in ids {
                next.tombstones.remove(id);
            }
        })
    }

    /// With some splits replaced by the one that they were merged into, or by none if nothing was left of them.
    ///
    /// The tombstones of pages that the merge left out (`dropped`) are no longer needed and go too; but only if all
    /// splits were merged, since another one might hold the page as well. A tombstone whose page was in none of them
    /// stays: the page may be in a segment that is still to be indexed.
    ///
    /// # Errors
    /// [`SearchError::Stale`] if one of the splits is no longer listed.
    pub fn replaced(
        &self,
        merged: &[String],
        by: Option<SplitEntry>,
        dropped: &BTreeSet<PageId>,
    ) -> Result<Manifest, SearchError> {
        if let Some(missing) = merged.iter().find(|key| !self.splits.iter().any(|split| split.key == **key)) {
            return Err(SearchError::Stale(missing.clone()));
        }
        Ok(self.changed(|next| {
            let first = next.splits.iter().position(|split| merged.contains(&split.key)).unwrap_or_default();
            next.splits.retain(|split| !merged.contains(&split.key));
            if next.splits.is_empty() {
                next.tombstones.retain(|id| !dropped.contains(id));
            }
            if let Some(by) = by {
                next.splits.insert(first.min(next.splits.len()), by);
            }
        }))
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

    /// Which splits to merge so that few are left: the smallest ones, oldest first among equals, as many as together
    /// have at most `max_bytes`; at least two or none.
    pub fn merge_candidates(&self, max_bytes: u64) -> Vec<String> {
        let mut order: Vec<&SplitEntry> = self.splits.iter().collect();
        order.sort_by_key(|split| split.bytes);
        let mut total = 0_u64;
        let taken: BTreeSet<&str> = order
            .into_iter()
            .take_while(|split| {
                total = total.saturating_add(split.bytes);
                total <= max_bytes
            })
            .map(|split| split.key.as_str())
            .collect();
        if taken.len() < 2 {
            return Vec::new();
        }
        self.splits.iter().filter(|split| taken.contains(split.key.as_str())).map(|split| split.key.clone()).collect()
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
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::*;

    fn entry(key: &str, bytes: u64) -> SplitEntry {
        SplitEntry { key: key.into(), docs: 1, bytes, languages: BTreeSet::new(), built_at: Timestamp::EPOCH }
    }

    fn segment(day: &str) -> SegmentKey {
        SegmentKey::new(&format!("segments/2026/05/{day}/a.jsonl.zst")).unwrap()
    }

    fn id(digit: char) -> PageId {
        PageId::new(&digit.to_string().repeat(32)).unwrap()
    }

    #[test]
    fn segments_are_indexed_by_name_or_by_day() {
        let year = Manifest::new(2026).with_split(entry("a", 1), [segment("01"), segment("02")]);
        assert!(year.is_indexed(&segment("01")) && !year.is_indexed(&segment("03")));
        let sealed = year.seal("2026-05-01");
        assert_eq!(sealed.segments, [segment("02")].into());
        assert!(sealed.is_indexed(&segment("01")) && sealed.is_indexed(&segment("02")));
        assert!(!sealed.is_indexed(&segment("03")));
        assert_eq!(sealed.seal("2026-04-30"), sealed);
        assert_eq!(sealed.generation, 2);
        let odd = SegmentKey::new("segments/elsewhere.jsonl.zst").unwrap();
        assert!(!sealed.is_indexed(&odd));
    }

    #[test]
    fn doing_it_twice_leaves_what_doing_it_once_leaves() {
        let once = Manifest::new(2026).with_split(entry("a", 1), [segment("01")]).with_tombstones([id('1')]);
        let twice = once.with_split(entry("a", 1), [segment("01")]).with_tombstones([id('1')]);
        assert_eq!(once, twice);
    }

    #[test]
    fn a_tombstone_goes_only_when_no_split_can_hold_its_page() {
        let year = Manifest::new(2026)
            .with_split(entry("a", 1), [])
            .with_split(entry("b", 1), [])
            .with_split(entry("c", 1), [])
            .with_tombstones([id('1'), id('2')]);
        let dropped = [id('1')].into();
        let some = year.replaced(&["a".into(), "b".into()], Some(entry("ab", 2)), &dropped).unwrap();
        assert_eq!(some.tombstones.len(), 2);
        assert_eq!(some.splits.iter().map(|s| s.key.as_str()).collect::<Vec<_>>(), ["ab", "c"]);
        let all = year.replaced(&["a".into(), "b".into(), "c".into()], Some(entry("abc", 3)), &dropped).unwrap();
        assert_eq!(all.tombstones, [id('2')].into());
        assert!(matches!(all.replaced(&["a".into()], None, &dropped), Err(SearchError::Stale(key)) if key == "a"));
    }

    #[test]
    fn it_reads_back_what_it_writes() {
        let year = Manifest::new(2026).with_split(entry("a", 1), [segment("01")]).with_tombstones([id('1')]);
        assert_eq!(Manifest::from_json(&year.to_json()).unwrap(), year);
        let other = br#"{"version": 9, "whatever": true}"#;
        assert!(matches!(Manifest::from_json(other), Err(SearchError::UnknownForm { found: 9, .. })));
        assert!(matches!(Manifest::from_json(b"{"), Err(SearchError::Damaged { .. })));
    }

    #[test]
    fn the_smallest_splits_are_merged() {
        let year = Manifest::new(2026)
            .with_split(entry("big", 100), [])
            .with_split(entry("b", 2), [])
            .with_split(entry("a", 1), []);
        assert_eq!(year.merge_candidates(50), ["b", "a"]);
        assert!(year.merge_candidates(2).is_empty());
        assert_eq!(year.merge_candidates(u64::MAX).len(), 3);
    }
}
