//! Rows of the store, one after another, and their descriptions for people.

use super::failures;
use crate::output::{self, ADDRESS, shown};
use crate::world::{LIST, World};
use anyhow::Result;
use curlew_model::{Job, Page, PageId, PageState, SiteSource, SiteState, is_at_or_below};

/// Visits all rows of pages, one after another.
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

/// True if a person who types `name` means this address: by its host, or by the address with or without scheme, `www.`
/// and the last slash.
pub(super) fn is_about(url: &str, name: &str) -> bool {
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

/// Returns the state of a site; for one that could not be read also the reason and the remedy.
pub(super) fn site_state(site: &SiteSource) -> String {
    let remedy = site.failure.as_ref().and_then(|failure| failures::remedy(failure.cause, &site.url));
    let remedy = remedy.map(|text| format!(" ({text})")).unwrap_or_default();
    match (&site.state, &site.failure) {
        (SiteState::Waiting, None) => "not looked at yet".to_owned(),
        (SiteState::Waiting, Some(failure)) => format!("not reached yet: {failure}{remedy}"),
        (SiteState::Working { feeds }, _) => output::count(feeds.len() as u64, "feed"),
        (SiteState::Feedless { reason }, _) => format!("no feed: {reason}{remedy}"),
        (SiteState::Refused { reason }, _) => format!("refused: {reason}{remedy}"),
        (SiteState::Replaced { by }, _) => format!("never reached: {by} was named in its place"),
    }
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

/// Returns the reason why a page is not found, if it is not.
pub(super) fn why(state: &PageState) -> String {
    match state {
        PageState::Rejected { reason } => format!("  {}", shown(&reason.to_string(), ADDRESS)),
        PageState::Gone { reason } => format!("  {}", reason.as_str()),
        _ => String::new(),
    }
}

/// Returns the subject of a job: a host for visits, an address otherwise.
pub(super) fn about(job: &Job) -> String {
    match job {
        Job::Discover(job) => job.url.clone(),
        Job::Own(job) => job.host.clone(),
        Job::Poll(job) => job.url.clone(),
        Job::Subscribe(job) => job.url.clone(),
        Job::Backfill(job) => job.url.clone(),
        Job::Deliver(job) => job.url.clone(),
        Job::Fetch(job) => format!("{} ({})", job.host, output::count(job.items.len() as u64, "address")),
        Job::Extract(job) => job.url.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_about_an_address_by_its_host_or_without_its_trimmings() {
        let url = "https://www.Example.org/feed/";
        for name in [
            "example.org",
            "www.example.org",
            "EXAMPLE.org/feed",
            "http://example.org/feed",
            url,
            "https://example.org/",
        ] {
            assert!(is_about(url, name), "{name}");
        }
        for name in ["", "ample.org", "example.org/fee", "blog.example.org", "example.org/other", "https://"] {
            assert!(!is_about(url, name), "{name}");
        }
        assert!(is_about("http://blog.example.org:8080/?feed=rss", "example.org"));
    }
}
