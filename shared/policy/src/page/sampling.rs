//! Which indexed pages are re-checked, and what the answer means.

use crate::rules::Rules;
use curlew_model::{Gone, Millis, Page, PageState, Timestamp};
use std::cmp::Reverse;

/// Of so many indexed pages one is re-checked a day, so that each has its turn in 150 days.
const ONE_IN: u64 = 150;
/// So many times as many pages are weighed as are chosen.
const WEIGHED: usize = 3;

/// Maximum number of pages that one poll has re-checked since their entries have changed; the others follow with the next.
const LOOKED_INTO_PER_POLL: usize = 10;
/// Number of entries of a feed from which on it tells something if most of them have changed.
const TELLING_ENTRIES: usize = 4;
/// How long a doubt counts: longer than a host is held however often, so that only one is left out whose second look was
/// given up.
const DOUBT_LASTS: Millis = Millis::from_days(90);

/// True if an accepted page may be re-checked now.
pub fn is_candidate(page: &Page, rules: &Rules, now: Timestamp) -> bool {
    matches!(page.state, PageState::Accepted { .. }) && now >= last_seen(page) + rules.recheck_after
}

/// How many pages a day are re-checked of so many that are indexed, at the default rate; at least `least`.
pub fn a_day(indexed: u64, least: usize) -> usize {
    usize::try_from(indexed.div_ceil(ONE_IN)).unwrap_or(usize::MAX).max(least)
}

/// How many candidates are weighed to choose so many pages: over a few samples each page is weighed once, wherever it lies.
pub fn to_weigh(count: usize) -> usize {
    count.saturating_mul(WEIGHED)
}

/// The pages to re-check, out of some candidates: at most `count`, those first that were not looked at for the longest time,
/// where one that was never re-checked counts double; and, if `all_due`, besides them every page that is due by
/// `recheck_within`.
pub fn choose(mut pages: Vec<Page>, count: usize, all_due: bool, rules: &Rules, now: Timestamp) -> Vec<Page> {
    pages.sort_by_cached_key(|page| (Reverse(neglect(page, now)), page.id.clone()));
    let is_due = |page: &Page| now >= last_seen(page) + rules.recheck_within;
    let due = if all_due { pages.iter().filter(|page| is_due(page)).count() } else { 0 };
    // Those that are due are not all in front, since some were never re-checked.
    let mut rest = if due > 0 { pages.split_off(count.min(pages.len())) } else { Vec::new() };
    pages.truncate(count);
    rest.retain(is_due);
    pages.append(&mut rest);
    pages
}

/// How long a page has been left alone.
fn neglect(page: &Page, now: Timestamp) -> Millis {
    let age = now.since(last_seen(page));
    if page.checked_at.is_none() { age.saturating_mul(2) } else { age }
}

fn last_seen(page: &Page) -> Timestamp {
    page.checked_at.unwrap_or(page.at)
}

/// How many pages are re-checked since their entries say something else than at the last poll: `changed` of `known` entries
/// do. None if most of them do, since such a feed changes what it says of entries by itself, with each poll perhaps.
pub fn to_look_into(changed: usize, known: usize) -> usize {
    let is_habit = known >= TELLING_ENTRIES && changed.saturating_mul(2) > known;
    if is_habit { 0 } else { changed.min(LOOKED_INTO_PER_POLL) }
}

/// What a re-check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recheck {
    /// It is still there and may still be found.
    Present,
    /// It must not be found any more.
    Gone(Gone),
    /// Something else is there: a second look decides.
    Doubtful {
        /// The second look comes no sooner.
        until: Timestamp,
        /// True if the doubt begins now.
        is_new: bool,
    },
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

/// What follows when something else was found in place of a page, or it asks not to be indexed, and it was doubted at an
/// earlier time or was not: the first time a second look, then that the page is gone for this reason. A doubt that nobody
/// looked into for [`DOUBT_LASTS`] begins anew.
pub fn by_doubt(doubted_at: Option<Timestamp>, reason: Gone, rules: &Rules, now: Timestamp) -> Recheck {
    match doubted_at.filter(|at| now < *at + DOUBT_LASTS.max(rules.confirm_after)) {
        Some(at) if now >= at + rules.confirm_after => Recheck::Gone(reason),
        Some(at) => Recheck::Doubtful { until: at + rules.confirm_after, is_new: false },
        None => Recheck::Doubtful { until: now + rules.confirm_after, is_new: true },
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::*;
    use curlew_model::{HostKey, Location, PageId, SegmentKey};

    fn page(n: u8, at: u64, checked: Option<u64>) -> Page {
        let day = |days| Timestamp::EPOCH + Millis::from_days(days);
        let segment = SegmentKey::new("segments/2026/11/20/ab.jsonl.zst").unwrap();
        Page {
            checked_at: checked.map(day),
            ..Page::new(
                PageId::new(&format!("{n:032x}")).unwrap(),
                String::new(),
                HostKey::new("example.org").unwrap(),
                PageState::Accepted {
                    year: 2026,
                    location: Location { segment, offset: 0, length: 0 },
                    content_hash: String::new(),
                },
                day(at),
            )
        }
    }

    #[test]
    fn only_not_found_and_gone_remove() {
        assert_eq!(by_status(404), Recheck::Gone(Gone::NotFound));
        assert_eq!(by_status(410), Recheck::Gone(Gone::Gone));
        for status in [401, 402, 403, 429, 451, 500, 503, 301] {
            assert_eq!(by_status(status), Recheck::Unknown, "{status}");
        }
        assert_eq!(by_status(200), Recheck::Present);
    }

    #[test]
    fn the_longest_neglected_come_first() {
        let now = Timestamp::EPOCH + Millis::from_days(200);
        let pages = vec![
            page(1, 0, Some(150)),
            page(2, 0, Some(100)),
            page(3, 120, None),
            page(4, 199, None),
            page(5, 0, Some(60)),
        ];
        let chosen = |count, all_due| -> Vec<String> {
            let chosen = choose(pages.clone(), count, all_due, &Rules::default(), now);
            chosen.iter().map(|page| page.id.as_str()[31..].to_owned()).collect()
        };
        assert_eq!(chosen(3, false), ["3", "5", "2"]);
        assert_eq!(chosen(1, false), ["3"]);
        assert_eq!(chosen(1, true), ["3", "5"], "what is due is not left out");
        assert_eq!(chosen(9, true).len(), 5);
        assert_eq!(chosen(0, false).len(), 0);
    }

    #[test]
    fn entries_that_changed_are_looked_into_unless_most_of_them_did() {
        for (changed, known, looked_into) in
            [(0, 20, 0), (1, 20, 1), (10, 20, 10), (11, 20, 0), (20, 20, 0), (3, 3, 3), (4, 4, 0), (40, 500, 10)]
        {
            assert_eq!(to_look_into(changed, known), looked_into, "{changed} of {known}");
        }
    }

    #[test]
    fn the_rate_grows_with_the_index() {
        assert_eq!([0, 100, 15_000, 1_500_000].map(|pages| a_day(pages, 100)), [100, 100, 100, 10_000]);
    }

    #[test]
    fn a_second_look_decides() {
        let (rules, now) = (Rules::default(), Timestamp::EPOCH + Millis::from_days(99));
        let look = |at| by_doubt(at, Gone::Replaced, &rules, now);
        let new = Recheck::Doubtful { until: now + rules.confirm_after, is_new: true };
        assert_eq!(look(None), new);
        let same = Recheck::Doubtful { until: now + rules.confirm_after, is_new: false };
        assert_eq!(look(Some(now)), same, "one look that ran twice is one look");
        assert_eq!(look(Some(now - rules.confirm_after)), Recheck::Gone(Gone::Replaced));
        assert_eq!(look(Some(Timestamp::EPOCH)), new, "nobody looked into it");
    }
}
