//! Sealed keys: 256 secret bits with a keyed hash of them. One hash tells a made-up key from one of ours, so that
//! guesses reach no store.

use crate::secret::keyed;
use curlew_model::{hex, unhex};
use hmac::Mac;

/// Length of a key in bytes.
const KEY: usize = 32;
/// Length of the keyed hash that is sent with it, in bytes.
const TAG: usize = 16;

/// A use of sealed keys; a key that is sealed for one is worthless for the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyUse {
    /// Begins a session, once.
    Login,
    /// Is a session.
    Session,
}

impl KeyUse {
    const fn purpose(self) -> &'static [u8] {
        match self {
            KeyUse::Login => b"curlew admin login 1",
            KeyUse::Session => b"curlew admin session 1",
        }
    }
}

/// Returns the token by which the pages under `/admin` let an operator sign in who holds these random bytes. Their
/// session store has to know the bytes.
pub fn login_token(secret: &[u8; 32], random: &[u8; 32]) -> String {
    seal(secret, KeyUse::Login, random)
}

/// Writes a key with its seal.
pub(super) fn seal(secret: &[u8; 32], of: KeyUse, key: &[u8; KEY]) -> String {
    let mut mac = keyed(secret, of.purpose());
    mac.update(key);
    hex(key) + &hex(&mac.finalize().into_bytes()[..TAG])
}

/// Returns a key whose seal is genuine. A text of another length is not even hashed.
pub(super) fn unseal(secret: &[u8; 32], of: KeyUse, text: &str) -> Option<[u8; KEY]> {
    if text.len() != 2 * (KEY + TAG) {
        return None;
    }
    let bytes = unhex(text)?;
    let (key, tag) = bytes.split_first_chunk::<KEY>()?;
    let mut mac = keyed(secret, of.purpose());
    mac.update(key);
    mac.verify_truncated_left(tag).ok()?;
    Some(*key)
}

/// Returns the key of the session that a login key begins. Who learns a used login key cannot compute it.
pub(super) fn session_of(secret: &[u8; 32], login: &[u8; KEY]) -> [u8; KEY] {
    let mut mac = keyed(secret, b"curlew admin session of login 1");
    mac.update(login);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: [u8; 32] = [7; 32];

    #[test]
    fn only_what_was_sealed_for_this_use_with_this_secret_is_opened() {
        let sealed = seal(&SECRET, KeyUse::Login, &[3; 32]);
        assert_eq!(unseal(&SECRET, KeyUse::Login, &sealed), Some([3; 32]));
        assert_eq!(unseal(&SECRET, KeyUse::Session, &sealed), None);
        assert_eq!(unseal(&[8; 32], KeyUse::Login, &sealed), None);
        let (key, tag) = sealed.split_at(64);
        for forged in [key.to_owned(), format!("{tag}{key}"), format!("{key}{}", "0".repeat(32)), "é".repeat(48)] {
            assert_eq!(unseal(&SECRET, KeyUse::Login, &forged), None, "{forged}");
        }
        assert_ne!(session_of(&SECRET, &[3; 32]), session_of(&[8; 32], &[3; 32]));
    }
}
