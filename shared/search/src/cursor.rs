//! Position at which the next page of results continues.
//!
//! A cursor contains the last result shown, so newly published pages cause neither repeats nor gaps, and the time of
//! the first page, since scores decay. It is signed, since its count of results limits how deep a client may page.

use curlew_model::{Timestamp, hex, unhex};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const FORM: u8 = 3;
/// Number of 8-byte numbers in a cursor before the keys of results shown ahead of their turn.
const NUMBERS: usize = 8;
/// Maximum number of results that one result may overtake.
pub(crate) const AHEAD: usize = 50;
/// Length of the signature in bytes; it covers the query too. 128 bits cannot be guessed.
const SIGNATURE_BYTES: usize = 16;
/// Length in bytes of the key that signs cursors.
pub const CURSOR_KEY_BYTES: usize = 32;
/// Block size of SHA-256 in bytes, to which HMAC pads its key with zeros (RFC 2104 §2).
const BLOCK_BYTES: usize = 64;
/// Separates this use of the key from every other one.
const PURPOSE: &[u8] = b"curlew cursor 1";

/// Position of a result in the order of all results of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Primary and secondary sort key: score and date, or date and score.
    pub(crate) rank: (i64, i64),
    pub(crate) key: u64,
}

impl Place {
    pub(crate) fn comes_after(self, other: Place) -> bool {
        self.rank < other.rank || (self.rank == other.rank && self.key > other.key)
    }
}

/// Numbers of pages that a query found when its first page of results was requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) total: u64,
    pub(crate) partial: u64,
    pub(crate) copies: u64,
}

/// End of a page of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Number of results shown up to this position.
    pub seen: u64,
    /// Time at which the first page was requested.
    pub now: Timestamp,
    /// Last result up to which all results were shown.
    pub(crate) place: Place,
    pub(crate) counts: Counts,
    /// Keys of results that come after `place` but were shown already, at most [`AHEAD`].
    pub(crate) ahead: Vec<u64>,
}

impl Cursor {
    /// Encodes the cursor as text for a link. It is valid only for this query and this key.
    pub fn encode(&self, query: &str, key: &[u8; CURSOR_KEY_BYTES]) -> String {
        let Counts { total, partial, copies } = self.counts;
        let (now, rank) = (self.now.as_millis() as u64, (self.place.rank.0 as u64, self.place.rank.1 as u64));
        let numbers = [self.seen, now, rank.0, rank.1, self.place.key, total, partial, copies];
        let mut bytes = vec![FORM];
        bytes.extend(numbers.iter().chain(&self.ahead).flat_map(|number| number.to_be_bytes()));
        let signature = signer(&bytes, query, key).finalize().into_bytes();
        bytes.extend(&signature[..SIGNATURE_BYTES]);
        hex(&bytes)
    }

    /// Decodes the output of [`Cursor::encode`] for the same query and key; returns `None` for anything else.
    pub fn decode(text: &str, query: &str, key: &[u8; CURSOR_KEY_BYTES]) -> Option<Cursor> {
        if text.len() > 2 * (1 + 8 * (NUMBERS + AHEAD) + SIGNATURE_BYTES) {
            return None;
        }
        let bytes = unhex(text)?;
        let (body, signature) = bytes.split_at_checked(bytes.len().checked_sub(SIGNATURE_BYTES)?)?;
        let (form, numbers) = body.split_first()?;
        if *form != FORM || signer(body, query, key).verify_truncated_left(signature).is_err() {
            return None;
        }
        let (numbers, _) = numbers.as_chunks::<8>();
        let numbers: Vec<u64> = numbers.iter().map(|bytes| u64::from_be_bytes(*bytes)).collect();
        let ([seen, now, first, second, key, total, partial, copies], ahead) =
            numbers.split_first_chunk::<NUMBERS>()?;
        Some(Cursor {
            seen: *seen,
            now: Timestamp::from_millis(*now as i64),
            place: Place { rank: (*first as i64, *second as i64), key: *key },
            counts: Counts { total: *total, partial: *partial, copies: *copies },
            ahead: ahead.to_vec(),
        })
    }
}

fn signer(body: &[u8], query: &str, key: &[u8; CURSOR_KEY_BYTES]) -> Hmac<Sha256> {
    let mut block = [0; BLOCK_BYTES];
    block[..CURSOR_KEY_BYTES].copy_from_slice(key);
    let mac = <Hmac<Sha256> as KeyInit>::new(&block.into());
    mac.chain_update(PURPOSE).chain_update(body).chain_update(query)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; CURSOR_KEY_BYTES] = [7; CURSOR_KEY_BYTES];

    #[test]
    fn it_reads_back_what_it_writes_and_nothing_else() {
        let place = Place { rank: (-7, i64::MAX), key: u64::MAX };
        let counts = Counts { total: 25, partial: 3, copies: 1 };
        let cursor = Cursor { seen: 10, now: Timestamp::from_millis(-5), place, counts, ahead: vec![3, u64::MAX] };
        let text = cursor.encode("pane", &KEY);
        assert_eq!(Cursor::decode(&text, "pane", &KEY), Some(cursor));
        assert_eq!(Cursor::decode(&text, "olio", &KEY), None);
        assert_eq!(Cursor::decode(&text, "pane", &[8; CURSOR_KEY_BYTES]), None, "another's");
        let earlier = format!("01{}", &text[2..]);
        assert_eq!(Cursor::decode(&earlier, "pane", &KEY), None, "another form");
        assert_eq!(Cursor::decode(&text[2..], "pane", &KEY), None);
        assert_eq!(Cursor::decode(&text.replacen(&text[4..5], "x", 1), "pane", &KEY), None);
        for wrong in ["", "0", "é", &"0".repeat(114), &"ü".repeat(57), &"f".repeat(10_000)] {
            assert_eq!(Cursor::decode(wrong, "pane", &KEY), None, "{wrong}");
        }
        for at in 0..text.len() {
            let digit = if text.as_bytes()[at] == b'0' { "1" } else { "0" };
            let changed = format!("{}{digit}{}", &text[..at], &text[at + 1..]);
            assert_eq!(Cursor::decode(&changed, "pane", &KEY), None, "{at}");
        }
    }
}
