//! The crates in the program, as cargo lists them.

use crate::run::{cargo, output, root};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A crate that is part of the program. Build dependencies are not.
pub(super) struct Crate {
    pub(super) name: String,
    pub(super) version: String,
    /// An SPDX expression.
    pub(super) licence: String,
    pub(super) authors: Vec<String>,
    pub(super) repository: Option<String>,
    /// The folder of the crate's sources.
    pub(super) folder: PathBuf,
    /// SHA-256 of the crate's package; `None` for a crate of this workspace.
    pub(super) checksum: Option<String>,
    /// Names and versions of the crate's dependencies that are part of the program.
    pub(super) uses: Vec<(String, String)>,
}

/// Returns the crates of `curlew` with its default features on this architecture, sorted by name and version.
pub(super) fn of_the_program() -> Result<Vec<Crate>> {
    let tree = ["tree", "--locked", "--package", "curlew", "--edges", "normal", "--prefix", "none", "--format", "{p}"];
    let tree = output(cargo().args(tree))?;
    let in_program: BTreeSet<(String, String)> = tree.lines().filter_map(name_and_version).collect();
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let metadata = ["metadata", "--format-version", "1", "--locked", "--filter-platform", &platform];
    let metadata = output(cargo().args(metadata))?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata prints no JSON")?;
    let checksums = checksums()?;
    let key = |package: &Value| (text(&package["name"]), text(&package["version"]));
    let packages = list(&metadata["packages"]);
    let by_id: BTreeMap<&str, _> = packages.iter().filter_map(|p| Some((p["id"].as_str()?, key(p)))).collect();
    let mut crates = Vec::new();
    for package in packages.iter().filter(|package| in_program.contains(&key(package))) {
        let nodes = list(&metadata["resolve"]["nodes"]);
        let node = nodes.iter().find(|node| node["id"] == package["id"]).context("cargo resolves each crate")?;
        let used = list(&node["dependencies"]).iter().filter_map(|id| by_id.get(id.as_str()?).cloned());
        let manifest = PathBuf::from(text(&package["manifest_path"]));
        crates.push(Crate {
            name: text(&package["name"]),
            version: text(&package["version"]),
            // Older manifests separate licences by a slash.
            licence: text(&package["license"]).split('/').map(str::trim).collect::<Vec<_>>().join(" OR "),
            authors: list(&package["authors"]).iter().map(text).collect(),
            repository: package["repository"].as_str().map(str::to_owned),
            folder: manifest.parent().context("a manifest lies in a folder")?.to_owned(),
            checksum: checksums.get(&key(package)).cloned(),
            uses: used.filter(|used| in_program.contains(used)).collect(),
        });
    }
    crates.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(crates)
}

/// Parses a line of `cargo tree`, such as `aho-corasick v1.1.5 (*)`.
fn name_and_version(line: &str) -> Option<(String, String)> {
    let mut words = line.split_whitespace();
    Some((words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned()))
}

/// Returns the checksums in the lock file, by name and version.
fn checksums() -> Result<BTreeMap<(String, String), String>> {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).context("Cargo.lock cannot be read")?;
    let value = |package: &str, key: &str| {
        package
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(" = ").map(|v| v.trim_matches('"').to_owned()))
    };
    let entry =
        |package: &str| Some(((value(package, "name")?, value(package, "version")?), value(package, "checksum")?));
    Ok(lock.split("[[package]]").filter_map(entry).collect())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
