//! Settings of this run: the file, the environment and the flags.

use crate::args::Shared;
use anyhow::Result;
use curlew_app::{BadSettings, Flags, ImageScreening, Settings as Config};
use curlew_onnx::Onnx;
use std::sync::Arc;

/// Reads the file, the environment and the flags.
pub(crate) fn load(
    shared: &Shared,
    environment: impl Iterator<Item = (String, String)>,
) -> Result<Config, BadSettings> {
    Config::load(&flags(shared), environment)
}

/// Returns the flags that are settings.
fn flags(shared: &Shared) -> Flags {
    Flags {
        file: shared.config.clone(),
        data: shared.data.clone(),
        contact: shared.contact.clone(),
        allow_net: shared.allow_net.clone(),
        resolve: shared.resolve.clone(),
        workers: shared.workers,
        log: shared.log,
    }
}

/// Returns the settings with the image classifier: loads its model, for the commands that judge pages.
pub(crate) fn with_eye(config: Config) -> Result<Config> {
    Ok(match &config.image {
        ImageScreening::Off | ImageScreening::Skin => config,
        ImageScreening::Onnx(card) | ImageScreening::Installed(card) => {
            let onnx = Onnx::load(card).map_err(|why| BadSettings::new(&format!("[screen]: {why}")))?;
            config.with_eye(Arc::new(onnx))
        }
    })
}
