//! `curlew sites show HOST`: shows the stored state of one host key, and its next jobs.

use crate::history;
use crate::output::{self, ADDRESS, count, length, printable};
use crate::world::World;
use anyhow::Result;
use curlew_model::Timestamp;
use curlew_people::site_report::{BotWall, PaceReport, RobotsReport, SiteReport};
use serde_json::Value;
use url::Url;

/// Shows a host; returns false if nothing is known of it.
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
    if let Some(BotWall { since, vendor, token }) = &report.wall {
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
    let PaceReport { least, ruled_by, crawl_delay, last_response } = &report.pace;
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
    if !report.rejected.is_empty() {
        let reasons: Vec<String> = report.rejected.iter().map(|(why, number)| format!("{number} {why}")).collect();
        output::line(&format!("rejected      {}", reasons.join(", ")))?;
    }
    if let Some(warning) = &report.warning {
        output::line(&format!("warning       {warning}"))?;
    }
    for page in &report.latest {
        let feed =
            page.feed.as_deref().map(|feed| format!("  named by {}", printable(feed, ADDRESS))).unwrap_or_default();
        let why = if page.why.is_empty() { String::new() } else { format!("  {}", printable(&page.why, ADDRESS)) };
        output::line(&format!("  {}  {:8}  {}{why}{feed}", page.at, page.state, printable(&page.url, ADDRESS)))?;
    }
    output::line(if report.next.is_empty() { "next          nothing is planned" } else { "next" })?;
    for next in &report.next {
        output::line(&format!("  {}  {:9}  {}", next.at, next.what, printable(&next.about, ADDRESS)))?;
    }
    Ok(())
}

/// Returns an origin as people write it: without its scheme's default port.
fn plain(origin: &str) -> String {
    Url::parse(origin).map_or_else(|_| origin.to_owned(), |url| url.as_str().trim_end_matches('/').to_owned())
}

fn print_robots(report: &SiteReport) -> Result<()> {
    for rules in &report.robots {
        let RobotsReport { origin, standing, fetched_at, fresh_until, rules, lines, crawl_delay: _ } = rules;
        output::line(&format!(
            "robots.txt    {}: {standing}, {} for us, asked {fetched_at}, good until {fresh_until}",
            plain(origin),
            count(*rules as u64, "rule")
        ))?;
        for line in lines {
            output::line(&format!("  {}", printable(line, ADDRESS)))?;
        }
    }
    Ok(())
}

fn print_sources(report: &SiteReport) -> Result<()> {
    for site in &report.sites {
        let text = |name: &str| site.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        output::line(&format!(
            "site          {}  {}",
            printable(&text("url"), ADDRESS),
            printable(&text("state"), 2 * ADDRESS)
        ))?;
        if let Some(at) = site.get("not_before").and_then(Value::as_str) {
            output::line(&format!("                looked at again from {at}"))?;
        }
    }
    for feed in &report.feeds {
        let state = match (&feed.trouble, feed.gone) {
            (_, true) => "gone".to_owned(),
            (Some(why), _) => printable(why, ADDRESS),
            (None, _) if feed.polled_at == Timestamp::MIN => "not polled yet".to_owned(),
            (None, _) => format!("every {}, last change seen {}", length(feed.interval), feed.polled_at),
        };
        output::line(&format!("feed          {}  {state}", printable(&feed.url, ADDRESS)))?;
    }
    Ok(())
}
