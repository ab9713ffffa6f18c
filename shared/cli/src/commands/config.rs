//! `curlew config`: the settings themselves.

use crate::args::{ConfigWhat, Shared};
use crate::config::{self, Config};
use crate::output;
use anyhow::{Context, Result, bail};
use curlew_wiring::Effective;
use serde_json::json;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// The file that `init` writes.
const FIRST: &str = include_str!("first.toml");

/// Runs the command. It opens no store.
pub(crate) fn run(what: &ConfigWhat, shared: &Shared) -> Result<()> {
    match what {
        ConfigWhat::Check => {
            let config = config::load(shared, std::env::vars())?;
            output::line("The settings can be used.")?;
            if config.contact.is_none() {
                output::line(
                    "There is no contact, so no public host is called: state `contact`, a page or a mail address.",
                )?;
            }
            if config.web.base_url.is_none() {
                output::line("There is no [web] base_url, so searches have no feeds, and requests are not signed.")?;
            }
            Ok(())
        }
        ConfigWhat::Show { output } => show(&Config::effective(&config::flags(shared), std::env::vars())?, output.json),
        ConfigWhat::Init { file } => init(file),
    }
}

fn show(settings: &[Effective], json: bool) -> Result<()> {
    if json {
        for Effective { table, key, value, origin } in settings {
            output::json(&json!({"table": table, "key": key, "value": value, "origin": origin.to_string()}))?;
        }
        return Ok(());
    }
    let mut table = "";
    for setting in settings {
        if setting.table != table {
            table = &setting.table;
            output::line(&format!("\n[{table}]"))?;
        }
        let line = format!("{} = {}", setting.key, setting.value);
        output::line(&format!("{line:<40} # {}", setting.origin))?;
    }
    Ok(())
}

fn init(file: &Path) -> Result<()> {
    let written =
        OpenOptions::new().write(true).create_new(true).open(file).and_then(|mut f| f.write_all(FIRST.as_bytes()));
    match written {
        Ok(()) => {
            let name = file.display();
            output::line(&format!(
                "{name} is written: state your contact in it, then `curlew config check --config {name}`."
            ))?;
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("{} exists already, and is kept", file.display())
        }
        Err(error) => Err(error).with_context(|| format!("{} cannot be written", file.display())),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use curlew_wiring::Flags;

    #[test]
    fn the_file_to_begin_with_can_be_used_as_it_is_and_with_all_that_it_proposes() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("curlew.toml");
        let load = || Config::load(&Flags { file: Some(file.clone()), ..Flags::default() }, std::iter::empty());
        init(&file).unwrap();
        load().unwrap();
        assert!(init(&file).unwrap_err().to_string().contains("exists already"));
        let proposed: String = FIRST
            .lines()
            .map(|line| line.strip_prefix('#').filter(|l| l.contains(" = ")).unwrap_or(line))
            .collect::<Vec<_>>()
            .join("\n");
        std::fs::write(&file, proposed).unwrap();
        let config = load().unwrap();
        assert!(config.contact.is_some() && config.web.base_url.is_some());
    }
}
