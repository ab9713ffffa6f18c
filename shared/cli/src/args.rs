//! The command line, as people type it. docs/ explains the words. It is long since it is one list: every command with its
//! flags.

use crate::export::ExportFormat;
use crate::export::columns::{Column, column};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
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
    /// A word of a search may begin with `-`, and clap would take `-harbour` for `-h` and more. Such a word is passed
    /// on after a blank, which means nothing in a query.
    pub(crate) fn read(args: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
        let mut is_query = false;
        Cli::try_parse_from(args.into_iter().map(|arg| {
            let word = arg.to_str().filter(|word| is_query && is_excluded_word(word)).map(|word| format!(" {word}"));
            is_query = (is_query || arg == "search") && arg != "--";
            word.map_or(arg, OsString::from)
        }))
    }
}

/// True if an argument is a word that begins with `-` and no flag that all commands share.
fn is_excluded_word(arg: &str) -> bool {
    let is_flag =
        |rest: &str| rest.is_empty() || rest.starts_with('-') || rest == "h" || rest.bytes().all(|b| b == b'v');
    arg.strip_prefix('-').is_some_and(|rest| !is_flag(rest))
}

/// Reads an address with its port.
fn socket(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "write ADDR:PORT, such as 127.0.0.1:8090".to_owned())
}

/// Reads a day or an instant.
fn date(text: &str) -> Result<Timestamp, String> {
    let wrong = |_| "write a day, such as 2026-05-01, or an instant, such as 2026-05-01T17:00:00Z".to_owned();
    Timestamp::parse_day_or_instant(text).map_err(wrong)
}

/// Returns the command that the arguments name, in full, such as `curlew config show`.
pub(crate) fn command_of(args: impl IntoIterator<Item = OsString>) -> String {
    let mut command = Cli::command();
    let mut name = command.get_name().to_owned();
    for arg in args.into_iter().skip(1) {
        if let Some(below) = arg.to_str().and_then(|arg| command.find_subcommand(arg)).cloned() {
            name = format!("{name} {}", below.get_name());
            command = below;
        }
    }
    name
}

/// Flags that all commands share.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Shared options")]
pub(crate) struct Shared {
    /// The folder of the store [default: ./curlew-data]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Settings, as TOML; the environment (CURLEW_…) overrides them, flags override both
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// A page or mail address, sent in the user agent; needed to contact public sites
    #[arg(long, global = true, value_name = "URL|MAIL")]
    pub(crate) contact: Option<String>,
    /// Allow calls to a private address range
    #[arg(long, global = true, value_name = "CIDR")]
    pub(crate) allow_net: Vec<IpNet>,
    /// Call a host at this address, whatever its name resolves to; NAME may begin with `*.`
    #[arg(long, global = true, value_name = "NAME=ADDR[:PORT]")]
    pub(crate) resolve: Vec<ResolveRule>,
    /// Number of hosts visited at once [default: 100]
    #[arg(long, global = true, value_name = "N")]
    pub(crate) workers: Option<usize>,
    /// Work on a stack on AWS, with the credentials and the region of the environment
    #[arg(long, global = true, conflicts_with = "data")]
    pub(crate) aws: bool,
    /// The name of the stack [default: curlew]
    #[arg(long, global = true, value_name = "NAME", requires = "aws")]
    pub(crate) stack: Option<String>,
    /// Log more; twice for even more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Form of log lines
    #[arg(long, global = true, value_name = "FORM", value_enum)]
    pub(crate) log: Option<LogForm>,
}

/// Form of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogForm {
    /// Lines for people.
    Text,
    /// One JSON object per line.
    Json,
}

/// Condition on which `crawl` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// No job is due within the next minute.
    Idle,
    /// Until this time has passed, or the crawl is idle.
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
    /// Write a file with the settings that most installations need, to fill in; keeps an existing file
    Init(InitArgs),
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

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find the feeds of sites, poll them, fetch new pages, and publish the index
    Crawl(CrawlArgs),
    /// Poll feeds now, whatever their schedule; waits for holds, Retry-After and five minutes between polls
    Poll {
        /// Known sites or feeds: host names, URLs or keys
        #[arg(required = true, value_name = "SITE|FEED")]
        names: Vec<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Crawl a bundled web of small sites on loopback and serve the result; needs no network
    Demo(DemoArgs),
    /// Serve the search page and the forms, and run the schedules
    Serve {
        /// Address and port to listen on
        #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080", value_parser = socket)]
        listen: SocketAddr,
    },
    /// Search the published index
    Search {
        /// Words, "a phrase", +word, -word, begin*, title:WORD, author:NAME, site:HOST, tag:TAG, in:FOLDER, lang:it, before:2026-05-01, after:…, sort:date
        #[arg(required = true)]
        query: Vec<String>,
        /// Maximum number of hits to show
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: usize,
        /// Explain the score of each hit
        #[arg(long)]
        explain: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Re-check indexed pages now; pages that are gone from the web leave the index
    Sample {
        /// Number of pages
        #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "all")]
        count: usize,
        /// Every indexed page
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Publish new pages; with a year, also rewrite that year's index without the pages that are gone
    Index {
        /// The year to refresh
        #[arg(long, value_name = "YYYY", value_parser = clap::value_parser!(i16).range(1990..=9999))]
        year: Option<i16>,
        #[command(flatten)]
        output: Output,
    },
    /// Ask a running `curlew serve` whether it answers; needs neither its folder nor its settings
    Health {
        /// Address and port that it listens on
        #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080", value_parser = socket)]
        listen: SocketAddr,
    },
    /// Check the store and its processes, and say what to do; fails if something does not work
    Doctor {
        #[command(flatten)]
        output: Output,
    },
    /// Show counts, held hosts, parked jobs, and the reasons why pages were rejected
    Status {
        #[command(flatten)]
        output: Output,
    },
    /// List the sites
    Sites(ListArgs),
    /// List the feeds that are polled
    Feeds(ListArgs),
    /// List pages and their states
    Pages(ListArgs),
    /// List hosts on hold, and the reasons
    Holds(ListArgs),
    /// List jobs that wait for a later time, and jobs that were given up
    Parked(ListArgs),
    /// List the pages that were removed and the acts of operators, with time and reason
    Audit(ListArgs),
    /// Tell the story of a page: its feed, and when it was fetched, judged, published and re-checked
    Trace {
        /// Address or id of the page
        #[arg(value_name = "PAGE")]
        page: String,
        /// Also show the lines of this JSON log (`--log json`) about the page; `-` for standard input
        #[arg(long, value_name = "FILE")]
        log_file: Option<PathBuf>,
        #[command(flatten)]
        output: Output,
    },
    /// Block a host: never contact it again, and hide its pages
    Block {
        /// A host name; all names below it are blocked too
        host: String,
    },
    /// Lift a block
    Unblock {
        /// The host name that was blocked
        host: String,
    },
    /// Put a host on hold for a while; waiting work is kept
    Hold {
        /// A host name or an address
        host: String,
        /// How long
        #[arg(long = "for", value_name = "DURATION", default_value = "7d")]
        length: Millis,
    },
    /// Lift an operator's hold; holds caused by the site's responses stay
    Unhold {
        /// The host name
        host: String,
    },
    /// Override content screening for a page or a site
    #[command(alias = "overrule")]
    Override(OverrideArgs),
    /// Read the messages that people sent to the operator through the form of the search page
    Messages(MessagesArgs),
    /// List the claims to sites, with their proofs and requests
    Owners(ListArgs),
    /// Create or revoke sign-in tokens for the pages under /admin
    Admin {
        #[command(subcommand)]
        what: AdminWhat,
    },
    /// Check, show or create settings, or change those of a stack
    Config {
        #[command(subcommand)]
        what: ConfigWhat,
    },
    /// Write a file of settings to start with, as `config init` does
    Init(InitArgs),
    /// Manage the keys that sign requests, so that sites can verify this crawler
    Key(KeyArgs),
    /// Post new pages that match a query to a webhook
    Watch(WatchArgs),
    /// Put jobs that were given up back into their queues
    Redrive {
        /// Names of jobs, as `curlew parked` lists them [default: all]
        names: Vec<String>,
    },
    /// Delete jobs that were given up, for good
    Discard {
        /// Names of jobs, as `curlew parked` lists them
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Write a copy of the store into a new folder, also while another process crawls or serves
    Backup {
        /// The folder to write; it must not exist, or be empty
        dir: PathBuf,
        #[command(flatten)]
        output: Output,
    },
    /// Restore a backup into a store, after checking all of its files
    Restore {
        /// The folder of the backup
        dir: PathBuf,
        /// Move an existing store aside, into a folder beside it
        #[arg(long)]
        replace: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Compare rows, records, index, images and jobs, and report missing or damaged ones
    Fsck {
        /// Repair: fetch lost pages again, rebuild the index, delete unreferenced objects
        #[arg(long)]
        repair: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Run the extractor over the kept raw pages, without a call; records that change are updated
    Reextract(ReextractArgs),
    /// Export records, feeds or raw pages for other programs
    Export {
        #[command(subcommand)]
        what: Export,
    },
    /// Import feeds or pages from other programs
    Import {
        #[command(subcommand)]
        what: Import,
        /// Print JSON
        #[arg(long, global = true)]
        json: bool,
    },
    /// Try one component offline (robots, feed, page, …): JSON Lines in, JSON Lines out, or one plain document
    Check {
        #[command(subcommand)]
        what: Check,
    },
    /// Print the completions of this program for a shell
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Write the manual pages, one for each command
    Man {
        /// The folder, such as ~/.local/share/man/man1; created if missing
        folder: PathBuf,
    },
}

/// Choice of output for people or programs.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Output {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Uses of watches.
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    #[command(subcommand)]
    pub(crate) what: Option<WatchWhat>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WatchWhat {
    /// Post new matches of a query to an address, signed, from now on
    Add {
        /// A query as for `curlew search`
        query: String,
        /// The address to post to
        #[arg(long, value_name = "URL")]
        to: String,
    },
    /// List the watches and the subscriptions of feed readers, with their delivery status
    List,
    /// Delete a watch and its pending deliveries
    Remove {
        /// Name of the watch
        name: String,
    },
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
    /// Also read the back catalogue, a little each day: of the sites named here, or of all known sites
    #[arg(long)]
    pub(crate) history: bool,
    /// Only pages since this day or instant, as far as their dates are stated
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
    /// Address and port to serve the result on
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080", value_parser = socket)]
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
    /// List all, one per line
    List,
    /// Show one in full
    Show {
        /// Key, URL or host
        key: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct KeyArgs {
    #[command(subcommand)]
    pub(crate) what: KeyWhat,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
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

#[derive(Debug, Args)]
pub(crate) struct MessagesArgs {
    #[command(subcommand)]
    pub(crate) what: Option<MessagesWhat>,
    /// Print JSON; for the list, JSON Lines
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MessagesWhat {
    /// List all, one per line
    List,
    /// Show one message in full
    Show {
        /// Name of the message in the list
        name: String,
    },
    /// Delete a message that is dealt with
    Close {
        /// Name of the message in the list
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct OverrideArgs {
    #[command(subcommand)]
    pub(crate) what: Option<OverrideWhat>,
    /// Print JSON; for the list, JSON Lines
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OverrideWhat {
    /// List all, one per line
    List,
    /// Accept a page or a site despite content screening
    #[command(alias = "pass")]
    Allow {
        /// A page's whole URL, or a host: all names below it too
        target: String,
        /// Only what this topic rejects, such as `violence`; may be given several times
        #[arg(long, value_name = "TOPIC")]
        topic: Vec<String>,
        /// The reason; shown with the verdict
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
    /// Reject a page or a site; its indexed pages are removed
    #[command(alias = "reject")]
    Deny {
        /// A page's whole URL, or a host: all names below it too
        target: String,
        /// The reason; shown with the verdict
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
    /// Remove an override
    Remove {
        /// The URL or the host of the override
        target: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Export {
    /// Export the indexed pages, with their texts
    Records(RecordsArgs),
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
    Feed {
        #[command(flatten)]
        document: Document,
    },
    /// List the feeds that a page names
    Discover {
        #[command(flatten)]
        document: Document,
    },
    /// Show the record that would be stored for a page, and whether it would be accepted
    Page {
        #[command(flatten)]
        document: Document,
        /// Explain the result: the candidates for the text, the lines that are left out, the source of the date. In
        /// JSON Lines a question may ask for it by `"explain": true`
        #[arg(long)]
        explain: bool,
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
