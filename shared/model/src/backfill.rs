//! Backfills: reading the back catalogue of a site or feed, a little each day.

use crate::{Slot, SourceKey, Timestamp, packed};
use serde::{Deserialize, Serialize};

/// A backfill: what it is to find, how far it has come, and where it goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Backfill {
    /// Key made from the address of the site or feed.
    pub key: SourceKey,
    /// Minute of the cycle at which it is examined, should its next step have been lost.
    pub slot: Slot,
    /// Address of the site or feed whose back catalogue is read.
    pub url: String,
    /// Key of the row of that site or feed.
    pub of: SourceKey,
    /// Earliest date of wanted pages; pages without a date are wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Maximum number of pages that are sent to be fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// True if a person asked for this one, so that sitemaps are read if the feeds name no older documents.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
    /// State of the backfill.
    pub state: BackfillState,
    /// Number of steps so far; a job of an earlier step is void.
    #[serde(default)]
    pub step: u32,
    /// Instant before which the next step does not begin.
    pub due: Timestamp,
    /// Instant up to which the budget is used by an even spread over the day; it lags behind if nothing ran.
    pub paced: Timestamp,
    /// Reason why the next step has to wait, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Reason why the archive read last ended, or a document was left out, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Number of steps in a row that came to nothing.
    #[serde(default)]
    pub failures: u32,
    /// Phase, which tells the sort of documents that comes next.
    #[serde(default)]
    pub phase: BackfillPhase,
    /// The next document; it is read before anything that the lists contain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<BackfillDocument>,
    /// Lists of addresses that are left; the last one is used first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<AddressList>,
    /// Hashes of addresses and contents of the documents read last, newest first, by which circles are recognized.
    #[serde(default, with = "packed::keys", skip_serializing_if = "Vec::is_empty")]
    pub visited: Vec<u64>,
    /// True once a feed has led to an older document, or has stated that it is complete.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_archive: bool,
    /// Number of documents read, those of failed calls included.
    #[serde(default)]
    pub documents: u32,
    /// Number of addresses found in them that are wanted.
    #[serde(default)]
    pub found: u64,
    /// Number of pages sent to be fetched; the others were known already.
    #[serde(default)]
    pub sent: u64,
}

impl Backfill {
    /// Returns a backfill that has not begun, of the site or feed at this address.
    pub fn new(key: SourceKey, slot: Slot, feed: SourceKey, url: String, now: Timestamp) -> Backfill {
        Backfill {
            key,
            slot,
            url,
            of: feed,
            since: None,
            limit: None,
            asked: false,
            state: BackfillState::Running,
            step: 0,
            due: now,
            paced: now,
            note: None,
            outcome: None,
            failures: 0,
            phase: BackfillPhase::default(),
            next: None,
            lists: vec![],
            visited: vec![],
            has_archive: false,
            documents: 0,
            found: 0,
            sent: 0,
        }
    }
}

/// State of a backfill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum BackfillState {
    /// There is more to read.
    Running,
    /// The back catalogue was read to its end.
    Done {
        /// Kind of end, in words.
        reason: String,
    },
    /// The back catalogue cannot be read further.
    GivenUp {
        /// Obstacle, in words.
        reason: String,
    },
}

/// Sources of documents that a backfill goes through, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackfillPhase {
    /// The feeds are not known yet.
    #[default]
    Begin,
    /// The archives of these feeds follow.
    Feeds(Vec<SourceKey>),
    /// Nothing follows but what is already listed.
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

/// Kind of a document that lists pages, and its place among others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DocumentKind {
    /// A document of a feed.
    Feed {
        /// Key of the feed's row.
        feed: SourceKey,
        /// Number of the document; 1 is the feed itself.
        number: u32,
        /// Number of entries in the documents before it.
        entries: u32,
        /// Number of documents in a row before it that brought nothing new.
        barren: u32,
        /// Date of the oldest entry in the documents before it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        oldest: Option<Timestamp>,
    },
    /// A sitemap, or an index of sitemaps.
    Sitemap {
        /// Number of indexes above it.
        depth: u8,
    },
}

/// A list of addresses in the object store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressList {
    /// Key of the object.
    pub object: String,
    /// Number of addresses that are done.
    pub done: u32,
    /// Number of all addresses.
    pub count: u32,
    /// Kind of what was listed.
    pub of: Listed,
    /// Document that is read once all of them are done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<BackfillDocument>,
}

/// Kind of the addresses in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Listed {
    /// Pages; the feed that named them, if one did.
    Pages(Option<SourceKey>),
    /// Sitemaps, with this number of indexes above them.
    Sitemaps(u8),
}

/// A backfill as it is shown to people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackfillLine {
    /// Address of the site or feed.
    pub url: String,
    /// State of the backfill.
    #[serde(flatten)]
    pub state: BackfillState,
    /// Number of documents read.
    pub documents: u32,
    /// Number of addresses found in them.
    pub found: u64,
    /// Number of pages sent to be fetched.
    pub sent: u64,
    /// Estimate of the days left, while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<u64>,
    /// True if it may take longer: how long an archive is shows only at its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_least: bool,
    /// Instant before which the next step does not begin.
    pub due: Timestamp,
    /// Reason why it has to wait, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
