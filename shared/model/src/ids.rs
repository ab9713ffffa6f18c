//! Identifiers: validated texts, each of its own type. None can name a path outside its folder in a store.

use crate::{Timestamp, hex::is_hex};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A text that is not a valid id of the expected kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{given}' is not a {kind}")]
pub struct InvalidId {
    /// Kind of id that was expected.
    pub kind: &'static str,
    /// First characters of the given text.
    pub given: String,
}

impl InvalidId {
    pub(crate) fn new(kind: &'static str, given: &str) -> InvalidId {
        InvalidId { kind, given: given.chars().take(80).collect() }
    }
}

/// Makes a type that is displayed in the form that its function `new` parses serializable as a text.
macro_rules! stored_as_text {
    ($name:ident) => {
        impl TryFrom<String> for $name {
            type Error = InvalidId;
            fn try_from(text: String) -> Result<$name, InvalidId> {
                $name::new(&text)
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.to_string()
            }
        }
    };
}
pub(crate) use stored_as_text;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            #[doc = concat!("Takes a text as a ", $kind, ", if it has the form that the type documents.")]
            pub fn new(text: &str) -> Result<$name, InvalidId> {
                let check: fn(&str) -> bool = $check;
                if check(text) { Ok($name(text.into())) } else { Err(InvalidId::new($kind, text)) }
            }

            /// Returns the text of the id.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        stored_as_text!($name);

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

/// Maximum length of a host name in octets (RFC 1035 §2.3.4), including the brackets of an IPv6 address.
const MAX_HOST: usize = 255;
/// Maximum length of an object's key in bytes.
const MAX_KEY: usize = 512;

fn is_host(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= MAX_HOST
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b".-_:[]".contains(&b))
}

fn is_hash(text: &str) -> bool {
    is_hex(text, 32)
}

id! {
    /// Unit of politeness: a registrable domain in A-label form, an IP address, or the name of a configured host group.
    HostKey, "host key", is_host
}
id! {
    /// Scope of a robots.txt file (RFC 9309 §2.3): `scheme://host:port`, always with the port.
    Origin, "origin", |t| t.split_once("://").is_some_and(|(s, h)| (s == "http" || s == "https") && is_host(h))
}
id! {
    /// Hash of a page's canonical URL: 32 lower-case hexadecimal digits.
    PageId, "page id", is_hash
}
id! {
    /// Hash of an image's URL: 32 lower-case hexadecimal digits. It names the image's thumbnail.
    ImageId, "image id", is_hash
}
id! {
    /// Hash of a feed's URL or of a site's start URL: 32 lower-case hexadecimal digits.
    SourceKey, "source key", is_hash
}
id! {
    /// Id of a chain of jobs, in the form of a W3C Trace Context trace id: 32 hexadecimal digits. The first 12 are the
    /// start time of the chain in milliseconds since 1970, or zero if it is unknown.
    TraceId, "trace id", is_hash
}
id! {
    /// Key of a segment: `segments/YYYY/MM/DD/<name>.jsonl.zst`.
    SegmentKey, "segment key", |t| {
        t.len() <= MAX_KEY
            && t.starts_with("segments/")
            && t.split('/').all(|part| !part.is_empty() && part != ".." && part != ".")
            && t.bytes().all(|b| b.is_ascii_alphanumeric() || b"/.-_".contains(&b))
    }
}

id! {
    /// Challenge that a claimant publishes: 40 hexadecimal digits that do not reveal the claimant's key.
    Challenge, "challenge", |t| is_hex(t, Challenge::DIGITS)
}

impl Challenge {
    /// Number of hexadecimal digits (160 bits).
    pub const DIGITS: usize = 40;
}

impl TraceId {
    /// Returns the start time of the chain, if known.
    pub fn began(&self) -> Option<Timestamp> {
        let millis = i64::from_str_radix(self.as_str().get(..12)?, 16).ok()?;
        (millis > 0).then(|| Timestamp::from_millis(millis))
    }
}

/// Location of a record: one zstd frame of a segment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Location {
    /// Key of the object.
    pub segment: SegmentKey,
    /// Offset of the record's frame in bytes.
    pub offset: u64,
    /// Length of the frame in bytes.
    pub length: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_refuse_what_could_leave_their_folder() {
        for bad in ["", "../etc", "A", "a b", "a/b", "a\0b"] {
            assert!(HostKey::new(bad).is_err(), "{bad:?}");
        }
        assert!(HostKey::new("xn--80ak6aa92e.com").is_ok());
        assert!(HostKey::new("[2001:db8::1]").is_ok());
        assert!(SegmentKey::new("segments/2026/../../x").is_err());
        assert!(SegmentKey::new("segments/2026/11/21/ab12.jsonl.zst").is_ok());
        assert!(PageId::new("0123456789abcdef0123456789abcdef").is_ok());
        assert!(PageId::new("0123456789ABCDEF0123456789ABCDEF").is_err());
        assert!(Origin::new("https://example.org:443").is_ok());
        assert!(Origin::new("ftp://example.org:21").is_err());
    }
}
