//! Reports about one host key. A report reads all rows of sources and pages: it is for people, not for programs.

use crate::descriptions::{is_guide, job_subject, page_state, site_state, why};
use crate::lookup::Lookup;
use crate::outcomes::PageOutcomes;
use curlew_catalog::listing::{each_page, each_source};
use curlew_crawl::politeness::visit::robots::as_last_asked;
use curlew_model::{
    BackfillLine, Circuit, FeedSource, Hold, HostKey, Lease, Millis, Page, RobotsNotes, SiteSource, SiteState, Source,
    Timestamp, WindowPart, Work,
};
use curlew_policy::politeness::pace;
use curlew_policy::polling::{backfill, schedule};
use curlew_policy::robots::Robots;
use curlew_policy::rules::Rules;
use curlew_policy::{address, skew};
use curlew_ports::RobotsCopy;
use curlew_ports::stage::Result;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use url::Url;

/// Maximum number of pages in a report; those with the latest changes are listed.
const PAGES: usize = 10;
const ROBOTS_LINES: usize = 40;
const JOBS: usize = 10_000;

/// Report about a host key.
#[derive(Clone, Debug, Serialize)]
pub struct SiteReport {
    /// The host key.
    pub host: HostKey,
    /// Time of the report.
    pub now: Timestamp,
    /// The blocks in force.
    pub blocked: BTreeSet<String>,
    /// The hold in force.
    pub hold: Option<Hold>,
    /// The bot wall in front of the host's pages, if any.
    pub wall: Option<BotWall>,
    /// State of the circuit breaker.
    pub circuit: Circuit,
    /// Number of consecutive failed calls or polls.
    pub failures: u32,
    /// Number of consecutive holds.
    pub holds_in_a_row: u32,
    /// Number of the host's URLs that are on hold by themselves.
    pub urls_left_alone: usize,
    /// Earliest time of the next call.
    pub next_call: Timestamp,
    /// Pace of the calls.
    pub pace: PaceReport,
    /// The lease of the current visit, if any.
    pub lease: Option<Lease>,
    /// Time spent on visits in the latest parts of the visit window.
    pub visited: Vec<WindowPart>,
    /// The host's robots.txt files as last fetched.
    pub robots: Vec<RobotsReport>,
    /// The host's named sites.
    pub sites: Vec<Value>,
    /// The host's feeds.
    pub feeds: Vec<FeedReport>,
    /// The host's back catalogues.
    pub history: Vec<BackfillLine>,
    /// Number of the host's pages by state.
    pub pages: BTreeMap<String, u64>,
    /// Number of the host's rejected pages by reason.
    pub rejected: BTreeMap<&'static str, u64>,
    /// Advice if pages were rejected and none was accepted.
    pub warning: Option<String>,
    /// The host's pages with the latest changes.
    pub latest: Vec<PageReport>,
    /// The host's next jobs.
    pub next: Vec<PlannedJob>,
}

/// A bot wall in front of a host's pages.
#[derive(Clone, Debug, Serialize)]
pub struct BotWall {
    /// Time since which the bot wall has been seen.
    pub since: Timestamp,
    /// Vendor of the bot wall; empty if unknown.
    pub vendor: String,
    /// Product token of the crawler, by which the owner can let it through.
    pub token: String,
}

/// The pace of calls to a host key.
#[derive(Clone, Debug, Serialize)]
pub struct PaceReport {
    /// Minimum time between two calls.
    pub least: Millis,
    /// The rule that sets this minimum.
    pub ruled_by: &'static str,
    /// Crawl-delay of the host's robots.txt.
    pub crawl_delay: Millis,
    /// Response time of the last call.
    pub last_response: Millis,
}

/// A robots.txt file as last fetched.
#[derive(Clone, Debug, Serialize)]
pub struct RobotsReport {
    /// Origin of the file.
    pub origin: String,
    /// Meaning of the last response for the crawler.
    pub standing: String,
    /// Time of the last request.
    pub fetched_at: Timestamp,
    /// Time until which the file is used without another request.
    pub fresh_until: Timestamp,
    /// Number of rules that apply to the crawler.
    pub rules: usize,
    /// Crawl-delay for the crawler, if the file has one.
    pub crawl_delay: Option<Millis>,
    /// First lines of the file that are neither empty nor comments.
    pub lines: Vec<String>,
}

/// A feed of a host key.
#[derive(Clone, Debug, Serialize)]
pub struct FeedReport {
    /// Address of the feed.
    pub url: String,
    /// Time of the last poll that changed the feed's row; a 304 is not recorded.
    pub polled_at: Timestamp,
    /// Interval between polls.
    pub interval: Millis,
    /// Time of the next poll.
    pub next: Option<Timestamp>,
    /// True if polling has stopped.
    pub gone: bool,
    /// Number of consecutive failed calls or polls.
    pub failures: u32,
    /// Description of the last failure.
    pub trouble: Option<String>,
}

/// A page of a host key.
#[derive(Clone, Debug, Serialize)]
pub struct PageReport {
    /// Time of the page's last change.
    pub at: Timestamp,
    /// Address of the page.
    pub url: String,
    /// State of the page.
    pub state: String,
    /// Reason for the state.
    pub why: String,
    /// Feed that named the page.
    pub feed: Option<String>,
}

/// A waiting job, or the next scheduled poll or discovery.
#[derive(Clone, Debug, Serialize)]
pub struct PlannedJob {
    /// Time at which the job is due.
    pub at: Timestamp,
    /// The kind of job.
    pub what: &'static str,
    /// Subject of the job.
    pub about: String,
}

impl Lookup {
    /// Returns the report about a host that a person names by host or address; `None` if nothing is stored about it.
    pub async fn site(&self, name: &str) -> Result<Option<SiteReport>> {
        let Ok(url) = address::parse_typed(name) else { return Ok(None) };
        let Ok(host) = self.politeness.key_of(&url) else { return Ok(None) };
        Ok(Some(gather(self, host, &url).await?).filter(SiteReport::is_known))
    }
}

impl SiteReport {
    fn is_known(&self) -> bool {
        !self.sites.is_empty()
            || !self.feeds.is_empty()
            || !self.pages.is_empty()
            || !self.robots.is_empty()
            || !self.blocked.is_empty()
            || self.hold.is_some()
    }
}

async fn gather(lookup: &Lookup, host: HostKey, url: &Url) -> Result<SiteReport> {
    let politeness = &lookup.politeness;
    let (now, rules) = (politeness.clock.now(), politeness.rules.as_ref());
    let state = skew::host(politeness.ledger.load(&host).await?.0, rules, now);
    let is_ours = |text: &str| Url::parse(text).is_ok_and(|url| politeness.key_of(&url).is_ok_and(|key| key == host));
    let mut origins: BTreeSet<Url> = [url.clone()].into();
    let mut note = |text: &str| {
        if let Some(home) = Url::parse(text).ok().and_then(|url| url.join("/").ok()) {
            origins.insert(home);
        }
    };
    let (mut sites, mut feeds, mut history, mut names) = (vec![], vec![], vec![], BTreeMap::new());
    let (mut by_schedule, is_blocked) = (vec![], state.is_blocked(host.as_str()));
    each_source(lookup.sources.as_ref(), |source| {
        if is_ours(source.url()) {
            note(source.url());
            match &source {
                Source::Site(row) => {
                    by_schedule.extend(next_look(row, now).filter(|_| !is_blocked));
                    sites.push(site(row, now));
                }
                Source::Feed(row) => {
                    let at = schedule::next_poll(row, rules, now).filter(|_| !is_blocked);
                    by_schedule.extend(at.map(|at| PlannedJob { at, what: "poll", about: row.url.clone() }));
                    feeds.push(feed(row, rules, now));
                }
                // An additional slot of a feed; the feed's row is reported.
                Source::Extra(_) => {}
                Source::Backfill(row) => history.push(backfill::line(row, rules)),
            }
        }
        names.insert(source.key().clone(), source.url().to_owned());
    })
    .await?;
    let (mut pages, mut latest): (BTreeMap<String, u64>, Vec<Page>) = Default::default();
    let mut outcomes = PageOutcomes::default();
    each_page(lookup.pages.as_ref(), |page| {
        if page.host == host && !is_guide(&page) {
            note(&page.url);
            *pages.entry(page_state(&page.state).to_owned()).or_default() += 1;
            outcomes.add(&page);
            latest.push(page);
            if latest.len() > 10 * PAGES {
                keep_latest(&mut latest);
            }
        }
    })
    .await?;
    keep_latest(&mut latest);
    let latest = latest.into_iter().map(|page| PageReport {
        at: changed_at(&page),
        state: page_state(&page.state).to_owned(),
        why: why(&page.state).unwrap_or_default(),
        feed: page.feed.and_then(|key| names.get(&key).cloned()),
        url: page.url,
    });
    let robots = robots(lookup, &origins, &state.robots).await?;
    let next = next(lookup, &host, by_schedule, is_ours).await?;
    let (ruled_by, least) = pace::ruled_by(&state, rules);
    let urls_left_alone = state.url_holds.iter().filter(|hold| hold.until > now).count();
    let hold = state.hold_at(now);
    let next_call = pace::next_call_at(&state, rules, now).max(hold.as_ref().map_or(now, |hold| hold.until)).max(now);
    let (vendor, token) = (state.substitutes.vendor, politeness.token.clone());
    let wall = state.substitutes.since.map(|since| BotWall { since, vendor, token });
    Ok(SiteReport {
        host,
        now,
        blocked: state.blocked,
        hold,
        wall,
        circuit: state.circuit,
        failures: state.failures,
        holds_in_a_row: state.holds_in_a_row,
        urls_left_alone,
        next_call,
        pace: PaceReport { least, ruled_by, crawl_delay: state.crawl_delay, last_response: state.last_response },
        lease: state.lease.filter(|lease| lease.until > now),
        visited: state.visited,
        robots,
        sites,
        feeds,
        history,
        pages,
        warning: outcomes.warning(),
        rejected: outcomes.rejected,
        latest: latest.collect(),
        next,
    })
}

fn changed_at(page: &Page) -> Timestamp {
    page.checked_at.unwrap_or(page.at).max(page.at)
}

fn keep_latest(pages: &mut Vec<Page>) {
    pages.sort_by_key(|page| std::cmp::Reverse(changed_at(page)));
    pages.truncate(PAGES);
}

fn site(row: &SiteSource, now: Timestamp) -> Value {
    let state = match &row.state {
        SiteState::Working { .. } => format!("{}; its home page is not searched for feeds again", site_state(row)),
        _ => site_state(row),
    };
    let not_before = (row.not_before > now).then_some(row.not_before);
    json!({"url": row.url, "state": state, "failure": row.failure, "not_before": not_before})
}

fn feed(row: &FeedSource, rules: &Rules, now: Timestamp) -> FeedReport {
    FeedReport {
        url: row.url.clone(),
        polled_at: row.polled_at,
        interval: row.interval,
        next: schedule::next_poll(row, rules, now),
        gone: row.gone,
        failures: row.failures,
        trouble: row.trouble.clone(),
    }
}

/// Returns the next discovery of a site without known feeds, if one is scheduled.
fn next_look(row: &SiteSource, now: Timestamp) -> Option<PlannedJob> {
    let is_due = schedule::site_is_due(row, row.not_before) && row.not_before > now;
    is_due.then(|| PlannedJob { at: row.not_before, what: "discovery", about: row.url.clone() })
}

async fn robots(lookup: &Lookup, origins: &BTreeSet<Url>, notes: &RobotsNotes) -> Result<Vec<RobotsReport>> {
    let politeness = &lookup.politeness;
    let mut found = BTreeMap::new();
    for url in origins {
        let Ok(origin) = address::origin(url) else { continue };
        if let Some(copy) = politeness.robots.get(&origin).await? {
            let copy = as_last_asked(copy, &origin, notes);
            found.insert(origin.to_string(), rules_of(origin.to_string(), &copy, &politeness.token));
        }
    }
    Ok(found.into_values().collect())
}

fn rules_of(origin: String, copy: &RobotsCopy, token: &str) -> RobotsReport {
    let parsed = Robots::parse(&copy.body, token);
    let text = String::from_utf8_lossy(&copy.body);
    let said = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    RobotsReport {
        origin,
        standing: copy.standing.clone(),
        fetched_at: copy.fetched_at,
        fresh_until: copy.fresh_until,
        rules: parsed.len(),
        crawl_delay: parsed.crawl_delay(),
        lines: said.take(ROBOTS_LINES).map(str::to_owned).collect(),
    }
}

async fn next(
    lookup: &Lookup,
    host: &HostKey,
    by_schedule: Vec<PlannedJob>,
    is_ours: impl Fn(&str) -> bool,
) -> Result<Vec<PlannedJob>> {
    let mut next: Vec<PlannedJob> = vec![];
    for waiting in lookup.inbox.waiting(lookup.politeness.clock.now(), JOBS).await? {
        let Ok(job) = waiting.job else { continue };
        let is_of_host = address::host_key_of_work(&job.work, &lookup.politeness.groups).as_ref() == Some(host);
        let what = match &job.work {
            Work::Polls(job) if job.polls.iter().any(|poll| is_ours(&poll.url)) => "poll",
            Work::Polls(_) | Work::Extract(_) => continue,
            _ if !is_of_host => continue,
            Work::Fetch(_) => "visit",
            Work::Poll(_) => "poll",
            Work::Subscribe(_) => "subscribe",
            Work::Backfill(_) => "back catalogue",
            Work::Discover(_) => "discovery",
            Work::Own(_) => "owner's request",
            Work::Deliver(_) => "delivery",
            Work::Remove(_) => "removal",
            Work::TakeUp(_) => "end of a block",
        };
        next.push(PlannedJob { at: waiting.due, what, about: job_subject(&job) });
    }
    // A deferred discovery is already among the waiting jobs.
    let waits = |planned: &PlannedJob| next.iter().any(|job| (job.what, &job.about) == (planned.what, &planned.about));
    let by_schedule: Vec<_> =
        by_schedule.into_iter().filter(|planned| planned.what == "poll" || !waits(planned)).collect();
    next.extend(by_schedule);
    next.sort_by_key(|next| next.at);
    Ok(next)
}
