//! Decodes the bodies of pages that somebody else fetched and stored, under the limits of a call.

use crate::body::Reader;
use crate::config::Config;
use crate::media;
use crate::room::Room;
use bytes::Bytes;
use curlew_ports::{CallKind, FetchError, InlinePool};
use reqwest::header::{CONTENT_ENCODING, HeaderMap, HeaderValue};

/// Returns the decoded body of a stored page; `None` if it is not HTML. `codings` are the values of its
/// `Content-Encoding` headers; a body that does not begin as coded counts as stored decoded.
/// [`FetchError::Limit`] if the body is larger than `max_bytes` or grows beyond reason; [`FetchError::Protocol`] if it
/// cannot be decoded.
pub fn stored_page<'a>(
    content_type: Option<&str>,
    codings: impl Iterator<Item = &'a str>,
    body: &[u8],
    max_bytes: usize,
) -> Result<Option<Bytes>, FetchError> {
    if !media::is_wanted(CallKind::Page, content_type) {
        return Ok(None);
    }
    let mut headers = HeaderMap::new();
    for coding in codings {
        let value = HeaderValue::from_str(coding);
        headers.append(CONTENT_ENCODING, value.map_err(|_| FetchError::Protocol("a coding that is no text".into()))?);
    }
    let mut config = Config::new("", "");
    config.bytes.page = max_bytes;
    let room = Room::with_limits(0, max_bytes.saturating_mul(2));
    let reader = Reader { kind: CallKind::Page, config: &config, room: &room, pool: &InlinePool };
    reader.decode_whole(&headers, body).map(Some)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]
    use super::*;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut coder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        coder.write_all(bytes).unwrap();
        coder.finish().unwrap()
    }

    #[test]
    fn bodies_are_decoded_under_the_limits_of_a_call() {
        let html = Some("text/html");
        let zstd = zstd::bulk::compress(b"tide", 3).unwrap();
        for (codings, body) in [
            (vec![], b"tide".to_vec()),
            (vec!["gzip"], gzip(b"tide")),
            (vec!["zstd"], zstd),
            (vec!["gzip"], b"tide".to_vec()),
            (vec![], gzip(b"tide")),
        ] {
            assert_eq!(stored_page(html, codings.into_iter(), &body, 99).unwrap().unwrap(), "tide");
        }
        assert!(stored_page(Some("image/png"), std::iter::empty(), b"tide", 9).unwrap().is_none());
        let bomb = gzip(&vec![0; 8 << 20]);
        let refused = [
            (vec![], b"tides".to_vec(), 4),
            (vec!["gzip"], gzip(b"tides"), 4),
            (vec!["gzip"], bomb, 64 << 20),
            (vec!["gzip"], gzip(b"tide")[..12].to_vec(), 9),
            // Empty members, one after the other.
            (vec!["gzip"], gzip(b"").repeat(100_000), 64 << 20),
            (vec!["compress"], b"tide".to_vec(), 9),
            (vec!["gzip, br"], gzip(b"tide"), 9),
        ];
        for (codings, body, max) in refused {
            assert!(stored_page(html, codings.clone().into_iter(), &body, max).is_err(), "{codings:?} {max}");
        }
    }
}
