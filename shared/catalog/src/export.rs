//! Export: all current records, segment by segment. Rows are read only for unindexed segments (docs/decisions/0077).

pub mod changes;

use crate::hidden::{hidden_hosts, is_hidden};
use crate::index::Index;
use crate::listing::each_key;
use crate::manifest::load_manifest;
use crate::segment::{SEGMENTS, decode_all, key_day, segment_day, year_prefix};
use curlew_model::{Location, Millis, PageId, PageState, Record, SegmentKey, Timestamp, Year, is_at_or_below};
use curlew_ports::stage::{Result, StageError};
use curlew_ports::{CpuTask, PortError, compute};
use curlew_search::Manifest;
use futures::stream::{self, FuturesOrdered, StreamExt, TryStreamExt};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Maximum number of segments that are read at once: a request to a stack may take 30 ms.
const SEGMENTS_AT_ONCE: usize = 32;
/// Maximum number of bytes of segments read at once, estimated from the largest so far; one is always read.
const BYTES_AT_ONCE: usize = 16 * 1024 * 1024;
const ROWS_AT_ONCE: usize = 32;
/// Upper bound on how far the clock of a machine that fetches is ahead of that of one that writes records.
const CLOCKS_DIFFER: Millis = Millis::from_hours(1);

/// Reads the current records of an index's store.
pub struct Export<'a>(pub &'a Index);

/// The records to export; by default all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordFilter {
    /// Only pages fetched at this instant or later.
    pub since: Option<Timestamp>,
    /// Only pages of this host and all below it; in lower case, A-labels.
    pub site: Option<String>,
    /// Only pages in this language, a BCP 47 primary language in lower case.
    pub language: Option<String>,
}

impl RecordFilter {
    fn takes(&self, record: &Record) -> bool {
        self.since.is_none_or(|since| record.fetched_at >= since)
            && self.site.as_ref().is_none_or(|site| is_at_or_below(&record.host, site))
            && self.language.as_ref().is_none_or(|wanted| record.language.as_ref() == Some(wanted))
    }

    /// Returns the day of the first segments that can contain a matching record, as in their keys.
    fn first_day(&self) -> Option<String> {
        self.since.map(|since| key_day(since - CLOCKS_DIFFER))
    }
}

type PlacedRecord = (Location, Record);

struct Snapshot {
    filter: RecordFilter,
    now: Timestamp,
    blocked: BTreeSet<String>,
    manifests: BTreeMap<Year, Manifest>,
    new: BTreeSet<SegmentKey>,
    /// Pages with a later record in a new segment, and the location of their current record; `None` if they have none.
    revised: HashMap<PageId, Option<Location>>,
}

impl Snapshot {
    /// True if a current record is part of the export: the filter accepts it, and a search would find its page.
    fn takes(&self, at: &Location, record: &Record) -> bool {
        let manifest = self.manifest_of(&at.segment);
        let is_gone = manifest.is_some_and(|manifest| manifest.tombstones.contains(&record.id));
        let expires = manifest.and_then(|manifest| manifest.expiries.get(&record.id)).copied();
        let is_expired = expires.or(record.unavailable_after).is_some_and(|at| at <= self.now);
        !is_gone && !is_expired && !is_hidden(&self.blocked, &record.url) && self.filter.takes(record)
    }

    fn lists(&self, segment: &SegmentKey) -> bool {
        self.new.contains(segment) || self.manifest_of(segment).is_some_and(|manifest| manifest.is_indexed(segment))
    }

    fn manifest_of(&self, segment: &SegmentKey) -> Option<&Manifest> {
        self.manifests.get(&segment_day(segment).get(..4)?.parse().ok()?)
    }

    /// Returns whether a record is the current one of its page; `None` if only the page's row can tell.
    fn is_current(&self, at: &Location, record: &Record) -> Option<bool> {
        match self.revised.get(&record.id) {
            Some(current) => Some(current.as_ref() == Some(at)),
            // Before publishing lists a segment, it erases the records that are not current.
            None => (!self.new.contains(&at.segment)).then_some(true),
        }
    }
}

struct SegmentPart<T> {
    segment: SegmentKey,
    offsets: Vec<u32>,
    output: Option<T>,
    bytes: usize,
}

impl Export<'_> {
    /// Passes all records that match a filter to `write`, encoded by `encode`, one segment at a time in the order of
    /// keys. Omits the text of `noarchive` records. A page that exists from beginning to end is passed once.
    pub async fn run<T: Send + 'static, E: From<StageError>>(
        &self,
        filter: RecordFilter,
        encode: impl Fn(Vec<Record>) -> T + Send + Sync + 'static,
        mut write: impl AsyncFnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let (snapshot, encode) = (Arc::new(self.snapshot(filter).await?), Arc::new(encode));
        let mut written: HashMap<SegmentKey, Vec<u32>> = HashMap::new();
        let prefixes: Vec<String> = snapshot.manifests.keys().map(|year| year_prefix(*year)).collect();
        let first_day = snapshot.filter.first_day().map(|day| format!("{SEGMENTS}{day}"));
        let mut keys = stream::iter(&prefixes)
            .flat_map(|prefix| each_key(self.0.blobs.as_ref(), prefix, first_day.clone()))
            .map_err(StageError::from);
        let (mut reads, mut largest) = (FuturesOrdered::new(), 1);
        loop {
            while reads.len() < (BYTES_AT_ONCE / largest).clamp(1, SEGMENTS_AT_ONCE) {
                let Some(key) = keys.try_next().await? else { break };
                // Segments written after the snapshot are left out.
                let Some(key) = SegmentKey::new(&key).ok().filter(|key| snapshot.lists(key)) else { continue };
                reads.push_back(self.portion(key, snapshot.clone(), encode.clone()));
            }
            let Some(portion) = reads.next().await else { break };
            let SegmentPart { segment, offsets, output, bytes } = portion?;
            largest = largest.max(bytes);
            if let Some(output) = output {
                write(output).await?;
                written.insert(segment, offsets);
            }
        }
        let late = self.revised_meanwhile(&snapshot, &written).await?;
        if !late.is_empty() {
            write(self.computed(move || encode(late)).await?).await?;
        }
        Ok(())
    }

    /// Reads the manifests, then the new segments, then the rows of the pages that are revised in them.
    async fn snapshot(&self, filter: RecordFilter) -> Result<Snapshot> {
        let mut snapshot = self.published(filter).await?;
        snapshot.new = self.new_segments(&snapshot).await?;
        for key in &snapshot.new {
            let records = self.records(key).await?;
            let mut pages: Vec<PageId> =
                records.into_iter().filter(|(_, record)| record.replaces.is_some()).map(|(_, r)| r.id).collect();
            pages.retain(|id| !snapshot.revised.contains_key(id));
            let current = self.current(pages.iter()).await?;
            snapshot.revised.extend(pages.into_iter().zip(current));
        }
        Ok(snapshot)
    }

    async fn published(&self, filter: RecordFilter) -> Result<Snapshot> {
        let blobs = self.0.blobs.as_ref();
        let first_year: Option<Year> = filter.first_day().and_then(|day| day.get(..4)?.parse().ok());
        let mut manifests = BTreeMap::new();
        for year in self.0.years().await?.into_iter().filter(|year| first_year.is_none_or(|first| *year >= first)) {
            manifests.insert(year, load_manifest(blobs, year).await?);
        }
        let (now, blocked) = (self.0.clock.now(), hidden_hosts(blobs).await?);
        Ok(Snapshot { filter, now, blocked, manifests, new: BTreeSet::new(), revised: HashMap::new() })
    }

    async fn new_segments(&self, snapshot: &Snapshot) -> Result<BTreeSet<SegmentKey>> {
        let first = snapshot.filter.first_day();
        let mut new = BTreeSet::new();
        for (year, manifest) in &snapshot.manifests {
            new.extend(self.0.new_segments(*year, manifest).await?);
        }
        new.retain(|key| first.as_deref().is_none_or(|first| segment_day(key) >= first));
        Ok(new)
    }

    async fn records(&self, key: &SegmentKey) -> Result<Vec<PlacedRecord>> {
        let Some(blob) = self.0.blobs.get(key.as_str()).await? else { return Ok(vec![]) };
        let key = key.clone();
        self.computed(move || decode_all(&key, &blob.bytes)).await?
    }

    async fn current(&self, pages: impl Iterator<Item = &PageId>) -> Result<Vec<Option<Location>>> {
        let rows = pages.map(|id| self.0.pages.get(id));
        let mut rows = stream::iter(rows).buffered(ROWS_AT_ONCE);
        let mut current = Vec::new();
        while let Some(row) = rows.next().await {
            current.push(row?.and_then(|(page, _)| match page.state {
                PageState::Accepted { location, .. } => Some(location),
                _ => None,
            }));
        }
        Ok(current)
    }

    async fn portion<T: Send + 'static>(
        &self,
        segment: SegmentKey,
        snapshot: Arc<Snapshot>,
        encode: Arc<impl Fn(Vec<Record>) -> T + Send + Sync + 'static>,
    ) -> Result<SegmentPart<T>> {
        let Some(blob) = self.0.blobs.get(segment.as_str()).await? else {
            return Ok(SegmentPart { segment, offsets: vec![], output: None, bytes: 0 });
        };
        let bytes = blob.bytes.len();
        let (chosen, key) = (snapshot.clone(), segment.clone());
        let choose = move || -> Result<_> {
            let mut records = decode_all(&key, &blob.bytes)?;
            records.retain(|(at, record)| chosen.takes(at, record) && chosen.is_current(at, record) != Some(false));
            Ok(records)
        };
        let encoded = move |records: Vec<PlacedRecord>| -> (Vec<u32>, Option<T>) {
            let offsets = records.iter().filter_map(|(at, _)| u32::try_from(at.offset).ok()).collect();
            let records: Vec<Record> = records.into_iter().map(|(_, record)| without_copy(record)).collect();
            (offsets, (!records.is_empty()).then(|| encode(records)))
        };
        let (offsets, output) = if snapshot.new.contains(&segment) {
            let records = self.computed(choose).await??;
            let current = self.current_records(records, &snapshot).await?;
            self.computed(move || encoded(current)).await?
        } else {
            self.computed(move || choose().map(encoded)).await??
        };
        Ok(SegmentPart { segment, offsets, output, bytes })
    }

    /// Keeps the records of a new segment that the rows of their pages point to.
    async fn current_records(&self, records: Vec<PlacedRecord>, snapshot: &Snapshot) -> Result<Vec<PlacedRecord>> {
        let is_open = |(at, record): &&(Location, Record)| snapshot.is_current(at, record).is_none();
        let mut rows = self.current(records.iter().filter(is_open).map(|(_, record)| &record.id)).await?.into_iter();
        let counts = |(at, record): &(Location, Record)| {
            snapshot.is_current(at, record).unwrap_or_else(|| rows.next().flatten().as_ref() == Some(at))
        };
        Ok(records.into_iter().filter(counts).collect())
    }

    /// Returns the new records of pages revised during the export before their earlier records were read.
    async fn revised_meanwhile(
        &self,
        snapshot: &Snapshot,
        written: &HashMap<SegmentKey, Vec<u32>>,
    ) -> Result<Vec<Record>> {
        let was_written = |at: &Location| {
            let offsets = written.get(&at.segment);
            offsets.is_some_and(|offsets| u32::try_from(at.offset).is_ok_and(|at| offsets.binary_search(&at).is_ok()))
        };
        let mut late = Vec::new();
        for key in self.new_segments(snapshot).await?.difference(&snapshot.new) {
            let mut records = self.records(key).await?;
            records.retain(|(at, record)| {
                record.replaces.as_ref().is_some_and(|old| !was_written(old)) && snapshot.takes(at, record)
            });
            let current = self.current(records.iter().map(|(_, record)| &record.id)).await?;
            let pairs = records.into_iter().zip(current);
            late.extend(pairs.filter(|((at, _), now)| now.as_ref() == Some(at)).map(|((_, r), _)| without_copy(r)));
        }
        Ok(late)
    }

    /// Runs work in the pool. A segment takes a small part of the processor time that a document may take.
    async fn computed<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        Ok(compute(self.0.pool.as_ref(), CpuTask::Document, work).await.map_err(PortError::from)?)
    }
}

fn without_copy(mut record: Record) -> Record {
    if record.no_archive {
        record.text.clear();
    }
    record
}
