//! Watches, messages and overrides.

use clap::{Args, Subcommand};

// Arguments of a command with commands of its own, one of which must be named.
#[derive(Debug, Args)]
pub(crate) struct With<W: Subcommand> {
    #[command(subcommand)]
    pub(crate) what: W,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

// Arguments of a command that lists if none of its own commands is named.
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
    /// Post new matches of a query to an address, signed, from now on
    Add {
        /// A query as for `curlew search`
        query: String,
        /// The address to post to
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
    /// Delete a message that is dealt with
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

#[derive(Debug, Args)]
pub(crate) struct TickArgs {
    /// Choose pages to re-check, too, as once a day
    #[arg(long)]
    pub(crate) sample: bool,
    /// Publish, too, as three times a day
    #[arg(long)]
    pub(crate) publish: bool,
}
