//! Arguments of `curlew watch`, `messages`, `override` and `tick`.

use clap::{Args, Subcommand};

// Arguments of a command that requires a subcommand.
#[derive(Debug, Args)]
pub(crate) struct With<W: Subcommand> {
    #[command(subcommand)]
    pub(crate) what: W,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

// Arguments of a command that lists its rows if no subcommand is named.
#[derive(Debug, Args)]
pub(crate) struct ListedWith<W: Subcommand> {
    #[command(subcommand)]
    pub(crate) what: Option<W>,
    /// Print JSON; for the list, JSON Lines
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

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
    /// Post signed notifications of new pages that match a query to an address
    Add {
        /// Query, as for `curlew search`
        query: String,
        /// Address to post to
        #[arg(long, value_name = "URL")]
        to: String,
    },
    /// List the watches, with their delivery status
    List,
    /// Delete a watch and its pending deliveries
    Remove {
        /// Name of the watch
        name: String,
    },
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
    /// Delete a message after dealing with it
    Close {
        /// Name of the message in the list
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum OverrideWhat {
    /// List all, one per line
    List,
    /// Accept a page or a site despite content screening
    Allow {
        /// Full URL of a page, or a host including its subdomains
        target: String,
        /// Only this topic, such as `violence`; may be given several times
        #[arg(long, value_name = "TOPIC")]
        topic: Vec<String>,
        /// Reason, shown with the verdict
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
    /// Reject a page or a site; its indexed pages are removed
    Deny {
        /// Full URL of a page, or a host including its subdomains
        target: String,
        /// Reason, shown with the verdict
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
    /// Remove an override
    Remove {
        /// URL or host of the override
        target: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TickArgs {
    /// Also choose pages to re-check, as the daily schedule does
    #[arg(long)]
    pub(crate) sample: bool,
    /// Also publish, as the schedule does three times a day
    #[arg(long)]
    pub(crate) publish: bool,
}
