//! Status: counts, held hosts, parked jobs, and the reasons why pages were rejected.

use crate::history;
use crate::output;
use crate::world::World;
use anyhow::Result;
use curlew_catalog::indexed_years::{IndexedYear, indexed_years};
use curlew_crawl::politeness::signing::SignatureMode;
use curlew_model::{BackfillLine, QueueName};
use curlew_people::stats::Counts;
use curlew_ports::QueueCount;
use curlew_web::{QueueStatus, SystemStatus};
use serde::Serialize;
use std::collections::BTreeMap;

/// The state of everything, counted.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Status {
    #[serde(flatten)]
    all: Counts,
    queues: BTreeMap<QueueName, QueueCount>,
    parked: u64,
    dead: u64,
    years: Vec<i16>,
    index: Vec<IndexedYear>,
    /// Back catalogues.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    history: Vec<BackfillLine>,
    /// The requests that are signed, or the reason why none is.
    signatures: String,
}

impl Status {
    pub(crate) async fn gather(world: &World) -> Result<Status> {
        let mut status = Status {
            all: world.desk.stats.take().await?,
            years: world.library.index.years().await?,
            ..Status::default()
        };
        status.index = indexed_years(world.ports.blobs.as_ref()).await?;
        status.signatures = signatures(world).await;
        status.history = history::gather(world).await?;
        status.queues = world.ports.inbox.counts(world.clock.now()).await?;
        status.parked = status.queues.values().map(|count| count.waiting).sum();
        status.dead = status.queues.values().map(|count| count.dead).sum();
        Ok(status)
    }

    /// Returns the status for the status page, which anybody may read.
    pub(crate) fn for_public(&self) -> SystemStatus {
        SystemStatus {
            index: self.index.clone(),
            counted: Some(self.all.for_public()),
            counted_at: None,
            queues: self.queues.iter().map(|(stage, count)| QueueStatus { stage: *stage, count: *count }).collect(),
            ..SystemStatus::default()
        }
    }

    /// Returns the status as lines of name and value.
    pub(crate) fn lines(&self) -> Vec<(String, String)> {
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

/// Returns the sentence about signed requests: which ones are signed, or why none is.
async fn signatures(world: &World) -> String {
    let Some(mode) = world.config.signatures else { return "none: `[signatures] mode` is off".to_owned() };
    match (world.keys.read().await, mode) {
        (Err(error), _) => format!("none: {error}"),
        (Ok(None), _) => "none: there is no key".to_owned(),
        _ if world.config.signature_agent().is_none() => "none: `[web] base_url` is no https address".to_owned(),
        (_, SignatureMode::Asked) => "those that sites ask for".to_owned(),
        (_, SignatureMode::Always) => "all".to_owned(),
    }
}
