//! Tests of the order of results, and of its explanation.

use super::*;

/// Returns pages with all words, followed by those with some of them.
fn both(splits: &[Split], text: &str) -> Results {
    answer(splits, &Hidden::default(), &Request { explain: true, ..first(text, 100) })
}

fn marked(hit: &SearchHit) -> Vec<&str> {
    hit.marks.iter().map(|mark| &hit.snippet[mark.clone()]).collect()
}

#[test]
fn a_page_gains_by_having_all_words_and_the_others_say_what_they_lack() {
    let diary = "Other words. ".repeat(60) + " In frost the olive tree is pruned.";
    let pages = [
        Page::en("some", "Olive olive olive", "Olive trees, olives, and the olive tree again: an olive."),
        Page::en("all", "A garden diary", &diary),
        Page::en("one", "Frost", "It was cold."),
        Page::en("none", "Ships", "They sail."),
    ];
    for parts in [1, 2, 4] {
        let splits = splits(&pages, parts);
        let results = both(&splits, "olive tree frost");
        assert_eq!((results.total, results.partial), (1, 2));
        for (name, lacks, gain) in [("all", "", 1.1), ("some", "frost", 1.0), ("one", "olive tree", 1.0)] {
            let hit = &results.hits[names(&results).iter().position(|other| *other == name).unwrap()];
            assert_eq!((hit.all_words, hit.missing.join(" ")), (lacks.is_empty(), lacks.to_owned()), "{parts}");
            let gained = hit.explanation.clone().unwrap().completeness;
            assert!((gained - gain).abs() < 1e-6, "{name}: {gained}");
        }
        let found = |text: &str| {
            let found = both(&splits, text);
            let mut names = names(&found);
            names.sort_unstable();
            (names.join(" "), found.total, found.partial)
        };
        // Results sorted by date, and feeds of a search, contain only pages with all words.
        let by_date = both(&splits, "olive tree frost sort:date");
        assert_eq!((names(&by_date), by_date.partial), (vec!["all"], 0));
        assert_eq!(found("olive tree +frost"), ("all one".to_owned(), 1, 1));
        assert_eq!(found("\"olive tree\" frost"), ("all some".to_owned(), 1, 1));
        assert_eq!(found("olive tree frost -cold"), ("all some".to_owned(), 1, 1));
    }
}

#[test]
fn stop_words_are_not_missed() {
    let pages = [
        Page::en("tree", "The olive", "An olive needs sun."),
        Page::en("is", "What it is", "This is what it is, and of the how: to do or not to do."),
        Page::new("die", "de", "Die Ernte", "Oliven wachsen im Süden."),
    ];
    let split = [split(&pages)];
    let results = both(&split, "what is an olive");
    assert_eq!((names(&results)[0], results.total, &results.hits[0].missing), ("tree", 1, &vec![]));
    assert_eq!(names(&both(&split, "to be or not to be")), ["is"], "only stop words");
    assert_eq!(names(&both(&split, "die ernte")), ["die"]);
    assert!(marked(&results.hits[0]).iter().all(|word| *word == "olive"));
}

#[test]
fn a_stop_word_alone_finds_no_page_in_whatever_language() {
    let mut pages: Vec<Page> =
        (0..9).map(|n| Page::new(&format!("f{n}"), "fr", "Pain", "Du pain et du vin.")).collect();
    pages.extend([
        Page::new("quote", "fr", "Le titre", "Il a dit: of the, of the, which is a close of it."),
        Page::en("ally", "An oil producer", "An oil producer, and a close ally of the United States, is here."),
        Page::new("die", "de", "Die Ernte", "Die Oliven, die Ernte."),
    ]);
    for parts in [1, 3] {
        let splits = splits(&pages, parts);
        let results = both(&splits, "which oil producer is a close ally of the united states");
        assert_eq!(names(&results)[0], "ally");
        assert_eq!(results.hits[1].missing, ["oil", "producer", "ally", "united", "states"], "{:?}", results.hits);
        assert_eq!(names(&both(&splits, "the oil")), ["ally"]);
        assert_eq!(names(&both(&splits, "which tide is it")), [""; 0]);
        assert_eq!(names(&both(&splits, "of the")), ["ally", "quote"], "only stop words");
    }
}

#[test]
fn a_page_with_all_words_is_not_better_whatever_its_score() {
    let long = format!("Water, prune, olives and trees, {} winter.", "and many other words besides ".repeat(80));
    let pages = [
        Page::en("right", "Pruning olive trees", "Prune an olive tree when the frost is over."),
        Page::en("long", "Everything", &long),
    ];
    for text in ["how do i prune an olive tree in winter", "prune olive tree winter"] {
        let results = both(&[split(&pages)], text);
        assert_eq!((names(&results), results.total, results.partial), (vec!["right", "long"], 1, 1), "{text}");
    }
    let alike = [Page::en("some", "Mud", "The mud, and again mud."), Page::en("all", "Mud", "The mud at low tide.")];
    assert_eq!(names(&both(&[split(&alike)], "mud tide")), ["all", "some"]);
}

#[test]
fn a_stem_is_one_of_its_language_only() {
    let pages = [
        Page::en("freight", "Rail freight", "Freight goes by rail."),
        Page::new("frachter", "de", "Ein Freighter", "Der Freighter liegt im Hafen."),
        Page::new("nothing", "", "Freighter", "A page of no known language."),
    ];
    let splits = splits(&pages, 2);
    let mut found = both(&splits, "freighter");
    found.hits.sort_by(|a, b| a.url.cmp(&b.url));
    assert_eq!(names(&found), ["frachter", "nothing"], "German strips what English keeps");
}

#[test]
fn neighbours_of_the_query_are_best_as_neighbours() {
    let apart = "The old mill. Much was said that day about other things, and then somebody saw the tide.";
    let pages = [
        Page::en("apart", "A day", apart),
        Page::en("near", "A day", "The old tide mill. Much was said that day about other things, and somebody saw it."),
    ];
    let results = both(&[split(&pages)], "tide mill");
    assert_eq!(names(&results), ["near", "apart"]);
    let why = |at: usize| results.hits[at].explanation.clone().unwrap();
    assert!(why(0).proximity > 1.2 && (why(1).proximity - 1.0).abs() < 1e-3, "{results:?}");
    for hit in &results.hits {
        let why = hit.explanation.clone().unwrap();
        let sum: f32 = why.words.iter().map(|(_, adds)| adds).sum();
        assert!((sum * why.proximity * why.freshness * why.completeness / hit.score - 1.0).abs() < 1e-4, "{why:?}");
    }
}

#[test]
fn one_word_of_a_title_does_not_outweigh_all_others() {
    let filler: Vec<Page> = (0..40).map(|n| Page::en(&format!("f{n}"), "Harbour", "Ships and sailors.")).collect();
    let mut pages = filler;
    pages.push(Page::en("title", "Fog", "Nothing more to say about ships."));
    pages.push(Page::en("text", "A walk", "Fog over Gullhaven: the fog came in at Gullhaven by night."));
    let results = both(&[split(&pages)], "fog gullhaven");
    assert_eq!(names(&results)[..2], ["text", "title"]);
}

#[test]
fn one_site_does_not_fill_the_first_page() {
    let mut pages: Vec<Page> =
        (0..9).map(|n| Page::en(&format!("a{n}"), "Curlew curlew", "A curlew.").host("www.a.example")).collect();
    pages.extend((0..3).map(|n| Page::en(&format!("b{n}"), "Birds", "Far out a curlew called.").host("b.example")));
    pages.push(Page::en("c", "A whimbrel", "No other wader but the mud.").host("c.example"));
    for parts in [1, 3] {
        let splits = splits(&pages, parts);
        let results = both(&splits, "curlew mud");
        assert_eq!(results.total, 0, "no page has both words");
        let results = both(&splits, "curlew");
        let sites = |results: &Results| {
            let site = |hit: &SearchHit| hit.host.trim_start_matches("www.").chars().next().unwrap();
            results.hits.iter().map(site).collect::<String>()
        };
        assert_eq!(sites(&results), "aabbaaaaaaab");
        assert!(results.more_of.is_empty(), "all hits are shown");
        // Across all pages of results no hit is missing or repeated.
        let on_pages = each_page(&splits, "curlew", &first("curlew", 4));
        assert!(on_pages.iter().all(|page| (page.total, page.partial) == (12, 0)));
        assert_eq!(on_pages[0].more_of.iter().collect::<Vec<_>>(), ["b.example", "www.a.example"]);
        let distinct: HashSet<&str> = on_pages.iter().flat_map(names).collect();
        assert_eq!(distinct.len(), 12);
        assert_eq!(on_pages.iter().map(sites).collect::<Vec<_>>(), ["aabb", "aaba", "aaaa"]);
        let [of_one, by_date] = ["site:a.example", "sort:date"].map(|more| both(&splits, &format!("curlew {more}")));
        assert_eq!((of_one.hits.len(), by_date.hits.len()), (9, 12));
    }
}

#[test]
fn words_of_scripts_without_spaces_are_found_wherever_they_stand() {
    let pages = [
        Page::new("art", "ja", "案内", "東京の美術館で新しい展覧会が開かれる。"),
        Page::new("both", "ja", "案内", "この町では、東京の展覧会は明日から。"),
        Page::new("castle", "ja", "案内", "大阪の城で春の祭りがある。アニメも。"),
        Page::new("library", "zh", "通知", "北京大学的图书馆今天开放。"),
        Page::new("museum", "th", "ข่าว", "พิพิธภัณฑ์ในกรุงเทพจัดนิทรรศการใหม่"),
        Page::new("ramen", "", "ﾗｰﾒﾝ", "ｶﾞｲﾄﾞ"),
    ];
    for parts in [1, 3] {
        let splits = splits(&pages, parts);
        for (text, expected) in [
            ("東京の展覧会", &["both", "art"][..]),
            ("新しい美術館", &["art"]),
            ("北京大学图书馆", &["library"]),
            ("นิทรรศการกรุงเทพ", &["museum"]),
            ("ラーメンガイド", &["ramen"]),
            ("ｱﾆﾒ", &["castle"]),
            ("展覧会 -東京の美術館", &["both"]),
            ("展覧会 -美術展", &["both", "art"]),
            ("\"東京の展覧会\"", &["both"]),
            ("+東京の展覧会", &["both"]),
            ("東京の展覧会 lang:zh", &[]),
        ] {
            let results = both(&splits, text);
            let all = results.hits.iter().filter(|hit| hit.all_words).count();
            assert_eq!(names(&results)[..expected.len()], *expected, "{text}");
            assert_eq!((all, results.total), (expected.len(), expected.len() as u64), "{text}");
        }
    }
    let results = both(&splits(&pages, 2), "新しい東京展覧会");
    assert_eq!(marked(&results.hits[0]), ["東京", "新しい展覧会"]);
    let results = both(&splits(&pages, 2), "札幌雪祭 展覧会");
    assert_eq!([&results.unknown[..], &results.hits[0].missing[..]], [["札幌雪祭"], ["札幌雪祭"]]);
}

#[test]
fn words_that_no_page_has_are_named() {
    let split = [split(&[Page::en("a", "Tide", "The tide comes in."), Page::it("b", "Mare", "Il mare.")])];
    let results = both(&split, "tide xylomarimbula \"tide mill\"");
    assert_eq!((results.total, results.partial, results.unknown.clone()), (0, 0, vec!["xylomarimbula".to_owned()]));
    let results = both(&split, "tide xylomarimbula");
    assert_eq!((results.total, results.partial, names(&results)), (0, 1, vec!["a"]));
    assert_eq!(both(&split, "tide").unknown, [""; 0]);
    assert_eq!(both(&split, "how about the tide").unknown, [""; 0], "a stop word is never reported as missing");
}

#[test]
fn a_slip_of_the_fingers_is_looked_past() {
    let pages = [
        Page::en("damson", "Damsons", "Bees among damsons."),
        Page::en("bees", "Bees", "Bees among apples and bees."),
        Page::it("susine", "Susine", "Le api fra le susine."),
    ];
    let splits = splits(&pages, 2);
    let results = both(&splits, "bees among damosns");
    assert_eq!((names(&results), results.total, results.partial), (vec!["damson", "bees"], 0, 2));
    assert_eq!(results.unknown, ["damosns"]);
    assert_eq!((&results.hits[0].missing[..], &results.hits[1].missing[..]), (&[][..], &["damosns".to_owned()][..]));
    assert_eq!(results.hits[0].marks.len(), 3, "the corrected word is marked, too");
    let explained = results.hits[0].explanation.clone().unwrap().words;
    assert!(explained.iter().any(|(word, adds)| word == "like damosns" && *adds > 0.0), "{explained:?}");
    for strict in ["bees among +damosns", "bees among damosns sort:date", "bees \"among damosns\""] {
        assert_eq!(names(&both(&splits, strict)), [""; 0], "{strict}");
    }
}

#[test]
fn pages_of_results_run_on_from_all_words_into_some() {
    let mut pages: Vec<Page> = (0..7).map(|n| Page::en(&format!("all{n}"), "Tide", "The mill by the tide.")).collect();
    pages.extend((0..8).map(|n| Page::en(&format!("some{n}"), "Tide", "No other word.")));
    let splits = splits(&pages, 3);
    let whole = answer(&splits, &Hidden::default(), &first("tide mill", 100));
    assert_eq!((whole.total, whole.partial, whole.hits.len()), (7, 8, 15));
    assert!(whole.hits.is_sorted_by_key(|hit| !hit.all_words));
    let offsets = (0..15).step_by(4).map(|offset| Request { offset, ..first("tide mill", 4) });
    let by_offset = offsets.flat_map(|request| answer(&splits, &Hidden::default(), &request).hits);
    assert_eq!(by_offset.collect::<Vec<_>>(), whole.hits);
    let pages = each_page(&splits, "tide mill", &first("tide mill", 4));
    assert!(pages.iter().all(|page| (page.total, page.partial) == (7, 8)));
    assert_eq!(pages.into_iter().flat_map(|page| page.hits).collect::<Vec<_>>(), whole.hits);
}

#[test]
fn an_elided_word_counts_for_as_much_as_the_word() {
    let pages = [
        Page::it("orto", "Ricci", "I ricci nell'orto mangiano le lumache."),
        Page::it("ghiaia", "Ricci", "I ricci sulle ghiaie, e le lumache."),
        Page::en("en", "Hedgehogs", "They eat slugs."),
    ];
    let splits = splits(&pages, 2);
    let results = both(&splits, "ricci nell'orto");
    assert_eq!((names(&results), results.total), (vec!["orto", "ghiaia"], 1));
    let words = |text: &str| both(&splits, text).hits[0].explanation.clone().unwrap().words;
    assert!((words("ricci nell'orto")[1].1 - words("ricci orto")[1].1).abs() < 1e-6);
}

#[test]
fn a_word_counts_as_often_as_it_is_typed_and_the_last_of_many_counts() {
    let pages = [
        Page::en("olive", "Olives", "An olive in the garden, and a bench."),
        Page::en("tide", "Tides", "The tide at the harbour, and a ship."),
        Page::en("last", "A list", "Here is nothing but w249."),
    ];
    let splits = splits(&pages, 2);
    assert_eq!(names(&both(&splits, "olive tide tide tide")), ["tide", "olive"]);
    assert_eq!(names(&both(&splits, "tide olive olive olive")), ["olive", "tide"]);
    let many: String = (0..250).map(|n| format!("w{n} ")).collect();
    assert_eq!(names(&both(&splits, &many)), ["last"]);
    let results = both(&splits, &format!("{}tide", "olive ".repeat(250)));
    assert_eq!((names(&results), &results.hits[0].missing[..]), (vec!["olive", "tide"], &["tide".to_owned()][..]));
}

#[test]
fn a_page_in_the_language_of_the_query_comes_first() {
    let mut pages: Vec<Page> =
        (0..6).map(|n| Page::it(&format!("i{n}"), "Università", "Una università del mare, e delle stelle.")).collect();
    pages.extend((0..6).map(|n| Page::en(&format!("s{n}"), "Stars", "The stars of the night, and the sea.")));
    pages.push(Page::en("en", "Out there", "How large is it? The universe is as large as all of the stars together."));
    pages.push(Page::new("unknown", "", "Universe", "Universe, stars."));
    for parts in [1, 3] {
        let splits = splits(&pages, parts);
        let results = both(&splits, "how large is the universe");
        assert_eq!(names(&results)[0], "en", "{results:?}");
        let results = both(&splits, "universe stars");
        let at = |name: &str| names(&results).iter().position(|other| *other == name);
        assert!(at("en") < at("i0") && at("unknown") < at("i0"), "{:?}", names(&results));
        let results = both(&splits, "Universe");
        let at = |name: &str| names(&results).iter().position(|other| *other == name);
        assert!(at("en") < at("i0") && at("i0").is_some(), "the words share only their stem: {:?}", names(&results));
    }
}

#[test]
fn of_copies_the_one_that_is_shown_says_where_they_stand() {
    let text = "The tide tables of the harbour for all of the year, with the times of high water and of low water.";
    let pages = [
        Page::en("first", "Tide", text).day("2026-09-24").print(7),
        Page::en("between", "Tide", "A tide that nobody has seen before.").day("2026-11-01").print(!7),
        Page::en("again", "Tide", text).day("2026-11-13").print(7),
    ];
    for parts in [1, 3] {
        let splits = splits(&pages, parts);
        let results = both(&splits, "tide sort:date");
        assert_eq!((names(&results), results.copies), (vec!["between", "first"], 1));
    }
}

/// Tests that absurd queries are answered fast: each word is read once, and no page is scored twice for it.
#[test]
fn hostile_queries_are_answered() {
    let mut pages = Page::many(200);
    let words: String = (0..70).map(|n| format!("v{n} ")).collect();
    pages.extend([Page::en("words", "Words", &words), Page::en("half", "Half", &words[..words.len() / 2])]);
    let splits = splits(&pages, 2);
    let long: String = (0..512).map(|n| format!("w{n} ")).collect();
    for text in [
        long.as_str(),
        words.as_str(),
        "curlewww godwittt whimbrelll sandpiperrr xylomarimbula paneee artcoli",
        &"pane ".repeat(500),
        "a b c d e f g h",
        "the of and to in",
        "pane 東京 книга \u{5d0}\u{5d1} pane",
        "\"pane nuovo",
        "pane lang:qq",
        &"%".repeat(10_000),
        "ʼ",
        "ʼ ʼpane ʼ",
        "+ - +- -+ ++",
        &"pane-".repeat(200),
        &"+pane ".repeat(64),
    ] {
        let (query, said) = Query::read(text);
        assert!(!query.is_empty() || !said.is_empty(), "{text:.60}");
        let results = both(&splits, text);
        assert!(results.hits.len() as u64 <= results.total + results.partial, "{text:.60}");
    }
    assert_eq!(both(&splits, &"pane ".repeat(500)).total, both(&splits, "pane").total);
    let results = both(&splits, &words);
    assert_eq!((results.total, results.partial, names(&results)), (1, 1, vec!["words", "half"]));
    assert!(results.hits[1].missing.len() > 25, "{:?}", results.hits[1].missing);
}
