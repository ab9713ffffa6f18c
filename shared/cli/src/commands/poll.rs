//! `curlew poll`: polls feeds now, whatever their schedule says.
//!
//! A request only puts a job into the queue: leases, pauses, holds and robots.txt apply as to every poll. The running
//! process takes the job; if there is none, this process does.

use super::crawl::until_end;
use super::rows::is_about;
use super::{Place, exclusive, stop_on_signal};
use crate::args::{Output, Until};
use crate::config::Config;
use crate::output::{self, ADDRESS, shown};
use crate::world::{World, each_source};
use anyhow::{Result, bail};
use curlew_embedded::OpenError;
use curlew_model::{FeedSource, Job, PollJob, Source, SourceKey, Timestamp};
use curlew_policy::address;
use curlew_policy::polling::schedule;
use curlew_policy::trace;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Outcome of the request for one feed.
#[derive(Debug, Serialize)]
struct Requested {
    url: String,
    /// `sent`, or the reason why not.
    outcome: &'static str,
    /// Time from which on it may be asked for again.
    #[serde(skip_serializing_if = "Option::is_none")]
    again_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub(super) async fn run(names: &[String], output: Output, config: Config, place: &Place) -> Result<()> {
    let requested = request(&place.beside(config.clone()).await?, names).await?;
    let is_sent = requested.iter().any(|one| one.outcome == "sent");
    if !output.json {
        for one in &requested {
            let reason = one.reason.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
            let again = one.again_at.map(|at| format!("; ask again from {at}")).unwrap_or_default();
            let line = format!("{}  {}{reason}{again}", shown(&one.url, ADDRESS), one.outcome);
            output::line(&line)?;
        }
    }
    let at_work = match place {
        Place::Stack(_) => Some("the stack polls what was sent within a minute".to_owned()),
        Place::Here if is_sent => match exclusive(config).await {
            Ok(world) => return alone(Arc::new(world), &requested, output.json).await,
            Err(error) => match error.downcast_ref::<OpenError>() {
                Some(OpenError::InUse { .. }) => Some("the curlew that is at work polls what was sent now".to_owned()),
                _ => return Err(error),
            },
        },
        Place::Here => None,
    };
    match at_work {
        _ if output.json => output::json(&serde_json::json!({ "requested": requested }))?,
        Some(who) if is_sent => output::line(&who)?,
        _ => {}
    }
    Ok(())
}

/// Polls in this process, since no other runs, and does other due work, until it is idle.
async fn alone(world: Arc<World>, requested: &[Requested], json: bool) -> Result<()> {
    let (summary, ran) = until_end(&world, (Until::Idle, &BTreeSet::new()), json, stop_on_signal()).await?;
    if json {
        output::json(&serde_json::json!({ "requested": requested, "summary": summary }))?;
    } else {
        for one in requested.iter().filter(|one| one.outcome == "sent") {
            let Ok(url) = address::parse(&one.url, None) else { continue };
            let row = world.ports.sources.get(&address::source_key(&url)).await?;
            if let Some((Source::Feed(FeedSource { trouble: Some(why), .. }), _)) = row {
                output::line(&format!("{}  {}", shown(&one.url, ADDRESS), shown(&why, ADDRESS)))?;
            }
        }
        summary.print()?;
    }
    ran
}

/// Sends a poll of each feed that is named, if it may be polled now.
async fn request(world: &World, names: &[String]) -> Result<Vec<Requested>> {
    let mut requested = Vec::new();
    for feed in feeds(world, names).await? {
        requested.push(one(world, feed).await?);
    }
    Ok(requested)
}

async fn one(world: &World, feed: FeedSource) -> Result<Requested> {
    let now = world.clock.now();
    let not_sent =
        |outcome, again_at, reason: Option<String>| Requested { url: feed.url.clone(), outcome, again_at, reason };
    if feed.gone {
        let reason = feed.trouble.clone().unwrap_or_else(|| "polling it has stopped".to_owned());
        let remedy = format!("{reason}; `curlew crawl --feed {}` begins anew", feed.url);
        return Ok(not_sent("stopped", None, Some(remedy)));
    }
    let host = world.politeness.key_of(&address::parse(&feed.url, None)?)?;
    let (state, _) = world.ports.ledger.load(&host).await?;
    if state.is_blocked(host.as_str()) {
        return Ok(not_sent("blocked", None, Some(format!("`curlew unblock {host}` takes the block back"))));
    }
    if let Some(hold) = state.hold.filter(|hold| hold.until > now) {
        let reason = format!("its host is left alone ({})", hold.reason.as_str());
        return Ok(not_sent("held", Some(hold.until), Some(reason)));
    }
    let at = schedule::on_request(&feed, &world.politeness.rules, now);
    if at > now {
        let reason = if feed.polling.retry_at.is_some_and(|retry_at| retry_at > now) {
            "its server asks to be left alone (Retry-After)".to_owned()
        } else if feed.polled_at + world.politeness.rules.poll_on_request > now {
            format!("it was polled at {}", feed.polled_at)
        } else {
            "it asks to be left alone in these hours (skipHours, skipDays)".to_owned()
        };
        return Ok(not_sent("too soon", Some(at), Some(reason)));
    }
    let trace = Some(trace::begin("poll", feed.key.as_str(), now));
    let job = PollJob { on_request: true, trace, ..PollJob::new(feed.key.clone(), feed.url.clone()) };
    world.ports.queue.send(&[(Job::Poll(job), now)]).await?;
    Ok(not_sent("sent", None, None))
}

/// Returns the named feeds, each once: by their own key or address, or by the address or host of their site.
async fn feeds(world: &World, names: &[String]) -> Result<Vec<FeedSource>> {
    let (mut feeds, mut sites) = (BTreeMap::new(), Vec::new());
    each_source(world, |source| {
        match source {
            Source::Feed(feed) => drop(feeds.insert(feed.key.clone(), feed.clone())),
            Source::Site(site) => sites.push((site.key.clone(), site.url.clone())),
            Source::Extra(_) | Source::Backfill(_) => {}
        }
        Ok(())
    })
    .await?;
    let mut meant: BTreeSet<SourceKey> = BTreeSet::new();
    for name in names {
        let is_it = |key: &SourceKey, url: &str| key.as_str() == name || is_about(url, name);
        let sites: Vec<&SourceKey> = sites.iter().filter(|(key, url)| is_it(key, url)).map(|(key, _)| key).collect();
        let exact = |feed: &&FeedSource| feed.key.as_str() == name || feed.url == *name;
        let mut found: Vec<&FeedSource> = feeds.values().filter(exact).collect();
        if found.is_empty() {
            let is_its = |feed: &&FeedSource| {
                is_it(&feed.key, &feed.url) || feed.site.as_ref().is_some_and(|key| sites.contains(&key))
            };
            found = feeds.values().filter(is_its).collect();
        }
        if found.is_empty() {
            let name = shown(&address::without_credentials(name), ADDRESS);
            if sites.is_empty() {
                bail!("no feed of '{name}' is known: `curlew crawl {name}` finds it");
            }
            bail!("no feed of '{name}' is known yet: `curlew sites` says why");
        }
        meant.extend(found.iter().filter(|feed| !feed.gone || found.len() == 1).map(|feed| feed.key.clone()));
    }
    Ok(meant.iter().filter_map(|key| feeds.remove(key)).collect())
}
