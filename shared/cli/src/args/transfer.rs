//! Arguments of exports, imports, backups and re-extraction.

use super::{Output, date};
use crate::export::ExportFormat;
use crate::export::columns::{Column, column};
use clap::{Args, Subcommand};
use curlew_model::Timestamp;
use std::path::PathBuf;
use url::Url;

#[derive(Debug, Subcommand)]
pub(crate) enum Export {
    /// Export the indexed pages, with their texts
    Records(RecordsArgs),
    /// Export published and removed pages to OpenSearch or another engine with a `_bulk` API
    Bulk(BulkArgs),
    /// Write feeds as JSON Lines to standard output
    Feeds {
        /// Only feeds polled since this day or instant
        #[arg(long, value_name = "DATE", value_parser = date)]
        since: Option<Timestamp>,
    },
    /// Write feeds as OPML, for feed readers, to standard output
    Opml {
        /// Only feeds polled since this day or instant
        #[arg(long, value_name = "DATE", value_parser = date)]
        since: Option<Timestamp>,
    },
    /// Export the kept raw pages as WARC, with each record compressed separately (.warc.gz)
    Warc(WarcArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RecordsArgs {
    /// Format of the records
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ExportFormat::Jsonl)]
    pub(crate) format: ExportFormat,
    /// Only pages fetched since this day or instant
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub(crate) since: Option<Timestamp>,
    /// Only pages of this host and its subdomains
    #[arg(long, value_name = "HOST")]
    pub(crate) site: Option<String>,
    /// Only pages in this language, such as `it`
    #[arg(long, value_name = "CODE")]
    pub(crate) lang: Option<String>,
    /// Only these columns, in this order
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', value_parser = column)]
    pub(crate) columns: Vec<&'static Column>,
    /// File to write; replaces an existing file only when complete [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct BulkArgs {
    /// Post to `/_bulk` at this address, such as `http://127.0.0.1:9200` [default: write to --output]
    #[arg(long, value_name = "URL", conflicts_with = "output")]
    pub(crate) to: Option<Url>,
    /// Index of the engine
    #[arg(long, value_name = "NAME", default_value = "curlew")]
    pub(crate) index: String,
    /// File that records the progress of the engine; the first run creates it, later runs continue from it
    #[arg(long, value_name = "FILE")]
    pub(crate) cursor: Option<PathBuf>,
    /// Without a cursor: only changes since this day or instant, and a few older ones
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub(crate) since: Option<Timestamp>,
    /// File with the value of the `Authorization` header, such as `Basic …`
    #[arg(long, value_name = "FILE", requires = "to")]
    pub(crate) authorization: Option<PathBuf>,
    /// File to write; replaces an existing file only when complete [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct WarcArgs {
    /// Only pages fetched since this day or instant
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub(crate) since: Option<Timestamp>,
    /// Only pages of this host and its subdomains
    #[arg(long, value_name = "HOST")]
    pub(crate) site: Option<String>,
    /// File to write; replaces an existing file only when complete [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Import {
    /// Import feeds from an OPML file
    Opml {
        /// OPML file
        file: PathBuf,
    },
    /// Import pages that another program fetched, without calls; known pages stay as they are
    Warc {
        /// Files: .warc, .warc.gz or .warc.zst; `-` for standard input
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ReextractArgs {
    /// Only pages fetched since this day or instant
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub(crate) since: Option<Timestamp>,
    /// Only pages of this host and its subdomains
    #[arg(long, value_name = "HOST")]
    pub(crate) site: Option<String>,
    /// Report changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Remove pages that the content policy or their own directives now exclude
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) remove: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}
