//! Tests of the query language.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
use super::*;
use proptest::prelude::*;

fn texts(clauses: &[Clause]) -> Vec<&str> {
    clauses.iter().map(|c| c.text.as_str()).collect()
}

#[test]
fn all_of_the_language_is_read() {
    let query = Query::parse(
        "pane \"olio nuovo\" -burro -\"due parole\" site:Example.ORG -site:https://blog.example.org/x \
         lang:it before:2026-05-01 after:2026-04-01 sort:date 12:30",
    );
    let query = query.unwrap();
    assert_eq!(texts(&query.wanted), ["pane", "olio nuovo", "12:30"]);
    assert_eq!(texts(&query.unwanted), ["burro", "due parole"]);
    assert_eq!(query.only.sites, ["example.org".to_owned()].into());
    assert_eq!(query.except.sites, ["blog.example.org".to_owned()].into());
    assert_eq!(query.only.languages, ["it".to_owned()].into());
    assert_eq!(query.wanted.iter().map(|clause| clause.must).collect::<Vec<_>>(), [false, true, false]);
    assert_eq!(Query::parse("+pane +\"olio nuovo\" c++").unwrap().wanted.iter().filter(|c| c.must).count(), 2);
    assert_eq!(query.before, Timestamp::parse_day_or_instant("2026-05-01").ok());
    assert_eq!(query.after, Timestamp::parse_day_or_instant("2026-04-01").ok());
    assert_eq!(query.sort, Sort::Date);
}

#[test]
fn an_author_is_a_word_or_a_name_in_quotation_marks() {
    let typed = "pane author:Rossi Author:\"Anna Maria Rossi\" -author:“Bo Ek”x site:\"example.org\"";
    let query = Query::parse(typed).unwrap();
    assert_eq!(texts(&query.wanted), ["pane", "x"]);
    assert_eq!(query.only.authors, ["Rossi".to_owned(), "Anna Maria Rossi".to_owned()].into());
    assert_eq!(query.except.authors, ["Bo Ek".to_owned()].into());
    assert_eq!(query.only.sites, ["example.org".to_owned()].into());
    assert!(Query::parse("author:Rossi").is_ok(), "a name is enough to look for");
    assert_eq!(Query::parse("-author:Rossi"), Err(QueryError::OnlyExcluded));
    assert_eq!(Query::parse("author:"), Err(QueryError::Author(String::new())));
    assert_eq!(Query::parse("x author:\"…\""), Err(QueryError::Author("…".into())));
    assert_eq!(texts(&Query::read("co-author:\"Anna Rossi\"").0.wanted), ["co-author", "Anna Rossi"]);
    let (query, said) = Query::read(&format!("author:\"{}\"", "a ".repeat(MAX_QUERY_TERMS + 1)));
    assert_eq!((query.only.authors.first().unwrap().split_whitespace().count(), said.len()), (MAX_QUERY_TERMS, 1));
}

#[test]
fn hosts_are_brought_into_one_form() {
    for (typed, host) in [
        ("site:Bücher.example", "xn--bcher-kva.example"),
        ("site:example.org.", "example.org"),
        ("site:example.org:8080", "example.org"),
        ("site:*.example.org", "example.org"),
        ("site:.it", "it"),
        ("site:[2001:DB8::1]", "[2001:db8::1]"),
    ] {
        assert_eq!(Query::parse(typed).unwrap().only.sites, [host.to_owned()].into(), "{typed}");
    }
}

#[test]
fn what_cannot_be_read_is_refused_in_words() {
    for (typed, error) in [
        ("", QueryError::Empty),
        (" \u{0} ", QueryError::Empty),
        ("… ---", QueryError::Empty),
        ("sort:relevance", QueryError::Empty),
        ("([… sort:date", QueryError::Empty),
        ("inurl:tide", QueryError::Filter("inurl".into())),
        ("-pane", QueryError::OnlyExcluded),
        ("pa*", QueryError::Wildcard("pa*".into())),
        ("title:", QueryError::Title(String::new())),
        ("tag:\"…\"", QueryError::Label("tag".into())),
        ("x in:", QueryError::Label("in".into())),
        ("-title:pane -tag:olio", QueryError::OnlyExcluded),
        ("*pane", QueryError::Wildcard("*pane".into())),
        ("pa*ne", QueryError::Wildcard("pa*ne".into())),
        ("site:", QueryError::Site(String::new())),
        ("lang:italian!", QueryError::Language("italian!".into())),
        ("before:soon", QueryError::Date("soon".into())),
        ("after:2025/11/13", QueryError::Date("2025/11/13".into())),
        ("a sort:size", QueryError::Order("size".into())),
    ] {
        let refused = Query::parse(typed).unwrap_err();
        assert_eq!(refused, error, "{typed}");
        assert!(refused.to_string().ends_with('.'), "{refused}");
        let names_both = ["before:", "after:"].iter().all(|filter| refused.to_string().contains(filter));
        assert!(names_both || !matches!(refused, QueryError::Date(_)), "{refused}");
    }
}

#[test]
fn a_filter_that_there_is_not_is_said_and_looked_for_as_words() {
    for (typed, wanted, is_said) in [
        ("foo:bar tide", &["foo", "bar", "tide"][..], true),
        ("12:30", &["12:30"], false),
        ("https://example.org/", &["https://example.org/"], false),
        ("std::vec", &["std::vec"], false),
        ("note: x", &["note", "x"], false),
    ] {
        let (query, said) = Query::read(typed);
        assert_eq!(said.iter().any(|why| matches!(why, QueryError::Filter(_))), is_said, "{typed}: {said:?}");
        assert_eq!(texts(&query.wanted), wanted, "{typed}");
        let at = query.wanted.iter().map(|clause| &typed[clause.at.clone()]);
        assert_eq!(at.collect::<Vec<_>>(), wanted, "{typed}");
    }
}

#[test]
fn titles_labels_and_beginnings_are_read() {
    let query = Query::parse("tid* title:\"Low  Tide\" -title:draft tag:Birds -tag:\"old news\" in:Sea 🚀").unwrap();
    assert_eq!(texts(&query.wanted), ["tid*", "🚀"]);
    assert_eq!(query.only.titles, ["Low  Tide".to_owned()].into());
    assert_eq!(query.except.titles, ["draft".to_owned()].into());
    assert_eq!(query.only.labels, [label("tag", "birds"), label("in", "sea")].map(Option::unwrap).into());
    assert_eq!(query.except.labels, [label("tag", "Old news").unwrap()].into());
    assert!(Query::parse("title:tide").is_ok() && Query::parse("in:Sea").is_ok());
    assert_eq!(texts(&Query::parse("\"low tid*\"").unwrap().wanted), ["low tid"], "a phrase has whole words");
}

#[test]
fn capitals_between_words_are_operators_of_which_not_alone_is_understood() {
    let boolean = |typed: &str| QueryError::Boolean(typed.into());
    for (typed, wanted, unwanted, said) in [
        ("tide NOT harbour", vec!["tide"], vec!["harbour"], vec![QueryError::Not]),
        ("tide AND NOT \"a b\" x", vec!["tide", "x"], vec!["a b"], vec![boolean("AND"), QueryError::Not]),
        ("a OR b OR c", vec!["a", "b", "c"], vec![], vec![boolean("OR")]),
        ("sort:date NOT harbour", vec!["NOT", "harbour"], vec![], vec![]),
        ("NOT harbour", vec!["NOT", "harbour"], vec![], vec![]),
        ("tide not harbour or AND", vec!["tide", "not", "harbour", "or", "AND"], vec![], vec![]),
        ("tide \"NOT\" harbour +OR x", vec!["tide", "NOT", "harbour", "OR", "x"], vec![], vec![]),
    ] {
        let (query, left_out) = Query::read(typed);
        assert_eq!((texts(&query.wanted), texts(&query.unwanted), left_out), (wanted, unwanted, said), "{typed}");
    }
    let (query, _) = Query::read("site:example.org NOT lang:it tide");
    assert_eq!((query.except.languages, texts(&query.wanted)), (["it".to_owned()].into(), vec!["tide"]));
}

#[test]
fn the_newest_of_all_pages_can_be_asked_for() {
    for typed in ["sort:date", "-pane sort:date"] {
        let query = Query::parse(typed).unwrap();
        assert!(!query.is_empty() && query.wanted.is_empty(), "{typed}");
    }
}

#[test]
fn limits_hold() {
    assert_eq!(Query::parse(&"a ".repeat(10_000)), Err(QueryError::TooLong { bytes: 20_000 }));
    assert_eq!(Query::parse(&"a ".repeat(MAX_QUERY_TERMS + 1)), Err(QueryError::TooManyTerms));
    assert_eq!(Query::parse(&format!("\"{}\"", "a ".repeat(MAX_QUERY_TERMS + 1))), Err(QueryError::TooManyTerms));
    assert!(Query::parse(&"a ".repeat(MAX_QUERY_TERMS)).is_ok());
    assert_eq!(Query::parse(&"(".repeat(200)), Err(QueryError::Empty));
}

#[test]
fn what_is_understood_is_looked_for_and_the_rest_is_said() {
    let date = |typed: &str| QueryError::Date(typed.into());
    let no_language = QueryError::Language(String::new());
    for (typed, wanted, left_out) in [
        ("pane before:soon", vec!["pane"], vec![date("soon")]),
        ("pane before:2026-13-45 lang:", vec!["pane"], vec![date("2026-13-45"), no_language]),
        ("pa*ne olio", vec!["olio"], vec![QueryError::Wildcard("pa*ne".into())]),
        ("pane\u{0}\u{1b}olio\u{7f}", vec!["pane", "olio"], vec![]),
        ("\"pane \"olio\" nuovo\"", vec!["pane", "olio", "nuovo"], vec![]),
        ("pane after:2026-05-02 before:2026-05-01", vec!["pane"], vec![QueryError::NoDays]),
    ] {
        let (query, said) = Query::read(typed);
        let words: Vec<&str> = texts(&query.wanted).into_iter().map(str::trim).collect();
        assert_eq!((words, said), (wanted, left_out), "{typed:?}");
    }
}

#[test]
fn o12_of_a_query_that_is_too_long_its_beginning_is_read() {
    let (query, said) = Query::read(&"abc ".repeat(2_500));
    assert_eq!(query.wanted.len(), MAX_QUERY_TERMS);
    assert_eq!(said, [QueryError::TooLong { bytes: 10_000 }, QueryError::TooManyTerms]);
    let (query, _) = Query::read(&format!("pane {}", "x".repeat(10_000)));
    assert_eq!(texts(&query.wanted), ["pane"], "half a word is not looked for");
    let (query, said) = Query::read(&format!("\"{}\"", "a ".repeat(2 * MAX_QUERY_TERMS)));
    assert_eq!((query.wanted[0].text.split_whitespace().count(), said.len()), (MAX_QUERY_TERMS, 1));
    let (query, said) = Query::read(&"(".repeat(10_000));
    assert!(query.is_empty() && said.len() == 2, "{said:?}");
    let said = QueryError::Site(shown(&"\u{202e}y".repeat(5_000))).to_string();
    assert!(said.chars().count() < 200, "{said}");
}

#[test]
fn words_know_where_they_stand() {
    let typed = "  pane -x \"olio nuovo\" site:a.org fine";
    let (query, _) = Query::read(typed);
    let at: Vec<&str> = query.wanted.iter().map(|clause| &typed[clause.at.clone()]).collect();
    assert_eq!(at, texts(&query.wanted));
    assert_eq!(at, ["pane", "olio nuovo", "fine"]);
}

#[test]
fn an_open_quotation_mark_reaches_to_the_end() {
    assert_eq!(texts(&Query::parse("a \"b c").unwrap().wanted), ["a", "b c"]);
    assert_eq!(texts(&Query::parse("a“b c”d").unwrap().wanted), ["a", "b c", "d"]);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        let (query, left_out) = Query::read(&text);
        prop_assert!(!query.is_empty() || !left_out.is_empty());
    }

    #[test]
    fn no_row_of_operators_makes_it_panic(text in "([a-zà-ü東\"“: *()-]|author:|site:|lang:|before:|after:|sort:|2026-13-01|\\[){0,40}") {
        if let Ok(query) = Query::parse(&text) {
            prop_assert!(query.wanted.len() + query.unwanted.len() <= MAX_QUERY_TERMS);
        }
    }
}
