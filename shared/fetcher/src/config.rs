//! The fetcher's configuration: identity, limits, guard.

use crate::guard::Guard;
use curlew_model::Millis;
use curlew_ports::CallKind;

/// Everything the fetcher has to know. It reads no environment.
#[derive(Clone, Debug)]
pub struct Config {
    /// `User-Agent` of every call but those for feeds.
    pub page_agent: String,
    /// `User-Agent` of the calls for feeds.
    pub feed_agent: String,
    /// The longest that looking up the name, connecting and the TLS handshake take together.
    pub connect_timeout: Millis,
    /// The longest silence: from the request to the end of the headers, then between two reads of the body.
    pub read_timeout: Millis,
    /// The longest call, whatever its own time says.
    pub call_timeout: Millis,
    /// Bytes on the wire that a body has to bring each second, on average, once `rate_grace` is over.
    pub min_rate: u64,
    /// Longest time that a body may be slower than `min_rate`.
    pub rate_grace: Millis,
    /// The largest bodies.
    pub bytes: ByteLimits,
    /// Bytes that large bodies may take together: those that are being read, and those that callers still hold. The
    /// largest single body fits in any case.
    pub bodies_bytes: usize,
    /// Maximum ratio of a body to its coded form once the body exceeds 1 MiB.
    pub max_ratio: u64,
    /// Maximum processor time that decoding a body may take.
    pub decode_time: Millis,
    /// True if the heads of calls for pages are handed on, so that the pages can be kept raw.
    pub keep_heads: bool,
    /// The rules for addresses and URLs that may be called.
    pub guard: Guard,
    /// Certificates in DER that are trusted besides the platform's; for tests and private networks.
    pub extra_roots: Vec<Vec<u8>>,
}

impl Config {
    /// Returns the defaults, with these two user agents.
    pub fn new(page_agent: impl Into<String>, feed_agent: impl Into<String>) -> Config {
        Config {
            page_agent: page_agent.into(),
            feed_agent: feed_agent.into(),
            connect_timeout: Millis::from_secs(10),
            read_timeout: Millis::from_secs(10),
            call_timeout: Millis::from_secs(30),
            min_rate: 1_024,
            rate_grace: Millis::from_secs(5),
            bytes: ByteLimits::default(),
            // Ten feeds or forty pages of the largest size at once.
            bodies_bytes: 128 << 20,
            max_ratio: 200,
            decode_time: Millis::from_secs(2),
            keep_heads: false,
            guard: Guard::default(),
            extra_roots: Vec::new(),
        }
    }
}

/// The largest body of each kind in bytes, decoded, and as it comes over the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteLimits {
    /// robots.txt is read so far and no further, which is no error (RFC 9309 §2.5 asks for at least 500 KiB).
    pub robots: usize,
    /// A home page or a page.
    pub page: usize,
    /// A feed.
    pub feed: usize,
    /// A sitemap; sitemaps.org allows 50 MiB.
    pub sitemap: usize,
    /// An image.
    pub image: usize,
}

impl Default for ByteLimits {
    fn default() -> ByteLimits {
        ByteLimits { robots: 512 << 10, page: 3 << 20, feed: 10 << 20, sitemap: 50 << 20, image: 8 << 20 }
    }
}

impl ByteLimits {
    pub(crate) fn largest(&self) -> usize {
        self.robots.max(self.page).max(self.feed).max(self.sitemap).max(self.image)
    }

    /// Returns the limit of a kind of call.
    pub fn limit(&self, kind: CallKind) -> usize {
        match kind {
            CallKind::Robots => self.robots,
            CallKind::Proof | CallKind::Receiver => PROOF_BYTES,
            CallKind::Hub => 0,
            CallKind::Home | CallKind::Page => self.page,
            CallKind::Feed => self.feed,
            CallKind::Sitemap => self.sitemap,
            CallKind::Engine => ENGINE_BYTES,
            CallKind::Image => self.image,
        }
    }
}

/// Maximum length of a file that holds a proof, or of the echo of a challenge, in bytes: a few lines.
const PROOF_BYTES: usize = 4 << 10;
/// Maximum length of an engine's answer, in bytes: a few hundred for each action of a batch.
const ENGINE_BYTES: usize = 8 << 20;

/// A configuration that no fetcher can be built from.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A user agent that is empty or cannot stand in a header.
    #[error("the user agent '{0}' cannot be sent")]
    Agent(String),
    /// A certificate of [`Config::extra_roots`] that cannot be read.
    #[error("an extra root certificate cannot be read")]
    Root(#[source] reqwest::Error),
    /// TLS could not be set up.
    #[error(
        "the HTTP client cannot be set up; it needs the certificates of the system, as the package ca-certificates brings them"
    )]
    Client(#[source] reqwest::Error),
}
