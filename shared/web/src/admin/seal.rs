//! Sealed keys: 256 secret bits with their keyed hash, so that a guessed key is rejected without access to a store.

use crate::secret::keyed;
use curlew_model::{hex, unhex};
use hmac::Mac;

/// Length of a key in bytes.
const KEY: usize = 32;
/// Length of the keyed hash, in bytes.
const TAG: usize = 16;

/// Purpose of a key that begins a session, once. A key that is sealed for one purpose is invalid for another.
pub(super) const LOGIN: &[u8] = b"curlew admin login 1";
/// Purpose of the key of a session.
pub(super) const SESSION: &[u8] = b"curlew admin session 1";

/// Returns the token with which an operator signs in at `/admin`. The caller must also add `random` to the sessions.
pub fn login_token(secret: &[u8; 32], random: &[u8; 32]) -> String {
    seal(secret, LOGIN, random)
}

pub(super) fn seal(secret: &[u8; 32], purpose: &[u8], key: &[u8; KEY]) -> String {
    hex(key) + &hex(&keyed(secret, purpose).chain_update(key).finalize().into_bytes()[..TAG])
}

/// Returns the key, or `None` if its seal is not genuine. A text of another length is not even hashed.
pub(super) fn unseal(secret: &[u8; 32], purpose: &[u8], text: &str) -> Option<[u8; KEY]> {
    if text.len() != 2 * (KEY + TAG) {
        return None;
    }
    let bytes = unhex(text)?;
    let (key, tag) = bytes.split_first_chunk::<KEY>()?;
    keyed(secret, purpose).chain_update(key).verify_truncated_left(tag).ok()?;
    Some(*key)
}

/// Returns the key of the session that a login key begins. It cannot be derived from a leaked login key alone.
pub(super) fn session_of(secret: &[u8; 32], login: &[u8; KEY]) -> [u8; KEY] {
    keyed(secret, b"curlew admin session of login 1").chain_update(login).finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: [u8; 32] = [7; 32];

    #[test]
    fn only_what_was_sealed_for_this_use_with_this_secret_is_opened() {
        let sealed = seal(&SECRET, LOGIN, &[3; 32]);
        assert_eq!(unseal(&SECRET, LOGIN, &sealed), Some([3; 32]));
        assert_eq!(unseal(&SECRET, SESSION, &sealed), None);
        assert_eq!(unseal(&[8; 32], LOGIN, &sealed), None);
        let (key, tag) = sealed.split_at(64);
        for forged in [key.to_owned(), format!("{tag}{key}"), format!("{key}{}", "0".repeat(32)), "é".repeat(48)] {
            assert_eq!(unseal(&SECRET, LOGIN, &forged), None, "{forged}");
        }
        assert_ne!(session_of(&SECRET, &[3; 32]), session_of(&[8; 32], &[3; 32]));
    }
}
