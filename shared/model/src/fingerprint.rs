//! Similarity-preserving fingerprints of texts and images.

use crate::{InvalidId, hex::is_hex, ids::stored_as_text};
use serde::{Deserialize, Serialize};
use std::fmt;

const DIGITS: usize = 16;

/// A fingerprint that differs in few bits for similar content. Serialized as hex digits: JSON numbers hold fewer bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    fn new(text: &str) -> Result<Fingerprint, InvalidId> {
        let bits = is_hex(text, DIGITS).then(|| u64::from_str_radix(text, 16).ok()).flatten();
        bits.map(Fingerprint).ok_or_else(|| InvalidId::new("fingerprint", text))
    }

    /// Returns the number of bits that differ, 0 to 64 (Hamming distance); about 32 for unrelated content.
    pub const fn distance(self, other: Fingerprint) -> u32 {
        (self.0 ^ other.0).count_ones()
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

stored_as_text!(Fingerprint);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_in_sixteen_digits_and_nothing_else_is_read() -> Result<(), serde_json::Error> {
        let print = Fingerprint(0xab);
        assert_eq!(serde_json::to_string(&print)?, "\"00000000000000ab\"");
        assert_eq!(serde_json::from_str::<Fingerprint>("\"00000000000000ab\"")?, print);
        for wrong in ["\"\"", "\"ab\"", "\"00000000000000AB\"", "\"+0000000000000ab\"", "171"] {
            assert!(serde_json::from_str::<Fingerprint>(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Fingerprint(0).distance(Fingerprint(u64::MAX)), 64);
        Ok(())
    }
}
