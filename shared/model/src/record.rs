//! Records: the stored content of accepted pages, and its location.

use crate::{Fingerprint, Location, PageId, SegmentKey, ThumbnailId, Timestamp, polling::is_default};
use serde::{Deserialize, Serialize};

/// Maximum length of the text shown with a result (`nosnippet`, `max-snippet:N`), in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SnippetLimit(pub Option<u32>);

/// Preferences about the use of a page that its site had stated when it was fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedPreferences {
    /// Content signals of robots.txt (contentsignals.org), such as `ai-train=no, search=yes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_signal: Option<String>,
    /// The address of the licence that the page names, or else its site's robots.txt (RSL 1.0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
}

/// An accepted page. One line of a segment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Hash of the canonical URL.
    pub id: PageId,
    /// The canonical URL.
    pub url: String,
    /// The host name of the URL, lower case, A-labels.
    pub host: String,
    /// The feed's URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feed: Option<String>,
    /// The site's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_name: Option<String>,
    /// The title.
    pub title: String,
    /// The text; paragraphs are separated by a blank line.
    pub text: String,
    /// The main image's URL, or the site's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// True if the image is the site's, since the page has none of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub image_of_site: bool,
    /// The thumbnail, if one was made or requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thumbnail: Option<ThumbnailId>,
    /// Length in bytes of the thumbnail's frame, directly before the record's own in the segment; zero if there is
    /// none. Reading fills in `thumbnail`, which is not written, since a segment is named by its content.
    #[serde(default, skip_serializing_if = "is_default")]
    pub thumbnail_frame: u64,
    /// Place of the page as it was fetched, if it is kept. It belongs to this store alone and is not exported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<RawFrame>,
    /// BCP 47 primary language, such as `it`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Publication date that the page states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Timestamp>,
    /// Date of change that the page states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<Timestamp>,
    /// The author's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Tags that the feed gave the page (categories).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Folders that the operator's list had the feed in when it named the page, from the outermost in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folder: Vec<String>,
    /// Time of the fetch.
    pub fetched_at: Timestamp,
    /// Maximum length of the text that may be shown.
    #[serde(default, skip_serializing_if = "is_default")]
    pub snippet_limit: SnippetLimit,
    /// `noarchive`: the text may be searched but not offered as a copy.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_archive: bool,
    /// True if the page says that its article is not free (schema.org, `isAccessibleForFree`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paywalled: bool,
    /// Instant after which it must not be found (`unavailable_after`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable_after: Option<Timestamp>,
    /// Preferences stated when it was fetched; their fields are stored among those of the record.
    #[serde(flatten)]
    pub preferences: StatedPreferences,
    /// SimHash of the text, by which syndicated copies are recognized; `None` if the text is too short for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simhash: Option<Fingerprint>,
    /// Location of the record that this one replaced because the page had changed. Publishing removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<Location>,
}

impl Record {
    /// Returns the record of a page about which nothing else is known yet: host, title and text are empty.
    pub fn new(id: PageId, url: String, fetched_at: Timestamp) -> Record {
        Record {
            id,
            url,
            host: String::new(),
            feed: None,
            site_name: None,
            title: String::new(),
            text: String::new(),
            image: None,
            image_of_site: false,
            thumbnail: None,
            thumbnail_frame: 0,
            raw: None,
            language: None,
            published: None,
            modified: None,
            author: None,
            tags: Vec::new(),
            folder: Vec::new(),
            fetched_at,
            snippet_limit: SnippetLimit(None),
            no_archive: false,
            paywalled: false,
            unavailable_after: None,
            preferences: StatedPreferences::default(),
            simhash: None,
            replaces: None,
        }
    }

    /// Returns the date for filters and order: that of publication, or of the fetch if none or a later one is stated.
    pub fn date(&self) -> Timestamp {
        self.published.filter(|published| *published <= self.fetched_at).unwrap_or(self.fetched_at)
    }
}

/// Metadata from the feed, used if the page itself has none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EntryHints {
    /// The entry's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Publication date of the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Timestamp>,
    /// The entry's author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The entry's tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Folders of the feed in the operator's list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folder: Vec<String>,
}

/// The heads of the call for a page, without the headers about codings and length, since the body is kept decoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// Request line and header lines, each with its line break.
    pub request: String,
    /// Status line and header lines, each with its line break.
    pub response: String,
}

/// Place of a page as it was fetched: one zstd frame of the object that belongs to the segment of its record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawFrame {
    /// Day from which on the page is kept raw, as `2026/11/21`. A page that is extracted again keeps it.
    pub day: String,
    /// Offset of the frame in bytes.
    pub offset: u64,
    /// Length of the frame in bytes.
    pub length: u64,
}

impl RawFrame {
    /// Returns the key of the object that belongs to a segment: `raw/YYYY/MM/DD/<name of the segment>.warc.zst`.
    pub fn key(&self, segment: &SegmentKey) -> String {
        let name = segment.as_str().rsplit('/').next().unwrap_or_default();
        format!("raw/{}/{}.warc.zst", self.day, name.split('.').next().unwrap_or_default())
    }
}

/// Returns the primary subtag of a language tag in lower case (RFC 5646 §2.2.1, ISO 639); `None` unless it has two or
/// three letters, so that pages cannot invent languages.
pub fn primary_language(tag: &str) -> Option<String> {
    let primary = tag.split(['-', '_']).next().unwrap_or_default().trim();
    let is_subtag = matches!(primary.len(), 2 | 3) && primary.bytes().all(|b| b.is_ascii_alphabetic());
    is_subtag.then(|| primary.to_ascii_lowercase())
}
