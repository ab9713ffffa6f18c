//! `curlew completions` and `curlew man`: shell completions and manual pages, generated from `args.rs`.

use crate::args::Cli;
use anyhow::{Context, Result};
use clap::CommandFactory as _;
use clap_complete::Shell;
use std::io::Write as _;
use std::path::Path;

pub(crate) fn completions(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "curlew", &mut script);
    Ok(std::io::stdout().lock().write_all(&script)?)
}

pub(crate) fn pages(folder: &Path) -> Result<()> {
    let cannot = || format!("the manual pages cannot be written into {}", folder.display());
    std::fs::create_dir_all(folder).with_context(cannot)?;
    clap_mangen::generate_to(Cli::command(), folder).with_context(cannot)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_command_has_a_manual_page() {
        let folder = tempfile::tempdir().unwrap();
        pages(&folder.path().join("man1")).unwrap();
        let mut left = vec![("curlew".to_owned(), Cli::command())];
        let mut names = BTreeSet::new();
        while let Some((name, command)) = left.pop() {
            let page = std::fs::read_to_string(folder.path().join(format!("man1/{name}.1"))).unwrap();
            for section in [".TH", ".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION"] {
                assert!(page.contains(section), "{name}: {section}");
            }
            left.extend(command.get_subcommands().map(|sub| (format!("{name}-{}", sub.get_name()), sub.clone())));
            names.insert(format!("{name}.1"));
        }
        let entries = std::fs::read_dir(folder.path().join("man1")).unwrap();
        let files: BTreeSet<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        assert_eq!(names, files);
        assert!(names.len() > 40, "{names:?}");
    }
}
