//! Entry point of the catalog: records, the index over them, search and removal, built once.

use crate::export::Export;
use crate::find::Finder;
use crate::index::{Index, PAGES_PER_SPLIT, PORTIONS_AT_ONCE, PublishReport};
use crate::raw::RawPages;
use crate::removal::Removal;
use curlew_model::{Gone, Millis, Year};
use curlew_ports::stage::Result;
use curlew_ports::{Clock, CpuPool, Events, Ports};
use std::sync::Arc;

/// Time for which pages are kept raw, unless configured.
pub const RAW_LIFETIME: Millis = Millis::from_days(30);

/// The records of pages, and everything that reads, publishes and removes them.
pub struct Library {
    /// Publishes the index.
    pub index: Index,
    /// Runs queries.
    pub finder: Arc<Finder>,
    /// Removes pages, and notes when they become unavailable.
    pub removal: Removal,
    /// Pages that are kept as they were fetched.
    pub raw: RawPages,
}

impl Library {
    /// Creates a library over these ports.
    pub fn over(ports: &Ports, clock: &Arc<dyn Clock>, pool: &Arc<dyn CpuPool>, events: &Arc<dyn Events>) -> Library {
        let Ports { pages, blobs, .. } = ports;
        let mut finder = Finder::new(blobs.clone(), clock.clone()).with_pool(pool.clone());
        finder.events = events.clone();
        Library {
            index: Index {
                blobs: blobs.clone(),
                pages: pages.clone(),
                clock: clock.clone(),
                pool: pool.clone(),
                portions_at_once: PORTIONS_AT_ONCE,
                pages_per_split: PAGES_PER_SPLIT,
            },
            finder: Arc::new(finder),
            removal: Removal::new(pages.clone(), blobs.clone(), clock.clone(), events.clone()),
            raw: RawPages { blobs: blobs.clone(), clock: clock.clone(), lifetime: RAW_LIFETIME },
        }
    }

    /// Returns the reader of all current records.
    pub fn export(&self) -> Export<'_> {
        Export(&self.index)
    }

    /// True if there is something new to publish. Writes nothing.
    pub async fn has_unpublished(&self) -> Result<bool> {
        let this = self.this_year();
        Ok(self.index.has_unpublished(this).await? || self.index.has_unpublished(this - 1).await?)
    }

    /// Publishes new records, soon after they have arrived or a few times a day. Includes last year, since records of
    /// its last hours are published in the next year, and older years whose splits have an older format.
    pub async fn publish(&self) -> Result<Vec<(Year, PublishReport)>> {
        let this = self.this_year();
        let mut done = Vec::new();
        for year in self.index.years().await? {
            if year >= this - 1 || self.index.is_outdated(year).await? {
                done.push((year, self.index.publish(year).await?));
            }
        }
        Ok(done)
    }

    /// Merges the indexes of older years, so that removed pages leave them for good. Runs monthly.
    pub async fn archive(&self) -> Result<Vec<(Year, PublishReport)>> {
        let this = self.this_year();
        let mut done = Vec::new();
        for older in self.index.years().await?.into_iter().filter(|y| *y != this) {
            done.push((older, self.index.refresh(older).await?));
        }
        Ok(done)
    }

    /// Removes the expired pages of one year and merges its splits, at an operator's request.
    pub async fn refresh(&self, year: Year) -> Result<PublishReport> {
        for id in self.index.expired(year).await? {
            self.removal.remove(&id, Gone::Expired).await?;
        }
        self.index.refresh(year).await
    }

    fn this_year(&self) -> Year {
        self.index.clock.now().year()
    }
}
