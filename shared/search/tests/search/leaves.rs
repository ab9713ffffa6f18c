//! Leaves: what is found does not depend on how splits are spread over them.

use super::*;
use curlew_search::{FarLeaf, Leaf, LeafAnswer, LeafRequest, search_leaves};

/// Splits in another process, which is asked by text.
struct Elsewhere {
    leaf: FarLeaf,
    splits: Vec<usize>,
}

/// Results, the suggested query, and how often leaves were asked.
type Answered = (Results, Option<String>, usize);

/// Spreads splits over leaves, each at the place of its number in `spread`.
fn spread(splits: &[Split], spread: &[usize]) -> Vec<Elsewhere> {
    let leaves = spread.iter().copied().max().unwrap() + 1;
    let of = |leaf| (0..splits.len()).filter(|at| spread[at % spread.len()] == leaf).collect::<Vec<usize>>();
    let languages = |numbers: &[usize]| numbers.iter().flat_map(|at| splits[*at].languages()).cloned().collect();
    let leaves = (0..leaves).map(of).filter(|numbers| !numbers.is_empty());
    leaves.map(|splits| Elsewhere { leaf: FarLeaf::new(splits.clone(), languages(&splits)), splits }).collect()
}

/// Searches over leaves elsewhere, and suggests a query, as the caller of the crate does.
fn ask_leaves(splits: &[Split], hidden: &Hidden, leaves: &[Elsewhere], text: &str, request: Request<'_>) -> Answered {
    let all: Vec<&dyn Leaf> = leaves.iter().map(|elsewhere| &elsewhere.leaf as &dyn Leaf).collect();
    for rounds in 0..20 {
        let answered = search_leaves(&all, request).and_then(|results| {
            let suggestion = suggest(&all, (text, request.query), &results, request.now)?;
            Ok((results, suggestion, rounds))
        });
        match answered {
            Ok(answered) => return answered,
            Err(error) => assert!(error.is_not_here(), "{text}: {error}"),
        }
        for Elsewhere { leaf, splits: numbers } in leaves {
            let requests = serde_json::to_vec(&leaf.wanted()).unwrap();
            let requests: Vec<LeafRequest> = serde_json::from_slice(&requests).unwrap();
            let open = OpenLeaf::new(numbers.iter().map(|at| (*at, &splits[*at])), hidden);
            let answers: Vec<LeafAnswer> = requests.iter().map(|request| open.ask(request).unwrap()).collect();
            let answers = serde_json::from_slice(&serde_json::to_vec(&answers).unwrap()).unwrap();
            assert!(leaf.supply(requests, answers), "{text}");
        }
    }
    panic!("{text} asks for more again and again");
}

fn ask_here(splits: &[Split], hidden: &Hidden, text: &str, request: Request<'_>) -> (Results, Option<String>) {
    let splits: Vec<&Split> = splits.iter().collect();
    let results = search(&splits, hidden, request).unwrap();
    let leaf = OpenLeaf::new(splits.iter().copied().enumerate(), hidden);
    let suggestion = suggest(&[&leaf], (text, request.query), &results, request.now).unwrap();
    (results, suggestion)
}

fn varied() -> Vec<Page> {
    let print = 0x0123_4567_89ab_cdef_u64;
    let mut pages = Page::many(90);
    pages.extend((0..30).map(|n| Page::it(&format!("c{n}"), "Pane", "Il pane di oggi.").print(print ^ (n % 3))));
    pages.extend((0..20).map(|n| {
        Page::en(&format!("e{n}"), "Curlews of the estuary", "The curlew probes the mud for worms at low tide.")
            .host(&format!("host{}.example.com", n % 3))
            .author("Marta Lindqvist")
            .day(&format!("2026-0{}-10", 1 + n % 9))
    }));
    pages.push(Page::new("ja", "ja", "東京都の猫", "昨日、東京都で猫を見た。"));
    pages.push(Page::en("x", "Secret", "The xanadoo stands alone.").until("2026-11-20"));
    pages
}

const TEXTS: [&str; 18] = [
    "pane",
    "pane olio",
    "\"pane nuovo\" burro",
    "+luna vento -running",
    "how do i run the pane of the olio",
    "articolo lang:it",
    "curlew tide site:example.com",
    "site:example.org",
    "pane sort:date",
    "curlew after:2026-03-01 before:2026-06-01",
    "author:lindqvist mud",
    "東京都",
    "curlw estury",
    "pnae oloi",
    "xanado",
    "zzzzzzz",
    "+zzzzzzz pane",
    "\"curlw mud\"",
];

#[test]
fn leaves_answer_as_one_process_does() {
    let splits = splits(&varied(), 7);
    let hidden = Hidden {
        tombstones: Arc::new([id("p3"), id("c1")].into()),
        hosts: ["host1.example.com".to_owned()].into(),
        ..Hidden::default()
    };
    let mut suggested = 0;
    for text in TEXTS {
        let (query, _) = Query::read(text);
        for places in [&[0][..], &[0, 1], &[2, 0, 1], &[0, 1, 2, 3, 4, 5, 6]] {
            for explain in [false, true] {
                let request = Request { explain, ..Request::new(&query, 10, now()) };
                let here = ask_here(&splits, &hidden, text, request);
                let (results, suggestion, rounds) =
                    ask_leaves(&splits, &hidden, &spread(&splits, places), text, request);
                suggested += usize::from(suggestion.is_some());
                assert_eq!((results, suggestion), here, "{text} over {places:?}");
                let most = if here.0.total < 3 { 9 } else { 3 + usize::from(explain) };
                assert!(rounds <= most, "{text}: {rounds} rounds");
            }
        }
    }
    assert!(suggested > 0);
}

#[test]
fn pages_of_results_of_leaves_follow_each_other() {
    let splits = splits(&varied(), 7);
    let none = Hidden::default();
    for text in ["pane", "pane sort:date", "curlew mud site:example.com", "how do i run the pane of the olio"] {
        let query = Query::parse(text).unwrap();
        let (mut after, mut pages) = (None::<Cursor>, 0);
        loop {
            let request = Request { after: after.as_ref(), ..Request::new(&query, 7, now()) };
            let (here, _) = ask_here(&splits, &none, text, request);
            // Each page is asked of leaves that are spread otherwise.
            let places = [[0, 1, 2], [2, 1, 0], [1, 1, 0]][pages % 3];
            let (results, _, _) = ask_leaves(&splits, &none, &spread(&splits, &places), text, request);
            assert_eq!(results, here, "{text}, page {pages}");
            pages += 1;
            let Some(next) = here.next else { break };
            after = Some(next);
        }
        assert!(pages > 1, "{text}");
    }
}

#[test]
fn a_leaf_that_is_given_up_answers_as_if_it_had_no_pages() {
    let splits = splits(&varied(), 6);
    let (query, none) = (Query::parse("pane").unwrap(), Hidden::default());
    let request = Request::new(&query, 10, now());
    let whole = ask_here(&splits, &none, "pane", request).0;
    for lost in 0..3 {
        let leaves = spread(&splits, &[0, 1, 2]);
        leaves[lost].leaf.lose();
        assert!(leaves[lost].leaf.is_lost());
        let (results, _, _) = ask_leaves(&splits, &none, &leaves, "pane", request);
        assert!(0 < results.total && results.total < whole.total, "{lost}");
        let here =
            |hit: &curlew_search::Hit| (0..splits.len()).any(|at| at % 3 != lost && splits[at].holds(&hit.id).unwrap());
        assert!(results.hits.iter().all(here));
    }
}

#[test]
fn an_answer_to_another_request_is_not_taken() {
    let splits = splits(&varied(), 2);
    let leaves = spread(&splits, &[0, 1]);
    let query = Query::parse("curlew").unwrap();
    let all: Vec<&dyn Leaf> = leaves.iter().map(|elsewhere| &elsewhere.leaf as &dyn Leaf).collect();
    assert!(search_leaves(&all, Request::new(&query, 10, now())).unwrap_err().is_not_here());
    let requests = leaves[0].leaf.wanted();
    assert_eq!(requests.len(), 1);
    let wrong: LeafAnswer = serde_json::from_str(r#"{"shown":[]}"#).unwrap();
    assert!(!leaves[0].leaf.supply(requests.clone(), vec![wrong]));
    assert!(!leaves[0].leaf.supply(requests, vec![]));
    assert!(serde_json::from_str::<LeafAnswer>(r#"{"told":[]}"#).is_err());
}
