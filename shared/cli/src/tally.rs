//! Counts what happens during a run.

use curlew_ports::{CallKind, Event, Events};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What has happened so far.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Counts {
    pub(crate) feeds_found: u64,
    pub(crate) feedless: u64,
    pub(crate) entries_seen: u64,
    pub(crate) pages_fetched: u64,
    pub(crate) accepted: u64,
    pub(crate) rejected: BTreeMap<&'static str, u64>,
    pub(crate) aliases: u64,
    pub(crate) removed: BTreeMap<&'static str, u64>,
    pub(crate) still_there: u64,
    pub(crate) thumbnails: u64,
    pub(crate) put_off: u64,
    pub(crate) calls: u64,
    pub(crate) calls_by_kind: BTreeMap<&'static str, u64>,
    pub(crate) bytes: u64,
}

impl Counts {
    pub(crate) fn rejections(&self) -> u64 {
        self.rejected.values().sum()
    }
}

/// The counter.
#[derive(Default)]
pub(crate) struct Tally(Mutex<Counts>);

impl Tally {
    pub(crate) fn counts(&self) -> Counts {
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
            Event::PutOff => counts.put_off += 1,
            Event::Thumbnail => counts.thumbnails += 1,
            Event::Held { .. } => {}
        }
    }
}

const fn kind_name(kind: CallKind) -> &'static str {
    match kind {
        CallKind::Robots => "robots",
        CallKind::Home => "home",
        CallKind::Feed => "feed",
        CallKind::Page => "page",
        CallKind::Image => "image",
    }
}
