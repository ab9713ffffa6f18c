//! Erasure: removes all pages of a host at its owner's request.

use crate::catalog::hidden::is_on;
use crate::catalog::listing::pages_that;
use crate::catalog::manifest::change_manifest;
use crate::catalog::removal::Removal;
use crate::catalog::segment::RecordReader;
use crate::catalog::thumbnails::thumbnail_key;
use crate::stage::StageError;
use curlew_model::{Gone, ImageId, Page, PageId, PageState, SegmentKey, ThumbnailId, Timestamp, Year};
use curlew_ports::{Blobs, Pages};
use futures::stream::{self, StreamExt, TryStreamExt};
use std::collections::{BTreeMap, BTreeSet};

/// Number of segments from which records are erased side by side. Those of one segment are erased one after another, since
/// each erasure rewrites it.
const SEGMENTS_AT_ONCE: usize = 16;

/// Removes the pages of a host.
pub struct Erasure<'a> {
    /// Rows of pages.
    pub pages: &'a dyn Pages,
    /// Records and manifests.
    pub blobs: &'a dyn Blobs,
    /// Removes a page.
    pub removal: &'a Removal,
}

impl Erasure<'_> {
    /// Removes the accepted pages of a host and its subdomains up to an instant, with their images; returns their number.
    /// First all of them are hidden from queries, with one change of each year's manifest, and then each is removed.
    ///
    /// All rows are read, and not the index asked: a page that a crash left half removed may have left the index already.
    ///
    /// # Errors
    /// Any error of the ports; the call may then be repeated.
    pub async fn of_host(&self, host: &str, until: Timestamp) -> Result<u64, StageError> {
        let ours = pages_that(self.pages, |page| is_indexed_on(host, page) && page.at <= until).await?;
        let mut years: BTreeMap<Year, BTreeSet<PageId>> = BTreeMap::new();
        let mut segments: BTreeMap<&SegmentKey, Vec<&Page>> = BTreeMap::new();
        for page in &ours {
            if let PageState::Accepted { year, location, .. } = &page.state {
                years.entry(*year).or_default().insert(page.id.clone());
                segments.entry(&location.segment).or_default().push(page);
            }
        }
        for (year, pages) in years {
            change_manifest(self.blobs, year, |m| Ok(m.with_tombstones(pages.iter().cloned()))).await?;
        }
        let erased: Vec<_> = segments.into_values().map(|pages| self.of_segment(pages)).collect();
        let images: Vec<BTreeSet<ImageId>> = stream::iter(erased).buffered(SEGMENTS_AT_ONCE).try_collect().await?;
        for image in images.into_iter().flatten().collect::<BTreeSet<ImageId>>() {
            self.blobs.delete(&thumbnail_key(&image)).await?;
        }
        Ok(ours.len() as u64)
    }

    /// Removes pages whose records are in one segment; returns their images. Removing a page leaves the image of its site to
    /// the other pages; here no other pages are left.
    async fn of_segment(&self, pages: Vec<&Page>) -> Result<BTreeSet<ImageId>, StageError> {
        let mut images = BTreeSet::new();
        for page in pages {
            if let PageState::Accepted { location, .. } = &page.state
                && let Some(record) = RecordReader(self.blobs).read(location).await?
                && let Some(ThumbnailId::Object(image)) = record.thumbnail
            {
                images.insert(image);
            }
            self.removal.remove(&page.id, Gone::Blocked).await?;
        }
        Ok(images)
    }
}

/// True if a page of a host or its subdomains is accepted.
pub(crate) fn is_indexed_on(host: &str, page: &Page) -> bool {
    matches!(page.state, PageState::Accepted { .. }) && is_on(&page.url, host)
}
