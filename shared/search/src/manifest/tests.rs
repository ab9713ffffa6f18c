//! Tests of manifests.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
use super::*;

fn entry(key: &str, bytes: u64) -> SplitEntry {
    SplitEntry { key: key.into(), docs: 1, bytes, form: crate::FORM, ..SplitEntry::default() }
}

fn segment(day: &str) -> SegmentKey {
    SegmentKey::new(&format!("segments/2026/05/{day}/a.jsonl.zst")).unwrap()
}

fn id(digit: char) -> PageId {
    PageId::new(&digit.to_string().repeat(32)).unwrap()
}

#[test]
fn segments_are_indexed_by_name_or_by_day() {
    let year = Manifest::new(2026).with_split(entry("a", 1), &[segment("01"), segment("02")]).unwrap();
    assert!(year.is_indexed(&segment("01")) && !year.is_indexed(&segment("03")));
    let sealed = year.seal("2026-05-01");
    assert_eq!(sealed.segments, [segment("02")].into());
    assert!(sealed.is_indexed(&segment("01")) && sealed.is_indexed(&segment("02")));
    assert!(!sealed.is_indexed(&segment("03")));
    assert_eq!(sealed.seal("2026-04-30"), sealed);
    assert_eq!(sealed.generation, 2);
    let odd = SegmentKey::new("segments/elsewhere.jsonl.zst").unwrap();
    assert!(!sealed.is_indexed(&odd));
}

#[test]
fn doing_it_twice_leaves_what_doing_it_once_leaves() {
    let once = Manifest::new(2026).with_split(entry("a", 1), &[segment("01")]).unwrap().with_tombstones([id('1')]);
    let twice = once.with_split(entry("a", 1), &[segment("01")]).unwrap().with_tombstones([id('1')]);
    assert_eq!(once, twice);
}

#[test]
fn an_older_copy_is_outdated_from_the_moment_its_page_is_published_anew() {
    let read = |year: &Manifest, key: &str| SplitEntry { generation: year.generation, ..entry(key, 1) };
    let outdated = |year: &Manifest, key: &str| {
        let split = year.splits.iter().find(|split| split.key == key).unwrap();
        year.outdated_in(split).contains(&id('1'))
    };
    let (revised, now): (BTreeSet<PageId>, _) = ([id('1')].into(), Timestamp::EPOCH);
    let none = BTreeSet::new();
    let empty = Manifest::new(2026);
    let first = empty.with_revisions(read(&empty, "a"), &[segment("01")], &none, now).unwrap();
    assert!(!outdated(&first, "a"));
    // While the second is being built, a merge of the first begins.
    let merging = read(&first, "m");
    let second = first.with_revisions(read(&first, "b"), &[segment("02")], &revised, now).unwrap();
    assert!(outdated(&second, "a") && !outdated(&second, "b"));
    let merged = second.replaced(&["a".into()], Some(merging), &none, now).unwrap();
    assert!(outdated(&merged, "m") && !outdated(&merged, "b"), "the merge did not know yet");
    // Both are merged, and the page is published a third time.
    let both = read(&merged, "n");
    let third = merged.with_revisions(read(&merged, "c"), &[segment("03")], &revised, now).unwrap();
    assert!(outdated(&third, "m") && outdated(&third, "b") && !outdated(&third, "c"));
    let third = third.replaced(&["m".into(), "b".into()], Some(both), &none, now).unwrap();
    assert!(outdated(&third, "n") && !outdated(&third, "c"));
    // A split based on a manifest older than the superseding one must be decided again.
    let late = SplitEntry { generation: first.generation, ..entry("d", 1) };
    assert!(matches!(third.with_revisions(late, &[segment("04")], &revised, now), Err(SearchError::Stale(_))));
    // A tombstone stays as long as there may be another copy, and all is forgotten once each split has been purged.
    let gone = third.with_tombstones([id('1')]);
    let all = ["n".into(), "c".into()];
    let later = now + Millis::from_days(1);
    let last = SplitEntry { purged_at: later, ..read(&gone, "z") };
    let gone = gone.replaced(&all, Some(last), &revised, later).unwrap();
    assert!(gone.tombstones.contains(&id('1')) && gone.superseded.is_empty());
    let other_year = first.superseding(&revised, now);
    assert!(outdated(&other_year, "a") && other_year.generation == first.generation + 1);
    assert_eq!((first.findable(), second.findable(), gone.findable()), (1, 2, 0));
}

#[test]
fn a_tombstone_goes_when_its_page_is_left_out() {
    let mut year = Manifest::new(2026).with_tombstones([id('1'), id('2')]);
    for key in ["a", "b", "c"] {
        year = year.with_split(entry(key, 1), &[]).unwrap();
    }
    let merged = ["a".into(), "b".into()];
    let some = year.replaced(&merged, Some(entry("ab", 2)), &[id('1')].into(), Timestamp::EPOCH).unwrap();
    assert_eq!(some.tombstones, [id('2')].into());
    assert_eq!(some.splits.iter().map(|s| s.key.as_str()).collect::<Vec<_>>(), ["ab", "c"]);
    assert_eq!(some.retired.len(), 2);
    let again = some.replaced(&merged, None, &BTreeSet::new(), Timestamp::EPOCH);
    assert!(matches!(again, Err(SearchError::Stale(key)) if key == "a"));
}

#[test]
fn splits_of_another_form_are_built_anew() {
    let old = Manifest::new(2026).with_split(entry("a", 1), &[segment("01")]).unwrap();
    let old = old.with_tombstones([id('1')]).seal("2026-04-01");
    assert!(!old.is_outdated() && old.begun_anew() == old);
    let mut json: serde_json::Value = serde_json::from_slice(&old.to_json()).unwrap();
    json["splits"][0].as_object_mut().unwrap().remove("form");
    let old = Manifest::from_json(&serde_json::to_vec(&json).unwrap()).unwrap();
    assert!(old.is_outdated());
    let anew = old.begun_anew();
    assert!(anew.splits.is_empty() && !anew.is_indexed(&segment("01")) && anew.generation > old.generation);
    assert_eq!(anew.tombstones, old.tombstones);
}

#[test]
fn pages_in_splits_of_a_newer_form_are_counted_apart() {
    let of_form = |key: &str, form: u32, docs: u64| SplitEntry { form, docs, ..entry(key, 1) };
    let mut year = Manifest::new(2026);
    assert_eq!(year.unreadable_docs(), 0);
    year.splits = vec![
        of_form("a", crate::FORM, 100),
        of_form("b", crate::OLDEST_FORM, 100),
        of_form("c", crate::FORM + 1, 20),
        of_form("d", crate::OLDEST_FORM - 1, 3),
    ];
    let read = Manifest::from_json(&year.to_json()).unwrap();
    assert_eq!((read.unreadable_docs(), read.docs()), (23, 223));
    assert_eq!(read.later_form(), Some(crate::FORM + 1));
}

#[test]
fn it_reads_back_what_it_writes() {
    let year = Manifest::new(2026).with_split(entry("a", 1), &[segment("01")]).unwrap().with_tombstones([id('1')]);
    assert_eq!(Manifest::from_json(&year.to_json()).unwrap(), year);
    let other = br#"{"version": 9, "whatever": true}"#;
    assert!(matches!(Manifest::from_json(other), Err(SearchError::UnknownForm { found: 9, .. })));
    assert!(matches!(Manifest::from_json(b"{"), Err(SearchError::Damaged { .. })));
}

#[test]
fn who_is_second_with_a_segment_starts_over() {
    let year = Manifest::new(2026).with_split(entry("a", 1), &[segment("01"), segment("02")]).unwrap();
    let second = year.with_split(entry("b", 1), &[segment("02"), segment("03")]);
    assert!(matches!(second, Err(SearchError::Stale(_))));
    assert_eq!(year.with_split(entry("b", 1), &[segment("03")]).unwrap().splits.len(), 2);
    assert!(matches!(year.seal("2026-05-04").with_split(entry("b", 1), &[segment("04")]), Err(SearchError::Stale(_))));
}

#[test]
fn what_is_no_longer_listed_is_deleted_after_a_while() {
    let at = |hours| Timestamp::EPOCH + curlew_model::Millis::from_hours(hours);
    let there = ["a", "b", "left"].map(str::to_owned);
    let year = Manifest::new(2026).with_split(entry("a", 1), &[]).unwrap();
    let (year, over) =
        year.replaced(&["a".into()], Some(entry("b", 1)), &BTreeSet::new(), at(1)).unwrap().swept(&there, at(9), at(0));
    assert!(over.is_empty());
    assert_eq!(year.retired, [("a".to_owned(), at(1)), ("left".to_owned(), at(9))].into());
    let (later, over) = year.swept(&there, at(10), at(5));
    assert_eq!((over, later.retired.len()), (vec!["a".to_owned()], 1));
    // An object that becomes listed is kept, and so is one that was deleted and is written again.
    let listed = later.with_split(entry("left", 1), &[]).unwrap();
    assert!(listed.retired.is_empty());
    let (listed, over) = listed.swept(&there, at(99), at(98));
    assert!(over.is_empty() && listed.retired.contains_key("a"));
}
