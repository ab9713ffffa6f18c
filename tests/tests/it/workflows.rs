//! Checks the CI workflows: they use one version of each action everywhere, have no write permission unless a job
//! grants it, and run existing tasks. Also checks that a release finds its notes.

use curlew_tests::{read, root};
use std::collections::BTreeMap;

/// Returns the text of all workflows by file name.
fn workflows() -> BTreeMap<String, String> {
    let files = std::fs::read_dir(root().join(".github/workflows")).unwrap().map(|file| file.unwrap().path());
    files.map(|file| (file.file_name().unwrap().to_str().unwrap().to_owned(), read(&file))).collect()
}

/// Returns the rest of each line that starts with a key.
fn values<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    text.lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix(key)).map(str::trim).collect()
}

#[test]
fn each_action_is_pinned_to_one_version() {
    let mut pinned: BTreeMap<String, String> = BTreeMap::new();
    for (file, text) in workflows() {
        for action in values(&text, "uses:") {
            let (name, version) = action.split_once('@').unwrap_or_else(|| panic!("{file}: {action}"));
            assert!(version.starts_with('v') && version[1..].parse::<u32>().is_ok(), "{file}: {action}");
            let known = pinned.entry(name.to_owned()).or_insert_with(|| version.to_owned());
            assert_eq!(known, version, "{file}: {name}");
        }
    }
    assert!(pinned.len() >= 5, "{pinned:?}");
}

#[test]
fn workflows_may_write_nothing_and_keep_no_credentials() {
    for (file, text) in workflows() {
        assert!(text.contains("\npermissions:\n  contents: read\n"), "{file}");
        let checkouts = text.matches("actions/checkout@").count();
        assert_eq!(text.matches("persist-credentials: false").count(), checkouts, "{file}");
        assert_eq!(text.matches("runs-on:").count(), text.matches("timeout-minutes:").count(), "{file}");
        let writes = text.matches(": write").count();
        assert_eq!(writes, if file == "release.yml" { 3 } else { 0 }, "{file}");
    }
}

#[test]
fn workflows_run_tasks_that_there_are() {
    let tasks = read("xtask/src/main.rs");
    for (file, text) in workflows() {
        for task in text.split("cargo xtask ").skip(1).filter_map(|rest| rest.split_whitespace().next()) {
            assert!(tasks.contains(&format!("Some((\"{task}\", ")), "{file}: cargo xtask {task}");
        }
    }
}

#[test]
fn the_changelog_and_the_citation_name_this_version() {
    let version = env!("CARGO_PKG_VERSION");
    let changelog = read("CHANGELOG.md");
    let (_, notes) = changelog.split_once(&format!("\n## [{version}]")).expect("a part about this version");
    let notes = notes.split("\n## [").next().unwrap_or_default();
    assert!(notes.lines().skip(1).any(|line| !line.trim().is_empty()), "the release would have no notes");
    assert_eq!(values(&read("CITATION.cff"), "version:"), [version]);
}
