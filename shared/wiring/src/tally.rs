//! Counts what happens during a run.

use curlew_ports::{CallKind, Event, Events};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Counters of events.
#[derive(Clone, Debug, Default, Serialize)]
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
    /// The same, by purpose.
    pub calls_by_kind: BTreeMap<&'static str, u64>,
    /// Decoded bytes of bodies.
    pub bytes: u64,
}

impl Counts {
    /// All rejections.
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
            Event::Called { kind, bytes, .. } => {
                counts.calls += 1;
                counts.bytes += bytes;
                *counts.calls_by_kind.entry(kind_name(*kind)).or_default() += 1;
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
        }
    }
}

const fn kind_name(kind: CallKind) -> &'static str {
    match kind {
        CallKind::Robots => "robots",
        CallKind::Home => "home",
        CallKind::Proof => "proof",
        CallKind::Feed => "feed",
        CallKind::Page => "page",
        CallKind::Sitemap => "sitemap",
        CallKind::Hub => "hub",
        CallKind::Image => "image",
    }
}
