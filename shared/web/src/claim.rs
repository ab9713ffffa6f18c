//! Keys of claims. The key is secret, and is part of the URL of the claimant's page. The challenge, which the claimant
//! publishes, does not reveal the key. Both are derived from our secret, so checking them needs no store.

use crate::secret::Signed;
use curlew_model::{Challenge, Millis, Timestamp, hex};
use sha2::{Digest, Sha256};

/// Time for which a key opens its page; after it, the claimant begins a new claim.
pub(crate) const KEY_LIFE: Millis = Millis::from_days(90);
/// Length of a key's signature in bytes: 128 bits cannot be guessed (draft-ietf-dnsop-domain-verification-techniques).
const SIGNATURE: usize = 16;
/// Maximum length of a key, in bytes: two numbers, the signature, two dots.
const MAX_KEY: usize = 20 + 20 + 2 * SIGNATURE + 2;
/// The label separates this use of the secret from all others.
const KEY: Signed = Signed(b"curlew owner's key 1", SIGNATURE);
/// Prefix that separates the challenge from all other hashes.
const PUBLISHED: &[u8] = b"curlew owner's challenge 1";

/// Returns the key of a claim to a host that begins at `now`.
pub(crate) fn issue(secret: &[u8; 32], host: &str, now: Timestamp, serial: u64) -> String {
    KEY.issue(secret, now.as_millis(), serial, host)
}

/// Returns the challenge of a key; `None` if the key is not one of ours for this host, or too old.
pub(crate) fn challenge(secret: &[u8; 32], host: &str, key: &str, now: Timestamp) -> Option<Challenge> {
    if key.len() > MAX_KEY {
        return None;
    }
    let (begun, serial) = KEY.verify(secret, key, host)?;
    let begun = Timestamp::from_millis(begun);
    // The challenge is derived from the text of the key, so another spelling of its numbers would be another claim.
    if now.since(begun) > KEY_LIFE || key != issue(secret, host, begun, serial) {
        return None;
    }
    let hash = Sha256::new_with_prefix(PUBLISHED).chain_update(key).chain_update(host).finalize();
    Challenge::new(&hex(&hash)[..Challenge::DIGITS]).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    const SECRET: [u8; 32] = [7; 32];
    const T0: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    #[test]
    fn i08_a_challenge_is_bound_to_host_and_claim_and_ends() {
        let key = issue(&SECRET, "example.org", T0, 3);
        let ours = challenge(&SECRET, "example.org", &key, T0).unwrap();
        assert_eq!(challenge(&SECRET, "example.org", &key, T0 + KEY_LIFE), Some(ours.clone()));
        assert_eq!(challenge(&SECRET, "example.org", &key, T0 + KEY_LIFE + Millis(1)), None);
        assert_eq!(challenge(&SECRET, "www.example.org", &key, T0), None, "another host");
        assert_eq!(challenge(&[8; 32], "example.org", &key, T0), None, "another secret");
        let other = challenge(&SECRET, "example.org", &issue(&SECRET, "example.org", T0, 4), T0).unwrap();
        assert_ne!(ours, other, "another claim");
        let (begun, rest) = key.split_once('.').unwrap();
        let (serial, signature) = rest.split_once('.').unwrap();
        for other_text in [
            format!("+{key}"),
            format!("0{key}"),
            format!("{begun}.+{serial}.{signature}"),
            format!("{begun}.00{serial}.{signature}"),
            key.to_uppercase(),
        ] {
            assert_eq!(challenge(&SECRET, "example.org", &other_text, T0), None, "{other_text}");
        }
        assert!(!key.contains(ours.as_str()) && !ours.as_str().contains(&key[key.len() - 32..]));
    }

    #[test]
    fn what_is_no_key_opens_nothing() {
        let key = issue(&SECRET, "example.org", T0, 3);
        let short = &key[..key.len() - 2];
        let long = format!("{key}.1");
        for bad in ["", ".", "1.1.", "1.1.é", short, &long, &key.replace(".3.", ".4."), &"9".repeat(4_000)] {
            assert_eq!(challenge(&SECRET, "example.org", bad, T0), None, "{bad}");
        }
    }
}
