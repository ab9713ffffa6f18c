//! Sample jobs and rows for tests.

use curlew_model::{
    EntryHints, ExtractJob, HostKey, Job, PageBody, PollJob, SiteSource, SiteState, Slot, SourceKey, StatedPreferences,
    Timestamp, Validators, Work,
};
use curlew_policy::address;
use url::Url;

/// Returns a job for the poll queue that is identified by its number.
///
/// # Panics
/// Never.
pub fn poll(n: u64) -> Job {
    let feed = SourceKey::new(&format!("{n:032x}")).expect("a source key");
    Job::new(PollJob::new(feed, format!("https://example.org/feed/{n}")))
}

/// Returns the number of a job from [`poll`].
///
/// # Panics
/// If it is an error or another job.
pub fn poll_number(job: &Result<Job, String>) -> u64 {
    match job {
        Ok(Job { work: Work::Poll(job), .. }) => u64::from_str_radix(job.feed.as_str(), 16).expect("a number"),
        other => panic!("{other:?}"),
    }
}

/// Returns the extract job of a page at this address, with no information except its body.
///
/// # Panics
/// If `url` is not a URL with a host.
pub fn page(url: &str, body: PageBody) -> ExtractJob {
    let parsed = Url::parse(url).expect("a URL");
    ExtractJob {
        page: address::page_id(&parsed),
        host: HostKey::new(parsed.host_str().expect("a host")).expect("a host key"),
        url: url.to_owned(),
        final_url: url.to_owned(),
        feed: None,
        named_by: None,
        hints: EntryHints::default(),
        site_image: None,
        content_type: None,
        robots_tags: Vec::new(),
        preferences: StatedPreferences::default(),
        body,
        fetched_at: Timestamp::EPOCH,
        image: None,
        calls_left: 0,
        validators: Validators::default(),
        exchange: None,
        is_without_row: false,
        replaces: None,
    }
}

/// Returns the row of a new site that has not been searched for feeds.
pub fn site(key: SourceKey, slot: Slot, url: &str) -> SiteSource {
    SiteSource {
        key,
        slot,
        url: url.to_owned(),
        state: SiteState::Waiting,
        image: None,
        not_before: Timestamp::MIN,
        failures: 0,
        failure: None,
    }
}
