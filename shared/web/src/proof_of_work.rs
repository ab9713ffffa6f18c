//! Work that a sender's browser does where many forms are sent, so that a person need not wait (proof of work after
//! "Hashcash", Back 2002): a number that, behind the form's own token, has a hash that begins with zeros. Whoever writes a
//! program for it finds one in a hundredth of a second: it makes forms dearer to those who send them by the thousand without
//! looking, and what bounds the others is the allowance of their address.

use sha2::{Digest, Sha256};

/// Bytes of zeros that the hash begins with: 65,536 tries on average, which `assets/work.js` makes in a few seconds.
const ZEROS: usize = 2;
/// The longest number that is looked at.
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
