//! Runs programs, and prints their command lines.

use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The version of all crates of the workspace.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// Returns cargo's build folder.
pub(crate) fn target() -> Result<PathBuf> {
    let metadata = output(cargo().args(["metadata", "--no-deps", "--format-version", "1", "--locked"]))?;
    let (_, rest) =
        metadata.split_once("\"target_directory\":\"").context("cargo metadata names no target directory")?;
    let (path, _) = rest.split_once('"').context("cargo metadata names no target directory")?;
    Ok(root().join(path))
}

/// Creates an empty folder in the build folder, and returns its path.
pub(crate) fn emptied(name: &str) -> Result<PathBuf> {
    let folder = target()?.join(name);
    let cannot = || format!("{} cannot be emptied", folder.display());
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(cannot)?;
    }
    std::fs::create_dir_all(&folder).with_context(cannot)?;
    Ok(folder)
}

/// Returns the folder of installed tools.
pub(crate) fn tools_dir() -> PathBuf {
    root().join(".tools")
}

/// Returns a command that runs a program in the root of the workspace, without standard input.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root()).stdin(Stdio::null());
    // `cargo run` sets these variables for xtask. Build scripts that watch them would run again whenever builds from
    // xtask and from a shell alternate.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
            command.env_remove(name);
        }
    }
    command
}

/// Returns a command that runs the cargo which started xtask.
pub(crate) fn cargo() -> Command {
    program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Prints a command line and runs it. Fails if the exit code is not 0.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = line(command);
    eprintln!("xtask: {line}");
    let status = command.status().with_context(|| format!("`{line}` cannot be started"))?;
    if !status.success() {
        bail!("`{line}` failed: {status}");
    }
    Ok(())
}

/// Runs a command quietly, and returns its standard output. If the exit code is not 0, the error contains the standard
/// error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let line = line(command);
    let output = command.output().with_context(|| format!("`{line}` cannot be started"))?;
    if !output.status.success() {
        bail!("`{line}` failed: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr).trim_end());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn line(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(name).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
