//! Tests of splits as they are built, merged and opened.

use super::*;
use bytes::Bytes;
use std::ops::Range;

#[test]
fn the_same_records_give_the_same_bytes() {
    let build = |arena_bytes| {
        let budget = BuildBudget { arena_bytes, ..BuildBudget::default() };
        build_split(Page::many(40).iter().map(Page::record), &budget).unwrap()
    };
    assert_eq!(build(15_000_000), build(15_000_000));
    let small = build(1);
    assert_eq!((small.docs, &small), (40, &build(1)), "also if every page is flushed at once");
    assert_eq!(ask(&opened(build(15_000_000)), "pane"), ask(&opened(small), "pane"));
}

#[test]
fn the_last_record_of_a_page_counts() {
    let pages = [
        Page::it("a", "Vecchio", "Il pane vecchio."),
        Page::it("b", "Altro", "Il pane."),
        Page::it("a", "Nuovo", "Il pane nuovo."),
    ];
    let split = split(&pages);
    assert_eq!(split.docs(), 2);
    assert_eq!(found(&split, "vecchio"), [""; 0]);
    assert_eq!(sorted(found(&split, "pane")), ["a", "b"]);

    let apart = splits(&pages, 3);
    assert_eq!(apart.len(), 3);
    let results = ask_all(&apart, &Hidden::default(), "pane");
    assert_eq!(sorted(paths(&results)), ["a", "b"]);
    assert!(results.hits.iter().any(|hit| hit.title == "Nuovo"));
}

#[test]
fn merging_keeps_all_but_what_is_left_out() {
    let pages = Page::many(40);
    let parts = splits(&pages, 4);
    let gone: HashSet<PageId> = [id("p3"), id("p17"), id("nowhere")].into();
    let built = merged(&parts, &gone).unwrap();
    assert_eq!((built.docs, &built.dropped), (38, &[id("p3"), id("p17")].into()));
    assert_eq!(built.languages, ["en".to_owned(), "it".to_owned()].into());
    assert_eq!(built, merged(&parts, &gone).unwrap());
    let merged_split = opened(built);

    let kept: Vec<_> = pages.iter().map(Page::record).filter(|record| !gone.contains(&record.id)).collect();
    let anew = opened(build_split(kept.iter().cloned(), &BuildBudget::default()).unwrap());
    let (one, other) = (ask(&merged_split, "pane"), ask(&anew, "pane"));
    assert_eq!(paths(&one), paths(&other));
    // The engine knows the length of dropped pages only approximately.
    let near = |(a, b): (&SearchHit, &SearchHit)| (a.score / b.score - 1.0).abs() < 0.02;
    assert!(one.hits.iter().zip(&other.hits).all(near), "{one:?} {other:?}");
    assert_eq!(merged_split.records().map(Result::unwrap).collect::<Vec<_>>(), kept);
    let ids: HashSet<PageId> = merged_split.ids().map(Result::unwrap).collect();
    assert_eq!(ids, kept.iter().map(|record| record.id.clone()).collect());
    assert!(merged(&[merged_split], &ids).is_none());
}

#[test]
fn budgets_are_kept() {
    let budget = BuildBudget { docs: 4, ..BuildBudget::default() };
    let refused = build_split(Page::many(5).iter().map(Page::record), &budget);
    assert!(matches!(refused, Err(SearchError::TooLarge { limit: 4, .. })));
    assert!(matches!(build_split(std::iter::empty(), &budget), Err(SearchError::Empty)));

    let budget = BuildBudget { text_bytes: 8, ..BuildBudget::default() };
    let page = Page::it("a", "Titolo", "Perché è così lungo questo testo").record();
    let split = opened(build_split([page].into_iter(), &budget).unwrap());
    assert_eq!((found(&split, "perché"), found(&split, "lungo")), (vec!["a".to_owned()], vec![]));
}

/// The blob of a split, of which only the tail is read at first.
struct Cold {
    blob: Bytes,
    tail: usize,
}

impl Cold {
    fn new(pages: &[Page]) -> Cold {
        let built = built(pages);
        Cold { blob: built.bytes.into(), tail: built.tail as usize }
    }

    fn open(&self) -> Split {
        let length = self.blob.len();
        Split::open_cold(self.blob.slice(length - self.tail..), length as u64).unwrap()
    }

    /// Supplies the wanted ranges, joined by `read`, until an answer is complete. Returns the results and the numbers
    /// of rounds and reads.
    fn ask(
        &self,
        split: &Split,
        request: &Request,
        read: fn(Vec<Range<u64>>) -> Vec<Range<u64>>,
    ) -> (Results, usize, usize) {
        let mut reads = 0;
        for round in 0..20 {
            match search(&[split], &Hidden::default(), request) {
                Ok(results) => return (results, round, reads),
                Err(error) => assert!(error.is_not_here(), "{error}"),
            }
            for range in read(split.wanted()) {
                reads += 1;
                split.supply(range.start, &self.blob.slice(range.start as usize..range.end as usize)).unwrap();
            }
        }
        panic!("the search asks for more again and again");
    }
}

#[test]
fn a_split_that_is_read_by_ranges_answers_as_a_whole_one() {
    let mut seed = 7_u64;
    let mut next = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let pages: Vec<Page> = (0..3_000)
        .map(|number| {
            let words: Vec<String> = (0..120).map(|_| format!("w{:x}", next(300) * next(300))).collect();
            Page::en(&format!("{number}"), &format!("tide {}", next(50)), &words.join(" "))
        })
        .collect();
    let cold = Cold::new(&pages);
    assert!(cold.blob.len() > 2_000_000 && cold.tail < 250_000, "{} {}", cold.blob.len(), cold.tail);
    let whole = Split::open(cold.blob.clone()).unwrap();
    for text in ["tide 17", "w1a w40", "\"tide 3\" -w12", "tide sort:date", "site:example.org", "w1a \"w40 w12\""] {
        let (split, request) = (cold.open(), strict(text, 10));
        let (results, _, reads) = cold.ask(&split, &request, joined);
        assert_eq!(results, search(&[&whole], &Hidden::default(), &request).unwrap(), "{text}");
        // The tail is one more read.
        assert!(reads < 12, "{text}: {reads} reads");
        let kept = split.kept();
        assert_eq!(cold.ask(&split, &request, joined).2, 0, "the data must stay in memory");
        split.trim(kept / 2);
        assert!(split.kept() <= kept / 2);
        assert_eq!(cold.ask(&split, &request, joined).0, results, "data that was dropped must be read again");
    }
}

/// Every page repeats these words, so their postings and positions make up most of the split.
#[test]
fn a_query_reads_no_more_than_its_budget_whatever_its_words() {
    let text = "the cat of the house and the dog of the yard in the rain ".repeat(60);
    let mut pages: Vec<Page> = (0..3_000).map(|n| Page::en(&n.to_string(), "x", &format!("{text} n{n}"))).collect();
    pages.push(Page::en("rare", "x", "the heron of the yard"));
    let cold = Cold::new(&pages);
    let ask = |text: &str, budget: ReadBudget| {
        let split = cold.open();
        let (results, ..) = cold.ask(&split, &Request { budget, ..strict(text, 10) }, joined);
        (results.total, results.too_common, split.kept())
    };
    // Chunks are read as a whole.
    let most = 8 * CHUNK_BYTES;
    let small = ReadBudget { postings: 8_000, positions: 64_000 };
    let none = ReadBudget { postings: 0, positions: 0 };
    let words = "+the +cat +of +house +and +dog +yard +in +rain";
    assert!(ask(words, ReadBudget::default()).2 > most);
    for (text, budget, total, too_common) in [
        ("cat house", small, 3_000, vec![]),
        ("cat house", none, 3_000, vec!["house"]),
        (words, small, 3_000, vec!["the", "of", "house", "yard", "in", "rain"]),
        ("\"the heron of the yard\"", small, 1, vec!["the heron of the yard"]),
        ("\"the heron of a yard\"", small, 0, vec!["the heron of a yard"]),
        // Only the heron of the phrase is left.
        ("\"the yard heron\"", small, 1, vec!["the yard heron"]),
        ("heron -\"of the house\"", small, 1, vec!["of the house"]),
        ("heron -yard", small, 0, vec![]),
        // An excluded word needs no positions.
        ("cat dog -house", small, 0, vec![]),
    ] {
        let (found, left_out, kept) = ask(text, budget);
        let left_out: Vec<&str> = left_out.iter().map(String::as_str).collect();
        assert_eq!((found, left_out, kept <= most), (total, too_common, true), "{text}");
    }
    // A word that is searched alone needs no positions either, so no round reads them.
    let [one, two] = ["cat", "cat dog"].map(|text| cold.ask(&cold.open(), &strict(text, 10), |wanted| wanted).1);
    assert!(one < two, "{one} {two}");
}

#[test]
fn damaged_bytes_are_refused_and_never_panic() {
    let whole = built(&Page::many(3)).bytes;
    for length in [0, 1, 40, whole.len() / 2, whole.len() - 1] {
        let cut = Split::open(Bytes::copy_from_slice(&whole[..length]));
        assert!(matches!(cut, Err(SearchError::Damaged { .. })), "cut to {length}");
    }
    for at in (0..whole.len()).step_by(97) {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        assert!(Split::open(changed.into()).is_err(), "changed at {at}");
    }
    let other = b"not a split at all, but long enough to hold a trailer and more";
    assert!(Split::open(Bytes::from_static(other)).is_err());
}

#[test]
fn a_split_may_lie_in_borrowed_memory_and_be_shared() {
    struct Mapped(Vec<u8>);
    impl AsRef<[u8]> for Mapped {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    let split = Arc::new(Split::open(Bytes::from_owner(Mapped(built(&Page::many(5)).bytes))).unwrap());
    let other = split.clone();
    let there = std::thread::spawn(move || ask(&other, "pane")).join().unwrap();
    assert_eq!(there, ask(&split, "pane"));
}
