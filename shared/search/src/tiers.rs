//! Decides when splits are merged: at the end of a day, a week and a month, so that a page is rewritten a few times a
//! year and not with each publishing.
//!
//! A busy day is merged before it is over: [`FAN_IN`] publishings into one split, and as many of those into one. Weeks
//! are parts of a month (days 1 to 7, 8 to 14 and so on). A year is merged into one on request. Other splits are
//! rewritten without the pages that are gone after [`PURGE_AFTER`].

use crate::manifest::{Manifest, SplitEntry, Tier};
use curlew_model::{Millis, Timestamp, Year};
use std::collections::BTreeMap;

/// Minimum number of splits of a day that are merged before the day is over.
const FAN_IN: usize = 8;
/// Maximum number of pages of one split, unless chosen otherwise.
pub(crate) const SPLIT_DOCS: u64 = 1_000_000;
/// Maximum time for which a split may contain copies of pages that must not be found; their records are erased at once.
const PURGE_AFTER: Millis = Millis::from_days(90);
/// Maximum number of such copies in a manifest, which then has 0.7 MB; with more, the time is [`PURGE_SOONEST`].
const HIDDEN_COPIES: usize = 20_000;
/// Minimum time between purges of a split, however many copies are hidden.
const PURGE_SOONEST: Millis = Millis::from_days(7);
const WEEK_DAYS: u8 = 7;

/// A merge that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// Keys of the splits, in the order of the manifest; at least two.
    pub keys: Vec<String>,
    /// Tier of the result.
    pub tier: Tier,
}

/// Returns the merges that are due in a year, the largest tier first: of splits below the tier of a period that is
/// over, and of many splits of a day that is not. No merge exceeds `max_bytes`.
pub fn due(splits: &[SplitEntry], year: Year, now: Timestamp, max_bytes: u64) -> Vec<Due> {
    let now = Period::new(now, year);
    let mut merges: Vec<Due> = Vec::new();
    for tier in [Tier::Month, Tier::Week, Tier::Day] {
        let mut groups: BTreeMap<Period, Vec<&SplitEntry>> = BTreeMap::new();
        for split in splits {
            let period = Period::new(split.since, year).up_to(tier);
            let taken = merges.iter().any(|merge| merge.keys.contains(&split.key));
            if split.tier < tier && period < now.up_to(tier) && !taken {
                groups.entry(period).or_default().push(split);
            }
        }
        let parts = groups.into_values().flat_map(|group| chunks(&group, max_bytes));
        merges.extend(parts.map(|keys| Due { keys, tier }));
    }
    merges.extend(many_of_a_day(splits, &merges, year, max_bytes));
    merges
}

/// Returns the merges of days that are not over and have many splits, without those that are merged already.
fn many_of_a_day(splits: &[SplitEntry], merges: &[Due], year: Year, max_bytes: u64) -> Vec<Due> {
    let mut days: BTreeMap<Period, Vec<&SplitEntry>> = BTreeMap::new();
    for split in splits.iter().filter(|split| split.tier < Tier::Day && split.bytes < max_bytes / FAN_IN as u64) {
        if !merges.iter().any(|merge| merge.keys.contains(&split.key)) {
            days.entry(Period::new(split.since, year)).or_default().push(split);
        }
    }
    let mut due = Vec::new();
    for day in days.into_values() {
        let (merged, new): (Vec<&SplitEntry>, Vec<&SplitEntry>) =
            day.iter().copied().partition(|split| split.tier == Tier::Hours);
        if new.len() >= FAN_IN {
            let group = if merged.len() + 1 >= FAN_IN { day } else { new };
            due.extend(chunks(&group, max_bytes).into_iter().map(|keys| Due { keys, tier: Tier::Hours }));
        }
    }
    due
}

/// Returns the splits of a manifest that are to be rewritten without the copies that must not be found.
pub fn purges(manifest: &Manifest, now: Timestamp) -> impl Iterator<Item = &SplitEntry> {
    let after = match manifest.hidden_copies() {
        0 => Millis(u64::MAX),
        1..=HIDDEN_COPIES => PURGE_AFTER,
        _ => PURGE_SOONEST,
    };
    manifest.splits.iter().filter(move |split| now.since(split.purged_at) > after)
}

/// Divides splits into parts of at most `max_bytes` and [`SPLIT_DOCS`]; parts of a single split are left out.
pub fn chunks(splits: &[&SplitEntry], max_bytes: u64) -> Vec<Vec<String>> {
    let mut parts: Vec<(u64, u64, Vec<String>)> = Vec::new();
    for split in splits {
        let fits = |bytes: u64, docs: u64| {
            bytes.saturating_add(split.bytes) <= max_bytes && docs.saturating_add(split.docs) <= SPLIT_DOCS
        };
        match parts.last_mut().filter(|(bytes, docs, _)| fits(*bytes, *docs)) {
            Some((bytes, docs, keys)) => {
                *bytes += split.bytes;
                *docs += split.docs;
                keys.push(split.key.clone());
            }
            None => parts.push((split.bytes, split.docs, vec![split.key.clone()])),
        }
    }
    parts.into_iter().map(|(_, _, keys)| keys).filter(|keys| keys.len() > 1).collect()
}

/// A month, week or day of a year. Week 0 is the whole month, day 0 the whole week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Period {
    /// 0 for times before the year, 13 for times after it.
    month: u8,
    week: u8,
    day: u8,
}

impl Period {
    fn new(at: Timestamp, year: Year) -> Period {
        if at.year() != year {
            // Pages accepted in the last hours of a year may be published in the next one.
            return Period { month: if at.year() < year { 0 } else { 13 }, week: 0, day: 0 };
        }
        let text = at.day();
        let part = |range| text.get(range).and_then(|digits: &str| digits.parse::<u8>().ok()).unwrap_or_default();
        let (month, day) = (part(5..7), part(8..10));
        Period { month, week: 1 + day.saturating_sub(1) / WEEK_DAYS, day }
    }

    fn up_to(self, tier: Tier) -> Period {
        match tier {
            Tier::Delta | Tier::Hours | Tier::Day => self,
            Tier::Week => Period { day: 0, ..self },
            Tier::Month | Tier::Year => Period { week: 0, day: 0, ..self },
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::*;
    use curlew_model::PageId;

    fn split(number: u64, at: Timestamp, tier: Tier) -> SplitEntry {
        let (key, form) = (format!("{number:06}"), crate::FORM);
        let entry = SplitEntry { key, docs: 1, bytes: 1, form, tier, ..SplitEntry::default() };
        SplitEntry { built_at: at, since: at, purged_at: at, ..entry }
    }

    fn day(text: &str) -> Timestamp {
        Timestamp::parse_day_or_instant(text).unwrap()
    }

    #[test]
    fn nothing_is_merged_before_its_time_is_over() {
        let splits: Vec<SplitEntry> =
            (0..3).map(|n| split(n, day("2026-05-04") + Millis::from_hours(8 * n), Tier::Delta)).collect();
        assert_eq!(due(&splits, 2026, day("2026-05-04") + Millis::from_hours(23), 99), []);
        let merges = due(&splits, 2026, day("2026-05-05"), 99);
        assert_eq!((merges.len(), merges[0].tier, merges[0].keys.len()), (1, Tier::Day, 3));
        assert_eq!(due(&splits, 2026, day("2026-05-08"), 99)[0].tier, Tier::Week);
        assert_eq!(due(&splits, 2026, day("2026-06-01"), 99)[0].tier, Tier::Month);
        assert_eq!(due(&splits, 2026, day("2027-01-01"), 99)[0].tier, Tier::Month, "also when the year is over");
        assert_eq!(due(&splits[..1], 2026, day("2027-01-01"), 99), [], "one alone stays as it is");
        assert_eq!(due(&splits, 2026, day("2026-06-01"), 2)[0].keys.len(), 2, "what is large stays apart");
    }

    #[test]
    fn what_is_published_after_new_year_belongs_to_the_old_year() {
        let splits = [split(0, day("2026-12-31"), Tier::Delta), split(1, day("2027-01-01"), Tier::Delta)];
        assert_eq!(due(&splits, 2026, day("2027-02-01"), 99), [], "they are of different months");
        let late = [split(1, day("2027-01-01"), Tier::Delta), split(2, day("2027-01-01"), Tier::Delta)];
        assert_eq!(due(&late, 2026, day("2027-01-01"), 99), []);
    }

    /// Simulates a year of publishings and merges; returns the mean rewrites of a page and the maximum of splits.
    fn year_of_publishings(every: Millis) -> (f64, usize) {
        let (mut splits, mut written, mut most, mut published) = (Vec::<SplitEntry>::new(), 0, 0, 0);
        for step in 0..Millis::from_days(365).0 / every.0 {
            let now = day("2026-01-01") + every.saturating_mul(step);
            splits.push(SplitEntry { docs: 10, ..split(step, now, Tier::Delta) });
            published += 10;
            for merge in due(&splits, 2026, now, u64::MAX) {
                let docs = splits.iter().filter(|s| merge.keys.contains(&s.key)).map(|s| s.docs).sum();
                let first = splits.iter().position(|s| merge.keys.contains(&s.key)).unwrap();
                let since = splits[first].since;
                splits.retain(|s| !merge.keys.contains(&s.key));
                let merged = split(1_000_000 + step * 10 + merge.tier as u64, since, merge.tier);
                splits.insert(first, SplitEntry { docs, ..merged });
                written += docs;
            }
            most = splits.len().max(most);
        }
        assert_eq!(splits.iter().map(|s| s.docs).sum::<u64>(), published);
        (written as f64 / published as f64, most)
    }

    #[test]
    fn a_year_of_publishings_rewrites_a_page_three_times() {
        let (rewrites, most) = year_of_publishings(Millis::from_hours(8));
        assert!((2.4..3.0).contains(&rewrites), "{rewrites}");
        assert!(most <= 25, "{most}");
    }

    #[test]
    fn a_year_of_publishings_every_ten_minutes_has_few_splits_at_any_time() {
        let (rewrites, most) = year_of_publishings(Millis::from_mins(10));
        assert!((4.0..6.0).contains(&rewrites), "{rewrites}");
        assert!(most <= 40, "{most}");
    }

    /// Returns a page's id. A removed page is in the split with its number modulo [`MONTHS`].
    fn id(number: u64) -> PageId {
        PageId::new(&format!("{number:032x}")).unwrap()
    }

    /// Number of splits of whole months.
    const MONTHS: u64 = 12;

    /// Simulates a year of daily removals; returns the mean rewrites of a split and the largest number of tombstones.
    fn year_of_removals(a_day: u64) -> (f64, usize) {
        let (mut rewritten, mut most) = (0, 0);
        let mut manifest = Manifest::new(2026);
        manifest.splits.extend((0..MONTHS).map(|n| split(n, day("2026-01-01"), Tier::Month)));
        for step in 0..365 {
            let now = day("2026-01-01") + Millis::from_days(step);
            manifest = manifest.with_tombstones((step * a_day..(step + 1) * a_day).map(id));
            most = most.max(manifest.tombstones.len());
            let due: Vec<SplitEntry> = purges(&manifest, now).cloned().collect();
            for old in due {
                let number: u64 = old.key.parse().unwrap();
                let is_in = |id: &&PageId| u64::from_str_radix(id.as_str(), 16).unwrap() % MONTHS == number % MONTHS;
                let dropped = manifest.tombstones.iter().filter(is_in).cloned().collect();
                let new = SplitEntry { purged_at: now, ..split(number + MONTHS, old.since, Tier::Month) };
                manifest = manifest.replaced(&[old.key], Some(new), &dropped, now).unwrap();
                rewritten += 1;
            }
        }
        (f64::from(rewritten) / MONTHS as f64, most)
    }

    #[test]
    fn few_removals_rewrite_a_split_every_three_months() {
        assert_eq!(year_of_removals(0), (0.0, 0), "there is nothing to rewrite it for");
        assert_eq!(year_of_removals(200), (4.0, 92 * 200));
    }

    #[test]
    fn many_removals_are_never_more_than_those_of_a_week_beyond_the_limit() {
        let (rewrites, most) = year_of_removals(2_000);
        assert!(most <= HIDDEN_COPIES + 8 * 2_000, "{most}");
        assert!((30.0..46.0).contains(&rewrites), "{rewrites}");
    }

    #[test]
    fn a_split_that_is_alone_in_its_month_is_purged_too() {
        let mut manifest = Manifest::new(2026).with_tombstones([id(1)]);
        manifest.splits.push(split(0, day("2026-05-04"), Tier::Delta));
        assert_eq!(due(&manifest.splits, 2026, day("2026-12-01"), 99), []);
        assert_eq!(purges(&manifest, day("2026-08-01")).count(), 0);
        assert_eq!(purges(&manifest, day("2026-08-03")).count(), 1);
    }

    #[test]
    fn what_is_large_is_not_rewritten_before_its_day_is_over() {
        let large = |n| SplitEntry { bytes: 20, ..split(n, day("2026-05-04"), Tier::Delta) };
        let splits: Vec<SplitEntry> = (0..9).map(large).collect();
        assert_eq!(due(&splits, 2026, day("2026-05-04"), 99), []);
        assert_eq!(due(&splits, 2026, day("2026-05-04"), 999)[0].keys.len(), 9);
    }
}
