//! Index: publishes new segments as splits, and merges the splits of a year without the pages that are gone. Publishing
//! is one path: list, read, settle replaced records, build, swap the manifest.

mod report;

pub use report::PublishReport;

use crate::listing::all_keys;
use crate::manifest::{change_manifest, load_manifest, manifest_key, parse_manifest, search_error, unlisted_segments};
use crate::{object, segment};
use bytes::Bytes;
use curlew_model::{Location, Millis, PageId, PageState, Record, SegmentKey, Timestamp, TraceId, Year};
use curlew_ports::stage::{Result, StageError, job_span, with_causes};
use curlew_ports::{Blobs, Clock, CpuPool, CpuTask, Pages, PortError, compute};
use curlew_search::{
    BuildBudget, FORM, Manifest, SearchError, Split, SplitBuilt, SplitEntry, Tier, build_split, chunks, due,
    merge_splits, purges,
};
use futures::future::try_join_all;
use futures::stream::{self, Stream, StreamExt, TryStreamExt};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// Default number of pages at which a portion is closed and built as one split; it limits memory.
pub const PAGES_PER_SPLIT: usize = 20_000;
/// Bytes of text after which a split is closed.
pub const TEXT_PER_SPLIT: usize = 64 * 1024 * 1024;
/// Maximum total size of splits that are merged into one, in bytes; merging keeps them in memory.
const MERGE_BYTES: u64 = 256 * 1024 * 1024;
/// Time for which unlisted objects are kept, longer than any program takes to list an object that it has put.
const RETIRED_FOR: Millis = Millis::from_days(1);
/// Default number of portions that are built concurrently. Another one is read meanwhile.
pub const PORTIONS_AT_ONCE: usize = 2;
const SEGMENTS_AT_ONCE: usize = 8;
const ROWS_AT_ONCE: usize = 32;
/// Maximum number of retries of publishing while another indexer publishes the same segments.
const RACES: u32 = 8;
/// Age in days at which all segments of a day are certainly written.
const SEALED_AFTER_DAYS: u64 = 2;
/// Age in days up to which rows of a segment may still be missing; less than [`SEALED_AFTER_DAYS`].
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
    /// Number of portions that are built concurrently, at least one.
    pub portions_at_once: usize,
    /// Number of pages at which a portion is closed; [`PAGES_PER_SPLIT`] except in tests.
    pub pages_per_split: usize,
}

#[derive(Default)]
struct NewRecords {
    segments: Vec<SegmentKey>,
    damaged: u64,
    records: Vec<Record>,
    text: usize,
    /// Pages that were published before with another text, by the year of the older copy.
    revised: BTreeMap<Year, BTreeSet<PageId>>,
    traces: BTreeSet<TraceId>,
}

impl NewRecords {
    fn add(&mut self, other: NewRecords) {
        self.segments.extend(other.segments);
        self.damaged += other.damaged;
        self.records.extend(other.records);
        self.text += other.text;
        for (year, pages) in other.revised {
            self.revised.entry(year).or_default().extend(pages);
        }
        self.traces.extend(other.traces);
    }
}

impl Index {
    /// Publishes the new segments of a year, rewrites splits of an older format, and merges those that are due. Each
    /// portion is listed as soon as it is built, so the next run continues one that died. Two indexers may run at once.
    pub async fn publish(&self, year: Year) -> Result<PublishReport> {
        let mut done = PublishReport::default();
        let mut races = 0;
        while let Err(error) = self.publish_new(year, &mut done).await {
            races += 1;
            // Another indexer has published some of the same segments: publish the rest.
            if races >= RACES || !is_race(&error) {
                return Err(error);
            }
        }
        let manifest = load_manifest(self.blobs.as_ref(), year).await?;
        let old = manifest.splits.iter().filter(|split| !split.is_current());
        // All pages can be found meanwhile: each new split replaces an old one.
        self.merge_all(year, old.map(rewriting).collect(), &mut done).await?;
        let now = self.clock.now();
        let manifest = load_manifest(self.blobs.as_ref(), year).await?;
        let merges = due(&manifest.splits, year, now, MERGE_BYTES).into_iter().map(|due| (due.keys, Some(due.tier)));
        self.merge_all(year, merges.collect(), &mut done).await?;
        self.merge_all(year, purges(&manifest, now).map(rewriting).collect(), &mut done).await?;
        self.sweep(year).await?;
        done.splits = load_manifest(self.blobs.as_ref(), year).await?.splits.len() as u64;
        Ok(done)
    }

    async fn publish_new(&self, year: Year, done: &mut PublishReport) -> Result<()> {
        let mut manifest = load_manifest(self.blobs.as_ref(), year).await?;
        if let Some(found) = manifest.later_form() {
            return Err(search_error(SearchError::UnknownForm { what: "split", found }));
        }
        if manifest.splits.iter().any(|split| !split.is_readable()) {
            tracing::warn!(year, "the index is of a version that cannot be read and is built anew from the records");
            manifest = change_manifest(self.blobs.as_ref(), year, |m| Ok(m.begun_anew())).await?;
        }
        let (began, generation) = (self.clock.now(), manifest.generation);
        let segments = self.new_segments(year, &manifest).await?;
        if !segments.is_empty() {
            let add = |portion: Result<NewRecords>| async move { self.add(year, portion?, began, generation).await };
            let portions = self.portions(segments).map(add);
            let mut added = std::pin::pin!(portions.buffer_unordered(self.portions_at_once.max(1)));
            let mut failed = None;
            // A portion that fails leaves the others intact.
            while let Some(added) = added.next().await {
                match added {
                    Ok(portion) => done.add(portion),
                    Err(error) => failed = failed.filter(|first| !is_race(first)).or(Some(error)),
                }
            }
            if let Some(error) = failed {
                return Err(error);
            }
            // The sealed day is counted from the listing, which lacks segments that were written later.
            let sealed = (began - Millis::from_days(SEALED_AFTER_DAYS)).day();
            change_manifest(self.blobs.as_ref(), year, |m| Ok(m.seal(&sealed))).await?;
        }
        Ok(())
    }

    /// Publishes the new segments of a year, then merges all its splits into few, without the pages that are gone.
    pub async fn refresh(&self, year: Year) -> Result<PublishReport> {
        let mut done = self.publish(year).await?;
        let manifest = load_manifest(self.blobs.as_ref(), year).await?;
        let splits: Vec<&SplitEntry> = manifest.splits.iter().collect();
        let groups = chunks(&splits, MERGE_BYTES);
        self.merge_all(year, groups.iter().map(|keys| (keys.clone(), Some(Tier::Year))).collect(), &mut done).await?;
        // Splits that are too large to be merged are still rewritten without the pages that are gone.
        let alone = manifest.splits.iter().filter(|split| !groups.iter().flatten().any(|key| *key == split.key));
        self.merge_all(year, alone.filter(|_| manifest.hidden_copies() > 0).map(rewriting).collect(), &mut done)
            .await?;
        done.splits = load_manifest(self.blobs.as_ref(), year).await?.splits.len() as u64;
        Ok(done)
    }

    pub(super) async fn new_segments(&self, year: Year, manifest: &Manifest) -> Result<Vec<SegmentKey>> {
        Ok(unlisted_segments(self.blobs.as_ref(), &segment::year_prefix(year), manifest).await?)
    }

    /// Reads segments, several at once, and divides their records into portions. Ends after an error.
    fn portions(&self, segments: Vec<SegmentKey>) -> impl Stream<Item = Result<NewRecords>> + '_ {
        let reads = stream::iter(segments).map(|key| self.read(key)).buffered(SEGMENTS_AT_ONCE);
        stream::unfold(Some(Box::pin(reads)), async |reads| {
            let (mut reads, mut portion) = (reads?, NewRecords::default());
            loop {
                match reads.next().await {
                    Some(Ok(read)) => portion.add(read),
                    Some(Err(error)) => return Some((Err(error), None)),
                    None => return Some((Ok(portion), None)),
                }
                if portion.records.len() >= self.pages_per_split || portion.text >= TEXT_PER_SPLIT {
                    return Some((Ok(portion), Some(reads)));
                }
            }
        })
    }

    /// Reads a segment; returns nothing if it is left to the next run. A record counts only if its page's row points to
    /// it; one that no row will ever point to is erased, since the removal of its page would not erase it.
    async fn read(&self, key: SegmentKey) -> Result<NewRecords> {
        let mut batch = NewRecords::default();
        let Some(blob) = self.blobs.get(key.as_str()).await? else {
            batch.segments.push(key);
            return Ok(batch);
        };
        let settled_before = segment::key_day(self.clock.now() - Millis::from_days(UNDECIDED_DAYS));
        let is_settled = segment::segment_day(&key) < settled_before.as_str();
        let (mut counted, mut orphans, mut replaced, mut traces) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let records = match segment::decode_all(&key, &blob.bytes) {
            Ok(records) => records,
            // The segment counts as published, so that it neither stops the others nor is read again; fsck repairs it.
            Err(error) => {
                tracing::error!(
                    segment = key.as_str(),
                    error = with_causes(&error),
                    "a segment is damaged; its pages are not published until fsck has repaired it"
                );
                return Ok(NewRecords { segments: vec![key], damaged: 1, ..NewRecords::default() });
            }
        };
        // A stale row does no harm: the segment waits for the next run, or the page has its tombstone already.
        let rows: Vec<_> = records.iter().map(|(_, record)| self.pages.load_eventual(&record.id)).collect();
        let rows: Vec<_> = stream::iter(rows).buffered(ROWS_AT_ONCE).try_collect().await?;
        for ((location, record), row) in records.into_iter().zip(rows) {
            let row = row.map(|(page, _)| page);
            let (state, trace) = row.map(|page| (page.state, page.trace)).unzip();
            let current = if let Some(PageState::Accepted { location, .. }) = &state { Some(location) } else { None };
            // The row is still being written, or the batch will run again; a page taken up may have no row yet.
            let is_unwritten = state.as_ref().is_none_or(PageState::is_open);
            // The row of a changed page may still be moved to this record.
            let is_unmoved = current.is_some() && current == record.replaces.as_ref();
            if (is_unwritten || is_unmoved) && !is_settled {
                return Ok(NewRecords::default());
            }
            if !is_unmoved {
                replaced.extend(record.replaces.clone().map(|old| (record.id.clone(), old)));
            }
            if current == Some(&location) {
                traces.extend(trace.flatten());
                counted.push(record);
            } else {
                orphans.push((location, record));
            }
        }
        for (page, old) in replaced {
            let mut years = self.erase_replaced(&page, &old).await?;
            years.insert(segment::segment_year(&old).unwrap_or_default());
            for year in years {
                batch.revised.entry(year).or_default().insert(page.clone());
            }
        }
        if !orphans.is_empty() {
            segment::erase(self.blobs.as_ref(), &key, &orphans).await?;
        }
        batch.text += counted.iter().map(|record| record.text.len()).sum::<usize>();
        batch.records.extend(counted);
        batch.traces.extend(traces);
        batch.segments.push(key);
        Ok(batch)
    }

    /// Erases the chain of a page's replaced records from `at` on, the oldest first; returns their years.
    async fn erase_replaced(&self, page: &PageId, at: &Location) -> Result<BTreeSet<Year>> {
        let blobs = self.blobs.as_ref();
        let (mut records, ended) = segment::RecordReader(blobs).read_replaced(at).await;
        match ended {
            // Fsck repairs damaged segments, and drops records that a newer one has replaced.
            Ok(()) | Err(StageError::Port(PortError::NotFound(_) | PortError::Corrupt { .. })) => {}
            Err(error) => return Err(error),
        }
        records.truncate(records.iter().take_while(|(_, record)| record.id == *page).count());
        let years = records.iter().filter_map(|(at, _)| segment::segment_year(at)).collect();
        for (at, record) in records.into_iter().rev() {
            let segment = at.segment.clone();
            segment::erase(blobs, &segment, &[(at, record)]).await?;
        }
        Ok(years)
    }

    /// Publishes a portion whose rows were read from `began` on, based on the manifest of this generation.
    async fn add(&self, year: Year, batch: NewRecords, began: Timestamp, generation: u64) -> Result<PublishReport> {
        if batch.segments.is_empty() {
            return Ok(PublishReport::default());
        }
        let NewRecords { segments, damaged, records, revised, traces, .. } = batch;
        let blobs = self.blobs.as_ref();
        for (other, pages) in revised.iter().filter(|(other, _)| **other != year) {
            let now = self.clock.now();
            change_manifest(blobs, *other, |m| Ok(m.superseding(pages, now))).await?;
        }
        let read = segments.len() as u64;
        if records.is_empty() {
            change_manifest(blobs, year, |m| Ok(m.with_segments(segments.clone()))).await?;
            return Ok(PublishReport { segments: read, damaged, ..PublishReport::default() });
        }
        let ids: HashSet<PageId> = records.iter().map(|record| record.id.clone()).collect();
        let build = move || build_split(records.into_iter(), &BuildBudget::default());
        let built = self.built(build).await?.map_err(search_error)?;
        let added = built.docs;
        let now = self.clock.now();
        let (mut entry, bytes) = entry_of(year, built, now);
        (entry.since, entry.purged_at, entry.generation) = (now, began, generation);
        // All of them are in this split, including those that replace a record of another year.
        let revised: BTreeSet<PageId> = revised.into_values().flatten().filter(|id| ids.contains(id)).collect();
        self.list(year, entry, bytes, |m, entry| m.with_revisions(entry, &segments, &revised, now)).await?;
        for trace in &traces {
            job_span("index", trace).in_scope(|| tracing::debug!(year, "pages of this chain can be found"));
        }
        Ok(PublishReport { added, segments: read, damaged, ..PublishReport::default() })
    }

    async fn list(
        &self,
        year: Year,
        entry: SplitEntry,
        bytes: Bytes,
        change: impl Fn(&Manifest, SplitEntry) -> Result<Manifest, SearchError>,
    ) -> Result<()> {
        let is_new = self.blobs.put_if_absent(&entry.key, bytes.clone()).await?;
        change_manifest(self.blobs.as_ref(), year, |m| change(m, entry.clone())).await?;
        if !is_new {
            // An earlier run left the object behind, and a sweep may have deleted it just before it was listed.
            self.blobs.put_if_absent(&entry.key, bytes).await?;
        }
        Ok(())
    }

    /// Runs merges concurrently, but one fewer than portions, since a merge needs more memory.
    async fn merge_all(&self, year: Year, merges: Vec<Merge>, done: &mut PublishReport) -> Result<()> {
        let at_once = self.portions_at_once.saturating_sub(1).max(1);
        let merges = stream::iter(merges).map(|(keys, tier)| self.merge(year, keys, tier));
        let mut merges = std::pin::pin!(merges.buffer_unordered(at_once));
        while let Some(merged) = merges.next().await {
            done.add(merged?);
        }
        Ok(())
    }

    /// Merges splits into one of a tier, or rewrites one without pages that are gone; no-op if another was faster.
    async fn merge(&self, year: Year, keys: Vec<String>, tier: Option<Tier>) -> Result<PublishReport> {
        let began = self.clock.now();
        let manifest = load_manifest(self.blobs.as_ref(), year).await?;
        let listed: Vec<&SplitEntry> = manifest.splits.iter().filter(|split| keys.contains(&split.key)).collect();
        if listed.len() < keys.len() {
            return Ok(PublishReport::default());
        }
        let blobs = try_join_all(listed.iter().map(|split| self.blobs.get(&split.key))).await?;
        let mut splits = Vec::with_capacity(keys.len());
        for (split, blob) in listed.iter().zip(blobs) {
            let Some(blob) = blob else { return Ok(PublishReport::default()) };
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
                let holds_any =
                    move || ids.iter().map(|id| splits[0].holds(id)).find(|held| !matches!(held, Ok(false)));
                if only.is_current() && self.built(holds_any).await?.transpose().map_err(search_error)?.is_none() {
                    let change = |m: &Manifest| Ok(m.with_purged(&only.key, began));
                    change_manifest(self.blobs.as_ref(), year, change).await?;
                    return Ok(PublishReport::default());
                }
                only.tier
            }
            (None, _) => Tier::Year,
        };
        let before: u64 = splits.iter().map(Split::docs).sum();
        let merged = splits.clone();
        let merge = move || merge_splits(&merged.iter().collect::<Vec<_>>(), &gone, &BuildBudget::default());
        let built = self.built(merge).await?.map_err(search_error)?;
        let rewritten = built.as_ref().map_or(0, |built| built.docs);
        let merged = PublishReport { purged: before - rewritten, rewritten, ..PublishReport::default() };
        let replaced = match built {
            None => {
                let ids = splits.iter().flat_map(Split::ids).collect::<Result<BTreeSet<PageId>, _>>();
                let dropped = ids.map_err(search_error)?;
                let change = |m: &Manifest| m.replaced(&keys, None, &dropped, began);
                change_manifest(self.blobs.as_ref(), year, change).await.map(drop)
            }
            Some(built) => {
                let dropped = built.dropped.clone();
                let (mut entry, bytes) = entry_of(year, built, self.clock.now());
                entry.tier = tier;
                entry.since = listed.iter().map(|split| split.since).min().unwrap_or(began);
                (entry.purged_at, entry.generation) = (began, manifest.generation);
                self.list(year, entry, bytes, |m, entry| m.replaced(&keys, Some(entry), &dropped, began)).await
            }
        };
        match replaced {
            Err(error) if is_race(&error) => Ok(PublishReport::default()),
            replaced => replaced.map(|()| merged),
        }
    }

    async fn built<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, PortError> {
        Ok(compute(self.pool.as_ref(), CpuTask::Build, work).await?)
    }

    /// Deletes splits that have not been listed for [`RETIRED_FOR`]: merged ones, and those of crashed programs.
    async fn sweep(&self, year: Year) -> Result<()> {
        let there = all_keys(self.blobs.as_ref(), &format!("splits/{year:04}/"), None).await?;
        let now = self.clock.now();
        let until = now - RETIRED_FOR;
        let over = object::change(self.blobs.as_ref(), &manifest_key(year), |bytes| {
            let manifest = parse_manifest(year, bytes)?;
            let (next, over) = manifest.swept(&there, now, until);
            Ok(((next != manifest).then(|| next.to_json()), over))
        })
        .await?;
        for key in over {
            self.blobs.delete(&key).await?;
        }
        Ok(())
    }
}

/// The keys of the splits of a merge, and the tier of the result; `None` rewrites one split in its tier.
type Merge = (Vec<String>, Option<Tier>);

fn rewriting(split: &SplitEntry) -> Merge {
    (vec![split.key.clone()], None)
}

fn is_race(error: &StageError) -> bool {
    matches!(error, StageError::Port(PortError::Conflict))
}

fn entry_of(year: Year, built: SplitBuilt, now: Timestamp) -> (SplitEntry, Bytes) {
    let entry = SplitEntry {
        key: format!("splits/{year:04}/{}.split", built.name),
        docs: built.docs,
        bytes: built.bytes.len() as u64,
        languages: built.languages,
        built_at: now,
        form: FORM,
        first_expiry: built.first_expiry,
        tail: built.tail,
        bounds: built.bounds,
        ..SplitEntry::default()
    };
    (entry, built.bytes.into())
}
