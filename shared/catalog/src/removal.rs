//! Removal: deletes pages that are gone from the web or must not be shown. Stages that read untrusted documents send it
//! jobs, because they must not change manifests and records themselves.

use crate::object::json;
use crate::segment::{REPLACED_IN_A_ROW, key_day, segment_year};
use crate::thumbnails::thumbnail_key;
use crate::{manifest, segment};
use curlew_model::{
    Gone, ImageId, IndexChange, JobFailure, Location, Page, PageId, PageState, Record, RemovalJob, SegmentKey,
    ThumbnailId, Timestamp, Validators, Year,
};
use curlew_policy::address::hash_hex;
use curlew_policy::page::sampling;
use curlew_ports::stage::{Result, StageError, Verdict};
use curlew_ports::{Blobs, Clock, Event, Events, Pages, PortError, swapped};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Prefix of the keys of audit lines.
pub const AUDIT_PREFIX: &str = "audit/";
const ROW_TRIES: u32 = 4;
const SEEN_SINCE: &str = "the page was accepted, or found present, after it was judged";

/// Removes pages, and notes when others become unavailable.
#[derive(Clone)]
pub struct Removal {
    pages: Arc<dyn Pages>,
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
    events: Arc<dyn Events>,
}

/// A line of the audit: the page that was removed, the time and the reason. It contains nothing of the page's text.
#[derive(Serialize)]
struct AuditLine<'a> {
    at: Timestamp,
    what: &'static str,
    page: &'a PageId,
    url: &'a str,
    reason: &'static str,
    accepted: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    thumbnail: Option<&'a ImageId>,
}

impl Removal {
    /// Creates a removal over these ports.
    pub fn new(
        pages: Arc<dyn Pages>,
        blobs: Arc<dyn Blobs>,
        clock: Arc<dyn Clock>,
        events: Arc<dyn Events>,
    ) -> Removal {
        Removal { pages, blobs, clock, events }
    }

    /// Removes a page for good. A tombstone first hides it from queries; then its records are erased, an audit line is
    /// written, and its row is updated last. Every step may run twice. The image of its site stays for the other pages.
    pub async fn remove(&self, id: &PageId, reason: Gone) -> Result<()> {
        self.remove_all(vec![id.clone()], reason, false).await
    }

    /// Removes pages like [`Removal::remove`], and images of their sites if `with_site_images`. Each segment is
    /// rewritten once for each age of records. A damaged record causes an error after the other pages are removed.
    pub async fn remove_all(&self, mut ids: Vec<PageId>, reason: Gone, with_site_images: bool) -> Result<()> {
        for _ in 0..ROW_TRIES {
            ids = self.try_to_remove(ids, reason, with_site_images).await?;
            if ids.is_empty() {
                return Ok(());
            }
        }
        Err(PortError::Conflict.into())
    }

    async fn try_to_remove(&self, ids: Vec<PageId>, reason: Gone, with_site_images: bool) -> Result<Vec<PageId>> {
        let blobs = self.blobs.as_ref();
        let (mut removals, mut years, mut damaged) = (Vec::new(), BTreeMap::<Year, BTreeSet<PageId>>::new(), Ok(()));
        for id in ids {
            let Some((page, seen)) = self.pages.get(&id).await? else { continue };
            let PageState::Accepted { year, location, .. } = &page.state else { continue };
            // A page whose record is damaged is hidden as well.
            years.entry(*year).or_default().insert(id.clone());
            match self.records(location).await {
                Err(error) if error.kind() == JobFailure::Permanent => damaged = Err(error),
                records => {
                    let records = records?;
                    // A record that this one replaces and that is not erased yet may be in the index of another year.
                    for year in records.iter().filter_map(|(at, _)| segment_year(at)) {
                        years.entry(year).or_default().insert(id.clone());
                    }
                    removals.push((page, seen, records));
                }
            }
        }
        for (year, pages) in years {
            manifest::change_manifest(blobs, year, |m| Ok(m.with_tombstones(pages.iter().cloned()))).await?;
        }
        // The site's own image stays for its other pages.
        let image_of = |record: &Record| match &record.thumbnail {
            Some(ThumbnailId::Object(image)) if with_site_images || !record.image_of_site => Some(image.clone()),
            _ => None,
        };
        let records = || removals.iter().flat_map(|(_, _, records)| records);
        for image in records().filter_map(|(_, record)| image_of(record)).collect::<BTreeSet<_>>() {
            blobs.delete(&thumbnail_key(&image)).await?;
        }
        // The oldest go first: each is found through the one that replaces it, also after a crash.
        for age in (0..REPLACED_IN_A_ROW).rev() {
            let mut segments: BTreeMap<&SegmentKey, Vec<(Location, Record)>> = BTreeMap::new();
            for (at, record) in removals.iter().filter_map(|(_, _, records)| records.get(age)) {
                segments.entry(&at.segment).or_default().push((at.clone(), record.clone()));
            }
            for (segment, records) in segments {
                segment::erase(blobs, segment, &records).await?;
            }
        }
        let mut left = Vec::new();
        for (page, seen, records) in removals {
            let now = self.clock.now();
            let thumbnail = records.iter().find_map(|(_, record)| image_of(record));
            let line = AuditLine {
                at: now,
                what: "removed",
                page: &page.id,
                url: &page.url,
                reason: reason.as_str(),
                accepted: page.at,
                thumbnail: thumbnail.as_ref(),
            };
            // Each removal has one line, however many times it is tried.
            let name = hash_hex(format!("{}{}", page.id, page.at).as_bytes());
            let key = format!("{AUDIT_PREFIX}{}/{name}.json", key_day(now));
            blobs.put_if_absent(&key, json(&line)?.into()).await?;
            let state = PageState::Gone { reason };
            let gone = Page { state, at: now, checked_at: Some(now), doubted_at: None, ..page };
            if swapped(self.pages.swap(seen, &gone).await)? {
                self.events.note(&Event::Removed(reason));
            } else {
                left.push(gone.id);
            }
        }
        damaged.map(|()| left)
    }

    /// True if a removal of the page has begun: its tombstone exists, or its record is erased.
    async fn has_begun(&self, id: &PageId, year: Year, location: &Location) -> Result<bool> {
        let manifest = manifest::load_manifest(self.blobs.as_ref(), year).await?;
        Ok(manifest.tombstones.contains(id) || self.records(location).await?.is_empty())
    }

    /// Sets the time at which a page becomes unavailable, overriding its record, and notes that it was found present.
    async fn expire(
        &self,
        job: &RemovalJob,
        at: Option<Timestamp>,
        validators: Option<&Validators>,
    ) -> Result<Verdict> {
        for _ in 0..ROW_TRIES {
            let Some((page, seen)) = self.pages.get(&job.page).await? else { return Ok(Verdict::Done) };
            let PageState::Accepted { year, .. } = page.state else { return Ok(Verdict::Done) };
            if sampling::is_seen_since(&page, job.judged_at) {
                return Ok(Verdict::Drop(SEEN_SINCE.into()));
            }
            manifest::change_manifest(self.blobs.as_ref(), year, |m| Ok(m.with_expiry(&page.id, at))).await?;
            let next = Page {
                checked_at: Some(job.judged_at),
                expires: at,
                doubted_at: page.doubted_at.filter(|doubted| *doubted > job.judged_at),
                validators: validators.unwrap_or(&page.validators).clone(),
                ..page
            };
            if swapped(self.pages.swap(seen, &next).await)? {
                self.events.note(&Event::StillThere);
                return Ok(Verdict::Done);
            }
        }
        Err(PortError::Conflict.into())
    }

    /// Returns the record at a location, and the earlier ones that it replaces and that still exist.
    async fn records(&self, at: &Location) -> Result<Vec<(Location, Record)>> {
        let (records, ended) = segment::RecordReader(self.blobs.as_ref()).read_replaced(at).await;
        match ended {
            Err(StageError::Port(PortError::NotFound(_))) if !records.is_empty() => Ok(records),
            ended => ended.map(|()| records),
        }
    }

    /// Runs a job, which may have run before.
    pub async fn run(&self, job: &RemovalJob) -> Result<Verdict> {
        match &job.change {
            IndexChange::Expire { at, validators } => self.expire(job, *at, validators.as_ref()).await,
            IndexChange::Remove { reason } => {
                let Some((page, _)) = self.pages.get(&job.page).await? else { return Ok(Verdict::Done) };
                let PageState::Accepted { year, location, .. } = &page.state else { return Ok(Verdict::Done) };
                let is_void = sampling::is_seen_since(&page, job.judged_at);
                // A half-finished removal would leave an accepted page that is never found.
                if is_void && !self.has_begun(&page.id, *year, location).await? {
                    return Ok(Verdict::Drop(SEEN_SINCE.into()));
                }
                self.remove(&job.page, *reason).await?;
                Ok(Verdict::Done)
            }
        }
    }
}
