//! `curlew status`: what there is, what is held and parked, and why pages were rejected.

use super::summary::{count_sources, holds};
use crate::output;
use crate::world::World;
use anyhow::Result;
use curlew_model::{PageId, PageState, Stage};
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
    held: BTreeMap<&'static str, u64>,
    queues: BTreeMap<&'static str, Queue>,
    parked: u64,
    dead: u64,
    years: Vec<i16>,
}

#[derive(Debug, Default, Serialize)]
struct Queue {
    ready: u64,
    waiting: u64,
    in_flight: u64,
    dead: u64,
}

impl Status {
    pub(crate) async fn gather(world: &World) -> Result<Status> {
        let mut status = Status { held: holds(world).await?, years: world.index.years().await?, ..Status::default() };
        (status.sites, status.feeds) = count_sources(world).await?;
        let now = world.clock.now();
        for stage in Stage::ALL {
            let count = world.ports.inbox.count(stage, now).await?;
            status.parked += count.waiting;
            status.dead += count.dead;
            let queue =
                Queue { ready: count.ready, waiting: count.waiting, in_flight: count.in_flight, dead: count.dead };
            status.queues.insert(stage.as_str(), queue);
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

    /// As lines of name and value.
    pub(crate) fn lines(&self) -> Vec<(String, String)> {
        let mut lines = vec![("sites".into(), self.sites.to_string()), ("feeds".into(), self.feeds.to_string())];
        let groups: [(&str, &BTreeMap<&'static str, u64>); 4] =
            [("pages", &self.pages), ("rejected", &self.rejected), ("removed", &self.gone), ("hosts held", &self.held)];
        for (name, map) in groups {
            lines.extend(map.iter().map(|(word, n)| (format!("{name}: {word}"), n.to_string())));
        }
        for (stage, queue) in &self.queues {
            if queue.ready + queue.waiting + queue.in_flight + queue.dead > 0 {
                let value = format!(
                    "{} due, {} waiting, {} under way, {} given up",
                    queue.ready, queue.waiting, queue.in_flight, queue.dead
                );
                lines.push((format!("queue: {stage}"), value));
            }
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
