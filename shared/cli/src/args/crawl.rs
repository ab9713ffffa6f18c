//! Arguments of `curlew crawl` and `curlew demo`.

use super::{Output, date, socket};
use clap::Args;
use curlew_model::{Millis, Timestamp};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Condition that ends `curlew crawl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// No job is due within the next minute.
    Idle,
    /// This time has passed, or the crawl is idle.
    After(Millis),
}

impl std::str::FromStr for Until {
    type Err = String;
    fn from_str(text: &str) -> Result<Until, String> {
        if text == "idle" {
            return Ok(Until::Idle);
        }
        text.parse().map(Until::After).map_err(|e| format!("{e}, and not 'idle'"))
    }
}

#[derive(Debug, Args)]
pub(crate) struct CrawlArgs {
    /// Sites: host names or URLs
    pub(crate) sites: Vec<String>,
    /// File with one site per line; `#` begins a comment
    #[arg(long = "sites", value_name = "FILE")]
    pub(crate) sites_file: Option<PathBuf>,
    /// OPML file of feeds, as feed readers export it
    #[arg(long, value_name = "FILE")]
    pub(crate) opml: Option<PathBuf>,
    /// A feed; may be given several times
    #[arg(long, value_name = "URL")]
    pub(crate) feed: Vec<String>,
    /// Also read the back catalogue, a little each day: of the sites named here, or of all known sites
    #[arg(long)]
    pub(crate) history: bool,
    /// Only pages since this day or instant, if their dates are known
    #[arg(long, value_name = "DATE", requires = "history", value_parser = date)]
    pub(crate) since: Option<Timestamp>,
    /// Maximum number of pages of each back catalogue [default: 100000]
    #[arg(long, value_name = "N", requires = "history", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,
    /// End when `idle`, or after a length of time such as 90s or 10m
    #[arg(long, value_name = "idle|DURATION", default_value = "idle")]
    pub(crate) until: Until,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Address and port on which to serve the result
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080", value_parser = socket)]
    pub(crate) listen: SocketAddr,
    /// End after the crawl, without serving the result
    #[arg(long)]
    pub(crate) no_serve: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}
