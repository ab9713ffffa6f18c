//! The one secret, and its uses, which cannot be mistaken for each other.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Block size of SHA-256 in bytes, to which HMAC pads its key with zeros (RFC 2104 §2).
const BLOCK: usize = 64;

/// Returns an HMAC-SHA256 under the secret that begins with the name of its use.
pub(crate) fn keyed(secret: &[u8; 32], purpose: &[u8]) -> Hmac<Sha256> {
    let mut block = [0; BLOCK];
    block[..secret.len()].copy_from_slice(secret);
    let mut mac = <Hmac<Sha256> as KeyInit>::new(&block.into());
    mac.update(purpose);
    mac
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
