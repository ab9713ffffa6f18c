//! Named sites and feeds that could not be read, with reasons and remedies for the person who named them.

use crate::output::{self, ADDRESS, printable};
use anyhow::Result;
use curlew_model::{Failure, FailureCause, FeedSource, Hold, SiteSource, SiteState, Source, Timestamp};
use curlew_people::descriptions::remedy;
use serde::Serialize;

/// Maximum number of failures in a summary for people.
const MOST: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Failed {
    kind: &'static str,
    pub(super) url: String,
    /// Kind of failure. For a feed, known only if its host is on hold, because the row stores only a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cause: Option<FailureCause>,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
    /// Time from which Curlew's schedule tries again.
    #[serde(skip_serializing_if = "Option::is_none")]
    again_at: Option<Timestamp>,
    /// True if the crawl failed; a site's preference and a hold are not failures.
    #[serde(skip)]
    pub(super) is_failure: bool,
}

impl Failed {
    /// Returns the failure of a source, if any. `hold` is the hold of the source's host key.
    pub(super) fn new(source: &Source, hold: Option<&Hold>, is_offline: bool) -> Option<Failed> {
        match source {
            Source::Site(site) => Failed::site(site, hold, is_offline),
            Source::Feed(feed) => Failed::feed(feed, hold),
            Source::Extra(_) | Source::Backfill(_) => None,
        }
    }

    fn site(site: &SiteSource, hold: Option<&Hold>, is_offline: bool) -> Option<Failed> {
        let failure = match (&site.state, &site.failure) {
            (SiteState::Replaced { .. }, _) => return None,
            (SiteState::Working { .. }, _) => held(hold)?,
            (_, Some(failure)) => failure.clone(),
            (SiteState::Feedless { reason } | SiteState::Refused { reason }, None) => {
                Failure::new(FailureCause::NoFeed, reason.as_str())
            }
            (SiteState::Waiting, None) if is_offline => {
                Failure::from("most hosts are out of reach: your own network seems to be down")
            }
            (SiteState::Waiting, None) => held(hold)?,
        };
        let cause = failure.cause;
        let is_failure = match site.state {
            SiteState::Waiting => cause.is_unreached() || matches!(cause, FailureCause::Broken | FailureCause::Address),
            _ => !cause.is_wanted(),
        };
        let again_at = hold.map_or(site.not_before, |hold| hold.until.max(site.not_before));
        Some(Failed {
            kind: "site",
            url: site.url.clone(),
            cause: Some(cause),
            reason: failure.detail,
            remedy: remedy(cause, &site.url),
            again_at: Some(again_at).filter(|at| *at > Timestamp::MIN),
            is_failure,
        })
    }

    fn feed(feed: &FeedSource, hold: Option<&Hold>) -> Option<Failed> {
        let held = held(hold);
        let remedy = match &feed.trouble {
            Some(_) => {
                format!("open it in a browser; if it is a page, crawl it as a site: `curlew crawl {}`", feed.url)
            }
            None => format!("`curlew feeds show {}` shows when it is polled next", feed.url),
        };
        Some(Failed {
            kind: "feed",
            url: feed.url.clone(),
            cause: held.as_ref().map(|held| held.cause),
            reason: feed.trouble.clone().or_else(|| held.map(|held| held.detail))?,
            remedy: Some(remedy),
            again_at: (!feed.gone && feed.not_before > Timestamp::MIN).then_some(feed.not_before),
            is_failure: hold.is_none(),
        })
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines =
            vec![format!("          {}: {}", printable(&self.url, ADDRESS), printable(&self.reason, 2 * ADDRESS))];
        let again = self.again_at.map(|at| format!("tried again from {}", output::when(at)));
        let advice: Vec<String> = self.remedy.iter().map(|text| printable(text, 2 * ADDRESS)).chain(again).collect();
        if !advice.is_empty() {
            lines.push(format!("            {}", advice.join("; ")));
        }
        lines
    }
}

pub(super) fn print(failed: &[Failed]) -> Result<()> {
    let Some(first) = failed.first() else { return Ok(()) };
    let kinds = if failed.iter().all(|other| other.kind == first.kind) { first.kind } else { "source" };
    output::line(format!("failed    {}", output::count(failed.len() as u64, kinds)))?;
    failed.iter().take(MOST).try_for_each(|one| one.lines().iter().try_for_each(output::line))?;
    if failed.len() > MOST {
        output::line(format!("          and {} more: see `curlew sites`", failed.len() - MOST))?;
    }
    Ok(())
}

fn held(hold: Option<&Hold>) -> Option<Failure> {
    let Hold { until, reason, .. } = hold?;
    let detail = format!("the host is on hold until {} ({})", output::when(*until), reason.as_str());
    Some(Failure::new(FailureCause::Held, detail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use curlew_model::{HoldReason, Slot};
    use curlew_policy::address;
    use url::Url;

    fn site(url: &str, state: SiteState, failure: Option<Failure>) -> Source {
        let key = address::source_key(&Url::parse(url).unwrap_or_else(|e| panic!("{e}")));
        let (slot, not_before) = (Slot::from_hash(0), Timestamp::MIN);
        Source::Site(SiteSource { key, slot, url: url.into(), state, image: None, not_before, failures: 0, failure })
    }

    #[test]
    fn a_site_says_why_it_failed_and_what_to_do() {
        for (cause, url, remedy, is_failure) in [
            (FailureCause::Dns, "https://nosuch.example/", Some("check the spelling of nosuch.example"), true),
            (FailureCause::ConnectionRefused, "https://a.example/", Some("name it as http://a.example/"), true),
            (FailureCause::Tls, "https://a.example/", Some("name it as http://a.example/"), true),
            (FailureCause::Timeout, "https://a.example/", Some("name it as http://a.example/"), true),
            (FailureCause::Timeout, "http://a.example/", Some("a.example answers"), true),
            (FailureCause::Robots, "http://a.example/", Some("robots.txt"), false),
            (FailureCause::Held, "http://a.example/", Some("curlew sites show a.example"), false),
            (FailureCause::Address, "http://a.example/", None, true),
        ] {
            let source = site(url, SiteState::Waiting, Some(Failure::new(cause, "so it is")));
            let failed = Failed::new(&source, None, false).unwrap_or_else(|| panic!("{cause:?} is a failure"));
            assert_eq!(failed.is_failure, is_failure, "{cause:?}");
            assert_eq!(failed.remedy.is_some(), remedy.is_some(), "{cause:?}");
            assert!(failed.remedy.as_deref().unwrap_or("").contains(remedy.unwrap_or("")), "{failed:?}");
            let lines = failed.lines().concat();
            assert!(lines.contains(url) && lines.contains("so it is"), "{lines}");
        }
    }

    #[test]
    fn a_site_without_a_feed_fails_and_one_that_works_does_not_unless_its_host_is_held() {
        let reason = "no feed is named".to_owned();
        let feedless = site("http://a.example/", SiteState::Feedless { reason }, None);
        let failed = Failed::new(&feedless, None, false).unwrap_or_else(|| panic!("it has no feed"));
        assert!(failed.is_failure && failed.remedy.is_some_and(|text| text.starts_with("if it has a feed")));
        let of_a_page = remedy(FailureCause::NoFeed, "http://a.example/a/post").unwrap_or_default();
        assert!(of_a_page.contains("home page") && of_a_page.contains("--feed"), "{of_a_page}");
        let working = site("http://a.example/", SiteState::Working { feeds: vec![] }, None);
        assert_eq!(Failed::new(&working, None, false), None);
        let replaced = site("https://a.example/", SiteState::Replaced { by: "http://a.example/".into() }, None);
        assert_eq!(Failed::new(&replaced, None, true), None);
        let hold = Hold { until: Timestamp::MAX, reason: HoldReason::TooManyRequests, since: Timestamp::MIN };
        let held = Failed::new(&working, Some(&hold), false).unwrap_or_else(|| panic!("its host is held"));
        assert!(!held.is_failure && held.reason.contains("too_many_requests"), "{held:?}");
        let untried = site("http://a.example/", SiteState::Waiting, None);
        assert_eq!(Failed::new(&untried, None, false), None);
        assert!(Failed::new(&untried, None, true).is_some_and(|failed| failed.reason.contains("your own network")));
    }
}
