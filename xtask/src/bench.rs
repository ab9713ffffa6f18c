//! `cargo xtask bench [PART…]`: measures the costs of pages, hosts, documents and searches with the release binaries.
//!
//! A separate process serves the sites of the fixture web, so that its work is not counted. A figure with a bar (a
//! limit) is checked against the bar. Processor time depends on the machine; the ratio of the whole pipeline to
//! extraction alone, for the same pages in the same run, depends on it much less.

mod crawls;
mod documents;
mod export;
mod feeds;
mod history;
mod pictures;
pub(crate) mod process;
mod raw;
mod scale;
mod search;
mod served;
mod siege;
mod simulation;
mod table;
mod web;

use crate::run::{cargo, emptied, output, program, root, run, target};
use anyhow::{Context, Result, bail};
use process::Used;
use std::path::{Path, PathBuf};
use std::process::Command;
use table::Table;

/// One part of the measurements.
type Part = fn(&Bench, &mut Table) -> Result<()>;

/// All parts, in running order.
const PARTS: [(&str, Part); 15] = [
    ("documents", documents::measure),
    ("feeds", feeds::measure),
    ("search", search::measure),
    ("simulation", simulation::measure),
    ("pages", crawls::pages),
    ("sites", crawls::sites),
    ("hosts", crawls::hosts),
    ("history", history::measure_history),
    ("raw", raw::measure_raw),
    ("demo", crawls::demo),
    ("pictures", pictures::measure_pictures),
    ("siege", siege::measure_siege),
    ("export", export::measure_export),
    ("export-stack", export::measure_stack_export),
    ("scale", scale::measure_scale),
];

/// Maximum ratio by which a figure with a bar may be worse than that of the compared program. Two runs of the same
/// program differ by a few per cent.
const WORSE: f64 = 1.1;

/// Measures parts of the program; with `--against REVISION`, each part also of the program of that revision.
pub(crate) fn bench(words: &[String]) -> Result<()> {
    let (revision, names) = match words {
        [flag, revision, names @ ..] if flag == "--against" => (Some(revision), names),
        names => (None, names),
    };
    let parts = chosen(names)?;
    build(root(), &target()?)?;
    let bench = Bench::new(&target()?, "bench")?;
    let older = revision.map(|revision| older(revision)).transpose()?;
    let (mut table, mut before) = (Table::default(), Table::default());
    eprintln!("xtask: {}", machine());
    for (name, part) in parts {
        if let Some(older) = &older {
            eprintln!("xtask: bench {name}, the program of {}", older.commit);
            part(&older.bench, &mut before).with_context(|| format!("bench {name} of {}", older.commit))?;
        }
        eprintln!("xtask: bench {name}");
        part(&bench, &mut table).with_context(|| format!("bench {name}"))?;
    }
    eprintln!("xtask: {}", machine());
    table.print()?;
    let mut missed = table.missed();
    if let Some(older) = older {
        eprintln!("xtask: the same of {}", older.commit);
        before.print()?;
        missed.extend(table.worse_than(&before, WORSE).into_iter().map(|row| format!("{row} of {}", older.commit)));
    }
    if !missed.is_empty() {
        bail!("beyond the bar: {}", missed.join("; "));
    }
    Ok(())
}

/// Builds the programs of a source tree in the release profile.
fn build(tree: &Path, target: &Path) -> Result<()> {
    let mut cargo = cargo();
    cargo.current_dir(tree).args(["build", "--release", "--locked", "-p", "curlew", "-p", "curlew-fixtureweb"]);
    run(cargo.arg("--target-dir").arg(target))
}

/// The program of an older revision.
struct Older {
    bench: Bench,
    /// The commit's short hash and its subject.
    commit: String,
}

/// Builds the program of a revision in a temporary worktree.
fn older(revision: &str) -> Result<Older> {
    let git = |args: &[&str]| output(program("git").args(args));
    let commit = git(&["log", "-1", "--format=%h (%s)", revision])?.trim().to_owned();
    let tree = emptied("older")?;
    git(&["worktree", "prune"])?;
    git(&["worktree", "add", "--force", "--detach", &tree.display().to_string(), revision])?;
    let programs = target()?.join("older-build");
    let built = build(&tree, &programs);
    git(&["worktree", "remove", "--force", &tree.display().to_string()])?;
    built?;
    Ok(Older { bench: Bench::new(&programs, "bench-older")?, commit })
}

/// Returns the hash of the commit that set the workspace's version.
pub(crate) fn last_version() -> Result<String> {
    let found = output(program("git").args(["log", "-1", "--format=%H", "-G^version = ", "--", "Cargo.toml"]))?;
    Ok(found.trim().to_owned())
}

fn chosen(names: &[String]) -> Result<Vec<(&'static str, Part)>> {
    if let Some(unknown) = names.iter().find(|name| PARTS.iter().all(|(known, _)| known != name)) {
        let known: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
        bail!("there is no bench '{unknown}', only {}", known.join(", "));
    }
    Ok(PARTS.into_iter().filter(|(known, _)| names.is_empty() || names.iter().any(|name| name == known)).collect())
}

/// Describes the load of the machine, because figures of a busy machine are less reliable.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!("{cores} cores, load average {}", load.split(' ').next().unwrap_or("unknown"))
}

/// Paths of the programs and files of the measurements.
pub(crate) struct Bench {
    curlew: PathBuf,
    fixtureweb: PathBuf,
    folder: PathBuf,
}

impl Bench {
    /// Copies the programs built in `built` to an empty folder `name`, which also holds files of the measurements.
    fn new(built: &Path, name: &str) -> Result<Bench> {
        let built = built.join("release");
        // A folder of the build, because the system's temporary folder may be in memory instead of on a disk.
        let folder = emptied(name)?;
        // A concurrent build must not change the measured programs.
        let copied = |name: &str| -> Result<PathBuf> {
            let copy = folder.join(name);
            std::fs::copy(built.join(name), &copy).with_context(|| format!("{} cannot be written", copy.display()))?;
            Ok(copy)
        };
        Ok(Bench { curlew: copied("curlew")?, fixtureweb: copied("curlew-fixtureweb")?, folder })
    }

    /// Returns a command that runs `curlew` with these arguments, without settings from the environment.
    fn curlew(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.curlew);
        command.current_dir(root()).args(args);
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("CURLEW_")) {
                command.env_remove(name);
            }
        }
        command
    }

    /// Runs `curlew check WHAT` on these questions. Fails if an answer is missing or an error.
    fn check(&self, what: &str, questions: &[serde_json::Value]) -> Result<Checked> {
        let lines: Vec<String> = questions.iter().map(|question| format!("{question}\n")).collect();
        let used = process::measure(self.curlew(&["check", what]), Some(lines.concat().into_bytes()))?;
        let answers: Vec<serde_json::Value> =
            used.stdout.lines().map(serde_json::from_str).collect::<Result<_, _>>().context("an answer is no JSON")?;
        if answers.len() != questions.len() {
            bail!("check {what}: {} questions, {} answers", questions.len(), answers.len());
        }
        if let Some(refused) = answers.iter().find(|answer| answer.get("error").is_some()) {
            bail!("check {what} cannot answer: {refused}");
        }
        Ok(Checked { used, answers })
    }
}

/// Answers of a check, and the resources that the check used.
struct Checked {
    used: Used,
    answers: Vec<serde_json::Value>,
}
