//! Questions to one component.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Source of a component's question.
#[derive(Debug, Args)]
pub(crate) struct Document {
    /// A plain document instead of JSON Lines on standard input
    pub(crate) file: Option<PathBuf>,
    /// The URL of the document, or the URL that is asked about
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Check {
    /// Tell whether a robots.txt allows a URL
    Robots {
        #[command(flatten)]
        document: Document,
        /// The user agent to ask for, in place of that of the settings
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
        /// Explain the result: the candidates for the text, the lines that are left out, the source of the date. In
        /// JSON Lines a question may ask for it by `"explain": true`
        #[arg(long)]
        explain: bool,
        /// Print instead a case for `cargo xtask learn`: the page, and its right text, which is in this file
        #[arg(long, value_name = "FILE", requires = "file")]
        label: Option<PathBuf>,
        /// The user agent whose meta tags and headers are read, in place of that of the settings
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
    },
    /// Tell whether a text, an image or both pass content screening
    Screen {
        #[command(flatten)]
        document: Document,
        /// The title, for a plain document
        #[arg(long, value_name = "TEXT", default_value = "")]
        title: String,
        /// An image that the page shows, with a plain document or alone
        #[arg(long, value_name = "FILE")]
        image: Option<PathBuf>,
    },
    /// Tell whether an address may be called
    Address(Document),
}
