//! `cargo xtask fuzz`: runs every fuzz target for a limited time, on the stable toolchain.

use crate::run::{cargo, program, root, run};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

/// A target of `fuzz/targets.txt`.
struct Target {
    name: String,
    /// Maximum length of an input, in bytes.
    max_length: usize,
    /// Folders of the repository with seed inputs, in addition to `fuzz/corpus/NAME`.
    folders: Vec<String>,
}

/// Default running time of each target, in seconds. Every test run covers the seed inputs; fuzzing looks for others.
const SECONDS: u32 = 60;
/// Wall-clock time after which an input counts as hanging. The targets bound counted work; this bounds the rest, and is
/// long enough for a busy machine: inputs take at most a fifth of a second.
const HANG_SECONDS: u32 = 60;
/// Memory limit of a target, in megabytes; a target that exceeds it has a finding.
const MEMORY_MB: u32 = 1_024;

/// Runs the named targets, or all, on each core one at a time.
pub(crate) fn fuzz(args: &[String]) -> Result<()> {
    let (seconds, names) = match args.split_first() {
        Some((first, names)) if first.parse::<u32>().is_ok() => (first.parse()?, names),
        _ => (SECONDS, args),
    };
    let targets = targets()?;
    if let Some(name) = names.iter().find(|name| targets.iter().all(|target| target.name != **name)) {
        bail!("there is no fuzz target '{name}'");
    }
    let fuzzer = build()?;
    let chosen = targets.iter().filter(|target| names.is_empty() || names.contains(&target.name));
    let left = Mutex::new(chosen.rev().collect::<Vec<_>>());
    let failed = Mutex::new(Vec::new());
    let work = || {
        loop {
            // The lock is released before the target runs.
            let next = left.lock().expect("no holder panics").pop();
            let Some(target) = next else { break };
            if let Err(error) = fuzz_one(&fuzzer, target, seconds) {
                failed.lock().expect("no holder panics").push(format!("{error:#}"));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let failed = failed.into_inner()?;
    if !failed.is_empty() {
        bail!("{}", failed.join("\n"));
    }
    Ok(())
}

fn targets() -> Result<Vec<Target>> {
    let list = std::fs::read_to_string(root().join("fuzz/targets.txt"))?;
    let target = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        let (name, max_length) = words.next().zip(words.next()).context("a target has a name and a maximum length")?;
        Ok(Target { name, max_length: max_length.parse()?, folders: words.collect() })
    };
    list.lines().filter(|line| !line.starts_with('#')).map(target).collect()
}

/// Builds the program with all targets in the profile of the tests, with coverage counters in the workspace's crates.
fn build() -> Result<PathBuf> {
    run(cargo()
        .args(["build", "--workspace", "--locked", "--bin", "curlew-fuzz"])
        .env("RUSTC_WORKSPACE_WRAPPER", root().join("fuzz/instrument")))?;
    Ok(crate::run::target()?.join("debug/curlew-fuzz"))
}

fn fuzz_one(fuzzer: &Path, target: &Target, seconds: u32) -> Result<()> {
    let name = &target.name;
    let home = crate::run::target()?.join("fuzz").join(name);
    // New inputs are written to the first folder; the folders of the repository are only read.
    let corpus = home.join("corpus");
    std::fs::create_dir_all(&corpus).with_context(|| format!("{} cannot be made", corpus.display()))?;
    let own = format!("fuzz/corpus/{name}");
    let given = std::iter::once(&own).chain(&target.folders).filter(|folder| root().join(folder).is_dir());
    let mut command: Command = program(fuzzer);
    command
        .env("CURLEW_FUZZ_TARGET", name)
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-timeout={HANG_SECONDS}"))
        .arg(format!("-rss_limit_mb={MEMORY_MB}"))
        .arg(format!("-max_len={}", target.max_length))
        .arg(format!("-artifact_prefix={}/", home.display()))
        .arg("-print_final_stats=1")
        .arg(&corpus)
        .args(given);
    let output = command.output().with_context(|| format!("{} cannot be started", fuzzer.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let log = home.join("log");
    std::fs::write(&log, &*said).with_context(|| format!("{} cannot be written", log.display()))?;
    if !output.status.success() {
        let end: Vec<&str> = said.lines().rev().take(40).collect();
        let end: Vec<&str> = end.into_iter().rev().collect();
        bail!("fuzz target {name} has a finding; its log is {}\n{}", log.display(), end.join("\n"));
    }
    let stat = |key: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix("stat::")?.strip_prefix(key));
        line.map_or("?", |rest| rest.trim_start_matches(':').trim()).to_owned()
    };
    let (runs, memory) = (stat("number_of_executed_units"), stat("peak_rss_mb"));
    eprintln!("xtask: fuzz {name}: {runs} runs in {seconds} s, {memory} MB, nothing found");
    Ok(())
}
