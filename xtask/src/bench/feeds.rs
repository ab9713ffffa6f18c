//! The feed reader, compared on the same files with fastfeedparser, the fastest one for Python: set
//! `CURLEW_BENCH_PYTHON` to a Python that has it (`pip install fastfeedparser`). Otherwise only Curlew's figures are
//! measured.
//!
//! Curlew also validates each document against its schema, which fastfeedparser does not.

use super::documents::{FEEDS, atom, rss};
use super::process;
use super::table::Table;
use super::{Bench, Used};
use crate::run::{cargo, root, run, target};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Number of files of each dialect.
const FILES: usize = 20;
/// Number of times all files are read.
const ROUNDS: usize = 100;

/// The program for fastfeedparser, which reads the files as the example `read_feeds` does.
const OTHER: &str = "\
import sys, fastfeedparser
feeds = [open(name, 'rb').read() for name in sys.argv[2:]]
print(sum(len(fastfeedparser.parse(feed).entries) for _ in range(int(sys.argv[1])) for feed in feeds))";

pub(crate) fn measure(bench: &Bench, table: &mut Table) -> Result<()> {
    run(cargo().args(["build", "--release", "--locked", "-p", "curlew-feed", "--example", "read_feeds"]))?;
    let ours = target()?.join("release/examples/read_feeds");
    let python = std::env::var_os("CURLEW_BENCH_PYTHON");
    for (dialect, write) in [("RSS", rss as fn(usize) -> String), ("Atom", atom)] {
        let (files, bytes) = documents(&bench.folder, dialect, write)?;
        let own = cpu(Command::new(&ours), &files)?;
        let rate = |seconds: f64| bytes as f64 * ROUNDS as f64 / 1e6 / seconds;
        table.figure(format!("{dialect}, read and checked"), rate(own), "MB/s");
        if let Some(python) = &python {
            let mut other = Command::new(python);
            other.args(["-c", OTHER]);
            let other = cpu(other, &files)?;
            table.figure(format!("{dialect}, fastfeedparser"), rate(other), "MB/s");
            table.barred(format!("{dialect}, processor time of ours / of fastfeedparser"), own / other, "", 1.0);
        }
    }
    Ok(())
}

/// Writes the files to read. Returns their paths, and their total size in bytes.
fn documents(folder: &Path, dialect: &str, write: fn(usize) -> String) -> Result<(Vec<PathBuf>, usize)> {
    let mut bytes = 0;
    let mut files = Vec::with_capacity(FILES);
    for n in 0..FILES.min(FEEDS) {
        let text = write(n);
        bytes += text.len();
        let file = folder.join(format!("{dialect}-{n}.xml"));
        std::fs::write(&file, text).with_context(|| format!("{} cannot be written", file.display()))?;
        files.push(file);
    }
    Ok((files, bytes))
}

/// Returns the processor time of [`ROUNDS`] rounds in seconds, without that of starting the process.
fn cpu(command: Command, files: &[PathBuf]) -> Result<f64> {
    let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    let rounds = |rounds: usize| -> Result<Used> {
        let mut command = Command::new(command.get_program());
        command.current_dir(root()).args(&arguments).arg(rounds.to_string()).args(files);
        process::measure(command, None)
    };
    let seconds = rounds(ROUNDS + 1)?.cpu_seconds - rounds(1)?.cpu_seconds;
    if seconds <= 0.0 {
        bail!("{:?} took no time that could be measured", command.get_program());
    }
    Ok(seconds)
}
