//! Exports, imports, backups and re-extraction.

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
    /// Send what was published and removed to OpenSearch, Elasticsearch or another engine that takes the `_bulk` form
    Bulk(BulkArgs),
    /// Write feeds as JSON Lines to standard output
    Feeds {
        /// Only feeds polled since this day or instant
        #[arg(long, value_name = "DATE", value_parser = date)]
        since: Option<Timestamp>,
    },
    /// Write feeds as OPML, which feed readers import, to standard output
    Opml {
        /// Only feeds polled since this day or instant
        #[arg(long, value_name = "DATE", value_parser = date)]
        since: Option<Timestamp>,
    },
    /// Export the kept raw pages as WARC, each record compressed by itself (.warc.gz)
    Warc(WarcArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RecordsArgs {
    /// The form of the records
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ExportFormat::Jsonl)]
    pub(crate) format: ExportFormat,
    /// Only pages fetched since this day or instant
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub(crate) since: Option<Timestamp>,
    /// Only pages of this host and all below it
    #[arg(long, value_name = "HOST")]
    pub(crate) site: Option<String>,
    /// Only pages in this language, such as `it`
    #[arg(long, value_name = "CODE")]
    pub(crate) lang: Option<String>,
    /// Only these columns, in this order
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', value_parser = column)]
    pub(crate) columns: Vec<&'static Column>,
    /// The file to write; an existing one is replaced once the new one is whole [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct BulkArgs {
    /// Post to this address and `/_bulk`, such as `http://127.0.0.1:9200` [default: write to --output]
    #[arg(long, value_name = "URL", conflicts_with = "output")]
    pub(crate) to: Option<Url>,
    /// The engine's index
    #[arg(long, value_name = "NAME", default_value = "curlew")]
    pub(crate) index: String,
    /// A file that keeps how far the engine is; it is made by the first run, and each run goes on from it
    #[arg(long, value_name = "FILE")]
    pub(crate) cursor: Option<PathBuf>,
    /// Without a cursor: only changes since this day or instant, and some before
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub(crate) since: Option<Timestamp>,
    /// A file with the value of the header `Authorization`, such as `Basic …`
    #[arg(long, value_name = "FILE", requires = "to")]
    pub(crate) authorization: Option<PathBuf>,
    /// The file to write; an existing one is replaced once the new one is whole [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct WarcArgs {
    /// Only pages fetched since this day or instant
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub(crate) since: Option<Timestamp>,
    /// Only pages of this host and all below it
    #[arg(long, value_name = "HOST")]
    pub(crate) site: Option<String>,
    /// The file to write; an existing one is replaced once the new one is whole [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Import {
    /// Import feeds that another feed reader exported
    Opml {
        /// The file
        file: PathBuf,
    },
    /// Import pages that another program fetched, without a call; known pages stay as they are
    Warc {
        /// The files: .warc, .warc.gz or .warc.zst; `-` for standard input
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ReextractArgs {
    /// Only pages fetched since this day or instant
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub(crate) since: Option<Timestamp>,
    /// Only pages of this host and all below it
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

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// The folder to write; it must not exist, or be empty
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) output: Output,
}
