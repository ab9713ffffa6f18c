//! Jobs that extract pages.

use crate::{
    EntryHints, Exchange, HostKey, ImageId, Location, NamedBy, PageId, SourceKey, StatedPreferences, Timestamp,
    Validators, packed, with_defaults,
};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

with_defaults! {
    /// Job that makes the record of a fetched page.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct ExtractJob {
        /// Id of the requested page.
        pub page: PageId,
        /// Host key under which the page was fetched.
        pub host: HostKey,
        /// Canonical form of the requested URL; its hash is `page`.
        pub url: String,
        /// URL of the final response, after redirects.
        pub final_url: String,
        /// Feed that named the page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub feed: Option<SourceKey> = None,
        /// Facts about that feed; `None` if they must be read from its row.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub named_by: Option<NamedBy> = None,
        /// Metadata from the feed.
        #[serde(default)]
        pub hints: EntryHints = EntryHints::default(),
        /// The site's image, used for a page without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub site_image: Option<String> = None,
        /// Unparsed `Content-Type` header.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub content_type: Option<String> = None,
        /// Values of `X-Robots-Tag` headers.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub robots_tags: Vec<String> = Vec::new(),
        /// Preferences that the site stated at the time of the fetch.
        #[serde(flatten)]
        pub preferences: StatedPreferences = StatedPreferences::default(),
        /// The document.
        pub body: PageBody,
        /// Time of the fetch.
        pub fetched_at: Timestamp,
        /// The main image, if it was requested in the same visit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub image: Option<MainImage> = None,
        /// Number of calls left for the page: one for its main image, unless that call or a redirect has used it.
        #[serde(default)]
        pub calls_left: u32 = 0,
        /// Validators of the document, for the next conditional request.
        #[serde(default, skip_serializing_if = "Validators::is_empty")]
        pub validators: Validators = Validators::default(),
        /// True if the page had no row when it was fetched, and the fetch did not write one.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub is_without_row: bool = false,
        /// Record that the new one replaces, if a re-check found that the text has changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub replaces: Option<Location> = None,
        /// Heads of request and response, if the page is kept raw. `body` is then in the document's own charset.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub exchange: Option<Exchange> = None,
    }

    /// Creates the job for a document of a page that no feed named.
    new(page: PageId, host: HostKey, url: String, final_url: String, body: PageBody, fetched_at: Timestamp)
}

impl ExtractJob {
    /// Name of the kind.
    pub const NAME: &str = "extract";
}

/// A page's main image, requested in the same visit as the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MainImage {
    /// Id of the image.
    pub id: ImageId,
    /// Thumbnail as JPEG; `None` if none can be made of the image.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "packed::bytes_or_none")]
    pub thumbnail: Option<Bytes>,
}

/// A document that fetching hands to extraction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageBody {
    /// Document inside the message, compressed with zstd.
    Inline(#[serde(with = "packed::bytes")] Bytes),
    /// Key of the document in the object store, compressed with zstd, because it does not fit into a message.
    Stored(String),
}
