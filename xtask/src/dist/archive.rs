//! Reproducible archives, made with tar, gzip and sha256sum.

use crate::run::{output, program};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// Lets everybody read a tree, and its owner write it, whatever the umask of the build.
pub(super) fn open_to_read(tree: &Path) -> Result<()> {
    output(program("chmod").args(["--recursive", "u=rwX,go=rX"]).arg(tree)).map(drop)
}

/// Writes an archive of these members of a folder, owned by root. Returns its path.
pub(super) fn tar(folder: &Path, members: &[&str], archive: &Path) -> Result<PathBuf> {
    put("--create", folder, members, "0", archive)?;
    Ok(archive.to_owned())
}

/// Adds members to an archive, with `owner` as the ids of user and group.
pub(super) fn append(folder: &Path, members: &[&str], owner: &str, archive: &Path) -> Result<()> {
    put("--append", folder, members, owner, archive)
}

fn put(operation: &str, folder: &Path, members: &[&str], owner: &str, archive: &Path) -> Result<()> {
    let mut tar = program("tar");
    tar.args([operation, "--format=gnu", "--sort=name", "--numeric-owner"])
        .args([format!("--mtime=@{}", time()), format!("--owner={owner}"), format!("--group={owner}")])
        .arg("--file")
        .arg(archive)
        .arg("--directory")
        .arg(folder)
        .args(members);
    output(&mut tar).map(drop)
}

/// Compresses a file in place. Returns the new path.
pub(super) fn gzip(file: &Path, level: u8) -> Result<PathBuf> {
    output(program("gzip").args(["--no-name", &format!("-{level}")]).arg(file))?;
    let mut name = file.as_os_str().to_owned();
    name.push(".gz");
    Ok(name.into())
}

/// Returns the SHA-256 of a file, in hexadecimal digits.
pub(super) fn sha256(file: &Path) -> Result<String> {
    let said = output(program("sha256sum").arg(file))?;
    // A backslash before the digits means that the file name is escaped.
    let digits = said.split_whitespace().next().context("sha256sum says nothing")?;
    Ok(digits.trim_start_matches('\\').to_owned())
}

/// Returns the modification time of files in archives, in seconds since 1970: `SOURCE_DATE_EPOCH`, if set
/// (reproducible-builds.org), or else the time of the last commit.
pub(super) fn time() -> u64 {
    let stated = std::env::var("SOURCE_DATE_EPOCH").ok();
    let stated = stated.or_else(|| output(program("git").args(["log", "-1", "--format=%ct"])).ok());
    // Sources outside of a repository have no time.
    stated.and_then(|seconds| seconds.trim().parse().ok()).unwrap_or(0)
}
