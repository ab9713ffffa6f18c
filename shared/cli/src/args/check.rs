//! Arguments of `curlew check`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Source of a component's question.
#[derive(Debug, Args)]
pub(crate) struct Document {
    /// A plain document instead of JSON Lines on standard input
    pub(crate) file: Option<PathBuf>,
    /// URL of the document, or the URL to check
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Check {
    /// Show whether a robots.txt allows a URL
    Robots {
        #[command(flatten)]
        document: Document,
        /// User agent to check, instead of the one in the settings
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
    },
    /// Show the entries of a feed
    Feed(Document),
    /// List the feeds that a page names
    Discover(Document),
    /// Show the record that would be stored for a page, and whether it would be accepted
    Page {
        #[command(flatten)]
        document: Document,
        /// Explain the result: candidates for the text, lines left out, source of the date. In JSON Lines, set
        /// `"explain": true` instead
        #[arg(long)]
        explain: bool,
        /// Print a case for `cargo xtask learn` instead: the page with its correct text, from this file
        #[arg(long, value_name = "FILE", requires = "file")]
        label: Option<PathBuf>,
        /// User agent whose meta tags and headers apply, instead of the one in the settings
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
    },
    /// Show whether a text, an image or both pass content screening
    Screen {
        #[command(flatten)]
        document: Document,
        /// Title of a plain document
        #[arg(long, value_name = "TEXT", default_value = "")]
        title: String,
        /// Image of the page, with a plain document or alone
        #[arg(long, value_name = "FILE")]
        image: Option<PathBuf>,
    },
    /// Show whether an address may be called
    Address(Document),
}
