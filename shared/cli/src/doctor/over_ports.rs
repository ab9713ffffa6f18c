//! Facts about any store, gathered through the ports.

use super::facts::{Fact, Facts, HoldCount, IndexFacts, MissingFact, QueueFacts, StatedSettings};
use crate::optional;
use crate::process::free_bytes;
use crate::world::World;
use curlew_app::Settings as Config;
use curlew_catalog::indexed_years::indexed_years;
use curlew_model::QueueName;
use curlew_people::stats::stored_stats;
use curlew_ports::PortError;
use curlew_ports::stage::{StageError, with_causes};

/// Converts a result to a fact. `action` is the right that the call needs, if AWS does not name it in the error.
pub(crate) fn fact<T>(told: Result<T, impl Into<StageError>>, action: &str) -> Fact<T> {
    told.map_err(|error| {
        let error = error.into();
        let right = if let StageError::Port(error) = &error { optional::missing_right(error, action) } else { None };
        right.map_or_else(|| MissingFact::Failed(with_causes(&error)), MissingFact::Denied)
    })
}

pub(crate) fn stated(config: &Config) -> StatedSettings {
    let setting = config.effective.iter().find(|setting| setting.table.is_empty() && setting.key == "paused");
    let paused = setting.map(|setting| setting.origin).filter(|_| config.paused);
    StatedSettings {
        contact: Ok(config.contact.clone()),
        paused,
        pictures: Some(config.image.clone()),
        persons: config.screener.as_ref().map_or(0, |screener| screener.persons()),
    }
}

/// Gathers the facts that come from rows and queues.
pub(crate) async fn rows(world: &World, facts: &mut Facts) {
    let (ports, now) = (&world.ports, facts.now);
    let first = ports.sources.list(None, 1).await;
    facts.has_sources = Some(fact(first.map(|rows| !rows.is_empty()), "dynamodb:Scan"));
    facts.sent_until = Some(fact(world.crawler.dispatch.sent_until().await, "dynamodb:GetItem"));
    for stage in QueueName::ALL {
        let queue = fact(ports.inbox.glance(stage, now).await, "sqs:GetQueueAttributes");
        let due_since = match world.store() {
            Some(store) => fact(store.due_since(stage, now).await, ""),
            None => Ok(None),
        };
        let queue = queue.and_then(|count| Ok(QueueFacts { count, due_since: due_since? }));
        facts.queues.push((stage, queue));
    }
}

/// Gathers the facts that come from objects and, on one machine, from counting rows and free space.
pub(crate) async fn objects(world: &World, facts: &mut Facts) {
    let blobs = world.ports.blobs.as_ref();
    facts.index = Some(fact(index(world).await, "s3:GetObject"));
    facts.messages = Some(fact(world.desk.messages.open().await, "s3:GetObject"));
    let counted = match world.store() {
        Some(_) => counted(world).await.map(Some),
        None => stored_stats(blobs).await.map(|stored| {
            stored.map(|(at, counts)| HoldCount { at: Some(at), sites: counts.sites, held: counts.held })
        }),
    };
    facts.counted = Some(fact(counted, "s3:GetObject"));
    if world.store().is_some() {
        facts.ahead = Some(fact(world.desk.stats.ahead(&world.crawler.politeness.rules).await, ""));
    }
    facts.free_bytes = world.store().and_then(|_| free_bytes(&world.config.data));
}

async fn index(world: &World) -> Result<IndexFacts, StageError> {
    let years = indexed_years(world.ports.blobs.as_ref()).await?;
    Ok(IndexFacts {
        pages: years.iter().map(|year| year.pages).sum(),
        published: years.iter().filter_map(|year| year.published).max(),
        has_unpublished: world.library.has_unpublished().await?,
        newer: years.iter().find(|year| year.is_newer).map(|year| year.year),
    })
}

async fn counted(world: &World) -> Result<HoldCount, PortError> {
    let (sites, _) = world.desk.stats.sources().await?;
    Ok(HoldCount { at: None, sites, held: world.desk.stats.held().await? })
}
