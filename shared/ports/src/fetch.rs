use async_trait::async_trait;
use bytes::Bytes;
use curlew_model::{Exchange, Failure, Millis, SignatureHeaders, Validators, words};

/// Makes single GETs, and POSTs to hubs, receivers and engines; redirects are replies, since each hop must be admitted.
#[async_trait]
pub trait Fetch: Send + Sync {
    /// Makes one call; the [`FetchError`] says why there is no answer.
    async fn call(&self, call: &Call) -> Result<Reply, FetchError>;

    /// Checks a URL against the address guard without a DNS lookup; the error is the reason why it must not be called.
    fn vet(&self, url: &str) -> Result<(), String>;
}

words! {
    /// Purpose of a call, which determines the limits, the `Accept` header and the user agent.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum CallKind {
        /// `/robots.txt`.
        Robots = "robots",
        /// A site's home page, during discovery.
        Home = "home",
        /// The file by which an owner proves that a site is theirs.
        Proof = "proof",
        /// A feed.
        Feed = "feed",
        /// A sitemap.
        Sitemap = "sitemap",
        /// A page; a body that is not HTML is not read.
        Page = "page",
        /// A WebSub hub, which receives a subscription request for a feed by POST.
        Hub = "hub",
        /// A webhook receiver, which receives the matches of a watch by POST.
        Receiver = "receiver",
        /// A search engine, which receives the pages to index and to delete by POST; its answer is read.
        Engine = "engine",
        /// An image; a body that is not an image is not read.
        Image = "image",
    }
}

/// A call to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// An absolute http or https URL.
    pub url: String,
    /// The purpose.
    pub kind: CallKind,
    /// Validators, sent byte for byte as `If-None-Match` and `If-Modified-Since`.
    pub validators: Validators,
    /// Content to POST; without it the call is a GET. The answer's body is read only if it comes from an engine.
    pub post: Option<Post>,
    /// Signature headers of a signed call, sent as they are.
    pub signature: Option<SignatureHeaders>,
    /// Maximum time of the call, whatever the server does.
    pub time: Millis,
}

/// Content of a POST.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    /// Media type of the content.
    pub content_type: &'static str,
    /// The content.
    pub body: Bytes,
    /// Additional headers, such as a signature: names in lower case, and values.
    pub headers: Vec<(&'static str, String)>,
}

impl Post {
    /// Returns the POST of a form that is already serialized.
    pub fn form(form: String) -> Post {
        Post { content_type: "application/x-www-form-urlencoded", body: form.into(), headers: vec![] }
    }
}

/// An answer. Its body is decoded, complete and within the limit; otherwise the call is an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The status code; a 2xx that means the same as 200 for a GET, such as 203, is returned as 200.
    pub status: u16,
    /// The headers that Curlew uses.
    pub headers: ReplyHeaders,
    /// The decoded body; empty unless the status is 2xx and the media type was requested.
    pub body: Bytes,
    /// True if the body was not read because its media type was not requested.
    pub body_skipped: bool,
    /// Heads of the request and answer for a page, if raw pages are stored.
    pub exchange: Option<Exchange>,
    /// Time from sending the request to the end of the body.
    pub took: Millis,
}

/// Headers of an answer as the server wrote them; headers over 1 KiB are omitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplyHeaders {
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// `ETag` and `Last-Modified`.
    pub validators: Validators,
    /// `Location`.
    pub location: Option<String>,
    /// `Refresh` (HTML, "document lifecycle").
    pub refresh: Option<String>,
    /// `Retry-After` (RFC 9110 §10.2.3).
    pub retry_after: Option<String>,
    /// `Cache-Control` (RFC 9111 §5.2), several joined by commas.
    pub cache_control: Option<String>,
    /// `Age` (RFC 9111 §5.1).
    pub age: Option<String>,
    /// `Expires` (RFC 9111 §5.3).
    pub expires: Option<String>,
    /// Every `X-Robots-Tag`.
    pub robots_tags: Vec<String>,
    /// Every `Robots-Tag` (draft-illyes-repext), cut after 8 KiB.
    pub structured_robots_tags: Vec<String>,
    /// Every `Link` (RFC 8288).
    pub links: Vec<String>,
    /// `Accept-Signature` (RFC 9421 §5.1), several joined by commas; up to 4 KiB.
    pub accept_signature: Option<String>,
    /// Names (in lower case) and truncated values of the first headers, for the marks of bot walls.
    pub lines: Vec<(String, String)>,
}

/// Reason why there is no answer, classified by the caller's next step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The address guard refused the URL; nothing was sent, and the call must not be repeated.
    #[error("{0}")]
    Refused(String),
    /// The answer broke a limit (bytes, time, rate, compression ratio). The document is dropped.
    #[error("{0}")]
    Limit(String),
    /// The server was not reached: DNS, connection, TLS. Either the host or our own network is down.
    #[error("{0}")]
    Network(Failure),
    /// Nothing was sent because this process cannot open another socket; this says nothing about the host.
    #[error("{0}")]
    Local(String),
    /// The server closed the connection as idle before an answer (RFC 9112 §9.3.1); this says nothing about the host.
    /// Only a GET returns this error, and the next call uses a new connection.
    #[error("the connection was closed as idle")]
    ClosedIdle,
    /// No answer came in time, or it was cut short. One such document says little about its host.
    #[error("{0}")]
    Cut(String),
    /// The answer is not HTTP, or cannot be decoded. The document is dropped.
    #[error("{0}")]
    Protocol(String),
}
