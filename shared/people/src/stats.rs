//! Counts of sites, feeds, pages and held hosts. Where reading rows costs money, the counts are stored for a week.

use crate::descriptions::{is_guide, page_state};
use crate::lookup::Lookup;
use curlew_catalog::listing::{each_host, each_page, each_source};
use curlew_catalog::object;
use curlew_model::{HoldReason, Millis, PageState, Source, Timestamp};
use curlew_policy::rules::Rules;
use curlew_policy::skew;
use curlew_ports::stage::Result;
use curlew_ports::{Blobs, PortError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Key of the object with the last counts, as in existing stores.
const KEY: &str = "census.json";
/// Time for which stored counts are reused: half a day less than a week, since daily calls are not exactly a day apart.
const GOOD_FOR: Millis = Millis::from_hours(7 * 24 - 12);

/// The stage that counts.
pub struct Stats(pub(crate) Lookup);

/// Counts of everything that is stored, for the operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Sites that were named.
    pub sites: u64,
    /// Feeds that are known.
    pub feeds: u64,
    /// Number of pages by state.
    pub pages: BTreeMap<&'static str, u64>,
    /// Number of rejected pages by reason.
    pub rejected: BTreeMap<&'static str, u64>,
    /// Number of removed pages by reason.
    pub gone: BTreeMap<&'static str, u64>,
    /// Host keys that are held now, by the reason.
    pub held: BTreeMap<HoldReason, u64>,
}

/// Counts for the public status page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// Host keys that are held now, by the reason.
    #[schemars(with = "BTreeMap<String, u64>")]
    pub held: BTreeMap<HoldReason, u64>,
}

impl Counts {
    /// Returns the counts for the public status page.
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

#[derive(Debug, Serialize, Deserialize)]
struct StoredStats {
    /// Time at which the last count began, so that a failed count is not repeated each day.
    begun: Timestamp,
    /// The last complete counts, and their time.
    counted: Option<(Timestamp, PublicCounts)>,
}

impl Stats {
    /// Counts all rows.
    pub async fn take(&self) -> Result<Counts, PortError> {
        let (sites, feeds) = self.sources().await?;
        let mut all = Counts { sites, feeds, held: self.held().await?, ..Counts::default() };
        each_page(self.0.pages.as_ref(), |page| {
            if is_guide(&page) {
                return;
            }
            *all.pages.entry(page_state(&page.state)).or_default() += 1;
            match &page.state {
                PageState::Rejected { reason } => *all.rejected.entry(reason.code()).or_default() += 1,
                PageState::Gone { reason } => *all.gone.entry(reason.as_str()).or_default() += 1,
                PageState::Pending | PageState::Accepted { .. } | PageState::Alias { .. } => {}
            }
        })
        .await?;
        Ok(all)
    }

    /// Returns the number of named sites and of known feeds.
    pub async fn sources(&self) -> Result<(u64, u64), PortError> {
        let (mut sites, mut feeds) = (0, 0);
        each_source(self.0.sources.as_ref(), |row| match row {
            Source::Site(_) => sites += 1,
            Source::Extra(_) | Source::Backfill(_) => {}
            Source::Feed(_) => feeds += 1,
        })
        .await?;
        Ok((sites, feeds))
    }

    /// Returns the number of host keys on hold now, by reason.
    pub async fn held(&self) -> Result<BTreeMap<HoldReason, u64>, PortError> {
        let now = self.0.politeness.clock.now();
        let mut held = BTreeMap::new();
        each_host(self.0.hosts.as_ref(), |_, state| {
            if let Some(hold) = state.hold_at(now) {
                *held.entry(hold.reason).or_default() += 1;
            }
        })
        .await?;
        Ok(held)
    }

    /// Returns the number of host keys, feeds and sites whose rows have times too far ahead, from a wrong clock.
    pub async fn ahead(&self, rules: &Rules) -> Result<u64, PortError> {
        let (now, mut ahead) = (self.0.politeness.clock.now(), 0);
        each_source(self.0.sources.as_ref(), |row| ahead += u64::from(skew::is_source_ahead(&row, rules, now))).await?;
        each_host(self.0.hosts.as_ref(), |_, state| ahead += u64::from(skew::host(state.clone(), rules, now) != state))
            .await?;
        Ok(ahead)
    }

    /// Counts all rows and stores the counts, unless a count began within about a week; returns true if it counted.
    pub async fn keep(&self) -> Result<bool> {
        let now = self.0.politeness.clock.now();
        let kept = kept(self.0.politeness.blobs.as_ref()).await?;
        if kept.as_ref().is_some_and(|kept| now < kept.begun + GOOD_FOR) {
            return Ok(false);
        }
        self.put(&StoredStats { begun: now, counted: kept.and_then(|kept| kept.counted) }).await?;
        let counted = Some((now, self.take().await?.for_public()));
        self.put(&StoredStats { begun: now, counted }).await?;
        Ok(true)
    }

    async fn put(&self, kept: &StoredStats) -> Result<()> {
        Ok(self.0.politeness.blobs.put(KEY, object::json(kept)?.into()).await?)
    }
}

/// Loads the stored object; an unreadable one is treated as missing.
async fn kept(blobs: &dyn Blobs) -> Result<Option<StoredStats>, PortError> {
    Ok(blobs.get(KEY).await?.and_then(|blob| serde_json::from_slice(&blob.bytes).ok()))
}

/// Returns the last stored counts, and the time at which they were taken.
pub async fn stored_stats(blobs: &dyn Blobs) -> Result<Option<(Timestamp, PublicCounts)>, PortError> {
    Ok(kept(blobs).await?.and_then(|kept| kept.counted))
}
