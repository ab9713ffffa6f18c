use crate::CallKind;
use curlew_model::{Gone, HoldReason, HostKey, Millis, Rejection, words};

/// An event to count. Each is reported once when it happens; a job that runs twice may report it twice.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<'a> {
    /// A call ended.
    Called {
        /// Host key of the call.
        host: &'a HostKey,
        /// The purpose.
        kind: CallKind,
        /// The status, if there was an answer.
        status: Option<u16>,
        /// Decoded bytes of the body.
        bytes: u64,
    },
    /// A working feed was found.
    FeedFound,
    /// A site was found to have no feed, or no working one.
    Feedless,
    /// Number of entries seen in a feed for the first time.
    EntriesSeen(u64),
    /// A page was fetched.
    PageFetched,
    /// A page was accepted.
    Accepted,
    /// A page was rejected.
    Rejected(&'a Rejection),
    /// A page was found to be an alias of another page.
    Alias,
    /// An indexed page must leave the index.
    Removed(Gone),
    /// An indexed page was re-checked and is still there.
    StillThere,
    /// The record of an indexed page was replaced because its text changed.
    Revised,
    /// A re-check found something else in place of an indexed page, or a `noindex`: a second check decides.
    Doubted,
    /// A host key was put on hold.
    Held {
        /// The host key.
        host: &'a HostKey,
        /// Reason for the hold.
        reason: HoldReason,
    },
    /// A job was put off until its host may be called again.
    PutOff,
    /// Politeness makes a visit wait.
    Waited {
        /// The reason.
        reason: WaitReason,
        /// Length of the wait.
        time: Millis,
    },
    /// A feed is polled.
    Polled {
        /// Time since the poll was due; `None` if no schedule asked for it.
        late: Option<Millis>,
    },
    /// A query was answered.
    Searched {
        /// The outcome.
        outcome: SearchOutcome,
        /// Time that the query took.
        took: Millis,
    },
    /// A thumbnail was made.
    Thumbnail,
}

words! {
    /// Reason why a visit waits.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum WaitReason {
        /// The pause between two calls to one host key.
        Pause = "pause",
        /// Another visit has the lease, or the next call is too late to wait for.
        Lease = "lease",
        /// The host key is on hold.
        Hold = "hold",
        /// Our own network is down.
        Outage = "outage",
    }
}

words! {
    /// Outcome of a query.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum SearchOutcome {
        /// There are hits.
        Hits = "hits",
        /// Nothing matches.
        Nothing = "nothing",
        /// The query cannot be parsed.
        BadQuery = "bad_query",
        /// The index cannot be read.
        Failed = "failed",
    }
}

/// Sink of events that are counted.
pub trait Events: Send + Sync {
    /// Counts an event; must be quick and must not fail.
    fn note(&self, event: &Event<'_>);
}

impl Events for () {
    fn note(&self, _: &Event<'_>) {}
}
