//! Extractions of pages.

use crate::{EntryHints, Exchange, HostKey, ImageId, Location, NamedBy, PageId, SourceKey};
use crate::{StatedPreferences, Timestamp, Validators, packed};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// Job that makes a record of a fetched page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExtractJob {
    /// Requested page.
    pub page: PageId,
    /// Host key under which it was fetched.
    pub host: HostKey,
    /// Canonical form of the requested URL; its hash is `page`.
    pub url: String,
    /// URL that answered, after redirects.
    pub final_url: String,
    /// Feed that named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feed: Option<SourceKey>,
    /// Facts about that feed; if they are missing, its row has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named_by: Option<NamedBy>,
    /// Metadata from the feed.
    #[serde(default)]
    pub hints: EntryHints,
    /// The site's image, for a page that has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_image: Option<String>,
    /// `Content-Type` as the server sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Values of `X-Robots-Tag` headers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub robots_tags: Vec<String>,
    /// Preferences stated when it was fetched.
    #[serde(flatten)]
    pub preferences: StatedPreferences,
    /// The document.
    pub body: PageBody,
    /// Time of the fetch.
    pub fetched_at: Timestamp,
    /// The main image, if it was requested together with the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<MainImage>,
    /// Number of calls that the page may still cost: one for its main image, unless that or a redirect has used it up.
    #[serde(default)]
    pub calls_left: u32,
    /// The validators of the document, for the next conditional request.
    #[serde(default, skip_serializing_if = "Validators::is_empty")]
    pub validators: Validators,
    /// True if the page had no row when it was fetched, and the fetch wrote none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_without_row: bool,
    /// Record that the new one replaces, if a re-check found a changed text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<Location>,
    /// The heads of the call, if the page is kept raw; `body` is then in its own charset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<Exchange>,
}

impl ExtractJob {
    /// Name of the kind.
    pub const NAME: &str = "extract";
}

/// A page's main image, requested right after the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MainImage {
    /// The image.
    pub id: ImageId,
    /// Thumbnail of the image as JPEG; `None` if the image yields none.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "packed::bytes_or_none")]
    pub thumbnail: Option<Bytes>,
}

/// A document on its way from fetching to extraction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageBody {
    /// Document compressed with zstd, inside the message.
    Inline(#[serde(with = "packed::bytes")] Bytes),
    /// Key of the document in the object store, compressed with zstd, since it did not fit into a message.
    Stored(String),
}
