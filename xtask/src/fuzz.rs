//! `cargo xtask fuzz`: runs every fuzz target for a while, on the stable toolchain.

use crate::run::{cargo, program, root, run, target};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

/// A target: its name, the maximum length of an input in bytes, and folders of the repository with first inputs besides
/// `fuzz/corpus/NAME`.
type Target = (&'static str, usize, &'static [&'static str]);

/// All targets, as `fuzz/src/main.rs` names them.
const TARGETS: &[Target] = &[
    ("article", 4_096, &["shared/article/tests/it/fixtures"]),
    ("coding", 4_096, &[]),
    ("decode", 4_096, &[]),
    ("image", 16_384, &[]),
    ("feed", 4_096, &["shared/feed/tests/it/fixtures"]),
    ("discover", 4_096, &[]),
    ("opml", 4_096, &[]),
    ("robots", 4_096, &[]),
    ("matching", 512, &[]),
    ("directives", 1_024, &[]),
    ("query", 512, &[]),
    ("split", 256, &[]),
    ("warc", 4_096, &[]),
];
/// Default running time of each target, in seconds: enough for the corpus and what is near it, where the faults of a change
/// show.
const SECONDS: u32 = 20;
/// Time after which an input counts as hanging, by the wall clock. The targets bound counted work; this bounds the
/// rest, and is long enough for a busy machine: inputs take a fifth of a second at most.
const HANG_SECONDS: u32 = 60;
/// Memory above which a target has found something, in megabytes.
const MEMORY_MB: u32 = 1_024;

/// Runs the named targets, or all, one per core at a time.
pub(crate) fn fuzz(args: &[String]) -> Result<()> {
    let (seconds, names) = match args.split_first() {
        Some((first, names)) if first.parse::<u32>().is_ok() => (first.parse()?, names),
        _ => (SECONDS, args),
    };
    if let Some(name) = names.iter().find(|name| TARGETS.iter().all(|(known, ..)| known != name)) {
        bail!("there is no fuzz target '{name}'");
    }
    let fuzzer = build()?;
    let chosen = TARGETS.iter().filter(|(name, ..)| names.is_empty() || names.iter().any(|n| n == name));
    let left = Mutex::new(chosen.collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>());
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

/// Builds the one program of all targets in the profile of the tests, with coverage counters in the workspace's crates.
fn build() -> Result<PathBuf> {
    run(cargo()
        .args(["build", "--workspace", "--locked", "--bin", "curlew-fuzz"])
        .env("RUSTC_WORKSPACE_WRAPPER", root().join("fuzz/instrument")))?;
    Ok(target()?.join("debug/curlew-fuzz"))
}

fn fuzz_one(fuzzer: &Path, (name, max_len, folders): &Target, seconds: u32) -> Result<()> {
    let home = target()?.join("fuzz").join(name);
    // New inputs are written into the first folder; those of the repository are only read.
    let corpus = home.join("corpus");
    std::fs::create_dir_all(&corpus).with_context(|| format!("{} cannot be made", corpus.display()))?;
    let own = format!("fuzz/corpus/{name}");
    let given =
        std::iter::once(own.as_str()).chain(folders.iter().copied()).filter(|folder| root().join(folder).is_dir());
    // Tests that run beside it mostly wait, and the processor time that they leave is enough.
    let mut command: Command = program("nice");
    command
        .args(["-n", "19"])
        .arg(fuzzer)
        .env("CURLEW_FUZZ_TARGET", name)
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-timeout={HANG_SECONDS}"))
        .arg(format!("-rss_limit_mb={MEMORY_MB}"))
        .arg(format!("-max_len={max_len}"))
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
