//! Bytes to feed and entries, and the feeds that a page names. Pure: no I/O, no clock.
//!
//! The way of a document through [`parse`]:
//!
//! 1. `decode`: bytes to text (byte order mark, HTTP charset, XML declaration, guess).
//! 2. `mend`: a tolerant reader goes over the text once, in linear time, whatever dialect it is in and however broken,
//!    and takes out what is said of the feed and of each entry, capped in entries, text and depth. An entity that the
//!    document declares is expanded only if it is short literal text, and never twice.
//! 3. `finish`: stable ids, plain titles, absolute `http(s)` links, clean text, names without e-mail addresses.
//!
//! JSON Feed takes its own way from 1 to 3. Of an XML document in which `mend` sees no feed, feed-rs has a second look
//! (`second`).
//!
//! Beside that, `schema` says what is wrong with the document by the letter, for its author; it refuses nothing.
//!
//! Nothing here trusts a time: a date may lie in the future or in the year 1. Who knows the present clamps it.

mod byline;
mod comments;
mod discover;
mod draft;
mod entity;
mod finish;
mod json;
mod leaf;
mod limits;
mod link;
mod mend;
mod model;
mod names;
mod opml;
mod schema;
mod second;
mod text;
mod token;
mod vocabulary;
mod work;

pub use discover::{FeedLink, discover, speaks_of_comments};
pub use limits::Limits;
pub use model::{DeletedEntry, Entry, Feed, FeedError, Format, Hints, NotAFeed, Repair};
pub use opml::{NotOpml, OpmlFeed, feeds_of_opml};

use curlew_text::charset::{self, Document};
use std::borrow::Cow;
use url::Url;
use work::Work;

/// Reads a feed: RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, JSON Feed, mended where that is possible.
///
/// `content_type` is the HTTP header as the server sent it; only its charset is used (RFC 7303 §3.2), since servers
/// send feeds under any type. `url` is where the document came from: relative links are resolved against it.
///
/// # Errors
/// [`FeedError::NotAFeed`] if it is something else, [`FeedError::TooLarge`] if it breaks a limit that cannot be met by
/// cutting, [`FeedError::Unreadable`] if it looks like a feed and nothing can be got out of it.
pub fn parse(body: &[u8], content_type: Option<&str>, url: &Url, limits: &Limits) -> Result<Feed, FeedError> {
    parse_counted(body, content_type, url, limits).0
}

/// The text of a file that a person wrote, by its byte order mark, or as UTF-8 if that can be, or by a guess. It has no mark.
pub fn decode_text(body: &[u8]) -> Cow<'_, str> {
    charset::decode(body, None, Document::Feed).text
}

/// [`parse`], and the number of steps that it took: bytes looked at, each as often as it was, and names compared. It grows
/// with the length of the document and not faster, whatever the document is.
///
/// # Errors
/// As [`parse`].
pub fn parse_counted(
    body: &[u8],
    content_type: Option<&str>,
    url: &Url,
    limits: &Limits,
) -> (Result<Feed, FeedError>, u64) {
    let work = Work::default();
    (read(body, content_type, url, limits, &work), work.steps())
}

fn read(body: &[u8], content_type: Option<&str>, url: &Url, limits: &Limits, work: &Work) -> Result<Feed, FeedError> {
    if body.len() > limits.bytes {
        return Err(FeedError::TooLarge { what: "bytes", limit: limits.bytes });
    }
    let decoded = charset::decode(body, content_type, Document::Feed);
    work.add(body.len() + decoded.text.len());
    let text = decoded.text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}' || c == '\0');
    if text.is_empty() {
        return Err(FeedError::NotAFeed(NotAFeed::Empty));
    }
    let mut feed = if text.starts_with('{') || text.starts_with('[') {
        json::parse(text, url, limits, work)?
    } else {
        mend::mend(text, url, limits, work).or_else(|error| match error {
            // Another reader makes no feed of these, and knows no limits.
            FeedError::NotAFeed(NotAFeed::WebPage | NotAFeed::Empty) | FeedError::TooLarge { .. } => Err(error),
            _ => second::read(text, url, limits, work).ok_or(error),
        })?
    };
    if decoded.faulty {
        feed.repairs.insert(0, Repair::Encoding);
    }
    feed.faults = schema::faults(&decoded.text, feed.format, decoded.faulty, limits, work);
    Ok(feed)
}
