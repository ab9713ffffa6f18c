//! Reports on the index: counts of a run, and the state of a year.

use super::*;
use crate::manifest::load_if_known;
use crate::segment::SEGMENTS;

/// Counts of one run of publishing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PublishReport {
    /// Pages that were published: new ones, and new versions of pages.
    pub added: u64,
    /// Segments that were read.
    pub segments: u64,
    /// Segments among them that are damaged, so that none of their pages was published.
    pub damaged: u64,
    /// Pages that merging removed for good.
    pub purged: u64,
    /// Splits that the year has now.
    pub splits: u64,
    /// Pages that merging rewrote.
    pub rewritten: u64,
}

impl PublishReport {
    pub(super) fn add(&mut self, part: PublishReport) {
        self.added += part.added;
        self.segments += part.segments;
        self.damaged += part.damaged;
        self.purged += part.purged;
        self.rewritten += part.rewritten;
    }

    /// True if the run changed the index.
    pub fn has_changed(&self) -> bool {
        self.segments + self.purged + self.rewritten > 0
    }
}

impl Index {
    /// True if a year has splits of an older format, which publishing rewrites.
    pub async fn is_outdated(&self, year: Year) -> Result<bool> {
        Ok(load_manifest(self.blobs.as_ref(), year).await?.is_outdated())
    }

    /// Returns the pages of a year whose `unavailable_after` has passed: no query finds them, but their records exist.
    pub async fn expired(&self, year: Year) -> Result<Vec<PageId>> {
        let (manifest, now) = (load_manifest(self.blobs.as_ref(), year).await?, self.clock.now());
        let mut expired: Vec<PageId> = manifest.expired(now).cloned().collect();
        let lapsed = |split: &&SplitEntry| split.is_readable() && split.first_expiry.is_some_and(|first| first <= now);
        for split in manifest.splits.iter().filter(lapsed) {
            let Some(blob) = self.blobs.get(&split.key).await? else { continue };
            // The date in an outdated copy of a page no longer counts.
            let outdated = manifest.outdated_in(split);
            let split = Split::open(blob.bytes).map_err(search_error)?;
            let lapsed = split.lapsed(now).map_err(search_error)?;
            expired.extend(lapsed.into_iter().filter(|id| !outdated.contains(id)));
        }
        expired.sort();
        expired.dedup();
        Ok(expired)
    }

    /// Returns the number of findable pages of a year, expired ones included, without opening a split.
    pub async fn indexed(&self, year: Year) -> Result<u64> {
        Ok(load_manifest(self.blobs.as_ref(), year).await?.findable())
    }

    /// Returns the years that have an index or records.
    pub async fn years(&self) -> Result<Vec<Year>> {
        let mut years: Vec<Year> = Vec::new();
        let mut after = None;
        // One listing for each year instead of one for each segment: each step continues after the year found.
        while let Some(key) = self.blobs.list(SEGMENTS, after.as_deref(), 1).await?.pop() {
            let year: Option<Year> = key.get(9..13).and_then(|y| y.parse().ok());
            // An object that another program has put there is skipped.
            after = Some(year.map_or(key, |year| format!("{SEGMENTS}{year:04}/~")));
            years.extend(year);
        }
        Ok(years)
    }

    /// True if a year has unpublished segments, on unsealed days; false if a newer version wrote its manifest.
    pub async fn has_unpublished(&self, year: Year) -> Result<bool> {
        let Some(manifest) = load_if_known(self.blobs.as_ref(), year).await? else { return Ok(false) };
        Ok(!self.new_segments(year, &manifest).await?.is_empty())
    }
}
