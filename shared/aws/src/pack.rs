//! States as attributes: JSON text, or its zstd compression if that is shorter.
//!
//! Writes are billed per kilobyte and reads per four, so rows are kept small; but a short row stays text that a person
//! can read. Half of a row is member names, which all rows share, so the compression uses a dictionary with these
//! names: the row of a feed with twenty entries takes one write unit instead of two.

use crate::error::corrupt;
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use curlew_ports::PortError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::LazyLock;
use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::{DecoderDictionary, EncoderDictionary};

/// Minimum length of a text that is compressed, in bytes.
const PACK_FROM: usize = 600;
/// Compression level of zstd: rows are small.
const LEVEL: i32 = 3;
/// Sample rows, the most frequent texts last: raw content that precedes the compressed data (RFC 8878 §5). Stored rows
/// cannot be read without exactly these bytes, so they never change; another dictionary would need a new
/// [version](crate::KNOWN_VERSION).
const DICTIONARY: &[u8] = include_bytes!("row.dictionary");
static ENCODER: LazyLock<EncoderDictionary<'static>> = LazyLock::new(|| EncoderDictionary::copy(DICTIONARY, LEVEL));
static DECODER: LazyLock<DecoderDictionary<'static>> = LazyLock::new(|| DecoderDictionary::copy(DICTIONARY));
/// Maximum uncompressed size of a stored value, in bytes.
const UNPACK_LIMIT: usize = 8 << 20;

/// Converts a value to an attribute; `what` names it in an error.
pub(crate) fn pack<T: Serialize>(what: impl FnOnce() -> String, value: &T) -> Result<AttributeValue, PortError> {
    Ok(pack_text(serde_json::to_string(value).map_err(|e| corrupt(what(), e))?))
}

pub(crate) fn unpack<T: DeserializeOwned>(
    what: impl Fn() -> String,
    attribute: &AttributeValue,
) -> Result<T, PortError> {
    serde_json::from_str(&unpack_text(&what, attribute)?).map_err(|e| corrupt(what(), e))
}

/// Converts a text to an attribute, compressed with the dictionary if the text is long and becomes shorter.
pub(crate) fn pack_text(text: String) -> AttributeValue {
    let deflate = || Compressor::with_prepared_dictionary(&ENCODER)?.compress(text.as_bytes());
    match Some(&text).filter(|text| text.len() >= PACK_FROM).and_then(|_| deflate().ok()) {
        Some(packed) if packed.len() < text.len() => AttributeValue::B(Blob::new(packed)),
        _ => AttributeValue::S(text),
    }
}

pub(crate) fn unpack_text(what: impl Fn() -> String, attribute: &AttributeValue) -> Result<String, PortError> {
    let inflate =
        |packed: &Blob| Decompressor::with_prepared_dictionary(&DECODER)?.decompress(packed.as_ref(), UNPACK_LIMIT);
    match attribute {
        AttributeValue::S(text) => Ok(text.clone()),
        AttributeValue::B(packed) => {
            String::from_utf8(inflate(packed).map_err(|e| corrupt(what(), e))?).map_err(|e| corrupt(what(), e))
        }
        _ => Err(corrupt(what(), "its state is neither text nor binary")),
    }
}

/// Compresses bytes without a dictionary; returns `None` on failure.
pub(crate) fn deflate(bytes: &[u8]) -> Option<Vec<u8>> {
    zstd::bulk::compress(bytes, LEVEL).ok()
}

pub(crate) fn inflate(what: impl Fn() -> String, packed: &[u8]) -> Result<Vec<u8>, PortError> {
    zstd::bulk::decompress(packed, UNPACK_LIMIT).map_err(|e| corrupt(what(), e))
}

/// Returns the billed size of an attribute in bytes, without its name.
pub(crate) fn size(attribute: &AttributeValue) -> usize {
    match attribute {
        AttributeValue::S(text) => text.len(),
        AttributeValue::B(bytes) => bytes.as_ref().len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use curlew_model::{FeedSource, Millis, Slot, Source, SourceKey, Timestamp};
    use std::error::Error;

    /// A row that was compressed with the dictionary.
    const WRITTEN: &str = "28b52ffd609300e5020024023031313232333334343535363637373838393961616262636364646565664f6c6430130097eb8342020388af010a19730c6ce70380090b3331cc9f1b1e3c80d94439dac48252820036b1810890004d420e08422f0294f08c9681";

    /// Returns digits that cannot be compressed.
    fn hash(n: u64) -> u64 {
        (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    /// Returns the row of a feed with twenty entries and a long history of polls.
    fn usual() -> Result<Source, Box<dyn Error>> {
        let now = Timestamp::parse_day_or_instant("2026-11-24T11:22:33Z")?;
        let key = |n: u64| SourceKey::new(&format!("{:016x}{:016x}", hash(n), hash(n + 1)));
        let mut feed = FeedSource::new(key(1_000)?, Slot::from_hash(123), "https://blog.harbour-lantern.example/feed/");
        feed.site = Some(key(2_000)?);
        feed.format = "rss 2.0".to_owned();
        feed.title = Some("Harbour Lantern".to_owned());
        feed.link = Some("https://blog.harbour-lantern.example/".to_owned());
        feed.language = Some("en-GB".to_owned());
        feed.validators.etag = Some(format!("\"{:016x}\"", hash(3_000)));
        feed.validators.last_modified = Some("Tue, 24 Nov 2026 09:10:11 GMT".to_owned());
        (feed.interval, feed.not_before, feed.polled_at) = (Millis::from_days(1), now, now);
        (feed.polling.habit.gap, feed.polling.habit.news_at) = (Some(Millis(54_321_000)), Some(now));
        (feed.polling.trust.content, feed.polling.trust.verify_at) = (hash(4_000), Some(now));
        feed.seen = (0..52).map(hash).collect();
        feed.stamps = feed.seen.iter().take(20).map(|key| (key >> 48) as u16).collect();
        Ok(Source::Feed(feed))
    }

    #[test]
    fn the_row_of_a_usual_feed_is_one_write_unit() -> Result<(), Box<dyn Error>> {
        // The write unit of 1,024 bytes, less the key, the slot, the version and their names.
        let packed = pack(|| "a row".to_owned(), &usual()?)?;
        assert!(size(&packed) < 900, "{} bytes", size(&packed));
        let plain = deflate(serde_json::to_string(&usual()?)?.as_bytes()).ok_or("cannot be compressed")?;
        assert!(plain.len() > 900, "the dictionary is worth nothing: {} bytes", plain.len());
        assert_eq!(unpack::<Source>(|| "a row".to_owned(), &packed)?, usual()?);
        Ok(())
    }

    #[test]
    fn rows_that_were_written_once_can_be_read_for_ever() -> Result<(), Box<dyn Error>> {
        let bytes = (0..WRITTEN.len()).step_by(2).map(|at| u8::from_str_radix(&WRITTEN[at..at + 2], 16));
        let row = AttributeValue::B(Blob::new(bytes.collect::<Result<Vec<u8>, _>>()?));
        let Source::Feed(feed) = unpack::<Source>(|| "a row".to_owned(), &row)? else { return Err("no feed".into()) };
        assert_eq!((feed.url.as_str(), feed.title.as_deref()), ("https://www.example.org/feed/", Some("Old")));
        Ok(())
    }
}
