//! Parses sitemaps (sitemaps.org), optionally gzip-compressed: indexes, lists of pages, plain text, or feeds.

mod xml;

use crate::{FeedError, Limits, link};
use curlew_model::{Timestamp, with_defaults};
use curlew_text::charset::{self, Document};
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::io::Read as _;
use url::Url;

with_defaults! {
    /// Limits on a sitemap. sitemaps.org allows 50,000 addresses and 50 MiB.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct SitemapLimits {
        /// Maximum uncompressed size in bytes; the rest of the document is ignored.
        pub bytes: usize = 50 * 1024 * 1024,
        /// Maximum number of addresses read, usable or not; the rest of the document is ignored.
        pub urls: usize = 50_000,
        /// Maximum length of an address in bytes; a longer one is ignored.
        pub url_bytes: usize = 2_048,
        /// Maximum length of a title, in characters.
        pub title_chars: usize = 1_000,
    }
}

/// A sitemap. Some list both sitemaps and pages, against the standard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sitemap {
    /// Sitemaps listed by an index file, in document order.
    pub sitemaps: Vec<SitemapLink>,
    /// Pages, in document order.
    pub pages: Vec<SitemapUrl>,
    /// True if addresses are missing: a limit was reached, or the document ends prematurely.
    pub is_cut: bool,
}

/// A sitemap listed by an index file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SitemapLink {
    /// Absolute `http` or `https` address of the sitemap, on any host.
    pub loc: String,
    /// Time of the sitemap's last change, as stated.
    pub lastmod: Option<Timestamp>,
}

/// A page listed by a sitemap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SitemapUrl {
    /// Absolute `http` or `https` address of the page, on any host.
    pub loc: String,
    /// Time of the page's last change, as stated. It may lie in the future.
    pub lastmod: Option<Timestamp>,
    /// Title as plain text, from the news extension.
    pub title: Option<String>,
    /// Publication date, from the news extension. It may lie in the future.
    pub published: Option<Timestamp>,
    /// Absolute address of the page's first image, from the image extension.
    pub image: Option<String>,
}

/// Reason why a document yielded no sitemap.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SitemapError {
    /// The document is something else, such as a web page.
    #[error("not a sitemap: {0}")]
    NotASitemap(String),
    /// The document begins like a gzip file, but cannot be decompressed.
    #[error("the sitemap is a broken gzip file: {0}")]
    Compression(String),
    /// The document is a feed that cannot be parsed.
    #[error("the sitemap is a feed that cannot be read: {0}")]
    Feed(#[from] FeedError),
}

/// Parses a sitemap, repaired if possible: an index, a list of pages, plain text with one address per line, or a feed,
/// whose entries count as pages. Relative addresses are resolved against `url`.
///
/// Dates are not checked: they may lie in the future or in the year 1. Addresses may be repeated.
pub fn parse(
    body: &[u8],
    content_type: Option<&str>,
    url: &Url,
    limits: &SitemapLimits,
) -> Result<Sitemap, SitemapError> {
    let (body, is_cut) = unfold(body, limits.bytes)?;
    let decoded = charset::decode(&body, content_type, Document::Feed);
    let text = decoded.text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}' || c == '\0');
    let mut sitemap = match text.bytes().next() {
        None => Err(SitemapError::NotASitemap("the document is empty".to_owned())),
        Some(b'{') => feed(&body, content_type, url, limits),
        Some(first) => match xml::read(text, url, limits) {
            Err(xml::NotXml::Feed) => feed(&body, content_type, url, limits),
            Err(_) if first != b'<' => lines(text, url, limits),
            read => read.map_err(|other| SitemapError::NotASitemap(other.to_string())),
        },
    }?;
    sitemap.is_cut |= is_cut;
    Ok(sitemap)
}

/// Magic bytes of a gzip file (RFC 1952 §2.3).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Returns the document, decompressed if necessary and truncated to `max_bytes`, and true if it is incomplete.
fn unfold(body: &[u8], max_bytes: usize) -> Result<(Cow<'_, [u8]>, bool), SitemapError> {
    if !body.starts_with(&GZIP) {
        let (head, is_cut) = whole_lines(body, max_bytes, false);
        return Ok((Cow::Borrowed(head), is_cut));
    }
    let mut out = Vec::new();
    let end = MultiGzDecoder::new(body).take(max_bytes as u64 + 1).read_to_end(&mut out);
    match end {
        Err(error) if out.is_empty() => Err(SitemapError::Compression(error.to_string())),
        end => {
            let (head, is_cut) = whole_lines(&out, max_bytes, end.is_err());
            out.truncate(head.len());
            Ok((Cow::Owned(out), is_cut))
        }
    }
}

/// Returns the first `max_bytes` bytes, and true if the document is incomplete; it then ends after a whole tag or line.
fn whole_lines(body: &[u8], max_bytes: usize, was_cut: bool) -> (&[u8], bool) {
    let head = &body[..body.len().min(max_bytes)];
    let is_cut = was_cut || head.len() < body.len();
    let end = head.iter().rposition(|byte| matches!(byte, b'>' | b'\n')).filter(|_| is_cut);
    (&head[..end.map_or(head.len(), |at| at + 1)], is_cut)
}

fn feed(body: &[u8], content_type: Option<&str>, url: &Url, limits: &SitemapLimits) -> Result<Sitemap, SitemapError> {
    let (entries, title_chars, url_bytes) = (limits.urls, limits.title_chars, limits.url_bytes);
    let limits = Limits { entries, title_chars, text_chars: title_chars, url_bytes, ..Limits::default() };
    let feed = crate::parse(body, content_type, url, &limits)?;
    let page = |entry: crate::Entry| {
        let (lastmod, title, published) = (entry.updated, entry.title, entry.published);
        Some(SitemapUrl { loc: entry.link?, lastmod, title, published, image: None })
    };
    let pages = feed.entries.into_iter().filter_map(page).collect();
    Ok(Sitemap { sitemaps: Vec::new(), pages, is_cut: feed.truncated })
}

/// Parses a plain-text sitemap. Lines without an absolute address are ignored; fails if no line has one.
fn lines(text: &str, url: &Url, limits: &SitemapLimits) -> Result<Sitemap, SitemapError> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.by_ref().take(limits.urls);
    let found = first.filter(|line| link::is_absolute(line));
    let page = |loc| SitemapUrl { loc, ..SitemapUrl::default() };
    let pages: Vec<_> = found.filter_map(|line| link::resolve(line, url, limits.url_bytes)).map(page).collect();
    if pages.is_empty() {
        return Err(SitemapError::NotASitemap("it is neither XML nor a list of addresses".to_owned()));
    }
    Ok(Sitemap { sitemaps: Vec::new(), pages, is_cut: lines.next().is_some() })
}

#[cfg(test)]
mod tests;
