//! `curlew config` and `curlew init`: check, show, change and create settings.

use super::blocks::explain;
use crate::args::{ConfigWhat, InitArgs, Preset, Shared};
use crate::failure::usage;
use crate::world::stack_settings;
use crate::{optional, output};
use anyhow::{Context, Result, bail};
use curlew_app::{
    BadSettings, Effective, Flags, ImageScreening, STACK_SETTINGS, Settings as Config, SystemClock, with_paused,
};
use curlew_onnx::Onnx;
use curlew_people::audit_log::{Act, AuditLog, COMMAND_LINE};
use curlew_ports::Blobs;
use serde_json::json;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::sync::Arc;

const WITHOUT_CONTACT: &str =
    "No contact is set, so no public site is contacted. Set `contact` to a web page or mail address.";
const PAUSED: &str = "crawling is paused: calls stop within a minute, nothing is lost, and `config resume` continues";

pub(crate) fn load(shared: &Shared) -> Result<Config, BadSettings> {
    let Shared { data, config, contact, allow_net, resolve, workers, log, .. } = shared.clone();
    Config::load(&Flags { file: config, data, contact, allow_net, resolve, workers, log }, std::env::vars())
}

/// Loads the image model that the settings name, if any, for commands that judge pages.
pub(crate) fn with_eye(config: Config) -> Result<Config> {
    let (ImageScreening::Onnx(card) | ImageScreening::Installed(card)) = &config.image else { return Ok(config) };
    let onnx = Onnx::load(card).map_err(|why| BadSettings(format!("[screen]: {why}")))?;
    Ok(config.with_eye(Arc::new(onnx)))
}

/// Returns a sentence for operators if no model classifies images, else `None`. `program` is the command to recommend.
pub(crate) fn without_a_model(image: &ImageScreening, program: &str) -> Option<String> {
    match image {
        ImageScreening::Off => Some("pictures are not classified: [screen] image is \"off\"".to_owned()),
        ImageScreening::Skin => Some(format!(
            "pictures are not really classified: only skin-coloured regions are found, which count only with words; \
             `{program} model add open-nsfw FILE` adds a model that classifies them"
        )),
        ImageScreening::Installed(_) | ImageScreening::Onnx(_) => None,
    }
}

fn first(preset: Preset) -> &'static str {
    match preset {
        Preset::Search => include_str!("presets/search.toml"),
        Preset::Corpus => include_str!("presets/corpus.toml"),
        Preset::Archive => include_str!("presets/archive.toml"),
    }
}

pub(crate) fn run(what: &ConfigWhat, shared: &Shared) -> Result<()> {
    match what {
        ConfigWhat::Check => {
            let config = load(shared)?;
            output::line("The settings are valid.")?;
            if config.contact.is_none() {
                output::line(WITHOUT_CONTACT)?;
            }
            if let Some(line) = without_a_model(&config.image, "curlew") {
                let (first, rest) = line.split_at(1);
                output::line(format!("{}{rest}.", first.to_uppercase()))?;
            }
            tell_of_base_url(&config)
        }
        ConfigWhat::Show { output } => show(&load(shared)?.effective, output.json),
        ConfigWhat::Set { .. } | ConfigWhat::Pause | ConfigWhat::Resume => Err(usage(
            "this changes the settings of a stack: add --aws; on this machine, edit the file and restart curlew",
        )),
    }
}

fn tell_of_base_url(config: &Config) -> Result<()> {
    if config.web.base_url.is_none() {
        output::line("[web] base_url is not set, so searches have no feeds, and requests are not signed.")?;
    }
    Ok(())
}

/// Runs the command on the settings of a stack, even if the stored settings are invalid.
pub(super) async fn on_stack(what: &ConfigWhat, config: &Config, stack: &str) -> Result<()> {
    let blobs = optional::stack(stack).await?.blobs;
    let log = AuditLog { blobs: blobs.clone(), clock: Arc::new(SystemClock::new()) };
    let done =
        |what: &str| log.add(COMMAND_LINE, Act { reason: what.to_owned(), ..Act::new("settings", STACK_SETTINGS) });
    match what {
        ConfigWhat::Check => {
            let stated = on_top(config, blobs.as_ref()).await?;
            output::line("The settings are valid for a stack.")?;
            tell_of_base_url(&stated)
        }
        ConfigWhat::Show { output } => show(&on_top(config, blobs.as_ref()).await?.effective, output.json),
        ConfigWhat::Set { file } => {
            let name = file.display().to_string();
            let text = std::fs::read_to_string(file).with_context(|| format!("{name} cannot be read"))?;
            config.over_text(&name, &text)?.check_for_stack()?;
            blobs.put(STACK_SETTINGS, text.into_bytes().into()).await?;
            done("set").await.map_err(explain)?;
            output::line(format!(
                "{name} is stored as the settings of the stack {stack}; its functions use them within a minute"
            ))
        }
        ConfigWhat::Pause | ConfigWhat::Resume => {
            let pauses = matches!(what, ConfigWhat::Pause);
            let (text, seen) = stack_settings(blobs.as_ref()).await?;
            let text = with_paused(STACK_SETTINGS, &text, pauses)?;
            let changed = blobs.swap(STACK_SETTINGS, seen.as_ref(), text.into_bytes().into()).await;
            changed.context("the settings were not changed; try again")?;
            done(if pauses { "pause" } else { "resume" }).await.map_err(explain)?;
            output::line(if pauses { PAUSED } else { "crawling resumes within a quarter of an hour" })
        }
    }
}

/// Returns the settings from this machine's file, or from the stack if there is none. Fails if a stack cannot use them.
async fn on_top(config: &Config, blobs: &dyn Blobs) -> Result<Config> {
    let stated = match config.have_file() {
        true => config.clone(),
        false => config.over_text(STACK_SETTINGS, &stack_settings(blobs).await?.0)?,
    };
    stated.check_for_stack()?;
    Ok(stated)
}

fn show(settings: &[Effective], json: bool) -> Result<()> {
    let mut last = "";
    for Effective { table, key, value, origin } in settings {
        if !json && table != last {
            last = table;
            output::line(format!("\n[{table}]"))?;
        }
        let whole = json!({"table": table, "key": key, "value": value, "origin": origin.as_str()});
        output::answer(json, &whole, format!("{:<40} # {}", format!("{key} = {value}"), origin.as_str()))?;
    }
    Ok(())
}

/// Writes a file of initial settings. Fails if the file exists. Opens no store.
pub(crate) fn init(InitArgs { preset, file }: &InitArgs) -> Result<()> {
    let name = file.display();
    match File::create_new(file).and_then(|mut file| file.write_all(first(*preset).as_bytes())) {
        Ok(()) => output::line(format!(
            "{name} is written. Set your contact in it, then run `curlew config check --config {name}`."
        )),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => bail!("{name} already exists, and is kept"),
        Err(error) => Err(error).with_context(|| format!("{name} cannot be written")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use clap::ValueEnum as _;
    use curlew_app::{Flags, ImageScreening};
    use curlew_policy::rules::Rules;

    fn load(text: &str) -> Config {
        let usual = Config::load(&Flags::default(), std::iter::empty()).unwrap();
        usual.over_text("preset", text).unwrap()
    }

    #[test]
    fn each_file_to_begin_with_can_be_used_as_it_is_and_with_all_that_it_proposes() {
        for preset in Preset::value_variants() {
            let dir = tempfile::tempdir().unwrap();
            let args = InitArgs { preset: *preset, file: dir.path().join("curlew.toml") };
            init(&args).unwrap();
            assert!(init(&args).unwrap_err().to_string().contains("already exists"));
            let text = std::fs::read_to_string(&args.file).unwrap();
            load(&text);
            let lines = text.lines().map(|line| line.strip_prefix('#').filter(|l| l.contains(" = ")).unwrap_or(line));
            let config = load(&lines.collect::<Vec<_>>().join("\n"));
            assert!(config.contact.is_some());
            assert_eq!(config.web.base_url.is_some(), *preset == Preset::Search);
        }
    }

    #[test]
    fn no_preset_is_less_polite_than_the_defaults() {
        let usual = load("");
        for preset in Preset::value_variants() {
            let config = load(first(*preset));
            // Presets may change which pages are read, and may re-check later.
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
