//! Events of a run that the invariants need.

use curlew_crawl::feeds::websub_delivery::HubAnswer;
use curlew_model::{BackfillJob, HostKey, Job, Millis, OwnerRequest, Page, PageId, PageState, RemovalJob, Timestamp};
use curlew_people::ownership::RequestOutcome;
use curlew_ports::CallKind;
use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct CallSnapshot {
    pub(super) host: HostKey,
    pub(super) url: String,
    pub(super) kind: CallKind,
    pub(super) machine: usize,
    pub(super) start: Timestamp,
    /// When the call ended: with an answer, or because its machine died.
    pub(super) end: Timestamp,
    pub(super) came_to: CallResult,
    /// The ledger's row of the host key when the call began.
    pub(super) ledger: LedgerSnapshot,
    pub(super) robots: RobotsSnapshot,
    /// True if the address guard refuses this URL.
    pub(super) refused: bool,
    /// When the row says that the called feed was last polled; only in a run with hubs.
    pub(super) polled_at: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallResult {
    Status(u16),
    /// The network failed, or the call took too long.
    Network,
    /// The machine that made the call died before the answer.
    Cut,
    Open,
}

impl CallResult {
    /// Returns true if a visit has to end after this result.
    pub(super) fn ends_the_visit(self) -> bool {
        matches!(self, CallResult::Network | CallResult::Status(403 | 429 | 500..))
    }
}

/// The ledger's row of a host key at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LedgerSnapshot {
    pub(super) lease: Option<(u64, Timestamp)>,
    pub(super) hold: Option<Timestamp>,
    /// True if the host of the URL is blocked, and was already blocked [`TOO_LATE`](super::late::TOO_LATE) earlier.
    pub(super) blocked: bool,
}

/// The rules of robots.txt about a URL at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RobotsSnapshot {
    /// True if the store had a copy of robots.txt.
    pub(super) asked: bool,
    /// True if an answer that may still be used allows the URL.
    pub(super) allowed: bool,
    /// Crawl-delay of the copy in the store.
    pub(super) delay: Millis,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct JobRun {
    pub(super) at: Timestamp,
    pub(super) job: String,
    /// Number of times that the job was handed out, including this one.
    pub(super) receives: u32,
    /// End of the run, or `None` if the job was settled without one.
    pub(super) end: Option<JobEnd>,
    pub(super) settled: SettledAs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JobEnd {
    /// The job is done, or pointless.
    Done,
    /// The job waits until this instant.
    Waits(Timestamp),
    /// A port asked to be left alone for this time.
    Throttled(Millis),
    /// The job failed or panicked, and trying again may help.
    Failed,
    /// The job failed, and trying again does not help.
    Hopeless,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SettledAs {
    Done,
    /// The job was sent as a new message for this instant, and acknowledged.
    Deferred(Timestamp),
    /// The job was put back until this instant as one that has failed.
    Retried(Timestamp),
    DeadLetter,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct QuerySnapshot {
    pub(super) at: Timestamp,
    pub(super) hits: Vec<String>,
    /// Rows of the pages with these URLs at that moment.
    pub(super) rows: Vec<Page>,
    /// Hosts that were blocked at that moment.
    pub(super) blocked: Vec<String>,
}

/// A delivery of a hub, and the answer to it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DeliverySnapshot {
    pub(super) at: Timestamp,
    pub(super) feed: String,
    pub(super) callback: String,
    /// True if the delivery was signed with the secret of the subscription.
    pub(super) signed: bool,
    /// The answer: the delivery is accepted, it is not believed, or the subscription is unknown.
    pub(super) answer: HubAnswer,
    /// True if the feed was retired before the delivery.
    pub(super) is_gone: bool,
    /// True if the host of the feed was blocked before the delivery.
    pub(super) is_blocked: bool,
    /// True if faults are switched off, and the feed may be polled.
    pub(super) is_calm: bool,
}

/// A request of an owner, with its decision.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RequestSnapshot {
    pub(super) at: Timestamp,
    /// When the request was first made; tries that failed come between.
    pub(super) since: Timestamp,
    pub(super) host: String,
    pub(super) owner: usize,
    pub(super) request: OwnerRequest,
    /// The decision, or `None` if every try failed or came too soon.
    pub(super) outcome: Option<RequestOutcome>,
    /// When a challenge of this owner could last be found, if ever.
    pub(super) published: Option<Timestamp>,
}

impl RequestSnapshot {
    /// Returns true if the request was granted, wholly or in part.
    pub(super) fn is_granted(&self) -> bool {
        matches!(self.outcome, Some(RequestOutcome::Granted | RequestOutcome::ByDnsOnly))
    }
}

/// A time in which a host must not be called or found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stop {
    pub(super) host: String,
    /// True if the host's owner requested the stop, false if the operator did.
    pub(super) by_owner: bool,
    /// When the stop was first requested.
    pub(super) asked: Timestamp,
    /// When the stop was granted, if it was.
    pub(super) from: Option<Timestamp>,
    /// When the owner first requested its end, if ever.
    pub(super) until: Option<Timestamp>,
}

/// Remains of a host that its owner had forgotten.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Remains {
    pub(super) host: String,
    /// Records, rows, pages in the index and thumbnails that still name pages of the host.
    pub(super) left: Vec<String>,
}

/// A page that is kept as it was fetched.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RawSnapshot {
    pub(super) key: String,
    pub(super) page: PageId,
    pub(super) state: Option<PageState>,
}

/// The first time that a page was sent to be fetched.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SendSnapshot {
    pub(super) at: Timestamp,
    /// The host key that the visit counts for.
    pub(super) host: HostKey,
    pub(super) url: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct RemovalSnapshot {
    pub(super) due: Timestamp,
    pub(super) job: RemovalJob,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct HistorySnapshot {
    /// URLs of archives and sitemaps.
    pub(super) documents: BTreeSet<String>,
    /// URLs of pages that only these documents name.
    pub(super) pages: BTreeSet<String>,
}

/// An entry that a feed's row remembers as seen, or that is in a document that a backfill has read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EntrySnapshot {
    /// The URL of the feed, or of the document.
    pub(super) feed: String,
    pub(super) link: String,
    pub(super) page: PageId,
}

/// State of the stores at the end of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct End {
    pub(super) at: Timestamp,
    pub(super) pages: Vec<Page>,
    /// Entries that the feeds' rows remember as seen, and those of back catalogues.
    pub(super) entries: Vec<EntrySnapshot>,
    /// Next steps of backfills that have not ended, according to their rows.
    pub(super) backfills: Vec<BackfillJob>,
    pub(super) waiting: Vec<Job>,
    /// Jobs that were given up, with their errors.
    pub(super) dead: Vec<(Job, String)>,
    /// URLs of all pages that are found after everything was published, or `None` if the run had no index.
    pub(super) found: Option<Vec<String>>,
    /// Accepted pages whose record or thumbnail cannot be read.
    pub(super) unreadable: Vec<String>,
    /// Pages whose records do not show what their last re-check saw.
    pub(super) unrevised: Vec<Page>,
    pub(super) forgotten: Vec<Remains>,
    /// Hosts that are blocked although their owners allow them again.
    pub(super) not_allowed: Vec<String>,
    /// All raw pages after everything was published and swept, or `None` if the run kept none.
    pub(super) raw: Option<Vec<RawSnapshot>>,
}

/// Record of all events of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    pub(super) calls: Vec<CallSnapshot>,
    /// Runs of jobs in the order in which they were settled.
    pub(super) runs: Vec<JobRun>,
    /// The first job that fetches each page, in order.
    pub(super) sends: Vec<SendSnapshot>,
    pub(super) removals: Vec<RemovalSnapshot>,
    /// Removals that were done, and when.
    pub(super) removed: Vec<(Timestamp, RemovalJob)>,
    /// URLs of archives, of sitemaps, and of their pages.
    pub(super) history: HistorySnapshot,
    pub(super) queries: Vec<QuerySnapshot>,
    pub(super) deliveries: Vec<DeliverySnapshot>,
    pub(super) requests: Vec<RequestSnapshot>,
    /// Times in which hosts must be left alone.
    pub(super) stops: Vec<Stop>,
    pub(super) end: End,
    /// One line for each event, for people.
    pub(super) log: Vec<(Timestamp, String)>,
    pub(super) panics: Vec<String>,
    /// True if the run was broken off because it did not come to rest.
    pub(super) restless: bool,
}

impl Trace {
    pub(super) fn note(&mut self, at: Timestamp, line: String) {
        self.log.push((at, line));
    }

    /// Returns a number that is the same for equal traces.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
        format!("{self:?}").hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the last lines of the log.
    pub fn tail(&self, lines: usize) -> String {
        use fmt::Write as _;
        let from = self.log.len().saturating_sub(lines);
        self.log[from..].iter().fold(String::new(), |mut text, (at, line)| {
            let _ = writeln!(text, "{at}  {line}");
            text
        })
    }
}

/// FNV-1a: a hash that does not depend on the standard library's version or keys.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
