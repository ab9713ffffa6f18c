//! `curlew sites`, `feeds`, `pages`, `holds` and `parked`: list rows, or show one in full.

use crate::args::ListArgs;
use crate::output::{self, ADDRESS, printable};
use crate::world::{World, each_source};
use anyhow::{Result, bail};
use curlew_catalog::listing::{each_host, pages_from, pages_that};
use curlew_model::{FeedSource, Millis, Page, PageId, PageState, Source, Timestamp, Why};
use curlew_people::descriptions::{self, feed_state, is_about, is_guide, job_subject, page_state, site_state};
use curlew_people::outcomes;
use curlew_policy::address;
use curlew_policy::polling::{schedule, subscription};
use curlew_policy::rules::Rules;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Maximum number of waiting jobs, and of dead jobs, in a list.
const MOST: usize = 10_000;
/// Maximum number of URLs suggested if several match a key.
const CANDIDATES: usize = 20;

struct View<'a> {
    /// Key of the row to show; `None` for all rows.
    key: Option<&'a str>,
    json: bool,
    has_shown: bool,
}

impl<'a> View<'a> {
    fn new(args: &'a ListArgs) -> View<'a> {
        View { key: args.key(), json: args.json, has_shown: false }
    }

    /// Prints a row if it matches the key: in full, or as a line if all rows are listed.
    fn row(&mut self, names: &[&str], line: impl FnOnce() -> String, whole: impl FnOnce() -> Value) -> Result<()> {
        if self.key.is_some_and(|key| !names.contains(&key)) {
            return Ok(());
        }
        self.has_shown = true;
        match self.key {
            _ if self.json => output::json(&whole()),
            Some(_) => output::line(serde_json::to_string_pretty(&whole())?),
            None => output::line(line()),
        }
    }

    /// Fails if no row matched the key. Prints `empty` if a list for people has no rows.
    fn end(self, what: &str, empty: &str) -> Result<()> {
        match self.key {
            _ if self.has_shown => Ok(()),
            Some(key) => bail!("there is no {what} '{}'", printable(&address::without_credentials(key), ADDRESS)),
            None if self.json => Ok(()),
            None => output::line(empty),
        }
    }
}

fn which(what: &str, key: &str, urls: &[&str]) -> Result<()> {
    let some: Vec<String> = urls.iter().take(CANDIDATES).map(|url| printable(url, ADDRESS)).collect();
    let more = if urls.len() > CANDIDATES { format!(" and {} more", urls.len() - CANDIDATES) } else { String::new() };
    bail!(
        "'{}' matches {}: name one of {}{more}",
        printable(&address::without_credentials(key), ADDRESS),
        output::count(urls.len() as u64, what),
        some.join(" ")
    )
}

pub(super) async fn sites(world: &World, args: &ListArgs) -> Result<()> {
    let mut view = View::new(args);
    // On a stack each row read costs money, so the list has no counts there; `sites show` has those of one host.
    let outcomes = match world.store() {
        Some(_) => outcomes::by_feed(world.ports.pages.as_ref(), usize::MAX).await?.unwrap_or_default(),
        None => BTreeMap::new(),
    };
    each_source(world, |source| {
        let Source::Site(site) = source else { return Ok(()) };
        let pages = outcomes::of_source(&outcomes, source);
        let line = || {
            let counts = pages.words().map(|words| format!(", {words}")).unwrap_or_default();
            let warning = pages.warning().map(|warning| format!("\n  {warning}")).unwrap_or_default();
            format!("{}  {}{counts}{warning}", printable(&site.url, ADDRESS), printable(&site_state(site), 2 * ADDRESS))
        };
        view.row(&[site.key.as_str(), &site.url], line, || {
            let mut whole = json!(site);
            if world.store().is_some() {
                whole["pages"] = json!(&pages);
                whole["warning"] = json!(pages.warning());
            }
            whole
        })
    })
    .await?;
    match view.key {
        // A host has no single row: its state is gathered from several.
        Some(host) if !view.has_shown && super::site::show(world, host, view.json).await? => Ok(()),
        _ => view.end("site", "No site is known yet: `curlew crawl SITE` adds one."),
    }
}

pub(super) async fn feeds(world: &World, args: &ListArgs) -> Result<()> {
    let mut view = View::new(args);
    let (rules, now) = (&world.crawler.politeness.rules, world.clock.now());
    let mut meant: Vec<FeedSource> = Vec::new();
    each_source(world, |source| {
        let Source::Feed(feed) = source else { return Ok(()) };
        if view.key.is_some_and(|key| is_about(&feed.url, key)) {
            meant.push(feed.clone());
        }
        let title = feed.title.as_deref().unwrap_or("-");
        let line = || {
            let (url, state) = (printable(&feed.url, ADDRESS), printable(&feed_state(feed), ADDRESS));
            format!("{url}  {}  {state}", printable(title, 50))
        };
        view.row(&[feed.key.as_str(), &feed.url], line, || whole_feed(feed, rules, now))
    })
    .await?;
    match (view.key.filter(|_| !view.has_shown), &meant[..]) {
        (Some(key), [feed]) => view.row(&[key], String::new, || whole_feed(feed, rules, now))?,
        (Some(key), [_, _, ..]) => {
            return which("feed", key, &meant.iter().map(|feed| feed.url.as_str()).collect::<Vec<_>>());
        }
        _ => {}
    }
    view.end("feed", "No feed is known yet: `curlew crawl SITE` finds them.")
}

/// Returns a feed's row, with faults described for its author, and the time and reason of its next poll.
fn whole_feed(feed: &FeedSource, rules: &Rules, now: Timestamp) -> Value {
    let mut whole = json!(feed);
    whole["faults"] = output::faults(&feed.faults);
    whole["next_poll"] = json!(schedule::next_poll(feed, rules, now));
    whole["next_poll_because"] = reason(feed, rules, now).into();
    whole
}

fn reason(feed: &FeedSource, rules: &Rules, now: Timestamp) -> String {
    if feed.gone {
        return feed.trouble.clone().unwrap_or_else(|| "it is no longer polled".into());
    }
    if feed.interval == Millis::ZERO {
        return "it has not been read yet".into();
    }
    let hours = feed.interval.0 / 3_600_000;
    let pushed = match subscription::current(feed).filter(|known| known.is_live(now)).and_then(|known| known.until) {
        Some(until) if feed.polling.why != Why::Pushed => {
            format!("; subscribed to its hub until {}", output::when(until))
        }
        Some(until) => format!(", until {}", output::when(until)),
        None => String::new(),
    };
    let capped = if feed.interval == rules.poll_cap { ", limited to the longest interval" } else { "" };
    format!("every {hours} h, since {}{capped}{pushed}", feed.polling.why)
}

pub(super) async fn pages(world: &World, args: &ListArgs) -> Result<()> {
    let mut view = View::new(args);
    let Some(key) = view.key else {
        let mut shown = Ok(());
        pages_from(world.ports.pages.as_ref(), None, usize::MAX, |page| {
            if !is_guide(&page) {
                let state = page_state(&page.state);
                let line = || format!("{state:9}  {}{}", printable(&page.url, ADDRESS), why(&page.state));
                shown = view.row(&[], line, || json!(page));
            }
            shown.is_ok()
        })
        .await?;
        shown?;
        return view.end("page", "No page is known yet: `curlew crawl SITE` finds them.");
    };
    // A lookup by id or URL needs no scan of all rows.
    let by_url = address::parse(key, None).ok().map(|url| address::page_id(&address::canonical(&url)));
    let mut page = None;
    if let Some(id) = PageId::new(key).ok().or(by_url) {
        page = world.ports.pages.get(&id).await?.map(|(page, _)| page);
    }
    if page.is_none() {
        let is_meant = |page: &Page| is_about(&page.url, key) && !is_guide(page);
        let mut meant = pages_that(world.ports.pages.as_ref(), is_meant).await?;
        if meant.len() > 1 {
            return which("page", key, &meant.iter().map(|page| page.url.as_str()).collect::<Vec<_>>());
        }
        page = meant.pop();
    }
    if let Some(page) = page {
        view.row(&[key], String::new, || json!(page))?;
    }
    view.end("page", "")
}

pub(super) fn why(state: &PageState) -> String {
    descriptions::why(state).map(|why| format!("  {}", printable(&why, ADDRESS))).unwrap_or_default()
}

pub(super) async fn holds(world: &World, args: &ListArgs) -> Result<()> {
    let mut view = View::new(args);
    let now = world.clock.now();
    let mut rows = Vec::new();
    each_host(world.ports.hosts.as_ref(), |host, state| {
        let is_left_alone = !state.blocked.is_empty() || state.hold_at(now).is_some();
        if view.key.map_or(is_left_alone, |key| key == host.as_str()) {
            rows.push((host, state));
        }
    })
    .await?;
    for (host, state) in &rows {
        let line = || {
            let held = state.hold_at(now);
            let held = held.map(|hold| format!("  {} until {}", hold.reason.as_str(), output::when(hold.until)));
            let blocked: Vec<&str> = state.blocked.iter().map(String::as_str).collect();
            let blocked = if blocked.is_empty() { String::new() } else { format!("  blocked: {}", blocked.join(", ")) };
            format!("{host}{}{blocked}", held.unwrap_or_default())
        };
        view.row(&[host.as_str()], line, || json!({"host": host, "state": state}))?;
    }
    view.end("host", "No host is held or blocked.")
}

pub(super) async fn parked(world: &World, args: &ListArgs) -> Result<()> {
    let mut view = View::new(args);
    for waiting in world.ports.inbox.waiting(world.clock.now(), MOST).await? {
        let (stage, about) = match &waiting.job {
            Ok(job) => (job.work.queue().as_str(), job_subject(job)),
            Err(why) => ("?", why.clone()),
        };
        let line = || format!("{}  {stage:8}  {}", waiting.due, printable(&about, ADDRESS));
        let whole = || json!({"due": waiting.due, "stage": stage, "job": waiting.job.as_ref().ok(), "about": about});
        view.row(&[&about], line, whole)?;
    }
    for dead in world.ports.inbox.dead(MOST).await? {
        let (name, stage, error) = (&dead.receipt.0, dead.stage.as_str(), &dead.error);
        let line = || format!("given up   {stage:8}  {name}  {}", printable(error, ADDRESS));
        let whole = || json!({"dead": name, "stage": stage, "error": error, "at": dead.at, "message": dead.message});
        view.row(&[name], line, whole)?;
    }
    view.end("job", "No job is waiting, and none was given up.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use curlew_model::{Hub, Slot, Subscription};

    #[test]
    fn f14_a_feed_says_when_it_is_polled_next_and_why_and_that_a_lease_lives() {
        let rules = Rules::default();
        let now: Timestamp = "2026-11-21T00:00:00Z".parse().unwrap_or_default();
        let url = url::Url::parse("https://example.org/feed").unwrap_or_else(|e| panic!("{e}"));
        let mut feed = FeedSource::new(address::source_key(&url), Slot::from_hash(10), url.as_str());
        assert_eq!(reason(&feed, &rules, now), "it has not been read yet");
        (feed.interval, feed.polling.why) = (Millis::from_days(2), Why::Ttl);
        assert_eq!(reason(&feed, &rules, now), "every 48 h, since the feed says so (ttl)");
        let whole = whole_feed(&feed, &rules, now);
        assert!(whole["next_poll"].as_str().is_some_and(|at| at.starts_with("2026-11-2")), "{whole}");
        assert_eq!(whole["url"], url.as_str());
        let hub = Hub { url: "https://hub.example/".into(), topic: feed.url.clone() };
        let until = Some("2026-11-30T00:00:00Z".parse().unwrap_or_default());
        feed.polling.subscription =
            Some(Subscription { of: subscription::name(&hub), until, ..Subscription::default() });
        feed.polling.hub = Some(hub);
        assert!(reason(&feed, &rules, now).ends_with("(ttl); subscribed to its hub until 2026-11-30 00:00 UTC"));
        feed.polling.why = Why::Pushed;
        assert!(reason(&feed, &rules, now).ends_with("only to make sure, until 2026-11-30 00:00 UTC"));
        assert_eq!(whole_feed(&feed, &rules, now)["polling"]["hub"]["url"], "https://hub.example/");
        (feed.gone, feed.trouble) = (true, Some("gone".into()));
        assert_eq!(reason(&feed, &rules, now), "gone");
        assert_eq!(whole_feed(&feed, &rules, now)["next_poll"], Value::Null);
    }
}
