//! Polls that an operator requests. Leases, pauses, holds and robots.txt apply to them as to every poll.

use crate::descriptions::is_about;
use crate::lookup::Lookup;
use curlew_catalog::listing::each_source;
use curlew_model::{FeedSource, Job, PollJob, Source, SourceKey, Timestamp};
use curlew_policy::politeness::pace;
use curlew_policy::polling::schedule;
use curlew_policy::rules::MAX_FIRST_WAIT;
use curlew_policy::{address, skew, trace};
use curlew_ports::Queue;
use curlew_ports::stage::{Result, StageError};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum length of a name in an error message, in characters.
const SHOWN: usize = 200;

/// Outcome of a poll request for one feed.
#[derive(Clone, Debug, Serialize)]
pub struct PollAnswer {
    /// The feed's address.
    pub url: String,
    /// `sent`, or a code for the reason why no poll was sent.
    pub outcome: &'static str,
    /// Time from which a poll may be requested again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again_at: Option<Timestamp>,
    /// Explanation of the outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl PollAnswer {
    /// True if a poll was sent.
    pub fn is_sent(&self) -> bool {
        self.outcome == "sent"
    }
}

/// Sends a poll of a feed if the feed may be polled now; returns the outcome.
pub(super) async fn request(lookup: &Lookup, queue: &dyn Queue, feed: &FeedSource) -> Result<PollAnswer> {
    let politeness = &lookup.politeness;
    let now = politeness.clock.now();
    let not_sent =
        |outcome, again_at, reason: Option<String>| PollAnswer { url: feed.url.clone(), outcome, again_at, reason };
    if feed.gone {
        let reason = feed.trouble.clone().unwrap_or_else(|| "polling it has stopped".to_owned());
        let remedy = format!("{reason}; `curlew crawl --feed {}` begins anew", feed.url);
        return Ok(not_sent("stopped", None, Some(remedy)));
    }
    let no_host = |why: String| StageError::Job(format!("'{}' has no host: {why}", feed.url));
    let url = address::parse(&feed.url, None).map_err(|e| no_host(e.to_string()))?;
    let host = politeness.key_of(&url).map_err(|e| no_host(e.to_string()))?;
    let state = skew::host(politeness.ledger.load(&host).await?.0, &politeness.rules, now);
    if state.is_blocked(host.as_str()) {
        return Ok(not_sent("blocked", None, Some(format!("`curlew unblock {host}` takes the block back"))));
    }
    if let Some(hold) = state.hold_at(now) {
        let reason = format!("its host is left alone ({})", hold.reason.as_str());
        return Ok(not_sent("held", Some(hold.until), Some(reason)));
    }
    let rules = &politeness.rules;
    let next_call = pace::next_call_at(&state, rules, now);
    if next_call > now + MAX_FIRST_WAIT {
        let reason = if state.failures > 0 { "its host was not reached" } else { "its host has a long pause" };
        return Ok(not_sent("too soon", Some(next_call), Some(reason.to_owned())));
    }
    let at = schedule::on_request(feed, rules, now);
    if at > now {
        let reason = if feed.polling.retry_at.is_some_and(|retry_at| retry_at > now) {
            "its server asks to be left alone (Retry-After)".to_owned()
        } else if feed.polled_at + rules.poll_on_request > now {
            format!("it was polled at {}", feed.polled_at)
        } else {
            "it asks to be left alone in these hours (skipHours, skipDays)".to_owned()
        };
        return Ok(not_sent("too soon", Some(at), Some(reason)));
    }
    let trace = Some(trace::begin("poll", feed.key.as_str(), now));
    let poll = PollJob { on_request: true, ..PollJob::new(feed.key.clone(), feed.url.clone()) };
    queue.send(&[(Job::new(poll).traced(trace), now)]).await?;
    Ok(not_sent("sent", None, None))
}

/// Returns the named feeds, each once. A name is a feed's key or address, or a key, address or host of its site.
pub(super) async fn feeds(lookup: &Lookup, names: &[String]) -> Result<Vec<FeedSource>> {
    let (mut feeds, mut sites) = (BTreeMap::new(), Vec::new());
    each_source(lookup.sources.as_ref(), |source| match source {
        Source::Feed(feed) => drop(feeds.insert(feed.key.clone(), feed)),
        Source::Site(site) => sites.push((site.key, site.url)),
        Source::Extra(_) | Source::Backfill(_) => {}
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
            let name: String = address::without_credentials(name).chars().take(SHOWN).collect();
            return Err(StageError::Job(if sites.is_empty() {
                format!("no feed of '{name}' is known: `curlew crawl {name}` finds it")
            } else {
                format!("no feed of '{name}' is known yet: `curlew sites` says why")
            }));
        }
        meant.extend(found.iter().filter(|feed| !feed.gone || found.len() == 1).map(|feed| feed.key.clone()));
    }
    Ok(meant.iter().filter_map(|key| feeds.remove(key)).collect())
}
