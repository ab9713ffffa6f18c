//! Compares README.md and docs/ with the program: commands, settings, fields of records, metrics.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests read the documents and fail by panicking")]

use crate::args::Cli;
use crate::export::columns::{COLUMNS, Cell, Column, ColumnType};
use crate::metrics::families::{Family, families};
use crate::metrics::gauges::Gauges;
use clap::CommandFactory as _;
use clap::error::ErrorKind;
use curlew_app::{Counts, Flags, Settings as Config};
use curlew_model::{Fingerprint, Location, PageId, RawFrame, Record, SegmentKey, SnippetLimit, ThumbnailId, Timestamp};
use curlew_policy::rules::Rules;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Options of other programs that the documents name.
const OTHERS_OPTIONS: [&str; 3] = ["--features", "--parameter-overrides", "--config-env"];
/// Parse errors that are allowed for commands in running text, which may be incomplete.
const INCOMPLETE: [ErrorKind; 5] = [
    ErrorKind::MissingRequiredArgument,
    ErrorKind::MissingSubcommand,
    ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
    ErrorKind::DisplayHelp,
    ErrorKind::DisplayVersion,
];

const HASH: &str = "00000000000000000000000000000000";

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().and_then(Path::parent).unwrap()
}

/// Returns the name and text of each document for users of the program.
fn documents() -> Vec<(String, String)> {
    let mut paths: Vec<PathBuf> =
        ["README.md", "CHANGELOG.md", "SECURITY.md", "infra/README.md"].iter().map(|name| root().join(name)).collect();
    for folder in ["docs", "docs/reference"] {
        let entries = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        paths.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    paths.sort();
    let name = |path: &Path| path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}

/// Returns the fenced blocks of a document, each with its language, and the text around them.
fn blocks(text: &str) -> (Vec<(String, String)>, String) {
    let (mut blocks, mut around): (Vec<(String, String)>, _) = (vec![], String::new());
    let mut is_inside = false;
    for line in text.lines() {
        if let Some(language) = line.strip_prefix("```") {
            is_inside = !is_inside;
            if is_inside {
                blocks.push((language.to_owned(), String::new()));
            }
        } else if is_inside {
            let (_, block) = blocks.last_mut().unwrap();
            block.push_str(line);
            block.push('\n');
        } else {
            around.push_str(line);
            around.push('\n');
        }
    }
    assert!(!is_inside, "a block does not end");
    (blocks, around)
}

/// Returns the lines of a block that a shell would run: without the text of here-documents, and without output.
fn shell_lines(language: &str, block: &str) -> Vec<String> {
    let mut lines = vec![];
    let mut ends = None;
    for line in block.replace("\\\n", " ").lines() {
        match (language, &ends) {
            ("ini", _) => lines.extend(line.strip_prefix("ExecStart=").map(str::to_owned)),
            ("console", _) => lines.extend(line.strip_prefix("$ ").map(str::to_owned)),
            ("sh", Some(end)) if line == *end => ends = None,
            ("sh", None) => {
                ends = line.split_once("<<").map(|(_, end)| end.trim_matches('\'').to_owned());
                lines.push(line.to_owned());
            }
            _ => {}
        }
    }
    lines
}

/// Splits a line into commands, and these into words, as a shell does. Leaves out redirections and comments.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut all = vec![vec![]];
    let (mut word, mut quote, mut is_target) = (None::<String>, None, false);
    let mut chars = line.chars().peekable();
    let end = |word: &mut Option<String>, is_target: &mut bool, all: &mut Vec<Vec<String>>| {
        if let Some(word) = word.take()
            && !std::mem::take(is_target)
        {
            all.last_mut().unwrap().push(word);
        }
    };
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, ' ' | '|' | ';' | '&' | '>' | '<' | '(' | ')') => {
                end(&mut word, &mut is_target, &mut all);
                match c {
                    ' ' => {}
                    '>' | '<' => is_target = true,
                    _ => all.push(vec![]),
                }
            }
            (_, '\\') => word.get_or_insert_default().extend(chars.next()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    end(&mut word, &mut is_target, &mut all);
    all.retain(|words| !words.is_empty());
    all
}

/// Returns the arguments of a command that runs `curlew`, including the program's name.
fn curlews(words: &[String]) -> Option<Vec<OsString>> {
    let is_setting =
        |word: &str| word.split_once('=').is_some_and(|(name, _)| name.chars().all(|c| c != '/' && c != '-'));
    let mut words = words.iter().map(String::as_str).skip_while(|word| is_setting(word)).peekable();
    if words.peek() == Some(&"sudo") {
        words.next();
        if words.peek() == Some(&"-u") {
            words.nth(1);
        }
    }
    let is_program = |word: &str| word.rsplit('/').next() == Some("curlew");
    let mut args = match words.next()? {
        "cargo" if words.peek() == Some(&"run") => words.skip_while(|word| *word != "--").skip(1).collect::<Vec<_>>(),
        program if is_program(program) => words.collect(),
        _ => return None,
    };
    args.insert(0, "curlew");
    Some(args.into_iter().map(OsString::from).collect())
}

fn spans(around: &str) -> Vec<String> {
    let prose: Vec<&str> = around.lines().filter(|line| !line.starts_with("    ")).collect();
    prose.join("\n").split('`').skip(1).step_by(2).map(|span| span.replace('\n', " ")).collect()
}

#[test]
fn every_command_of_the_documents_is_one_that_the_program_understands() {
    let (mut wrong, mut read) = (vec![], 0);
    for (name, text) in documents() {
        let (blocks, around) = blocks(&text);
        let lines = blocks.iter().flat_map(|(language, block)| shell_lines(language, block)).map(|line| (line, false));
        let mentions = spans(&around).into_iter().filter(|span| span.starts_with("curlew ") && !span.contains('…'));
        for (line, is_mention) in lines.chain(mentions.map(|span| (span, true))) {
            for args in commands(&line).iter().filter_map(|words| curlews(words)) {
                read += 1;
                if let Err(error) = Cli::read(args.clone())
                    && !(is_mention && INCOMPLETE.contains(&error.kind()))
                {
                    wrong.push(format!("{name}: {args:?}\n{error}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(read > 100, "only {read} commands were found");
}

#[test]
fn every_option_that_the_documents_name_is_one_of_the_program() {
    let mut known: BTreeSet<String> = OTHERS_OPTIONS.map(str::to_owned).into();
    known.extend(["--help", "--version"].map(str::to_owned));
    let mut commands = vec![Cli::command()];
    while let Some(command) = commands.pop() {
        known.extend(command.get_arguments().filter_map(|arg| Some(format!("--{}", arg.get_long()?))));
        commands.extend(command.get_subcommands().cloned());
    }
    let (mut unknown, mut read) = (vec![], 0);
    for (name, text) in documents() {
        for span in spans(&blocks(&text).1) {
            let option = span.split([' ', '=']).next().unwrap_or_default();
            if option.starts_with("--") {
                read += 1;
                unknown.extend((!known.contains(option)).then(|| format!("{name}: {span}")));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
    assert!(read > 10, "only {read} options were found");
}

#[test]
fn every_task_that_the_documents_name_is_one_of_xtask() {
    let source = std::fs::read_to_string(root().join("xtask/src/main.rs")).unwrap();
    let contributing = ("CONTRIBUTING.md".to_owned(), std::fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap());
    for (name, text) in documents().into_iter().chain([contributing]) {
        for (_, rest) in text.match_indices("cargo xtask ").map(|(at, found)| text[at..].split_at(found.len())) {
            let task: String = rest.chars().take_while(char::is_ascii_lowercase).collect();
            assert!(source.contains(&format!("Some((\"{task}\",")), "{name}: there is no `cargo xtask {task}`");
        }
    }
}

#[test]
fn a_command_that_there_is_not_is_noticed() {
    let parse =
        |line: &str| commands(line).iter().filter_map(|words| curlews(words)).map(Cli::read).collect::<Vec<_>>();
    for line in [
        "curlew crawl example.org --bogus",
        "echo x | curlew chekc address",
        "A=b curlew export pages > x.jsonl",
        "sudo -u curlew curlew status --jsn # why",
        "/usr/local/bin/curlew serve --listen here",
        "cargo run --release -- demo --nothing",
    ] {
        assert!(matches!(parse(line).as_slice(), [Err(_)]), "{line}");
    }
    let block = "cat > sites.txt <<'END'\ncurlew nothing\nEND\ncurlew search 'tide; -site:x' \\\n  --limit 5 > a; ls\n";
    let lines = shell_lines("sh", block);
    let read: Vec<_> = lines.iter().flat_map(|line| parse(line)).collect();
    assert!(matches!(read.as_slice(), [Ok(_)]), "{lines:?}");
}

/// Parses settings as if they were in a file.
fn load(toml: &str) -> Result<Config, String> {
    let usual = Config::load(&Flags::default(), std::iter::empty()).unwrap();
    usual.over_text("curlew.toml", toml).map_err(|error| error.to_string())
}

#[test]
fn every_example_of_settings_can_be_used() {
    let mut read = 0;
    for (name, text) in documents() {
        let (blocks, _) = blocks(&text);
        let written = blocks.iter().filter(|(language, _)| language == "sh").filter_map(|(_, block)| {
            let (_, rest) = block.split_once("cat > curlew.toml <<'END'\n")?;
            rest.split_once("\nEND\n").map(|(toml, _)| toml.to_owned())
        });
        let plain = blocks.iter().filter(|(language, _)| language == "toml").map(|(_, block)| block.clone());
        for toml in written.chain(plain) {
            read += 1;
            load(&toml).unwrap_or_else(|error| panic!("{name}: {error}\n{toml}"));
        }
    }
    assert!(read >= 3, "only {read} examples were found");
}

/// Returns the keys and defaults of the settings page, for each table of the file (`""` for the top level).
fn documented_settings() -> BTreeMap<String, Vec<(String, String)>> {
    let page = std::fs::read_to_string(root().join("docs/reference/settings.md")).unwrap();
    let mut tables = BTreeMap::<String, Vec<(String, String)>>::new();
    let mut table = String::new();
    for line in page.lines() {
        if let Some((name, _)) = line.strip_prefix("`[").and_then(|rest| rest.split_once("]`")) {
            table = name.to_owned();
        } else if line.starts_with("## ") {
            table.clear();
        }
        let cells: Vec<&str> = line.split(" | ").collect();
        if let ([keys, default, _, ..], true) = (cells.as_slice(), line.starts_with("| `")) {
            let keys = keys.split('`').skip(1).step_by(2).filter(|key| !key.starts_with("--"));
            tables.entry(table.clone()).or_default().extend(keys.map(|key| (key.to_owned(), (*default).to_owned())));
        }
    }
    tables
}

/// Returns the keys that the program accepts in a table of the settings file.
fn known_settings(table: &str) -> BTreeSet<String> {
    let head = if table.is_empty() { String::new() } else { format!("[{table}]\n") };
    let error = load(&format!("{head}no_such_key = 1\n")).unwrap_err();
    let (_, expected) = error.split_once("expected").unwrap_or_else(|| panic!("{table}: {error}"));
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_settings_page_has_every_setting_and_no_other() {
    let mut documented = documented_settings();
    let mut top = known_settings("");
    for (table, rows) in documented.iter().filter(|(table, _)| !table.is_empty()) {
        assert!(top.remove(table), "there is no table [{table}]");
        let keys: BTreeSet<String> = rows.iter().map(|(key, _)| key.clone()).collect();
        assert_eq!(keys, known_settings(table), "[{table}]: documented, and known to the program");
        assert_eq!(keys.len(), rows.len(), "[{table}] has a setting twice");
    }
    let keys: BTreeSet<String> = documented.remove("").unwrap_or_default().into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys, top, "outside of tables: documented, and known to the program");
}

#[test]
fn the_settings_page_has_the_defaults_of_the_rules() {
    let value = |text: &str| match text {
        "true" | "false" => text.to_owned(),
        _ if text.starts_with('[') || text.parse::<f64>().is_ok() => text.to_owned(),
        _ => format!("\"{text}\""),
    };
    let rows = documented_settings().remove("rules").unwrap();
    let toml: String = rows.iter().map(|(key, default)| format!("{key} = {}\n", value(default))).collect();
    assert_eq!(load(&format!("[rules]\n{toml}")).unwrap().rules, Rules::default());
}

/// Returns the first two cells of each table row in a document whose first cell is code.
fn first_cells(document: &str) -> Vec<(String, String)> {
    let page = std::fs::read_to_string(root().join(document)).unwrap();
    let cells = page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split('|').map(str::trim);
        Some((cells.next()?.trim_end_matches('`').to_owned(), cells.next()?.to_owned()))
    });
    cells.collect()
}

#[test]
fn the_page_about_records_has_every_field() {
    let segment = SegmentKey::new("segments/2026/11/21/a.jsonl.zst").unwrap();
    let now = Timestamp::parse_day_or_instant("2026-11-21").unwrap();
    // Every field is listed: a new one must be added here to compile, and documented for the test to pass.
    let empty = Record::new(PageId::new(HASH).unwrap(), String::new(), now);
    let mut preferences = empty.preferences.clone();
    (preferences.content_signal, preferences.license) = (Some(String::new()), Some(String::new()));
    let record = Record {
        id: PageId::new(HASH).unwrap(),
        url: String::new(),
        host: String::new(),
        feed: Some(String::new()),
        site_name: Some(String::new()),
        title: String::new(),
        text: String::new(),
        image: Some(String::new()),
        image_of_site: true,
        thumbnail: Some(ThumbnailId::new(HASH).unwrap()),
        thumbnail_frame: 1,
        raw: Some(RawFrame { day: String::new(), offset: 1, length: 2 }),
        language: Some(String::new()),
        published: Some(now),
        modified: Some(now),
        author: Some(String::new()),
        tags: vec![String::new()],
        folder: vec![String::new()],
        fetched_at: now,
        snippet_limit: SnippetLimit(Some(1)),
        no_archive: true,
        paywalled: true,
        unavailable_after: Some(now),
        preferences,
        simhash: Some(Fingerprint(1)),
        replaces: Some(Location { segment, offset: 1, length: 2 }),
    };
    let stored: BTreeSet<String> =
        serde_json::to_value(&record).unwrap().as_object().unwrap().keys().cloned().collect();
    let rows = first_cells("docs/reference/records.md");
    let said = |column: &Column| {
        let name = match column.of {
            ColumnType::Text => "string",
            ColumnType::Time => "timestamp",
            ColumnType::Integer => "integer",
            ColumnType::Boolean => "boolean",
        };
        format!("{name}{}", if column.is_required { ", always" } else { "" })
    };
    let known: Vec<(String, String)> = COLUMNS.iter().map(|column| (column.name.to_owned(), said(column))).collect();
    assert_eq!(rows, known, "columns in their order, each with its type");

    let of_this_store = ["thumbnail_frame", "raw", "replaces", "tags", "folder"];
    let exported = stored.iter().map(String::as_str).filter(|name| !of_this_store.contains(name));
    let names = COLUMNS.iter().map(|column| column.name);
    assert_eq!(exported.chain(["schema"]).collect::<BTreeSet<_>>(), names.collect(), "what is stored is exported");
    for column in &COLUMNS {
        let is_of_type = match (column.cell)(&record) {
            Cell::Absent => false,
            Cell::Text(_) => column.of == ColumnType::Text,
            Cell::Time(_) => column.of == ColumnType::Time,
            Cell::Integer(_) => column.of == ColumnType::Integer,
            Cell::Boolean(_) => column.of == ColumnType::Boolean,
        };
        let is_there = (column.cell)(&empty) != Cell::Absent;
        assert_eq!((is_of_type, is_there), (true, column.is_required), "{}", column.name);
    }
}

/// Returns the names of metrics in a text: `curlew_...` and `process_...`.
fn metrics_in(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let names = words.filter(|word| word.starts_with("curlew_") || word.starts_with("process_"));
    // Queries name a histogram by its `_bucket` and `_count` samples.
    let base = |name: &str| name.trim_end_matches("_bucket").trim_end_matches("_count").to_owned();
    names.map(base).collect()
}

/// Returns the names of all metrics as queries use them (counters with `_total`), and their types.
fn known_metrics() -> BTreeSet<(String, String)> {
    let known = |family: &Family<'_>| {
        let suffix = if family.kind.as_str() == "counter" { "_total" } else { "" };
        (format!("{}{suffix}", family.name), family.kind.as_str().to_owned())
    };
    families(&Counts::default(), &Gauges::default()).iter().map(known).collect()
}

#[test]
fn the_metrics_page_has_every_metric_with_its_type_and_no_other() {
    let rows = first_cells("docs/reference/metrics.md");
    let known = known_metrics();
    assert_eq!(rows.len(), known.len(), "a metric stands there twice, or not at all");
    assert_eq!(rows.into_iter().collect::<BTreeSet<_>>(), known, "documented, and known to the program");
}

#[test]
fn the_dashboard_and_the_alerts_use_every_metric_and_no_other() {
    let read = |name: &str| std::fs::read_to_string(root().join("contrib").join(name)).unwrap();
    let board: serde_json::Value = serde_json::from_str(&read("grafana/curlew.json")).unwrap();
    let targets = board["panels"].as_array().unwrap().iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let asked: Vec<&str> = targets.map(|target| target["expr"].as_str().unwrap()).collect();
    let used = metrics_in(&format!("{}\n{}", asked.join("\n"), read("prometheus/curlew.rules.yml")));
    assert_eq!(used, known_metrics().into_iter().map(|(name, _)| name).collect(), "used, and known to the program");
}
