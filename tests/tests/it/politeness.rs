//! `tests/politeness.md` names the test that shows each rule of conduct. Here the table is compared with the existing
//! tests: no rule is left out, no test is named that does not exist, and each test with a rule in its name is in the
//! rule's row.

use curlew_tests::{read, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The rules: a letter for each chapter, and the number of its rules.
const CHAPTERS: [(char, usize); 8] =
    [('M', 51), ('R', 26), ('H', 20), ('F', 14), ('P', 19), ('I', 10), ('T', 19), ('X', 19)];
/// Rules of drafts that are not followed any more.
const GONE: [&str; 4] = ["P10", "P11", "P12", "P14"];
/// Folders of the tests.
const FOLDERS: [&str; 3] = ["shared", "functions", "tests"];
/// Beginning of the last cell of a row without a test; a reason follows.
const NONE: &str = "none: ";

/// One row of the table.
struct Row {
    id: String,
    /// The last cell: the tests that show the rule.
    shown_by: String,
}

impl Row {
    fn tests(&self) -> BTreeSet<String> {
        self.shown_by.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }
}

fn rows() -> Vec<Row> {
    let text = read("tests/politeness.md");
    let cells = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows = cells.map(|line| line.split(" | ").collect::<Vec<_>>());
    rows.filter(|cells| is_id(cells[0]))
        .map(|cells| {
            assert_eq!(cells.len(), 3, "{} has not three cells", cells[0]);
            Row { id: cells[0].to_owned(), shown_by: cells[2].to_owned() }
        })
        .collect()
}

fn is_id(word: &str) -> bool {
    word.len() == 3
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word[1..].bytes().all(|b| b.is_ascii_digit())
}

/// Returns the names of all tests: each `fn` below a test attribute.
fn tests() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders: Vec<PathBuf> = FOLDERS.iter().map(|folder| root().join(folder)).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                tests_of(&read(&entry), &mut found);
            }
        }
    }
    found
}

fn tests_of(source: &str, found: &mut BTreeSet<String>) {
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        let is_attribute = line.starts_with("#[") || line.starts_with("//") || line.starts_with("#!");
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if let Some((_, rest)) = line.split_once("fn ").filter(|_| is_test) {
            found.extend(rest.split_once('(').map(|(name, _)| name.to_owned()));
            is_test = false;
        } else if !is_attribute && !line.is_empty() && !line.starts_with(")]") {
            is_test = false;
        }
    }
}

/// Returns the rules in a test's name: `r05_r06_a_name`.
fn carried(test: &str) -> Vec<String> {
    test.split('_').take_while(|word| is_id(word)).map(str::to_uppercase).collect()
}

#[test]
fn every_rule_has_its_row_and_every_row_its_rule() {
    let wanted: Vec<String> = CHAPTERS
        .iter()
        .flat_map(|(letter, count)| (1..=*count).map(move |number| format!("{letter}{number:02}")))
        .filter(|id| !GONE.contains(&id.as_str()))
        .collect();
    assert_eq!(rows().into_iter().map(|row| row.id).collect::<Vec<_>>(), wanted);
}

#[test]
fn a_row_names_tests_that_exist_or_says_why_there_is_none() {
    let tests = tests();
    for row in rows() {
        let named = row.tests();
        let unknown: Vec<_> = named.difference(&tests).collect();
        assert!(unknown.is_empty(), "{}: there is no test {unknown:?}", row.id);
        let has_reason = row.shown_by.strip_prefix(NONE).is_some_and(|why| why.len() > 20);
        assert!(has_reason == named.is_empty(), "{}: name tests, or say `{NONE}` and why", row.id);
    }
}

#[test]
fn a_test_that_carries_a_rule_stands_in_its_row() {
    let chapters: BTreeSet<char> = CHAPTERS.iter().map(|(letter, _)| *letter).collect();
    let named: BTreeMap<String, BTreeSet<String>> =
        rows().into_iter().map(|row| (row.id.clone(), row.tests())).collect();
    for test in tests() {
        for id in carried(&test).into_iter().filter(|id| id.starts_with(|letter| chapters.contains(&letter))) {
            assert!(named.get(&id).is_some_and(|tests| tests.contains(&test)), "{test} is missing in the row of {id}");
        }
    }
}
