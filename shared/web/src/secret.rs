//! The deployment's secret. Each use has a label, so that a hash for one use is invalid for another.

use curlew_model::unhex;
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

/// Returns the HMAC that signs a token issued at `at` (milliseconds since the epoch) and bound to `bound_to`.
pub(crate) fn signer(secret: &[u8; 32], purpose: &[u8], at: i64, serial: u64, bound_to: &str) -> Hmac<Sha256> {
    keyed(secret, purpose).chain_update(at.to_be_bytes()).chain_update(serial.to_be_bytes()).chain_update(bound_to)
}

/// Parses `AT.SERIAL.SIGNATURE`, with a signature of `bytes` bytes in hexadecimal digits.
pub(crate) fn parse_signed(text: &str, bytes: usize) -> Option<(i64, u64, Vec<u8>)> {
    let mut parts = text.split('.');
    let (at, serial) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let signature = unhex(parts.next().filter(|digits| digits.len() == 2 * bytes)?)?;
    parts.next().is_none().then_some((at, serial, signature))
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
