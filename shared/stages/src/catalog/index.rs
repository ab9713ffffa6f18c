//! Index: publishes new segments as splits, and merges the splits of a year without the pages that are gone.

mod report;

pub use report::PublishReport;

use crate::catalog::listing::all_keys;
use crate::catalog::manifest::{change_manifest, load_manifest, search_error, unlisted_segments};
use crate::catalog::segment;
use crate::stage::{StageError, job_span, record_failure};
use bytes::Bytes;
use curlew_model::{Location, Millis, PageId, PageState, Record, SegmentKey, Timestamp, TraceId, Year};
use curlew_ports::{Blobs, Clock, CpuPool, CpuTask, Pages, PortError, compute};
use curlew_search::{
    BuildBudget, Due, FORM, Manifest, SearchError, Split, SplitBuilt, SplitEntry, Tier, build_split, chunks, due,
    merge_splits,
};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use tracing::Span;

/// Maximum number of pages of a split; it bounds the memory that building one needs.
const PAGES_PER_SPLIT: usize = 20_000;
/// Bytes of text after which a split is closed.
pub(crate) const TEXT_PER_SPLIT: usize = 64 * 1024 * 1024;
/// Maximum total size of splits that are merged into one, in bytes; merging holds them in memory.
const MERGE_BYTES: u64 = 256 * 1024 * 1024;
/// Maximum time for which a split may hold pages that are gone before it is rewritten without them. Their records are
/// erased at once.
const PURGE_AFTER: Millis = Millis::from_days(90);
/// Time for which unlisted objects are kept. It is longer than the run of any program that puts an object and lists it
/// afterwards.
const RETIRED_FOR: Millis = Millis::from_days(1);
/// Maximum number of retries of publishing while another indexer publishes the same segments.
const RACES: u32 = 8;
/// Age in days from which on all segments of a day are certainly written.
const SEALED_AFTER_DAYS: u64 = 2;
/// Age in days up to which a segment may have records whose rows are still to be written; less than
/// [`SEALED_AFTER_DAYS`].
const UNDECIDED_DAYS: u64 = 1;

/// The stage that publishes the index.
pub struct Index {
    /// Segments, splits and manifests.
    pub blobs: Arc<dyn Blobs>,
    /// Rows of pages; they tell which records are current.
    pub pages: Arc<dyn Pages>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Pool in which splits are built and merged.
    pub pool: Arc<dyn CpuPool>,
}

/// New segments and their current records.
#[derive(Default)]
struct NewRecords {
    segments: Vec<SegmentKey>,
    records: Vec<Record>,
    text: usize,
    /// Pages that were published before with another text, by the year of the older copy.
    revised: BTreeMap<Year, BTreeSet<PageId>>,
    /// Chains of jobs that the pages belong to.
    traces: BTreeSet<TraceId>,
}

impl Index {
    /// Publishes the new segments of a year, and merges the splits that are due. Two indexers may run at once.
    ///
    /// # Errors
    /// Any error of the ports, or that the index is damaged.
    pub async fn publish(&self, year: Year) -> Result<PublishReport, StageError> {
        let mut done = PublishReport::default();
        let mut races = 0;
        while let Err(error) = self.publish_new(year, &mut done).await {
            races += 1;
            // Another indexer has published some of the same segments: publish what is left.
            if races >= RACES || !is_race(&error) {
                return Err(error);
            }
        }
        let now = self.clock.now();
        let (manifest, _) = load_manifest(self.blobs.as_ref(), year).await?;
        for Due { keys, tier } in due(&manifest.splits, year, now, MERGE_BYTES) {
            self.merge(year, &keys, Some(tier), &mut done).await?;
        }
        let until = now - PURGE_AFTER;
        for split in manifest.splits.iter().filter(|split| split.tier >= Tier::Month && split.purged_at < until) {
            if manifest.hides_any() {
                self.merge(year, std::slice::from_ref(&split.key), None, &mut done).await?;
            }
        }
        self.sweep(year).await?;
        done.splits = load_manifest(self.blobs.as_ref(), year).await?.0.splits.len() as u64;
        Ok(done)
    }

    async fn publish_new(&self, year: Year, done: &mut PublishReport) -> Result<(), StageError> {
        let (mut manifest, _) = load_manifest(self.blobs.as_ref(), year).await?;
        if manifest.is_outdated() {
            tracing::warn!(year, "the index is of another version and is built anew from the records");
            manifest = change_manifest(self.blobs.as_ref(), year, |m| Ok(m.begun_anew())).await?;
        }
        let read = (self.clock.now(), manifest.generation);
        let mut batch = NewRecords::default();
        let segments = self.new_segments(year, &manifest).await?;
        let is_something_new = !segments.is_empty();
        for key in segments {
            self.read(key, &mut batch).await?;
            if batch.records.len() >= PAGES_PER_SPLIT || batch.text >= TEXT_PER_SPLIT {
                self.add(year, std::mem::take(&mut batch), read, done).await?;
            }
        }
        self.add(year, batch, read, done).await?;
        if is_something_new {
            let sealed = (self.clock.now() - Millis::from_days(SEALED_AFTER_DAYS)).day();
            change_manifest(self.blobs.as_ref(), year, |m| Ok(m.seal(&sealed))).await?;
        }
        Ok(())
    }

    /// Publishes the new segments of a year, then merges all its splits without the pages that are gone: into one
    /// split, or into a few if they are large.
    ///
    /// # Errors
    /// Any error of the ports, or that the index is damaged.
    pub async fn refresh(&self, year: Year) -> Result<PublishReport, StageError> {
        let mut done = self.publish(year).await?;
        let (manifest, _) = load_manifest(self.blobs.as_ref(), year).await?;
        let splits: Vec<&SplitEntry> = manifest.splits.iter().collect();
        let groups = chunks(&splits, MERGE_BYTES);
        for keys in &groups {
            self.merge(year, keys, Some(Tier::Year), &mut done).await?;
        }
        // Splits that are too large to be merged are still rewritten without the pages that are gone.
        let alone = manifest.splits.iter().filter(|split| !groups.iter().flatten().any(|key| *key == split.key));
        for split in alone.filter(|_| manifest.hides_any()) {
            self.merge(year, std::slice::from_ref(&split.key), None, &mut done).await?;
        }
        done.splits = load_manifest(self.blobs.as_ref(), year).await?.0.splits.len() as u64;
        Ok(done)
    }

    /// Lists the segments of a year that its manifest does not list as indexed.
    pub(super) async fn new_segments(&self, year: Year, manifest: &Manifest) -> Result<Vec<SegmentKey>, StageError> {
        Ok(unlisted_segments(self.blobs.as_ref(), &segment::year_prefix(year), manifest).await?)
    }

    /// Reads a segment. A record counts only if its page's row points to it, so that a record which a repeated batch
    /// wrote twice is indexed once. A record that no row will ever point to is erased: nothing would erase it when its
    /// page is removed.
    async fn read(&self, key: SegmentKey, batch: &mut NewRecords) -> Result<(), StageError> {
        let Some(blob) = self.blobs.get(key.as_str()).await? else {
            batch.segments.push(key);
            return Ok(());
        };
        let settled_before = segment::key_day(self.clock.now() - Millis::from_days(UNDECIDED_DAYS));
        let is_settled = segment::segment_day(&key) < settled_before.as_str();
        let (mut counted, mut orphans, mut replaced, mut traces) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (location, record) in segment::decode_all(&key, &blob.bytes)? {
            // A stale row does no harm: the segment waits for the next run, or the page has its tombstone already.
            let row = self.pages.load_eventual(&record.id).await?.map(|(page, _)| page);
            let (state, trace) = row.map(|page| (page.state, page.trace)).unzip();
            match state {
                Some(PageState::Accepted { location: at, .. }) if at == location => {
                    traces.extend(trace.flatten());
                    replaced.extend(record.replaces.clone().map(|old| (record.id.clone(), old)));
                    counted.push(record);
                }
                None | Some(PageState::Pending) if !is_settled => {
                    // The row is being written, or the batch that wrote the segment died and will run again: leave it
                    // to the next run.
                    return Ok(());
                }
                Some(PageState::Accepted { location: at, .. }) if record.replaces.as_ref() == Some(&at) => {
                    // The same for a page that has changed.
                    if !is_settled {
                        return Ok(());
                    }
                    orphans.push((location, record));
                }
                _ => {
                    replaced.extend(record.replaces.clone().map(|old| (record.id.clone(), old)));
                    orphans.push((location, record));
                }
            }
        }
        for (page, old) in replaced {
            self.erase_replaced(&page, &old).await?;
            let year = segment::segment_year(&old).unwrap_or_default();
            batch.revised.entry(year).or_default().insert(page);
        }
        if !orphans.is_empty() {
            segment::erase(self.blobs.as_ref(), &key, &orphans).await?;
        }
        batch.text += counted.iter().map(|record| record.text.len()).sum::<usize>();
        batch.records.extend(counted);
        batch.traces.extend(traces);
        batch.segments.push(key);
        Ok(())
    }

    /// Erases the record of a page whose row points to a newer one.
    async fn erase_replaced(&self, page: &PageId, at: &Location) -> Result<(), StageError> {
        let blobs = self.blobs.as_ref();
        match segment::RecordReader(blobs).read(at).await {
            Ok(Some(record)) if record.id == *page => segment::erase(blobs, &at.segment, &[(at.clone(), record)]).await,
            Ok(_) | Err(StageError::Port(PortError::NotFound(_))) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Publishes a batch whose rows were read from `began` on, after the manifest of this generation, in the name of each
    /// chain of jobs that a page of it belongs to.
    async fn add(
        &self,
        year: Year,
        batch: NewRecords,
        (began, generation): (Timestamp, u64),
        done: &mut PublishReport,
    ) -> Result<(), StageError> {
        if batch.segments.is_empty() {
            return Ok(());
        }
        let spans: Vec<Span> = batch.traces.iter().map(|trace| job_span("index", trace)).collect();
        let added = self.add_itself(year, batch, (began, generation), done).await;
        for span in spans {
            match &added {
                Ok(()) => span.in_scope(|| tracing::debug!(year, "pages of this chain can be found")),
                Err(error) => record_failure(&span, error.kind()),
            }
        }
        added
    }

    async fn add_itself(
        &self,
        year: Year,
        batch: NewRecords,
        (began, generation): (Timestamp, u64),
        done: &mut PublishReport,
    ) -> Result<(), StageError> {
        let NewRecords { segments, records, revised, .. } = batch;
        let blobs = self.blobs.as_ref();
        for (other, pages) in revised.iter().filter(|(other, _)| **other != year) {
            let now = self.clock.now();
            change_manifest(blobs, *other, |m| Ok(m.superseding(pages, now))).await?;
        }
        done.segments += segments.len() as u64;
        if records.is_empty() {
            change_manifest(blobs, year, |m| Ok(m.with_segments(segments.clone()))).await?;
            return Ok(());
        }
        let ids: HashSet<PageId> = records.iter().map(|record| record.id.clone()).collect();
        let build = move || build_split(records.into_iter(), &BuildBudget::default());
        let built = self.built(build).await?.map_err(search_error)?;
        let docs = built.docs;
        let now = self.clock.now();
        let (mut entry, bytes) = entry_of(year, built, now);
        (entry.since, entry.purged_at, entry.generation) = (now, began, generation);
        // All of them are in this split, including those that replace a record of another year.
        let revised: BTreeSet<PageId> = revised.into_values().flatten().filter(|id| ids.contains(id)).collect();
        self.list(year, entry, bytes, |m, entry| m.with_revisions(entry, &segments, &revised, now)).await?;
        done.added += docs;
        Ok(())
    }

    /// Puts a split and lists it in the manifest by `change`.
    async fn list(
        &self,
        year: Year,
        entry: SplitEntry,
        bytes: Bytes,
        change: impl Fn(&Manifest, SplitEntry) -> Result<Manifest, SearchError>,
    ) -> Result<(), StageError> {
        let is_new = self.blobs.put_if_absent(&entry.key, bytes.clone()).await?;
        change_manifest(self.blobs.as_ref(), year, |m| change(m, entry.clone())).await?;
        if !is_new {
            // An earlier run left the object behind, and a sweep may have deleted it just before it was listed.
            self.blobs.put_if_absent(&entry.key, bytes).await?;
        }
        Ok(())
    }

    /// Merges some splits of a year into one of a tier, or rewrites one without the pages that are gone, which then
    /// keeps its tier. Does nothing if another indexer was faster.
    async fn merge(
        &self,
        year: Year,
        keys: &[String],
        tier: Option<Tier>,
        done: &mut PublishReport,
    ) -> Result<(), StageError> {
        let began = self.clock.now();
        let (manifest, _) = load_manifest(self.blobs.as_ref(), year).await?;
        let listed: Vec<&SplitEntry> = manifest.splits.iter().filter(|split| keys.contains(&split.key)).collect();
        if listed.len() < keys.len() {
            return Ok(());
        }
        let mut splits = Vec::with_capacity(keys.len());
        for split in &listed {
            let Some(blob) = self.blobs.get(&split.key).await? else { return Ok(()) };
            let opened = Split::open(blob.bytes).map_err(search_error)?;
            opened.set_outdated(Arc::new(manifest.outdated_in(split)));
            splits.push(opened);
        }
        let gone: Arc<HashSet<PageId>> = Arc::new(manifest.tombstones.iter().cloned().collect());
        let splits = Arc::new(splits);
        let tier = match (tier, listed.as_slice()) {
            (Some(tier), _) => tier,
            (None, [only]) => {
                let splits = splits.clone();
                let ids: Vec<PageId> = gone.iter().cloned().chain(manifest.outdated_in(only)).collect();
                if !self.built(move || holds_any(&splits[0], &ids)).await?? {
                    let change = |m: &Manifest| Ok(m.with_purged(&only.key, began));
                    change_manifest(self.blobs.as_ref(), year, change).await?;
                    return Ok(());
                }
                only.tier
            }
            (None, _) => Tier::Year,
        };
        let before: u64 = splits.iter().map(Split::docs).sum();
        let merged = splits.clone();
        let merge = move || merge_splits(&merged.iter().collect::<Vec<_>>(), &gone, &BuildBudget::default());
        let built = self.built(merge).await?.map_err(search_error)?;
        let replaced = match built {
            None => {
                let ids = splits.iter().flat_map(Split::ids).collect::<Result<BTreeSet<PageId>, _>>();
                let dropped = ids.map_err(search_error)?;
                let change = |m: &Manifest| m.replaced(keys, None, &dropped, began);
                done.purged += before;
                change_manifest(self.blobs.as_ref(), year, change).await.map(drop)
            }
            Some(built) => {
                done.purged += before - built.docs;
                done.rewritten += built.docs;
                let dropped = built.dropped.clone();
                let (mut entry, bytes) = entry_of(year, built, self.clock.now());
                entry.tier = tier;
                entry.since = listed.iter().map(|split| split.since).min().unwrap_or(began);
                (entry.purged_at, entry.generation) = (began, manifest.generation);
                self.list(year, entry, bytes, |m, entry| m.replaced(keys, Some(entry), &dropped, began)).await
            }
        };
        match replaced {
            Err(error) if is_race(&error) => Ok(()),
            replaced => replaced,
        }
    }

    async fn built<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, PortError> {
        Ok(compute(self.pool.as_ref(), CpuTask::Build, work).await?)
    }

    /// Deletes objects that have not been listed for [`RETIRED_FOR`]: splits that were merged, and splits of a program
    /// that died before it could list them.
    async fn sweep(&self, year: Year) -> Result<(), StageError> {
        let there = all_keys(self.blobs.as_ref(), &format!("splits/{year:04}/"), None).await?;
        let now = self.clock.now();
        let until = now - RETIRED_FOR;
        let over = Mutex::new(Vec::new());
        change_manifest(self.blobs.as_ref(), year, |m| {
            let (next, found) = m.swept(&there, now, until);
            *over.lock().unwrap_or_else(PoisonError::into_inner) = found;
            Ok(next)
        })
        .await?;
        for key in over.into_inner().unwrap_or_else(PoisonError::into_inner) {
            self.blobs.delete(&key).await?;
        }
        Ok(())
    }
}

/// True if another indexer was faster.
fn is_race(error: &StageError) -> bool {
    matches!(error, StageError::Port(PortError::Conflict))
}

fn holds_any<'a>(split: &Split, ids: impl IntoIterator<Item = &'a PageId>) -> Result<bool, StageError> {
    for id in ids {
        if split.holds(id).map_err(search_error)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn entry_of(year: Year, built: SplitBuilt, now: Timestamp) -> (SplitEntry, Bytes) {
    let entry = SplitEntry {
        key: format!("splits/{year:04}/{}.split", built.name),
        docs: built.docs,
        bytes: built.bytes.len() as u64,
        languages: built.languages,
        built_at: now,
        form: FORM,
        tier: Tier::Delta,
        since: now,
        purged_at: now,
        generation: 0,
        first_expiry: built.first_expiry,
        tail: built.tail,
    };
    (entry, built.bytes.into())
}
