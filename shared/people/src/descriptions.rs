//! Descriptions of rows and jobs for operators, in English, and matching of typed names with addresses.

use curlew_model::{
    FailureCause, FeedSource, Job, Millis, Page, PageState, SiteSource, SiteState, Work, is_at_or_below,
};
use url::Url;

/// True if `name` is this address (scheme, `www.` and the last slash may differ), its host, or a name above its host.
pub fn is_about(url: &str, name: &str) -> bool {
    let (url, name) = (bare(url), bare(name));
    let host = url.split(['/', '?', ':']).next().unwrap_or_default();
    !name.is_empty() && (url == name || !name.contains(['/', '?']) && is_at_or_below(host, &name))
}

fn bare(address: &str) -> String {
    let rest = address.trim().split_once("://").map_or(address, |(_, rest)| rest);
    let (host, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let host = host.to_ascii_lowercase();
    format!("{}{}", host.strip_prefix("www.").unwrap_or(&host), path.strip_suffix('/').unwrap_or(path))
}

/// Returns the state of a site, with reason and remedy if the site could not be read.
pub fn site_state(site: &SiteSource) -> String {
    let remedy = site.failure.as_ref().and_then(|failure| remedy(failure.cause, &site.url));
    let remedy = remedy.map(|text| format!(" ({text})")).unwrap_or_default();
    match (&site.state, &site.failure) {
        (SiteState::Waiting, None) => "not looked at yet".to_owned(),
        (SiteState::Waiting, Some(failure)) => format!("not reached yet: {failure}{remedy}"),
        (SiteState::Working { feeds }, _) => count(feeds.len() as u64, "feed"),
        (SiteState::Feedless { reason }, _) => format!("no feed: {reason}{remedy}"),
        (SiteState::Refused { reason }, _) => format!("refused: {reason}{remedy}"),
        (SiteState::Replaced { by }, _) => format!("never reached: {by} was named in its place"),
    }
}

/// Returns the name of a page's state.
pub fn page_state(state: &PageState) -> &'static str {
    match state {
        PageState::Pending => "pending",
        PageState::Accepted { .. } => "accepted",
        PageState::Rejected { .. } => "rejected",
        PageState::Gone { .. } => "gone",
        PageState::Alias { .. } => "alias",
    }
}

/// True if a row only maps a text to the first page under a path with that text; the URL of such a row has a fragment.
pub fn is_guide(page: &Page) -> bool {
    matches!(page.state, PageState::Alias { .. }) && page.url.contains('#')
}

/// Returns the state of a feed: its format and interval, or the reason why it is not read.
pub fn feed_state(feed: &FeedSource) -> String {
    match (&feed.trouble, feed.gone) {
        (_, true) => "gone".to_owned(),
        (Some(why), _) if feed.failures == 0 => why.clone(),
        (Some(why), _) => format!("failed {}: {why}", count(feed.failures.into(), "time")),
        (None, _) if feed.interval == Millis::ZERO => "not polled yet".to_owned(),
        (None, _) => {
            let number = feed.faults.count;
            let faults = if number == 0 { String::new() } else { format!(", {}", count(number.into(), "fault")) };
            format!("{}, every {} h{faults}", feed.format, feed.interval.0 / 3_600_000)
        }
    }
}

/// Returns the reason of a rejected or removed page; `None` in other states.
pub fn why(state: &PageState) -> Option<String> {
    match state {
        PageState::Rejected { reason } => Some(reason.to_string()),
        PageState::Gone { reason } => Some(reason.as_str().to_owned()),
        _ => None,
    }
}

/// Returns the subject of a job: a host for visits, an address otherwise.
pub fn job_subject(job: &Job) -> String {
    match &job.work {
        Work::Discover(job) => job.url.clone(),
        Work::Own(job) => job.host.clone(),
        Work::Poll(job) => job.url.clone(),
        Work::Polls(job) => format!("{} feeds", job.polls.len()),
        Work::Subscribe(job) => job.url.clone(),
        Work::Backfill(job) => job.url.clone(),
        Work::Deliver(job) => job.url.clone(),
        Work::Fetch(job) => format!("{} ({})", job.host, count(job.items.len() as u64, "address")),
        Work::Extract(job) => job.url.clone(),
        Work::Remove(job) => job.url.clone(),
        Work::TakeUp(job) => job.host.clone(),
    }
}

/// Returns advice for the person who named an address that failed, if there is any.
pub fn remedy(cause: FailureCause, url: &str) -> Option<String> {
    let parsed = Url::parse(url).ok();
    let host = parsed.as_ref().and_then(Url::host_str).unwrap_or(url);
    let is_https = parsed.as_ref().is_some_and(|url| url.scheme() == "https");
    Some(match cause {
        FailureCause::Dns => format!("check the spelling of {host}"),
        FailureCause::ConnectionRefused | FailureCause::Tls | FailureCause::Timeout if is_https => {
            format!("if the site has no TLS, name it as http://{host}/")
        }
        FailureCause::ConnectionRefused | FailureCause::Timeout | FailureCause::Network | FailureCause::Tls => {
            format!("check in a browser that {host} answers")
        }
        FailureCause::NoFeed | FailureCause::Status | FailureCause::Redirect => {
            let is_home = parsed.as_ref().is_none_or(|url| url.path() == "/");
            let home = if is_home { "" } else { "if it is a page of a site, name the site's home page; " };
            format!("{home}if it has a feed, name it with `curlew crawl --feed URL`")
        }
        FailureCause::Robots | FailureCause::RobotsUnavailable => {
            "its robots.txt has to let the crawler in; nothing here overrides that".to_owned()
        }
        FailureCause::Held => format!("`curlew sites show {host}` says why"),
        FailureCause::Blocked => format!("`curlew unblock {host}` takes the block back"),
        FailureCause::Excluded => "a setting of [exclude] says so".to_owned(),
        FailureCause::Address | FailureCause::Broken => return None,
    })
}

/// Returns a number with the noun that it counts: `1 page`, `2 pages`, `0 entries`.
pub fn count(number: u64, noun: &str) -> String {
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) if noun.ends_with('s') => format!("{number} {noun}es"),
        (_, None) => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_about_an_address_by_its_host_or_without_its_trimmings() {
        let url = "https://www.Example.org/feed/";
        let names = "example.org www.example.org EXAMPLE.org/feed http://example.org/feed https://example.org/";
        for name in names.split(' ').chain([url]) {
            assert!(is_about(url, name), "{name}");
        }
        for name in ["", "ample.org", "example.org/fee", "blog.example.org", "example.org/other", "https://"] {
            assert!(!is_about(url, name), "{name}");
        }
        assert!(is_about("http://blog.example.org:8080/?feed=rss", "example.org"));
    }
}
