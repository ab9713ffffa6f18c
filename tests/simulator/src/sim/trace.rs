//! Events of a run, as far as the invariants need them.

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
    /// Time of its end: with an answer, or because its machine did.
    pub(super) end: Timestamp,
    pub(super) came_to: CallResult,
    /// The ledger's answer about the host key as it began.
    pub(super) ledger: LedgerSnapshot,
    pub(super) robots: RobotsSnapshot,
    /// The address guard refuses this URL.
    pub(super) refused: bool,
    /// When the feed that is called was polled last, by its row; only in a run with hubs.
    pub(super) polled_at: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallResult {
    Status(u16),
    /// The network failed, or time ran out.
    Network,
    /// The machine that made it ended before the answer.
    Cut,
    Open,
}

impl CallResult {
    /// Returns true if a visit that is told this has to end.
    pub(super) fn ends_the_visit(self) -> bool {
        matches!(self, CallResult::Network | CallResult::Status(403 | 429 | 500..))
    }
}

/// The ledger's answer about a host key at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LedgerSnapshot {
    pub(super) lease: Option<(u64, Timestamp)>,
    pub(super) hold: Option<Timestamp>,
    /// The host of the URL is blocked, and was so a second before.
    pub(super) blocked: bool,
}

/// Answer of robots.txt about a URL at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RobotsSnapshot {
    /// A copy of it was in the store.
    pub(super) asked: bool,
    /// Some answer that may still be gone by allows the URL.
    pub(super) allowed: bool,
    /// The Crawl-delay of the copy in the store.
    pub(super) delay: Millis,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct JobRun {
    pub(super) at: Timestamp,
    pub(super) job: String,
    /// Number of times that it was handed out, this time included.
    pub(super) receives: u32,
    /// End of the run; `None` if the job was settled without one.
    pub(super) end: Option<JobEnd>,
    pub(super) settled: SettledAs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JobEnd {
    /// Done, or pointless.
    Done,
    /// The job waits until this instant.
    Waits(Timestamp),
    /// A port asked to be left alone for so long.
    Throttled(Millis),
    /// The job failed or panicked, and trying again may help.
    Failed,
    /// The job failed, and trying again does not help.
    Hopeless,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SettledAs {
    Done,
    /// Sent as a new message for this instant, and acknowledged.
    Deferred(Timestamp),
    /// Put back until this instant, as one that has failed.
    Retried(Timestamp),
    DeadLetter,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct QuerySnapshot {
    pub(super) at: Timestamp,
    pub(super) hits: Vec<String>,
    /// Rows of the pages with these URLs, as they were at that moment.
    pub(super) rows: Vec<Page>,
    /// Hosts that were blocked by then.
    pub(super) blocked: Vec<String>,
}

/// A delivery of a hub, and what the pages said to it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DeliverySnapshot {
    pub(super) at: Timestamp,
    pub(super) feed: String,
    pub(super) callback: String,
    /// True if the delivery was signed by the secret of the subscription.
    pub(super) signed: bool,
    /// The answer: it is taken, it is not believed, or the subscription is unknown.
    pub(super) answer: HubAnswer,
    /// The feed was retired before it came.
    pub(super) is_gone: bool,
    /// The host of the feed was blocked before it came.
    pub(super) is_blocked: bool,
    /// Nothing goes wrong any more, and the feed may be polled.
    pub(super) is_calm: bool,
}

/// A request of an owner that came to a decision.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RequestSnapshot {
    pub(super) at: Timestamp,
    /// When it was first made; tries that failed come between.
    pub(super) since: Timestamp,
    pub(super) host: String,
    pub(super) owner: usize,
    pub(super) request: OwnerRequest,
    /// The decision; `None` if every try failed or came too soon.
    pub(super) outcome: Option<RequestOutcome>,
    /// When the last challenge of this owner could be found, if ever.
    pub(super) published: Option<Timestamp>,
}

impl RequestSnapshot {
    /// True if it was granted, wholly or in part.
    pub(super) fn is_granted(&self) -> bool {
        matches!(self.outcome, Some(RequestOutcome::Granted | RequestOutcome::ByDnsOnly))
    }
}

/// A time in which a host must not be called or found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stop {
    pub(super) host: String,
    /// True if the host's owner has asked for it, not the operator.
    pub(super) by_owner: bool,
    /// When it was first asked for.
    pub(super) asked: Timestamp,
    /// When it was granted, if it was.
    pub(super) from: Option<Timestamp>,
    /// When the owner first asked to lift it, if they did.
    pub(super) until: Option<Timestamp>,
}

/// Remains of a host whose owner had it forgotten.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Remains {
    pub(super) host: String,
    /// Records, rows, pages in the index and thumbnails that still name its pages.
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
    /// The host key that its visit counts under.
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
    /// Addresses of archives and sitemaps.
    pub(super) documents: BTreeSet<String>,
    /// Addresses of pages that only these name.
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

/// State of everything once nothing moved any more.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct End {
    pub(super) at: Timestamp,
    pub(super) pages: Vec<Page>,
    /// Entries that the feeds' rows remember as seen, and those of back catalogues.
    pub(super) entries: Vec<EntrySnapshot>,
    /// The next steps of backfills that have not ended, as their rows say.
    pub(super) backfills: Vec<BackfillJob>,
    pub(super) waiting: Vec<Job>,
    /// Jobs that were given up, with their errors.
    pub(super) dead: Vec<(Job, String)>,
    /// URLs of all that is found after everything was published; `None` if the run had no index.
    pub(super) found: Option<Vec<String>>,
    /// Accepted pages whose records cannot be read, or the thumbnails beside them.
    pub(super) unreadable: Vec<String>,
    /// Pages whose records do not say what their last re-check saw.
    pub(super) unrevised: Vec<Page>,
    pub(super) forgotten: Vec<Remains>,
    /// Hosts that their owners allow again, and that are blocked.
    pub(super) not_allowed: Vec<String>,
    /// All raw pages after everything was published and swept; `None` if the run kept none.
    pub(super) raw: Option<Vec<RawSnapshot>>,
}

/// Everything that happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    pub(super) calls: Vec<CallSnapshot>,
    /// Runs of jobs in the order in which they were settled.
    pub(super) runs: Vec<JobRun>,
    /// Pages that were sent to be fetched, in the order of their first time.
    pub(super) sends: Vec<SendSnapshot>,
    pub(super) removals: Vec<RemovalSnapshot>,
    /// Removals whose runs were done, and when.
    pub(super) removed: Vec<(Timestamp, RemovalJob)>,
    /// Archives, sitemaps, and their pages.
    pub(super) history: HistorySnapshot,
    pub(super) queries: Vec<QuerySnapshot>,
    pub(super) deliveries: Vec<DeliverySnapshot>,
    pub(super) requests: Vec<RequestSnapshot>,
    /// Times in which hosts are left alone.
    pub(super) stops: Vec<Stop>,
    pub(super) end: End,
    /// Everything in one line each, for people.
    pub(super) log: Vec<(Timestamp, String)>,
    pub(super) panics: Vec<String>,
    /// The run was broken off, since it did not come to rest.
    pub(super) restless: bool,
}

impl Trace {
    pub(super) fn note(&mut self, at: Timestamp, line: String) {
        self.log.push((at, line));
    }

    /// A number that is the same for the same trace.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
        format!("{self:?}").hash(&mut hasher);
        hasher.finish()
    }

    /// The last lines of the log.
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
