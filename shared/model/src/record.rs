//! Records: the stored content of accepted pages, and its location.

use crate::{Fingerprint, Location, PageId, SegmentKey, ThumbnailId, Timestamp, polling::is_default, with_defaults};
use serde::{Deserialize, Serialize};

/// Maximum length of the text shown with a result (`nosnippet`, `max-snippet:N`), in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SnippetLimit(pub Option<u32>);

/// Preferences about the use of a page that the site stated at the time of the fetch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedPreferences {
    /// Content signals of robots.txt (contentsignals.org), such as `ai-train=no, search=yes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_signal: Option<String>,
    /// URL of the licence named by the page, or else by the site's robots.txt (RSL 1.0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
}

with_defaults! {
    /// Stored content of an accepted page: one line of a segment.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Record {
        /// Hash of the canonical URL.
        pub id: PageId,
        /// The canonical URL.
        pub url: String,
        /// The host name of the URL, lower case, A-labels.
        pub host: String = String::new(),
        /// URL of the page's feed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub feed: Option<String> = None,
        /// The site's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub site_name: Option<String> = None,
        /// The title.
        pub title: String = String::new(),
        /// The text; paragraphs are separated by a blank line.
        pub text: String = String::new(),
        /// URL of the page's main image, or of the site's image.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub image: Option<String> = None,
        /// True if the image is the site's, because the page has none.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub image_of_site: bool = false,
        /// The thumbnail, if one was made or requested.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub thumbnail: Option<ThumbnailId> = None,
        /// Length in bytes of the thumbnail's frame, just before the record's frame in the segment; zero without one.
        /// `thumbnail` is then not stored but filled in on reading, because a segment is named by its content.
        #[serde(default, skip_serializing_if = "is_default")]
        pub thumbnail_frame: u64 = 0,
        /// Location of the raw page, if it is kept. Valid in this store only, so it is not exported.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub raw: Option<RawFrame> = None,
        /// Primary BCP 47 language subtag, such as `it`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub language: Option<String> = None,
        /// Publication date stated by the page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub published: Option<Timestamp> = None,
        /// Modification date stated by the page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub modified: Option<Timestamp> = None,
        /// The author's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub author: Option<String> = None,
        /// Tags (categories) that the feed gives the page.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub tags: Vec<String> = Vec::new(),
        /// Path of folders of the feed in the operator's list when the feed named the page, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub folder: Vec<String> = Vec::new(),
        /// Time of the fetch.
        pub fetched_at: Timestamp,
        /// Maximum length of a snippet.
        #[serde(default, skip_serializing_if = "is_default")]
        pub snippet_limit: SnippetLimit = SnippetLimit(None),
        /// `noarchive`: the text may be searched, but no copy of it may be offered.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub no_archive: bool = false,
        /// True if the page declares that its article is not free (schema.org, `isAccessibleForFree`).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub paywalled: bool = false,
        /// Instant after which the page must not be found (`unavailable_after`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub unavailable_after: Option<Timestamp> = None,
        /// Preferences stated at the time of the fetch. Their fields are stored as fields of the record.
        #[serde(flatten)]
        pub preferences: StatedPreferences = StatedPreferences::default(),
        /// SimHash of the text, to detect syndicated copies; `None` if the text is too short.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub simhash: Option<Fingerprint> = None,
        /// Location of the record of an earlier version of the page, which publishing removes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub replaces: Option<Location> = None,
    }

    /// Creates the record of a page of which only id, URL and fetch time are known; host, title and text are empty.
    new(id: PageId, url: String, fetched_at: Timestamp)
}

impl Record {
    /// Returns the date for filters and sorting: the publication date, unless it is missing or later than the fetch.
    pub fn date(&self) -> Timestamp {
        self.published.filter(|published| *published <= self.fetched_at).unwrap_or(self.fetched_at)
    }
}

/// Metadata from the feed, used where the page has none.
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
    /// Path of folders of the feed in the operator's list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folder: Vec<String>,
}

/// Heads of request and response for a page, without the headers on coding and length: the body is kept decoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// Request line and header lines, each with its line break.
    pub request: String,
    /// Status line and header lines, each with its line break.
    pub response: String,
}

/// Location of a raw page: one zstd frame of the object that belongs to the segment of the page's record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawFrame {
    /// Day on which the page was first kept raw, as `2026/11/21`. It does not change when the page is extracted again.
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
