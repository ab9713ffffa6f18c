//! Compact serialization of keys: a row with a hundred of them stays within about a kilobyte.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

#[derive(Deserialize)]
#[serde(untagged)]
enum Form {
    Packed(String),
    Numbers(Vec<u64>),
}

pub(crate) fn serialize<S: Serializer>(keys: &[u64], s: S) -> Result<S::Ok, S::Error> {
    let bytes: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
    s.serialize_str(&STANDARD.encode(bytes))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u64>, D::Error> {
    let text = match Form::deserialize(d)? {
        Form::Packed(text) => text,
        Form::Numbers(keys) => return Ok(keys),
    };
    let bytes = STANDARD.decode(text).map_err(D::Error::custom)?;
    let (keys, rest) = bytes.as_chunks::<8>();
    match rest {
        [] => Ok(keys.iter().map(|key| u64::from_le_bytes(*key)).collect()),
        _ => Err(D::Error::custom("a key of an entry is cut short")),
    }
}
