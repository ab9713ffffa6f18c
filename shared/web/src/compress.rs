//! Compression of cacheable text. A `no-store` response may contain a secret (a form's token, the key of a claim)
//! together with text that the caller chose. If they were compressed together, the length would reveal how similar they
//! are (BREACH). A page of results also repeats the query, but contains nothing that is secret from the caller.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use tower_http::CompressionLevel;
use tower_http::compression::predicate::{And, SizeAbove};
use tower_http::compression::{CompressionLayer, Predicate};

/// Minimum length of a compressed body, in bytes. A shorter body fits into one packet uncompressed.
const MIN_BYTES: u64 = 1_024;
const TEXTS: [&str; 8] = [
    "text/html",
    "text/css",
    "text/plain",
    "image/svg+xml",
    "application/json",
    "application/feed+json",
    "application/atom+xml",
    "application/rss+xml",
];

pub(crate) fn layer() -> CompressionLayer<And<SizeAbove, Keepable>> {
    CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(SizeAbove::new(MIN_BYTES).and(Keepable))
}

/// Predicate that accepts responses with cacheable text.
#[derive(Clone, Copy)]
pub(crate) struct Keepable;

impl Predicate for Keepable {
    fn should_compress<B: axum::body::HttpBody>(&self, response: &axum::http::Response<B>) -> bool {
        let header = |name: HeaderName| response.headers().get(name).and_then(|v| v.to_str().ok()).unwrap_or_default();
        let is_kept = !header(CACHE_CONTROL).is_empty() && !header(CACHE_CONTROL).contains("no-store");
        is_kept && TEXTS.contains(&header(CONTENT_TYPE).split(';').next().unwrap_or_default())
    }
}
