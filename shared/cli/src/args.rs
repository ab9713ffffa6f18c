//! Command-line arguments. Commands with many flags are defined in submodules by subject.

mod check;
mod crawl;
mod operator;
mod settings;
mod transfer;

pub(crate) use check::{Check, Document};
pub(crate) use crawl::{CrawlArgs, DemoArgs, Until};
pub(crate) use operator::{ListedWith, MessagesWhat, OverrideWhat, TickArgs, WatchArgs, WatchWhat, With};
pub(crate) use settings::{AdminWhat, ConfigWhat, InitArgs, KeyWhat, ModelWhat, Preset};
pub(crate) use transfer::{BulkArgs, Export, Import, RecordsArgs, ReextractArgs, WarcArgs};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;
use curlew_app::LogForm;
use curlew_fetcher::ResolveRule;
use curlew_model::{Millis, Timestamp};
use ipnet::IpNet;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Groups of commands in the help: title, and names of commands separated by spaces.
const GROUPS: [(&str, &str); 6] = [
    ("Everyday", "crawl poll demo serve search mcp"),
    ("Look", "status sites feeds pages holds parked audit trace health doctor"),
    ("Act", "sample index tick block unblock hold unhold override watch redrive discard"),
    ("People", "messages owners admin"),
    ("Data", "backup restore fsck reextract export import"),
    ("Setup", "init config model key check completions man"),
];

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
    /// Parses the program's arguments. Treats `curlew help COMMAND` as `curlew COMMAND --help`, and `curlew sites NAME`
    /// as `curlew sites show NAME`. Puts a space before search words that begin with `-`, because clap would parse
    /// `-harbour` as `-h` and more flags; queries ignore the space.
    pub(crate) fn read(args: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
        let mut args: Vec<OsString> = args.into_iter().collect();
        if args.get(1).is_some_and(|first| first == "help") {
            args.remove(1);
            args.push("--help".into());
        }
        let command = Cli::command();
        if let Some(at) = shown_at(&command, &args) {
            args.insert(at, "show".into());
        }
        let mut is_query = false;
        let args = args.into_iter().map(|arg| {
            let word = arg.to_str().filter(|word| is_query && is_excluded_word(word)).map(|word| format!(" {word}"));
            is_query = (is_query || arg == "search") && arg != "--";
            word.map_or(arg, OsString::from)
        });
        let mut command = with_groups(command);
        let mut matches = command.try_get_matches_from_mut(args)?;
        Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
    }
}

/// Makes the program's help list the commands by group.
fn with_groups(command: clap::Command) -> clap::Command {
    let line = |name: &str| {
        let about = command.find_subcommand(name).and_then(clap::Command::get_about);
        format!("  {name:<12} {}\n", about.map(ToString::to_string).unwrap_or_default())
    };
    let group = |(title, names): (&str, &str)| {
        let lines: String = names.split(' ').map(&line).collect();
        format!("{title}:\n{lines}\n")
    };
    let groups: String = GROUPS.into_iter().map(group).collect();
    let template = format!("{{about-with-newline}}\nUsage: curlew [OPTIONS] <COMMAND>\n\n{groups}{{all-args}}");
    command.mut_subcommands(|command| command.hide(true)).help_template(template)
}

/// Returns the index at which to insert `show` into arguments such as `curlew sites KEY`. Returns `None` if no listing
/// command is named, or if no key follows it.
fn shown_at(cli: &clap::Command, args: &[OsString]) -> Option<usize> {
    let is_value = |before: &OsString| {
        let before = before.to_string_lossy();
        before.starts_with("--") && !before.contains('=') && before != "--aws" && before != "--verbose"
    };
    let words = args.iter().zip(args.iter().skip(1)).zip(2..).filter(|((before, _), _)| !is_value(before));
    let (at, command) = words.into_iter().find_map(|((_, arg), next)| Some((next, cli.find_subcommand(arg)?)))?;
    let next = args.get(at)?;
    let is_list = command.find_subcommand("list").is_some() && command.find_subcommand("show").is_some();
    let is_name = !next.to_string_lossy().starts_with('-') && command.find_subcommand(next).is_none();
    (is_list && is_name).then_some(at)
}

/// Returns true if `arg` begins with `-`, but is neither `-`, `-h`, `-v` (or `-vv` etc.) nor a long flag.
fn is_excluded_word(arg: &str) -> bool {
    let is_flag =
        |rest: &str| rest.is_empty() || rest.starts_with('-') || rest == "h" || rest.bytes().all(|b| b == b'v');
    arg.strip_prefix('-').is_some_and(|rest| !is_flag(rest))
}

/// Parses a socket address (`ADDR:PORT`).
fn socket(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "write ADDR:PORT, such as 127.0.0.1:8090".to_owned())
}

/// Parses a day or an instant.
fn date(text: &str) -> Result<Timestamp, String> {
    let wrong = |_| "write a day, such as 2026-05-01, or an instant, such as 2026-05-01T17:00:00Z".to_owned();
    Timestamp::parse_day_or_instant(text).map_err(wrong)
}

/// Returns a parser for the format of log lines: `text` or `json`.
fn log_form() -> impl TypedValueParser<Value = LogForm> {
    PossibleValuesParser::new(["text", "json"]).map(|form| if form == "json" { LogForm::Json } else { LogForm::Text })
}

/// Returns the full name of the command in `args`, such as `curlew config show`.
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
    /// Folder of the store [default: ./curlew-data]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Settings file (TOML); the environment (CURLEW_…) overrides it, and flags override both
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Web page or mail address to send in the user agent; required to contact public sites
    #[arg(long, global = true, value_name = "URL|MAIL")]
    pub(crate) contact: Option<String>,
    /// Allow calls to a private address range
    #[arg(long, global = true, value_name = "CIDR")]
    pub(crate) allow_net: Vec<IpNet>,
    /// Connect to a host at this address, without resolving its name; NAME may begin with `*.`
    #[arg(long, global = true, value_name = "NAME=ADDR[:PORT]")]
    pub(crate) resolve: Vec<ResolveRule>,
    /// Number of hosts visited at once [default: 100]
    #[arg(long, global = true, value_name = "N")]
    pub(crate) workers: Option<usize>,
    /// Work on a stack on AWS, with the credentials and region of the environment
    #[arg(long, global = true, conflicts_with = "data")]
    pub(crate) aws: bool,
    /// Name of the stack [default: curlew]
    #[arg(long, global = true, value_name = "NAME", requires = "aws")]
    pub(crate) stack: Option<String>,
    /// Log more; twice for even more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Format of log lines
    #[arg(long, global = true, value_name = "FORM", value_parser = log_form())]
    pub(crate) log: Option<LogForm>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find the feeds of sites, poll them, fetch new pages, and publish the index
    Crawl(CrawlArgs),
    /// Poll feeds now, regardless of their schedule
    ///
    /// Holds, Retry-After, and five minutes between two polls of a feed still apply.
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
        /// Words, "a phrase", +word, -word, begin*, title:WORD, author:NAME, site:HOST, tag:TAG, in:FOLDER, lang:it,
        /// before:2026-05-01, after:…, sort:date
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
    /// Serve the index to an assistant: an MCP server over standard input and output
    Mcp,
    /// Re-check indexed pages now, and remove those that are gone from the web
    Sample {
        /// Number of pages to re-check
        #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "all")]
        count: usize,
        /// Re-check every indexed page
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Publish new pages; with a year, also rewrite its index without removed pages
    Index {
        /// Year whose index is rewritten
        #[arg(long, value_name = "YYYY", value_parser = clap::value_parser!(i16).range(1990..=9999))]
        year: Option<i16>,
        #[command(flatten)]
        output: Output,
    },
    /// Check that a running `curlew serve` answers, without its folder or settings
    Health {
        /// Address and port on which it listens
        #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080", value_parser = socket)]
        listen: SocketAddr,
    },
    /// Check the store and its processes, and suggest remedies; fails if a check fails
    Doctor(Output),
    /// Show counts, held hosts, parked jobs, and why pages were rejected
    Status(Output),
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
    /// List removed pages and the actions of operators, with times and reasons
    Audit(ListArgs),
    /// Show the history of a page: its feed, and when it was fetched, judged and published
    Trace {
        /// Address or id of the page
        #[arg(value_name = "PAGE")]
        page: String,
        /// Also show the lines about the page in this JSON log (`--log json`); `-` for standard input
        #[arg(long, value_name = "FILE")]
        log_file: Option<PathBuf>,
        #[command(flatten)]
        output: Output,
    },
    /// Block a host: never contact it again, and hide its pages
    Block {
        /// A host name; its subdomains are blocked too
        host: String,
    },
    /// Lift a block
    Unblock {
        /// The host name that was blocked
        host: String,
    },
    /// Put a host on hold for a while; waiting jobs are kept
    Hold {
        /// A host name or an address
        host: String,
        /// Duration of the hold
        #[arg(long = "for", value_name = "DURATION", default_value = "7d")]
        length: Millis,
    },
    /// Lift an operator's hold; holds caused by the site's responses stay
    Unhold {
        /// The host name
        host: String,
    },
    /// Override content screening for a page or a site
    Override(ListedWith<OverrideWhat>),
    /// Add, list or remove the model that classifies pictures
    Model(With<ModelWhat>),
    /// Read the messages that people sent with the contact form
    Messages(ListedWith<MessagesWhat>),
    /// List the claims to sites, with their proofs and requests
    Owners(ListArgs),
    /// Create or revoke sign-in tokens for the pages under /admin
    #[command(subcommand)]
    Admin(AdminWhat),
    /// Check or show settings, or change those of a stack
    #[command(subcommand)]
    Config(ConfigWhat),
    /// Write a settings file to fill in; keeps an existing file
    Init(InitArgs),
    /// Manage the keys that sign requests, so that sites can verify this crawler
    Key(With<KeyWhat>),
    /// Post new pages that match a query to a webhook
    Watch(WatchArgs),
    /// Run the scheduled work of a stack now, for AWS emulators that run no schedules
    Tick(TickArgs),
    /// Put jobs that were given up back into their queues
    Redrive {
        /// Names of jobs, as `curlew parked` lists them [default: all]
        names: Vec<String>,
    },
    /// Permanently delete jobs that were given up
    Discard {
        /// Names of jobs, as `curlew parked` lists them
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Copy the store into a new folder, even while another process crawls or serves
    Backup {
        /// Folder to write; must be new or empty
        dir: PathBuf,
        #[command(flatten)]
        output: Output,
    },
    /// Restore a backup into a store, after checking all files of the backup
    Restore {
        /// Folder of the backup
        dir: PathBuf,
        /// Move an existing store aside, into a folder next to it
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
    /// Extract the kept raw pages again, without calls, and update the records that change
    Reextract(ReextractArgs),
    /// Export records, feeds or raw pages for other programs
    #[command(subcommand)]
    Export(Export),
    /// Import feeds or pages from other programs
    Import(With<Import>),
    /// Try one component offline (robots, feed, page, …), on a document or on JSON Lines
    #[command(subcommand)]
    Check(Check),
    /// Print completions for a shell
    Completions {
        /// Name of the shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Write the manual pages, one for each command
    Man {
        /// Folder to write, such as ~/.local/share/man/man1; created if missing
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

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(subcommand)]
    pub(crate) what: Option<ListWhat>,
    /// Print JSON Lines
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

impl ListArgs {
    /// Returns the key of the row to show; `None` to list all rows.
    pub(crate) fn key(&self) -> Option<&str> {
        match &self.what {
            Some(ListWhat::Show { key }) => Some(key),
            Some(ListWhat::List) | None => None,
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(typed: &str) -> Result<Cli, clap::Error> {
        Cli::read(typed.split(' ').map(OsString::from))
    }

    #[test]
    fn each_command_is_in_one_group_of_the_help() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.split(' ')).collect();
        let cli = Cli::command();
        let mut all: Vec<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn help_is_a_command_and_knows_the_others() {
        let help = |typed: &str| read(typed).map_err(|e| e.to_string()).err().unwrap_or_default();
        assert!(help("curlew help").contains("Everyday:\n  crawl        Find the feeds of sites"));
        assert_eq!(help("curlew help"), help("curlew --help"));
        assert_eq!(help("curlew help sites show"), help("curlew sites show --help"));
    }

    #[test]
    fn a_name_after_a_list_shows_the_row() {
        for (typed, key) in [
            ("curlew sites example.org", Some("example.org")),
            ("curlew --data pages sites example.org --json", Some("example.org")),
            ("curlew --aws pages https://example.org/1", Some("https://example.org/1")),
            ("curlew sites show list", Some("list")),
            ("curlew holds --json", None),
            ("curlew feeds list", None),
        ] {
            let parsed = read(typed).map(|cli| cli.command);
            let Ok(Command::Sites(args) | Command::Pages(args) | Command::Holds(args) | Command::Feeds(args)) = parsed
            else {
                panic!("{typed}: {parsed:?}");
            };
            assert_eq!(args.key(), key, "{typed}");
        }
        assert!(matches!(read("curlew --data pages status").map(|cli| cli.command), Ok(Command::Status { .. })));
        assert!(matches!(read("curlew config show").map(|cli| cli.command), Ok(Command::Config { .. })));
    }

    #[test]
    fn a_query_may_begin_with_a_minus() {
        for (typed, words, limit, json) in [
            ("curlew search -harbour", "-harbour", 10, false),
            ("curlew search -harbour tide", "-harbour tide", 10, false),
            ("curlew search tide -harbour --limit 5", "tide -harbour", 5, false),
            ("curlew search --json -harbour -site:example.org tide", "-harbour -site:example.org tide", 10, true),
            ("curlew search -tide --json --limit 7", "-tide", 7, true),
            ("curlew search -- -harbour", "-harbour", 10, false),
        ] {
            let parsed = read(typed).map(|cli| cli.command);
            let Ok(Command::Search { query, limit: most, output, .. }) = parsed else {
                panic!("{typed}: {parsed:?}");
            };
            let query: Vec<&str> = query.iter().map(|word| word.trim()).collect();
            assert_eq!((query.join(" ").as_str(), most, output.json), (words, limit, json), "{typed}");
        }
        assert!(read("curlew search").is_err(), "something has to be looked for");
        assert!(read("curlew search -h").is_err_and(|e| !e.use_stderr()), "help is help");
    }
}
