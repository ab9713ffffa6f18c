//! The licence texts of the crates in the program, each included once.

use super::crates::Crate;
use crate::run::{output, program, root};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Prefixes of the names of files with a licence or a notice, in upper case.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
/// Maximum depth of such a file in the crate's folder: bundled C sources have separate ones.
const DEPTH: u8 = 2;
/// The text for crates under this licence that contain no text.
const MIT: &str = include_str!("mit.txt");

/// Returns the list of all third-party crates with their licences, followed by the texts.
///
/// # Errors
/// If a text is missing.
pub(super) fn texts(crates: &[Crate]) -> Result<String> {
    let foreign: Vec<&Crate> = crates.iter().filter(|one| one.checksum.is_some()).collect();
    let mut list = String::from("Curlew contains these libraries. Their licences follow.\n\n");
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for one in &foreign {
        let name = format!("{} {}", one.name, one.version);
        let by = if one.authors.is_empty() { String::new() } else { format!(", by {}", one.authors.join(", ")) };
        list += &format!(
            "{name}: {}{by}{}\n",
            one.licence,
            one.repository.as_deref().map(|at| format!(", {at}")).unwrap_or_default()
        );
        let mut texts = own_texts(&one.folder)?;
        if texts.is_empty() {
            texts.push(text_elsewhere(one, &foreign)?);
        }
        for text in texts {
            found.entry(text).or_default().push(name.clone());
        }
    }
    let (library, text) = standard_library()?;
    list += &format!("{library}: MIT OR Apache-2.0, https://www.rust-lang.org/\n");
    found.entry(text).or_default().push(library);
    for (text, names) in found {
        list += &format!("\n{}\n{}:\n\n{}\n", "-".repeat(80), names.join(", "), text.trim_end());
    }
    Ok(list)
}

/// Returns the licence texts in a crate's folder, in the order of their paths.
fn own_texts(folder: &Path) -> Result<Vec<String>> {
    let (mut folders, mut files) = (vec![(folder.to_owned(), 1)], Vec::<PathBuf>::new());
    while let Some((folder, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| format!("{} cannot be listed", folder.display()))? {
            let (path, name) = (entry.as_ref().map(|e| e.path()), entry.as_ref().map(|e| e.file_name()));
            let (path, name) = (path.unwrap_or_default(), name.unwrap_or_default());
            let name = name.to_string_lossy().to_uppercase();
            if path.is_dir() && depth < DEPTH {
                folders.push((path, depth + 1));
            } else if path.is_file() && NAMES.iter().any(|one| name.starts_with(one)) && !name.ends_with(".RS") {
                files.push(path);
            }
        }
    }
    files.sort();
    let text = |path: &PathBuf| Ok(String::from_utf8_lossy(&std::fs::read(path)?).replace("\r\n", "\n"));
    files.iter().map(text).collect()
}

/// Returns the text for a crate that contains none: that of a crate of the same repository, or a standard one.
fn text_elsewhere(one: &Crate, foreign: &[&Crate]) -> Result<String> {
    let sisters = foreign.iter().filter(|other| one.repository.is_some() && other.repository == one.repository);
    for sister in sisters {
        if let Some(text) = own_texts(&sister.folder)?.into_iter().next() {
            return Ok(text);
        }
    }
    if one.licence.contains("Apache-2.0") {
        return Ok(std::fs::read_to_string(root().join("LICENSE"))?);
    }
    if one.licence.contains("MIT") {
        return Ok(MIT.to_owned());
    }
    // A licence has one text for all crates, unless it names the owner, as those of the BSD family do.
    for other in foreign.iter().filter(|other| other.licence == one.licence && one.licence == "MPL-2.0") {
        if let Some(text) = own_texts(&other.folder)?.into_iter().next() {
            return Ok(text);
        }
    }
    bail!("{} brings no text of its licence, {}: give one in xtask/src/dist/licences.rs", one.name, one.licence)
}

/// Returns the name and licence of Rust's standard library, which is part of every program.
fn standard_library() -> Result<(String, String)> {
    let version = output(program("rustc").arg("--version"))?;
    let version = version.split_whitespace().nth(1).context("rustc has a version")?;
    Ok((format!("Rust standard library {version}"), format!("Copyright (c) The Rust Project Contributors\n\n{MIT}")))
}
