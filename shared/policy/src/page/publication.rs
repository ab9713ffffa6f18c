//! Derives the publication date of a page from the statements of the page and its feed.

use curlew_model::{Millis, Timestamp};

/// Maximum distance of a day's bounds from those of the same day in UTC: time zones reach from UTC-12 to UTC+14.
const ZONES: Millis = Millis::from_hours(14);

/// Returns the publication date of a page: the one that it states itself, or else the one in its feed. If the page
/// states a day only, stored as its midnight, and the feed an instant on this day in some time zone, the instant is
/// returned.
pub fn at(page: Option<Timestamp>, feed: Option<Timestamp>) -> Option<Timestamp> {
    match (page, feed) {
        (Some(page), Some(feed)) if is_midnight(page) && is_on_day(page, feed) => Some(feed),
        (page, feed) => page.or(feed),
    }
}

fn is_midnight(at: Timestamp) -> bool {
    at.as_millis().rem_euclid(Millis::from_days(1).0.cast_signed()) == 0
}

fn is_on_day(midnight: Timestamp, at: Timestamp) -> bool {
    at >= midnight - ZONES && at < midnight + Millis::from_days(1) + ZONES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(page: &str, feed: &str) -> Option<String> {
        let read = |text: &str| text.parse::<Timestamp>().ok();
        at(read(page), read(feed)).map(|at| at.to_string())
    }

    #[test]
    fn the_feeds_instant_counts_where_the_page_names_its_day_alone() {
        let day = "2026-10-29T00:00:00Z";
        for same in ["2026-10-29T05:30:00Z", "2026-10-28T10:00:00Z", "2026-10-30T13:59:59Z", day] {
            assert_eq!(told(day, same).as_deref(), Some(same));
        }
        for other in ["2026-10-28T09:59:59Z", "2026-10-30T14:00:00Z", "2025-10-29T05:30:00Z", ""] {
            assert_eq!(told(day, other).as_deref(), Some(day), "{other}");
        }
        let exact = "2026-10-29T08:15:00Z";
        assert_eq!(told(exact, "2026-10-29T05:30:00Z").as_deref(), Some(exact), "the page knows best");
        assert_eq!(told("", exact).as_deref(), Some(exact));
        assert_eq!(told("", ""), None);
    }
}
