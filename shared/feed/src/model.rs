//! Feeds and entries, as the result of reading.

use crate::paging::{Generator, Paging};
use crate::text;
use curlew_model::{Faults, Millis, Timestamp};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::{cmp::Reverse, collections::HashSet};

/// Dialect of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub enum Format {
    /// RSS 2.0, and any other RSS that does not state an older version.
    #[default]
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
    /// Returns the name that records and lists use.
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
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Feed {
    /// The dialect.
    pub format: Format,
    /// Title as plain text.
    pub title: Option<String>,
    /// The title as the feed wrote it, if the plain text has lost markup.
    pub title_html: Option<String>,
    /// Description or subtitle, HTML as in the feed.
    pub description: Option<String>,
    /// Absolute address of the page that the feed belongs to.
    pub link: Option<String>,
    /// Language tag that the feed states, lower case and otherwise unchecked.
    pub language: Option<String>,
    /// Absolute address of the logo, icon or channel image.
    pub image: Option<String>,
    /// Time of the last change that the feed states.
    pub updated: Option<Timestamp>,
    /// Polling hints: interval and address.
    pub hints: Hints,
    /// Program that made the feed, if its older documents have usual addresses.
    pub generator: Option<Generator>,
    /// Links to older documents of the feed.
    pub paging: Paging,
    /// Entries in document order.
    pub entries: Vec<Entry>,
    /// Entries that the feed declares deleted (RFC 6721), in document order; none of them is in `entries`.
    pub deleted: Vec<DeletedEntry>,
    /// Distinct kinds of repairs that were made.
    pub repairs: Vec<Repair>,
    /// Violations of the schemas, for the author. Lines are those of the original document.
    pub faults: Faults,
    /// True if entries are missing: there were more than the limit, or the document ends in the middle.
    pub truncated: bool,
}

impl Feed {
    /// True if two documents are one feed: both state one address as their own, or list the same pages in order.
    pub fn is_same_as(&self, other: &Feed) -> bool {
        let own = self.hints.self_url.as_ref();
        if own.is_some() && own == other.hints.self_url.as_ref() {
            return true;
        }
        // One of the two may list more than the other; a single common page says nothing.
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
    /// Id of the entry, unique within its feed: the feed's own, else the link, else a hash of the content. A hash also
    /// if another entry with another title or date has the same link and none of them an id, or vice versa.
    pub id: String,
    /// Title as plain text.
    pub title: Option<String>,
    /// The title as the feed wrote it, if the plain text has lost markup.
    pub title_html: Option<String>,
    /// Address of the entry's page: absolute, `http` or `https`, without user name and password.
    pub link: Option<String>,
    /// Time of first publication.
    pub published: Option<Timestamp>,
    /// Time of the last change.
    pub updated: Option<Timestamp>,
    /// First author's name, or the text in its place.
    pub author: Option<String>,
    /// Summary or description, HTML as in the feed: not safe to show unprocessed.
    pub summary: Option<String>,
    /// Content, HTML as in the feed: not safe to show unprocessed.
    pub content: Option<String>,
    /// Tags (categories), as plain text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

/// Returns the places of all entries but the newest `most`; of those of one time, or none, the ones further down.
pub fn too_many(times: impl ExactSizeIterator<Item = Option<Timestamp>>, most: usize) -> HashSet<usize> {
    if times.len() <= most {
        return HashSet::new();
    }
    let mut newest: Vec<_> = times.map(Reverse).zip(0..).collect();
    newest.sort_unstable();
    newest.into_iter().skip(most).map(|(_, place)| place).collect()
}

/// An entry that its feed declares deleted (RFC 6721, `at:deleted-entry`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeletedEntry {
    /// The entry's id, in the form of [`Entry::id`].
    pub id: String,
    /// Absolute address of its page: stated in the deletion, or by an entry that it supersedes, or the id itself.
    pub url: Option<String>,
    /// Time of deletion. An entry of the same id that was changed later is not deleted (RFC 6721 §2).
    pub when: Option<Timestamp>,
}

impl Entry {
    /// Returns the time by which the newest entries of a feed are chosen.
    pub fn time(&self) -> Option<Timestamp> {
        self.published.or(self.updated)
    }

    /// Returns a stable 64-bit hash of id and link, by which entries already seen are recognized.
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
    /// RSS `skipHours`: hours in UTC, 0 to 23, in which it need not be polled. Sorted.
    pub skip_hours: Vec<u8>,
    /// RSS `skipDays`: days on which it need not be polled; Monday is 0. Sorted.
    pub skip_days: Vec<u8>,
    /// RSS syndication module: `sy:updatePeriod` divided by `sy:updateFrequency`.
    pub update_period: Option<Millis>,
    /// Absolute address of a WebSub hub (`rel="hub"`).
    pub hub: Option<String>,
    /// Absolute address that the feed states as its own (`rel="self"`).
    pub self_url: Option<String>,
}

/// Kind of repair made while reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// The stated character encoding was unknown or wrong.
    Encoding,
    /// Text before the document's first element.
    LeadingJunk,
    /// A `<` that begins no tag.
    BareMarkup,
    /// An element was not closed, or closed by another one's tag.
    Unbalanced,
    /// The document ended in the middle.
    Cut,
    /// An entity or character reference that XML does not define.
    Reference,
    /// A document type declaration was skipped; only its entities that stand for a short text are known.
    Doctype,
    /// Markup where text was expected.
    NakedMarkup,
    /// An entry without an id of its own.
    MissingId,
    /// An entry occurred more than once.
    Duplicate,
    /// A date could not be parsed.
    Date,
    /// A link was relative without a base, too long, or not `http(s)`.
    Link,
    /// A JSON field had a type other than specified.
    FieldType,
}

/// Reason why a document gave no feed, classified by what the caller does next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeedError {
    /// The document is something else: keep the old state, and look elsewhere for the feed.
    #[error("not a feed: {0}")]
    NotAFeed(NotAFeed),
    /// The feed exceeds a limit: count it against the host.
    #[error("the feed has more {what} than the limit of {limit}")]
    TooLarge {
        /// Kind of thing that is too numerous.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The document looks like a feed but cannot be read: keep the old state and try again later.
    #[error("the feed cannot be read: {0}")]
    Unreadable(String),
}

/// Kind of document received in place of a feed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAFeed {
    /// Nothing, or only white space.
    #[error("the document is empty")]
    Empty,
    /// A web page, which may contain links to feeds.
    #[error("it is a web page")]
    WebPage,
    /// Another kind of document; contains the beginning of its first element's name, without control characters.
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
    /// Creates [`FeedError::Unreadable`] from a library's message, which may quote the document.
    pub(crate) fn unreadable(why: &str) -> FeedError {
        FeedError::Unreadable(text::plain(why, true, MAX_REASON).unwrap_or_default())
    }
}

const MAX_NAME: usize = 32;
const MAX_REASON: usize = 200;
