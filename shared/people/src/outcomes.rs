//! Numbers of accepted and rejected pages of each feed, with advice for feeds whose pages were all rejected.

use curlew_catalog::listing::pages_from;
use curlew_model::{Page, PageState, SiteState, Source, SourceKey};
use curlew_ports::{Pages, PortError};
use serde::Serialize;
use std::collections::BTreeMap;

/// Numbers of accepted and rejected pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PageOutcomes {
    /// Number of pages that were accepted; some may have been removed since.
    pub accepted: u64,
    /// Number of rejected pages by the code of the reason.
    pub rejected: BTreeMap<&'static str, u64>,
}

impl PageOutcomes {
    /// Counts a page according to its state.
    pub fn add(&mut self, page: &Page) {
        match &page.state {
            PageState::Accepted { .. } | PageState::Gone { .. } => self.accepted += 1,
            PageState::Rejected { reason } => *self.rejected.entry(reason.code()).or_default() += 1,
            PageState::Pending | PageState::Alias { .. } => {}
        }
    }

    /// Adds the counts of other pages.
    pub fn add_all(&mut self, other: &PageOutcomes) {
        self.accepted += other.accepted;
        other.rejected.iter().for_each(|(code, number)| *self.rejected.entry(code).or_default() += number);
    }

    /// Returns the counts in words; `None` if no page was accepted or rejected.
    pub fn words(&self) -> Option<String> {
        let (accepted, rejected) = (self.accepted, self.rejected.values().sum::<u64>());
        (accepted + rejected > 0).then(|| format!("{accepted} accepted, {rejected} rejected"))
    }

    /// Returns the most common reason and its remedy if pages were rejected and none was accepted.
    pub fn warning(&self) -> Option<String> {
        let (code, number) = self.rejected.iter().max_by_key(|(_, number)| **number).filter(|_| self.accepted == 0)?;
        let all: u64 = self.rejected.values().sum();
        let which = if *number == all { format!("all {all}") } else { format!("{number} of {all}") };
        let (why, remedy) = match *code {
            "noindex" => {
                ("ask not to be indexed", "`curlew crawl --feed URL` names a feed of other pages, if there is one")
            }
            "no_image" => ("have no image", "`[pages] image = \"optional\"` in the settings takes pages without one"),
            "short_text" => ("have too little text", "they may show their text to browsers with scripts only"),
            "robots" => ("are forbidden by robots.txt", "it has to let the crawler in; nothing here overrides that"),
            "not_found" | "gone" | "soft_404" => {
                ("are not there", "look in a browser whether the links of the feed work")
            }
            _ => ("were rejected for one reason", "`curlew pages` lists the reason of each"),
        };
        Some(format!("no page was accepted; {which} {why} ({code}): {remedy}"))
    }
}

/// Returns the outcomes of pages by the feed that first named them; `None` if there are more than `most` pages.
pub async fn by_feed(pages: &dyn Pages, most: usize) -> Result<Option<BTreeMap<SourceKey, PageOutcomes>>, PortError> {
    let mut outcomes: BTreeMap<SourceKey, PageOutcomes> = BTreeMap::new();
    let left = pages_from(pages, None, most, |page| {
        if let Some(feed) = &page.feed {
            outcomes.entry(feed.clone()).or_default().add(&page);
        }
        true
    })
    .await?;
    Ok(left.is_none().then_some(outcomes))
}

/// Returns the outcomes of the pages of a feed, or of all feeds of a site.
pub fn of_source(outcomes: &BTreeMap<SourceKey, PageOutcomes>, source: &Source) -> PageOutcomes {
    let feeds = match source {
        Source::Site(site) => match &site.state {
            SiteState::Working { feeds } => &feeds[..],
            _ => &[],
        },
        other => std::slice::from_ref(other.key()),
    };
    let mut sum = PageOutcomes::default();
    for one in feeds.iter().filter_map(|feed| outcomes.get(feed)) {
        sum.add_all(one);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commonest_reason_is_told_where_no_page_was_accepted() {
        let rejected = |reasons: &[(&'static str, u64)]| PageOutcomes {
            rejected: reasons.iter().copied().collect(),
            ..PageOutcomes::default()
        };
        let all = rejected(&[("noindex", 26)]);
        assert_eq!(all.words().as_deref(), Some("0 accepted, 26 rejected"));
        assert!(all.warning().is_some_and(|told| told.contains("all 26 ask not to be indexed (noindex)")));
        let most = rejected(&[("noindex", 2), ("no_image", 7)]);
        assert!(most.warning().is_some_and(|told| told.contains("7 of 9 have no image") && told.contains("optional")));
        assert_eq!(PageOutcomes { accepted: 1, ..most }.warning(), None);
        assert_eq!((rejected(&[]).warning(), rejected(&[]).words()), (None, None));
    }
}
