//! Compares rows of pages, records, manifests, splits, thumbnails and jobs with each other. Remains of a crash that a
//! job, sweep or publishing will repair are not reported. The store should be idle during a check.
//!
//! Pages, thumbnails and segments are named by hashes. A pass reads all objects and compares one slice of the hashes,
//! so a store of any size is checked in bounded memory.

mod facts;
mod repair;

use self::facts::{RowFact, Slice, StoreFacts, jobs};
use curlew_catalog::index::Index;
use curlew_catalog::listing::{each_key, pages_from};
use curlew_catalog::manifest::{manifest_key, search_error};
use curlew_catalog::raw::{RAW_PREFIX, name};
use curlew_catalog::removal::Removal;
use curlew_catalog::segment::{self, RecordReader, SEGMENTS};
use curlew_catalog::thumbnails::THUMBNAIL_PREFIX;
use curlew_model::{Location, PageId, PageState, SegmentKey, Year};
use curlew_ports::stage::{Result, StageError};
use curlew_ports::{Blob, Blobs, Clock, Inbox, Pages, PortError, Queue};
use curlew_search::{Manifest, SearchError, Split, SplitEntry};
use futures::TryStreamExt;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Default of the maximum number of rows that one pass compares; a row takes about 300 bytes.
pub const ROWS_AT_ONCE: usize = 1_000_000;
const JPEG: [u8; 2] = [0xff, 0xd8];
const BODIES: &str = "bodies/";

/// Missing or damaged data.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Damage {
    /// An object cannot be read.
    Unreadable {
        /// Key of the object.
        key: String,
        /// The reason.
        why: String,
    },
    /// The record of an accepted page is not at the place in the page's row.
    LostRecord {
        /// The page.
        page: PageId,
        /// Key of the segment.
        segment: SegmentKey,
    },
    /// A published segment contains a record of a page that is not accepted.
    StrayRecord {
        /// The page.
        page: PageId,
        /// Place of the record.
        at: Location,
    },
    /// A raw page belongs to no record.
    StrayRaw {
        /// Key of the object.
        key: String,
        /// Offset of the raw page's frame in bytes.
        offset: u64,
        /// Length of the raw page's frame in bytes.
        length: u64,
    },
    /// A manifest lists a split that is missing or damaged.
    LostSplit {
        /// Year of the manifest.
        year: Year,
        /// Key of the split.
        key: String,
        /// The reason.
        why: String,
    },
    /// An accepted page is in no split, although its segment was published.
    NotIndexed {
        /// The page.
        page: PageId,
        /// Year of the page's index.
        year: Year,
    },
    /// A split contains a page that is not accepted and not hidden.
    StrayHit {
        /// The page.
        page: PageId,
        /// Year of the split.
        year: Year,
    },
    /// A page is pending, but no job is about it.
    Stranded {
        /// The page.
        page: PageId,
    },
    /// The document of an extraction job is missing.
    LostBody {
        /// The page.
        page: PageId,
        /// Key of the document.
        key: String,
    },
}

/// Result of a check of the store.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FsckReport {
    /// Number of rows of pages.
    pub pages: u64,
    /// Number of records.
    pub records: u64,
    /// Number of splits in manifests.
    pub splits: u64,
    /// All missing or damaged data.
    pub damage: Vec<Damage>,
    /// Pages whose removal or change was interrupted after their records were erased.
    pub unfinished: Vec<PageId>,
    /// Keys of objects that nothing refers to: replaced thumbnails, raw pages without a record, extracted documents.
    pub orphans: Vec<String>,
}

/// Checks and repairs a store.
pub struct Fsck<'a> {
    /// Rows of pages.
    pub pages: &'a dyn Pages,
    /// Store of all objects.
    pub blobs: &'a dyn Blobs,
    /// The jobs; `None` if some are not visible or other processes take them.
    pub inbox: Option<&'a dyn Inbox>,
    /// Queue of visits.
    pub queue: &'a dyn Queue,
    /// Time.
    pub clock: &'a dyn Clock,
    /// Completes interrupted removals.
    pub removal: &'a Removal,
    /// Rebuilds indexes.
    pub index: &'a Index,
    /// Maximum number of rows that one pass compares; [`ROWS_AT_ONCE`] except in tests.
    pub rows_at_once: usize,
}

impl Fsck<'_> {
    /// Reads and compares everything, without writing. Unreadable objects are reported; they are not errors.
    pub async fn look(&self) -> Result<FsckReport> {
        let (mut report, mut after) = (FsckReport::default(), None);
        let jobs = if let Some(inbox) = self.inbox { Some(jobs(inbox).await?) } else { None };
        loop {
            let mut rows = HashMap::new();
            let until = pages_from(self.pages, after.clone(), self.rows_at_once, |page| {
                let row = match page.state {
                    PageState::Pending => RowFact::Pending,
                    PageState::Accepted { year, location, .. } => RowFact::Accepted { year, location },
                    _ => RowFact::Closed,
                };
                rows.insert(page.id, row);
                true
            })
            .await?;
            report.pages += rows.len() as u64;
            let slice = Slice { after, until: until.clone() };
            let mut facts = StoreFacts { slice, rows, jobs: jobs.as_ref(), ..StoreFacts::default() };
            self.segments(&mut facts, &mut report).await?;
            self.lost(&facts, &mut report).await?;
            let manifests = self.manifests(&facts, &mut report).await?;
            report.damage.extend(facts.stray_records(&manifests));
            self.objects(&facts, &mut report).await?;
            self.raw_pages(&facts, &mut report).await?;
            if until.is_none() {
                break;
            }
            after = until;
        }
        self.plain_objects(&mut report).await?;
        report.damage.sort();
        report.damage.dedup();
        report.unfinished.sort();
        report.orphans.sort();
        Ok(report)
    }

    async fn segments(&self, facts: &mut StoreFacts<'_>, report: &mut FsckReport) -> Result<()> {
        let mut keys = each_key(self.blobs, SEGMENTS, None);
        while let Some(key) = keys.try_next().await? {
            let Ok(segment) = SegmentKey::new(&key) else { continue };
            let Some(blob) = self.read(&key, report).await? else { continue };
            match segment::decode_all(&segment, &blob.bytes) {
                Ok(records) => {
                    let of_slice = records.iter().filter(|(_, record)| facts.slice.holds(record.id.as_str()));
                    report.records += of_slice.count() as u64;
                    records.iter().for_each(|(at, record)| facts.add(at, record));
                }
                Err(error) => report.damage.push(unreadable(key, &error)),
            }
        }
        // Some records of a damaged segment may still be readable.
        let damaged: HashSet<&str> = report.damage.iter().filter_map(Damage::unreadable_key).collect();
        let place = |row: &RowFact| match row {
            RowFact::Accepted { location, .. } if damaged.contains(location.segment.as_str()) => Some(location.clone()),
            _ => None,
        };
        let places: Vec<Location> = facts.rows.values().filter_map(place).collect();
        for at in places {
            if let Ok(Some(record)) = RecordReader(self.blobs).read(&at).await {
                facts.add(&at, &record);
            }
        }
        Ok(())
    }

    /// Reports the pages whose records were not found.
    async fn lost(&self, facts: &StoreFacts<'_>, report: &mut FsckReport) -> Result<()> {
        for (page, row) in &facts.rows {
            let RowFact::Accepted { location, .. } = row else { continue };
            if facts.recorded.contains(page) {
                continue;
            }
            match RecordReader(self.blobs).read(location).await {
                Ok(None) => report.unfinished.push(page.clone()),
                Err(StageError::Port(error)) if error.is_transient() => return Err(error.into()),
                _ => report.damage.push(Damage::LostRecord { page: page.clone(), segment: location.segment.clone() }),
            }
        }
        Ok(())
    }

    async fn manifests(&self, facts: &StoreFacts<'_>, report: &mut FsckReport) -> Result<BTreeMap<Year, Manifest>> {
        let mut manifests = BTreeMap::new();
        report.splits = 0;
        let mut keys = each_key(self.blobs, "manifests/", None);
        while let Some(key) = keys.try_next().await? {
            let Some(blob) = self.read(&key, report).await? else { continue };
            let manifest = match Manifest::from_json(&blob.bytes) {
                Ok(manifest) if manifest_key(manifest.year) == key => manifest,
                other => {
                    let why = other.err().map_or_else(|| "it is another year's".to_owned(), |error| error.to_string());
                    report.damage.push(unreadable(key, &why));
                    continue;
                }
            };
            let (mut shown, mut is_whole) = (HashSet::new(), true);
            for split in &manifest.splits {
                report.splits += 1;
                match self.visible_pages(&manifest, split).await? {
                    Ok(ids) => shown.extend(ids.into_iter().filter(|id| facts.slice.holds(id.as_str()))),
                    Err(why) => {
                        is_whole = false;
                        let (key, year) = (split.key.clone(), manifest.year);
                        report.damage.extend(why.map(|why| Damage::LostSplit { year, key, why }));
                    }
                }
            }
            // If a split is lost, its pages are not reported as well.
            let compared = facts.compare(&manifest, &shown);
            report.damage.extend(compared.into_iter().filter(|d| is_whole || matches!(d, Damage::StrayHit { .. })));
            manifests.insert(manifest.year, manifest);
        }
        Ok(manifests)
    }

    /// Returns the visible pages of a split, or why it cannot be read (`None` if another version wrote it).
    async fn visible_pages(
        &self,
        manifest: &Manifest,
        entry: &SplitEntry,
    ) -> Result<Result<Vec<PageId>, Option<String>>> {
        let Some(blob) = self.blobs.get(&entry.key).await? else { return Ok(Err(Some("it is missing".to_owned()))) };
        if blob.bytes.len() as u64 != entry.bytes {
            return Ok(Err(Some(format!("it has {} bytes instead of {}", blob.bytes.len(), entry.bytes))));
        }
        let split = match Split::open(blob.bytes) {
            Ok(split) => split,
            Err(SearchError::UnknownForm { .. }) => return Ok(Err(None)),
            Err(error) => return Ok(Err(Some(error.to_string()))),
        };
        let outdated = manifest.outdated_in(entry);
        let ids = split.ids().collect::<Result<Vec<_>, _>>().map_err(search_error)?;
        Ok(Ok(ids.into_iter().filter(|id| !outdated.contains(id)).collect()))
    }

    async fn objects(&self, facts: &StoreFacts<'_>, report: &mut FsckReport) -> Result<()> {
        // About as many as there are jobs, so they fit in memory.
        let bodies: BTreeSet<String> = each_key(self.blobs, BODIES, None).try_collect().await?;
        report.damage.extend(facts.stranded(&bodies));
        if let Some(jobs) = &facts.jobs {
            let is_orphan = |key: &String| facts.slice.holds(key) && !jobs.bodies.contains_key(key);
            report.orphans.extend(bodies.into_iter().filter(is_orphan));
        }
        // A page that still waits for extraction may come to refer to any thumbnail.
        let jobs = facts.jobs.as_ref().filter(|jobs| jobs.extractions == 0);
        let mut keys = each_key(self.blobs, THUMBNAIL_PREFIX, None);
        while let Some(key) = keys.try_next().await? {
            if !facts.slice.holds(&key) {
                continue;
            }
            let Some(blob) = self.read(&key, report).await? else { continue };
            // An empty object records that the image yields no thumbnail.
            if blob.bytes.is_empty() {
                continue;
            }
            if !blob.bytes.starts_with(&JPEG) {
                report.damage.push(unreadable(key, &"it is no JPEG"));
            } else if jobs.is_some_and(|jobs| !jobs.thumbnails.contains(&key)) && !facts.thumbnails.contains(&key) {
                report.orphans.push(key);
            }
        }
        Ok(())
    }

    /// Checks all JSON objects that no other check reads.
    async fn plain_objects(&self, report: &mut FsckReport) -> Result<()> {
        let mut keys = each_key(self.blobs, "", None);
        while let Some(key) = keys.try_next().await? {
            if !key.ends_with(".json") || key.starts_with("manifests/") {
                continue;
            }
            let Some(blob) = self.read(&key, report).await? else { continue };
            if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(&blob.bytes) {
                report.damage.push(unreadable(key, &error));
            }
        }
        Ok(())
    }

    /// Checks the raw pages. A missing one is not damage: it may have expired.
    async fn raw_pages(&self, facts: &StoreFacts<'_>, report: &mut FsckReport) -> Result<()> {
        // Names of segments of which some records are unknown.
        let damaged = report.damage.iter().filter_map(Damage::unreadable_key);
        let damaged: HashSet<String> = damaged.filter_map(name).map(str::to_owned).collect();
        let mut keys = each_key(self.blobs, RAW_PREFIX, None);
        while let Some(key) = keys.try_next().await? {
            if !facts.slice.holds(&key) || name(&key).is_some_and(|name| damaged.contains(name)) {
                continue;
            }
            let named = facts.raw.get(&key);
            // A raw page is written before its segment, so it may be new if other processes are running.
            if named.is_none() && facts.jobs.is_none() {
                continue;
            }
            let Some(blob) = self.read(&key, report).await? else { continue };
            match segment::frames(&key, &blob.bytes) {
                Err(error) => report.damage.push(unreadable(key, &error)),
                Ok(_) if named.is_none() => report.orphans.push(key),
                Ok(frames) => {
                    let places = frames.into_iter().map(|frame| (frame.start, frame.end - frame.start));
                    let strays = places.filter(|place| named.is_some_and(|named| !named.contains(place)));
                    let stray = |(offset, length)| Damage::StrayRaw { key: key.clone(), offset, length };
                    report.damage.extend(strays.map(stray));
                }
            }
        }
        Ok(())
    }

    /// Reads a listed object; reports it if it is corrupt.
    async fn read(&self, key: &str, report: &mut FsckReport) -> Result<Option<Blob>> {
        match self.blobs.get(key).await {
            Err(PortError::Corrupt { why, .. }) => {
                report.damage.push(unreadable(key.to_owned(), &why));
                Ok(None)
            }
            read => Ok(read?),
        }
    }
}

impl Damage {
    fn unreadable_key(&self) -> Option<&str> {
        if let Damage::Unreadable { key, .. } = self { Some(key) } else { None }
    }
}

fn unreadable(key: String, why: &dyn std::fmt::Display) -> Damage {
    Damage::Unreadable { key, why: why.to_string() }
}
