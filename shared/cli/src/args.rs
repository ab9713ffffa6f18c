//! The command line, as people type it. What the words mean is in README.md.

use clap::{Args, Parser, Subcommand, ValueEnum};
use curlew_fetcher::ResolveRule;
use curlew_model::{Millis, Timestamp};
use ipnet::IpNet;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A polite, feed-driven crawler and search engine that costs nearly nothing while it is idle.
#[derive(Debug, Parser)]
#[command(name = "curlew", version, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) shared: Shared,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Reads the program's arguments.
    ///
    /// A word of a search may begin with `-`, and clap would take `-harbour` for `-h` and more. Such a word is handed to it
    /// after a blank, which means nothing in a query.
    pub(crate) fn read(args: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
        let mut is_query = false;
        Cli::try_parse_from(args.into_iter().map(|arg| {
            let word = arg.to_str().filter(|word| is_query && is_excluded_word(word)).map(|word| format!(" {word}"));
            is_query = (is_query || arg == "search") && arg != "--";
            word.map_or(arg, OsString::from)
        }))
    }
}

/// Whether an argument is a word that begins with `-`, and no flag that all commands have.
fn is_excluded_word(arg: &str) -> bool {
    let is_flag =
        |rest: &str| rest.is_empty() || rest.starts_with('-') || rest == "h" || rest.bytes().all(|b| b == b'v');
    arg.strip_prefix('-').is_some_and(|rest| !is_flag(rest))
}

/// Flags that all commands share.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Shared options")]
pub(crate) struct Shared {
    /// The folder that everything is kept in [default: ./curlew-data]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Settings, as TOML; the environment (CURLEW_…) overrides them, flags override both
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// A page or mail address that the user agent names; needed before a public host is crawled
    #[arg(long, global = true, value_name = "URL|MAIL")]
    pub(crate) contact: Option<String>,
    /// An address range that is not public and may be called all the same
    #[arg(long, global = true, value_name = "CIDR")]
    pub(crate) allow_net: Vec<IpNet>,
    /// Call a host by this address, whatever its name resolves to; NAME may begin with `*.`
    #[arg(long, global = true, value_name = "NAME=ADDR[:PORT]")]
    pub(crate) resolve: Vec<ResolveRule>,
    /// Visits under way at once [default: 100]
    #[arg(long, global = true, value_name = "N")]
    pub(crate) workers: Option<usize>,
    /// Work on the stack that is deployed on AWS, by the credentials and the region of the environment
    #[arg(long, global = true, conflicts_with = "data")]
    pub(crate) aws: bool,
    /// The name of the stack [default: curlew]
    #[arg(long, global = true, value_name = "NAME", requires = "aws")]
    pub(crate) stack: Option<String>,
    /// Say more; twice for more still
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// How log lines are written
    #[arg(long, global = true, value_name = "FORM", value_enum)]
    pub(crate) log: Option<LogForm>,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogForm {
    /// For people.
    Text,
    /// One object a line.
    Json,
}

/// When `crawl` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// When no job is due within the next 30 seconds.
    Idle,
    /// After so long, or when idle.
    After(Millis),
}

impl std::str::FromStr for Until {
    type Err = String;
    fn from_str(text: &str) -> Result<Until, String> {
        if text == "idle" {
            return Ok(Until::Idle);
        }
        text.parse().map(Until::After).map_err(|e| format!("neither 'idle' nor a length of time: {e}"))
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find the feeds of sites, poll them, fetch what is new, and publish the index
    Crawl(CrawlArgs),
    /// Poll feeds now, whatever their schedule says; not before a hold, Retry-After or five minutes are over
    Poll {
        /// Sites or feeds that are known: host names, URLs or keys
        #[arg(required = true, value_name = "SITE|FEED")]
        names: Vec<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Crawl a bundled web of small sites on loopback and serve the result; needs no network
    Demo(DemoArgs),
    /// Serve the search page and the forms, with the schedules running
    Serve {
        /// Where to listen
        #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
        listen: SocketAddr,
    },
    /// Search the published index
    Search {
        /// Words, "a phrase", +word, -word, author:NAME, site:HOST, lang:it, before:2026-05-01, after:…, sort:date
        #[arg(required = true)]
        query: Vec<String>,
        /// Most hits to show
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: usize,
        /// Show how the score of each hit came about
        #[arg(long)]
        explain: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Re-check indexed pages now; what is gone from the web goes from the index
    Sample {
        /// How many pages
        #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "all")]
        count: usize,
        /// Every indexed page
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Publish what is new; with a year, refresh that year's index without what is gone
    Index {
        /// The year to refresh
        #[arg(long, value_name = "YYYY", value_parser = clap::value_parser!(i16).range(1990..=9999))]
        year: Option<i16>,
        #[command(flatten)]
        output: Output,
    },
    /// What there is, what is held and parked, and why pages were rejected
    Status {
        #[command(flatten)]
        output: Output,
    },
    /// Sites that were named
    Sites(ListArgs),
    /// Feeds that are polled
    Feeds(ListArgs),
    /// Pages and what became of each
    Pages(ListArgs),
    /// Hosts that are left alone for a while, and why
    Holds(ListArgs),
    /// Jobs that wait for a later time, and jobs that were given up
    Parked(ListArgs),
    /// What was removed, when and why
    Audit(ListArgs),
    /// Never call a host again, and hide its pages, from now on
    Block {
        /// A host name; all that is below it is blocked too
        host: String,
    },
    /// Take a block back
    Unblock {
        /// The host name that was blocked
        host: String,
    },
    /// Override content screening for a page or a site
    #[command(alias = "overrule")]
    Override(OverrideArgs),
    /// What people wrote to the operator by the form of the search page
    Messages(MessagesArgs),
    /// Who claims to own which site, and what they proved and asked for
    Owners(ListArgs),
    /// Put jobs that were given up back into their queues
    Redrive,
    /// Write records or feeds as JSON Lines, or feeds as OPML, to standard output
    Export {
        /// What to write
        #[arg(value_enum)]
        what: Export,
        /// Only what was fetched or polled since this day or instant
        #[arg(long, value_name = "DATE", value_parser = Timestamp::parse_day_or_instant)]
        since: Option<Timestamp>,
    },
    /// Take feeds from another program
    Import {
        /// The form of the file
        #[arg(value_enum)]
        what: Import,
        /// The file
        file: PathBuf,
        #[command(flatten)]
        output: Output,
    },
    /// Ask one component, without a store or a network: JSON Lines in, JSON Lines out, or one plain document
    Check {
        #[command(subcommand)]
        what: Check,
    },
}

/// Whether to print for programs.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Output {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CrawlArgs {
    /// Sites: host names or URLs
    pub(crate) sites: Vec<String>,
    /// A file with one site a line; `#` begins a comment
    #[arg(long = "sites", value_name = "FILE")]
    pub(crate) sites_file: Option<PathBuf>,
    /// A file of feeds as other feed readers export it
    #[arg(long, value_name = "FILE")]
    pub(crate) opml: Option<PathBuf>,
    /// A feed; may be given several times
    #[arg(long, value_name = "URL")]
    pub(crate) feed: Vec<String>,
    /// When to end: `idle` or a length of time such as 90s or 10m
    #[arg(long, value_name = "idle|DURATION", default_value = "idle")]
    pub(crate) until: Until,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Where to serve the result
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,
    /// End after the crawl instead of serving its result
    #[arg(long)]
    pub(crate) no_serve: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(subcommand)]
    pub(crate) what: Option<ListWhat>,
    /// Print JSON Lines
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ListWhat {
    /// All of them, a line each
    List,
    /// One of them, whole
    Show {
        /// Its key, its URL or its host
        key: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct MessagesArgs {
    #[command(subcommand)]
    pub(crate) what: Option<MessagesWhat>,
    /// Print JSON; with the list, JSON Lines
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MessagesWhat {
    /// All of them, a line each
    List,
    /// One of them, whole
    Show {
        /// Its name in the list
        name: String,
    },
    /// Delete one that is dealt with
    Close {
        /// Its name in the list
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct OverrideArgs {
    #[command(subcommand)]
    pub(crate) what: Option<OverrideWhat>,
    /// Print JSON; with the list, JSON Lines
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OverrideWhat {
    /// All of them, a line each
    List,
    /// Accept a page or a site, whatever screening says of it
    #[command(alias = "pass")]
    Allow {
        /// A page's whole URL, or a host: all that is below it too
        target: String,
        /// Only what this topic rejects, such as `violence`; may be given several times
        #[arg(long, value_name = "TOPIC")]
        topic: Vec<String>,
        /// Why; shown with the verdict
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
    /// Reject a page or a site; what is indexed of it is removed
    #[command(alias = "reject")]
    Deny {
        /// A page's whole URL, or a host: all that is below it too
        target: String,
        /// Why; shown with the verdict
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
    /// Remove an override
    Remove {
        /// The URL or the host that it is about
        target: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Export {
    Records,
    Feeds,
    Opml,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Import {
    Opml,
}

/// Where a component's question comes from.
#[derive(Debug, Args)]
pub(crate) struct Document {
    /// A plain document instead of JSON Lines on standard input
    pub(crate) file: Option<PathBuf>,
    /// The URL that the document is from, or that is asked about
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Check {
    /// Does a robots.txt allow a URL?
    Robots {
        #[command(flatten)]
        document: Document,
        /// The user agent to ask for
        #[arg(long, value_name = "NAME", default_value = "CurlewBot")]
        agent: String,
    },
    /// What is in a feed?
    Feed {
        #[command(flatten)]
        document: Document,
    },
    /// Which feeds does a page name?
    Discover {
        #[command(flatten)]
        document: Document,
    },
    /// What would be kept of a page, and would it be accepted?
    Page {
        #[command(flatten)]
        document: Document,
        /// Say also why: what was weighed for the text, which lines are left out, where the date is from. In JSON Lines
        /// a question may ask for it by `"explain": true`
        #[arg(long)]
        explain: bool,
    },
    /// Would a text, an image or both pass content screening?
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
    /// May an address be called?
    Address {
        #[command(flatten)]
        document: Document,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_may_begin_with_a_minus() {
        for (typed, query, limit, json) in [
            ("curlew search -harbour", vec!["-harbour"], 10, false),
            ("curlew search -harbour tide", vec!["-harbour", "tide"], 10, false),
            ("curlew search tide -harbour --limit 5", vec!["tide", "-harbour"], 5, false),
            (
                "curlew search --json -harbour -site:example.org tide",
                vec!["-harbour", "-site:example.org", "tide"],
                10,
                true,
            ),
            ("curlew search -tide --json --limit 7", vec!["-tide"], 7, true),
            ("curlew search -- -harbour", vec!["-harbour"], 10, false),
        ] {
            let parsed = Cli::read(typed.split(' ').map(OsString::from)).map(|cli| cli.command);
            let Ok(Command::Search { query: read, limit: most, output, .. }) = parsed else {
                panic!("{typed}: {parsed:?}");
            };
            assert_eq!(
                (read.iter().map(|word| word.trim()).collect::<Vec<_>>(), most, output.json),
                (query, limit, json),
                "{typed}"
            );
        }
        assert!(Cli::read(["curlew", "search"].map(OsString::from)).is_err(), "something has to be looked for");
        assert!(
            Cli::read(["curlew", "search", "-h"].map(OsString::from)).is_err_and(|e| !e.use_stderr()),
            "help is help"
        );
    }
}
