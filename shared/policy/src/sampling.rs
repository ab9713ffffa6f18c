//! Which indexed pages are re-checked, and what the answer means.

use crate::Rules;
use curlew_model::{Gone, Page, PageState, Timestamp};

/// Whether an accepted page may be re-checked now.
pub fn is_candidate(page: &Page, rules: &Rules, now: Timestamp) -> bool {
    matches!(page.state, PageState::Accepted { .. }) && now >= page.checked_at.unwrap_or(page.at) + rules.recheck_after
}

/// What a re-check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recheck {
    /// It is still there and may still be found.
    Present,
    /// It must not be found any more.
    Gone(Gone),
    /// The answer says nothing; the page stays and is asked again another time.
    Unknown,
}

/// What a status says of a page that was there before. Server trouble says nothing.
pub const fn by_status(status: u16) -> Recheck {
    match status {
        200 | 304 => Recheck::Present,
        404 => Recheck::Gone(Gone::NotFound),
        410 => Recheck::Gone(Gone::Gone),
        _ => Recheck::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_not_found_and_gone_remove() {
        assert_eq!(by_status(404), Recheck::Gone(Gone::NotFound));
        assert_eq!(by_status(410), Recheck::Gone(Gone::Gone));
        for status in [401, 403, 429, 500, 503, 301] {
            assert_eq!(by_status(status), Recheck::Unknown, "{status}");
        }
        assert_eq!(by_status(200), Recheck::Present);
    }
}
