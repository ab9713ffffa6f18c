//! Re-extraction: runs the current extractor over raw pages. A changed record becomes a revision, as in extraction.

use crate::pages::extract::{BatchCache, Extract, image_id_of};
use crate::pages::rejected_apart;
use crate::pages::variant::content_hash;
use crate::parsing::parsed;
use curlew_catalog::hidden::is_on;
use curlew_catalog::listing::each_page;
use curlew_catalog::raw::{RawEntry, RawPages};
use curlew_catalog::removal::Removal;
use curlew_catalog::segment::{self, Draft, segment_year};
use curlew_model::{Gone, Location, MainImage, Page, PageState, RawFrame, Record, Rejection, ThumbnailId, Timestamp};
use curlew_ports::stage::{Result, StageError};
use curlew_ports::{PortError, swapped};
use futures::future::try_join_all;
use serde::Serialize;
use std::collections::BTreeMap;

/// Number of pages in a batch, whose revisions share a segment.
const TOGETHER: usize = 64;
/// Number of concurrent extractions: a few more than a small machine has cores, since each also waits for its row.
const LANES: usize = 4;
const ROW_TRIES: u32 = 4;
const NAMED: usize = 100;

/// Selects pages and what to do with them.
#[derive(Clone, Debug)]
pub struct ReextractRequest {
    /// Only pages fetched since this instant.
    pub since: Timestamp,
    /// Only pages of this host and the hosts below it.
    pub site: Option<String>,
    /// True to write nothing.
    pub dry_run: bool,
    /// True to remove pages that content policy or their own directives now reject.
    pub remove: bool,
}

impl ReextractRequest {
    fn is_about(&self, url: &str) -> bool {
        self.site.as_ref().is_none_or(|site| is_on(url, site))
    }
}

/// Results of a re-extraction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReextractReport {
    /// Number of pages whose record stays the same.
    pub same: u64,
    /// Number of pages whose record changes; changed records are written unless this is a dry run.
    pub revised: u64,
    /// Numbers of pages that would be rejected now, by reason.
    pub rejected: BTreeMap<&'static str, u64>,
    /// Number of rejected pages that were removed.
    pub removed: u64,
    /// Number of accepted pages without a raw form.
    pub without_raw: u64,
    /// The first pages that would be rejected now, with the reason.
    pub examples: Vec<(String, String)>,
}

/// Extracts raw pages again.
pub struct Reextract<'a> {
    /// Makes the records.
    pub extract: &'a Extract,
    /// The raw pages.
    pub raw: &'a RawPages,
    /// Removes pages that are rejected now.
    pub removal: &'a Removal,
}

enum Reextraction {
    /// The page's raw form cannot be read.
    Unreadable,
    Same,
    Revised(Box<Draft>),
    Rejected(Rejection),
}

impl Reextract<'_> {
    /// Extracts the raw pages in batches. May run twice, even after a run that was cut off.
    pub async fn run(&self, request: &ReextractRequest) -> Result<ReextractReport> {
        let mut report = ReextractReport::default();
        let mut some: Vec<RawEntry> = Vec::new();
        for (key, segment) in self.raw.objects(request.since).await? {
            let pages = self.raw.entries_of_segment(&key, &segment, self.extract.pages.as_ref()).await?;
            let is_asked =
                |page: &RawEntry| page.record.fetched_at >= request.since && request.is_about(&page.record.url);
            some.extend(pages.into_iter().filter(is_asked));
            if some.len() >= TOGETHER {
                self.pages(std::mem::take(&mut some), request, &mut report).await?;
            }
        }
        self.pages(some, request, &mut report).await?;
        let mut accepted = 0u64;
        each_page(self.extract.pages.as_ref(), |page| {
            let is_asked = page.at >= request.since && request.is_about(&page.url);
            accepted += u64::from(is_asked && matches!(page.state, PageState::Accepted { .. }));
        })
        .await?;
        let left = report.rejected.values().sum::<u64>() - report.removed;
        report.without_raw = accepted.saturating_sub(report.same + report.revised + left);
        Ok(report)
    }

    async fn pages(&self, some: Vec<RawEntry>, request: &ReextractRequest, report: &mut ReextractReport) -> Result<()> {
        let mut lanes: Vec<Vec<RawEntry>> = (0..LANES).map(|_| Vec::new()).collect();
        for (n, page) in some.into_iter().enumerate() {
            lanes[n % LANES].push(page);
        }
        let outcomes = lanes.into_iter().map(async |pages| {
            let mut cache = BatchCache::default();
            let mut outcomes = Vec::with_capacity(pages.len());
            for page in pages {
                let outcome = self.page(&page, &mut cache).await?;
                outcomes.push((page, outcome));
            }
            Ok::<_, StageError>(outcomes)
        });
        let mut revised: Vec<(RawEntry, Draft)> = Vec::new();
        for (page, outcome) in try_join_all(outcomes).await?.into_iter().flatten() {
            match outcome {
                Reextraction::Unreadable => {}
                Reextraction::Same => report.same += 1,
                Reextraction::Revised(draft) => {
                    report.revised += 1;
                    revised.push((page, *draft));
                }
                Reextraction::Rejected(why) => {
                    *report.rejected.entry(why.code()).or_default() += 1;
                    if report.examples.len() < NAMED {
                        report.examples.push((page.record.url.clone(), why.to_string()));
                    }
                    if let Some(reason) = gone(&why).filter(|_| request.remove && !request.dry_run) {
                        self.removal.remove(&page.record.id, reason).await?;
                        report.removed += 1;
                    }
                }
            }
        }
        if request.dry_run || revised.is_empty() {
            return Ok(());
        }
        // The records are written before the rows that point to them.
        let drafts = revised.iter().map(|(_, draft)| draft);
        let now = self.extract.politeness.clock.now();
        let locations = segment::write(self.extract.blobs.as_ref(), drafts, now).await?;
        for ((page, draft), location) in revised.iter().zip(locations) {
            self.point(page, location, content_hash(&draft.record)).await?;
        }
        Ok(())
    }

    async fn page(&self, page: &RawEntry, cache: &mut BatchCache) -> Result<Reextraction> {
        let kept = page.clone();
        let unpacked = parsed(self.extract.politeness.pool.as_ref(), page.frame().len(), move || kept.unpack()).await?;
        let Ok(Some(raw)) = unpacked else { return Ok(Reextraction::Unreadable) };
        let old = &page.record;
        let mut job = raw.job;
        job.replaces = Some(page.at.clone());
        job.image = own_image(page);
        let mut draft = match rejected_apart(self.extract.draft(&job, raw.body, cache).await)? {
            Ok(draft) => draft,
            Err(why) => return Ok(Reextraction::Rejected(why)),
        };
        let new = &mut draft.record;
        if new.feed.is_none() {
            // The row of the page's feed no longer exists.
            new.feed.clone_from(&old.feed);
            new.site_name = new.site_name.take().or_else(|| old.site_name.clone());
        }
        if new.image != old.image
            && let Some(ThumbnailId::Object(image)) = &new.thumbnail
            && cache.pictures.get(self.extract.blobs.as_ref(), image).await?.is_none()
        {
            // Re-extraction requests no images.
            new.thumbnail = None;
        }
        if is_same(old, new) {
            return Ok(Reextraction::Same);
        }
        if !new.no_archive
            && let Some(RawFrame { day, .. }) = &old.raw
        {
            new.raw = Some(RawFrame { day: day.clone(), offset: 0, length: 0 });
            draft.raw = Some(page.frame());
        }
        Ok(Reextraction::Revised(Box::new(draft)))
    }

    /// Points a page's row to its new record, unless the row no longer points to the old one.
    async fn point(&self, old: &RawEntry, location: Location, content_hash: String) -> Result<()> {
        let year = segment_year(&location).unwrap_or_default();
        let state = PageState::Accepted { year, location, content_hash };
        for _ in 0..ROW_TRIES {
            let row = self.extract.pages.get(&old.record.id).await?;
            let Some((row, seen)) = row.filter(|(row, _)| old.is_named_by(row)) else { return Ok(()) };
            if swapped(self.extract.pages.swap(seen, &Page { state: state.clone(), ..row }).await)? {
                return Ok(());
            }
        }
        Err(PortError::Conflict.into())
    }
}

/// Returns the page's image as if it had just been fetched; `None` if it has an object of its own.
fn own_image(page: &RawEntry) -> Option<MainImage> {
    let id = page.record.image.as_deref().and_then(image_id_of)?;
    match &page.record.thumbnail {
        Some(ThumbnailId::Object(_)) => None,
        Some(ThumbnailId::Frame(_)) | None => Some(MainImage { id, thumbnail: page.thumbnail.clone() }),
    }
}

/// Returns true if two records of a page have the same content, wherever they are stored.
fn is_same(old: &Record, new: &Record) -> bool {
    let (thumbnail, replaces, raw) = (old.thumbnail.clone(), old.replaces.clone(), old.raw.clone());
    let thumbnail_frame = old.thumbnail_frame;
    *old == Record { thumbnail, thumbnail_frame, replaces, raw, ..new.clone() }
}

/// Returns the reason for removing a page that is rejected now; `None` if the rejection is no reason for that.
fn gone(why: &Rejection) -> Option<Gone> {
    match why {
        Rejection::Screened(_) => Some(Gone::Screened),
        Rejection::Noindex => Some(Gone::Noindex),
        _ => None,
    }
}
