//! Erasure: removes all pages of a host at its owner's request, in steps of bounded work.

use curlew_catalog::hidden::is_on;
use curlew_catalog::listing::choose_from;
use curlew_catalog::manifest::change_manifest;
use curlew_catalog::removal::Removal;
use curlew_model::{Gone, Page, PageId, PageState, SegmentKey, Timestamp, Year};
use curlew_ports::stage::Result;
use curlew_ports::{Blobs, Pages};
use futures::stream::{self, StreamExt, TryStreamExt};
use std::collections::{BTreeMap, BTreeSet};

/// Number of segments that are erased from side by side; each is rewritten once for all its records.
const SEGMENTS_AT_ONCE: usize = 16;
/// Maximum number of rows of pages that one step reads: less than a minute for the function `remove` on AWS.
const ROWS_A_STEP: usize = 100_000;
/// Maximum number of rows of sites and feeds that one step reads; they are longer than rows of pages.
const SOURCES_A_STEP: usize = 10_000;
/// Maximum number of pages that one step removes or has re-checked: less than five minutes of the same.
const PAGES_A_STEP: usize = 1_000;

/// Limits of one step of an erasure, and of each other job that reads the rows of all pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepLimits {
    /// Maximum number of rows of pages that it reads.
    pub rows: usize,
    /// Maximum number of rows of sites and feeds that it reads.
    pub sources: usize,
    /// Maximum number of pages that it removes, or sends visits to.
    pub pages: usize,
}

impl Default for StepLimits {
    fn default() -> StepLimits {
        StepLimits { rows: ROWS_A_STEP, sources: SOURCES_A_STEP, pages: PAGES_A_STEP }
    }
}

/// Removes the pages of a host.
pub struct Erasure<'a> {
    /// Rows of pages.
    pub pages: &'a dyn Pages,
    /// Records and manifests.
    pub blobs: &'a dyn Blobs,
    /// Removes a page.
    pub removal: &'a Removal,
    /// Limits of one call.
    pub limits: StepLimits,
}

impl Erasure<'_> {
    /// Does one step: removes the accepted pages of a host and its subdomains up to an instant, among the next rows
    /// after `after`, which may name pages that the index lacks after a crash. All are hidden from queries first.
    /// Returns their number, and the row after which the next step goes on, if rows are left.
    ///
    /// Pages that the request made at `asked` has removed before count too, so a repeated step returns the same number.
    pub async fn of_host(
        &self,
        host: &str,
        asked: Timestamp,
        until: Timestamp,
        after: Option<PageId>,
    ) -> Result<(u64, Option<PageId>)> {
        let mut before = 0;
        let choose = |page: Page| {
            let is_gone = matches!(page.state, PageState::Gone { reason: Gone::Blocked });
            before += u64::from(is_gone && page.at >= asked && is_on(&page.url, host));
            Some(page).filter(|page| is_indexed_on(host, page) && page.at <= until)
        };
        let (ours, next) = choose_from(self.pages, after, self.limits.rows, self.limits.pages, choose).await?;
        let mut years: BTreeMap<Year, BTreeSet<PageId>> = BTreeMap::new();
        let mut segments: BTreeMap<&SegmentKey, Vec<PageId>> = BTreeMap::new();
        for page in &ours {
            if let PageState::Accepted { year, location, .. } = &page.state {
                years.entry(*year).or_default().insert(page.id.clone());
                segments.entry(&location.segment).or_default().push(page.id.clone());
            }
        }
        for (year, pages) in years {
            change_manifest(self.blobs, year, |m| Ok(m.with_tombstones(pages.iter().cloned()))).await?;
        }
        let erased: Vec<_> =
            segments.into_values().map(|pages| self.removal.remove_all(pages, Gone::Blocked, true)).collect();
        stream::iter(erased).buffered(SEGMENTS_AT_ONCE).try_collect::<()>().await?;
        Ok((before + ours.len() as u64, next))
    }
}

/// True if a page of a host or its subdomains is accepted.
pub(crate) fn is_indexed_on(host: &str, page: &Page) -> bool {
    matches!(page.state, PageState::Accepted { .. }) && is_on(&page.url, host)
}
