//! Older documents of a feed: those that it names (RFC 5005), and those at the usual addresses of well-known programs.

use serde::Serialize;
use url::Url;

/// Links of a document to older documents of the same feed (RFC 5005, JSON Feed 1.1 `next_url`). All addresses are
/// absolute, `http` or `https`, and otherwise unchecked: they may name another host, the document itself, or run in a
/// circle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Paging {
    /// Document with the next entries: `rel="next"` of a paged feed (RFC 5005 §3), or `next_url`.
    pub next: Option<String>,
    /// Archive document with the entries before this one's: `rel="prev-archive"` (RFC 5005 §4).
    pub prev_archive: Option<String>,
    /// True for an archive document (`fh:archive`), which is not expected to change.
    pub is_archive: bool,
    /// True if the document contains all entries of its feed (`fh:complete`, RFC 5005 §2), so that there are no others.
    pub is_complete: bool,
    /// Number of entries that the whole feed has, as stated (`openSearch:totalResults`).
    pub total: Option<u32>,
}

/// Program that made a feed, if its older documents have usual addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Generator {
    /// WordPress: `?paged=N`. The first number past the last document is answered with 404.
    WordPress,
    /// Blogger: `?start-index=N&max-results=M`. Past the last entry, the document is empty. Its own `rel="next"` names
    /// `www.blogger.com`, a host shared by all blogs; the usual address stays on the blog's host.
    Blogger,
}

/// Number of entries asked of Blogger in one document, which is the most that it serves.
pub const BLOGGER_ENTRIES: u32 = 150;

/// Returns the usual address of an older document of the feed at `feed`.
///
/// `document` counts from 1, the feed itself. `entries` is the number of entries in all documents before it. `None` for
/// the feed itself, and after the last number.
pub fn usual(feed: &Url, generator: Generator, document: u32, entries: u32) -> Option<Url> {
    let _ = (feed, generator, document, entries);
    None
}
