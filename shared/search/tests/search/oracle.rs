//! Queries many tiny pages, and compares the results with those of a full scan.

use crate::pages::{self, Page};
use curlew_model::Timestamp;
use curlew_search::{Hidden, Request, Split};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Number of pages, which exceeds one block of the engine, so that the engine has to seek.
const PAGES: usize = 9_000;
const WORDS: [&str; 9] = ["ab", "cd", "ef", "gh", "ij", "kl", "mn", "op", "qr"];

/// Returns the words of title and text. Words with a higher index are rarer, and the last ones very rare.
fn texts(page: usize) -> (Vec<&'static str>, Vec<&'static str>) {
    let mut seed = page as u64 + 1;
    let mut next = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut word = move || {
        let number = next(2_000);
        let rank = match number {
            0..3 => 8,
            3..40 => 7,
            _ => next(7).min(next(7)),
        };
        WORDS[rank as usize]
    };
    let title = (0..2).map(|_| word()).collect();
    let body = (0..2 + page % 5).map(|_| word()).collect();
    (title, body)
}

static SPLITS: LazyLock<Vec<Split>> = LazyLock::new(|| {
    let page = |number: usize| {
        let (title, body) = texts(number);
        Page::new(&format!("{number}"), "", &title.join(" "), &body.join(" "))
    };
    pages::splits(&(0..PAGES).map(page).collect::<Vec<_>>(), 2)
});

fn has(words: &[&str], phrase: &[&str]) -> bool {
    words.windows(phrase.len()).any(|window| window == phrase)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn what_is_found_is_what_reading_finds(
        clauses in proptest::collection::vec((any::<bool>(), proptest::collection::vec(0_usize..9, 1..3)), 1..5)
    ) {
        let mut clauses = clauses;
        clauses[0].0 = true;
        let phrase = |words: &[usize]| words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>();
        let text: String = clauses.iter().map(|(wanted, words)| {
            format!("{}\"{}\" ", if *wanted { "" } else { "-" }, phrase(words).join(" "))
        }).collect();
        let expected: BTreeSet<String> = (0..PAGES).filter(|page| {
            let (title, body) = texts(*page);
            clauses.iter().all(|(wanted, words)| {
                let words = phrase(words);
                (has(&title, &words) || has(&body, &words)) == *wanted
            })
        }).map(|page| format!("https://example.org/{page}")).collect();

        let request = Request { now: Timestamp::MAX, ..crate::strict(&text, 10_000) };
        let results = crate::answer(&SPLITS, &Hidden::default(), &request);
        let found: BTreeSet<String> = results.hits.iter().map(|hit| hit.url.clone()).collect();
        prop_assert_eq!(results.total as usize, expected.len(), "{}", text);
        prop_assert!(found == expected, "{text}");
        prop_assert!(results.hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
    }
}
