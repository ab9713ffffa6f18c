//! `curlew sites`, `feeds`, `pages`, `holds` and `parked`: lists for people who look.

use crate::args::{ListArgs, ListWhat};
use crate::output::{self, shown};
use crate::world::World;
use anyhow::{Result, bail};
use curlew_model::{
    FeedSource, HostKey, Job, Millis, Page, PageId, PageState, SiteState, Source, SourceKey, Timestamp, Why,
};
use curlew_policy::{Rules, address, push, schedule};
use serde_json::{Value, json};

/// Rows read at a time.
const LIST: usize = 500;
/// The most waiting or dead jobs that are listed.
const MOST: usize = 10_000;
/// Characters of an address in a line for people.
pub(super) const ADDRESS: usize = 90;

/// Which of the rows to show, and how.
struct View<'a> {
    key: Option<&'a str>,
    json: bool,
    found: bool,
}

impl<'a> View<'a> {
    fn of(args: &'a ListArgs) -> View<'a> {
        let key = match &args.what {
            Some(ListWhat::Show { key }) => Some(key.as_str()),
            Some(ListWhat::List) | None => None,
        };
        View { key, json: args.json, found: false }
    }

    /// Shows a row if it is asked for: a line of a list, or the whole of it.
    fn row(&mut self, names: &[&str], line: impl FnOnce() -> String, whole: impl FnOnce() -> Value) -> Result<()> {
        match self.key {
            Some(key) if !names.contains(&key) => {}
            Some(_) => {
                self.found = true;
                let whole = whole();
                if self.json { output::json(&whole)? } else { output::line(&serde_json::to_string_pretty(&whole)?)? }
            }
            None if self.json => output::json(&whole())?,
            None => output::line(&line())?,
        }
        Ok(())
    }

    fn end(self, what: &str) -> Result<()> {
        match self.key {
            Some(key) if !self.found => bail!("there is no {what} '{}'", shown(key, ADDRESS)),
            _ => Ok(()),
        }
    }
}

pub(super) async fn sites(world: &World, args: &ListArgs) -> Result<()> {
    let mut view = View::of(args);
    each_source(world, |source| {
        let Source::Site(site) = source else { return Ok(()) };
        let state = match &site.state {
            SiteState::Waiting => "waiting".to_owned(),
            SiteState::Working { feeds } => format!("{} feeds", feeds.len()),
            SiteState::Feedless { reason } => format!("no feed: {reason}"),
            SiteState::Refused { reason } => format!("refused: {reason}"),
        };
        let line = || format!("{}  {state}", shown(&site.url, ADDRESS));
        view.row(&[site.key.as_str(), &site.url], line, || json!(site))
    })
    .await?;
    match view.key {
        // A host has many rows, or none of its own: what is known of it comes from all of them.
        Some(host) if !view.found && super::site::show(world, host, view.json).await? => Ok(()),
        _ => view.end("site"),
    }
}

pub(super) async fn feeds(world: &World, args: &ListArgs) -> Result<()> {
    let mut view = View::of(args);
    let now = world.clock.now();
    each_source(world, |source| {
        let Source::Feed(feed) = source else { return Ok(()) };
        let state = match (&feed.trouble, feed.gone) {
            (_, true) => "gone".to_owned(),
            (Some(why), _) if feed.failures == 0 => why.clone(),
            (Some(why), _) => format!("failed {} times: {why}", feed.failures),
            (None, _) => {
                let faults = match feed.faults.count {
                    0 => String::new(),
                    1 => ", 1 fault".to_owned(),
                    n => format!(", {n} faults"),
                };
                format!("{}, every {} h{faults}", feed.format, feed.interval.0 / 3_600_000)
            }
        };
        let title = feed.title.as_deref().unwrap_or("-");
        let line = || format!("{}  {}  {}", shown(&feed.url, ADDRESS), shown(title, 50), shown(&state, ADDRESS));
        view.row(&[feed.key.as_str(), &feed.url], line, || whole_feed(feed, &world.manners.rules, now))
    })
    .await?;
    view.end("feed")
}

/// A feed's row, its faults as its author would want them, and when it is polled next and why in words.
fn whole_feed(feed: &FeedSource, rules: &Rules, now: Timestamp) -> Value {
    let mut whole = json!(feed);
    if let Value::Object(fields) = &mut whole {
        fields.insert("faults".into(), output::faults(&feed.faults));
        fields.insert("next_poll".into(), json!(schedule::next_poll(feed, rules, now)));
        fields.insert("next_poll_because".into(), reason(feed, rules, now).into());
    }
    whole
}

/// Why a feed is polled when it is, or no more.
fn reason(feed: &FeedSource, rules: &Rules, now: Timestamp) -> String {
    if feed.gone {
        return feed.trouble.clone().unwrap_or_else(|| "polling it has stopped".into());
    }
    if feed.interval == Millis::ZERO {
        return "it was never read".into();
    }
    let hours = feed.interval.0 / 3_600_000;
    let pushed = match push::current(feed).filter(|known| known.is_live(now)).and_then(|known| known.until) {
        Some(until) if feed.polling.why != Why::Pushed => format!("; its hub tells of news until {until}"),
        Some(until) => format!(", until {until}"),
        None => String::new(),
    };
    let capped = if feed.interval == rules.poll_cap { ", cut to the longest interval there is" } else { "" };
    format!("every {hours} h, since {}{capped}{pushed}", feed.polling.why)
}

/// All rows of feeds and sites, one after another.
pub(super) async fn each_source(world: &World, mut each: impl FnMut(&Source) -> Result<()>) -> Result<()> {
    let mut after: Option<SourceKey> = None;
    loop {
        let rows = world.ports.sources.list(after.as_ref(), LIST).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = Some(last.key().clone());
        rows.iter().try_for_each(&mut each)?;
    }
}

/// All rows of pages, one after another.
pub(super) async fn each_page(world: &World, mut each: impl AsyncFnMut(&Page) -> Result<()>) -> Result<()> {
    let mut after: Option<PageId> = None;
    loop {
        let rows = world.ports.pages.list(after.as_ref(), LIST).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = Some(last.id.clone());
        for page in &rows {
            each(page).await?;
        }
    }
}

pub(super) async fn pages(world: &World, args: &ListArgs) -> Result<()> {
    let mut view = View::of(args);
    if let Some(key) = view.key {
        // One row by its id or its URL needs no reading of all.
        let by_url = address::parse(key, None).ok().map(|u| address::page_id(&address::canonical(&u)));
        let Some(id) = PageId::new(key).ok().or(by_url) else { return view.end("page") };
        if let Some((page, _)) = world.ports.pages.get(&id).await? {
            view.row(&[key], String::new, || json!(page))?;
        }
        return view.end("page");
    }
    each_page(world, async |page| {
        let state = page_state(&page.state);
        view.row(&[], || format!("{state:9}  {}{}", shown(&page.url, ADDRESS), why(&page.state)), || json!(page))
    })
    .await
}

pub(super) fn page_state(state: &PageState) -> &'static str {
    match state {
        PageState::Pending => "pending",
        PageState::Accepted { .. } => "accepted",
        PageState::Rejected { .. } => "rejected",
        PageState::Gone { .. } => "gone",
        PageState::Alias { .. } => "alias",
    }
}

/// Why a page is not found, if it is not.
pub(super) fn why(state: &PageState) -> String {
    match state {
        PageState::Rejected { reason } => format!("  {}", shown(&reason.to_string(), ADDRESS)),
        PageState::Gone { reason } => format!("  {}", reason.as_str()),
        _ => String::new(),
    }
}

pub(super) async fn holds(world: &World, args: &ListArgs) -> Result<()> {
    let mut view = View::of(args);
    let now = world.clock.now();
    let mut after: Option<HostKey> = None;
    loop {
        let rows = world.ports.hosts.list(after.as_ref(), LIST).await?;
        let Some((last, _)) = rows.last() else { break };
        after = Some(last.clone());
        for (host, state) in &rows {
            let held = state.hold.as_ref().filter(|h| h.until > now);
            if held.is_none() && state.blocked.is_empty() && view.key.is_none() {
                continue;
            }
            let line = || {
                let blocked: Vec<&str> = state.blocked.iter().map(String::as_str).collect();
                let blocked =
                    if blocked.is_empty() { String::new() } else { format!("  blocked: {}", blocked.join(", ")) };
                let held = held.map(|h| format!("  {} until {}", h.reason.as_str(), h.until)).unwrap_or_default();
                format!("{host}{held}{blocked}")
            };
            view.row(&[host.as_str()], line, || json!({"host": host, "state": state}))?;
        }
    }
    view.end("host")
}

pub(super) async fn parked(world: &World, args: &ListArgs) -> Result<()> {
    let mut view = View::of(args);
    for waiting in world.ports.inbox.waiting(world.clock.now(), MOST).await? {
        let (stage, about) = match &waiting.job {
            Ok(job) => (job.stage().as_str(), about(job)),
            Err(why) => ("?", why.clone()),
        };
        let line = || format!("{}  {stage:8}  {}", waiting.due, shown(&about, ADDRESS));
        let whole = || json!({"due": waiting.due, "stage": stage, "job": waiting.job.as_ref().ok(), "about": about});
        view.row(&[&about], line, whole)?;
    }
    for dead in world.ports.inbox.dead(MOST).await? {
        let stage = dead.stage.as_str();
        let line = || format!("given up   {stage:8}  {}  {}", dead.receipt.0, shown(&dead.error, ADDRESS));
        let whole = || json!({"dead": dead.receipt.0, "stage": stage, "error": dead.error, "at": dead.at, "message": dead.message});
        view.row(&[&dead.receipt.0], line, whole)?;
    }
    view.end("job")
}

/// What a job is about: a host for visits, an address otherwise.
pub(super) fn about(job: &Job) -> String {
    match job {
        Job::Discover(job) => job.url.clone(),
        Job::Own(job) => job.host.clone(),
        Job::Poll(job) => job.url.clone(),
        Job::Subscribe(job) => job.url.clone(),
        Job::Fetch(job) => format!("{} ({} addresses)", job.host, job.items.len()),
        Job::Extract(job) => job.url.clone(),
    }
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
        let mut feed = FeedSource::new(address::source_key(&url), Slot::of(10), url.as_str());
        assert_eq!(reason(&feed, &rules, now), "it was never read");
        (feed.interval, feed.polling.why) = (Millis::from_days(2), Why::Ttl);
        assert_eq!(reason(&feed, &rules, now), "every 48 h, since the feed says so (ttl)");
        let whole = whole_feed(&feed, &rules, now);
        assert!(whole["next_poll"].as_str().is_some_and(|at| at.starts_with("2026-11-2")), "{whole}");
        assert_eq!(whole["url"], url.as_str());
        let hub = Hub { url: "https://hub.example/".into(), topic: feed.url.clone() };
        let until = Some("2026-11-30T00:00:00Z".parse().unwrap_or_default());
        feed.polling.subscription = Some(Subscription { of: push::name(&hub), until, ..Subscription::default() });
        feed.polling.hub = Some(hub);
        assert!(reason(&feed, &rules, now).ends_with("(ttl); its hub tells of news until 2026-11-30T00:00:00Z"));
        feed.polling.why = Why::Pushed;
        assert!(reason(&feed, &rules, now).ends_with("only to make sure, until 2026-11-30T00:00:00Z"));
        assert_eq!(whole_feed(&feed, &rules, now)["polling"]["hub"]["url"], "https://hub.example/");
        (feed.gone, feed.trouble) = (true, Some("gone".into()));
        assert_eq!(reason(&feed, &rules, now), "gone");
        assert_eq!(whole_feed(&feed, &rules, now)["next_poll"], Value::Null);
    }
}
