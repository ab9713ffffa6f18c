//! `curlew sites show HOST`: shows the stored state of a host key, and its next jobs.

use crate::history;
use crate::output::{self, ADDRESS, count, counted, length, printable};
use crate::world::World;
use anyhow::Result;
use curlew_model::{Circuit, Hold, Timestamp};
use curlew_people::site_report::{BotWall, PaceReport, RobotsReport, SiteReport};
use serde_json::Value;
use url::Url;

/// Shows the state of a host. Returns false if nothing is known about it.
pub(super) async fn show(world: &World, name: &str, as_json: bool) -> Result<bool> {
    let Some(report) = world.desk.lookup.site(name).await? else { return Ok(false) };
    if as_json {
        output::json(&report)?
    } else {
        print(&report)?
    }
    Ok(true)
}

fn print(report: &SiteReport) -> Result<()> {
    output::line(format!("host key      {}", report.host))?;
    for name in &report.blocked {
        output::line(format!("blocked       {name}: never contacted, and hidden from search"))?;
    }
    match &report.hold {
        Some(Hold { until, reason, since }) => {
            let (reason, times) = (reason.as_str(), report.holds_in_a_row);
            output::line(format!("held          until {until} ({reason}, since {since}; {times} in a row)"))?;
        }
        None => output::line("held          no")?,
    }
    if let Some(BotWall { since, vendor, token }) = &report.wall {
        let vendor = if vendor.is_empty() { String::new() } else { format!(" ({vendor})") };
        output::line(format!(
            "bot wall      since {since}{vendor}; its pages wait. The owner of the site can allow {token}, by its \
             user agent or its signature"
        ))?;
    }
    let circuit = match (report.circuit, report.hold.is_some()) {
        (Circuit::Closed, _) => "closed",
        (Circuit::Probe, true) => "open",
        (Circuit::Probe, false) => "half open: the next call decides",
    };
    let missed = count(report.failures.into(), "call");
    output::line(format!("circuit       {circuit}; {missed} in a row could not reach it"))?;
    if report.urls_left_alone > 0 {
        output::line(format!("held URLs     {}, after 403, 5xx or incomplete answers", report.urls_left_alone))?;
    }
    let PaceReport { least, ruled_by, crawl_delay, last_response } = &report.pace;
    output::line(format!(
        "pace          at least {} between calls, set by {ruled_by} (Crawl-delay {}, last answer took {})",
        length(*least),
        length(*crawl_delay),
        length(*last_response)
    ))?;
    output::line(format!("next call     not before {}", report.next_call))?;
    if let Some(lease) = &report.lease {
        output::line(format!("under way     {} until {} at the latest", lease.owner, lease.until))?;
    }
    print_robots(report)?;
    print_sources(report)?;
    history::print(&report.history, "history       ")?;
    let pages = counted(&report.pages);
    output::line(format!("pages         {}", if pages.is_empty() { "none" } else { &pages }))?;
    if !report.rejected.is_empty() {
        output::line(format!("rejected      {}", counted(&report.rejected)))?;
    }
    if let Some(warning) = &report.warning {
        output::line(format!("warning       {warning}"))?;
    }
    for page in &report.latest {
        let feed = page.feed.as_deref().map(|feed| format!("  named by {}", printable(feed, ADDRESS)));
        let why = if page.why.is_empty() { String::new() } else { format!("  {}", printable(&page.why, ADDRESS)) };
        let (url, feed) = (printable(&page.url, ADDRESS), feed.unwrap_or_default());
        output::line(format!("  {}  {:8}  {url}{why}{feed}", page.at, page.state))?;
    }
    output::line(if report.next.is_empty() { "next          nothing is planned" } else { "next" })?;
    for next in &report.next {
        output::line(format!("  {}  {:9}  {}", next.at, next.what, printable(&next.about, ADDRESS)))?;
    }
    Ok(())
}

fn print_robots(report: &SiteReport) -> Result<()> {
    for robots in &report.robots {
        let RobotsReport { origin, standing, fetched_at, fresh_until, rules, lines, crawl_delay: _ } = robots;
        // `Url` leaves out the default port of the scheme.
        let plain = Url::parse(origin).map_or(origin.clone(), |url| url.as_str().trim_end_matches('/').to_owned());
        let rules = count(*rules as u64, "rule");
        output::line(format!(
            "robots.txt    {plain}: {standing}, {rules} for us, fetched {fetched_at}, valid until {fresh_until}"
        ))?;
        lines.iter().try_for_each(|line| output::line(format!("  {}", printable(line, ADDRESS))))?;
    }
    Ok(())
}

fn print_sources(report: &SiteReport) -> Result<()> {
    for site in &report.sites {
        let text = |name: &str, most| printable(site.get(name).and_then(Value::as_str).unwrap_or_default(), most);
        output::line(format!("site          {}  {}", text("url", ADDRESS), text("state", 2 * ADDRESS)))?;
        if let Some(at) = site.get("not_before").and_then(Value::as_str) {
            output::line(format!("                checked again from {at}"))?;
        }
    }
    for feed in &report.feeds {
        let state = match (&feed.trouble, feed.gone) {
            (_, true) => "gone".to_owned(),
            (Some(why), _) => printable(why, ADDRESS),
            (None, _) if feed.polled_at == Timestamp::MIN => "not polled yet".to_owned(),
            (None, _) => format!("every {}, last change seen {}", length(feed.interval), feed.polled_at),
        };
        output::line(format!("feed          {}  {state}", printable(&feed.url, ADDRESS)))?;
    }
    Ok(())
}
