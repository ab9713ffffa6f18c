//! Where the next page of results goes on.
//!
//! A cursor names the last result that was shown, not how many there were: what is published meanwhile neither repeats a
//! result nor leaves one out. It keeps the present of the first page too, since scores fade with time. It is signed: whoever
//! could write one could choose where results begin and how many were seen, which bounds how deep anybody looks.

use curlew_model::{Timestamp, hex, unhex};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The form that is written and read.
const FORM: u8 = 3;
/// Numbers of a cursor before the keys of what was drawn forward, of 8 bytes each.
const NUMBERS: usize = 8;
/// A result is drawn forward past at most so many others.
pub(crate) const AHEAD: usize = 20;
/// Bytes of the signature, which covers the query too: 128 bits cannot be guessed.
const SIGNATURE_BYTES: usize = 16;
/// Bytes of the key that cursors are signed by.
pub const CURSOR_KEY_BYTES: usize = 32;
/// The block of SHA-256 in bytes, to which HMAC fills its key up with zeros (RFC 2104 §2).
const BLOCK_BYTES: usize = 64;
/// Keeps this use of the key apart from every other one.
const PURPOSE: &[u8] = b"curlew cursor 1";

/// Where a result stands among all results of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// What is compared first and second: score and date, or date and score.
    pub(crate) rank: (i64, i64),
    /// The page's key.
    pub(crate) key: u64,
}

impl Place {
    /// True if this comes later in the order of the results.
    pub(crate) fn comes_after(self, other: Place) -> bool {
        self.rank < other.rank || (self.rank == other.rank && self.key > other.key)
    }
}

/// How many pages a query found when its first page of results was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) total: u64,
    pub(crate) partial: u64,
    pub(crate) copies: u64,
}

/// The end of a page of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Results on this page and those before.
    pub(crate) seen: u64,
    /// The present when the first page was asked for.
    pub(crate) now: Timestamp,
    /// The last result up to which all were shown.
    pub(crate) place: Place,
    /// What was counted then.
    pub(crate) counts: Counts,
    /// The keys of results that come after the place and were shown before their turn, at most [`AHEAD`].
    pub(crate) ahead: Vec<u64>,
}

impl Cursor {
    /// Results on the pages before.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The present when the first page was asked for.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// As text for a link; it fits only to this query, and is read only by this key.
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

    /// Reads what [`Cursor::encode`] wrote for the same query by the same key; none if it is anything else.
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
