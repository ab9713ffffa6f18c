//! The fetcher's configuration: identity, limits, guard.

use crate::guard::Guard;
use curlew_model::{Millis, with_defaults};
use curlew_ports::CallKind;

with_defaults! {
    /// The fetcher's settings. The fetcher reads no environment variables.
    #[derive(Clone, Debug)]
    pub struct Config {
        /// `User-Agent` of all calls except those with `feed_agent`.
        pub page_agent: String = page_agent.into(),
        /// `User-Agent` of calls for feeds and sitemaps, and to hubs and receivers.
        pub feed_agent: String = feed_agent.into(),
        /// Maximum time of name look-up, connecting and TLS handshake together.
        pub connect_timeout: Millis = Millis::from_secs(10),
        /// Maximum time without data: from the request to the end of the headers, then between two reads of the body.
        pub read_timeout: Millis = Millis::from_secs(10),
        /// Maximum time of a call, even if the call itself allows more.
        pub call_timeout: Millis = Millis::from_secs(30),
        /// Minimum average rate of a body on the wire, in bytes per second, once `rate_grace` is over.
        pub min_rate: u64 = 1_024,
        /// Maximum time for which a body may be slower than `min_rate`.
        pub rate_grace: Millis = Millis::from_secs(5),
        /// Maximum sizes of bodies.
        pub bytes: ByteLimits = ByteLimits::default(),
        /// Maximum bytes of large bodies together: those that are being read, and those that callers still hold. The
        /// largest single body fits in any case.
        // Nine feeds or about thirty pages of the largest size at once.
        pub bodies_bytes: usize = 128 << 20,
        /// Maximum ratio of a body to its coded form once the body exceeds 1 MiB.
        pub max_ratio: u64 = 200,
        /// Maximum processor time for decoding a body.
        pub decode_time: Millis = Millis::from_secs(2),
        /// True if the heads of calls for pages are returned, so that the pages can be kept raw.
        pub keep_heads: bool = false,
        /// Rules for the addresses and URLs that may be called.
        pub guard: Guard = Guard::default(),
        /// Certificates (DER) that are trusted in addition to the platform's, for tests and private networks.
        pub extra_roots: Vec<Vec<u8>> = Vec::new(),
    }

    /// Returns the defaults, with these two user agents.
    new(page_agent: impl Into<String>, feed_agent: impl Into<String>)
}

with_defaults! {
    /// Maximum size of each kind of body in bytes, decoded and on the wire.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ByteLimits {
        /// Part of a robots.txt that is read; the rest is ignored (RFC 9309 §2.5 asks for at least 500 KiB).
        pub robots: usize = 512 << 10,
        /// A home page or a page.
        pub page: usize = 3 << 20,
        /// A feed.
        pub feed: usize = 10 << 20,
        /// A sitemap; sitemaps.org allows 50 MiB.
        pub sitemap: usize = 50 << 20,
        /// An image.
        pub image: usize = 8 << 20,
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

/// Maximum size of a file with a proof, or of the echo of a challenge, in bytes: a few lines.
const PROOF_BYTES: usize = 4 << 10;
/// Maximum size of an engine's answer in bytes: a few hundred for each action of a batch.
const ENGINE_BYTES: usize = 8 << 20;

/// A configuration that no fetcher can be built from.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A user agent that is empty or is not a valid header value.
    #[error("the user agent '{0}' cannot be sent")]
    Agent(String),
    /// A certificate of [`Config::extra_roots`] that cannot be read.
    #[error("an extra root certificate cannot be read")]
    Root(#[source] reqwest::Error),
    /// TLS could not be set up.
    #[error(
        "the HTTP client cannot be set up; it needs the certificates of the system, as the package ca-certificates \
         brings them"
    )]
    Client(#[source] reqwest::Error),
}
