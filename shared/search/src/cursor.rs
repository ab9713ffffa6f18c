//! Where the next page of results goes on.
//!
//! A cursor names the last result that was shown, not how many there were: what is published meanwhile neither repeats a
//! result nor leaves one out. It keeps the present of the first page too, since scores fade with time.

use curlew_model::{Timestamp, hex, unhex};
use sha2::{Digest, Sha256};

/// The form that is written and read.
const FORM: u8 = 1;
/// Bytes of a cursor before its checksum.
const BODY_BYTES: usize = 1 + 5 * 8;
/// Bytes of the checksum, which covers the query too.
const CHECKSUM_BYTES: usize = 8;

/// Where a result stands among all results of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// What is compared first and second: score and date, or date and score.
    pub(crate) rank: (i64, i64),
    /// The page's key.
    pub(crate) key: u64,
}

impl Place {
    /// Whether this comes later in the order of the results.
    pub(crate) fn comes_after(self, other: Place) -> bool {
        self.rank < other.rank || (self.rank == other.rank && self.key > other.key)
    }
}

/// The end of a page of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Results on this page and those before.
    pub(crate) seen: u64,
    /// The present when the first page was asked for.
    pub(crate) now: Timestamp,
    /// The last result.
    pub(crate) place: Place,
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

    /// As text for a link; it fits only to this query.
    pub fn encode(&self, query: &str) -> String {
        let numbers = [self.seen as i64, self.now.as_millis(), self.place.rank.0, self.place.rank.1];
        let mut bytes = vec![FORM];
        bytes.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
        bytes.extend(self.place.key.to_be_bytes());
        let checksum = checksum(&bytes, query);
        bytes.extend(checksum);
        hex(&bytes)
    }

    /// Reads what [`Cursor::encode`] wrote for the same query; none if it is anything else.
    pub fn decode(text: &str, query: &str) -> Option<Cursor> {
        if text.len() != 2 * (BODY_BYTES + CHECKSUM_BYTES) {
            return None;
        }
        let bytes = unhex(text)?;
        let (body, sum) = bytes.split_at_checked(BODY_BYTES)?;
        let (form, numbers) = body.split_first()?;
        if *form != FORM || checksum(body, query).as_slice() != sum {
            return None;
        }
        let (numbers, _) = numbers.as_chunks::<8>();
        let number = |at: usize| numbers.get(at).map(|bytes| i64::from_be_bytes(*bytes));
        Some(Cursor {
            seen: u64::try_from(number(0)?).ok()?,
            now: Timestamp::from_millis(number(1)?),
            place: Place { rank: (number(2)?, number(3)?), key: number(4)? as u64 },
        })
    }
}

fn checksum(body: &[u8], query: &str) -> [u8; CHECKSUM_BYTES] {
    let hash = Sha256::new().chain_update(body).chain_update(query).finalize();
    std::array::from_fn(|at| hash[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_back_what_it_writes_and_nothing_else() {
        let place = Place { rank: (-7, i64::MAX), key: u64::MAX };
        let cursor = Cursor { seen: 10, now: Timestamp::from_millis(-5), place };
        let text = cursor.encode("pane");
        assert_eq!(Cursor::decode(&text, "pane"), Some(cursor));
        assert_eq!(Cursor::decode(&text, "olio"), None);
        assert_eq!(Cursor::decode(&text[2..], "pane"), None);
        assert_eq!(Cursor::decode(&text.replacen(&text[4..5], "x", 1), "pane"), None);
        for wrong in ["", "0", "é", &"0".repeat(98), &"ü".repeat(49), &"f".repeat(10_000)] {
            assert_eq!(Cursor::decode(wrong, "pane"), None, "{wrong}");
        }
        for at in 0..text.len() {
            let digit = if text.as_bytes()[at] == b'0' { "1" } else { "0" };
            let changed = format!("{}{digit}{}", &text[..at], &text[at + 1..]);
            assert_eq!(Cursor::decode(&changed, "pane"), None, "{at}");
        }
    }
}
