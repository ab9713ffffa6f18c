//! `curlew status`: what there is, what is held and parked, and why pages were rejected.

use super::summary::{count_sources, holds};
use crate::output;
use crate::world::World;
use anyhow::Result;
use curlew_model::{HoldReason, PageId, PageState, Stage};
use curlew_ports::{Counted, IndexedYear, QueueCount, QueueStatus};
use curlew_stages::indexed_years;
use serde::Serialize;
use std::collections::BTreeMap;

/// Rows read at a time.
const LIST: usize = 1_000;

/// The state of everything, counted.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Status {
    sites: u64,
    feeds: u64,
    pages: BTreeMap<&'static str, u64>,
    rejected: BTreeMap<&'static str, u64>,
    gone: BTreeMap<&'static str, u64>,
    held: BTreeMap<HoldReason, u64>,
    queues: BTreeMap<Stage, QueueCount>,
    parked: u64,
    dead: u64,
    years: Vec<i16>,
    index: Vec<IndexedYear>,
}

impl Status {
    pub(crate) async fn gather(world: &World) -> Result<Status> {
        let mut status = Status { held: holds(world).await?, years: world.index.years().await?, ..Status::default() };
        status.index = indexed_years(world.ports.blobs.as_ref()).await?;
        (status.sites, status.feeds) = count_sources(world).await?;
        let now = world.clock.now();
        for stage in Stage::ALL {
            let count = world.ports.inbox.count(stage, now).await?;
            status.parked += count.waiting;
            status.dead += count.dead;
            status.queues.insert(stage, count);
        }
        status.count_pages(world).await?;
        Ok(status)
    }

    async fn count_pages(&mut self, world: &World) -> Result<()> {
        let mut after: Option<PageId> = None;
        loop {
            let rows = world.ports.pages.list(after.as_ref(), LIST).await?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = Some(last.id.clone());
            for page in &rows {
                let word = match &page.state {
                    PageState::Pending => "pending",
                    PageState::Accepted { .. } => "accepted",
                    PageState::Alias { .. } => "alias",
                    PageState::Rejected { reason } => {
                        *self.rejected.entry(reason.code()).or_default() += 1;
                        "rejected"
                    }
                    PageState::Gone { reason } => {
                        *self.gone.entry(reason.as_str()).or_default() += 1;
                        "gone"
                    }
                };
                *self.pages.entry(word).or_default() += 1;
            }
        }
    }

    /// For the status page, which anybody may read.
    pub(crate) fn for_anybody(&self) -> curlew_ports::Status {
        let pages = |word: &str| self.pages.get(word).copied().unwrap_or(0);
        let counted = Counted {
            sites: self.sites,
            feeds: self.feeds,
            accepted: pages("accepted"),
            pending: pages("pending"),
            rejected: pages("rejected"),
            gone: pages("gone"),
            held: self.held.clone(),
        };
        curlew_ports::Status {
            index: self.index.clone(),
            counted: Some(counted),
            queues: self.queues.iter().map(|(stage, count)| QueueStatus { stage: *stage, count: *count }).collect(),
            due_since: None,
        }
    }

    /// As lines of name and value.
    pub(crate) fn lines(&self) -> Vec<(String, String)> {
        let mut lines = vec![("sites".into(), self.sites.to_string()), ("feeds".into(), self.feeds.to_string())];
        let groups = [("pages", &self.pages), ("rejected", &self.rejected), ("removed", &self.gone)];
        for (name, map) in groups {
            lines.extend(map.iter().map(|(word, n)| (format!("{name}: {word}"), n.to_string())));
        }
        lines.extend(self.held.iter().map(|(why, n)| (format!("hosts held: {}", why.as_str()), n.to_string())));
        for (stage, queue) in &self.queues {
            if queue.ready + queue.waiting + queue.in_flight + queue.dead > 0 {
                let value = format!(
                    "{} due, {} waiting, {} under way, {} given up",
                    queue.ready, queue.waiting, queue.in_flight, queue.dead
                );
                lines.push((format!("queue: {}", stage.as_str()), value));
            }
        }
        for year in &self.index {
            let published = year.published.map(|at| format!(", published {at}")).unwrap_or_default();
            lines.push((format!("index: {}", year.year), format!("{} pages{published}", year.pages)));
        }
        let years: Vec<String> = self.years.iter().map(i16::to_string).collect();
        lines.push(("years".into(), if years.is_empty() { "none yet".into() } else { years.join(", ") }));
        lines
    }
}

pub(super) async fn run(world: &World, json: bool) -> Result<()> {
    let status = Status::gather(world).await?;
    if json {
        return Ok(output::json(&status)?);
    }
    let lines = status.lines();
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in lines {
        output::line(&format!("{name:width$}  {value}"))?;
    }
    Ok(())
}
