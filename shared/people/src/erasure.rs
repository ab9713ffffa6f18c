//! Removes all pages of a host at its owner's request, in steps of bounded work.

use curlew_catalog::hidden::is_on;
use curlew_catalog::listing::choose_from;
use curlew_catalog::manifest::change_manifest;
use curlew_catalog::removal::Removal;
use curlew_model::{Gone, Page, PageId, PageState, SegmentKey, Timestamp, Year, with_defaults};
use curlew_ports::stage::Result;
use curlew_ports::{Blobs, Pages};
use futures::stream::{self, StreamExt, TryStreamExt};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of segments that are rewritten concurrently, each once for all its records.
const SEGMENTS_AT_ONCE: usize = 16;

with_defaults! {
    /// Limits of one step of an erasure, or of another job that reads the rows of all pages; the stated times hold for
    /// the defaults.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct StepLimits {
        /// Maximum number of rows of pages that a step reads. This takes `remove` on AWS less than a minute.
        pub rows: usize = 100_000,
        /// Maximum number of rows of sites and feeds that a step reads. These rows are longer than rows of pages.
        pub sources: usize = 10_000,
        /// Maximum number of pages that a step removes or sends visits to. This takes less than five minutes.
        pub pages: usize = 1_000,
    }
}

/// Removes the pages of a host.
pub struct Erasure<'a> {
    /// Rows of pages.
    pub pages: &'a dyn Pages,
    /// Store of records and manifests.
    pub blobs: &'a dyn Blobs,
    /// Removes a page.
    pub removal: &'a Removal,
    /// Limits of one step.
    pub limits: StepLimits,
}

impl Erasure<'_> {
    /// Carries out one step: among the rows after `after`, removes the accepted pages of a host and its subdomains that
    /// were last changed up to `until`. All are hidden from queries first. Returns the number of removed pages, and the
    /// row after which the next step continues, if rows are left.
    ///
    /// The number includes pages that this request (made at `asked`) removed before, so a repeat returns the same one.
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

/// True if a page is accepted and its URL is on a host or its subdomains.
pub(crate) fn is_indexed_on(host: &str, page: &Page) -> bool {
    matches!(page.state, PageState::Accepted { .. }) && is_on(&page.url, host)
}
