//! `curlew config` and `curlew init`: the settings themselves.

use super::blocks::explain;
use crate::args::{ConfigWhat, InitArgs, Preset, Shared};
use crate::config;
use crate::failure::usage;
use crate::pictures::without_a_model;
use crate::world::stack_settings;
use crate::{optional, output};
use anyhow::{Context, Result, bail};
use curlew_app::{Effective, STACK_SETTINGS, Settings as Config, SystemClock, with_paused};
use curlew_people::audit_log::{Act, AuditLog, COMMAND_LINE};
use curlew_ports::Blobs;
use serde_json::json;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::sync::Arc;

/// Returns the file that `init` writes.
fn first(preset: Preset) -> &'static str {
    match preset {
        Preset::Search => include_str!("presets/search.toml"),
        Preset::Corpus => include_str!("presets/corpus.toml"),
        Preset::Archive => include_str!("presets/archive.toml"),
    }
}

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
            if let Some(line) = without_a_model(&config.image, "curlew") {
                output::line(&sentence(&line))?;
            }
            tell_of_base_url(&config)
        }
        ConfigWhat::Show { output } => show(&config::load(shared, std::env::vars())?.effective, output.json),
        ConfigWhat::Set { .. } | ConfigWhat::Pause | ConfigWhat::Resume => Err(usage(
            "this changes the settings of a stack: say --aws; on this machine, edit the file and start curlew again",
        )),
    }
}

/// Returns a line with a capital and a full stop.
fn sentence(line: &str) -> String {
    let mut letters = line.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

fn tell_of_base_url(config: &Config) -> Result<()> {
    if config.web.base_url.is_none() {
        output::line("There is no [web] base_url, so searches have no feeds, and requests are not signed.")?;
    }
    Ok(())
}

/// Runs the command on the settings of a stack. It works also if they are wrong.
pub(super) async fn on_stack(what: &ConfigWhat, config: &Config, stack: &str) -> Result<()> {
    let blobs = optional::stack(stack).await?.blobs;
    let log = AuditLog { blobs: blobs.clone(), clock: Arc::new(SystemClock::new()) };
    let done =
        |what: &str| log.add(COMMAND_LINE, Act { reason: what.to_owned(), ..Act::new("settings", STACK_SETTINGS) });
    match what {
        ConfigWhat::Check => {
            let stated = on_top(config, blobs.as_ref()).await?;
            output::line("The settings can be used on a stack.")?;
            tell_of_base_url(&stated)
        }
        ConfigWhat::Show { output } => show(&on_top(config, blobs.as_ref()).await?.effective, output.json),
        ConfigWhat::Set { file } => {
            let name = file.display().to_string();
            let text = std::fs::read_to_string(file).with_context(|| format!("{name} cannot be read"))?;
            config.over_text(&name, &text)?.check_for_stack()?;
            blobs.put(STACK_SETTINGS, text.into_bytes().into()).await?;
            done("set").await.map_err(explain)?;
            Ok(output::line(&format!(
                "{name} holds the settings of the stack {stack}: its functions follow within a minute"
            ))?)
        }
        ConfigWhat::Pause => {
            switch(blobs.as_ref(), true).await?;
            done("pause").await.map_err(explain)?;
            Ok(output::line(
                "crawling is paused: no call begins after the next minute, nothing is lost, and `config resume` goes on",
            )?)
        }
        ConfigWhat::Resume => {
            switch(blobs.as_ref(), false).await?;
            done("resume").await.map_err(explain)?;
            Ok(output::line("crawling goes on within a quarter of an hour")?)
        }
    }
}

/// Returns the settings that this machine's file states, or else the stack.
async fn on_top(config: &Config, blobs: &dyn Blobs) -> Result<Config> {
    let stated = match config.have_file() {
        true => config.clone(),
        false => config.over_text(STACK_SETTINGS, &stack_settings(blobs).await?.0)?,
    };
    stated.check_for_stack()?;
    Ok(stated)
}

/// Switches `paused` in the settings of a stack.
async fn switch(blobs: &dyn Blobs, paused: bool) -> Result<()> {
    let (text, seen) = stack_settings(blobs).await?;
    let text = with_paused(STACK_SETTINGS, &text, paused)?;
    let changed = blobs.swap(STACK_SETTINGS, seen.as_ref(), text.into_bytes().into()).await;
    changed.map(drop).context("the settings were not changed; try again")
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

/// Writes a file of settings to begin with. It opens no store.
pub(crate) fn init(InitArgs { preset, file }: &InitArgs) -> Result<()> {
    let text = first(*preset).as_bytes();
    let written = OpenOptions::new().write(true).create_new(true).open(file).and_then(|mut f| f.write_all(text));
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
    use clap::ValueEnum as _;
    use curlew_app::{Flags, ImageScreening};
    use curlew_policy::rules::Rules;
    use std::path::Path;

    fn load(file: &Path) -> Config {
        Config::load(&Flags { file: Some(file.to_owned()), ..Flags::default() }, std::iter::empty()).unwrap()
    }

    #[test]
    fn each_file_to_begin_with_can_be_used_as_it_is_and_with_all_that_it_proposes() {
        for preset in Preset::value_variants() {
            let dir = tempfile::tempdir().unwrap();
            let file = dir.path().join("curlew.toml");
            let args = InitArgs { preset: *preset, file: file.clone() };
            init(&args).unwrap();
            load(&file);
            assert!(init(&args).unwrap_err().to_string().contains("exists already"));
            let proposed: String = first(*preset)
                .lines()
                .map(|line| line.strip_prefix('#').filter(|l| l.contains(" = ")).unwrap_or(line))
                .collect::<Vec<_>>()
                .join("\n");
            std::fs::write(&file, proposed).unwrap();
            let config = load(&file);
            assert!(config.contact.is_some());
            assert_eq!(config.web.base_url.is_some(), *preset == Preset::Search);
        }
    }

    #[test]
    fn no_preset_is_less_polite_than_the_defaults() {
        let none = tempfile::NamedTempFile::new().unwrap();
        let usual = load(none.path());
        for preset in Preset::value_variants() {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), first(*preset)).unwrap();
            let config = load(file.path());
            // Presets may differ in the kinds of pages that are read at all, and may re-check later. Everything else is
            // as by default.
            assert!(config.rules.recheck_after >= usual.rules.recheck_after, "{preset:?}");
            let Rules { backfill, recheck_after, .. } = usual.rules.clone();
            assert_eq!(Rules { backfill, recheck_after, ..config.rules.clone() }, usual.rules, "{preset:?}");
            assert_eq!(config.groups, usual.groups, "{preset:?}");
            assert_eq!((&config.token, &config.page_agent), (&usual.token, &usual.page_agent), "{preset:?}");
            assert_eq!((config.workers, config.signatures), (usual.workers, usual.signatures), "{preset:?}");
            assert!(config.scope.robots_ignored.is_empty() && config.scope.meta_ignored.is_empty(), "{preset:?}");
            assert_eq!(format!("{:?}", config.guard), format!("{:?}", usual.guard), "{preset:?}");
            let is_for_texts = *preset != Preset::Search;
            assert_eq!(config.image == ImageScreening::Off, is_for_texts, "{preset:?}");
            assert_eq!(config.judge.are_images_optional(), is_for_texts, "{preset:?}");
            assert_eq!(config.rules.backfill, is_for_texts, "{preset:?}");
        }
    }
}
