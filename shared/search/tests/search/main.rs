//! Tests that build splits of small pages and query them.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod bounds;
mod built;
mod hiding;
mod oracle;
mod pages;
mod paging;
mod ranking;
mod spellings;

use curlew_model::{Millis, PageId, SnippetLimit, Timestamp, is_at_or_below};
use curlew_search::{
    BuildBudget, CHUNK_BYTES, Cursor, Hidden, Manifest, Query, ReadBudget, Request, Results, Scope, SearchError,
    SearchHit, Sort, Split, SplitBuilt, build_split, joined, merge_splits, search, suggest,
};
use pages::{Page, built, id, split, splits};
use proptest::prelude::*;
use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, LazyLock};

fn now() -> Timestamp {
    Timestamp::parse_day_or_instant("2026-11-21").unwrap()
}

/// Returns a request for the first hits, including pages with only some of the words.
fn first(text: &str, limit: usize) -> Request {
    Request::new(Query::read(text).0, limit, now())
}

/// Returns a request for the first hits with all words.
fn strict(text: &str, limit: usize) -> Request {
    Request { scope: Scope::AllWords, ..Request::new(Query::parse(text).unwrap(), limit, now()) }
}

fn answer(splits: &[Split], hidden: &Hidden, request: &Request) -> Results {
    search(&splits.iter().collect::<Vec<_>>(), hidden, request).unwrap()
}

/// Returns all pages of results, each requested with the encoded cursor of the previous one.
fn each_page(splits: &[Split], text: &str, request: &Request) -> Vec<Results> {
    let mut pages = vec![answer(splits, &Hidden::default(), request)];
    while let Some(next) = &pages[pages.len() - 1].next {
        let after = Cursor::decode(&next.encode(text, &[7; 32]), text, &[7; 32]);
        assert!(after.is_some() && pages.len() < 20);
        pages.push(answer(splits, &Hidden::default(), &Request { after, ..request.clone() }));
    }
    pages
}

/// Returns pages with all words. Also checks pages with some of the words: they must pass the same filters, and none
/// may be hidden.
fn ask_all(splits: &[Split], hidden: &Hidden, text: &str) -> Results {
    let all_words = answer(splits, hidden, &strict(text, 100));
    let both = answer(splits, hidden, &first(text, 100));
    let query = Query::parse(text).unwrap();
    let (all, some): (Vec<_>, Vec<_>) = both.hits.into_iter().partition(|hit| hit.all_words);
    assert_eq!((all_words.total, all_words.copies, all_words.partial), (both.total, both.copies, 0), "{text}");
    assert_eq!(all, all_words.hits, "{text}");
    assert!(some.len() as u64 == both.partial && (some.is_empty() || query.sort == Sort::Relevance), "{text}");
    let is_below = |host: &str, names: &BTreeSet<String>| names.iter().any(|name| is_at_or_below(host, name));
    for hit in some {
        let language = hit.language.clone().unwrap_or_default();
        let is_wanted = (query.only.sites.is_empty() || is_below(&hit.host, &query.only.sites))
            && (query.only.languages.is_empty() || query.only.languages.contains(&language))
            && query.before.is_none_or(|before| hit.date < before)
            && query.after.is_none_or(|after| hit.date >= after);
        let is_gone = hit.id.as_ref().is_some_and(|id| hidden.tombstones.contains(id));
        let is_unwanted = is_gone || is_below(&hit.host, &hidden.hosts) || is_below(&hit.host, &query.except.sites);
        let lacks = !hit.missing.is_empty() || !both.unknown.is_empty();
        assert!(is_wanted && !is_unwanted && lacks && hit.copies == 0, "{text}: {hit:?}");
    }
    all_words
}

fn ask(split: &Split, text: &str) -> Results {
    ask_all(std::slice::from_ref(split), &Hidden::default(), text)
}

/// Returns the names of the pages that have all words, in order.
fn found(split: &Split, text: &str) -> Vec<String> {
    paths(&ask(split, text))
}

fn paths(results: &Results) -> Vec<String> {
    assert_eq!(results.total, results.hits.len() as u64, "all counted hits must be returned");
    names(results).into_iter().map(str::to_owned).collect()
}

fn names(results: &Results) -> Vec<&str> {
    results.hits.iter().map(|hit| hit.url.rsplit('/').next().unwrap()).collect()
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

/// Asserts the pages that some queries find, such as `tide → a b | ebb →`.
fn assert_found(found: impl Fn(&str) -> Vec<String>, expected: &str) {
    for case in expected.split(" | ") {
        let (query, names) = case.split_once(" →").unwrap();
        assert_eq!(sorted(found(query)).join(" "), names.trim(), "{query}");
    }
}

fn opened(built: SplitBuilt) -> Split {
    Split::open(built.bytes.into()).unwrap()
}

fn merged(splits: &[Split], leave_out: &HashSet<PageId>) -> Option<SplitBuilt> {
    merge_splits(&splits.iter().collect::<Vec<_>>(), leave_out, &BuildBudget::default()).unwrap()
}

#[test]
fn words_are_found_by_their_stems() {
    let split = split(&[
        Page::it("a", "Gli articoli della costituzione", "Chi legge un articolo impara qualcosa."),
        Page::it("b", "La città di notte", "Perché la luna piena illumina i tetti."),
        Page::en("c", "She was running home", "The runner stopped when the rain began."),
        Page::en("d", "Libraries of the north", "A library is more than its books."),
    ]);
    let expected = "articolo → a | ARTICOLI → a | perche citta → b | run → c | library → d | librarian →";
    assert_found(|text| found(&split, text), expected);
}

#[test]
fn elided_articles_do_not_hide_the_word() {
    let split = split(&[
        Page::it("a", "L'albero dell’arte", "All'ombra di un albero si dorme bene."),
        Page::en("b", "Anna's garden", "They don't water it."),
        Page::new("c", "", "L'albero senza lingua", "Nessuno sa in che lingua è."),
    ]);
    let expected = r#"albero → a c | arte ombra → a | l'albero → a c | "albero dell'arte" → a | anna don't → b"#;
    assert_found(|text| found(&split, text), expected);
}

#[test]
fn phrases_mind_the_order_of_words() {
    let split = split(&[
        Page::it("a", "Ricette", "Versate l'olio nuovo sul pane caldo."),
        Page::it("b", "Ricette", "Un nuovo modo di usare olio e pane."),
        Page::en("c", "Notes", "We sold e-mail at 12:30."),
    ]);
    let phrases = r#""olio nuovo" → a | olio nuovo → a b | "pane caldo" ricetta → a | ricetta -"olio nuovo" → b"#;
    assert_found(|text| found(&split, text), phrases);
    assert_found(|text| found(&split, text), "12:30 → c | 30:12 →");
}

#[test]
fn scripts_without_spaces_are_searched() {
    let split = split(&[
        Page::new("a", "ja", "東京都の猫", "昨日、東京都で猫を見た。"),
        Page::new("b", "ja", "京都の犬", "京都に犬がいる。"),
        Page::new("c", "zh", "手机评测", "这款手机的电池很好。"),
        Page::new("d", "ko", "서울에서", "서울에서 만나요."),
    ]);
    assert_found(|text| found(&split, text), "東京都 → a | 猫 → a | 犬 → b | 电池 → c | 서울 → d");
}

#[test]
fn filters_choose_pages() {
    let split = split(&[
        Page::it("a", "Pane", "Il pane e il burro.").host("blog.example.org").day("2026-04-30"),
        Page::it("b", "Pane", "Il pane e la marmellata.").host("example.org").day("2026-05-01"),
        Page::en("c", "Pane", "A pane of glass.").host("myexample.org").day("2026-05-02"),
    ]);
    let expected = "pane -burro -glass → b | pane site:example.org → a b | pane site:blog.example.org → a | \
        pane site:blog.example.org site:myexample.org → a c | pane -site:blog.example.org → b c | \
        pane lang:en → c | pane -lang:en → a b | lang:de → | pane before:2026-05-01 → a | \
        pane after:2026-05-01 → b c | pane after:2026-05-01 before:2026-05-02 → b";
    assert_found(|text| found(&split, text), expected);
    assert_eq!(found(&split, "site:org"), ["c", "b", "a"], "without words the newest page comes first");
}

#[test]
fn sorting_by_date_is_exact() {
    let split = split(&[
        Page::it("a", "Pane", "pane pane pane").day("2026-01-01"),
        Page::it("c", "Altro", "Poco pane in molte altre parole.").day("2026-03-01"),
        Page::it("b", "Altro", "Poco pane in molte altre parole.").day("2026-03-01"),
        // A date after the fetch is not believed.
        Page::it("d", "Futuro", "Il pane di domani.").day("2099-01-01").fetched("2026-02-01"),
        Page::it("e", "Senza data", "Il pane di sempre.").fetched("2026-02-15"),
    ]);
    assert_eq!(found(&split, "pane sort:date"), ["b", "c", "e", "d", "a"]);
    let hits = ask(&split, "pane sort:date").hits;
    let days: Vec<String> = hits.iter().map(|hit| hit.date.to_string()[..10].to_owned()).collect();
    assert_eq!(days, ["2026-03-01", "2026-03-01", "2026-02-15", "2026-02-01", "2026-01-01"]);
    assert_eq!(found(&split, "pane")[0], "a");
}

#[test]
fn a_title_weighs_more_than_a_text() {
    let split = split(&[
        Page::en("a", "Other words here", "The curlew is a wader with a bill."),
        Page::en("b", "The curlew is here", "Other words about a wader and its bill."),
    ]);
    assert_eq!(found(&split, "curlew"), ["b", "a"]);
}

#[test]
fn copies_are_given_as_the_earliest_of_them() {
    let print = 0x0123_4567_89ab_cdef_u64;
    let pages = [
        Page::it("copy", "Pane pane", "Il pane. Pane, pane.").day("2026-03-02").print(print ^ 0b111),
        Page::it("first", "Notizie", "Il pane di oggi.").day("2026-03-01").print(print),
        Page::it("late", "Notizie", "Il pane di oggi, con pane.").day("2026-03-05").print(print ^ (0b11 << 40)),
        Page::it("other", "Notizie", "Il pane di oggi.").day("2026-03-03").print(!print),
        Page::it("none", "Notizie", "Il pane di oggi, e altro ancora.").day("2026-03-04"),
    ];
    for parts in [1, 3] {
        let splits = splits(&pages, parts);
        let results = ask_all(&splits, &Hidden::default(), "pane");
        assert_eq!((names(&results)[0], results.hits.len(), results.copies), ("first", 3, 2), "the best copy's rank");
        assert_eq!(results.hits[0].copies, 2);
        let by_date = ask_all(&splits, &Hidden::default(), "pane sort:date");
        assert_eq!(names(&by_date), ["none", "other", "first"], "copies are sorted by the date of the shown one");
        // A hidden page does not count as a copy either.
        let hidden = Hidden { tombstones: Arc::new([id("first")].into()), ..Hidden::default() };
        assert_eq!(ask_all(&splits, &hidden, "pane").hits[0].url, "https://example.org/copy");
    }
    // A list must not end where there are more copies than are ranked at once.
    let mut many: Vec<Page> = (0..60).map(|n| Page::it(&format!("c{n}"), "Pane", "Il pane.").print(print)).collect();
    many.push(Page::it("z", "Altro", "Poco pane in molte altre parole."));
    let splits = splits(&many, 2);
    let pages = each_page(&splits, "pane", &strict("pane", 5));
    assert!(pages.iter().any(|page| names(page).contains(&"z")), "{pages:?}");
}

#[test]
fn as_many_are_counted_as_can_be_given() {
    let print = 0x0123_4567_89ab_cdef_u64;
    let texts = [(9, print), (1, !print), (4, print.rotate_left(11)), (30, 0)];
    let page = |count: u64, n: u64, print: u64| {
        Page::it(&format!("{count}-{n}"), "Pane", "Il pane.").print(print ^ u64::from(n == 1))
    };
    let pages = texts.iter().flat_map(|(count, print)| (0..*count).map(move |n| page(*count, n, *print)));
    let mut pages: Vec<Page> = pages.collect();
    pages.extend((0..20).map(|n| Page::it(&format!("alone-{n}"), "Pane", "Il pane.")));
    for (text, given, copies) in [("pane", 24, 40), ("pane sort:date", 24, 40), ("pane site:example.org", 64, 0)] {
        for parts in [1, 3] {
            let splits = splits(&pages, parts);
            for limit in [1, 7, 100] {
                let mut hits = 0;
                for offset in (0..100).step_by(limit) {
                    let page = answer(&splits, &Hidden::default(), &Request { offset, ..strict(text, limit) });
                    assert_eq!((page.total, page.copies), (given, copies), "{text} {parts} {limit} {offset}");
                    hits += page.hits.len() as u64;
                }
                assert_eq!(hits, given, "{text} {parts} {limit}");
            }
        }
    }
}

#[test]
fn pages_are_found_by_their_author() {
    let pages = [
        Page::en("mud", "Mud", "Along the shore.").author("Marta Lindqvist"),
        Page::it("pane", "Pane", "Il pane di Marta.").author("José García Runnings"),
        Page::it("both", "Notizie", "Il pane.").author("Anna Rossi, Marta Bianchi"),
        Page::en("none", "News", "Of Lindqvist nothing is known, nor of Anna and Rossi."),
    ];
    let split = split(&pages);
    let expected = "lindqvist → mud none | marta → both mud pane | marta shore → mud | \"marta lindqvist\" → mud | \
        author:Lindqvist → mud | author:marta → both mud | author:\"Marta Lindqvist\" → mud | \
        author:\"Lindqvist Marta\" → | author:\"anna rossi\" author:lindqvist → both mud | author:garcia → pane | \
        author:running → | pane author:marta → both | marta -author:marta → pane | -lindqvist author:marta → both";
    assert_found(|text| found(&split, text), expected);
    // Merged splits give the same results as built ones.
    let merged = opened(merged(&splits(&pages, 2), &HashSet::new()).unwrap());
    assert_eq!(sorted(found(&merged, "author:\"marta bianchi\"")), ["both"]);
}

/// Returns the suggestion for a query that finds almost nothing.
fn meant(splits: &[Split], hidden: &Hidden, text: &str) -> Option<String> {
    let (splits, request) = (splits.iter().collect::<Vec<_>>(), first(text, 0));
    let found = search(&splits, hidden, &request).unwrap();
    suggest(&splits, hidden, text, &request, &found).unwrap()
}

#[test]
fn words_that_no_page_has_are_taken_for_similar_ones() {
    let pages = [
        Page::en("a", "Curlews of the estuary", "The curlew probes the mud for worms."),
        Page::it("b", "La città di notte", "Perché gli articoli costano, la costituzione parla di quei diritti."),
        Page::en("c", "Whimbrels", "Whimbrels are smaller than curlews."),
        Page::en("d", "Secret", "The xanadoo stands alone."),
    ];
    let splits = splits(&pages, 2);
    let none = Hidden::default();
    for (typed, suggested) in [
        ("curlw", Some("curlew")),
        ("  the crulew  mud", Some("  the curlew  mud")),
        ("site:example.org wimbrel", Some("site:example.org whimbrels")),
        ("artcoli costituzone", Some("articoli costituzione")),
        ("xanado", Some("xanadoo")),
        ("curlew", None),
        ("zzzzzzz", None),
        ("abc", None),
        ("\"curlw mud\"", None),
    ] {
        assert_eq!(meant(&splits, &none, typed).as_deref(), suggested, "{typed}");
    }
    let gone = Hidden { tombstones: Arc::new([id("d")].into()), ..Hidden::default() };
    assert_eq!(meant(&splits, &gone, "xanado"), None, "a word of a hidden page must not be suggested");
}

#[test]
fn a_word_is_taken_for_no_unlike_one_of_another_language() {
    let pages = [
        Page::en("a", "The lighthouse keeper", "A lighthouse stands at the harbour. We don't say more: dont."),
        Page::new("b", "fr", "Kéfir", "Le kéfir, sous la lampe."),
        Page::new("c", "ro", "Arbori", "Mulți arbori în pădure."),
        Page::new("d", "es", "Mucho", "Hay mucho que decir, y muchas cosas."),
        Page::new("e", "de", "Nach Hause", "Nach dem Regen fahren wir."),
        Page::en("f", "A mouse", "The mouse went home."),
    ];
    let splits = splits(&pages, 2);
    let none = Hidden::default();
    for (typed, suggested, found) in [
        ("lighthose keper", Some("lighthouse keeper"), &["a"][..]),
        ("harbor", None, &["a"]),
        ("harbuor", Some("harbour"), &["a"]),
        ("kuchen", None, &[]),
        ("donau", None, &[]),
        ("mouse", None, &["f"]),
        ("dach lang:de", None, &[]),
        ("nahc", Some("nach"), &["e"]),
    ] {
        assert_eq!(meant(&splits, &none, typed).as_deref(), suggested, "{typed}");
        assert_eq!(names(&answer(&splits, &none, &first(typed, 10))), found, "{typed}");
    }
}

#[test]
fn odd_pages_and_odd_queries_do_no_harm() {
    let split = split(&[
        Page::new("a", "x-unknown", "", ""),
        Page::new("b", "ar", "كتاب", "قرأت الكتب في المكتبة."),
        Page::new("c", "ta", "புத்தகம்", "நான் புத்தகம் படித்தேன்."),
        Page::it("d", &"parola".repeat(50_000), &"e\u{301}\u{301}".repeat(10_000)),
    ]);
    assert_eq!(split.docs(), 4);
    assert_eq!(found(&split, "كتاب"), ["b"]);
    assert_eq!(found(&split, "புத்தகம்"), ["c"]);
    for text in
        ["\u{301}a", "l' d' qu'", "'''a'''", "\"a\" \"\"", "lang:zz x", "a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r-s-t"]
    {
        ask(&split, text);
    }
    assert_eq!(answer(&[], &Hidden::default(), &strict("pane", 10)), Results::default());
}

static ANY: LazyLock<Vec<Split>> = LazyLock::new(|| {
    let mut pages = Page::many(12);
    pages.push(Page::new("ja", "ja", "東京都の猫", "昨日、東京都で猫を見た。"));
    pages.push(Page::new("xx", "", "Senza", "pane d'olio"));
    splits(&pages, 3)
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn whatever_is_read_is_answered(
        text in "([a-zà-ü東京猫'’. -]|\\PC| pane| \"olio nuovo| -burro| site:example.org| lang:it| sort:date| after:2026-03-01){0,12}"
    ) {
        if Query::parse(&text).is_ok() {
            let results = answer(&ANY, &Hidden::default(), &Request { offset: 1, ..strict(&text, 5) });
            prop_assert!(results.total as usize >= results.hits.len());
            for hit in results.hits {
                prop_assert!(hit.score.is_finite());
                prop_assert!(hit.marks.iter().all(|mark| hit.snippet.get(mark.clone()).is_some()));
            }
        }
    }

    #[test]
    fn any_page_is_indexed(texts in proptest::collection::vec(any::<(String, String, String, String)>(), 1..4)) {
        let pages: Vec<Page> = texts.iter().enumerate().map(|(number, (title, text, host, language))| {
            Page::new(&format!("p{number}"), language, title, text).host(host)
        }).collect();
        let split = split(&pages);
        prop_assert_eq!(split.docs(), pages.len() as u64);
        let records: Vec<_> = split.records().map(Result::unwrap).collect();
        prop_assert_eq!(records, pages.iter().map(Page::record).collect::<Vec<_>>());
        for (number, (title, text, _, _)) in texts.iter().enumerate() {
            for word in title.split_whitespace().take(2).chain(text.split_whitespace().take(2)) {
                let phrase = format!("\"{word}\"");
                // A word may have a quotation mark in it.
                if Query::parse(&phrase).is_ok_and(|query| query.wanted.len() == 1 && query.wanted[0].text == word) {
                    let results = search(&[&split], &Hidden::default(), &strict(&phrase, 10)).unwrap();
                    let page = id(&format!("p{number}"));
                    prop_assert!(results.hits.iter().any(|hit| hit.id.as_ref() == Some(&page)), "{word:?}");
                }
            }
        }
    }

    #[test]
    fn how_pages_are_spread_does_not_matter(cuts in proptest::collection::vec(1_usize..9, 1..6), word in "(pane|olio|run|articolo|\"pane olio\")") {
        let pages = Page::many(25);
        let whole = [split(&pages)];
        let mut parts = Vec::new();
        let mut rest = pages.as_slice();
        for cut in cuts.into_iter().cycle().take(25) {
            let (some, left) = rest.split_at(cut.min(rest.len()));
            rest = left;
            if !some.is_empty() {
                parts.push(split(some));
            }
        }
        prop_assert!(rest.is_empty());
        let (whole, parts) = (ask_all(&whole, &Hidden::default(), &word), ask_all(&parts, &Hidden::default(), &word));
        prop_assert_eq!(paths(&whole), paths(&parts));
        prop_assert!(whole.hits.iter().zip(&parts.hits).all(|(a, b)| (a.score - b.score).abs() < 1e-4));
    }
}
