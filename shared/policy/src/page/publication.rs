//! Derives the publication date of a page from the statements of the page and its feed.

use curlew_model::{Confidence, Millis, Timestamp};

/// Maximum offset of a time zone from UTC: zones range from UTC-12 to UTC+14.
const ZONES: Millis = Millis::from_hours(14);

/// Date of publication that a page states.
#[derive(Clone, Copy, Debug)]
pub struct PageDate {
    /// The instant; midnight in UTC if the page states only a day.
    pub at: Timestamp,
    /// Reliability of the place in the page from which the date was read.
    pub confidence: Confidence,
}

/// Returns the publication date: the page's date from markup, URL or headline, else the feed's date, else a guess from
/// the text. If the page states only a day, and the feed an instant on it in some time zone, returns the instant.
pub fn at(page: Option<PageDate>, feed: Option<Timestamp>) -> Option<Timestamp> {
    let day = Millis::from_days(1);
    let is_better = |page: PageDate, feed: Timestamp| {
        let is_day = page.at.as_millis().rem_euclid(day.0.cast_signed()) == 0;
        page.confidence == Confidence::Low || (is_day && (page.at - ZONES..page.at + day + ZONES).contains(&feed))
    };
    match (page, feed) {
        (Some(page), Some(feed)) if is_better(page, feed) => Some(feed),
        (page, feed) => page.map(|page| page.at).or(feed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(page: &str, confidence: Confidence, feed: &str) -> Option<String> {
        let read = |text: &str| text.parse::<Timestamp>().ok();
        at(read(page).map(|at| PageDate { at, confidence }), read(feed)).map(|at| at.to_string())
    }

    #[test]
    fn the_feed_is_believed_before_a_guess() {
        let (guess, feed) = ("2024-02-29T00:00:00Z", "2026-05-01T10:00:00Z");
        assert_eq!(published(guess, Confidence::Low, feed).as_deref(), Some(feed));
        assert_eq!(published(guess, Confidence::Low, "").as_deref(), Some(guess));
        assert_eq!(published(guess, Confidence::Medium, feed).as_deref(), Some(guess));
    }

    #[test]
    fn the_feeds_instant_counts_where_the_page_names_its_day_alone() {
        let (day, exact) = ("2026-10-29T00:00:00Z", "2026-10-29T08:15:00Z");
        let same =
            ["2026-10-29T05:30:00Z", "2026-10-28T10:00:00Z", "2026-10-30T13:59:59Z", day].map(|at| (day, at, at));
        let others =
            ["2026-10-28T09:59:59Z", "2026-10-30T14:00:00Z", "2025-10-29T05:30:00Z", ""].map(|at| (day, at, day));
        let rest = [(exact, same[0].1, exact), ("", exact, exact), ("", "", "")];
        for (page, feed, expected) in same.into_iter().chain(others).chain(rest) {
            for confidence in [Confidence::Medium, Confidence::High] {
                assert_eq!(published(page, confidence, feed).unwrap_or_default(), expected, "{page} {feed}");
            }
        }
    }
}
