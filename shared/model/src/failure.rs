//! Reasons why a site could not be examined, shown to the person who named it.

use crate::Millis;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Failure of a site's last discovery, or of a call that did not reach its server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Kind of failure, which determines the remedy.
    pub cause: FailureCause,
    /// Description of the failure; it may quote the server.
    pub detail: String,
}

impl Failure {
    /// Creates a failure from its kind and description.
    pub fn new(cause: FailureCause, detail: impl Into<String>) -> Failure {
        Failure { cause, detail: detail.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl From<&str> for Failure {
    /// Creates a [`FailureCause::Network`] failure.
    fn from(detail: &str) -> Failure {
        Failure::new(FailureCause::Network, detail)
    }
}

/// Kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCause {
    /// The host name has no address.
    Dns,
    /// The server refused the connection.
    ConnectionRefused,
    /// The TLS handshake failed.
    Tls,
    /// The connection timed out.
    Timeout,
    /// The server could not be reached for another reason.
    Network,
    /// The server was reached, but its answer was missing, truncated, over a limit or not HTTP.
    Broken,
    /// The server answered with a status other than 200.
    Status,
    /// A redirect was not followed.
    Redirect,
    /// robots.txt forbids the home page.
    Robots,
    /// robots.txt is refused or unreachable, so no call to the host is allowed.
    RobotsUnavailable,
    /// The host is on hold.
    Held,
    /// The host is blocked.
    Blocked,
    /// The settings exclude the address.
    Excluded,
    /// The address guard refuses the address.
    Address,
    /// No working feed was found.
    NoFeed,
}

impl FailureCause {
    /// True if the server could not be reached.
    pub const fn is_unreached(self) -> bool {
        use FailureCause::{ConnectionRefused, Dns, Network, Timeout, Tls};
        matches!(self, Dns | ConnectionRefused | Tls | Timeout | Network)
    }

    /// True if the site or our operator wants this outcome, so that the crawl does not count it as a failure.
    pub const fn is_wanted(self) -> bool {
        use FailureCause::{Blocked, Excluded, Held, Robots, RobotsUnavailable};
        matches!(self, Robots | RobotsUnavailable | Held | Blocked | Excluded)
    }
}

/// Kind of a job's failure, which determines when the job is delivered again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobFailure {
    /// A port asked for a wait of this length. The job itself has not failed.
    Throttled(Millis),
    /// A retry may succeed.
    Transient,
    /// No retry can succeed.
    Permanent,
}

impl JobFailure {
    /// Returns the name of the kind.
    pub const fn as_str(self) -> &'static str {
        match self {
            JobFailure::Throttled(_) => "throttled",
            JobFailure::Transient => "transient",
            JobFailure::Permanent => "permanent",
        }
    }
}
