//! Repairs damage that fsck has found, with the same operations as the stages. Every step may run twice.

use super::{Damage, Fsck, FsckReport};
use crate::block::first_visits;
use crate::objects::each_object;
use curlew_catalog::listing::pages_that;
use curlew_catalog::manifest::{change_manifest, manifest_key};
use curlew_catalog::raw::RAW_PREFIX;
use curlew_catalog::removal::AUDIT_PREFIX;
use curlew_catalog::segment::{self, RecordReader, SEGMENTS};
use curlew_catalog::thumbnails::THUMBNAIL_PREFIX;
use curlew_crawl::pages::variant::content_hash;
use curlew_model::{Gone, Location, Millis, Page, PageId, PageState, Record, Rejection, SegmentKey, Year};
use curlew_ports::stage::Result;
use curlew_ports::swapped;
use curlew_search::Manifest;
use futures::TryStreamExt;
use serde::Deserialize;
use std::collections::{BTreeSet, HashMap};

/// Delay of the visit that fetches a page again: the page's row is written by then.
const SOON: Millis = Millis::from_mins(1);

#[derive(Deserialize)]
struct RemovalLine {
    page: PageId,
    reason: Gone,
}

impl Fsck<'_> {
    /// Repairs damage where possible and deletes orphans; returns the remaining damage. Lost pages are fetched again,
    /// and incomplete indexes are rebuilt. May be repeated after an error.
    pub async fn repair(&self, report: &FsckReport) -> Result<Vec<Damage>> {
        let (mut years, mut again, mut rest) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        for damage in &report.damage {
            match damage {
                Damage::Unreadable { key, .. } => match (year_of_manifest(key), SegmentKey::new(key)) {
                    (Some(year), _) => {
                        self.begin_manifest(year).await?;
                        years.insert(year);
                    }
                    (_, Ok(segment)) => self.salvage(&segment).await?,
                    _ if [THUMBNAIL_PREFIX, RAW_PREFIX].iter().any(|p| key.starts_with(p)) => {
                        self.blobs.delete(key).await?
                    }
                    _ => rest.push(damage.clone()),
                },
                Damage::LostSplit { year, key, .. } => {
                    // A split rebuilt from the same records has the same key, and would not overwrite a damaged object.
                    self.blobs.delete(key).await?;
                    years.insert(*year);
                }
                Damage::NotIndexed { year, .. } => drop(years.insert(*year)),
                Damage::StrayRecord { at, .. } => self.erase(at).await?,
                Damage::StrayRaw { key, offset, length } => {
                    let frame = *offset..offset.saturating_add(*length);
                    segment::erase_frames(self.blobs, key, std::slice::from_ref(&frame)).await?;
                }
                Damage::StrayHit { page, year } => self.hide(page, *year).await?,
                Damage::LostRecord { page, .. } | Damage::Stranded { page } | Damage::LostBody { page, .. } => {
                    again.insert(page.clone());
                }
            }
        }
        self.finish(&report.unfinished).await?;
        for page in again {
            self.fetch_again(&page).await?;
        }
        for key in &report.orphans {
            self.blobs.delete(key).await?;
        }
        for year in years {
            change_manifest(self.blobs, year, |manifest| Ok(manifest.emptied())).await?;
            self.index.publish(year).await?;
        }
        Ok(rest)
    }

    /// Replaces an unreadable manifest by an empty one with the expiries from the rows of pages.
    async fn begin_manifest(&self, year: Year) -> Result<()> {
        let is_of_year = |page: &Page| matches!(page.state, PageState::Accepted { year: of, .. } if of == year);
        let expiring = pages_that(self.pages, |page| page.expires.is_some() && is_of_year(page)).await?;
        let manifest = expiring.iter().fold(Manifest::new(year), |m, page| m.with_expiry(&page.id, page.expires));
        Ok(self.blobs.put(&manifest_key(year), manifest.to_json().into()).await?)
    }

    /// Rewrites a damaged segment with only its readable records.
    async fn salvage(&self, segment: &SegmentKey) -> Result<()> {
        let mut good: Vec<(Location, Record)> = Vec::new();
        let is_in_it =
            |page: &Page| matches!(&page.state, PageState::Accepted { location, .. } if location.segment == *segment);
        for page in pages_that(self.pages, is_in_it).await? {
            let PageState::Accepted { location, .. } = page.state else { continue };
            if let Ok(Some(record)) = RecordReader(self.blobs).read(&location).await
                && record.id == page.id
            {
                good.push((location, record));
            }
        }
        segment::salvage(self.blobs, segment, &good).await
    }

    async fn erase(&self, at: &Location) -> Result<()> {
        match RecordReader(self.blobs).read(at).await? {
            Some(record) => segment::erase(self.blobs, &at.segment, &[(at.clone(), record)]).await,
            None => Ok(()),
        }
    }

    /// Hides a page's copy in the index: until the page is published again if it is undecided, otherwise permanently.
    async fn hide(&self, page: &PageId, year: Year) -> Result<()> {
        let row = self.pages.get(page).await?.map(|(row, _)| row.state);
        let is_open = row.is_none_or(|state| state.is_open());
        let (pages, now) = (BTreeSet::from([page.clone()]), self.clock.now());
        let change = |manifest: &Manifest| {
            Ok(if is_open { manifest.superseding(&pages, now) } else { manifest.with_tombstones(pages.clone()) })
        };
        change_manifest(self.blobs, year, change).await.map(drop)
    }

    async fn finish(&self, unfinished: &[PageId]) -> Result<()> {
        if unfinished.is_empty() {
            return Ok(());
        }
        let mut reasons = HashMap::new();
        let mut objects = each_object(self.blobs, AUDIT_PREFIX);
        while let Some((_, blob)) = objects.try_next().await? {
            let line = serde_json::from_slice::<RemovalLine>(&blob.bytes).ok();
            let line = line.filter(|line| unfinished.binary_search(&line.page).is_ok());
            reasons.extend(line.map(|line| (line.page, line.reason)));
        }
        let successors = self.successors(unfinished).await?;
        for id in unfinished {
            let Some((page, seen)) = self.pages.get(id).await? else { continue };
            let PageState::Accepted { location, .. } = &page.state else { continue };
            match successors.get(location) {
                Some((at, record)) if record.id == *id => {
                    let year = segment::segment_year(at).unwrap_or_default();
                    let state = PageState::Accepted { year, location: at.clone(), content_hash: content_hash(record) };
                    self.pages.swap(seen, &Page { state, ..page }).await?;
                }
                _ => {
                    let reason = reasons.get(id).copied().unwrap_or(Gone::Gone);
                    self.removal.remove(id, reason).await?;
                }
            }
        }
        Ok(())
    }

    /// Returns the records of these pages that replace others, by the replaced record's place. `of` must be sorted.
    async fn successors(&self, of: &[PageId]) -> Result<HashMap<Location, (Location, Record)>> {
        let mut successors = HashMap::new();
        let mut objects = each_object(self.blobs, SEGMENTS);
        while let Some((key, blob)) = objects.try_next().await? {
            let Ok(segment) = SegmentKey::new(&key) else { continue };
            let Ok(records) = segment::decode_all(&segment, &blob.bytes) else { continue };
            for (at, record) in records.into_iter().filter(|(_, record)| of.binary_search(&record.id).is_ok()) {
                successors.extend(record.replaces.clone().map(|old| (old, (at, record))));
            }
        }
        Ok(successors)
    }

    /// Sends a visit that fetches a page as if for the first time, and hides its copy in the index until then.
    async fn fetch_again(&self, id: &PageId) -> Result<()> {
        let Some((page, seen)) = self.pages.get(id).await? else { return Ok(()) };
        let now = self.clock.now();
        if let PageState::Accepted { year, .. } = page.state {
            let pages = BTreeSet::from([id.clone()]);
            change_manifest(self.blobs, year, |manifest| Ok(manifest.superseding(&pages, now))).await?;
        }
        let visits = first_visits(vec![page.clone()]).into_iter();
        self.queue.send(&visits.map(|visit| (visit, now + SOON)).collect::<Vec<_>>()).await?;
        let reason = Rejection::HostUnavailable("what was kept of it was lost, and it is fetched again".to_owned());
        swapped(self.pages.swap(seen, &Page { state: PageState::Rejected { reason }, at: now, ..page }).await)?;
        Ok(())
    }
}

fn year_of_manifest(key: &str) -> Option<Year> {
    let year = key.strip_prefix("manifests/")?.strip_suffix(".json")?.parse().ok()?;
    (manifest_key(year) == key).then_some(year)
}
