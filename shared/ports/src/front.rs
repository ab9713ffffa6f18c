use crate::PortError;
use async_trait::async_trait;
use bytes::Bytes;
use curlew_model::{ThumbnailId, Timestamp};
use serde::Serialize;
use std::ops::Range;

/// What the search page needs of the program behind it.
#[async_trait]
pub trait Front: Send + Sync {
    /// Runs a query: `limit` hits from `start` on. What of the query cannot be understood is left out, and said.
    ///
    /// # Errors
    /// [`FindError::BadQuery`] with a sentence for the person who typed it if nothing of it is understood, or a port's
    /// error.
    async fn find(&self, query: &str, start: Start<'_>, limit: usize) -> Result<Found, FindError>;

    /// Takes a suggestion. It is only written down; nothing is fetched before the next schedule.
    ///
    /// # Errors
    /// [`SuggestError::Refused`] with a sentence for the person who suggested it, or a port's error.
    async fn suggest(&self, url: &str) -> Result<Suggested, SuggestError>;

    /// The thumbnail's JPEG bytes, if there is one.
    ///
    /// # Errors
    /// Transport errors.
    async fn thumbnail(&self, id: &ThumbnailId) -> Result<Option<Bytes>, PortError>;

    /// What a hub is answered that asks under a callback whether a subscription is ours (WebSub §5.3).
    ///
    /// # Errors
    /// Transport errors.
    async fn hub_asks(&self, callback: &str, asked: &HubAsks<'_>) -> Result<HubAnswer, PortError>;

    /// Takes what a hub delivers under a callback (WebSub §7): by the signature (`X-Hub-Signature`) of the body it is
    /// believed that there is news, and nothing else of it is. Nothing is fetched here.
    ///
    /// # Errors
    /// Transport errors.
    async fn hub_tells(&self, callback: &str, signature: Option<&str>, body: &[u8]) -> Result<HubAnswer, PortError>;

    /// What the program has done and is doing, as lines of name and value.
    ///
    /// # Errors
    /// Transport errors.
    async fn status(&self) -> Result<Vec<StatusLine>, PortError>;
}

/// Where a page of results begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start<'a> {
    /// After so many hits.
    Offset(usize),
    /// After the page that gave this as [`Found::next`]. One of another query, or one that is damaged, is said in
    /// [`Found::notes`] and begins at the first hit.
    After(&'a str),
}

/// What a hub asks, as it stands in its query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HubAsks<'a> {
    /// `hub.mode`.
    pub mode: &'a str,
    /// `hub.topic`.
    pub topic: &'a str,
    /// `hub.lease_seconds`.
    pub lease_seconds: Option<u64>,
}

/// What a hub is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HubAnswer {
    /// Yes, or thank you; which also says nothing of whether it was believed.
    Yes,
    /// Nobody has asked for that.
    No,
    /// There is no subscription under this callback, or no more.
    Unknown,
}

/// A page of results.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Found {
    /// How many pages match in all.
    pub total: u64,
    /// The hits of this page.
    pub hits: Vec<FoundHit>,
    /// Hits on the pages before this one.
    #[serde(skip)]
    pub before: u64,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The query as it may have been meant, if that finds more; plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// What of the query was left out, and why; a sentence each, plain text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundHit {
    /// The page's URL.
    pub url: String,
    /// Its title.
    pub title: String,
    /// A piece of its text, plain.
    pub snippet: String,
    /// Byte ranges of the snippet that match the query.
    #[serde(skip)]
    pub marks: Vec<Range<usize>>,
    /// The main image's URL.
    pub image: Option<String>,
    /// The thumbnail, if one was made.
    #[serde(skip)]
    pub thumbnail: Option<ThumbnailId>,
    /// The site's name.
    pub site: String,
    /// When it was published.
    pub published: Option<Timestamp>,
    /// How well it matches; only to be compared within one answer.
    pub score: f32,
    /// Later pages that say the same and are not shown.
    #[serde(skip_serializing_if = "is_zero")]
    pub copies: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// Why there are no results.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// Nothing of the query can be understood; a sentence for the person who typed it.
    #[error("{0}")]
    BadQuery(String),
    /// The index is out of reach.
    #[error(transparent)]
    Port(#[from] PortError),
}

/// What became of a suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suggested {
    /// It will be looked at.
    Taken,
    /// It was known already.
    Known,
}

/// Why a suggestion was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SuggestError {
    /// It cannot be taken; a sentence for the person who suggested it.
    #[error("{0}")]
    Refused(String),
    /// The store is out of reach.
    #[error(transparent)]
    Port(#[from] PortError),
}

/// A line of the status page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatusLine {
    /// What is counted.
    pub name: String,
    /// The count, or words.
    pub value: String,
}
