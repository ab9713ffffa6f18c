//! Checks README.md and docs/: runs their commands over the bundled web, and follows their links.
//!
//! A block marked `sh` is run by bash; the output of a block marked `console` is compared, too. Each page is run from
//! top to bottom in a folder of its own. A block that cannot be run has a comment above it that says why.

use curlew_tests::{BRISK, Server, Web, binary, read, root};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Beginning of the comment above a block that is not run.
const NOT_RUN: &str = "<!-- not run: ";
/// Character that stands for any output in the documents.
const ANYTHING: char = '…';
/// Sites of the bundled web that replace `example.org` and `blog.example.net`.
const SITES: [&str; 2] = ["harbour-lantern.test", "alpine-notes.test"];
/// Folders without documents of this project.
const OTHERS: [&str; 6] = ["target", ".git", ".tools", ".aws-sam", "node_modules", "curlew-data"];
/// Maximum number of lines of the README.
const README_LINES: usize = 150;

/// State of the reader's store at the beginning of a page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begins {
    Empty,
    Crawled,
}

/// Defines one test for each page, so that pages run in parallel, and the list of these pages.
macro_rules! pages {
    ($($test:ident: $page:literal, $begins:ident;)*) => {
        const PAGES: &[&str] = &[$($page),*];
        $(#[test] fn $test() { run_page($page, Begins::$begins); })*
    };
}

pages! {
    the_commands_of_the_readme: "README.md", Empty;
    the_commands_for_fifty_blogs: "docs/search-engine.md", Empty;
    the_commands_for_a_corpus: "docs/corpus.md", Empty;
    the_commands_behind_a_feed_reader: "docs/feed-reader.md", Empty;
    the_commands_on_a_server: "docs/server.md", Empty;
    the_commands_for_site_owners: "docs/site-owners.md", Empty;
    the_commands_of_the_reference: "docs/reference/commands.md", Empty;
    the_commands_about_searching: "docs/reference/search.md", Crawled;
    the_commands_about_records: "docs/reference/records.md", Crawled;
    the_commands_of_check: "docs/reference/check.md", Empty;
}

/// A fenced block of a page.
struct Block {
    language: String,
    text: String,
    /// True if the comment above says why the block is not run.
    is_excused: bool,
}

fn blocks(page: &str) -> Vec<Block> {
    let text = read(page);
    let (mut blocks, mut current, mut above) = (vec![], None::<Block>, "");
    for line in text.lines() {
        match (line.strip_prefix("```"), &mut current) {
            (Some(_), Some(_)) => blocks.extend(current.take()),
            (Some(language), None) => {
                let is_excused = above.strip_prefix(NOT_RUN).is_some_and(|why| why.trim_end_matches(" -->").len() > 5);
                current = Some(Block { language: language.to_owned(), text: String::new(), is_excused });
            }
            (None, Some(block)) => block.text.extend([line, "\n"]),
            (None, None) => above = if line.is_empty() { above } else { line },
        }
    }
    assert!(current.is_none(), "{page}: a block does not end");
    blocks
}

#[track_caller]
pub(crate) fn block(page: &str, beginning: &str) -> String {
    let block = blocks(page).into_iter().find(|block| block.text.starts_with(beginning));
    block.unwrap_or_else(|| panic!("{page} has no block that begins with {beginning}")).text
}

/// Returns true if a reader would copy the block to a shell.
fn is_for_a_shell(block: &Block) -> bool {
    ["sh", "console"].contains(&block.language.as_str())
}

/// A reader at the shell of a separate machine.
struct Reader {
    folder: TempDir,
    web: Web,
    served_at: SocketAddr,
    /// Names in the documents, and their replacements in the test.
    stand_ins: Vec<(String, String)>,
}

impl Reader {
    fn new() -> Reader {
        let (web, folder, served_at) =
            (Web::demo(), TempDir::with_prefix("curlew-docs-").unwrap(), Server::free_address());
        let [site, blog] = SITES;
        let (page, _) = &web.farm().site(site).unwrap().entries()[0];
        let year = Command::new("date").arg("+%Y").output().unwrap();
        let stand_ins = [
            ("https://example.org/feed.xml", format!("http://{site}/feed/")),
            ("https://example.org/a-page", page.clone()),
            ("https://example.org", format!("http://{site}")),
            ("https://blog.example.net", format!("http://{blog}")),
            ("blog.example.net", blog.to_owned()),
            ("example.org", site.to_owned()),
            ("127.0.0.1:8080", served_at.to_string()),
            ("--year 2026", format!("--year {}", String::from_utf8_lossy(&year.stdout).trim())),
        ]
        .map(|(name, here)| (name.to_owned(), here))
        .into();
        let reader = Reader { folder, web, served_at, stand_ins };
        // `curlew serve` runs in the background until its block ends.
        let script = format!(
            "#!/usr/bin/env bash\nset -eu\n[ \"${{1-}}\" = serve ] || exec {curlew} \"$@\"\n{curlew} \"$@\" --listen {at} \
             >served.txt 2>&1 </dev/null &\necho $! >>serving\nuntil grep -q ^Open served.txt; do\n  \
             kill -0 $! || {{ cat served.txt; exit 1; }}\n  sleep 0.05\ndone\n",
            curlew = binary().display(),
            at = reader.served_at,
        );
        let bin = reader.folder.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        std::fs::write(bin.join("curlew"), script).unwrap();
        let made = Command::new("chmod").arg("+x").arg(bin.join("curlew")).status().unwrap();
        assert!(made.success());
        reader
    }

    fn here(&self, text: &str) -> String {
        self.stand_ins.iter().fold(text.to_owned(), |text, (name, here)| text.replace(name, here))
    }

    /// Runs a script as the reader's shell does, and ends the programs that the script left running.
    fn run(&self, script: &str) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut bash = Command::new("bash");
        // The reader does not have the settings of the test machine.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CURLEW_")) {
            bash.env_remove(name);
        }
        let ran = bash
            .args(["-euo", "pipefail", "-c", script])
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .envs(BRISK)
            .env("CURLEW_RESOLVE", self.web.resolve())
            .env("CURLEW_RULES_POLL_ON_REQUEST", "0s")
            .env("PATH", format!("{}:{path}", self.folder.path().join("bin").display()))
            .output()
            .unwrap();
        self.stop_serving();
        ran
    }

    fn stop_serving(&self) {
        let list = self.folder.path().join("serving");
        for id in std::fs::read_to_string(&list).unwrap_or_default().lines() {
            let wait = format!("kill {id} && while kill -0 {id} 2>/dev/null; do sleep 0.05; done");
            assert!(Command::new("bash").args(["-c", &wait]).status().unwrap().success(), "`curlew serve` had ended");
        }
        let _there_may_be_none = std::fs::remove_file(list);
    }

    #[track_caller]
    fn succeeds(&self, page: &str, script: &str) -> String {
        let ran = self.run(script);
        let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert!(ran.status.success(), "{page}: {}\n{script}\nstdout: {out}\nstderr: {err}", ran.status);
        out.into_owned()
    }
}

fn run_page(page: &str, begins: Begins) {
    let reader = Reader::new();
    if begins == Begins::Crawled {
        let [site, blog] = SITES;
        reader.succeeds(page, &format!("curlew crawl http://{site}/ http://{blog}/"));
    }
    let mut ran = 0;
    for block in blocks(page).iter().filter(|block| is_for_a_shell(block) && !block.is_excused) {
        let text = reader.here(&block.text);
        ran += 1;
        if block.language == "sh" {
            reader.succeeds(page, &text);
            continue;
        }
        let mut steps = text.split("$ ").skip(1).filter_map(|step| step.split_once('\n')).peekable();
        assert!(steps.peek().is_some(), "{page}: a block without a command:\n{text}");
        for (command, expected) in steps {
            let printed = reader.succeeds(page, command);
            assert!(is_like(&printed, expected), "{page}: {command}\nprints\n{printed}\nand not\n{expected}");
        }
    }
    assert!(ran > 0, "{page}: no block is run");
}

/// Returns true if a text equals the documented output, in which [`ANYTHING`] may stand for any part. Blanks and line
/// ends are equal.
fn is_like(printed: &str, shown: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (printed, shown) = (words(printed), words(shown));
    let mut parts: Vec<&str> = shown.split(ANYTHING).collect();
    let (Some(first), last) = (parts.first().copied(), parts.pop()) else { return false };
    let Some(last) = last.filter(|_| !parts.is_empty()) else { return printed == shown };
    let Some(mut rest) = printed.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) else { return false };
    parts.iter().skip(1).all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

#[test]
fn what_is_printed_is_compared_around_what_is_left_out() {
    assert!(is_like("{\"a\": 1,\n \"b\": 2}\n", "{\"a\": 1, \"b\": 2}"));
    assert!(is_like("{abc def ghi}", "{abc…ghi}") && is_like("{abc}", "{…abc…}") && is_like("abc", "…"));
    for shown in ["{abc}", "{abc…gh}", "{abc…xyz…ghi}", "x{…}"] {
        assert!(!is_like("{abc def ghi}", shown), "{shown}");
    }
}

#[test]
fn every_block_for_a_shell_is_run_or_says_why_not() {
    for path in documents() {
        let page = path.strip_prefix(root()).unwrap().to_str().unwrap();
        // Other documents are for developers of the program.
        let is_for_users = page == "README.md" || page.starts_with("docs/") && !page.starts_with("docs/decisions/");
        let is_run = PAGES.contains(&page);
        for block in blocks(page).iter().filter(|block| is_for_users && is_for_a_shell(block)) {
            assert!(is_run || block.is_excused, "{page}: this block is not run and does not say why:\n{}", block.text);
        }
    }
}

#[test]
fn the_documents_name_the_packages_of_this_version() {
    let mut named = 0;
    for page in ["README.md", "docs/index.md", "docs/server.md"] {
        for after in read(page).split("curlew").skip(1).filter_map(|rest| rest.strip_prefix(['-', '_', ':'])) {
            if after.starts_with(|c: char| c.is_ascii_digit()) {
                named += 1;
                assert!(after.starts_with(env!("CARGO_PKG_VERSION")), "{page}: curlew-{after}");
            }
        }
    }
    assert!(named > 5, "only {named} packages are named");
}

#[test]
fn the_readme_is_short() {
    let lines = read("README.md").lines().count();
    assert!(lines <= README_LINES, "README.md has {lines} lines: move details to a page in docs/");
}

#[test]
fn what_a_stack_costs_is_what_was_measured() {
    let (pages, measured) = (read("docs/aws.md"), read("BENCHMARKS.md"));
    for row in ["| a million new pages, ", "| 100,000 feeds polled "] {
        let cells = |text: &str| -> Vec<String> {
            let line = text.lines().find(|line| line.starts_with(row)).unwrap_or_else(|| panic!("no row {row}"));
            let number = |cell: &str| cell.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
            line.split(" | ").skip(1).take(2).map(number).collect()
        };
        assert_eq!(cells(&pages), cells(&measured), "dollars and bar of docs/aws.md, and of BENCHMARKS.md: {row}");
    }
    // The README quotes two of the figures of docs/aws.md.
    let readme = read("README.md");
    for (row, told) in
        [("| a million new pages, ", "dollars for a million pages"), ("| idle, a month", "dollars a month idle")]
    {
        let line = pages.lines().find(|line| line.starts_with(row)).unwrap_or_else(|| panic!("no row {row}"));
        let dollars = line.split(" | ").nth(1).unwrap();
        assert!(readme.contains(&format!("{dollars} {told}")), "README.md: {dollars} {told}");
    }
}

fn documents() -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![root().to_owned()], vec![]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.extend((!OTHERS.iter().any(|other| path.ends_with(other))).then_some(path));
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns a document without its code blocks.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence && !line.starts_with("    ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the anchors of a document's headings, as a Git forge and the documentation site derive them.
fn anchors(text: &str) -> BTreeSet<String> {
    let (text, mut times) = (prose(text), BTreeMap::<String, usize>::new());
    let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let name = |heading: &str| -> String {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
    };
    let mut number = |name: String| {
        let before = times.entry(name.clone()).or_default();
        *before += 1;
        if *before == 1 { name } else { format!("{name}-{}", *before - 1) }
    };
    headings.map(|heading| number(name(heading))).collect()
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    let (mut dead, mut followed) = (vec![], 0);
    for path in documents() {
        let text = read(&path);
        let text = prose(&text);
        // Text in backquotes contains no links.
        let text: String = text.split('`').step_by(2).collect();
        for (_, rest) in text.match_indices("](").map(|(at, found)| text[at..].split_at(found.len())) {
            let target = rest.split(')').next().unwrap_or_default();
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            followed += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let has_anchor = || anchor.is_empty() || anchors(&read(&file)).contains(anchor);
            if !file.exists() || !has_anchor() {
                dead.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
    assert!(followed > 50, "only {followed} links were found");
}
