//! `curlew status` and the status page: counts, held hosts, parked jobs, and the reasons why pages were rejected.

use crate::world::World;
use crate::{history, output};
use anyhow::Result;
use async_trait::async_trait;
use curlew_catalog::indexed_years::{IndexedYear, indexed_years};
use curlew_crawl::politeness::signing::SignatureMode;
use curlew_model::{BackfillLine, QueueName};
use curlew_people::activity::last_days;
use curlew_people::stats::Counts;
use curlew_ports::stage::StageError;
use curlew_ports::{PortError, QueueCount};
use curlew_web::{QueueStatus, StatusSource, SystemStatus};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Serialize)]
struct Status {
    #[serde(flatten)]
    all: Counts,
    queues: BTreeMap<QueueName, QueueCount>,
    parked: u64,
    dead: u64,
    years: Vec<i16>,
    index: Vec<IndexedYear>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    history: Vec<BackfillLine>,
    /// A sentence that says which requests are signed, or why none is.
    signatures: String,
}

pub(crate) async fn run(world: &World, json: bool) -> Result<()> {
    let status = Status::gather(world).await?;
    if json {
        return output::json(&status);
    }
    let lines = status.lines();
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    lines.iter().try_for_each(|(name, value)| output::line(format!("{name:width$}  {value}")))
}

/// Gathers counts and activity for the status page, which anybody may read.
pub(crate) struct LiveStatus(pub(crate) Arc<World>);

#[async_trait]
impl StatusSource for LiveStatus {
    async fn status(&self) -> Result<SystemStatus, StageError> {
        let failed = |e| PortError::Unavailable { what: format!("the status cannot be read: {e:#}"), source: None };
        let counted = Status::gather(&self.0).await.map_err(failed)?;
        let now = self.0.clock.now();
        let queues = counted.queues.into_iter().map(|(stage, count)| QueueStatus { stage, count });
        Ok(SystemStatus {
            index: counted.index,
            counted: Some(counted.all.for_public()),
            queues: queues.collect(),
            due_since: self.0.ports.inbox.next_due().await?.filter(|due| *due <= now),
            activity: last_days(self.0.ports.blobs.as_ref(), now).await?,
            ..SystemStatus::default()
        })
    }
}

impl Status {
    async fn gather(world: &World) -> Result<Status> {
        let queues = world.ports.inbox.counts(world.clock.now()).await?;
        Ok(Status {
            all: world.desk.stats.take().await?,
            parked: queues.values().map(|count| count.waiting).sum(),
            dead: queues.values().map(|count| count.dead).sum(),
            queues,
            years: world.library.index.years().await?,
            index: indexed_years(world.ports.blobs.as_ref()).await?,
            history: history::gather(world).await?,
            signatures: signatures(world).await,
        })
    }

    fn lines(&self) -> Vec<(String, String)> {
        let all = &self.all;
        let mut lines = vec![("sites".into(), all.sites.to_string()), ("feeds".into(), all.feeds.to_string())];
        let groups = [("pages", &all.pages), ("rejected", &all.rejected), ("removed", &all.gone)];
        for (name, map) in groups {
            lines.extend(map.iter().map(|(word, n)| (format!("{name}: {word}"), n.to_string())));
        }
        lines.extend(all.held.iter().map(|(why, n)| (format!("hosts held: {}", why.as_str()), n.to_string())));
        for (stage, queue) in &self.queues {
            if queue.ready + queue.waiting + queue.in_flight + queue.dead > 0 {
                let value = format!(
                    "{} due, {} waiting, {} under way, {} given up",
                    queue.ready, queue.waiting, queue.in_flight, queue.dead
                );
                lines.push((format!("queue: {}", stage.as_str()), value));
            }
        }
        lines.extend(history::lines(&self.history).into_iter().map(|line| ("back catalogue".into(), line)));
        for year in &self.index {
            let published = year.published.map(|at| format!(", published {at}")).unwrap_or_default();
            let value = match year.is_newer {
                true => "of a newer version, which this program does not read".to_owned(),
                false => format!("{}{published}", output::count(year.pages, "page")),
            };
            lines.push((format!("index: {}", year.year), value));
        }
        lines.push(("signed requests".into(), self.signatures.clone()));
        let years: Vec<String> = self.years.iter().map(i16::to_string).collect();
        lines.push(("years".into(), if years.is_empty() { "none yet".into() } else { years.join(", ") }));
        lines
    }
}

/// Returns which requests are signed, or why none is, in words.
async fn signatures(world: &World) -> String {
    let Some(mode) = world.config.signatures else { return "none: `[signatures] mode` is off".to_owned() };
    match (world.keys.read().await, mode) {
        (Err(error), _) => format!("none: {error}"),
        (Ok(None), _) => "none: there is no key".to_owned(),
        _ if world.config.signature_agent().is_none() => "none: `[web] base_url` is not an https address".to_owned(),
        (_, SignatureMode::Asked) => "those that sites ask for".to_owned(),
        (_, SignatureMode::Always) => "all".to_owned(),
    }
}
