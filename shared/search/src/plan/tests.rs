//! Tests of plans.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
use super::*;
use crate::schema::schema;

fn plan(text: &str) -> Plan {
    let languages = ["", "de", "en"].map(str::to_owned).into();
    Plan::new(&Query::parse(text).unwrap(), languages, &schema().1, &mut Analyzers::default())
}

#[test]
fn a_page_with_most_pairs_of_a_run_has_it() {
    let plan = plan("tide 東京の展覧会");
    let lacked = |has: &[usize]| {
        let lacked = plan.lacked(0, has.iter().copied().collect());
        lacked.map(|word| word.text.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(lacked(&[0, 1, 2, 3, 4, 5]), [""; 0]);
    assert_eq!(lacked(&[0, 1, 3, 5]), [""; 0]);
    assert_eq!(lacked(&[3, 5]), ["tide", "東京の展覧会"]);
}

/// Returns the words that a page in a language must contain to count as having all words.
fn required(plan: &Plan, language: usize) -> Vec<&str> {
    let of = |bit: &usize| plan.languages[language].required.contains(*bit);
    (0..plan.units.len()).filter(of).map(|bit| plan.units[bit].text.as_str()).collect()
}

#[test]
fn stop_words_of_a_language_are_not_required_of_its_pages() {
    let die_hard = plan("die hard");
    assert_eq!([0, 1, 2].map(|language| required(&die_hard, language).len()), [1, 1, 2]);
    assert_eq!(required(&plan("to be or not"), 2), ["to", "be", "or", "not"], "there is nothing else");
    assert_eq!(required(&plan("+the tide"), 2), ["the", "tide"]);
    assert_eq!(required(&plan("\"the tide\" of"), 2), ["the tide"]);
}

#[test]
fn positions_are_read_of_phrases_and_of_words_beside_others() {
    for (text, with, without) in [
        ("tide", vec![], vec!["tide"]),
        ("\"mud flat\"", vec!["mud", "flat"], vec![]),
        ("tide mud", vec!["tide", "mud"], vec![]),
        ("tide mud -flat", vec!["tide", "mud"], vec!["flat"]),
        ("tide -\"mud flat\"", vec!["mud", "flat"], vec!["tide"]),
    ] {
        let reads = plan(text).reads();
        let times = |word: &str| {
            let of_word = reads.iter().filter(|(text, _)| crate::tokens::form_and_rules(text).0 == word);
            of_word.map(|(_, times)| *times).collect::<Vec<u64>>()
        };
        let all = |words: &[&str], is_right: fn(&u64) -> bool| {
            words.iter().all(|word| !times(word).is_empty() && times(word).iter().all(is_right))
        };
        assert!(all(&with, |times| *times > 0) && all(&without, |times| *times == 0), "{text}: {reads:?}");
    }
    let unread = Unread { postings: BTreeSet::new(), positions: plan("mud").reads().into_keys().collect() };
    let mut words = plan("tide \"mud flat\" -mud -\"mud bank\"");
    words.leave_unread(&unread);
    assert_eq!(words.too_common, ["mud flat", "mud bank"], "a word to leave out needs no positions");
}

#[test]
fn a_word_that_is_unread_in_one_language_is_still_required_in_the_others() {
    let mut words = plan("+tides mud");
    let postings = words.units[0].written[1].terms().filter_map(text_of).map(str::to_owned).collect();
    words.leave_unread(&Unread { postings, positions: BTreeSet::new() });
    assert_eq!([0, 1, 2].map(|number| words.languages[number].strict.contains(0)), [true, false, true]);
    assert_eq!(words.too_common, ["tides"]);
}

#[test]
fn the_stop_words_of_a_sentence_are_stop_words_in_every_language() {
    let is_sentence = |text: &str| {
        let Language { stop_words, own_stop_words, .. } = plan(text).languages.remove(1);
        stop_words != own_stop_words
    };
    assert!(is_sentence("how do i prune an olive tree"));
    for text in ["olive tree", "war and peace", "the tide of the estuary", "olive tree prune winter pests frost"] {
        assert!(!is_sentence(text), "{text}");
    }
}

#[test]
fn words_are_looked_for_once_and_by_their_parts() {
    let texts = |text: &str| plan(text).units.iter().map(|unit| unit.text.clone()).collect::<Vec<_>>();
    let parts = ["tide", "state", "of", "the", "art", "in", "out", "12:30", "co-op x"];
    assert_eq!(texts("tide Tide state-of-the-art in/out 12:30 \"co-op x\""), parts);
    assert_eq!(texts("東京の展覧会"), ["東京", "京の", "の展", "展覧", "覧会"]);
    assert_eq!(texts("iPhoneの手机 ｶﾞﾗｽ 犬 の"), ["iPhone", "の手", "手机", "ガラ", "ラス", "犬", "の"]);
    assert_eq!(texts("12:30に \"東京都\" +京都人"), ["12:30", "に", "東京都", "京都人"]);
    assert_eq!(texts(&"東京".repeat(60)), ["東京", "京東"]);
    assert_eq!(texts(&"word ".repeat(60)).len(), 1);
    assert_eq!(texts(&(0..150).map(|n| format!("a{n}-b{n} ")).collect::<String>()).len(), MAX_QUERY_TERMS);
}
