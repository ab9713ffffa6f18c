//! Counts what happens during a run.

use crate::histogram::Histogram;
use curlew_ports::{Event, Events, SearchOutcome, WaitReason};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Counters of events.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Working feeds that were found.
    pub feeds_found: u64,
    /// Sites that turned out to have none.
    pub feedless: u64,
    /// Entries seen for the first time.
    pub entries_seen: u64,
    /// Pages fetched.
    pub pages_fetched: u64,
    /// Pages accepted.
    pub accepted: u64,
    /// Pages rejected, by the word for the reason.
    pub rejected: BTreeMap<&'static str, u64>,
    /// Pages that were another one's address.
    pub aliases: u64,
    /// Indexed pages removed, by the word for the reason.
    pub removed: BTreeMap<&'static str, u64>,
    /// Indexed pages re-checked and still there.
    pub still_there: u64,
    /// Indexed pages whose records were replaced.
    pub revised: u64,
    /// Indexed pages that a second look is to decide about.
    pub doubted: u64,
    /// Thumbnails made.
    pub thumbnails: u64,
    /// Holds laid on host keys, by the word for the reason.
    pub held: BTreeMap<&'static str, u64>,
    /// Jobs put off.
    pub put_off: u64,
    /// Calls to sites.
    pub calls: u64,
    /// Number of calls by purpose.
    pub calls_by_kind: BTreeMap<&'static str, u64>,
    /// Number of calls by purpose and class of the status, such as `2xx`.
    pub calls_by_status: BTreeMap<(&'static str, &'static str), u64>,
    /// Decoded bytes of bodies.
    pub bytes: u64,
    /// Bytes by purpose.
    pub bytes_by_kind: BTreeMap<&'static str, u64>,
    /// Waits of visits, in seconds, by reason.
    pub waits: BTreeMap<WaitReason, Histogram>,
    /// Polls of feeds.
    pub polls: u64,
    /// Seconds between the time at which a poll was due and its call.
    pub poll_lateness: Histogram,
    /// Seconds that queries took, by outcome.
    pub searches: BTreeMap<SearchOutcome, Histogram>,
}

impl Counts {
    /// Returns the number of all rejections.
    pub fn rejections(&self) -> u64 {
        self.rejected.values().sum()
    }
}

/// The counter.
#[derive(Default)]
pub struct Tally(Mutex<Counts>);

impl Tally {
    /// Returns the counters.
    pub fn counts(&self) -> Counts {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Events for Tally {
    fn note(&self, event: &Event<'_>) {
        let mut counts = self.lock();
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

/// Returns the class of a call's status; `none` if there was no answer.
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
