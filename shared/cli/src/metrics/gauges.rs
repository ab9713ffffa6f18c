//! The state of the store in numbers, gathered at a bounded cost.

use crate::process::free_bytes;
use crate::world::World;
use anyhow::Result;
use curlew_catalog::indexed_years::indexed_years;
use curlew_embedded::StoreSize;
use curlew_model::{HoldReason, Millis, QueueName};
use curlew_ports::QueueCount;
use std::collections::BTreeMap;

/// Time for which numbers from the database and the manifests are reused.
const GOOD_FOR: Millis = Millis::from_secs(15);
/// Time for which numbers are reused that require a scan of all host keys or files.
const SLOW_GOOD_FOR: Millis = Millis::from_mins(10);

#[derive(Clone, Debug, Default)]
pub(crate) struct Gauges {
    /// Monotonic time at which the other numbers were last gathered.
    at: Option<Millis>,
    /// Monotonic time at which `held` and `size` were last gathered.
    slow_at: Option<Millis>,
    /// The queues, each with the age of its oldest due job.
    pub(super) queues: Vec<(QueueName, QueueCount, Millis)>,
    pub(super) index_pages: u64,
    pub(super) index_splits: usize,
    /// Time since the last publishing if new pages wait, otherwise zero.
    pub(super) index_age: Millis,
    /// Messages to the operator that are not closed.
    pub(super) messages: usize,
    /// Host keys that are held, by reason.
    pub(super) held: BTreeMap<HoldReason, u64>,
    pub(super) size: StoreSize,
    /// Free bytes of the store's file system, if known.
    pub(super) free: Option<u64>,
}

impl Gauges {
    /// Gathers the numbers that are no longer fresh.
    pub(super) async fn refresh(&mut self, world: &World) -> Result<()> {
        let now = world.clock.monotonic();
        let is_due = |at: Option<Millis>, good_for| at.is_none_or(|at| now.saturating_sub(at) >= good_for);
        if is_due(self.at, GOOD_FOR) {
            self.gather(world).await?;
            self.at = Some(now);
        }
        if is_due(self.slow_at, SLOW_GOOD_FOR) {
            self.held = world.desk.stats.held().await?;
            if let Some(store) = world.store() {
                self.size = store.size().await;
            }
            self.slow_at = Some(now);
        }
        Ok(())
    }

    async fn gather(&mut self, world: &World) -> Result<()> {
        let now = world.clock.now();
        self.queues.clear();
        for (stage, count) in world.ports.inbox.counts(now).await? {
            let since = if let Some(store) = world.store() { store.due_since(stage, now).await? } else { None };
            self.queues.push((stage, count, since.map_or(Millis::ZERO, |since| now.since(since))));
        }
        let years = indexed_years(world.ports.blobs.as_ref()).await?;
        self.index_pages = years.iter().map(|year| year.pages).sum();
        self.index_splits = years.iter().map(|year| year.splits).sum();
        let published = years.iter().filter_map(|year| year.published).max();
        let waits = world.library.has_unpublished().await?;
        self.index_age = published.filter(|_| waits).map_or(Millis::ZERO, |at| now.since(at));
        self.messages = world.desk.messages.count().await?;
        self.free = free_bytes(&world.config.data);
        Ok(())
    }
}
