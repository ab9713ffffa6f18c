//! Identifiers. Each is a checked text of its own type, so that none can be mistaken for another, and none can carry a
//! path separator into a store.

use crate::hex::is_hex;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A text that is not a valid id of the expected kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidId {
    /// Kind of id that was expected.
    pub kind: &'static str,
    /// First characters of the given text.
    pub given: String,
}

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not a {}", self.given, self.kind)
    }
}

impl std::error::Error for InvalidId {}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            #[doc = concat!("Takes a text as a ", $kind, ".")]
            ///
            /// # Errors
            /// If the text does not have the form documented for the type.
            pub fn new(text: &str) -> Result<$name, InvalidId> {
                let check: fn(&str) -> bool = $check;
                if check(text) {
                    Ok($name(text.into()))
                } else {
                    Err(InvalidId { kind: $kind, given: text.chars().take(80).collect() })
                }
            }

            /// The text itself.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;
            fn try_from(text: String) -> Result<$name, InvalidId> {
                $name::new(&text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0.as_ref().to_owned()
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

/// Maximum length of a host name in octets (RFC 1035 §2.3.4), including the brackets of an IPv6 literal.
const MAX_HOST: usize = 255;
/// Number of hexadecimal digits of an id that is a hash: 128 bits.
const HASH_DIGITS: usize = 32;
/// Maximum length of an object's key in bytes.
const MAX_KEY: usize = 512;

fn is_host(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= MAX_HOST
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b".-_:[]".contains(&b))
}

fn is_hash(text: &str) -> bool {
    is_hex(text, HASH_DIGITS)
}

id! {
    /// Unit of politeness: a registrable domain in lower-case A-label form, an IP literal, or the name of a configured
    /// group of hosts.
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
    /// Hash of an image's URL: 32 lower-case hexadecimal digits; its thumbnail is stored under it.
    ImageId, "image id", is_hash
}
id! {
    /// Hash of a feed's URL or of a site's start URL: 32 lower-case hexadecimal digits.
    SourceKey, "source key", is_hash
}
id! {
    /// Id of a chain of jobs that follow from one another, such as a poll, the visits to what is new, and the pages
    /// made of it: 32 lower-case hexadecimal digits, as a trace id of W3C Trace Context. The first 12 are the time at
    /// which the chain began, in milliseconds since 1970; zero if it is not known.
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

impl TraceId {
    /// Returns the time at which the chain began, if it is known.
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
