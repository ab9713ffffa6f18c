//! Stats: how many sites, feeds, pages and held hosts there are. Where every row that is read costs money, it is taken once
//! a week and kept, and whoever asks for the status reads what was kept.

use crate::catalog::listing::{each_host, each_page, each_source};
use crate::catalog::object;
use crate::stage::StageError;
use curlew_model::{HoldReason, Millis, PageState, Source, Timestamp};
use curlew_ports::{Blobs, Clock, Hosts, Pages, PortError, Sources};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Key of the last ones; the name is that of stores that exist.
const KEY: &str = "census.json";
/// Time for which they are good: a week, less half a day, since who asks does so daily and not to the second.
const GOOD_FOR: Millis = Millis::from_hours(7 * 24 - 12);

/// The stage that counts.
pub struct Stats {
    /// The rows of pages.
    pub pages: Arc<dyn Pages>,
    /// The rows of sites and feeds.
    pub sources: Arc<dyn Sources>,
    /// The states of host keys.
    pub hosts: Arc<dyn Hosts>,
    /// Where they are stored.
    pub blobs: Arc<dyn Blobs>,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

/// Numbers of everything that is stored, for the operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Sites that were named.
    pub sites: u64,
    /// Feeds that are known.
    pub feeds: u64,
    /// Pages, by the word of their state.
    pub pages: BTreeMap<&'static str, u64>,
    /// Those that were rejected, by the reason.
    pub rejected: BTreeMap<&'static str, u64>,
    /// Those that are gone, by the reason.
    pub gone: BTreeMap<&'static str, u64>,
    /// Host keys that are left alone now, by the reason.
    pub held: BTreeMap<HoldReason, u64>,
}

/// Numbers for the public status page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublicCounts {
    /// Sites that were named.
    pub sites: u64,
    /// Feeds that are known.
    pub feeds: u64,
    /// Pages that were taken in.
    pub accepted: u64,
    /// Pages that are fetched and not judged yet.
    pub pending: u64,
    /// Pages that were not taken in.
    pub rejected: u64,
    /// Pages that were taken in and are gone again.
    pub gone: u64,
    /// Host keys that are left alone now, by the reason.
    pub held: BTreeMap<HoldReason, u64>,
}

impl Counts {
    /// For the status page, which anybody may read.
    pub fn for_public(&self) -> PublicCounts {
        let pages = |word: &str| self.pages.get(word).copied().unwrap_or(0);
        PublicCounts {
            sites: self.sites,
            feeds: self.feeds,
            accepted: pages("accepted"),
            pending: pages("pending"),
            rejected: pages("rejected"),
            gone: pages("gone"),
            held: self.held.clone(),
        }
    }
}

/// What is kept.
#[derive(Debug, Serialize, Deserialize)]
struct StoredStats {
    /// When counting was begun last: one that comes to no end is not begun anew each day.
    begun: Timestamp,
    /// The last one that came to its end, and when.
    counted: Option<(Timestamp, PublicCounts)>,
}

impl Stats {
    /// Counts all rows.
    ///
    /// # Errors
    /// What the ports say.
    pub async fn take(&self) -> Result<Counts, PortError> {
        let (sites, feeds) = self.sources().await?;
        let mut all = Counts { sites, feeds, held: self.held().await?, ..Counts::default() };
        each_page(self.pages.as_ref(), |page| {
            let word = match &page.state {
                PageState::Pending => "pending",
                PageState::Accepted { .. } => "accepted",
                PageState::Alias { .. } => "alias",
                PageState::Rejected { reason } => {
                    *all.rejected.entry(reason.code()).or_default() += 1;
                    "rejected"
                }
                PageState::Gone { reason } => {
                    *all.gone.entry(reason.as_str()).or_default() += 1;
                    "gone"
                }
            };
            *all.pages.entry(word).or_default() += 1;
        })
        .await?;
        Ok(all)
    }

    /// Sites that were named, and feeds that are known.
    ///
    /// # Errors
    /// What the ports say.
    pub async fn sources(&self) -> Result<(u64, u64), PortError> {
        let (mut sites, mut feeds) = (0, 0);
        each_source(self.sources.as_ref(), |row| match row {
            Source::Site(_) => sites += 1,
            Source::Extra(_) => {}
            Source::Feed(_) => feeds += 1,
        })
        .await?;
        Ok((sites, feeds))
    }

    /// Host keys that are held now, by the reason.
    ///
    /// # Errors
    /// What the ports say.
    pub async fn held(&self) -> Result<BTreeMap<HoldReason, u64>, PortError> {
        let now = self.clock.now();
        let mut held = BTreeMap::new();
        each_host(self.hosts.as_ref(), |_, state| {
            if let Some(hold) = state.hold.filter(|hold| hold.until > now) {
                *held.entry(hold.reason).or_default() += 1;
            }
        })
        .await?;
        Ok(held)
    }

    /// Counts and stores, unless that was begun within the last week; says whether it did.
    ///
    /// # Errors
    /// What the ports say; then the last one stays for another week.
    pub async fn keep(&self) -> Result<bool, StageError> {
        let now = self.clock.now();
        let kept = kept(self.blobs.as_ref()).await?;
        if kept.as_ref().is_some_and(|kept| now < kept.begun + GOOD_FOR) {
            return Ok(false);
        }
        self.put(&StoredStats { begun: now, counted: kept.and_then(|kept| kept.counted) }).await?;
        let counted = Some((now, self.take().await?.for_public()));
        self.put(&StoredStats { begun: now, counted }).await?;
        Ok(true)
    }

    async fn put(&self, kept: &StoredStats) -> Result<(), StageError> {
        Ok(self.blobs.put(KEY, object::json(kept)?.into()).await?)
    }
}

/// One that cannot be read is as good as none.
async fn kept(blobs: &dyn Blobs) -> Result<Option<StoredStats>, PortError> {
    Ok(blobs.get(KEY).await?.and_then(|blob| serde_json::from_slice(&blob.bytes).ok()))
}

/// Returns the numbers that were stored last, and when they were counted.
///
/// # Errors
/// What the object store says.
pub async fn stored_stats(blobs: &dyn Blobs) -> Result<Option<(Timestamp, PublicCounts)>, PortError> {
    Ok(kept(blobs).await?.and_then(|kept| kept.counted))
}
