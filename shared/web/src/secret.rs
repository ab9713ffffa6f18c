//! The deployment's secret. Each use has a label, so that a hash for one use is invalid for another.

use curlew_model::{hex, unhex};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Block size of SHA-256 in bytes, to which HMAC pads its key with zeros (RFC 2104 §2).
const BLOCK: usize = 64;

/// Returns an HMAC-SHA256 under the secret whose input begins with the label of its use.
pub(crate) fn keyed(secret: &[u8; 32], purpose: &[u8]) -> Hmac<Sha256> {
    let mut block = [0; BLOCK];
    block[..secret.len()].copy_from_slice(secret);
    <Hmac<Sha256> as KeyInit>::new(&block.into()).chain_update(purpose)
}

/// A kind of signed text: the label of its use, and the length of its signature in bytes.
pub(crate) struct Signed(pub(crate) &'static [u8], pub(crate) usize);

impl Signed {
    /// Returns `AT.SERIAL.SIGNATURE`, issued at `at` (milliseconds since the epoch) and bound to `bound_to`.
    pub(crate) fn issue(&self, secret: &[u8; 32], at: i64, serial: u64, bound_to: &str) -> String {
        let signature = self.mac(secret, at, serial, bound_to).finalize().into_bytes();
        format!("{at}.{serial}.{}", hex(&signature[..self.1]))
    }

    /// Returns the time and the serial number of a genuine text that is bound to `bound_to`.
    pub(crate) fn verify(&self, secret: &[u8; 32], text: &str, bound_to: &str) -> Option<(i64, u64)> {
        let mut parts = text.split('.');
        let (at, serial) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let signature = unhex(parts.next().filter(|digits| digits.len() == 2 * self.1)?)?;
        self.mac(secret, at, serial, bound_to).verify_truncated_left(&signature).ok()?;
        parts.next().is_none().then_some((at, serial))
    }

    fn mac(&self, secret: &[u8; 32], at: i64, serial: u64, bound_to: &str) -> Hmac<Sha256> {
        keyed(secret, self.0).chain_update(at.to_be_bytes()).chain_update(serial.to_be_bytes()).chain_update(bound_to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_hmac_sha256_as_rfc_4231_computes_it() {
        let mut secret = [0; 32];
        secret[..4].copy_from_slice(b"Jefe");
        let mac = keyed(&secret, b"what do ya want for nothing?").finalize().into_bytes();
        assert_eq!(curlew_model::hex(&mac), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }
}
