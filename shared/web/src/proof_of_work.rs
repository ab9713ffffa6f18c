//! Proof of work that a sender's browser does during a rush, so that a person need not wait (after "Hashcash", Back
//! 2002): a number which, appended to the form's token, has a hash that begins with zeros. A program written for it
//! finds one in a hundredth of a second. It makes forms dearer for those who send them blindly by the thousand; the
//! rate limit of the address bounds the others.

use sha2::{Digest, Sha256};

/// Zero bytes that the hash begins with: 65,536 tries on average, which `assets/work.js` makes in a few seconds.
const ZEROS: usize = 2;
/// Maximum number of digits of the number.
const MAX_DIGITS: usize = 12;

/// True if a number is the proof of work for a token.
pub(crate) fn is_done(token: &str, number: &str) -> bool {
    let is_number = !number.is_empty() && number.len() <= MAX_DIGITS && number.bytes().all(|b| b.is_ascii_digit());
    is_number && Sha256::digest(format!("{token} {number}")).iter().take(ZEROS).all(|byte| *byte == 0)
}

#[cfg(test)]
mod tests {
    use super::is_done;

    #[test]
    fn only_a_number_that_was_sought_for_this_token_is_its_work() {
        let found: Vec<String> =
            (0..400_000).map(|n: u32| n.to_string()).filter(|number| is_done("1.2.ab", number)).collect();
        assert!((1..30).contains(&found.len()), "about six: {found:?}");
        assert!(found.iter().all(|number| !is_done("1.3.ab", number)));
        for bad in ["", "-1", "1e3", "١٢", "0000000000000000000001"] {
            assert!(!is_done("1.2.ab", bad), "{bad}");
        }
    }
}
