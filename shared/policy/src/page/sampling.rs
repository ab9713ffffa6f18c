//! Chooses the indexed pages to re-check, and interprets the answers.

use crate::rules::Rules;
use curlew_model::{Gone, Millis, Page, PageState, Timestamp};
use std::cmp::Reverse;

/// Number of indexed pages per daily re-check: each page is re-checked about once in 150 days.
const ONE_IN: u64 = 150;
const WEIGHED: usize = 3;

/// Maximum number of pages to re-check after one poll because their entries have changed.
const LOOKED_INTO_PER_POLL: usize = 10;
/// Minimum number of entries for a majority of changes to be meaningful.
const TELLING_ENTRIES: usize = 4;
/// Lifetime of a doubt: longer than the longest hold, so that a doubt expires only without a second check.
const DOUBT_LASTS: Millis = Millis::from_days(90);

const SECOND_LOOK_AFTER: Millis = Millis::from_days(1);
/// Ages of a rejection at which the page is fetched again even if nothing suggests a change.
const SECOND_LOOKS: [Millis; 2] = [Millis::from_days(7), Millis::from_days(30)];
/// Rejected pages take at most one in this many places of a sample, as long as accepted pages fill the others.
const SECOND_LOOKS_ONE_IN: usize = 4;

/// True if a page was rejected for a reason that its author can remove, and was last fetched at least a day ago.
pub fn may_look_again(page: &Page, now: Timestamp) -> bool {
    page.state.has_second_chance() && now >= page.at + SECOND_LOOK_AFTER
}

/// Returns the time at which a page was first rejected for a reason that its author can remove.
pub fn first_rejected(page: &Page) -> Option<Timestamp> {
    page.rejected_at.or_else(|| page.state.has_second_chance().then_some(page.at))
}

/// True if a page was accepted or found present after `judged_at`, so that the judgement of that time is void.
pub fn is_seen_since(page: &Page, judged_at: Timestamp) -> bool {
    page.at > judged_at || page.checked_at.is_some_and(|at| at > judged_at)
}

/// True if an accepted page may be re-checked now.
pub fn may_recheck(page: &Page, rules: &Rules, now: Timestamp) -> bool {
    matches!(page.state, PageState::Accepted { .. }) && now >= last_seen(page) + rules.recheck_after
}

/// True if a sample may choose a page: an accepted one to re-check, or a rejected one whose second look is due.
pub fn is_candidate(page: &Page, rules: &Rules, now: Timestamp) -> bool {
    let is_due = |first: Timestamp| SECOND_LOOKS.iter().any(|age| page.at < first + *age && now >= first + *age);
    may_recheck(page, rules, now) || (may_look_again(page, now) && first_rejected(page).is_some_and(is_due))
}

/// Returns the number of daily re-checks for `indexed` pages at the default rate; at least `least`.
pub fn a_day(indexed: u64, least: usize) -> usize {
    usize::try_from(indexed.div_ceil(ONE_IN)).unwrap_or(usize::MAX).max(least)
}

/// Returns the number of candidates to compare for a sample of `count` pages, so that a few samples cover every page.
pub fn to_weigh(count: usize) -> usize {
    count.saturating_mul(WEIGHED)
}

/// Chooses at most `count` pages to re-check, longest unchecked first; never re-checked pages count double. `all_due`
/// adds all pages due after `recheck_within`. Rejected pages get a quarter, or the places that accepted pages leave.
pub fn choose(pages: Vec<Page>, count: usize, all_due: bool, rules: &Rules, now: Timestamp) -> Vec<Page> {
    let (mut second_looks, mut pages): (Vec<_>, Vec<_>) =
        pages.into_iter().partition(|page| page.state.has_second_chance());
    second_looks.sort_by_cached_key(|page| (page.at, page.id.clone()));
    second_looks.truncate(count.div_ceil(SECOND_LOOKS_ONE_IN).max(count.saturating_sub(pages.len())));
    let count = count.saturating_sub(second_looks.len());
    let neglect = |page: &Page| now.since(last_seen(page)).saturating_mul(1 + u64::from(page.checked_at.is_none()));
    pages.sort_by_cached_key(|page| (Reverse(neglect(page)), page.id.clone()));
    let is_due = |page: &Page| now >= last_seen(page) + rules.recheck_within;
    let due = if all_due { pages.iter().filter(|page| is_due(page)).count() } else { 0 };
    // Pages that are due are not all in front, since never re-checked pages count double.
    let mut rest = if due > 0 { pages.split_off(count.min(pages.len())) } else { Vec::new() };
    pages.truncate(count);
    rest.retain(is_due);
    pages.append(&mut rest);
    pages.append(&mut second_looks);
    pages
}

fn last_seen(page: &Page) -> Timestamp {
    page.checked_at.unwrap_or(page.at)
}

/// Returns the number of pages to re-check if `changed` of `known` entries changed: none if most did, as in some feeds.
pub fn to_look_into(changed: usize, known: usize) -> usize {
    let is_habit = known >= TELLING_ENTRIES && changed.saturating_mul(2) > known;
    if is_habit { 0 } else { changed.min(LOOKED_INTO_PER_POLL) }
}

/// Result of a re-check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recheck {
    /// The page is still there and stays in the index.
    Present,
    /// The page must leave the index.
    Gone(Gone),
    /// Something else was found: a second check decides.
    Doubtful {
        /// Earliest time of the second check.
        until: Timestamp,
        /// True if the doubt begins now.
        is_new: bool,
    },
    /// The answer is inconclusive; the page stays and is checked another time.
    Unknown,
}

/// Returns the result for the status of a page that existed before. Server errors are inconclusive.
pub const fn by_status(status: u16) -> Recheck {
    match status {
        200 | 304 => Recheck::Present,
        404 => Recheck::Gone(Gone::NotFound),
        410 => Recheck::Gone(Gone::Gone),
        _ => Recheck::Unknown,
    }
}

/// Returns the result if something else was found in place of a page, or the page asks not to be indexed. A first doubt
/// asks for a second check; after `confirm_after`, and within [`DOUBT_LASTS`], that check finds the page gone.
pub fn by_doubt(doubted_at: Option<Timestamp>, reason: Gone, rules: &Rules, now: Timestamp) -> Recheck {
    match doubted_at.filter(|at| now < *at + DOUBT_LASTS.max(rules.confirm_after)) {
        Some(at) if now >= at + rules.confirm_after => Recheck::Gone(reason),
        Some(at) => Recheck::Doubtful { until: at + rules.confirm_after, is_new: false },
        None => Recheck::Doubtful { until: now + rules.confirm_after, is_new: true },
    }
}

/// Returns the number of checks of a page since it was first doubted; each wait is twice as long as the one before.
pub fn looks_since(doubted_at: Option<Timestamp>, rules: &Rules, now: Timestamp) -> u32 {
    let waits = doubted_at.map_or(0, |at| now.since(at).0 / rules.confirm_after.0.max(1));
    waits.saturating_add(1).ilog2()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::*;
    use curlew_model::{HostKey, Location, PageId, Rejection, SegmentKey};

    fn day(days: u64) -> Timestamp {
        Timestamp::EPOCH + Millis::from_days(days)
    }

    fn page(n: u8, at: u64, checked: Option<u64>) -> Page {
        let segment = SegmentKey::new("segments/2026/11/20/ab.jsonl.zst").unwrap();
        let location = Location { segment, offset: 0, length: 0 };
        let state = PageState::Accepted { year: 2026, location, content_hash: String::new() };
        let (id, host) = (PageId::new(&format!("{n:032x}")).unwrap(), HostKey::new("example.org").unwrap());
        Page { checked_at: checked.map(day), ..Page::new(id, String::new(), host, state, day(at)) }
    }

    #[test]
    fn only_not_found_and_gone_remove() {
        let results = [404, 410, 200].map(by_status);
        assert_eq!(results, [Recheck::Gone(Gone::NotFound), Recheck::Gone(Gone::Gone), Recheck::Present]);
        for status in [401, 402, 403, 429, 451, 500, 503, 301] {
            assert_eq!(by_status(status), Recheck::Unknown, "{status}");
        }
    }

    #[test]
    fn the_longest_neglected_come_first() {
        let pages = [(1, 0, Some(150)), (2, 0, Some(100)), (3, 120, None), (4, 199, None), (5, 0, Some(60))];
        let chosen = |count, all_due| -> String {
            let pages = pages.map(|(n, at, checked)| page(n, at, checked)).into();
            let chosen = choose(pages, count, all_due, &Rules::default(), day(200));
            chosen.iter().map(|page| &page.id.as_str()[31..]).collect()
        };
        assert_eq!((chosen(3, false), chosen(1, false)), ("352".into(), "3".into()));
        assert_eq!(chosen(1, true), "35", "what is due is not left out");
        assert_eq!((chosen(9, true).len(), chosen(0, false).len()), (5, 0));
    }

    #[test]
    fn a_rejected_page_is_looked_at_when_it_is_a_week_and_a_month_old() {
        let row = |last: u64, reason: Rejection| Page {
            rejected_at: (last > 0).then_some(day(0)),
            state: PageState::Rejected { reason },
            ..page(1, last, None)
        };
        let due = [(0, 7), (3, 7), (7, 30), (0, 30), (29, 30), (0, 400)];
        let not_due = [(0, 6), (7, 8), (7, 29), (30, 90), (6, 6), (40, 400)];
        for (last, now) in due.into_iter().chain(not_due) {
            let is_candidate = |reason| is_candidate(&row(last, reason), &Rules::default(), day(now));
            assert_eq!(is_candidate(Rejection::NoImage), due.contains(&(last, now)), "seen on day {last}, now {now}");
            assert!(!is_candidate(Rejection::Robots));
        }
        assert!(may_look_again(&row(0, Rejection::ShortText), day(1)), "for a person or a changed entry after a day");
    }

    #[test]
    fn second_looks_take_a_quarter_of_a_sample_or_what_is_left_of_it() {
        let rejected = |n| Page { state: PageState::Rejected { reason: Rejection::Noindex }, ..page(n, 0, None) };
        for (accepted, count, second_looks) in [(8, 8, 2), (3, 8, 5), (0, 8, 8), (8, 1, 1), (8, 0, 0)] {
            let pages = (0..accepted).map(|n| page(n, 90, None)).chain((100..120).map(rejected)).collect();
            let chosen = choose(pages, count, false, &Rules::default(), day(99));
            let looks = chosen.iter().filter(|page| page.state.has_second_chance()).count();
            assert_eq!((looks, chosen.len()), (second_looks, count), "{accepted} accepted, {count} wanted");
        }
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
        let (rules, now) = (Rules::default(), day(99));
        let look = |at| by_doubt(at, Gone::Replaced, &rules, now);
        let new = Recheck::Doubtful { until: now + rules.confirm_after, is_new: true };
        assert_eq!(look(None), new);
        let same = Recheck::Doubtful { until: now + rules.confirm_after, is_new: false };
        assert_eq!(look(Some(now)), same, "one look that ran twice is one look");
        assert_eq!(look(Some(now - rules.confirm_after)), Recheck::Gone(Gone::Replaced));
        assert_eq!(look(Some(Timestamp::EPOCH)), new, "nobody looked into it");
        let looks = |days| looks_since(Some(now - Millis::from_days(days)), &rules, now);
        assert_eq!([0, 1, 3, 7, 15, 31, 63].map(looks), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(looks_since(None, &rules, now), 0);
    }
}
