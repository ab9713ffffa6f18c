use crate::{PortError, Status};
use async_trait::async_trait;
use bytes::Bytes;
use curlew_model::{Challenge, Claim, Dossier, Millis, QueryError, ThumbnailId, Timestamp, Wish};
use serde::{Serialize, Serializer};
use std::ops::Range;

/// What the search page needs of the program behind it.
#[async_trait]
pub trait Front: Send + Sync {
    /// Runs a query: `limit` hits from `start` on. What of the query cannot be understood is left out, and said.
    ///
    /// # Errors
    /// [`FindError::BadQuery`] if nothing of it is understood, or a port's error.
    async fn find(&self, query: &str, start: Start<'_>, limit: usize) -> Result<Found, FindError>;

    /// Takes a suggestion. It is only written down; nothing is fetched before the next schedule.
    ///
    /// # Errors
    /// [`SuggestError::Refused`] if it cannot be taken, or a port's error.
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

    /// Begins to take what a hub delivers under a callback (WebSub §7), by the signature that it gives (`X-Hub-Signature`)
    /// and before anything of the body is read.
    ///
    /// # Errors
    /// Transport errors.
    async fn hub_delivers(&self, callback: &str, signature: Option<&str>) -> Result<HubDelivery, PortError>;

    /// Takes a delivery whose body was genuine: it is believed that there is news, and nothing else of it is. Nothing is
    /// fetched here.
    ///
    /// # Errors
    /// Transport errors.
    async fn hub_delivered(&self, callback: &str) -> Result<HubAnswer, PortError>;

    /// The host that somebody names as theirs, in canonical form.
    ///
    /// # Errors
    /// Why it cannot be claimed.
    fn site_of(&self, typed: &str) -> Result<String, Refused>;

    /// What the claimant of a host sees. What is kept of the host is only in it while the claim is proven.
    ///
    /// # Errors
    /// Transport errors.
    async fn claimed(&self, host: &str, challenge: &Challenge) -> Result<Claimed, PortError>;

    /// Takes what a claimant asks for. No call is made before this returns. Unless it `may_call`, a proof is only looked for
    /// where that costs the site nothing.
    ///
    /// # Errors
    /// Transport errors.
    async fn wished(&self, host: &str, challenge: &Challenge, wish: Wish, may_call: bool) -> Result<Wished, PortError>;

    /// Takes a message for the operator.
    ///
    /// # Errors
    /// Transport errors.
    async fn tell(&self, message: &Message) -> Result<Told, PortError>;

    /// What the program has and does. Asked for once a minute at most.
    ///
    /// # Errors
    /// Transport errors.
    async fn status(&self) -> Result<Status, PortError>;
}

/// Where a page of results begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start<'a> {
    /// After so many hits.
    Offset(usize),
    /// After the page that gave this as [`Found::next`]. One of another query, of another secret, or one that is damaged is
    /// [`QueryError::Cursor`].
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

/// What is done with the body of a delivery.
pub enum HubDelivery {
    /// There is no subscription under its callback, or no more.
    Unknown,
    /// It is not read, since it is not signed in a way that could be believed.
    Unsigned,
    /// It is read and given to this, piece by piece.
    Signed(Box<dyn SignedBody>),
}

/// Checks the signature of a body while that is read, so that nothing of it is kept.
pub trait SignedBody: Send {
    /// Takes the next piece.
    fn take(&mut self, piece: &[u8]);

    /// Whether all pieces together are what was signed.
    fn is_genuine(self: Box<Self>) -> bool;
}

/// A page of results.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Found {
    /// The number of pages with all words; pages that say the same count as one, and only one of them is given.
    pub total: u64,
    /// The number of pages with only some of the words. They come behind the others, unless they are mixed.
    #[serde(skip_serializing_if = "is_zero")]
    pub partial: u64,
    /// True if the query is a sentence: then pages with all words and pages with some stand among each other.
    #[serde(skip)]
    pub is_mixed: bool,
    /// Words of the query that are in no page at all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// The number of further pages with all words that say the same as one that is counted.
    #[serde(skip_serializing_if = "is_zero")]
    pub copies: u64,
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
    /// What of the query was left out, and why; for programs a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_sentences")]
    pub notes: Vec<QueryError>,
}

/// How the score of a result came about: it is the sum of the words' times both factors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Words and phrases of the query, and what each adds; zero if the page does not have it.
    pub words: Vec<(String, f32)>,
    /// The factor for words that stand near each other.
    pub proximity: f32,
    /// The factor for what is new.
    pub freshness: f32,
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
    /// False if it lacks words of the query; programs are told only then.
    #[serde(skip_serializing_if = "is_true")]
    pub all_words: bool,
    /// Words of the query that it does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// How its score came about, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// Its language, as its page gives it.
    #[serde(skip)]
    pub language: Option<String>,
    /// How well it matches; only to be compared within one answer.
    pub score: f32,
    /// Later pages that say the same and are not shown.
    #[serde(skip_serializing_if = "is_zero")]
    pub copies: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_true(flag: &bool) -> bool {
    *flag
}

fn is_zero<N: Default + PartialEq>(n: &N) -> bool {
    *n == N::default()
}

fn as_sentences<S: Serializer>(notes: &[QueryError], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(notes.iter().map(ToString::to_string))
}

/// Why there are no results.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// Nothing of the query can be understood.
    #[error(transparent)]
    BadQuery(QueryError),
    /// The index is out of reach.
    #[error(transparent)]
    Port(#[from] PortError),
}

/// A claim to a host as its claimant sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Claimed {
    /// The host in canonical form.
    pub host: String,
    /// The name of the TXT record that may hold the challenge.
    pub record: String,
    /// The address of the file that may hold it.
    pub file: String,
    /// The name of the meta tag of the home page that may hold it.
    pub tag: &'static str,
    /// What was asked for and found so far, if anything was.
    pub claim: Option<Claim>,
    /// Until when the claim is proven, if it is.
    pub proven_until: Option<Timestamp>,
    /// Only for a claim that is proven.
    pub held: Option<Kept>,
}

/// What is kept of a host, and how it is treated, for its owner.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// Who keeps the crawler away, and the index silent.
    pub block: BlockedBy,
    /// No call before this instant.
    pub not_before: Timestamp,
    /// The host is left alone until then, for this reason.
    pub hold: Option<(Timestamp, &'static str)>,
    /// The least time between two calls.
    pub pause: Millis,
    /// robots.txt as it was read last, if it was.
    pub robots: Option<RobotsSeen>,
    /// Feeds and pages, as they were told last.
    pub dossier: Option<Dossier>,
}

/// A robots.txt as its site's owner is shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsSeen {
    /// When it was read.
    pub at: Timestamp,
    /// Until when it is used without being read again.
    pub until: Timestamp,
    /// Its beginning.
    pub text: String,
    /// Whether it lets us call the home page.
    pub lets_in: bool,
}

/// Who has blocked a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockedBy {
    /// Nobody.
    Nobody,
    /// An owner, who may take it back.
    Owner,
    /// The operator, of this host or of a name above it.
    Operator,
}

/// What became of a wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wished {
    /// It is granted; what is not done yet is on its way.
    Granted,
    /// A proof is looked for in the DNS alone: the site has been called for proofs as often as it is in a day.
    ByDnsOnly,
    /// The claim is not proven, or no more.
    Unproven,
    /// The same was asked for lately; from then on it may be asked for again.
    TooSoon(Timestamp),
    /// The operator's word stands against it, or others have claimed the host.
    Refused,
}

/// A message for the operator. Nothing else of its sender is kept, and it is deleted after a while.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct Message {
    /// What it is about.
    pub about: About,
    /// The address that it is about, as it was typed; may be empty.
    pub address: String,
    /// The message itself.
    pub text: String,
    /// Where an answer may be sent, as it was typed; may be empty.
    pub reply_to: String,
}

/// What a message is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// A question, or anything else.
    #[default]
    Question,
    /// The crawler behaves badly.
    Crawler,
    /// Something that can be found should not be.
    Abuse,
    /// A site is to be removed whose owner cannot give a proof.
    Removal,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// The operator will find it.
    Taken,
    /// There are as many messages of today as are taken.
    Full,
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
    /// It cannot be taken.
    #[error(transparent)]
    Refused(Refused),
    /// The store is out of reach.
    #[error(transparent)]
    Port(#[from] PortError),
}

/// What was suggested and cannot be taken. It is displayed as a sentence in English.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{typed}' cannot be crawled: {why}")]
pub struct Refused {
    /// The beginning of what was typed.
    pub typed: String,
    /// Why.
    pub why: Refusal,
}

/// Why a suggestion cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It has not the form of an address that is taken up; what is wrong with it, in English.
    #[error("{0}")]
    Form(String),
    /// The operator excludes it, by this rule.
    #[error("it is excluded by {0}")]
    Excluded(String),
    /// The address guard would not let it be called; why, in English.
    #[error("{0}")]
    Unsafe(String),
    /// Its host is blocked.
    #[error("the host is blocked")]
    Blocked,
    /// As much of its site was suggested today as is taken in a day.
    #[error("so much of this site was suggested today; please come back tomorrow")]
    SiteFull,
    /// As many sites were suggested today as are taken in a day.
    #[error("so many sites were suggested today; please come back tomorrow")]
    DayFull,
    /// It is an IP address; only what has a name can be claimed.
    #[error("it has no name, only an address")]
    NoName,
    /// Names below it belong to many, so nobody can claim it as a whole.
    #[error("names below it belong to many")]
    Shared,
}
