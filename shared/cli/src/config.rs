//! The settings of this run, as the flags name them.

use crate::args::{LogForm, Shared};
use curlew_wiring::Flags;

pub(crate) use curlew_wiring::{BadSettings, Settings as Config};

/// Reads the file, the environment and the flags.
pub(crate) fn load(
    shared: &Shared,
    environment: impl Iterator<Item = (String, String)>,
) -> Result<Config, BadSettings> {
    let flags = Flags {
        file: shared.config.clone(),
        data: shared.data.clone(),
        contact: shared.contact.clone(),
        allow_net: shared.allow_net.clone(),
        resolve: shared.resolve.clone(),
        workers: shared.workers,
        log: shared.log.map(|form| match form {
            LogForm::Text => curlew_wiring::LogForm::Text,
            LogForm::Json => curlew_wiring::LogForm::Json,
        }),
    };
    Config::load(&flags, environment)
}
