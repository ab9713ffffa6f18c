//! `curlew sites show HOST`: shows the stored state of one host key, and its next jobs.
//!
//! It reads every row of sources and pages, so it is for people who ask, and not for programs that crawl.

use super::rows::{about, each_page, page_state, site_state, why};
use crate::history;
use crate::output::{self, ADDRESS, count, shown};
use crate::world::{World, each_source};
use anyhow::Result;
use curlew_model::{
    BackfillLine, FeedSource, HostKey, HostState, Job, Millis, Page, SiteSource, SiteState, Source, Timestamp,
};
use curlew_policy::address;
use curlew_policy::politeness::pace;
use curlew_policy::polling::{backfill, schedule};
use curlew_policy::robots::Robots;
use curlew_ports::RobotsCopy;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use url::Url;

/// Number of pages that are listed, those with the latest changes.
const PAGES: usize = 10;
/// Maximum number of lines of a robots.txt that are shown.
const ROBOTS_LINES: usize = 40;
/// Maximum number of waiting jobs that are examined.
const JOBS: usize = 10_000;

/// The stored state of a host key.
#[derive(Serialize)]
struct Report {
    host: HostKey,
    now: Timestamp,
    /// The blocks in force.
    blocked: BTreeSet<String>,
    hold: Option<curlew_model::Hold>,
    wall: Option<Wall>,
    circuit: curlew_model::Circuit,
    failures: u32,
    holds_in_a_row: u32,
    urls_left_alone: usize,
    next_call: Timestamp,
    pace: Pace,
    lease: Option<curlew_model::Lease>,
    window: curlew_model::Window,
    robots: Vec<Rules>,
    sites: Vec<Value>,
    feeds: Vec<Feed>,
    history: Vec<BackfillLine>,
    pages: BTreeMap<String, u64>,
    latest: Vec<Fetched>,
    next: Vec<Next>,
}

/// A bot wall that stands before the host's pages.
#[derive(Serialize)]
struct Wall {
    since: Timestamp,
    /// Empty if no mark names it.
    vendor: String,
    /// The name by which the owner can let the crawler through.
    token: String,
}

#[derive(Serialize)]
struct Pace {
    least: Millis,
    ruled_by: &'static str,
    crawl_delay: Millis,
    last_response: Millis,
}

#[derive(Serialize)]
struct Rules {
    origin: String,
    standing: String,
    fetched_at: Timestamp,
    fresh_until: Timestamp,
    rules: usize,
    crawl_delay: Option<Millis>,
    lines: Vec<String>,
}

#[derive(Serialize)]
struct Feed {
    url: String,
    polled_at: Timestamp,
    interval: Millis,
    next: Option<Timestamp>,
    gone: bool,
    failures: u32,
    trouble: Option<String>,
}

#[derive(Serialize)]
struct Fetched {
    at: Timestamp,
    url: String,
    state: String,
    why: String,
    /// Feed that named the page.
    feed: Option<String>,
}

#[derive(Serialize)]
struct Next {
    at: Timestamp,
    what: &'static str,
    about: String,
}

/// Shows a host; returns false if nothing is known of it.
pub(super) async fn show(world: &World, name: &str, as_json: bool) -> Result<bool> {
    let text = if name.contains("://") { name.to_owned() } else { format!("https://{name}/") };
    let Ok(url) = address::parse(&text, None) else { return Ok(false) };
    let Ok(host) = world.politeness.key_of(&url) else { return Ok(false) };
    let report = gather(world, host, &url).await?;
    let is_known = !report.sites.is_empty()
        || !report.feeds.is_empty()
        || !report.pages.is_empty()
        || !report.robots.is_empty()
        || !report.blocked.is_empty()
        || report.hold.is_some();
    if is_known {
        if as_json { output::json(&report)? } else { print(&report)? }
    }
    Ok(is_known)
}

async fn gather(world: &World, host: HostKey, url: &Url) -> Result<Report> {
    let now = world.clock.now();
    let rules = &world.config.rules;
    let (state, _) = world.ports.ledger.load(&host).await?;
    let is_ours =
        |text: &str| Url::parse(text).is_ok_and(|url| world.politeness.key_of(&url).is_ok_and(|key| key == host));
    let mut origins: BTreeSet<Url> = [url.clone()].into();
    let mut note = |text: &str| origins.extend(Url::parse(text).ok().and_then(|url| url.join("/").ok()));
    let (mut sites, mut feeds, mut history, mut names) = (vec![], vec![], vec![], BTreeMap::new());
    each_source(world, |source| {
        if is_ours(source.url()) {
            note(source.url());
            match source {
                Source::Site(row) => sites.push(site(row, now)),
                Source::Feed(row) => feeds.push(feed(row, world, now)),
                // A further slot of a feed that has a row of its own.
                Source::Extra(_) => {}
                Source::Backfill(row) => history.push(backfill::line(row, rules)),
            }
        }
        names.insert(source.key().clone(), source.url().to_owned());
        Ok(())
    })
    .await?;
    let (mut pages, mut latest): (BTreeMap<String, u64>, Vec<Page>) = Default::default();
    each_page(world, async |page| {
        if page.host == host {
            note(&page.url);
            *pages.entry(page_state(&page.state).to_owned()).or_default() += 1;
            latest.push(page.clone());
            if latest.len() > 10 * PAGES {
                keep_latest(&mut latest);
            }
        }
        Ok(())
    })
    .await?;
    keep_latest(&mut latest);
    let named = |page: &Page| page.feed.as_ref().and_then(|key| names.get(key).cloned());
    let latest = latest.iter().map(|page| fetched(page, named(page))).collect();
    let robots = robots(world, &origins).await?;
    let next = next(world, &host, &feeds, is_ours).await?;
    let (ruled_by, least) = pace::ruled_by(&state, rules);
    let next_call = next_call(&state, rules, now);
    let urls_left_alone = state.url_holds.iter().filter(|hold| hold.until > now).count();
    let HostState {
        blocked,
        hold,
        circuit,
        failures,
        holds_in_a_row,
        lease,
        window,
        crawl_delay,
        last_response,
        substitutes,
        ..
    } = state;
    let token = world.config.token.clone();
    let wall = substitutes.since.map(|since| Wall { since, vendor: substitutes.vendor, token });
    Ok(Report {
        host,
        now,
        blocked,
        hold: hold.filter(|hold| hold.until > now),
        wall,
        circuit,
        failures,
        holds_in_a_row,
        urls_left_alone,
        next_call,
        pace: Pace { least, ruled_by: ruled_by.as_str(), crawl_delay, last_response },
        lease: lease.filter(|lease| lease.until > now),
        window,
        robots,
        sites,
        feeds,
        history,
        pages,
        latest,
        next,
    })
}

fn next_call(state: &HostState, rules: &curlew_policy::rules::Rules, now: Timestamp) -> Timestamp {
    let held = state.hold.as_ref().map_or(now, |hold| hold.until);
    pace::next_call_at(state, rules, now).max(held).max(now)
}

fn keep_latest(pages: &mut Vec<Page>) {
    let when = |page: &Page| page.checked_at.unwrap_or(page.at).max(page.at);
    pages.sort_by_key(|page| std::cmp::Reverse(when(page)));
    pages.truncate(PAGES);
}

fn site(row: &SiteSource, now: Timestamp) -> Value {
    let state = match &row.state {
        SiteState::Working { .. } => format!("{}; its home page is not asked again", site_state(row)),
        _ => site_state(row),
    };
    let not_before = (row.not_before > now).then_some(row.not_before);
    json!({"url": row.url, "state": state, "failure": row.failure, "not_before": not_before})
}

fn feed(row: &FeedSource, world: &World, now: Timestamp) -> Feed {
    Feed {
        url: row.url.clone(),
        polled_at: row.polled_at,
        interval: row.interval,
        next: schedule::next_poll(row, &world.config.rules, now),
        gone: row.gone,
        failures: row.failures,
        trouble: row.trouble.clone(),
    }
}

fn fetched(page: &Page, feed: Option<String>) -> Fetched {
    Fetched {
        at: page.checked_at.unwrap_or(page.at).max(page.at),
        url: page.url.clone(),
        state: page_state(&page.state).to_owned(),
        why: why(&page.state).trim().to_owned(),
        feed,
    }
}

async fn robots(world: &World, origins: &BTreeSet<Url>) -> Result<Vec<Rules>> {
    let mut found = BTreeMap::new();
    for url in origins {
        let Ok(origin) = address::origin(url) else { continue };
        if let Some(copy) = world.ports.robots.get(&origin).await? {
            found.insert(origin.to_string(), rules_of(origin.to_string(), &copy, &world.config.token));
        }
    }
    Ok(found.into_values().collect())
}

fn rules_of(origin: String, copy: &RobotsCopy, token: &str) -> Rules {
    let parsed = Robots::parse(&copy.body, token);
    let text = String::from_utf8_lossy(&copy.body);
    let said = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    Rules {
        origin,
        standing: copy.standing.clone(),
        fetched_at: copy.fetched_at,
        fresh_until: copy.fresh_until,
        rules: parsed.len(),
        crawl_delay: parsed.crawl_delay(),
        lines: said.take(ROBOTS_LINES).map(|line| shown(line, ADDRESS)).collect(),
    }
}

async fn next(world: &World, host: &HostKey, feeds: &[Feed], is_ours: impl Fn(&str) -> bool) -> Result<Vec<Next>> {
    let mut next: Vec<Next> = vec![];
    for waiting in world.ports.inbox.waiting(world.clock.now(), JOBS).await? {
        let Ok(job) = waiting.job else { continue };
        let (is_for, what) = match &job {
            Job::Fetch(visit) => (visit.host == *host, "visit"),
            Job::Poll(poll) => (is_ours(&poll.url), "poll"),
            Job::Subscribe(subscribe) => (is_ours(&subscribe.url), "subscribe"),
            Job::Backfill(backfill) => (is_ours(&backfill.url), "back catalogue"),
            Job::Deliver(delivery) => (is_ours(&delivery.url), "delivery"),
            Job::Discover(site) => (is_ours(&site.url), "discovery"),
            Job::Own(own) => (is_ours(&format!("https://{}/", own.host)), "owner's request"),
            Job::Extract(_) => (false, ""),
        };
        if is_for {
            next.push(Next { at: waiting.due, what, about: about(&job) });
        }
    }
    let polls = feeds.iter().filter_map(|feed| Some(Next { at: feed.next?, what: "poll", about: feed.url.clone() }));
    next.extend(polls);
    next.sort_by_key(|next| next.at);
    Ok(next)
}

fn print(report: &Report) -> Result<()> {
    output::line(&format!("host key      {}", report.host))?;
    for name in &report.blocked {
        output::line(&format!("blocked       {name}: never called, never found"))?;
    }
    match &report.hold {
        Some(hold) => output::line(&format!(
            "held          until {} ({}, since {}; {} in a row)",
            hold.until,
            hold.reason.as_str(),
            hold.since,
            report.holds_in_a_row
        ))?,
        None => output::line("held          no")?,
    }
    if let Some(Wall { since, vendor, token }) = &report.wall {
        let vendor = if vendor.is_empty() { String::new() } else { format!(" ({vendor})") };
        output::line(&format!(
            "bot wall      since {since}{vendor}; its pages wait. Its owner can let {token} through, by its user agent or by its signature"
        ))?;
    }
    let circuit = match (report.circuit, report.hold.is_some()) {
        (curlew_model::Circuit::Closed, _) => "closed",
        (curlew_model::Circuit::Probe, true) => "open",
        (curlew_model::Circuit::Probe, false) => "half open: the next call decides",
    };
    output::line(&format!(
        "circuit       {circuit}; {} in a row did not reach it",
        count(report.failures.into(), "call")
    ))?;
    if report.urls_left_alone > 0 {
        output::line(&format!("left alone    {} of its URLs, after 403, 5xx or cut answers", report.urls_left_alone))?;
    }
    let Pace { least, ruled_by, crawl_delay, last_response } = &report.pace;
    output::line(&format!(
        "pace          at least {} between calls, set by {ruled_by} (Crawl-delay {}, last answer took {})",
        length(*least),
        length(*crawl_delay),
        length(*last_response)
    ))?;
    output::line(&format!("next call     not before {}", report.next_call))?;
    if let Some(lease) = &report.lease {
        output::line(&format!("under way     {} until {} at the latest", lease.owner, lease.until))?;
    }
    print_robots(report)?;
    print_sources(report)?;
    history::print(&report.history, "history       ")?;
    let counts: Vec<String> = report.pages.iter().map(|(state, count)| format!("{count} {state}")).collect();
    output::line(&format!("pages         {}", if counts.is_empty() { "none".into() } else { counts.join(", ") }))?;
    for page in &report.latest {
        let feed = page.feed.as_deref().map(|feed| format!("  named by {}", shown(feed, ADDRESS))).unwrap_or_default();
        let why = if page.why.is_empty() { String::new() } else { format!("  {}", page.why) };
        output::line(&format!("  {}  {:8}  {}{why}{feed}", page.at, page.state, shown(&page.url, ADDRESS)))?;
    }
    output::line(if report.next.is_empty() { "next          nothing is planned" } else { "next" })?;
    for next in &report.next {
        output::line(&format!("  {}  {:9}  {}", next.at, next.what, shown(&next.about, ADDRESS)))?;
    }
    Ok(())
}

/// Returns a length of time in words.
fn length(time: Millis) -> String {
    const MINUTE: u64 = 60_000;
    const HOUR: u64 = 60 * MINUTE;
    match time.0 {
        ms @ 0..1_000 => format!("{ms} ms"),
        ms @ 1_000..MINUTE => format!("{:.1} s", ms as f64 / 1e3),
        ms @ MINUTE..HOUR => format!("{:.1} min", ms as f64 / 6e4),
        ms => format!("{:.1} h", ms as f64 / 3.6e6),
    }
}

/// Returns an origin as people write it: without its scheme's default port.
fn plain(origin: &str) -> String {
    Url::parse(origin).map_or_else(|_| origin.to_owned(), |url| url.as_str().trim_end_matches('/').to_owned())
}

fn print_robots(report: &Report) -> Result<()> {
    for rules in &report.robots {
        let Rules { origin, standing, fetched_at, fresh_until, rules, lines, crawl_delay: _ } = rules;
        output::line(&format!(
            "robots.txt    {}: {standing}, {} for us, asked {fetched_at}, good until {fresh_until}",
            plain(origin),
            count(*rules as u64, "rule")
        ))?;
        for line in lines {
            output::line(&format!("  {line}"))?;
        }
    }
    Ok(())
}

fn print_sources(report: &Report) -> Result<()> {
    for site in &report.sites {
        let text = |name: &str| site.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        output::line(&format!(
            "site          {}  {}",
            shown(&text("url"), ADDRESS),
            shown(&text("state"), 2 * ADDRESS)
        ))?;
        if let Some(at) = site.get("not_before").and_then(Value::as_str) {
            output::line(&format!("                looked at again from {at}"))?;
        }
    }
    for feed in &report.feeds {
        let state = match (&feed.trouble, feed.gone) {
            (_, true) => "gone".to_owned(),
            (Some(why), _) => shown(why, ADDRESS),
            (None, _) if feed.polled_at == Timestamp::MIN => "not polled yet".to_owned(),
            (None, _) => format!("every {}, last change seen {}", length(feed.interval), feed.polled_at),
        };
        output::line(&format!("feed          {}  {state}", shown(&feed.url, ADDRESS)))?;
    }
    Ok(())
}
