//! Parses bytes into a feed or a sitemap, and finds the feeds that a page names. No I/O, no clock.
//!
//! Steps of [`parse`]:
//!
//! 1. `decode`: bytes to text (byte order mark, HTTP charset, XML declaration, guess).
//! 2. `mend`: a tolerant parser scans the text once, in linear time and within limits, in any dialect and however
//!    broken. JSON Feed has a separate parser. If `mend` finds no feed in an XML document, feed-rs tries it (`second`).
//! 3. `finish`: stable ids, plain titles, absolute `http(s)` links, clean text, names without e-mail addresses.
//!
//! `schema` lists violations of the format for the feed's author, and rejects nothing. Times are not checked: a date
//! may lie in the future or in the year 1, and a caller that knows the current time clamps it.
//!
#![doc = include_str!("../README.md")]

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
pub mod paging;
mod schema;
mod second;
pub mod sitemap;
mod text;
mod token;
mod vocabulary;
mod work;

pub use discover::{FeedLink, discover, speaks_of_comments};
pub use limits::Limits;
pub use model::{DeletedEntry, Entry, Feed, FeedError, Format, Hints, NotAFeed, Repair, too_many};
pub use opml::{NotOpml, OpmlFeed, feeds_of_opml};

use curlew_text::charset::{self, Document};
use std::borrow::Cow;
use url::Url;
use work::Work;

/// Parses a feed: RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, or JSON Feed. Repairs it if possible.
///
/// Only the charset of `content_type` is used (RFC 7303 §3.2). Relative links are resolved against `url`.
///
/// # Errors
/// [`FeedError::TooLarge`] if a limit cannot be met by truncation; otherwise the document is not a feed, or unreadable.
pub fn parse(body: &[u8], content_type: Option<&str>, url: &Url, limits: &Limits) -> Result<Feed, FeedError> {
    parse_counted(body, content_type, url, limits).0
}

/// Decodes a file written by a person: by its byte order mark, as UTF-8 if valid, or by a guess.
pub fn decode_text(body: &[u8]) -> Cow<'_, str> {
    charset::decode(body, None, Document::Feed).text
}

/// Parses a feed like [`parse`], and returns the number of steps taken, which is linear in the document's length.
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
        json::parse(text, url, limits, work).or_else(|error| match error {
            // An error message printed before a feed may also begin like JSON.
            FeedError::NotAFeed(_) if text.contains('<') => mend::mend(text, url, limits, work).map_err(|_| error),
            _ => Err(error),
        })?
    } else {
        mend::mend(text, url, limits, work).or_else(|error| match error {
            // feed-rs finds no feed in these documents either, and has no limits.
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
