//! States as attributes: JSON text, or zstd of it if that is shorter.
//!
//! A write is billed by the kilobyte and a read by four of them, so rows are kept as small as possible; but a small one
//! stays text that a person can read.

use crate::error::corrupt;
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use curlew_ports::PortError;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Minimum length of a text that is compressed, in bytes.
const PACK_FROM: usize = 600;
/// Compression level of zstd: rows are small.
const LEVEL: i32 = 3;
/// Maximum uncompressed size of a stored value, in bytes.
const UNPACK_LIMIT: usize = 8 << 20;

/// Returns a value as an attribute; `what` names it in an error.
pub(crate) fn pack<T: Serialize>(what: impl FnOnce() -> String, value: &T) -> Result<AttributeValue, PortError> {
    Ok(pack_text(serde_json::to_string(value).map_err(|e| corrupt(what(), e))?))
}

/// Returns the value of an attribute.
pub(crate) fn unpack<T: DeserializeOwned>(
    what: impl Fn() -> String,
    attribute: &AttributeValue,
) -> Result<T, PortError> {
    match attribute {
        AttributeValue::S(text) => serde_json::from_str(text).map_err(|e| corrupt(what(), e)),
        AttributeValue::B(packed) => {
            serde_json::from_slice(&inflate(&what, packed.as_ref())?).map_err(|e| corrupt(what(), e))
        }
        _ => Err(corrupt(what(), "its state is neither text nor binary")),
    }
}

/// Returns a text as an attribute.
pub(crate) fn pack_text(text: String) -> AttributeValue {
    match text.len() >= PACK_FROM {
        true => match deflate(text.as_bytes()) {
            Some(packed) if packed.len() < text.len() => AttributeValue::B(Blob::new(packed)),
            _ => AttributeValue::S(text),
        },
        false => AttributeValue::S(text),
    }
}

/// Returns the text of an attribute.
pub(crate) fn unpack_text(what: impl Fn() -> String, attribute: &AttributeValue) -> Result<String, PortError> {
    match attribute {
        AttributeValue::S(text) => Ok(text.clone()),
        AttributeValue::B(packed) => {
            String::from_utf8(inflate(&what, packed.as_ref())?).map_err(|e| corrupt(what(), e))
        }
        _ => Err(corrupt(what(), "it is neither text nor binary")),
    }
}

/// Compresses bytes; returns `None` if that fails.
pub(crate) fn deflate(bytes: &[u8]) -> Option<Vec<u8>> {
    zstd::bulk::compress(bytes, LEVEL).ok()
}

/// Decompresses bytes.
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
