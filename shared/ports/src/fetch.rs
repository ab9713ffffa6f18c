use async_trait::async_trait;
use bytes::Bytes;
use curlew_model::{Exchange, Failure, Millis, SignatureHeaders, Validators, words};

/// Makes one GET, or one POST to a hub or receiver; a redirect is a reply, since politeness has to admit each hop.
#[async_trait]
pub trait Fetch: Send + Sync {
    /// Makes the call; a [`FetchError`] tells whether the address, a limit or the network stopped it.
    async fn call(&self, call: &Call) -> Result<Reply, FetchError>;

    /// Asks the address guard, without a look-up, if this URL may be called; the error is the reason why not.
    fn vet(&self, url: &str) -> Result<(), String>;
}

words! {
    /// Kind of document that is fetched; it decides the limits, the `Accept` header and the user agent.
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
        /// A page; a body that is no HTML is not read.
        Page = "page",
        /// A WebSub hub that is asked to tell of a feed's news, by a POST.
        Hub = "hub",
        /// A receiver of the matches of a watch: a POST that brings them.
        Receiver = "receiver",
        /// A search engine that is told which pages to index and to delete, by a POST whose answer is read.
        Engine = "engine",
        /// An image; a body that is no image is not read.
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
    /// Sent byte for byte as `If-None-Match` and `If-Modified-Since`.
    pub validators: Validators,
    /// Content to POST; the body of the answer is read from an engine alone. Without it the call is a GET.
    pub post: Option<Post>,
    /// Sent as they are, with a call that is signed.
    pub signature: Option<SignatureHeaders>,
    /// The call ends within this time, whatever the server does.
    pub time: Millis,
}

/// Content of a POST.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    /// Media type of the content.
    pub content_type: &'static str,
    /// The content.
    pub body: Bytes,
    /// Further headers: names in lower case, and values, such as a signature.
    pub headers: Vec<(&'static str, String)>,
}

impl Post {
    /// Returns the POST of a form, serialized already.
    pub fn form(form: String) -> Post {
        Post { content_type: "application/x-www-form-urlencoded", body: form.into(), headers: vec![] }
    }
}

/// An answer. Its body is decoded, complete and within the limit, or the call is an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The status code; a 2xx that means no more than 200 to a GET, such as 203, is given as 200.
    pub status: u16,
    /// The headers that Curlew acts upon.
    pub headers: ReplyHeaders,
    /// The decoded body; empty unless the status is 2xx and the media type is one that was asked for.
    pub body: Bytes,
    /// The body was left unread since its media type is not one that was asked for.
    pub body_skipped: bool,
    /// The heads of a call for a page, if pages are kept raw.
    pub exchange: Option<Exchange>,
    /// From sending the request to the end of the body.
    pub took: Millis,
}

/// Headers of an answer, as the server wrote them; those over 1 KiB are left out.
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
    /// Lower-case names and values, cut, of the first lines, for marks of bot walls.
    pub lines: Vec<(String, String)>,
}

/// Reason for the lack of an answer, shaped by what the caller does next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The address guard refused it; nothing was sent. Never tried again.
    #[error("{0}")]
    Refused(String),
    /// The answer broke a limit (bytes, time, rate, compression ratio). The document is dropped.
    #[error("{0}")]
    Limit(String),
    /// The server was not reached: DNS, connection, TLS. The host is in trouble, or our own network is.
    #[error("{0}")]
    Network(Failure),
    /// Nothing was sent, since this process may not open one more socket; says nothing about the host.
    #[error("{0}")]
    Local(String),
    /// The connection was closed as idle by its server before an answer (RFC 9112 §9.3.1); says nothing about the host.
    /// Only a GET ends so, and the next one has a new connection.
    #[error("the connection was closed as idle")]
    ClosedIdle,
    /// No answer came in time, or it was cut short. One such document says little about its host.
    #[error("{0}")]
    Cut(String),
    /// An answer that is not HTTP, or one that cannot be decoded. The document is dropped.
    #[error("{0}")]
    Protocol(String),
}
