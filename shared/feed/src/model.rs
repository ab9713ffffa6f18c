//! Feeds and entries, as they are read.

use crate::text;
use curlew_model::{Faults, Millis, Timestamp};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// The dialect that a document was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Format {
    /// RSS 2.0, and what says it is some RSS that is not older.
    #[serde(rename = "rss2")]
    Rss2,
    /// RSS 1.0, the RDF one.
    #[serde(rename = "rss1")]
    Rss1,
    /// RSS 0.90 to 0.94.
    #[serde(rename = "rss0.9x")]
    Rss09x,
    /// Atom 1.0 (RFC 4287).
    #[serde(rename = "atom")]
    Atom,
    /// Atom 0.3, the draft that was widely used before RFC 4287.
    #[serde(rename = "atom0.3")]
    Atom03,
    /// JSON Feed 1.0 and 1.1.
    #[serde(rename = "json")]
    Json,
}

impl Format {
    /// The word that records and lists use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Format::Rss2 => "rss2",
            Format::Rss1 => "rss1",
            Format::Rss09x => "rss0.9x",
            Format::Atom => "atom",
            Format::Atom03 => "atom0.3",
            Format::Json => "json",
        }
    }
}

/// A feed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Feed {
    /// The dialect.
    pub format: Format,
    /// Title as plain text.
    pub title: Option<String>,
    /// The title as the feed wrote it, where that had markup which the plain text has lost.
    pub title_html: Option<String>,
    /// Description or subtitle, HTML as the feed gave it.
    pub description: Option<String>,
    /// The page that the feed belongs to; absolute.
    pub link: Option<String>,
    /// Language tag that the feed states, lower case and otherwise unchecked.
    pub language: Option<String>,
    /// Logo, icon or channel image; absolute.
    pub image: Option<String>,
    /// When the feed says that it was changed last.
    pub updated: Option<Timestamp>,
    /// Its hints for polling: how often, and where.
    pub hints: Hints,
    /// In the order of the document.
    pub entries: Vec<Entry>,
    /// Entries that the feed says are deleted (RFC 6721), in the order of the document; none of them is in `entries`.
    pub deleted: Vec<DeletedEntry>,
    /// Kinds of repairs that were made, each once.
    pub repairs: Vec<Repair>,
    /// Faults by the schemas, for the author. Lines are those of the document as it came.
    pub faults: Faults,
    /// Entries are missing: there were more than the limit, or the document ends in the middle.
    pub truncated: bool,
}

impl Feed {
    /// Whether two documents, found under two addresses, are one feed: both give the same address as their own, or both
    /// list the same pages in the same order, whatever their dialects. A feed that lists nothing is like no other.
    pub fn is_same_as(&self, other: &Feed) -> bool {
        let own = self.hints.self_url.as_ref();
        if own.is_some() && own == other.hints.self_url.as_ref() {
            return true;
        }
        // One of the two may list more than the other; a single page in common says nothing.
        let (a, b) = (self.entries.len(), other.entries.len());
        let (fewer, more) = (a.min(b), a.max(b));
        let pages = |feed: &Feed| -> Vec<Option<String>> {
            feed.entries.iter().take(fewer).map(|entry| entry.link.clone()).collect()
        };
        let mine = pages(self);
        fewer * 2 >= more
            && (fewer > 1 || fewer == more)
            && fewer > 0
            && mine.iter().all(Option::is_some)
            && mine == pages(other)
    }
}

/// An entry of a feed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// The feed's own id (`guid`, `atom:id`, `rdf:about`), else the link, else a hash of what the entry says. A hash too
    /// where an entry before it has the same link and none of them an id, or the same id and none of them a link, and they
    /// differ in title or date. Means nothing outside its feed: another feed may claim the same one.
    pub id: String,
    /// Title as plain text.
    pub title: Option<String>,
    /// The title as the feed wrote it, where that had markup which the plain text has lost.
    pub title_html: Option<String>,
    /// The entry's page: absolute, `http` or `https`, no user name or password in it.
    pub link: Option<String>,
    /// When it was first published.
    pub published: Option<Timestamp>,
    /// When it was changed last.
    pub updated: Option<Timestamp>,
    /// The first author's name, or what stands in its place.
    pub author: Option<String>,
    /// Summary or description, HTML as the feed gave it: not safe to show as it is.
    pub summary: Option<String>,
    /// Content, HTML as the feed gave it: not safe to show as it is.
    pub content: Option<String>,
}

/// An entry that its feed says is deleted (RFC 6721, `at:deleted-entry`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeletedEntry {
    /// The entry's id, in the form of [`Entry::id`].
    pub id: String,
    /// The page of the entry that was: stated beside the deletion, or by an entry of the same document that it
    /// supersedes, or the id itself if that is an address. Absolute, as [`Entry::link`].
    pub url: Option<String>,
    /// When it was deleted. An entry of the same id that was changed later than this is not deleted (RFC 6721 §2).
    pub when: Option<Timestamp>,
}

impl Entry {
    /// A stable 64-bit hash of id and link, by which a feed remembers the entries that it has seen.
    pub fn key(&self) -> u64 {
        let mut hash = Sha256::new();
        hash.update(self.id.as_bytes());
        hash.update([0]);
        hash.update(self.link.as_deref().unwrap_or_default().as_bytes());
        let digest = hash.finalize();
        digest.iter().take(8).fold(0, |key, byte| key << 8 | u64::from(*byte))
    }
}

/// Hints of a feed about polling it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Hints {
    /// RSS `ttl`: minutes that the feed may be cached.
    pub ttl_minutes: Option<u32>,
    /// RSS `skipHours`: hours in UTC, 0 to 23, in which it need not be read. Sorted.
    pub skip_hours: Vec<u8>,
    /// RSS `skipDays`: days, Monday being 0, on which it need not be read. Sorted.
    pub skip_days: Vec<u8>,
    /// RSS syndication module: `sy:updatePeriod` divided by `sy:updateFrequency`.
    pub update_period: Option<Millis>,
    /// A WebSub hub (`rel="hub"`); absolute.
    pub hub: Option<String>,
    /// The address that the feed gives as its own (`rel="self"`); absolute.
    pub self_url: Option<String>,
}

/// A fault that was mended while reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// The stated character encoding was unknown or wrong.
    Encoding,
    /// Something stood before the document's first element that does not belong there.
    LeadingJunk,
    /// A `<` that begins no tag.
    BareMarkup,
    /// An element was not closed, or closed by another one's tag.
    Unbalanced,
    /// The document ended in the middle.
    Cut,
    /// An entity or character reference that XML does not know.
    Reference,
    /// A document type declaration was left out; of its entities only those that stand for literal text are known.
    Doctype,
    /// Markup stood where text was wanted.
    NakedMarkup,
    /// An entry had no id of its own.
    MissingId,
    /// An entry stood there more than once.
    Duplicate,
    /// A date could not be read.
    Date,
    /// A link was relative to nothing, too long, or not `http(s)`.
    Link,
    /// A JSON field had another type than the specification says.
    FieldType,
}

/// Why a document gave no feed. Shaped by what the caller does next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeedError {
    /// The document is something else: keep the old state, and look elsewhere for the feed.
    #[error("not a feed: {0}")]
    NotAFeed(NotAFeed),
    /// It breaks a limit: count it against the host.
    #[error("the feed has more {what} than the limit of {limit}")]
    TooLarge {
        /// The thing that there is too much of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// It looks like a feed but cannot be read: keep the old state and try again later.
    #[error("the feed cannot be read: {0}")]
    Unreadable(String),
}

/// Kind of a document that came in place of a feed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAFeed {
    /// Nothing, or only white space.
    #[error("the document is empty")]
    Empty,
    /// A web page: worth a look for links to feeds.
    #[error("it is a web page")]
    WebPage,
    /// Another kind of document, by the beginning of its first element's name, which has no controls in it.
    #[error("its first element is '{0}'")]
    Other(String),
    /// No markup and no JSON Feed.
    #[error("it is neither XML nor a JSON Feed")]
    NoMarkup,
}

impl NotAFeed {
    /// Another kind of document, by the name of its first element as it is written there.
    pub(crate) fn other(name: &str) -> NotAFeed {
        NotAFeed::Other(text::plain(name, true, MAX_NAME).unwrap_or_default())
    }
}

impl FeedError {
    /// It cannot be read, by what a library says of it, which may quote the document.
    pub(crate) fn unreadable(why: &str) -> FeedError {
        FeedError::Unreadable(text::plain(why, true, MAX_REASON).unwrap_or_default())
    }
}

/// Characters of an element's name that are told.
const MAX_NAME: usize = 32;
/// Characters of a reason that are told.
const MAX_REASON: usize = 200;
