//! Feeds and entries, as returned by the parser.

use crate::paging::{Generator, Paging};
use crate::text;
use curlew_model::{Faults, Millis, Timestamp, words};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::{cmp::Reverse, collections::HashSet};

words! {
    /// Dialect of a document.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
    pub enum Format {
        /// RSS 2.0, and any RSS that does not declare an older version.
        #[default]
        #[serde(rename = "rss2")]
        Rss2 = "rss2",
        /// RSS 1.0, based on RDF.
        #[serde(rename = "rss1")]
        Rss1 = "rss1",
        /// RSS 0.90 to 0.94.
        #[serde(rename = "rss0.9x")]
        Rss09x = "rss0.9x",
        /// Atom 1.0 (RFC 4287).
        #[serde(rename = "atom")]
        Atom = "atom",
        /// Atom 0.3, the draft that was widely used before RFC 4287.
        #[serde(rename = "atom0.3")]
        Atom03 = "atom0.3",
        /// JSON Feed 1.0 and 1.1.
        #[serde(rename = "json")]
        Json = "json",
    }
}

/// A feed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Feed {
    /// Dialect of the document.
    pub format: Format,
    /// Title as plain text.
    pub title: Option<String>,
    /// Title as written, if the conversion to plain text removed markup.
    pub title_html: Option<String>,
    /// Description or subtitle, as HTML from the feed.
    pub description: Option<String>,
    /// Absolute address of the page that the feed belongs to.
    pub link: Option<String>,
    /// Language tag that the feed declares, in lower case and otherwise unchecked.
    pub language: Option<String>,
    /// Absolute address of the logo, the icon or the channel's image.
    pub image: Option<String>,
    /// Time of the last change, as stated by the feed.
    pub updated: Option<Timestamp>,
    /// Polling hints.
    pub hints: Hints,
    /// Program that generated the feed, if it serves older documents at well-known addresses.
    pub generator: Option<Generator>,
    /// Links to older documents of the feed.
    pub paging: Paging,
    /// Entries in document order.
    pub entries: Vec<Entry>,
    /// Entries declared deleted (RFC 6721), in document order; none of them is in `entries`.
    pub deleted: Vec<DeletedEntry>,
    /// Distinct kinds of repairs made.
    pub repairs: Vec<Repair>,
    /// Violations of the schema, for the author. Line numbers refer to the original document.
    pub faults: Faults,
    /// True if entries are missing: there were more than the limit, or the document ends prematurely.
    pub truncated: bool,
}

impl Feed {
    /// True if both documents are one feed: they state the same `rel="self"` address, or list the same pages in order.
    pub fn is_same_as(&self, other: &Feed) -> bool {
        let own = self.hints.self_url.as_ref();
        if own.is_some() && own == other.hints.self_url.as_ref() {
            return true;
        }
        // One may list more entries than the other. A single common page is enough only if neither lists another.
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
    /// Id of the entry, unique in its feed: the feed's id, else the link, else a hash of the content. Also a hash if
    /// entries with different titles or dates share a link without ids, or an id without links.
    pub id: String,
    /// Title as plain text.
    pub title: Option<String>,
    /// Title as written, if the conversion to plain text removed markup.
    pub title_html: Option<String>,
    /// Absolute `http` or `https` address of the entry's page, without user name and password.
    pub link: Option<String>,
    /// Time of first publication.
    pub published: Option<Timestamp>,
    /// Time of the last change.
    pub updated: Option<Timestamp>,
    /// Name of the first author, or the text in its place.
    pub author: Option<String>,
    /// Summary or description, as HTML from the feed. Not safe to display unprocessed.
    pub summary: Option<String>,
    /// Content, as HTML from the feed. Not safe to display unprocessed.
    pub content: Option<String>,
    /// Tags (categories), as plain text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

/// Returns the indexes of all but the newest `most` entries. Of entries with equal or no time, the first are kept.
pub fn too_many(times: impl ExactSizeIterator<Item = Option<Timestamp>>, most: usize) -> HashSet<usize> {
    if times.len() <= most {
        return HashSet::new();
    }
    let mut newest: Vec<_> = times.map(Reverse).zip(0..).collect();
    newest.sort_unstable();
    newest.into_iter().skip(most).map(|(_, place)| place).collect()
}

/// An entry declared deleted (RFC 6721, `at:deleted-entry`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeletedEntry {
    /// Id of the entry, in the form of [`Entry::id`].
    pub id: String,
    /// Absolute address of its page, from the deletion, from the entry that it supersedes, or from the id.
    pub url: Option<String>,
    /// Time of deletion. An entry with the same id and a later change is not deleted (RFC 6721 §2).
    pub when: Option<Timestamp>,
}

impl Entry {
    /// Returns the time that determines which entries of a feed are newest.
    pub fn time(&self) -> Option<Timestamp> {
        self.published.or(self.updated)
    }

    /// Returns a stable 64-bit hash of id and link, to recognize entries already seen.
    pub fn key(&self) -> u64 {
        let link = self.link.as_deref().unwrap_or_default();
        let digest = Sha256::digest(format!("{}\0{link}", self.id));
        digest.iter().take(8).fold(0, |key, byte| key << 8 | u64::from(*byte))
    }
}

/// Polling hints of a feed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Hints {
    /// RSS `ttl`: minutes for which the feed may be cached.
    pub ttl_minutes: Option<u32>,
    /// RSS `skipHours`: hours in UTC, 0 to 23, in which the feed need not be polled. Sorted.
    pub skip_hours: Vec<u8>,
    /// RSS `skipDays`: days on which the feed need not be polled; Monday is 0. Sorted.
    pub skip_days: Vec<u8>,
    /// RSS syndication module: `sy:updatePeriod` divided by `sy:updateFrequency`.
    pub update_period: Option<Millis>,
    /// Absolute address of a WebSub hub (`rel="hub"`).
    pub hub: Option<String>,
    /// Absolute address that the feed declares as its own (`rel="self"`).
    pub self_url: Option<String>,
}

/// Kind of repair made during parsing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// The declared character encoding was unknown or wrong.
    Encoding,
    /// Text before the document's first element.
    LeadingJunk,
    /// A `<` that does not begin a tag.
    BareMarkup,
    /// An element was not closed, or was closed by another element's tag.
    Unbalanced,
    /// The document ended prematurely.
    Cut,
    /// An entity or character reference that XML does not define.
    Reference,
    /// A DOCTYPE was skipped. Only its entities with short texts are known.
    Doctype,
    /// Markup where text was expected.
    NakedMarkup,
    /// An entry without an id.
    MissingId,
    /// An entry occurred more than once.
    Duplicate,
    /// A date could not be parsed.
    Date,
    /// A link was relative without a base, too long, or not `http(s)`.
    Link,
    /// A JSON field had an unexpected type.
    FieldType,
}

impl Repair {
    /// Adds the kind to a list of distinct kinds.
    pub(crate) fn note_in(self, repairs: &mut Vec<Repair>) {
        if !repairs.contains(&self) {
            repairs.push(self);
        }
    }
}

/// Reason why a document yielded no feed, classified by the caller's next step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeedError {
    /// The document is not a feed: keep the old state, and look elsewhere for the feed.
    #[error("not a feed: {0}")]
    NotAFeed(NotAFeed),
    /// The feed exceeds a limit: count it against the host.
    #[error("the feed has more {what} than the limit of {limit}")]
    TooLarge {
        /// Unit of the exceeded limit.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The document looks like a feed but cannot be parsed: keep the old state and try again later.
    #[error("the feed cannot be read: {0}")]
    Unreadable(String),
}

/// Kind of document received instead of a feed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAFeed {
    /// Nothing, or only white space.
    #[error("the document is empty")]
    Empty,
    /// A web page, which may contain links to feeds.
    #[error("it is a web page")]
    WebPage,
    /// Another kind of document. Contains its first element's name, truncated and without control characters.
    #[error("its first element is '{0}'")]
    Other(String),
    /// Neither markup nor a JSON Feed.
    #[error("it is neither XML nor a JSON Feed")]
    NoMarkup,
}

impl NotAFeed {
    pub(crate) fn beginning_with(name: &str) -> NotAFeed {
        match name.to_ascii_lowercase().as_str() {
            "html" | "head" | "body" | "script" | "div" | "meta" | "title" => NotAFeed::WebPage,
            _ => NotAFeed::Other(text::plain(name, true, MAX_NAME).unwrap_or_default()),
        }
    }
}

impl FeedError {
    /// Creates [`FeedError::Unreadable`] from a parser's message, which may quote the document.
    pub(crate) fn unreadable(why: &str) -> FeedError {
        FeedError::Unreadable(text::plain(why, true, MAX_REASON).unwrap_or_default())
    }
}

const MAX_NAME: usize = 32;
const MAX_REASON: usize = 200;
