//! Serializes bytes and keys as standard base64, which is a third of the size of JSON numbers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

fn decode<E: serde::de::Error>(text: String) -> Result<Vec<u8>, E> {
    STANDARD.decode(text).map_err(E::custom)
}

pub(crate) mod bytes {
    use super::*;
    use ::bytes::Bytes;

    pub(crate) fn serialize<S: Serializer>(bytes: &Bytes, s: S) -> Result<S::Ok, S::Error> {
        STANDARD.encode(bytes).serialize(s)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Bytes, D::Error> {
        decode(String::deserialize(d)?).map(Bytes::from)
    }
}

pub(crate) mod bytes_or_none {
    use super::*;
    use ::bytes::Bytes;

    pub(crate) fn serialize<S: Serializer>(bytes: &Option<Bytes>, s: S) -> Result<S::Ok, S::Error> {
        bytes.as_ref().map(|bytes| STANDARD.encode(bytes)).serialize(s)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Bytes>, D::Error> {
        Option::<String>::deserialize(d)?.map(|text| decode(text).map(Bytes::from)).transpose()
    }
}

/// Keys of entries. Deserialization also accepts the older format, a list of numbers.
pub(crate) mod keys {
    use super::*;

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Packed(String),
        Numbers(Vec<u64>),
    }

    pub(crate) fn serialize<S: Serializer>(keys: &[u64], s: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
        STANDARD.encode(bytes).serialize(s)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u64>, D::Error> {
        let bytes = match Form::deserialize(d)? {
            Form::Packed(text) => decode(text)?,
            Form::Numbers(keys) => return Ok(keys),
        };
        match bytes.as_chunks::<8>() {
            (keys, []) => Ok(keys.iter().map(|key| u64::from_le_bytes(*key)).collect()),
            _ => Err(D::Error::custom("a key of an entry is cut short")),
        }
    }
}

pub(crate) mod stamps {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(stamps: &[u16], s: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = stamps.iter().flat_map(|stamp| stamp.to_le_bytes()).collect();
        STANDARD.encode(bytes).serialize(s)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u16>, D::Error> {
        let bytes = decode(String::deserialize(d)?)?;
        Ok(bytes.as_chunks::<2>().0.iter().map(|stamp| u16::from_le_bytes(*stamp)).collect())
    }
}
