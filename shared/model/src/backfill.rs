//! Backfills: reading the back catalogue of a site or feed, a little each day.

use crate::{Slot, SourceKey, Timestamp, packed, with_defaults};
use serde::{Deserialize, Serialize};

with_defaults! {
    /// A backfill: its target, its progress and its next step.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Backfill {
        /// Key made from the address of the site or feed.
        pub key: SourceKey,
        /// Minute of the cycle at which dispatch examines the backfill, in case its next step was lost.
        pub slot: Slot,
        /// Address of the site or feed whose back catalogue is read.
        pub url: String,
        /// Key of the row of that site or feed.
        pub of: SourceKey = feed,
        /// Earliest date of a wanted page. Pages without a date are wanted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub since: Option<Timestamp> = None,
        /// Maximum number of pages to send to the `fetch` queue.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub limit: Option<u64> = None,
        /// True if a person asked for this backfill. Sitemaps are then read if the feeds name no older documents.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub asked: bool = false,
        /// State of the backfill.
        pub state: BackfillState = BackfillState::Running,
        /// Number of steps so far. A job of an earlier step is void.
        #[serde(default)]
        pub step: u32 = 0,
        /// Instant before which the next step does not start.
        pub due: Timestamp = now,
        /// Instant up to which the daily budget, spread evenly over the day, is used. While nothing runs, the instant
        /// falls behind.
        pub paced: Timestamp = now,
        /// Reason why the next step has to wait, in words for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub note: Option<String> = None,
        /// Reason why the last archive ended, or why a document was skipped, in words for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub outcome: Option<String> = None,
        /// Number of consecutive failed steps.
        #[serde(default)]
        pub failures: u32 = 0,
        /// Current phase, which determines the kind of the next document.
        #[serde(default)]
        pub phase: BackfillPhase = BackfillPhase::default(),
        /// The next document. It is read before the contents of `lists`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next: Option<BackfillDocument> = None,
        /// Remaining lists of addresses. The last list is used first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub lists: Vec<AddressList> = vec![],
        /// Hashes of the addresses and contents of recently read documents, newest first, to detect loops.
        #[serde(default, with = "packed::keys", skip_serializing_if = "Vec::is_empty")]
        pub visited: Vec<u64> = vec![],
        /// True once a feed has linked to an older document, or has declared itself complete.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub has_archive: bool = false,
        /// Number of documents read, including those of failed calls.
        #[serde(default)]
        pub documents: u32 = 0,
        /// Number of wanted addresses found in these documents.
        #[serde(default)]
        pub found: u64 = 0,
        /// Number of pages sent to the `fetch` queue. The others were already known.
        #[serde(default)]
        pub sent: u64 = 0,
    }

    /// Creates a backfill, not yet begun, of the site or feed at this address.
    new(key: SourceKey, slot: Slot, feed: SourceKey, url: String, now: Timestamp)
}

/// State of a backfill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum BackfillState {
    /// Documents or pages are left to read.
    Running,
    /// The back catalogue was read to its end.
    Done {
        /// How it ended, in words for people.
        reason: String,
    },
    /// The back catalogue cannot be read further.
    GivenUp {
        /// Reason, in words for people.
        reason: String,
    },
}

/// Phases of a backfill, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackfillPhase {
    /// The feeds are not known yet.
    #[default]
    Begin,
    /// The archives of these feeds are still to be read.
    Feeds(Vec<SourceKey>),
    /// Only addresses that are already listed remain.
    Rest,
}

/// A document that lists pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackfillDocument {
    /// Address of the document.
    pub url: String,
    /// Kind of the document.
    #[serde(flatten)]
    pub kind: DocumentKind,
}

/// Kind of a document that lists pages, with its position in the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DocumentKind {
    /// A document of a feed.
    Feed {
        /// Key of the feed's row.
        feed: SourceKey,
        /// Number of the document in the archive; 1 is the feed itself.
        number: u32,
        /// Number of entries in all earlier documents.
        entries: u32,
        /// Number of documents directly before this one that had no new entries.
        barren: u32,
        /// Date of the oldest entry in all earlier documents.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        oldest: Option<Timestamp>,
    },
    /// A sitemap, or an index of sitemaps.
    Sitemap {
        /// Number of sitemap indexes above it.
        depth: u8,
    },
}

/// A list of addresses in the object store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressList {
    /// Key of the object.
    pub object: String,
    /// Number of addresses already processed.
    pub done: u32,
    /// Total number of addresses.
    pub count: u32,
    /// Kind of the listed addresses.
    pub of: Listed,
    /// Document to read once the list is finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<BackfillDocument>,
}

/// Kind of the addresses in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Listed {
    /// Pages, with the feed that named them, if any.
    Pages(Option<SourceKey>),
    /// Sitemaps, with the number of sitemap indexes above them.
    Sitemaps(u8),
}

/// Summary of a backfill for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackfillLine {
    /// Address of the site or feed.
    pub url: String,
    /// State of the backfill.
    #[serde(flatten)]
    pub state: BackfillState,
    /// Number of documents read.
    pub documents: u32,
    /// Number of wanted addresses found in these documents.
    pub found: u64,
    /// Number of pages sent to the `fetch` queue.
    pub sent: u64,
    /// Estimated number of days left, while the backfill runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<u64>,
    /// True if `days` is a lower bound: the length of an archive is known only at its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_least: bool,
    /// Instant before which the next step does not start.
    pub due: Timestamp,
    /// Reason why the next step has to wait, in words for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
