//! Events of a run, as far as the invariants need them.

use curlew_crawl::feeds::websub_delivery::HubAnswer;
use curlew_model::{BackfillJob, HostKey, Job, Millis, OwnerRequest, Page, PageId, PageState, RemovalJob, Timestamp};
use curlew_people::ownership::RequestOutcome;
use curlew_ports::CallKind;
use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A call that reached the model web.
#[derive(Clone, Debug, PartialEq)]
pub struct CallSnapshot {
    /// The host key that it counts under.
    pub host: HostKey,
    /// URL of the call.
    pub url: String,
    /// Purpose of the call.
    pub kind: CallKind,
    /// The machine that made it.
    pub machine: usize,
    /// Time of its begin.
    pub start: Timestamp,
    /// Time of its end: with an answer, or because its machine did.
    pub end: Timestamp,
    /// Result of the call.
    pub came_to: CallResult,
    /// The ledger's answer about the host key as it began.
    pub ledger: LedgerSnapshot,
    /// The rules of robots.txt as it began.
    pub robots: RobotsSnapshot,
    /// The address guard refuses this URL.
    pub refused: bool,
    /// When the feed that is called was polled last, by its row; only in a run with hubs.
    pub polled_at: Option<Timestamp>,
}

/// Result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallResult {
    /// An answer with this status.
    Status(u16),
    /// The network failed, or time ran out.
    Network,
    /// The machine that made it ended before the answer.
    Cut,
    /// The call is still under way.
    Open,
}

impl CallResult {
    /// Returns true if a visit that is told this has to end.
    pub fn ends_the_visit(self) -> bool {
        matches!(self, CallResult::Network | CallResult::Status(403 | 429 | 500..))
    }
}

/// The ledger's answer about a host key at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LedgerSnapshot {
    /// The token and the end of the lease.
    pub lease: Option<(u64, Timestamp)>,
    /// The end of a hold.
    pub hold: Option<Timestamp>,
    /// The host of the URL is blocked, and was so a second before.
    pub blocked: bool,
}

/// Answer of robots.txt about a URL at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RobotsSnapshot {
    /// A copy of it was in the store.
    pub asked: bool,
    /// Some answer that may still be gone by allows the URL.
    pub allowed: bool,
    /// The Crawl-delay of the copy in the store.
    pub delay: Millis,
}

/// A run of a job, and how the worker settled its delivery.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRun {
    /// When it was settled.
    pub at: Timestamp,
    /// The job, for people.
    pub job: String,
    /// Number of times that it was handed out, this time included.
    pub receives: u32,
    /// End of the run; `None` if the job was settled without one.
    pub end: Option<JobEnd>,
    /// Decision of the worker.
    pub settled: SettledAs,
}

/// End of a job's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobEnd {
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

/// Settlement of a delivery by a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettledAs {
    /// Acknowledged.
    Done,
    /// Sent as a new message for this instant, and acknowledged.
    Deferred(Timestamp),
    /// Put back until this instant, as one that has failed.
    Retried(Timestamp),
    /// Given up.
    DeadLetter,
}

/// A query and its results.
#[derive(Clone, Debug, PartialEq)]
pub struct QuerySnapshot {
    /// When.
    pub at: Timestamp,
    /// URLs of the hits, in their order.
    pub hits: Vec<String>,
    /// Rows of the pages with these URLs, as they were at that moment.
    pub rows: Vec<Page>,
    /// Hosts that were blocked by then.
    pub blocked: Vec<String>,
}

/// A delivery of a hub, and what the pages said to it.
#[derive(Clone, Debug, PartialEq)]
pub struct DeliverySnapshot {
    /// When it was answered.
    pub at: Timestamp,
    /// The feed's URL.
    pub feed: String,
    /// Our name for the subscription.
    pub callback: String,
    /// True if the delivery was signed by the secret of the subscription.
    pub signed: bool,
    /// The answer: it is taken, it is not believed, or the subscription is unknown.
    pub answer: HubAnswer,
    /// The feed was retired before it came.
    pub is_gone: bool,
    /// The host of the feed was blocked before it came.
    pub is_blocked: bool,
    /// Nothing goes wrong any more, and the feed may be polled.
    pub is_calm: bool,
}

/// A request of an owner that came to a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestSnapshot {
    /// When it was decided.
    pub at: Timestamp,
    /// When it was first made; tries that failed come between.
    pub since: Timestamp,
    /// The host.
    pub host: String,
    /// The number of the owner.
    pub owner: usize,
    /// The request.
    pub request: OwnerRequest,
    /// The decision; `None` if every try failed or came too soon.
    pub outcome: Option<RequestOutcome>,
    /// When the last challenge of this owner could be found, if ever.
    pub published: Option<Timestamp>,
}

impl RequestSnapshot {
    /// True if it was granted, wholly or in part.
    pub fn is_granted(&self) -> bool {
        matches!(self.outcome, Some(RequestOutcome::Granted | RequestOutcome::ByDnsOnly))
    }
}

/// A time in which a host must not be called or found.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// The host.
    pub host: String,
    /// True if the host's owner has asked for it, not the operator.
    pub by_owner: bool,
    /// When it was first asked for.
    pub asked: Timestamp,
    /// When it was granted, if it was.
    pub from: Option<Timestamp>,
    /// When the owner first asked to lift it, if they did.
    pub until: Option<Timestamp>,
}

/// Remains of a host whose owner had it forgotten.
#[derive(Clone, Debug, PartialEq)]
pub struct Remains {
    /// The host.
    pub host: String,
    /// Records, rows, pages in the index and thumbnails that still name its pages.
    pub left: Vec<String>,
}

/// A page that is kept as it was fetched.
#[derive(Clone, Debug, PartialEq)]
pub struct RawSnapshot {
    /// The object.
    pub key: String,
    /// The page.
    pub page: PageId,
    /// State of the page, if it has a row.
    pub state: Option<PageState>,
}

/// The first time that a page was sent to be fetched.
#[derive(Clone, Debug, PartialEq)]
pub struct SendSnapshot {
    /// When.
    pub at: Timestamp,
    /// The host key that its visit counts under.
    pub host: HostKey,
    /// URL of the page.
    pub url: String,
}

/// A removal that some stage has sent.
#[derive(Clone, Debug, PartialEq)]
pub struct RemovalSnapshot {
    /// When it is due.
    pub due: Timestamp,
    /// The job.
    pub job: RemovalJob,
}

/// The past of the model web.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistorySnapshot {
    /// Addresses of archives and sitemaps.
    pub documents: BTreeSet<String>,
    /// Addresses of pages that only these name.
    pub pages: BTreeSet<String>,
}

/// An entry that a feed's row remembers as seen, or that is in a document that a backfill has read.
#[derive(Clone, Debug, PartialEq)]
pub struct EntrySnapshot {
    /// The URL of the feed, or of the document.
    pub feed: String,
    /// The entry's link.
    pub link: String,
    /// The page that it names.
    pub page: PageId,
}

/// State of everything once nothing moved any more.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct End {
    /// When.
    pub at: Timestamp,
    /// All rows of pages.
    pub pages: Vec<Page>,
    /// Entries that the feeds' rows remember as seen, and those of back catalogues.
    pub entries: Vec<EntrySnapshot>,
    /// The next steps of backfills that have not ended, as their rows say.
    pub backfills: Vec<BackfillJob>,
    /// Jobs that wait.
    pub waiting: Vec<Job>,
    /// Jobs that were given up, with their errors.
    pub dead: Vec<(Job, String)>,
    /// URLs of all that is found after everything was published; `None` if the run had no index.
    pub found: Option<Vec<String>>,
    /// Accepted pages whose records cannot be read, or the thumbnails beside them.
    pub unreadable: Vec<String>,
    /// Pages whose records do not say what their last re-check saw.
    pub unrevised: Vec<Page>,
    /// Hosts that were forgotten.
    pub forgotten: Vec<Remains>,
    /// Hosts that their owners allow again, and that are blocked.
    pub not_allowed: Vec<String>,
    /// All raw pages after everything was published and swept; `None` if the run kept none.
    pub raw: Option<Vec<RawSnapshot>>,
}

/// Everything that happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Calls in the order in which they began.
    pub calls: Vec<CallSnapshot>,
    /// Runs of jobs in the order in which they were settled.
    pub runs: Vec<JobRun>,
    /// Pages that were sent to be fetched, in the order of their first time.
    pub sends: Vec<SendSnapshot>,
    /// Removals that were sent.
    pub removals: Vec<RemovalSnapshot>,
    /// Removals whose runs were done, and when.
    pub removed: Vec<(Timestamp, RemovalJob)>,
    /// Archives, sitemaps, and their pages.
    pub history: HistorySnapshot,
    /// Queries in their order.
    pub queries: Vec<QuerySnapshot>,
    /// Deliveries of hubs in their order.
    pub deliveries: Vec<DeliverySnapshot>,
    /// Requests of owners in their order.
    pub requests: Vec<RequestSnapshot>,
    /// Times in which hosts are left alone.
    pub stops: Vec<Stop>,
    /// State at the end.
    pub end: End,
    /// Everything in one line each, for people.
    pub log: Vec<(Timestamp, String)>,
    /// Tasks that panicked.
    pub panics: Vec<String>,
    /// The run was broken off, since it did not come to rest.
    pub restless: bool,
}

impl Trace {
    /// Adds a line for people.
    pub fn note(&mut self, at: Timestamp, line: String) {
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
