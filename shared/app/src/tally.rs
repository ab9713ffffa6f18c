//! Counts the events of a run.

use crate::histogram::Histogram;
use curlew_ports::{Event, Events, SearchOutcome, WaitReason};
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// Counters of events.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Number of working feeds that were found.
    pub feeds_found: u64,
    /// Number of sites in which no feed was found.
    pub feedless: u64,
    /// Number of entries seen for the first time.
    pub entries_seen: u64,
    /// Number of fetched pages.
    pub pages_fetched: u64,
    /// Number of accepted pages.
    pub accepted: u64,
    /// Number of rejected pages by the code of the reason.
    pub rejected: BTreeMap<&'static str, u64>,
    /// Number of pages that turned out to be aliases of other pages.
    pub aliases: u64,
    /// Number of removed pages by the code of the reason.
    pub removed: BTreeMap<&'static str, u64>,
    /// Number of indexed pages that were re-checked and still exist.
    pub still_there: u64,
    /// Number of indexed pages whose records were replaced.
    pub revised: u64,
    /// Number of indexed pages that a second fetch will decide about.
    pub doubted: u64,
    /// Number of thumbnails made.
    pub thumbnails: u64,
    /// Number of holds by the code of the reason.
    pub held: BTreeMap<&'static str, u64>,
    /// Number of deferred jobs.
    pub put_off: u64,
    /// Number of calls to sites.
    pub calls: u64,
    /// Number of calls by purpose.
    pub calls_by_kind: BTreeMap<&'static str, u64>,
    /// Number of calls by purpose and class of the status, such as `2xx`.
    pub calls_by_status: BTreeMap<(&'static str, &'static str), u64>,
    /// Number of decoded bytes of bodies.
    pub bytes: u64,
    /// Number of decoded bytes of bodies by purpose of the call.
    pub bytes_by_kind: BTreeMap<&'static str, u64>,
    /// Waits of visits by reason.
    pub waits: BTreeMap<WaitReason, Histogram>,
    /// Number of polls of feeds.
    pub polls: u64,
    /// Times between the due time of a poll and its call.
    pub poll_lateness: Histogram,
    /// Durations of queries by outcome.
    pub searches: BTreeMap<SearchOutcome, Histogram>,
}

impl Counts {
    /// Returns the total number of rejected pages.
    pub fn rejections(&self) -> u64 {
        self.rejected.values().sum()
    }
}

/// Receiver of events that counts them.
#[derive(Default)]
pub struct Tally(Mutex<Counts>);

impl Tally {
    /// Returns a copy of the counters.
    pub fn counts(&self) -> Counts {
        self.0.lock().clone()
    }
}

impl Events for Tally {
    fn note(&self, event: &Event<'_>) {
        let mut counts = self.0.lock();
        match event {
            Event::Called { kind, bytes, status, .. } => {
                counts.calls += 1;
                counts.bytes += bytes;
                *counts.calls_by_kind.entry(kind.as_str()).or_default() += 1;
                *counts.calls_by_status.entry((kind.as_str(), status_class(*status))).or_default() += 1;
                *counts.bytes_by_kind.entry(kind.as_str()).or_default() += bytes;
            }
            Event::FeedFound => counts.feeds_found += 1,
            Event::Feedless => counts.feedless += 1,
            Event::EntriesSeen(n) => counts.entries_seen += n,
            Event::PageFetched => counts.pages_fetched += 1,
            Event::Accepted => counts.accepted += 1,
            Event::Rejected(why) => *counts.rejected.entry(why.code()).or_default() += 1,
            Event::Alias => counts.aliases += 1,
            Event::Removed(why) => *counts.removed.entry(why.as_str()).or_default() += 1,
            Event::StillThere => counts.still_there += 1,
            Event::Revised => counts.revised += 1,
            Event::Doubted => counts.doubted += 1,
            Event::PutOff => counts.put_off += 1,
            Event::Thumbnail => counts.thumbnails += 1,
            Event::Held { reason, .. } => *counts.held.entry(reason.as_str()).or_default() += 1,
            Event::Waited { reason, time } => counts.waits.entry(*reason).or_default().observe(*time),
            Event::Polled { late } => {
                counts.polls += 1;
                late.iter().for_each(|late| counts.poll_lateness.observe(*late));
            }
            Event::Searched { outcome, took } => counts.searches.entry(*outcome).or_default().observe(*took),
        }
    }
}

/// Returns the class of a status code, such as `2xx`; `none` if there was no response.
const fn status_class(status: Option<u16>) -> &'static str {
    match status {
        None => "none",
        Some(..200) => "1xx",
        Some(200..300) => "2xx",
        Some(300..400) => "3xx",
        Some(400..500) => "4xx",
        Some(500..) => "5xx",
    }
}
