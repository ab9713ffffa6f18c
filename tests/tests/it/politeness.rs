//! Compares `tests/politeness.md`, which names the tests that show each rule of conduct, with the existing tests. Every
//! rule has a row, every named test exists, and each test with a rule in its name is in the row of that rule.

use curlew_tests::{read, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Letters of the chapters, and the number of rules in each.
const CHAPTERS: [(char, usize); 8] =
    [('M', 51), ('R', 26), ('H', 20), ('F', 14), ('P', 19), ('I', 10), ('T', 19), ('X', 19)];
/// Rules of drafts that are no longer followed.
const GONE: [&str; 4] = ["P10", "P11", "P12", "P14"];
/// Folders of the tests.
const FOLDERS: [&str; 3] = ["shared", "functions", "tests"];
/// Beginning of the last cell in a row without tests; a reason follows.
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

/// Returns the names of all tests: each `fn` after a test attribute.
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

/// Returns the rules at the beginning of a test's name, such as `r05_r06_a_name`.
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
        assert!(has_reason == named.is_empty(), "{}: name tests, or write `{NONE}` and the reason", row.id);
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
