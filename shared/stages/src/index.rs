//! Index: publishes new segments as splits, and merges splits of a year, leaving out what is gone.

use crate::{StageError, segment};
use bytes::Bytes;
use curlew_model::{Millis, PageId, PageState, Record, SegmentKey, Year};
use curlew_ports::{Blobs, Clock, Pages, PortError, Tag};
use curlew_search::{
    BuildBudget, Hidden, Manifest, SearchError, Split, SplitBuilt, SplitEntry, build_split, merge_splits,
};
use std::collections::HashSet;
use std::sync::Arc;

/// Keys that one call lists.
const LIST: usize = 1_000;
/// A split is closed once it holds so many pages, so that building one never needs much memory.
const PAGES_PER_SPLIT: usize = 20_000;
/// A split is closed once its pages have so many bytes of text.
const TEXT_PER_SPLIT: usize = 64 * 1024 * 1024;
/// More splits than this are merged after publishing, the small ones.
const SPLITS_PER_YEAR: usize = 8;
/// Splits that are together larger than this are merged only once a month.
const MERGE_BYTES: u64 = 256 * 1024 * 1024;
/// How often a manifest is tried to be swapped while others swap it.
const SWAP_TRIES: u32 = 16;
/// Days back from today of which all segments are certainly written.
const SEALED_AFTER_DAYS: u64 = 2;
/// Days back from today of which a segment may have records whose rows are still to be written; fewer than until its day
/// is sealed.
const UNDECIDED_DAYS: u64 = 1;

/// The stage that publishes the index.
pub struct Index {
    /// Segments, splits and manifests.
    pub blobs: Arc<dyn Blobs>,
    /// Which records are the true ones.
    pub pages: Arc<dyn Pages>,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

/// What publishing did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// Pages that can be found now and could not before.
    pub added: u64,
    /// Segments that were read.
    pub segments: u64,
    /// Pages that merging left out for good.
    pub purged: u64,
    /// Splits of the year now.
    pub splits: u64,
}

/// Where the manifest of a year is kept.
pub(crate) fn manifest_key(year: Year) -> String {
    format!("manifests/{year:04}.json")
}

/// Loads the manifest of a year; an empty one if there is none.
pub(crate) async fn load_manifest(blobs: &dyn Blobs, year: Year) -> Result<(Manifest, Option<Tag>), StageError> {
    match blobs.get(&manifest_key(year)).await? {
        None => Ok((Manifest::new(year), None)),
        Some(blob) => Ok((Manifest::from_json(&blob.bytes).map_err(search_error)?, Some(blob.tag))),
    }
}

/// Changes the manifest of a year by compare-and-swap.
pub(crate) async fn change_manifest(
    blobs: &dyn Blobs,
    year: Year,
    change: impl Fn(&Manifest) -> Result<Manifest, SearchError>,
) -> Result<Manifest, StageError> {
    for _ in 0..SWAP_TRIES {
        let (manifest, tag) = load_manifest(blobs, year).await?;
        let next = change(&manifest).map_err(search_error)?;
        if next == manifest && tag.is_some() {
            return Ok(next);
        }
        match blobs.swap(&manifest_key(year), tag.as_ref(), next.to_json().into()).await {
            Ok(_) => return Ok(next),
            Err(PortError::Conflict) => {}
            Err(other) => return Err(other.into()),
        }
    }
    Err(PortError::Conflict.into())
}

pub(crate) fn search_error(error: SearchError) -> StageError {
    StageError::Port(PortError::Corrupt { what: "the index".into(), why: error.to_string() })
}

/// New segments and the records of them that count.
#[derive(Default)]
struct Batch {
    segments: Vec<SegmentKey>,
    records: Vec<Record>,
    text: usize,
}

impl Index {
    /// Publishes what is new in a year.
    ///
    /// # Errors
    /// What the ports say, or that the index is damaged.
    pub async fn publish(&self, year: Year) -> Result<Published, StageError> {
        let mut done = Published::default();
        let (manifest, _) = load_manifest(self.blobs.as_ref(), year).await?;
        let mut batch = Batch::default();
        for key in self.new_segments(year, &manifest).await? {
            self.read(key, &mut batch).await?;
            done.segments += 1;
            if batch.records.len() >= PAGES_PER_SPLIT || batch.text >= TEXT_PER_SPLIT {
                done.added += self.add(year, std::mem::take(&mut batch)).await?;
            }
        }
        done.added += self.add(year, batch).await?;
        let sealed = (self.clock.now() - Millis::from_days(SEALED_AFTER_DAYS)).day();
        let manifest = if done.segments > 0 {
            change_manifest(self.blobs.as_ref(), year, |m| Ok(m.seal(&sealed))).await?
        } else {
            manifest
        };
        done.splits = manifest.splits.len() as u64;
        if manifest.splits.len() > SPLITS_PER_YEAR {
            let small = manifest.merge_candidates(MERGE_BYTES);
            done.purged = self.merge(year, &manifest, small).await?;
            done.splits = load_manifest(self.blobs.as_ref(), year).await?.0.splits.len() as u64;
        }
        Ok(done)
    }

    /// Publishes what is new in a year, and merges all its splits into one without what is gone.
    ///
    /// # Errors
    /// What the ports say, or that the index is damaged.
    pub async fn refresh(&self, year: Year) -> Result<Published, StageError> {
        let mut done = self.publish(year).await?;
        let (manifest, _) = load_manifest(self.blobs.as_ref(), year).await?;
        if manifest.splits.len() > 1 || !manifest.tombstones.is_empty() {
            let all = manifest.splits.iter().map(|s| s.key.clone()).collect();
            done.purged += self.merge(year, &manifest, all).await?;
        }
        done.splits = load_manifest(self.blobs.as_ref(), year).await?.0.splits.len() as u64;
        Ok(done)
    }

    /// Indexed pages of a year whose `unavailable_after` has passed. No query finds them any more; their records are
    /// still there.
    ///
    /// # Errors
    /// What the object store says, or that the index is damaged.
    pub async fn expired(&self, year: Year) -> Result<Vec<PageId>, StageError> {
        let (manifest, _) = load_manifest(self.blobs.as_ref(), year).await?;
        let now = self.clock.now();
        let mut expired: Vec<PageId> = manifest.expired(now).cloned().collect();
        for split in &manifest.splits {
            let Some(blob) = self.blobs.get(&split.key).await? else { continue };
            let split = Split::open(blob.bytes).map_err(search_error)?;
            expired.extend(split.lapsed(&Hidden::default(), now).map_err(search_error)?);
        }
        expired.sort();
        expired.dedup();
        Ok(expired)
    }

    /// How many pages of a year can be found, without opening a split; those whose `unavailable_after` has passed count
    /// until they are removed.
    ///
    /// # Errors
    /// What the object store says, or that the index is damaged.
    pub async fn indexed(&self, year: Year) -> Result<u64, StageError> {
        let (manifest, _) = load_manifest(self.blobs.as_ref(), year).await?;
        let docs: u64 = manifest.splits.iter().map(|split| split.docs).sum();
        Ok(docs.saturating_sub(manifest.tombstones.len() as u64))
    }

    /// The years that have an index or records.
    ///
    /// # Errors
    /// What the object store says.
    pub async fn years(&self) -> Result<Vec<Year>, StageError> {
        let mut years: Vec<Year> = Vec::new();
        let mut after = None;
        // One listing for each year there is, and not one for each segment: each step jumps behind the year found.
        while let Some(key) = self.blobs.list("segments/", after.as_deref(), 1).await?.pop() {
            let year: Option<Year> = key.get(9..13).and_then(|y| y.parse().ok());
            // A file that somebody else has put there is stepped over.
            after = Some(year.map_or(key, |year| format!("segments/{year:04}/~")));
            years.extend(year);
        }
        Ok(years)
    }

    async fn new_segments(&self, year: Year, manifest: &Manifest) -> Result<Vec<SegmentKey>, StageError> {
        let prefix = segment::year_prefix(year);
        let mut found = Vec::new();
        // Days that are sealed need not be listed.
        let mut after = manifest.sealed_through.as_ref().map(|day| format!("segments/{}/~", day.replace('-', "/")));
        loop {
            let keys = self.blobs.list(&prefix, after.as_deref(), LIST).await?;
            let Some(last) = keys.last() else { return Ok(found) };
            after = Some(last.clone());
            let keys = keys.iter().filter_map(|k| SegmentKey::new(k).ok());
            found.extend(keys.filter(|k| !manifest.is_indexed(k)));
        }
    }

    /// Reads a segment; a record counts only if its page's row points to it, so that what was written twice by a
    /// batch that ran twice is indexed once. What no row will ever point to is erased: when its page is removed one
    /// day, nobody would know of it.
    async fn read(&self, key: SegmentKey, batch: &mut Batch) -> Result<(), StageError> {
        let Some(blob) = self.blobs.get(key.as_str()).await? else {
            batch.segments.push(key);
            return Ok(());
        };
        let settled_before = (self.clock.now() - Millis::from_days(UNDECIDED_DAYS)).day().replace('-', "/");
        let is_settled = segment::segment_day(&key) < settled_before.as_str();
        let (mut counted, mut strays) = (Vec::new(), Vec::new());
        for (location, record) in segment::decode_all(&key, &blob.bytes)? {
            // Late news of a row does no harm: the segment waits for the next time, or the page has its tombstone already.
            match self.pages.glimpse(&record.id).await?.map(|(page, _)| page.state) {
                Some(PageState::Accepted { location: at, .. }) if at == location => counted.push(record),
                None | Some(PageState::Pending) if !is_settled => {
                    // Its row is being written, or the batch that wrote the segment died and runs again: next time.
                    return Ok(());
                }
                _ => strays.push((location, record)),
            }
        }
        if !strays.is_empty() {
            segment::erase(self.blobs.as_ref(), &key, &strays).await?;
        }
        batch.text += counted.iter().map(|record| record.text.len()).sum::<usize>();
        batch.records.extend(counted);
        batch.segments.push(key);
        Ok(())
    }

    async fn add(&self, year: Year, batch: Batch) -> Result<u64, StageError> {
        if batch.segments.is_empty() {
            return Ok(0);
        }
        let Batch { segments, records, .. } = batch;
        if records.is_empty() {
            change_manifest(self.blobs.as_ref(), year, |m| Ok(m.with_segments(segments.clone()))).await?;
            return Ok(0);
        }
        let built = build_split(records.into_iter(), &BuildBudget::default()).map_err(search_error)?;
        let docs = built.docs;
        let entry = self.store(year, built).await?;
        change_manifest(self.blobs.as_ref(), year, |m| Ok(m.with_split(entry.clone(), segments.clone()))).await?;
        Ok(docs)
    }

    async fn store(&self, year: Year, built: SplitBuilt) -> Result<SplitEntry, StageError> {
        let key = format!("splits/{year:04}/{}.split", built.name);
        let entry = SplitEntry {
            key: key.clone(),
            docs: built.docs,
            bytes: built.bytes.len() as u64,
            languages: built.languages,
            built_at: self.clock.now(),
        };
        self.blobs.put_if_absent(&key, Bytes::from(built.bytes)).await?;
        Ok(entry)
    }

    /// Merges some splits of a year into one; says how many pages were left out for good.
    async fn merge(&self, year: Year, manifest: &Manifest, keys: Vec<String>) -> Result<u64, StageError> {
        if keys.is_empty() {
            return Ok(0);
        }
        let mut splits = Vec::with_capacity(keys.len());
        for key in &keys {
            let blob = self.blobs.get(key).await?.ok_or_else(|| PortError::NotFound(key.clone()))?;
            splits.push(Split::open(blob.bytes).map_err(search_error)?);
        }
        let drop: HashSet<_> = manifest.tombstones.iter().cloned().collect();
        let refs: Vec<&Split> = splits.iter().collect();
        let before: u64 = splits.iter().map(Split::docs).sum();
        let built = merge_splits(&refs, &drop, &BuildBudget::default()).map_err(search_error)?;
        let (entry, dropped, after) = match built {
            None => (None, manifest.tombstones.clone(), 0),
            Some(built) => {
                let (dropped, docs) = (built.dropped.clone(), built.docs);
                (Some(self.store(year, built).await?), dropped, docs)
            }
        };
        change_manifest(self.blobs.as_ref(), year, |m| m.replaced(&keys, entry.clone(), &dropped)).await?;
        for key in keys.iter().filter(|k| entry.as_ref().is_none_or(|e| e.key != **k)) {
            // Whoever still reads by the old manifest finds it missing and loads the new one.
            self.blobs.delete(key).await?;
        }
        Ok(before - after)
    }
}
